#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "host/cli/options.hpp"
#include "host/io/exporter.hpp"
#include "host/io/join.hpp"
#include "host/io/replacement.hpp"
#include "host/io/state_text.hpp"
#include "host/io/trajectory_reader.hpp"
#include "host/plot/stored_run.hpp"
#include "host/report/report.hpp"
#include "host/run/output_files.hpp"
#include "host/run/say.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

struct StateOptions {
    std::string file;
    FrameOptions frame;
    bool json = false;
    bool csv = false;
    bool quiet = false;
};

int state(const StateOptions& options) {
    if (options.json && options.csv) throw InputError("--json and --csv exclude each other; give one");
    const TrajectoryReader trajectory(options.file);
    const std::size_t index = choose_frame(options.frame, trajectory);
    Frame frame;
    trajectory.read(index, frame);
    if (options.json) {
        fmt::print("{}", state_json(trajectory.header(), frame));
        return 0;
    }
    if (!options.csv && !options.quiet) {
        say("frame {} of {}, t = {:.10g}, step {}\n", index, trajectory.frame_count(), frame.time, frame.step);
    }
    const std::string table = state_csv(trajectory.header(), frame);
    fmt::print("{}", table);
    return 0;
}

struct ConvertOptions {
    std::string input;
    std::string output;
    FrameOptions frame;
    std::string frames;
    std::string from;
    std::string to;
    std::string every;
    std::vector<std::string> join;
    bool quiet = false;
    bool force = false;

    [[nodiscard]] bool part() const { return !frames.empty() || !from.empty() || !to.empty() || !every.empty(); }
};

/// The frames of "FIRST:END:STEP", as Python's slices have it: END is not among them, and what is below 0 counts back
/// from the end.
std::vector<std::size_t> parse_slice(const std::string& text, std::size_t count) {
    std::vector<std::optional<long long>> parts;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(':', at), text.size());
        long long value = 0;
        const char* const from = text.data() + at;
        const char* const to = text.data() + end;
        const auto [stop, error] = std::from_chars(from, to, value);
        const bool empty = from == to;
        if (!empty && (error != std::errc() || stop != to)) parts.resize(4);  // none that is allowed
        parts.push_back(empty ? std::nullopt : std::optional(value));
        at = end + 1;
    }
    if (parts.size() < 2 || parts.size() > 3 || (parts.size() == 3 && parts[2].value_or(1) < 1)) {
        throw InputError(
            fmt::format("--frames: '{}' is not FIRST:END or FIRST:END:STEP, in whole numbers, STEP above 0", text));
    }
    const auto size = static_cast<long long>(count);
    const auto place = [&](const std::optional<long long>& part, long long otherwise) {
        const long long value = part.value_or(otherwise);
        return std::clamp(value < 0 ? value + size : value, 0LL, size);
    };
    const long long step = parts.size() == 3 ? std::min(parts[2].value_or(1), size) : 1;
    std::vector<std::size_t> frames;
    for (long long k = place(parts[0], 0); k < place(parts[1], size); k += step) {
        frames.push_back(static_cast<std::size_t>(k));
    }
    return frames;
}

/// Those frames that the options leave.
std::vector<std::size_t> chosen_frames(const ConvertOptions& options, const TrajectoryReader& trajectory) {
    if (options.frame.given() && options.part()) {
        throw InputError("--last, --time and --frame choose one frame; --frames, --from, --to and --every several");
    }
    if (options.frame.given()) return {choose_frame(options.frame, trajectory)};
    const TimeWindow window = time_window(options.from, options.to).of(trajectory);
    const double every = options.every.empty() ? 0.0 : parse_time("--every", options.every);
    // Times of frames are rounded to steps.
    constexpr double kRounding = 0.01;
    std::vector<std::size_t> frames;
    std::optional<double> next;
    for (const std::size_t frame :
         parse_slice(options.frames.empty() ? ":" : options.frames, trajectory.frame_count())) {
        const double time = trajectory.times()[frame];
        if (!window.holds(time) || (next && time < *next - kRounding * every)) continue;
        frames.push_back(frame);
        next = time + every;
    }
    if (frames.empty()) {
        throw InputError(fmt::format("{}: no frame is left; it holds {}, from t = {:.10g} to {:.10g}", options.input,
                                     trajectory.frame_count(), trajectory.times().front(), trajectory.times().back()));
    }
    return frames;
}

int join(const ConvertOptions& options) {
    if (options.frame.given() || options.part())
        throw InputError("--join: puts runs together whole; choose frames of what comes of it");
    if (!options.output.ends_with(".h5")) {
        throw InputError(fmt::format("{}: with --join the file is a trajectory, and ends in .h5", options.output));
    }
    std::vector<std::string> paths{options.input};
    paths.insert(paths.end(), options.join.begin(), options.join.end());
    for (const std::string& path : paths) check_output_file(options.output, path, options.force);
    const std::string done = join_trajectories(paths, options.output, options.force);
    if (!options.quiet) say("{}\n", visible(done));
    return 0;
}

int convert(const ConvertOptions& options) {
    if (!options.join.empty()) return join(options);
    const TrajectoryReader trajectory(options.input);
    if (trajectory.frame_count() == 0) throw InputError(options.input + ": holds no frame");
    const std::vector<std::size_t> frames = chosen_frames(options, trajectory);
    ExportTarget target;
    target.path = options.output;
    target.header = &trajectory.header();
    target.frames = frames.size();
    target.series = !options.frame.given();
    target.force = options.force;
    target.input = options.input;
    const auto exporter = make_exporter(target);
    Frame frame;
    for (const std::size_t index : frames) {
        trajectory.read(index, frame);
        exporter->add(frame);
    }
    const std::string done = exporter->finish();
    if (!options.quiet) say("{}\n", visible(done));
    return 0;
}

struct ReportOptions {
    std::string file;
    std::string output;
    bool quiet = false;
    bool force = false;
};

int report(const ReportOptions& options) {
    const std::string output =
        options.output.empty() ? unled(std::filesystem::path(options.file).stem().string() + ".html") : options.output;
    if (!output.ends_with(".html")) throw InputError(output + ": a report ends in .html");
    const TrajectoryReader trajectory(options.file);
    check_output_file(output, options.file, options.force);
    const std::string page = report_page(trajectory);
    ReplacementFile file(output, options.force);  // one that came while the page was made is somebody's
    file.write(page);
    file.commit();
    if (!options.quiet) say("{}\n", visible(output));
    return 0;
}

}  // namespace

Action add_state_command(CommandOptions& command, const std::string&) {
    const auto options = std::make_shared<StateOptions>();
    command.required_argument("FILE", options->file, "Trajectory");
    add_frame_options(command, options->frame);
    command.flag("--json", options->json, "As one JSON object");
    command.flag("--csv", options->csv, "As a table with a header line (the default)");
    command.flag("--quiet", options->quiet, "Nothing but the table");
    return [options] { return state(*options); };
}

Action add_convert_command(CommandOptions& command, const std::string&) {
    const auto options = std::make_shared<ConvertOptions>();
    std::string formats = "File to write:";
    for (const ExportFormat& format : export_formats())
        formats += fmt::format(" {} ({})", format.extension, format.description);
    command.required_argument("INPUT", options->input, "Trajectory");
    command.required_argument("FILE", options->output, formats);
    add_frame_options(command, options->frame);
    command.option("--frames", options->frames, "A:B:S",
                   "Frames A to B - 1, every S-th; each may be left out; below 0: from the end, as in Python");
    command.option("--from", options->from, "T", "Only frames of this time and later; below 0: so long before the end");
    command.option("--to", options->to, "T", "Only frames up to this time, told as for --from");
    command.option("--every", options->every, "T", "Of these only frames that are so far apart in time, or farther");
    command.repeatable("--join", options->join, "FILE",
                       "A trajectory of the run that resumed INPUT, or the one before; all together become FILE.h5");
    command.flag("--quiet", options->quiet, "Say nothing");
    command.flag("--force", options->force, "Overwrite files that exist");
    return [options] { return convert(*options); };
}

Action add_report_command(CommandOptions& command, const std::string&) {
    const auto options = std::make_shared<ReportOptions>();
    command.required_argument("FILE", options->file, "Trajectory");
    command.option("-o,--output", options->output, "REPORT.html",
                   "The page; FILE.html in the current folder by default");
    command.flag("--quiet", options->quiet, "Say nothing");
    command.flag("--force", options->force, "Overwrite the page if it exists");
    return [options] { return report(*options); };
}

}  // namespace carom
