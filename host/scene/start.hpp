#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/scene/scene.hpp"

namespace carom {

/// From a wall's surface to a point [length], positive where the balls may be. Walls are numbered as everywhere:
/// 0 to 5 the faces of the box, from 6 on Scene::walls.
double wall_distance(const Scene& scene, int wall, const Vector3& point);
/// Whether there is a wall of that number: faces of kind kWall, and [[wall]] entries.
bool is_wall(const Scene& scene, int wall);
/// How a wall is called in messages: "x-max", "wall[0]".
std::string wall_name(int wall);
/// Walls are numbered below this.
int wall_end(const Scene& scene);

/// Two [[ball]]s that start nearer to each other than the solver can take.
struct StartOverlap {
    std::uint32_t i = 0;
    std::uint32_t j = 0;    ///< above i
    double overlap = 0.0;   ///< [length]
    double fraction = 0.0;  ///< of the sum of radii
};

/// The first pair (lowest j, then lowest i) of the scene's [[ball]]s that overlap too much: for `events` by more
/// than 1e-9 of the sum of their radii, for `spring` so deep that the centres are nearer than half the smaller radius.
std::optional<StartOverlap> start_overlap(const Scene& scene);

/// What a user should know of the [[ball]]s' places before a spring run, one sentence each: those that overlap, or
/// reach into a wall, by more than spring.max_overlap of the (smaller) radius.
std::vector<std::string> start_warnings(const Scene& scene);

/// Overlap at the start that `events` takes for touching, as a fraction of the sum of radii.
constexpr double kTouching = 1.0e-9;

}  // namespace carom
