// The commands that draw balls: render, which needs no display, and view, which opens a window.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>

#include "host/cli/options.hpp"
#include "host/run/say.hpp"
#include "host/run/signals.hpp"
#include "host/scene/load.hpp"
#include "host/state/errors.hpp"
#ifdef CAROM_HAVE_VIEWER
#include "host/viewer/painter.hpp"
#include "host/viewer/render.hpp"
#endif
#ifdef CAROM_HAVE_WINDOW
#include "host/window/view.hpp"
#endif

namespace carom {

namespace {

/// What `render` and `view` have in common.
struct ViewerOptions {
    SceneOptions scene;
    std::string size;
    std::string color_by;
    std::string colormap;
    std::string range;
    std::string camera;
    bool arrows = false;
    bool light = false;
    bool plain = false;
    bool bare = false;
};

void add_viewer_options(CommandOptions& command, ViewerOptions& options) {
    add_scene_options(command, options.scene);
    command.describe("SCENE", "Scene file, the name of an installed scene, or a trajectory (.h5)");
    command.option("--size", options.size, "WxH", "Pixels; 1280x800 by default");
    command.option("--color-by", options.color_by, "WHAT",
                   "species, speed, kinetic-energy, spin, overlap, id or height; species where there are several, "
                   "else speed");
    command.option(
        "--colormap", options.colormap, "NAME",
        "viridis, ember, dusk (blue to yellow), balance (for values about a middle) or grey; viridis by default");
    command.option("--range", options.range, "LOW:HIGH", "Values at the two ends of the colours; automatic by default");
    command.option("--camera", options.camera, "HOW",
                   "With commas between: perspective, front, side, top, azimuth=DEGREES, elevation=DEGREES, "
                   "zoom=FACTOR, target=X:Y[:Z]");
    command.flag("--arrows", options.arrows, "Velocities as arrows; of many balls, of some");
    command.flag("--light", options.light, "White instead of dark around the box");
    command.flag("--plain", options.plain, "3D: no shadows");
    command.flag("--bare", options.bare, "No title, legend or scale");
}

/// Whether the file is a trajectory and no scene. \throws InputError  none was given
[[maybe_unused]] bool is_trajectory(const ViewerOptions& options, const char* command) {
    if (options.scene.scene.empty()) {
        throw InputError(fmt::format("no scene and no trajectory given; see carom {} --help", command));
    }
    if (!options.scene.scene.ends_with(".h5")) return false;
    const SceneOptions& scene = options.scene;
    const bool run = !scene.solver.empty() || !scene.backend.empty() || !scene.precision.empty() ||
                     !scene.threads.empty() || !scene.until.empty() || !scene.steps.empty() || !scene.seed.empty() ||
                     !scene.set.empty();
    if (run) throw InputError(fmt::format("{}: is a stored run; options of a scene cannot change it", scene.scene));
    return true;
}

#ifdef CAROM_HAVE_VIEWER

/// A picture's size [pixels].
struct PictureSize {
    int width = 1280;
    int height = 800;
};

/// \throws InputError  naming the option --size
PictureSize picture_size(const ViewerOptions& options) {
    PictureSize size;
    if (options.size.empty()) return size;
    const auto x = options.size.find('x');
    if (x == std::string::npos) throw InputError("--size: '" + options.size + "' is not WIDTHxHEIGHT");
    constexpr std::uint64_t kLeast = 64;
    constexpr std::uint64_t kMost = 16384;
    const std::uint64_t width = parse_whole("--size", options.size.substr(0, x), kLeast);
    const std::uint64_t height = parse_whole("--size", options.size.substr(x + 1), kLeast);
    if (width > kMost || height > kMost) throw InputError("--size: more than 16384 pixels");
    size.width = static_cast<int>(width);
    size.height = static_cast<int>(height);
    return size;
}

/// \throws InputError  naming the option that is wrong
PictureStyle picture_style(const ViewerOptions& options) {
    PictureStyle style;
    style.theme = options.light ? &kLightTheme : &kDarkTheme;
    style.labels = !options.bare;
    style.arrows = options.arrows;
    style.shadows = !options.plain;
    if (!options.color_by.empty()) {
        std::string allowed;
        for (const QuantityInfo& info : quantities()) {
            if (options.color_by == info.name) style.quantity = info.quantity;
            allowed += (allowed.empty() ? "" : ", ") + std::string(info.name);
        }
        if (!style.quantity) {
            throw InputError(fmt::format("--color-by: '{}' is not known; allowed: {}", options.color_by, allowed));
        }
    }
    if (!options.colormap.empty()) {
        std::string allowed;
        bool known = false;
        for (const ColorMapInfo& info : color_maps()) {
            if (options.colormap == info.name) {
                style.map = info.map;
                known = true;
            }
            allowed += (allowed.empty() ? "" : ", ") + std::string(info.name);
        }
        if (!known) {
            throw InputError(fmt::format("--colormap: '{}' is not known; allowed: {}", options.colormap, allowed));
        }
    }
    if (!options.range.empty()) {
        const auto colon = options.range.find(':');
        const auto number = [&](const std::string& text) {
            float value = 0.0f;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
                throw InputError("--range: '" + options.range + "' is not LOW:HIGH");
            }
            return value;
        };
        if (colon == std::string::npos) throw InputError("--range: '" + options.range + "' is not LOW:HIGH");
        style.range = ValueRange{number(options.range.substr(0, colon)), number(options.range.substr(colon + 1))};
        if (style.range->high <= style.range->low) throw InputError("--range: HIGH must be greater than LOW");
    }
    return style;
}

#endif

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
    if (!options.quiet && !source->warning().empty()) say("carom: --time: {}\n", source->warning());
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

Action add_render_command(CommandOptions& command, const std::string&) {
    const auto options = std::make_shared<RenderOptions>();
    add_viewer_options(command, options->viewer);
    command.option("-o,--output", options->output, "OUTPUT",
                   "A picture (.png), a movie (.mp4, by ffmpeg), or a folder (ends in /)");
    command.option("--fps", options->fps, "N", "Frames per second of a movie; 30 by default");
    command.option("--every", options->every, "T",
                   "Simulated time between frames; by default all stored ones, of a scene output.every");
    add_frame_options(command, options->frame);
    command.flag("--overlay", options->overlay, "The run's numbers, beside the box");
    command.flag("--quiet", options->quiet, "Say nothing");
    command.flag("--force", options->force, "Overwrite what exists");
    return options->viewer.scene.naming_options([options] { return render_all(*options); });
}

Action add_view_command(CommandOptions& command, const std::string&) {
    const auto options = std::make_shared<ViewOptions>();
    add_viewer_options(command, options->viewer);
    command.option(
        "-o,--output", options->output, "OUT.h5",
        "Stores the run as it goes (.h5), with a note of each change that is made; by default it is not stored");
    command.flag("--force", options->force, "Overwrite an existing file");
    command.flag("--paused", options->paused, "Do not play yet");
    command.flag("--no-panels", options->no_panels, "Hide the panels; tab shows them");
    command.flag("--quiet", options->quiet, "Say nothing");
    return options->viewer.scene.naming_options([options] { return open_view(*options); });
}

}  // namespace carom
