#pragma once

#include <cstddef>
#include <vector>

#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"
#include "host/state/frame.hpp"

namespace carom {

/// The deepest overlap of each ball with another, as a fraction of the smaller radius; 0 without a contact. Around
/// periodic faces too. Takes a time that grows as the number of balls, if their sizes are alike.
void deepest_overlaps(const Scene& scene, const Balls& balls, const Frame& frame, std::vector<float>& overlaps);

/// The balls that touch or overlap ball `id`, by id. Looks at all of them.
std::vector<std::size_t> partners_of(const Scene& scene, const Balls& balls, const Frame& frame, std::size_t id);

}  // namespace carom
