#pragma once

#include <string>

namespace carom {

/// A scene as it was read: what comes from a pipe can be read only once.
struct SceneText {
    std::string path;
    std::string text;
};

/// \param path_or_name  a file, or the name of an installed scene
/// \throws SystemError  no such file, or it cannot be read
SceneText read_scene_text(const std::string& path_or_name);

}  // namespace carom
