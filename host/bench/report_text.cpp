#include <fmt/format.h>

#include <string>

#include "host/bench/findings.hpp"
#include "host/bench/report.hpp"
#include "host/run/text.hpp"

namespace carom {

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

}  // namespace carom
