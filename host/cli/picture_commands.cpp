// The commands that draw balls: render, which needs no display, and view, which opens a window.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <sstream>
#include <variant>

#include "host/cli/options.hpp"
#include "host/io/trajectory_reader.hpp"
#include "host/plot/quantity_figure.hpp"
#include "host/run/output_files.hpp"
#include "host/run/say.hpp"
#include "host/run/signals.hpp"
#include "host/scene/load.hpp"
#include "host/scene/look.hpp"
#include "host/state/errors.hpp"
#ifdef CAROM_HAVE_VIEWER
#include "host/viewer/movie_writer.hpp"
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
    std::vector<std::string> clip;
    std::string select;
    std::string copies;
    bool glow = false;
    std::string look;
    std::string trails;
    bool contacts = false;
    bool arrows = false;
    bool light = false;
    bool plain = false;
    bool bare = false;
};

void add_viewer_options(CommandOptions& command, ViewerOptions& options) {
    add_scene_options(command, options.scene);
    command.describe("SCENE", "Scene file, the name of an installed scene, or a trajectory (.h5)");
    command.option("--size", options.size, "WxH", "Pixels; 1280x800 by default");
    command.option(
        "--color-by", options.color_by, "WHAT",
        "species, speed, kinetic-energy, spin, overlap, id, height, or of the balls around density, temperature or "
        "flow; or a formula of id, species, x, y, z, vx, vy, vz, speed, spin, radius and mass; species where there are "
        "several, else speed");
    command.option("--select", options.select, "FORMULA",
                   "Draws only balls for which it is not 0: \"radius > 0.5 and not vx < 0\"");
    command.option(
        "--colormap", options.colormap, "NAME",
        "viridis, ember, dusk (blue to yellow), balance (for values about a middle) or grey; viridis by default");
    command.option("--range", options.range, "LOW:HIGH", "Values at the two ends of the colours; automatic by default");
    command.option("--camera", options.camera, "HOW",
                   "With commas between: perspective, front, side, top, azimuth=DEGREES, elevation=DEGREES, "
                   "zoom=FACTOR, target=X:Y[:Z]");
    command.repeatable("--clip", options.clip, "NX:NY:NZ:OFFSET",
                       "3D: cuts off what is farther than OFFSET along this direction, and closes the balls that are "
                       "cut; up to 6 such planes, given several times or with commas between");
    command.option("--copies", options.copies, "N", "So many copies of a periodic box on either side, at most 3");
    command.flag("--glow", options.glow, "Balls as light that adds up: for thin gases");
    command.option("--look", options.look, "FILE", "Takes [look] from this file, over the scene's own");
    command.flag("--arrows", options.arrows, "Velocities as arrows; of many balls, of some");
    command.flag("--contacts", options.contacts, "Lines between balls that touch, as broad as they press");
    command.option("--trails", options.trails, "ID,ID,...", "Where these balls have been, in the frames drawn so far");
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

std::vector<std::string> look_of_options(const ViewerOptions& options) {
    return options.look.empty() ? std::vector<std::string>() : look_overrides(options.look);
}

/// \throws InputError  naming the option that is wrong
PictureStyle picture_style(const ViewerOptions& options) {
    PictureStyle style;
    style.light = options.light;
    style.labels = !options.bare;
    style.arrows = options.arrows;
    style.contacts = options.contacts;
    std::istringstream trails(options.trails);
    for (std::string id; std::getline(trails, id, ',');) style.trails.push_back(parse_whole("--trails", id, 0));
    style.shadows = !options.plain;
    if (!options.color_by.empty()) {
        const ColorWish wish = parse_color_wish(options.color_by, "--color-by");
        style.quantity = wish.quantity;
        style.formula = wish.formula;
    }
    style.select = options.select;
    if (!options.copies.empty()) {
        style.copies = parse_whole("--copies", options.copies, 0);
        if (*style.copies > kMostCopies) throw InputError(fmt::format("--copies: more than {}", kMostCopies));
    }
    style.glow = options.glow;
    style.camera = parse_camera(options.camera);
    if (!options.colormap.empty()) style.map = parse_color_map(options.colormap, "--colormap");
    if (!options.range.empty()) style.range = parse_value_range(options.range, "--range");
    if (!options.clip.empty()) style.clips = parse_clips(fmt::format("{}", fmt::join(options.clip, ",")), "--clip");
    return style;
}

#endif

struct RenderOptions {
    ViewerOptions viewer;
    FrameOptions frame;
    std::string output;
    std::string fps;
    std::string every;
    std::string follow;
    std::string samples;
    std::vector<std::string> camera_at;
    std::vector<std::string> charts;
    bool transparent = false;
    bool overlay = false;
    bool quiet = false;
    bool force = false;
};

#ifdef CAROM_HAVE_VIEWER

/// "T:HOW" of each --camera-at.
std::vector<CameraKey> camera_keys(const RenderOptions& options) {
    std::vector<CameraKey> keys;
    for (const std::string& text : options.camera_at) {
        const auto colon = text.find(':');
        if (colon == std::string::npos) {
            throw InputError(fmt::format("--camera-at: '{}' is not T:HOW, with HOW as after --camera", text));
        }
        const double time = parse_time("--camera-at", text.substr(0, colon));
        if (!keys.empty() && time <= keys.back().time) {
            throw InputError("--camera-at: times must grow from one to the next");
        }
        keys.push_back({time, parse_camera(text.substr(colon + 1), "--camera-at")});
    }
    return keys;
}

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

/// What --chart names.
std::vector<Figure> charts_of(const RenderOptions& options, bool stored) {
    if (!stored) throw InputError("--chart: is for stored runs, which have rows; carom run makes one");
    constexpr std::size_t kMost = 4;
    if (options.charts.size() > kMost) throw InputError(fmt::format("--chart: more than {}", kMost));
    const TrajectoryReader reader(options.viewer.scene.scene);
    std::vector<Figure> figures;
    for (const std::string& asked : options.charts) {
        constexpr std::string_view kDrift = "drift:";
        const bool drift = asked.starts_with(kDrift);
        const std::string name = drift ? asked.substr(kDrift.size()) : asked;
        const Drawing drawing = quantity_figure({&reader}, name, {.drift = drift});
        const auto* const figure = std::get_if<Figure>(&drawing);
        if (figure == nullptr) throw InputError(fmt::format("--chart: '{}' is a map, which carom plot draws", name));
        figures.push_back(*figure);
    }
    return figures;
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
    request.camera_keys = camera_keys(options);
    if (!options.follow.empty()) request.follow = parse_whole("--follow", options.follow, 0);
    request.style.transparent = options.transparent;
    if (options.transparent && render_kind(options.output) == RenderKind::kMovie) {
        throw InputError("--transparent: is for pictures, not for movies");
    }
    if (!options.samples.empty()) {
        const std::uint64_t samples = parse_whole("--samples", options.samples, 1);
        if (samples != 1 && samples != 4 && samples != 16) {
            throw InputError(fmt::format("--samples: {} is not 1, 4 or 16", samples));
        }
        request.style.oversampling = samples == 16 ? 4 : samples == 4 ? 2 : 1;
    }
    if (!options.fps.empty()) {
        request.frames_per_second = parse_time("--fps", options.fps);
        constexpr double kMost = 1000.0;
        if (request.frames_per_second <= 0.0 || request.frames_per_second > kMost) {
            throw InputError("--fps: must be greater than 0 and at most 1000");
        }
        // A .gif says in whole hundredths of a second how long it shows each, in 16 bits; players take less than two
        // for ten.
        constexpr double kMostOfGif = 50.0;
        constexpr double kLeastOfGif = 1.0 / 655.0;
        if (options.output.ends_with(".gif") &&
            (request.frames_per_second > kMostOfGif || request.frames_per_second < kLeastOfGif)) {
            throw InputError("--fps: a .gif has from 1/655 to 50 frames per second; name a .mp4 or .webm for others");
        }
    }
    const FrameChoice choice = frame_choice(options, render_kind(options.output));
    const std::vector<std::string> look = look_of_options(options.viewer);
    SceneRequest scene = options.viewer.scene.request();
    scene.overrides.insert(scene.overrides.begin(), look.begin(), look.end());
    if (!options.charts.empty()) request.charts = charts_of(options, stored);
    check_render_output(request, stored ? scene.scene : find_scene(scene.scene));
    require_inputs_stay(request.output, {{options.viewer.look}});

    std::optional<SignalGuard> signals;
    const auto interrupted = [&signals] { return signals ? signals->caught() : 0; };
    const auto source = stored ? open_trajectory(scene.scene, choice, look) : start_run(scene, choice, interrupted);
    require_inputs_stay(request.output, loaded_files(source->scene()));
    signals.emplace();  // until here there is nothing to be ended in order, and what is read may not come
    if (!options.quiet && !source->warning().empty()) say("carom: --time: {}\n", source->warning());
    const std::size_t count = render(*source, request, interrupted);
    if (interrupted() != 0) {
        say("carom: interrupted after {}\n", plural(count, "frame"));
        return 128 + interrupted();
    }
    if (!options.quiet) say("{} ({})\n", visible(options.output), plural(count, "frame"));
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
    std::string movie;
    bool quiet = false;
};

#ifdef CAROM_HAVE_WINDOW

/// A scene with its options, for a command that shall draw the same.
std::string as_given(const SceneOptions& options) {
    std::string words = shell_quoted(options.scene);
    const auto add = [&words](const char* name, const std::string& value) {
        if (!value.empty()) words += fmt::format(" {} {}", name, shell_quoted(value));
    };
    add("--solver", options.solver);
    add("--backend", options.backend);
    add("--precision", options.precision);
    add("--seed", options.seed);
    for (const std::string& set : options.set) add("--set", set);
    return words;
}

int open_view(const ViewOptions& options) {
    const bool stored = is_trajectory(options.viewer, "view");
    const std::string& file = options.viewer.scene.scene;
    if (stored && !options.output.empty()) throw InputError("--output: only a scene that runs is stored, not " + file);
    if (!options.output.empty() && !options.output.ends_with(".h5")) {
        throw InputError("--output: '" + options.output + "' does not end in .h5");
    }
    ViewRequest request;
    request.name = std::filesystem::path(file).stem().string();
    request.source = as_given(options.viewer.scene);
    const PictureSize size = picture_size(options.viewer);
    request.width = size.width;
    request.height = size.height;
    request.style = picture_style(options.viewer);
    request.playing = !options.paused;
    request.panels = !options.no_panels;
    if (!options.movie.empty()) {
        const auto kinds = movie_endings();
        const auto kind = std::ranges::find(kinds, "." + options.movie);
        if (kind == kinds.end()) throw InputError(fmt::format("--movie: mp4, webm or gif, not '{}'", options.movie));
        request.movie = *kind;
    }
    const std::vector<std::string> look = look_of_options(options.viewer);
    request.look_file = options.viewer.look;
    request.look = look;
    SceneRequest scene = options.viewer.scene.request();
    scene.overrides.insert(scene.overrides.begin(), look.begin(), look.end());
    const auto show = stored ? make_stored_show(file, look) : make_live_show(scene, {options.output, options.force});
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
                   "A picture (.png), a movie (.mp4, .webm or .gif, by ffmpeg), or a folder (ends in /)");
    command.option("--fps", options->fps, "N", "Frames per second of a movie; 30 by default");
    command.option("--every", options->every, "T",
                   "Simulated time between frames; by default all stored ones, of a scene output.every");
    add_frame_options(command, options->frame);
    command.option("--follow", options->follow, "ID", "Keeps this ball in the middle");
    command.repeatable("--camera-at", options->camera_at, "T:HOW",
                       "Where the camera is at a time of the run, as after --camera; in between it moves evenly");
    command.repeatable("--chart", options->charts, "QUANTITY",
                       "A stored run: a chart of it beside the balls; drift:QUANTITY: how far it went from its start");
    command.option("--samples", options->samples, "N", "A pixel is the mean of 1, 4 or 16; 3D: 4 by default, 2D: 1");
    command.flag("--transparent", options->transparent, "Nothing behind the balls: a .png with opacities");
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
    command.option("--movie", options->movie, "KIND", "What R records: mp4 (by default), webm or gif");
    command.flag("--quiet", options->quiet, "Say nothing");
    return options->viewer.scene.naming_options([options] { return open_view(*options); });
}

}  // namespace carom
