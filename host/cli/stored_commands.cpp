#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "host/cli/options.hpp"
#include "host/io/exporter.hpp"
#include "host/io/replacement.hpp"
#include "host/io/state_text.hpp"
#include "host/io/trajectory_reader.hpp"
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
    bool quiet = false;
    bool force = false;
};

int convert(const ConvertOptions& options) {
    const TrajectoryReader trajectory(options.input);
    if (trajectory.frame_count() == 0) throw InputError(options.input + ": holds no frame");
    const bool series = !options.frame.given();
    const std::size_t first = series ? 0 : choose_frame(options.frame, trajectory);
    const std::size_t count = series ? trajectory.frame_count() : 1;

    ExportTarget target;
    target.path = options.output;
    target.header = &trajectory.header();
    target.frames = count;
    target.series = series;
    target.force = options.force;
    const auto exporter = make_exporter(target);
    Frame frame;
    for (std::size_t index = first; index < first + count; ++index) {
        trajectory.read(index, frame);
        exporter->add(frame);
    }
    const std::string done = exporter->finish();
    if (!options.quiet) say("{}\n", done);
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
        options.output.empty() ? std::filesystem::path(options.file).stem().string() + ".html" : options.output;
    if (!output.ends_with(".html")) throw InputError(output + ": a report ends in .html");
    const TrajectoryReader trajectory(options.file);
    check_output_file(output, options.file, options.force);
    const std::string page = report_page(trajectory);
    ReplacementFile file(output);
    file.write(page);
    file.commit();
    if (!options.quiet) say("{}\n", output);
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
