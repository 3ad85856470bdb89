#include "host/run/scene_text.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "host/scene/load.hpp"
#include "host/state/errors.hpp"

namespace carom {

SceneText read_scene_text(const std::string& path_or_name) {
    SceneText scene{.path = find_scene(path_or_name), .text = {}};
    std::ifstream file(scene.path, std::ios::binary);
    std::ostringstream text;
    if (file) text << file.rdbuf();
    if (!file || file.bad()) {
        throw SystemError(fmt::format("{}: cannot be read: {}", scene.path, std::strerror(errno)));
    }
    scene.text = text.str();
    return scene;
}

}  // namespace carom
