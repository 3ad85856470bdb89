#pragma once

#include <cstdint>

#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"

namespace carom {

/// Gives the balls of a fill, ids from `first` on, their velocities. Random numbers are keyed by (seed, id).
void set_velocities(const Scene& scene, const FillEntry& fill, std::uint64_t first, Balls& balls);

}  // namespace carom
