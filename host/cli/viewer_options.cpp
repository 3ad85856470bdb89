#include "host/cli/viewer_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "host/state/errors.hpp"

namespace carom {

void add_viewer_options(CLI::App& app, ViewerOptions& options) {
    add_scene_options(app, options.scene);
    app.get_option("SCENE")->description("Scene file, the name of an installed scene, or a trajectory (.h5)");
    app.add_option("--size", options.size, "Pixels; 1280x800 by default")->type_name("WxH");
    app.add_option("--color-by", options.color_by,
                   "species, speed, kinetic-energy, spin, overlap, id or height; species where the scene gives "
                   "colours or has several, else speed")
        ->type_name("WHAT");
    app.add_option(
           "--colormap", options.colormap,
           "viridis, ember, dusk (blue to yellow), balance (for values about a middle) or grey; viridis by default")
        ->type_name("NAME");
    app.add_option("--range", options.range, "Values at the two ends of the colours; automatic by default")
        ->type_name("LOW:HIGH");
    app.add_option("--camera", options.camera,
                   "With commas between: perspective, front, side, top, azimuth=DEGREES, elevation=DEGREES, "
                   "zoom=FACTOR, target=X:Y[:Z]")
        ->type_name("HOW");
    app.add_flag("--arrows", options.arrows, "Velocities as arrows; of many balls, of some");
    app.add_flag("--light", options.light, "White instead of dark around the box");
    app.add_flag("--bare", options.bare, "No title, legend or scale");
}

bool is_trajectory(const ViewerOptions& options, const char* command) {
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

}  // namespace carom
