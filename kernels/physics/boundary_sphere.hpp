#pragma once

#include "kernels/core/arithmetic.hpp"
#include "kernels/physics/boundary_plane.hpp"

namespace carom {

/// A sphere (a circle in 2D). Balls may be inside (`side` = -1) or outside (`side` = +1).
template <int Dim>
struct SphereBoundary {
    double radius;  ///< [length]
    double side;

    /// \param from_center  from the sphere's centre to the ball's [length]. At the very centre the normal is
    ///                     the first axis: any direction is right there.
    CAROM_HD WallGap<Dim> gap(const Vec<double, Dim>& from_center) const {
        const double distance = square_root(dot(from_center, from_center));
        Vec<double, Dim> normal = Vec<double, Dim>::filled(0.0);
        if (distance > 0.0) {
            normal = (side / distance) * from_center;
        } else {
            normal[0] = side;
        }
        return {side * (distance - radius), normal};
    }
};

}  // namespace carom
