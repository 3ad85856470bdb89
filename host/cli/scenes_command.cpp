#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "host/cli/command_line.hpp"
#include "host/run/say.hpp"
#include "host/scene/load.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

int list_scenes() {
    const std::vector<InstalledScene> scenes = installed_scenes();
    if (scenes.empty()) throw SystemError("no scenes are installed in " + installed_folder());
    std::size_t width = 0;
    for (const InstalledScene& scene : scenes) width = std::max(width, scene.name.size());
    for (const bool sweeps : {false, true}) {
        if (sweeps) fmt::print("\nsweeps, for carom sweep:\n");
        for (const InstalledScene& scene : scenes) {
            if (scene.sweep == sweeps) fmt::print("  {:<{}}  {}\n", scene.name, width, visible(scene.what));
        }
    }
    fmt::print("\nin {}\n", visible(installed_folder()));
    return 0;
}

}  // namespace

Action add_scenes_command(CommandOptions&, const std::string&) { return list_scenes; }

}  // namespace carom
