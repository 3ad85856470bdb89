#include "host/bench/bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "host/bench/bench_case.hpp"
#include "host/run/bench_file.hpp"
#include "host/run/say.hpp"
#include "host/state/errors.hpp"
#include "host/state/text.hpp"

namespace carom {

namespace {

bool same_gas(const BenchCase& a, const BenchCase& b) {
    return a.gas && b.gas && *a.gas == *b.gas && a.double_precision == b.double_precision;
}

Speedup ratio(std::string of, const BenchRow& fast, const BenchRow& slow) {
    return {std::move(of), fast.what, fast.rate.median / slow.rate.median, fast.rate.spread() + slow.rate.spread()};
}

/// "cpu, 2 threads, single".
std::string short_text(const BenchCase& what) {
    std::string text = what.backend;
    if (what.backend == "cpu") text += ", " + plural(static_cast<std::uint64_t>(what.threads), "thread");
    return text + (what.double_precision ? ", double" : ", single");
}

/// What a person takes away.
std::string say(const Crossing& crossing) {
    std::string text = fmt::format("{}D, {}: ", crossing.dimension, plural(crossing.balls, "ball"));
    for (std::size_t k = 0; k < crossing.points.size(); ++k) {
        const Crossing::Point& at = crossing.points[k];
        const double gain = at.spring_seconds / at.events_seconds;  // of events
        if (k > 0) text += ", ";
        text += fmt::format("at packing fraction {} {} is there {:.2g} times as soon", at.fraction,
                            gain > 1.0 ? "events" : "spring", gain > 1.0 ? gain : 1.0 / gain);
    }
    const auto [least, most] = std::ranges::minmax_element(crossing.points, {}, &Crossing::Point::break_even);
    text += crossing.fraction
                ? fmt::format("; both take equally long at about {:.2f}", *crossing.fraction)
                : fmt::format("; spring would need {:.2g}{} ball-steps/s to be there as soon", least->break_even,
                              least == most ? "" : fmt::format(" to {:.2g}", most->break_even));
    return text + fmt::format(" (spring: {}, stiffness {:g}).", crossing.points.front().spring, kBenchStiffness);
}

}  // namespace

std::vector<Speedup> speedups(const BenchResults& results) {
    std::vector<Speedup> found;
    for (const BenchRow& row : results.rows) {
        if (row.what.rung != BenchRung::kSpring && row.what.rung != BenchRung::kTextbook) continue;
        const BenchRow* best_cpu = nullptr;
        const BenchRow* best_textbook = nullptr;  // with as many threads or fewer: more can cost a small gas
        for (const BenchRow& other : results.rows) {
            if (!same_gas(row.what, other.what)) continue;
            const bool no_more = other.what.backend == row.what.backend && other.what.threads <= row.what.threads;
            if (other.what.rung == BenchRung::kTextbook && no_more &&
                (best_textbook == nullptr || other.rate.median > best_textbook->rate.median)) {
                best_textbook = &other;
            }
            if (row.what.rung != other.what.rung || other.what.backend != "cpu") continue;
            if (row.what.backend == "cpu" && row.what.threads > 1 && other.what.threads == 1)
                found.push_back(ratio(fmt::format("{}: {} threads over 1", rung_name(row.what.rung), row.what.threads),
                                      row, other));
            if (best_cpu == nullptr || other.rate.median > best_cpu->rate.median) best_cpu = &other;
        }
        if (row.what.rung == BenchRung::kSpring && best_textbook != nullptr)
            found.push_back(ratio("spring over textbook", row, *best_textbook));
        if (row.what.backend == "cuda" && best_cpu != nullptr)
            found.push_back(ratio(fmt::format("{}: cuda over cpu", rung_name(row.what.rung)), row, *best_cpu));
    }
    return found;
}

std::vector<Crossing> crossings(const BenchResults& results) {
    std::map<std::pair<int, std::uint64_t>, Crossing> by_size;
    for (const BenchRow& events : results.rows) {
        if (events.what.rung != BenchRung::kEvents || !events.seconds_per_time) continue;
        const BenchRow* best = nullptr;
        for (const BenchRow& row : results.rows) {
            if (row.what.rung != BenchRung::kSpring || !(row.what.gas == events.what.gas)) continue;
            if (best == nullptr || *row.seconds_per_time < *best->seconds_per_time) best = &row;
        }
        if (best == nullptr) continue;
        const BenchGas& gas = *events.what.gas;
        Crossing& crossing = by_size[{gas.dimension, gas.balls}];
        crossing.dimension = gas.dimension;
        crossing.balls = gas.balls;
        crossing.points.push_back({gas.fraction, *best->seconds_per_time, *events.seconds_per_time,
                                   best->rate.median * *best->seconds_per_time / *events.seconds_per_time,
                                   short_text(best->what)});
    }
    std::vector<Crossing> found;
    for (auto& [key, crossing] : by_size) {
        std::ranges::sort(crossing.points, {}, &Crossing::Point::fraction);
        for (std::size_t k = 1; k < crossing.points.size(); ++k) {
            const auto& a = crossing.points[k - 1];
            const auto& b = crossing.points[k];
            const double before = std::log(a.spring_seconds / a.events_seconds);
            const double after = std::log(b.spring_seconds / b.events_seconds);
            if (before * after >= 0.0) continue;
            crossing.fraction = a.fraction + (b.fraction - a.fraction) * before / (before - after);
        }
        crossing.sentence = say(crossing);
        found.push_back(std::move(crossing));
    }
    return found;
}

namespace {

std::string optional_text(const std::optional<double>& value, const char* format) {
    return value ? fmt::format(fmt::runtime(format), *value) : "";
}

/// Half of the range, as people write an error.
std::string spread_text(const Rate& rate) { return fmt::format("±{:.1f} %", 50.0 * rate.spread()); }

std::string gas_line(const BenchRow& row) {
    const BenchGas& gas = *row.what.gas;
    return fmt::format("{}D, packing fraction {}, {} ({})", gas.dimension, gas.fraction, plural(gas.balls, "ball"),
                       row.start);
}

const char* unit(BenchRung rung) {
    if (rung == BenchRung::kCopy) return "bytes/s";
    return rung == BenchRung::kEvents ? "events/s" : "ball-steps/s";
}

double more(const BenchRow& row, const std::string& key) {
    for (const auto& [name, value] : row.more) {
        if (name == key) return value;
    }
    return 0.0;
}

std::string remark(const BenchRow& row) {
    switch (row.what.rung) {
        case BenchRung::kEvents:
            return fmt::format("{:.3g} collisions/s", more(row, "collisions_per_second"));
        case BenchRung::kOutput:
            return fmt::format("with {:g} frames, all of the run; without {:.3g}, the steps alone {:.3g}",
                               more(row, "frames"), more(row, "without_output_ball_steps_per_second"),
                               more(row, "kernel_ball_steps_per_second"));
        default:
            return "";
    }
}

std::string row_line(const BenchRow& row) {
    const bool cpu = row.what.backend == "cpu";
    std::string text = fmt::format("  {:<10}{:<5}{:>7}  {:<7}{:>10.3g} {:<13}{:>9}", rung_name(row.what.rung),
                                   row.what.backend, cpu ? std::to_string(row.what.threads) : "-",
                                   !row.what.gas ? "" : (row.what.double_precision ? "double" : "single"),
                                   row.rate.median, unit(row.what.rung), spread_text(row.rate));
    if (row.bytes_counted) {
        const std::string share =
            row.limit ? fmt::format("{:.1f} %", 100.0 * row.rate.median / *row.limit) : std::string();
        text +=
            fmt::format("{:>7.0f}{:>9}{:>9}", *row.bytes_counted, optional_text(row.bytes_streamed, "{:.0f}"), share);
        text += fmt::format("{:>10}{:>8}", optional_text(row.contacts_per_ball, "{:.3f}"),
                            optional_text(row.steps_between_sorts, "{:.1f}"));
    }
    const std::string note = remark(row);
    if (!note.empty()) text += "  " + note;
    while (text.back() == ' ') text.pop_back();
    return text + "\n";
}

constexpr const char* kColumns =
    "  rung      on    threads  prec.        rate                  half range  bytes streamed of limit  contacts   "
    "steps\n"
    "                                                                          by count              by copy  per ball "
    " "
    "a sort\n";

std::string machine_text(const nlohmann::ordered_json& machine) {
    const auto& processor = machine.at("processor");
    std::string text = fmt::format("carom {} ({}), {}\n{}, {}", machine.at("version").get<std::string>(),
                                   machine.at("commit").get<std::string>(), machine.at("date").get<std::string>(),
                                   processor.at("name").get<std::string>(),
                                   plural(processor.at("threads").get<std::uint64_t>(), "thread"));
    for (const auto& gpu : machine.at("gpus")) {
        text += fmt::format("; {}, driver for CUDA {}", gpu.at("name").get<std::string>(),
                            gpu.at("driver").get<std::string>());
    }
    if (machine.contains("load_at_start"))
        text += fmt::format("; load at the start {:.2f}", machine.at("load_at_start").get<double>());
    return text + "\n";
}

std::string ratios_text(const BenchResults& results) {
    std::string text;
    for (const Speedup& speedup : speedups(results)) {
        text += fmt::format("  {:<30}{:>8.2f} ±{:<6.2f}{}\n", speedup.of, speedup.ratio,
                            0.5 * speedup.ratio * speedup.spread, case_text(speedup.what));
    }
    return text.empty() ? text : "\nRatios within this run\n" + text;
}

/// A line a gas: what comes after the first of a series is left out for much the same reason. JSON has all.
std::string left_out_text(const std::vector<LeftOut>& all) {
    std::string text;
    for (std::size_t first = 0; first < all.size();) {
        std::size_t end = first + 1;
        while (end < all.size() && all[end].what.gas == all[first].what.gas) ++end;
        text += fmt::format("  {}{}: {}\n", case_text(all[first].what),
                            end - first > 1 ? fmt::format(" and {} more of this gas", end - first - 1) : "",
                            all[first].why);
        first = end;
    }
    return text;
}

}  // namespace

std::string bench_text(const BenchResults& results) {
    std::string text = machine_text(results.machine);
    const BenchGas* gas = nullptr;
    bool first = true;
    for (const BenchRow& row : results.rows) {
        const bool other = first || !((gas == nullptr && !row.what.gas) || (gas != nullptr && row.what.gas == *gas));
        if (other) {
            text += "\n" + (row.what.gas ? gas_line(row) : std::string("Memory, arrays read and written")) + "\n";
            if (row.what.gas) text += kColumns;
        }
        first = false;
        gas = row.what.gas ? &*row.what.gas : nullptr;
        text += row_line(row);
    }
    text += ratios_text(results);
    if (const auto found = crossings(results); !found.empty()) {
        text += "\nTo a given simulated time\n";
        for (const Crossing& crossing : found) text += "  " + crossing.sentence + "\n";
    }
    if (!results.left_out.empty()) {
        text += "\nLeft out\n" + left_out_text(results.left_out);
    }
    return text + fmt::format("\n{} in {:.0f} s{}\n", plural(results.rows.size(), "measurement"), results.seconds,
                              results.signal != 0 ? ", interrupted" : "");
}

namespace {

using Json = nlohmann::ordered_json;

Json case_json(const BenchCase& what) {
    Json json{{"rung", rung_name(what.rung)}, {"backend", what.backend}};
    if (what.backend == "cpu") json["threads"] = what.threads;
    if (what.gas) {
        json["dimension"] = what.gas->dimension;
        json["packing_fraction"] = what.gas->fraction;
        json["balls"] = what.gas->balls;
        json["precision"] = what.double_precision ? "double" : "single";
    }
    return json;
}

Json row_json(const BenchRow& row) {
    Json json = case_json(row.what);
    if (!row.start.empty()) json["start"] = row.start;
    json["unit"] = row.what.rung == BenchRung::kCopy     ? "bytes"
                   : row.what.rung == BenchRung::kEvents ? "events"
                                                         : "ball-steps";
    json["per_second"] = row.rate.median;
    json["per_second_least"] = row.rate.least;
    json["per_second_most"] = row.rate.most;
    json["spread"] = row.rate.spread();
    json["repeats"] = row.rate.repeats;
    json["steps"] = row.steps;
    const auto add = [&json](const char* key, const std::optional<double>& value) {
        if (value) json[key] = *value;
    };
    add("bytes_counted", row.bytes_counted);
    add("bytes_streamed", row.bytes_streamed);
    add("copy_bytes_per_second", row.copy_bandwidth);
    add("limit_per_second", row.limit);
    if (row.limit) json["fraction_of_limit"] = row.rate.median / *row.limit;
    add("contacts_per_ball", row.contacts_per_ball);
    add("steps_between_sorts", row.steps_between_sorts);
    add("seconds_per_time", row.seconds_per_time);
    for (const auto& [key, value] : row.more) json[key] = value;
    return json;
}

Json crossing_json(const Crossing& crossing) {
    Json json{{"dimension", crossing.dimension}, {"balls", crossing.balls}, {"points", Json::array()}};
    for (const Crossing::Point& point : crossing.points) {
        json["points"].push_back({{"packing_fraction", point.fraction},
                                  {"spring_seconds_per_time", point.spring_seconds},
                                  {"events_seconds_per_time", point.events_seconds},
                                  {"break_even_ball_steps_per_second", point.break_even},
                                  {"spring", point.spring}});
    }
    json["packing_fraction"] = crossing.fraction ? Json(*crossing.fraction) : Json(nullptr);
    json["sentence"] = crossing.sentence;
    return json;
}

}  // namespace

Json bench_json(const BenchResults& results, const BenchRequest& request) {
    Json json{{"carom_bench", 1}};
    json["machine"] = results.machine;
    json["settings"] = {{"quick", request.quick},
                        {"repeats", request.repeats_or_default()},
                        {"repeat_seconds", request.repeat_seconds()},
                        {"stiffness", kBenchStiffness},
                        {"steps_per_contact", 50},
                        {"rms_speed", 1.0},
                        {"boundary", "wall"}};
    json["seconds"] = results.seconds;
    json["interrupted"] = results.signal != 0;
    json["rows"] = Json::array();
    for (const BenchRow& row : results.rows) json["rows"].push_back(row_json(row));
    json["ratios"] = Json::array();
    for (const Speedup& speedup : speedups(results)) {
        Json ratio{{"of", speedup.of}, {"ratio", speedup.ratio}, {"spread", speedup.spread}};
        ratio.update(case_json(speedup.what));
        json["ratios"].push_back(std::move(ratio));
    }
    json["crossings"] = Json::array();
    for (const Crossing& crossing : crossings(results)) json["crossings"].push_back(crossing_json(crossing));
    json["left_out"] = Json::array();
    for (const LeftOut& left : results.left_out) {
        Json out = case_json(left.what);
        out["why"] = left.why;
        json["left_out"].push_back(std::move(out));
    }
    return json;
}

namespace {

struct Entry {
    Rate rate;
    bool matched = false;
};

struct Side {
    std::string machine;
    std::vector<std::pair<std::string, Entry>> entries;  // in the file's order

    Entry* find(const std::string& name) {
        for (auto& [key, entry] : entries) {
            if (key == name) return &entry;
        }
        return nullptr;
    }
};

/// The file may be a stranger's, and goes to a terminal.
std::string visible_text(const nlohmann::json& text) { return visible(text.get<std::string>()); }

/// "spring    cpu  2 threads  2D 0.5  100,000  single".
std::string name_of(const nlohmann::json& row) {
    std::string name = fmt::format("{:<10}{:<5}", visible_text(row.at("rung")), visible_text(row.at("backend")));
    name += row.contains("threads") ? fmt::format("{:>3}  ", row.at("threads").get<int>()) : "  -  ";
    if (row.contains("balls")) {
        name += fmt::format("{}D  {:<5}{:>12}  {}", row.at("dimension").get<int>(),
                            row.at("packing_fraction").get<double>(), count_text(row.at("balls").get<std::uint64_t>()),
                            visible_text(row.at("precision")));
    }
    return name;
}

Side read(const std::string& path) {
    const nlohmann::json json = bench_results(read_text_file(path), path);
    Side side;
    try {
        const nlohmann::json& machine = json.at("machine");
        side.machine = fmt::format("{}, {}, {}", visible_text(machine.at("commit")),
                                   visible_text(machine.at("processor").at("name")), visible_text(machine.at("date")));
        for (const nlohmann::json& row : json.at("rows")) {
            side.entries.push_back({name_of(row),
                                    {{.median = row.at("per_second").get<double>(),
                                      .least = row.at("per_second_least").get<double>(),
                                      .most = row.at("per_second_most").get<double>()}}});
        }
    } catch (const nlohmann::json::exception&) {
        throw InputError(path + ": is no result of carom bench");
    }
    return side;
}

/// Of an even number the geometric mean of the middle two: so that of the inverses is its inverse.
double median_ratio(std::vector<double> ratios) {
    std::ranges::sort(ratios);
    const std::size_t half = ratios.size() / 2;
    return std::sqrt(ratios[half]) * std::sqrt(ratios[ratios.size() % 2 == 0 ? half - 1 : half]);
}

void list(std::string& text, const Side& side, const std::string& title) {
    std::string lines;
    for (const auto& [name, entry] : side.entries) {
        if (!entry.matched) lines += "  " + name + "\n";
    }
    if (!lines.empty()) text += "\n" + title + "\n" + lines;
}

}  // namespace

std::string bench_diff(const std::string& before, const std::string& after) {
    Side a = read(before);
    Side b = read(after);
    std::string text = fmt::format("A: {} ({})\nB: {} ({})\n\n", visible(before), a.machine, visible(after), b.machine);
    text += fmt::format("  {:<51}{:>11}{:>11}{:>8}{:>8}\n", "measurement", "A", "B", "B/A", "noise");
    std::vector<double> ratios;
    int faster = 0;
    int slower = 0;
    for (auto& [name, entry] : a.entries) {
        Entry* other = b.find(name);
        if (other == nullptr) continue;
        entry.matched = other->matched = true;
        const double ratio = other->rate.median / entry.rate.median;
        ratios.push_back(ratio);
        const double noise = entry.rate.spread() + other->rate.spread();
        const bool apart = other->rate.least > entry.rate.most || entry.rate.least > other->rate.most;
        // Alike for a ratio and its inverse.
        const bool exceeds = apart && std::abs(std::log(ratio)) > std::log1p(noise);
        if (exceeds) ++(ratio > 1.0 ? faster : slower);
        text +=
            fmt::format("  {:<51}{:>11.4g}{:>11.4g}{:>8.3f}{:>6.1f} %{}\n", name, entry.rate.median, other->rate.median,
                        ratio, 100.0 * noise, !exceeds ? "" : (ratio > 1.0 ? "  faster" : "  SLOWER"));
    }
    list(text, a, "Only in A");
    list(text, b, "Only in B");
    const int compared = static_cast<int>(ratios.size());
    text += fmt::format("\n{} compared: {} faster and {} slower by more than the noise, {} within it\n", compared,
                        faster, slower, compared - faster - slower);
    if (compared > 0) {
        text += fmt::format("Median of the ratios: {:.3f}; what all have in common is the machine's\n",
                            median_ratio(ratios));
    }
    return text;
}

}  // namespace carom
