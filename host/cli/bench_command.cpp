#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "host/bench/diff.hpp"
#include "host/bench/report.hpp"
#include "host/bench/run_bench.hpp"
#include "host/cli/options.hpp"
#include "host/cli/viewer_bench.hpp"
#include "host/io/replacement.hpp"
#include "host/run/output_files.hpp"
#include "host/run/say.hpp"
#include "host/run/signals.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

struct BenchOptions {
    bool viewer = false;
    bool quick = false;
    bool json = false;
    bool quiet = false;
    bool force = false;
    std::string output;
    std::vector<std::string> diff;
    std::string dimensions;
    std::string sizes;
    std::string fractions;
    std::string precisions;
    std::string backend = "auto";
    std::string threads;
    std::string only;
    std::string repeats;
    std::string limit;
    std::string patience;
};

std::vector<std::string> split(const std::string& option, const std::string& text) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (!text.empty()) {
        const auto comma = text.find(',', begin);
        parts.push_back(text.substr(begin, comma - begin));
        if (parts.back().empty()) throw InputError(fmt::format("{}: '{}' is not a list A,B,C", option, text));
        if (comma == std::string::npos) break;
        begin = comma + 1;
    }
    return parts;
}

/// One of `allowed`.
std::string word(const std::string& option, const std::string& text, const std::vector<std::string>& allowed) {
    if (std::ranges::find(allowed, text) == allowed.end()) {
        throw InputError(fmt::format("{}: '{}' is not known; allowed: {}", option, text, fmt::join(allowed, ", ")));
    }
    return text;
}

double number(const std::string& option, const std::string& text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
        throw InputError(fmt::format("{}: '{}' is not a number", option, text));
    }
    return value;
}

double seconds(const std::string& option, const std::string& text) {
    if (text.empty()) return 0.0;
    const double value = number(option, text);
    if (!(value > 0.0)) throw InputError(fmt::format("{}: '{}' is not a time above 0", option, text));
    return value;
}

/// A count as people write large ones: 100000 or 1e5.
std::uint64_t ball_count(const std::string& text) {
    constexpr double kMost = 1e9;
    const double value = number("--sizes", text);
    if (!(value >= 1.0) || value > kMost || value != std::floor(value)) {
        throw InputError(fmt::format("--sizes: '{}' is not a whole number from 1 to 1e9", text));
    }
    return static_cast<std::uint64_t>(value);
}

BenchRequest request_of(const BenchOptions& options) {
    BenchRequest request;
    request.quick = options.quick;
    for (const std::string& text : split("--dimension", options.dimensions)) {
        request.dimensions.push_back(word("--dimension", text, {"2", "3"}) == "2" ? 2 : 3);
    }
    for (const std::string& text : split("--sizes", options.sizes)) request.sizes.push_back(ball_count(text));
    std::ranges::sort(request.sizes);  // what is left out is estimated from smaller ones
    for (const std::string& text : split("--fractions", options.fractions)) {
        const double fraction = number("--fractions", text);
        // Hexagonal and fcc packing; what a box of walls holds is less, and placing says so.
        if (!(fraction > 0.0) || fraction > 0.9) {
            throw InputError(fmt::format("--fractions: '{}' is not above 0 and at most 0.9", text));
        }
        request.fractions.push_back(fraction);
    }
    for (const std::string& text : split("--precision", options.precisions))
        request.precisions.push_back(word("--precision", text, {"single", "double"}));
    if (word("--backend", options.backend, {"auto", "cpu", "cuda"}) != "auto") request.backends = {options.backend};
    for (const std::string& text : split("--threads", options.threads)) {
        constexpr std::uint64_t kMost = 4096;
        const std::uint64_t count = parse_whole("--threads", text, 1);
        if (count > kMost) throw InputError(fmt::format("--threads: {} is too many; allowed: 1 to {}", count, kMost));
        request.threads.push_back(static_cast<int>(count));
    }
    std::vector<std::string> names;
    for (const BenchRung rung : bench_rungs()) names.emplace_back(rung_name(rung));
    for (const std::string& text : split("--only", options.only)) {
        const auto place = std::ranges::find(names, word("--only", text, names)) - names.begin();
        request.rungs.push_back(bench_rungs()[static_cast<std::size_t>(place)]);
    }
    if (!options.repeats.empty()) {
        constexpr std::uint64_t kMost = 1000;
        request.repeats = static_cast<int>(std::min(parse_whole("--repeats", options.repeats, 1), kMost));
    }
    request.limit = seconds("--limit", options.limit);
    request.patience = seconds("--patience", options.patience);
    return request;
}

int bench(const BenchOptions& options) {
    const BenchRequest request = request_of(options);
    if (!options.output.empty()) check_output_file(options.output, "", options.force);
    const SignalGuard signals;
    const auto tell = [&options](const std::string& line) {
        if (!options.quiet) say("{}\n", line);
    };
    const BenchResults results = run_bench(request, tell, [&signals] { return signals.caught(); });
    const std::string json = bench_json(results, request).dump(options.json ? -1 : 1);
    if (!options.output.empty()) {
        ReplacementFile file(options.output);
        file.write(bench_json(results, request).dump(1) + "\n");
        file.commit();
    }
    fmt::print("{}{}", options.json ? json : bench_text(results), options.json ? "\n" : "");
    return results.signal == 0 ? 0 : 128 + results.signal;
}

/// How fast balls get into pictures, instead of how fast they are computed.
int bench_viewer(const BenchOptions& options) {
    for (const auto& [name, value] :
         {std::pair{"--fractions", &options.fractions}, std::pair{"--precision", &options.precisions},
          std::pair{"--only", &options.only}, std::pair{"--repeats", &options.repeats},
          std::pair{"--limit", &options.limit}, std::pair{"--patience", &options.patience}}) {
        if (!value->empty()) throw InputError(fmt::format("{}: not with --viewer", name));
    }
    if (!options.output.empty()) check_output_file(options.output, "", options.force);
    const BenchRequest request = request_of(options);
    const SignalGuard signals;
    const auto tell = [&options](const std::string& line) {
        if (!options.quiet) say("{}\n", line);
    };
    const ViewerBench results =
        run_viewer_bench(request, options.backend, tell, [&signals] { return signals.caught(); });
    if (!options.output.empty()) {
        ReplacementFile file(options.output);
        file.write(results.json.dump(1) + "\n");
        file.commit();
    }
    fmt::print("{}", options.json ? results.json.dump() + "\n" : results.text);
    return signals.caught() == 0 ? 0 : 128 + signals.caught();
}

}  // namespace

Action add_bench_command(CLI::App& app, const std::string&) {
    const auto options = std::make_shared<BenchOptions>();
    app.add_flag("--viewer", options->viewer,
                 "How fast balls get into pictures: filling OpenGL's buffers, by each way there is, and drawing; with "
                 "--quick, --dimension, --sizes, --backend and --threads");
    app.add_flag("--quick", options->quick, "Within a minute: fewer and smaller gases, shorter repeats");
    app.add_option("--dimension", options->dimensions, "2, 3 or both; both by default")->type_name("LIST");
    app.add_option("--sizes", options->sizes, "Numbers of balls, as in 1000,1e5; 1e3 to 1e8 by default")
        ->type_name("LIST");
    app.add_option("--fractions", options->fractions,
                   "Packing fractions; 0.05,0.5,0.8 in 2D and 0.05,0.3,0.6 in 3D by default")
        ->type_name("LIST");
    app.add_option("--precision", options->precisions, "single, double or both; both by default")->type_name("LIST");
    app.add_option("--backend", options->backend, "cpu, cuda or auto: all that are here")->type_name("NAME");
    app.add_option("--threads", options->threads, "Threads of the CPU; 1 to all, by powers of two, by default")
        ->type_name("LIST");
    app.add_option("--only", options->only, "Of copy, integrate, textbook, spring, events, output")->type_name("LIST");
    app.add_option("--repeats", options->repeats, "Of each measurement; 5, or 3 with --quick")->type_name("N");
    app.add_option("--limit", options->limit, "Time for all [s]; what does not fit is left out, and said")
        ->type_name("SECONDS");
    app.add_option("--patience", options->patience, "Time for one measurement [s]; 60, or 3 with --quick")
        ->type_name("SECONDS");
    app.add_option("-o,--output", options->output, "Results as JSON, for carom plot and --diff")->type_name("FILE");
    app.add_option("--diff", options->diff, "Measure nothing; compare two files of results")
        ->type_name("A.json B.json")
        ->expected(2);
    app.add_flag("--json", options->json, "The results as one JSON object on standard output, instead of tables");
    app.add_flag("--quiet", options->quiet, "Do not say what is being measured");
    app.add_flag("--force", options->force, "Overwrite the file of results");
    return [options] {
        if (options->viewer) return bench_viewer(*options);
        if (options->diff.empty()) return bench(*options);
        fmt::print("{}", bench_diff(options->diff[0], options->diff[1]));
        return 0;
    };
}

}  // namespace carom
