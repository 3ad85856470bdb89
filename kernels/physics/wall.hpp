#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "kernels/core/key.hpp"
#include "kernels/core/vec.hpp"

// What walls of all shapes have in common. The shapes themselves: boundaries.hpp.

namespace carom {

/// A wall beside the box's faces, as a scene says it.
struct Wall {
    std::uint8_t shape = 0;    ///< number in WallShapes
    KindValues values;         ///< of the keys that the shape takes
    double temperature = 0.0;  ///< [energy]; 0: the wall reflects
    double velocity = 0.0;     ///< along its normal [length/time]; 0 for a shape that cannot move
};

/// Where a ball's centre stands to a wall.
template <int Dim>
struct WallGap {
    double distance;          ///< of the centre from the wall's surface, negative behind it [length]
    Vec<double, Dim> normal;  ///< unit vector from the wall to where the balls may be
};

/// A ball on its way, as a wall sees it.
template <int Dim>
struct Approach {
    Vec<double, Dim> from_reference;  ///< to the centre, now [length]
    Vec<double, Dim> velocity;
    Vec<double, Dim> acceleration;
    double radius;
    double wall_way;    ///< by which the wall has moved along its normal so far [length]
    double wall_speed;  ///< along its normal
    bool met;           ///< the two have just met, and part but for rounding
};

/// How a wall's surface lies along an axis.
struct AlongAxis {
    bool same;     ///< it is itself again when shifted along the axis
    double reach;  ///< of its points from the reference point [length]; infinity where it has no end

    /// Whether it would not meet itself at the seam of a periodic axis.
    [[nodiscard]] bool jumps() const { return !same && std::isinf(reach); }
};

/// What is said of a wall that would not meet itself at the seam of a periodic axis.
struct SeamRule {
    std::string_view direction;  ///< the key that says how it lies; "": it has an end along every axis
    std::string_view must;       ///< of that key's part along the axis
    std::string_view place;      ///< the key of its reference point, which must be far enough from the seam
};

/// A box that a wall stands in; of a 2D one the third axis counts for nothing.
struct WallBox {
    int dimension;
    Vec<double, 3> low;
    Vec<double, 3> high;
};

}  // namespace carom
