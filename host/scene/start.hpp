#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/scene/scene.hpp"

namespace carom {

/// Two [[ball]]s that start nearer to each other than the solver can take.
struct StartOverlap {
    std::uint32_t i = 0;
    std::uint32_t j = 0;    ///< above i
    double overlap = 0.0;   ///< [length]
    double fraction = 0.0;  ///< of the sum of radii
};

/// The first pair (lowest j, then lowest i) of the scene's [[ball]]s that overlap too much: for `events` by more
/// than kTouching of the sum of their radii, for `spring` so deep that the centres are nearer than half the smaller
/// radius.
std::optional<StartOverlap> start_overlap(const Scene& scene);

/// A pair of balls that is nearer than any run lets it come (as start_overlap says, for `events` with a slack for what
/// collisions leave); in a time that grows as the number of balls. Bodies of infinite mass may overlap each other.
/// \pre  balls that are still in have places that are numbers
std::optional<StartOverlap> impossible_overlap(const Scene& scene, const Balls& balls);

/// What a user should know of the [[ball]]s' places before a spring run, one sentence each: those that overlap, or
/// reach into a wall, by more than spring.max_overlap of the (smaller) radius.
std::vector<std::string> start_warnings(const Scene& scene);

}  // namespace carom
