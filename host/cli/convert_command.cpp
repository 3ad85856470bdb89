#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "host/cli/options.hpp"
#include "host/io/exporter.hpp"
#include "host/io/trajectory_reader.hpp"
#include "host/run/say.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

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

}  // namespace

Action add_convert_command(CLI::App& app, const std::string&) {
    const auto options = std::make_shared<ConvertOptions>();
    std::string formats = "File to write:";
    for (const ExportFormat& format : export_formats())
        formats += fmt::format(" {} ({})", format.extension, format.description);
    app.add_option("INPUT", options->input, "Trajectory")->required()->type_name("");
    app.add_option("FILE", options->output, formats)->required()->type_name("");
    add_frame_options(app, options->frame);
    app.add_flag("--quiet", options->quiet, "Say nothing");
    app.add_flag("--force", options->force, "Overwrite files that exist");
    return [options] { return convert(*options); };
}

}  // namespace carom
