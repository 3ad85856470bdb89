#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "host/cli/options.hpp"
#include "host/io/state_text.hpp"
#include "host/io/trajectory_reader.hpp"
#include "host/run/say.hpp"
#include "host/run/text.hpp"
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

}  // namespace

Action add_state_command(CLI::App& app, const std::string&) {
    const auto options = std::make_shared<StateOptions>();
    app.add_option("FILE", options->file, "Trajectory")->required()->type_name("");
    add_frame_options(app, options->frame);
    app.add_flag("--json", options->json, "As one JSON object");
    app.add_flag("--csv", options->csv, "As a table with a header line (the default)");
    app.add_flag("--quiet", options->quiet, "Nothing but the table");
    return [options] { return state(*options); };
}

}  // namespace carom
