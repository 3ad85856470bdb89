#pragma once

#include <string>
#include <vector>

#include "host/scene/scene.hpp"

namespace carom {

/// Where moving planes leave the balls no room before the run ends: which, and from when on; one sentence. Nothing is
/// told of boxes that balls can leave.
/// \param balls  their volume (area in 2D) together [length^d]
/// \param from   time at which the run begins
std::vector<std::string> room_warnings(const Scene& scene, double balls, double from);

/// The same for balls that no wall can press into each other: such a run would go on through ever more collisions, and
/// never come to its end. Parameters as room_warnings.
/// \throws InputError  with the key, the speed, and what is possible
void require_room(const Scene& scene, double balls, double from);

}  // namespace carom
