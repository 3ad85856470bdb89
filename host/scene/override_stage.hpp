#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "host/scene/scene.hpp"

namespace carom {

/// The overrides by which a key of a scene is another one from the middle of a run on: the one asked for, and with it
/// the stage's own value of the same quantity, where the stage that the run is in has one. A later stage that has one
/// sets it anew. \param change  "physics.gravity=[0, -2]", "wall[0].temperature=2", or of one face
/// "box.wall_temperature[0][1]=2"
///                (axis, side), whichever way the file writes that array
/// \param stage   which the run is in; 0 if there are none
/// \throws InputError  there is no such face
std::vector<std::string> overrides_from(const Scene& scene, const std::string& change, std::size_t stage);

}  // namespace carom
