#pragma once

#include <cmath>
#include <string>

#include "kernels/spring_control.hpp"
#include "kernels/spring_plan.hpp"

// What a run must not ask for: systems of units, or boxes, whose numbers do not fit the floats that the step computes
// with. Nothing else would notice: an infinite scale, or a square that underflows, makes forces or motions vanish in
// silence.

namespace carom {

namespace limits {

/// Powers of two that a Real's normal numbers reach, and how far from them the step's constants stay: products of two
/// constants and a state must fit too.
template <class Real>
constexpr double kLargest = sizeof(Real) == 4 ? 120.0 : 1000.0;

template <class Real>
bool fits(double x) {
    return x == 0.0 || std::abs(std::log2(std::abs(x))) <= kLargest<Real>;
}

}  // namespace limits

/// Why the spring solver cannot run this setup, as a clause that names the number at fault; empty where it can.
template <class Real, int Dim>
std::string spring_refusal(const SpringSetup& setup, const BallSizes& sizes) {
    using limits::fits;
    int faces = 0;
    for (int axis = 0; axis < Dim; ++axis) {
        for (const auto side : setup.sides[axis]) faces += side == SpringSetup::Side::kWall ? 1 : 0;
    }
    if (faces + static_cast<int>(setup.walls.size()) > kMaxBoundaries) {
        return "more than " + std::to_string(kMaxBoundaries) + " walls, faces of the box included";
    }
    if (sizes.count >= kMaxBalls) return "2^30 balls or more";
    if (sizes.count == 0) return {};

    const std::string units =
        sizeof(Real) == 4 ? "; other units of length, mass or time, or double precision, may do" : "";
    const double diameter = 2.0 * sizes.largest_radius;
    const double speed = 0.5 * diameter / setup.dt;  // that is a fault
    const SpringParams<Real, Dim> params = make_params<Real, Dim>(setup, sizes);
    // Squares: distances, and speeds down to one that moves a ball by a quantum a step. In double precision, too, the
    // CPU rejects candidates by distances in single precision.
    if (!fits<float>(4.0 * sizes.smallest_radius * sizes.smallest_radius) || !fits<float>(diameter * diameter)) {
        return "the square of a ball's diameter is beyond the range of single precision, in which neighbours are "
               "sought; "
               "other units of length may do";
    }
    if (!fits<Real>(speed * speed))
        return "the square of a radius per time step is beyond the range of the precision" + units;
    for (int axis = 0; axis < Dim; ++axis) {
        const double slowest = params.coordinates.resolution[axis] / setup.dt;
        if (!fits<Real>(slowest * slowest)) {
            return "the square of the smallest step of a position per time step is beyond the range of the precision" +
                   units;
        }
        if (params.coordinates.grain[axis] > 16) {
            return "the box is so far from zero that its coordinates have too few digits left";
        }
        const double coordinate = std::abs(setup.box_min[axis]) + setup.box_size[axis];
        if (params.coordinates.resolution[axis] < 4.0 * plan::rounding_of(coordinate) && params.grid.periodic[axis]) {
            return "the box is so far from zero that its coordinates have too few digits left";
        }
        if (params.coordinates.resolution[axis] > std::ldexp(diameter, -16)) {
            return "the box is so wide, or so far from zero, that positions are coarser than 1/65536 of a diameter";
        }
    }
    const double limit = static_cast<double>(params.force_grid.limit);
    const double finest =
        std::ldexp(limit, -FixedGrid<Real>::kCoarseBits - (sizeof(Real) == 4 ? 0 : FixedGrid<Real>::kFineBits));
    if (!(limit > 0.0) || !fits<Real>(limit) || !fits<Real>(finest) || !fits<Real>(setup.stiffness) ||
        !fits<Real>(setup.wall_stiffness)) {
        return "stiffness times diameter is beyond the range of the precision" + units;
    }
    if (sizes.largest_mass > 0.0) {
        const double weight = setup.dt / sizes.largest_mass;
        if (!fits<Real>(sizes.largest_mass) || !fits<Real>(weight)) {
            return "a mass, or the time step over a mass, is beyond the range of the precision" + units;
        }
    }
    return {};
}

inline std::string spring_refusal(const SpringSetup& setup, const BallSizes& sizes) {
    if (setup.double_precision) {
        return setup.dimension == 2 ? spring_refusal<double, 2>(setup, sizes) : spring_refusal<double, 3>(setup, sizes);
    }
    return setup.dimension == 2 ? spring_refusal<float, 2>(setup, sizes) : spring_refusal<float, 3>(setup, sizes);
}

}  // namespace carom
