#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "host/scene/scene.hpp"
#include "kernels/core/wall_number.hpp"
#include "kernels/physics/boundaries.hpp"

namespace carom {

/// The faces of the box that are walls, and the [[wall]] entries at time 0, in the order of their numbers. In 2D, too,
/// as walls of space: they stand upright, and points have z = 0.
std::vector<Boundary<3>> all_walls(const Scene& scene);
/// The [[wall]] entries at time 0.
template <int Dim>
std::vector<Boundary<Dim>> entry_boundaries(const Scene& scene) {
    std::vector<Boundary<Dim>> walls;
    for (const Wall& wall : scene.walls) {
        walls.push_back(make_boundary<Dim>(wall, WallNumber::entry(walls.size())));
    }
    return walls;
}
/// Where a point stands to one of them.
WallGap<3> wall_gap(const Boundary<3>& wall, const Vector3& point);
/// How a wall is called in messages: "the x-max wall", "wall[0]".
std::string wall_name(WallNumber wall);

/// The shapes of walls that can move, in words: "planes".
std::string moving_shapes();

/// A part of an axis [length].
struct Extent {
    double low = 0.0;
    double high = 0.0;
    [[nodiscard]] double length() const { return std::max(0.0, high - low); }
};

/// What walls leave of a box.
struct Room {
    int dimension = 2;
    std::array<Extent, 3> axis{};

    /// [length^d]; 0 where walls have met
    [[nodiscard]] double volume() const;
};

/// The box itself. \param radius  as for room_at
Room room_of(const Box& box, double radius = 0.0);

/// The axis that a flat wall lies across; -1 for a slanting one, and for one that is not flat.
int axis_across(const Wall& wall, int dimension);

/// The room between the box's faces and the [[wall]]s that lie across an axis, where they stand at a time; none, where
/// any wall has come through all of the box. Of other [[wall]]s nothing is taken off. \param radius  of balls whose
/// centres are asked for: so much less at each wall, 0 for the balls themselves
Room room_at(const Scene& scene, double time, double radius = 0.0);

/// The box as shapes see it.
WallBox wall_box(const Box& box);

}  // namespace carom
