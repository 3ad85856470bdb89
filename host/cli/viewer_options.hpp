#pragma once

#include <string>

#include "host/cli/options.hpp"

namespace carom {

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
    bool bare = false;
};

void add_viewer_options(CLI::App& app, ViewerOptions& options);

/// Whether the file is a trajectory and no scene. \throws InputError  none was given
bool is_trajectory(const ViewerOptions& options, const char* command);

}  // namespace carom
