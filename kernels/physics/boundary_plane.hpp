#pragma once

#include "kernels/core/vec.hpp"

namespace carom {

/// Where a ball's centre stands to a wall.
template <int Dim>
struct WallGap {
    double distance;          ///< of the centre from the wall's surface, negative behind it [length]
    Vec<double, Dim> normal;  ///< unit vector from the wall to where the balls may be
};

/// A plane: normal . x = normal . reference. Balls may be on the side that the normal points to.
template <int Dim>
struct PlaneBoundary {
    Vec<double, Dim> normal;  ///< unit vector

    /// \param from_reference  from a point of the plane to the ball's centre [length]
    CAROM_HD WallGap<Dim> gap(const Vec<double, Dim>& from_reference) const {
        return {dot(normal, from_reference), normal};
    }
};

}  // namespace carom
