#pragma once

#include <algorithm>
#include <array>

#include "host/scene/scene.hpp"

namespace carom {

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

/// The axis that a plane lies across; -1 for a slanting one, and for a sphere.
int axis_across(const Wall& wall, int dimension);

/// The room between the box's faces and the [[wall]]s that lie across an axis, where they stand at a time; none, where
/// any plane has come through all of the box. Of other [[wall]]s nothing is taken off. \param radius  of balls whose
/// centres are asked for: so much less at each wall, 0 for the balls themselves
Room room_at(const Scene& scene, double time, double radius = 0.0);

}  // namespace carom
