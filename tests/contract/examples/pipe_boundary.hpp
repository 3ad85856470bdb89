#pragma once

#include "kernels/core/arithmetic.hpp"
#include "kernels/physics/boundary_plane.hpp"

namespace carom::examples {

/// A round pipe (two parallel lines in 2D) with the balls inside. `axis` is a unit vector, the reference any point
/// of the centre line.
template <int Dim>
struct PipeBoundary {
    Vec<double, Dim> axis;
    double radius;  ///< [length]

    CAROM_HD WallGap<Dim> gap(const Vec<double, Dim>& from_reference) const {
        const Vec<double, Dim> off_axis = from_reference - dot(axis, from_reference) * axis;
        const double distance = square_root(dot(off_axis, off_axis));
        if (distance > 0.0) return {radius - distance, (-1.0 / distance) * off_axis};
        Vec<double, Dim> across = Vec<double, Dim>::filled(0.0);  // on the centre line: away from the lesser component
        const int other = axis[0] * axis[0] < 0.5 ? 0 : 1;
        across[other] = 1.0;
        across = across - dot(axis, across) * axis;
        return {radius, (1.0 / square_root(dot(across, across))) * across};
    }
};

}  // namespace carom::examples
