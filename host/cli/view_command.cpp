#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "host/cli/viewer_options.hpp"
#include "host/run/say.hpp"
#include "host/run/signals.hpp"
#include "host/run/text.hpp"
#include "host/state/errors.hpp"
#ifdef CAROM_HAVE_WINDOW
#include "host/cli/picture_request.hpp"
#include "host/window/view.hpp"
#endif

namespace carom {

namespace {

struct ViewOptions {
    ViewerOptions viewer;
    std::string output;
    bool force = false;
    bool paused = false;
    bool no_panels = false;
    bool quiet = false;
};

#ifdef CAROM_HAVE_WINDOW

int open_view(const ViewOptions& options) {
    const bool stored = is_trajectory(options.viewer, "view");
    const std::string& file = options.viewer.scene.scene;
    if (stored && !options.output.empty()) throw InputError("--output: only a scene that runs is stored, not " + file);
    if (!options.output.empty() && !options.output.ends_with(".h5")) {
        throw InputError("--output: '" + options.output + "' does not end in .h5");
    }
    ViewRequest request;
    request.name = std::filesystem::path(file).stem().string();
    const PictureSize size = picture_size(options.viewer);
    request.width = size.width;
    request.height = size.height;
    request.style = picture_style(options.viewer);
    request.camera = parse_camera(options.viewer.camera);
    request.playing = !options.paused;
    request.panels = !options.no_panels;
    const auto show = stored ? make_stored_show(file)
                             : make_live_show(options.viewer.scene.request(), {options.output, options.force});
    const SignalGuard signals;
    const ViewOutcome outcome = view(*show, request, [&signals] { return signals.caught(); });
    if (signals.caught() != 0) return 128 + signals.caught();
    if (!options.quiet) {
        say("closed at t = {:.6g}, step {}; {} in {:.3g} s\n", outcome.time, outcome.step,
            plural(outcome.pictures, "picture"), outcome.seconds);
    }
    if (!outcome.error.empty()) throw SimulationError(outcome.error);
    return 0;
}

#else

int open_view(const ViewOptions&) { throw SystemError("this build opens no window: " CAROM_WINDOW_LACKS); }

#endif

}  // namespace

Action add_view_command(CLI::App& app, const std::string&) {
    const auto options = std::make_shared<ViewOptions>();
    add_viewer_options(app, options->viewer);
    app.add_option(
           "-o,--output", options->output,
           "Stores the run as it goes (.h5), with a note of each change that is made; by default it is not stored")
        ->type_name("OUT.h5");
    app.add_flag("--force", options->force, "Overwrite an existing file");
    app.add_flag("--paused", options->paused, "Do not play yet");
    app.add_flag("--no-panels", options->no_panels, "Hide the panels; tab shows them");
    app.add_flag("--quiet", options->quiet, "Say nothing");
    return options->viewer.scene.naming_options([options] { return open_view(*options); });
}

}  // namespace carom
