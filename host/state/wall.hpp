#pragma once

#include "host/state/box.hpp"

namespace carom {

/// A wall beside the box's faces. Walls are numbered from 6 on, in file order (0 to 5 are the faces
/// x-min, x-max, y-min, y-max, z-min, z-max).
struct Wall {
    enum class Shape : std::uint8_t { kPlane, kSphere };
    enum class Side : std::uint8_t { kInside, kOutside };

    Shape shape = Shape::kPlane;
    Vector3 normal{};           ///< plane: unit vector, points to where the balls may be
    double offset = 0.0;        ///< plane: normal . x = offset [length]
    Vector3 center{};           ///< sphere (a circle in 2D)
    double radius = 0.0;        ///< sphere [length]
    Side side = Side::kInside;  ///< sphere: where the balls may be
    double temperature = 0.0;   ///< [energy]; 0: the wall reflects
    double velocity = 0.0;      ///< plane: along its normal [length/time]
};

}  // namespace carom
