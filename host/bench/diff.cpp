#include "host/bench/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "host/run/text.hpp"
#include "host/state/errors.hpp"
#include "host/state/text_file.hpp"

namespace carom {

namespace {

using Json = nlohmann::ordered_json;

struct Entry {
    double rate = 0.0;
    double spread = 0.0;
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

/// "spring    cpu  2 threads  2D 0.5  100,000  single".
std::string name_of(const Json& row) {
    std::string name =
        fmt::format("{:<10}{:<5}", row.at("rung").get<std::string>(), row.at("backend").get<std::string>());
    name += row.contains("threads") ? fmt::format("{:>3}  ", row.at("threads").get<int>()) : "  -  ";
    if (row.contains("balls")) {
        name += fmt::format("{}D  {:<5}{:>12}  {}", row.at("dimension").get<int>(),
                            row.at("packing_fraction").get<double>(), count_text(row.at("balls").get<std::uint64_t>()),
                            row.at("precision").get<std::string>());
    }
    return name;
}

Side read(const std::string& path) {
    const std::string text = read_text_file(path);
    Side side;
    try {
        const Json json = Json::parse(text);
        if (json.at("carom_bench") != 1) throw InputError(path + ": is of another version of carom bench");
        const Json& machine = json.at("machine");
        side.machine =
            fmt::format("{}, {}, {}", machine.at("commit").get<std::string>(),
                        machine.at("processor").at("name").get<std::string>(), machine.at("date").get<std::string>());
        for (const Json& row : json.at("rows")) {
            const double rate = row.at("per_second").get<double>();
            if (!(rate > 0.0)) throw InputError(path + ": holds a rate that is not above 0");
            side.entries.push_back({name_of(row), {rate, row.at("spread").get<double>()}});
        }
    } catch (const nlohmann::json::exception&) {
        throw InputError(path + ": is no result of carom bench");
    }
    return side;
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
    std::string text = fmt::format("A: {} ({})\nB: {} ({})\n\n", before, a.machine, after, b.machine);
    text += fmt::format("  {:<51}{:>11}{:>11}{:>8}{:>8}\n", "measurement", "A", "B", "B/A", "noise");
    std::vector<double> ratios;
    int faster = 0;
    int slower = 0;
    for (auto& [name, entry] : a.entries) {
        Entry* other = b.find(name);
        if (other == nullptr) continue;
        entry.matched = other->matched = true;
        const double ratio = other->rate / entry.rate;
        ratios.push_back(ratio);
        const double noise = entry.spread + other->spread;
        // Alike for a ratio and its inverse.
        const bool exceeds = std::abs(std::log(ratio)) > std::log1p(noise);
        if (exceeds) ++(ratio > 1.0 ? faster : slower);
        text += fmt::format("  {:<51}{:>11.4g}{:>11.4g}{:>8.3f}{:>6.1f} %{}\n", name, entry.rate, other->rate, ratio,
                            100.0 * noise, !exceeds ? "" : (ratio > 1.0 ? "  faster" : "  SLOWER"));
    }
    list(text, a, "Only in A");
    list(text, b, "Only in B");
    const int compared = static_cast<int>(ratios.size());
    text += fmt::format("\n{} compared: {} faster and {} slower by more than the noise, {} within it\n", compared,
                        faster, slower, compared - faster - slower);
    if (compared > 0) {
        std::ranges::nth_element(ratios, ratios.begin() + compared / 2);
        text += fmt::format("Median of the ratios: {:.3f}; what all have in common is the machine's\n",
                            ratios[static_cast<std::size_t>(compared / 2)]);
    }
    return text;
}

}  // namespace carom
