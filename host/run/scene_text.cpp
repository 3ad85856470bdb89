#include "host/run/scene_text.hpp"

#include "host/scene/load.hpp"
#include "host/state/text_file.hpp"

namespace carom {

SceneText read_scene_text(const std::string& path_or_name) {
    const std::string path = find_scene(path_or_name);
    return {.path = path, .text = read_text_file(path)};
}

}  // namespace carom
