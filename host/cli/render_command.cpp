#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "host/cli/viewer_options.hpp"
#include "host/run/say.hpp"
#include "host/run/signals.hpp"
#include "host/run/text.hpp"
#include "host/scene/load.hpp"
#include "host/state/errors.hpp"
#ifdef CAROM_HAVE_VIEWER
#include "host/cli/picture_request.hpp"
#include "host/viewer/render.hpp"
#endif

namespace carom {

namespace {

struct RenderOptions {
    ViewerOptions viewer;
    FrameOptions frame;
    std::string output;
    std::string fps;
    std::string every;
    bool overlay = false;
    bool quiet = false;
    bool force = false;
};

#ifdef CAROM_HAVE_VIEWER

FrameChoice frame_choice(const RenderOptions& options, RenderKind kind) {
    const FrameOptions& frame = options.frame;
    if (int{frame.last} + int{!frame.time.empty()} + int{!frame.frame.empty()} > 1) {
        throw InputError("--last, --time and --frame exclude each other; give one");
    }
    FrameChoice choice;
    if (!options.every.empty()) {
        choice.every = parse_time("--every", options.every);
        if (choice.every <= 0.0) throw InputError("--every: must be greater than 0");
    }
    if (!frame.time.empty()) {
        choice.kind = FrameChoice::Kind::kTime;
        choice.time = parse_time("--time", frame.time);
    } else if (!frame.frame.empty()) {
        choice.kind = FrameChoice::Kind::kIndex;
        choice.index = parse_whole("--frame", frame.frame, 0);
    } else if (frame.last || kind == RenderKind::kPicture) {
        choice.kind = FrameChoice::Kind::kLast;
    }
    if (kind == RenderKind::kMovie && choice.kind != FrameChoice::Kind::kAll) {
        throw InputError("--last, --time and --frame are for single pictures, not for movies");
    }
    return choice;
}

int render_all(const RenderOptions& options) {
    const bool stored = is_trajectory(options.viewer, "render");
    if (options.output.empty()) throw InputError("no output given: -o FRAME.png, MOVIE.mp4 or FOLDER/");
    RenderRequest request;
    request.output = options.output;
    request.force = options.force;
    request.quiet = options.quiet;
    request.notes = options.overlay;
    const PictureSize size = picture_size(options.viewer);
    request.width = size.width;
    request.height = size.height;
    request.style = picture_style(options.viewer);
    request.camera = parse_camera(options.viewer.camera);
    if (!options.fps.empty()) {
        request.frames_per_second = parse_time("--fps", options.fps);
        constexpr double kMost = 1000.0;
        if (request.frames_per_second <= 0.0 || request.frames_per_second > kMost) {
            throw InputError("--fps: must be greater than 0 and at most 1000");
        }
    }
    const FrameChoice choice = frame_choice(options, render_kind(options.output));
    const SceneRequest scene = options.viewer.scene.request();
    check_render_output(request, stored ? scene.scene : find_scene(scene.scene));

    const SignalGuard signals;
    const auto interrupted = [&signals] { return signals.caught(); };
    const auto source = stored ? open_trajectory(scene.scene, choice) : start_run(scene, choice, interrupted);
    const std::size_t count = render(*source, request, interrupted);
    if (interrupted() != 0) {
        say("carom: interrupted after {}\n", plural(count, "frame"));
        return 128 + interrupted();
    }
    if (!options.quiet) say("{} ({})\n", options.output, plural(count, "frame"));
    return 0;
}

#else

int render_all(const RenderOptions&) {
    throw SystemError("this build draws no pictures through OpenGL: " CAROM_VIEWER_LACKS
                      "; carom plot FILE balls draws without");
}

#endif

}  // namespace

Action add_render_command(CLI::App& app, const std::string&) {
    const auto options = std::make_shared<RenderOptions>();
    add_viewer_options(app, options->viewer);
    app.add_option("-o,--output", options->output,
                   "A picture (.png), a movie (.mp4, by ffmpeg), or a folder (ends in /)")
        ->type_name("OUTPUT");
    app.add_option("--fps", options->fps, "Frames per second of a movie; 30 by default")->type_name("N");
    app.add_option("--every", options->every,
                   "Simulated time between frames; by default all stored ones, of a scene output.every")
        ->type_name("T");
    add_frame_options(app, options->frame);
    app.add_flag("--overlay", options->overlay, "The run's numbers over the picture");
    app.add_flag("--quiet", options->quiet, "Say nothing");
    app.add_flag("--force", options->force, "Overwrite what exists");
    return options->viewer.scene.naming_options([options] { return render_all(*options); });
}

}  // namespace carom
