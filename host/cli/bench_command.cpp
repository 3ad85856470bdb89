#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/bench/bench.hpp"
#include "host/bench/bench_report.hpp"
#include "host/bench/machine.hpp"
#include "host/cli/options.hpp"
#include "host/io/replacement.hpp"
#include "host/run/output_files.hpp"
#include "host/run/say.hpp"
#include "host/run/signals.hpp"
#include "host/state/errors.hpp"
#ifdef CAROM_HAVE_VIEWER
#include "host/viewer/drawing_speed.hpp"
#endif

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
    std::string device;
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

/// Into the file, if one is named, and onto standard output, whether or not the file can be written.
void put_out(const nlohmann::ordered_json& json, const std::string& text, const BenchOptions& options) {
    const std::exception_ptr failure = thrown_by([&] {
        if (options.output.empty()) return;
        ReplacementFile file(options.output, options.force);
        file.write(json_text(json, 1) + "\n");
        file.commit();
    });
    fmt::print("{}", options.json ? json_text(json) + "\n" : text);
    if (failure) std::rethrow_exception(failure);
}

int bench(const BenchOptions& options) {
    const BenchRequest request = request_of(options);
    if (!options.output.empty()) check_output_file(options.output, "", options.force);
    const SignalGuard signals;
    const auto tell = [&options](const std::string& line) {
        if (!options.quiet) say("{}\n", line);
    };
    const BenchResults results = run_bench(request, tell, [&signals] { return signals.caught(); });
    put_out(bench_json(results, request), bench_text(results), options);
    return results.signal == 0 ? 0 : 128 + results.signal;
}

/// What `carom bench --viewer` found.
struct ViewerBench {
    nlohmann::ordered_json json;
    std::string text;  ///< as a table
};

#ifdef CAROM_HAVE_VIEWER

nlohmann::ordered_json json_of(const DrawingSpeeds& speeds, const DrawingRequest& request) {
    nlohmann::ordered_json json{{"carom_viewer_bench", 1}};
    json["machine"] = describe_machine();
    json["opengl"] = speeds.gl;
    json["store"] = speeds.store;
    json["width"] = request.width;
    json["height"] = request.height;
    json["rows"] = nlohmann::ordered_json::array();
    for (const DrawingRow& row : speeds.rows) {
        json["rows"].push_back({{"path", row.path},
                                {"backend", row.backend},
                                {"dimension", row.dimension},
                                {"balls", row.balls},
                                {"fill_seconds", row.fill_seconds},
                                {"draw_seconds", row.draw_seconds},
                                {"step_seconds", row.step_seconds},
                                {"frames_per_second", row.frames_per_second()},
                                {"live_frames_per_second", row.live_frames_per_second()},
                                {"pictures", row.pictures},
                                {"largest_difference", row.largest_difference},
                                {"differing_share", row.differing_share}});
    }
    json["left_out"] = speeds.left_out;
    return json;
}

std::string text_of(const DrawingSpeeds& speeds, const DrawingRequest& request) {
    std::string text =
        fmt::format("OpenGL {}; {} x {} pixels; balls {}\n\n", speeds.gl, request.width, request.height, speeds.store);
    text += fmt::format("{:<3} {:>10} {:<8} {:<8} {:>10} {:>10} {:>10} {:>10} {:>10}  {}\n", "", "balls", "backend",
                        "path", "step [ms]", "fill [ms]", "draw [ms]", "frames/s", "live", "from frames");
    constexpr double kMilli = 1e3;
    for (const DrawingRow& row : speeds.rows) {
        const std::string difference = row.path == "frames" ? "-"
                                                            : fmt::format("{} levels, {:.2g} of pixels",
                                                                          row.largest_difference, row.differing_share);
        text += fmt::format("{}D  {:>10} {:<8} {:<8} {:>10.3g} {:>10.3g} {:>10.3g} {:>10.3g} {:>10.3g}  {}\n",
                            row.dimension, row.balls, row.backend, row.path, kMilli * row.step_seconds,
                            kMilli * row.fill_seconds, kMilli * row.draw_seconds, row.frames_per_second(),
                            row.live_frames_per_second(), difference);
    }
    text += "\nframes/s: of balls at rest; live: with one step before each picture\n";
    for (const std::string& left : speeds.left_out) text += "left out: " + left + "\n";
    return text;
}

/// \param request  dimensions, sizes, threads and quickness of it
/// \param backend  "auto" | "cpu" | "cuda"
/// \throws SystemError  this build draws no pictures; no EGL with OpenGL 4.5; no CUDA device where one is asked for
ViewerBench run_viewer_bench(const BenchRequest& request, const std::string& backend,
                             const std::function<void(const std::string&)>& tell,
                             const std::function<int()>& interrupted) {
    DrawingRequest drawing;
    if (!request.dimensions.empty()) drawing.dimensions = request.dimensions;
    drawing.sizes = request.sizes;
    drawing.backend = backend;
    if (!request.threads.empty()) drawing.threads = request.threads.front();
    constexpr double kQuick = 0.3;  // [s]
    if (request.quick) drawing.seconds = kQuick;
    const DrawingSpeeds speeds = measure_drawing(drawing, tell, interrupted);
    return {json_of(speeds, drawing), text_of(speeds, drawing)};
}

#else

ViewerBench run_viewer_bench(const BenchRequest&, const std::string&, const std::function<void(const std::string&)>&,
                             const std::function<int()>&) {
    throw SystemError("this build draws no pictures through OpenGL: " CAROM_VIEWER_LACKS);
}

#endif

using OptionsGiven = std::vector<std::pair<const char*, bool>>;

/// \throws InputError  one of them is given
void refuse_options(const OptionsGiven& given, const char* with) {
    for (const auto& [name, is_given] : given) {
        if (is_given) throw InputError(fmt::format("{}: not with {}", name, with));
    }
}

/// What chooses measurements of the solvers alone.
OptionsGiven of_the_ladder(const BenchOptions& options) {
    return {{"--fractions", !options.fractions.empty()}, {"--precision", !options.precisions.empty()},
            {"--only", !options.only.empty()},           {"--repeats", !options.repeats.empty()},
            {"--limit", !options.limit.empty()},         {"--patience", !options.patience.empty()}};
}

int compare_results(const BenchOptions& options) {
    refuse_options(of_the_ladder(options), "--diff");
    refuse_options({{"--viewer", options.viewer},
                    {"--quick", options.quick},
                    {"--dimension", !options.dimensions.empty()},
                    {"--sizes", !options.sizes.empty()},
                    {"--backend", options.backend != "auto"},
                    {"--device", !options.device.empty()},
                    {"--threads", !options.threads.empty()},
                    {"--output", !options.output.empty()},
                    {"--json", options.json}},
                   "--diff");
    fmt::print("{}", bench_diff(options.diff[0], options.diff[1]));
    return 0;
}

/// How fast balls get into pictures, instead of how fast they are computed.
int bench_viewer(const BenchOptions& options) {
    refuse_options(of_the_ladder(options), "--viewer");
    if (!options.output.empty()) check_output_file(options.output, "", options.force);
    const BenchRequest request = request_of(options);
    const SignalGuard signals;
    const auto tell = [&options](const std::string& line) {
        if (!options.quiet) say("{}\n", line);
    };
    const ViewerBench results =
        run_viewer_bench(request, options.backend, tell, [&signals] { return signals.caught(); });
    put_out(results.json, results.text, options);
    return signals.caught() == 0 ? 0 : 128 + signals.caught();
}

}  // namespace

Action add_bench_command(CommandOptions& command, const std::string&) {
    const auto options = std::make_shared<BenchOptions>();
    command.flag("--viewer", options->viewer,
                 "How fast balls get into pictures: filling OpenGL's buffers, by each way there is, and drawing; with "
                 "--quick, --dimension, --sizes, --backend and --threads");
    command.flag("--quick", options->quick, "Within a minute: fewer and smaller gases, shorter repeats");
    command.option("--dimension", options->dimensions, "LIST", "2, 3 or both; both by default");
    command.option("--sizes", options->sizes, "LIST", "Numbers of balls, as in 1000,1e5; 1e3 to 1e8 by default");
    command.option("--fractions", options->fractions, "LIST",
                   "Packing fractions; 0.05,0.5,0.8 in 2D and 0.05,0.3,0.6 in 3D by default");
    command.option("--precision", options->precisions, "LIST", "single, double or both; both by default");
    command.option("--backend", options->backend, "NAME", "cpu, cuda or auto: all that are here");
    command.option("--device", options->device, "N", "GPU to use, as numbered by 'carom info'; the first by default");
    command.option("--threads", options->threads, "LIST", "Threads of the CPU; 1 to all, by powers of two, by default");
    command.option("--only", options->only, "LIST", "Of copy, integrate, textbook, spring, events, output");
    command.option("--repeats", options->repeats, "N", "Of each measurement; 5, or 3 with --quick");
    command.option("--limit", options->limit, "SECONDS", "Time for all [s]; what does not fit is left out, and said");
    command.option("--patience", options->patience, "SECONDS", "Time for one measurement [s]; 60, or 3 with --quick");
    command.option("-o,--output", options->output, "FILE", "Results as JSON, for carom plot and --diff");
    command.several("--diff", options->diff, 2, "A.json B.json", "Measure nothing; compare two files of results");
    command.flag("--json", options->json, "The results as one JSON object on standard output, instead of tables");
    command.flag("--quiet", options->quiet, "Do not say what is being measured");
    command.flag("--force", options->force, "Overwrite the file of results");
    return [options] {
        if (!options->diff.empty()) return compare_results(*options);
        use_device(options->device);
        return options->viewer ? bench_viewer(*options) : bench(*options);
    };
}

}  // namespace carom
