#pragma once

#include <string>

#include "host/scene/scene.hpp"
#include "host/scene/toml.hpp"

namespace carom {

/// The scene that a parsed file describes, validated; path and source are left to the caller.
/// \param file  as in messages
/// \throws InputError
Scene read_scene(const toml::table& root, const std::string& file);

/// The tables that come many times: [[wall]], [[species]], [[ball]], [[fill]], [[observe]]. The box and the physics
/// of `scene` are already read.
void read_entries(const toml::table& root, const std::string& file, Scene& scene);

}  // namespace carom
