#pragma once

#include <cstdint>

#include "kernels/spring_contact.hpp"

// What one sees of a ball at the time of its position. Observing changes nothing: velocities are brought to the
// time of the positions on a copy.

namespace carom {

/// Totals over all balls at one time.
struct SpringTotals {
    double kinetic = 0.0;        ///< sum of m v^2 / 2 [energy]
    double spring = 0.0;         ///< energy of all contacts, walls included [energy]
    double gravitational = 0.0;  ///< sum of -m g . (x - box.min) [energy]
    double virial = 0.0;         ///< sum over pairs of r_ij . F_ij, F_ij on i, r_ij = x_i - x_j [energy]
    double momentum[3] = {};     ///< sum of m v
    double angular[3] = {};      ///< sum of m (x - box centre) x v
    double overlap = 0.0;        ///< largest, as a fraction of the smaller radius
    double speed = 0.0;          ///< largest
    std::uint64_t contacts = 0;  ///< of pairs
    std::uint64_t wall_contacts = 0;
    std::uint64_t balls = 0;
    std::uint64_t mobile = 0;  ///< of finite mass
};

/// Totals while they are summed: fixed-point integers, counts and maxima, so that the order of the balls, and
/// with it the processor, does not matter. Pairs are added at both balls.
struct SpringSums {
    FixedSum<double, 4> energies;  // kinetic, spring (pairs twice), gravitational, virial (pairs twice)
    FixedSum<double, 3> momentum;
    FixedSum<double, 3> angular;
    double overlap;
    double speed;
    std::uint64_t contacts;  // pairs twice
    std::uint64_t wall_contacts;
    std::uint64_t balls;
    std::uint64_t mobile;

    CAROM_HD static SpringSums zero() {
        return {FixedSum<double, 4>::zero(),
                FixedSum<double, 3>::zero(),
                FixedSum<double, 3>::zero(),
                0.0,
                0.0,
                0,
                0,
                0,
                0};
    }

    CAROM_HD void merge(const SpringSums& other) {
        energies.merge(other.energies);
        momentum.merge(other.momentum);
        angular.merge(other.angular);
        overlap = larger(other.overlap, overlap);
        speed = larger(other.speed, speed);
        contacts += other.contacts;
        wall_contacts += other.wall_contacts;
        balls += other.balls;
        mobile += other.mobile;
    }

    /// \param grids  those that the terms were added with
    [[nodiscard]] SpringTotals totals(const ObserveGrids& grids) const {
        SpringTotals result;
        const Vec<double, 4> energy = energies.total(grids.energy);
        result.kinetic = energy[0];
        result.spring = 0.5 * energy[1];
        result.gravitational = energy[2];
        result.virial = 0.5 * energy[3];
        const Vec<double, 3> p = momentum.total(grids.momentum);
        const Vec<double, 3> l = angular.total(grids.angular);
        for (int axis = 0; axis < 3; ++axis) {
            result.momentum[axis] = p[axis];
            result.angular[axis] = l[axis];
        }
        result.overlap = overlap;
        result.speed = speed;
        result.contacts = contacts / 2;
        result.wall_contacts = wall_contacts;
        result.balls = balls;
        result.mobile = mobile;
        return result;
    }
};

/// Adds what the ball in `slot` has in contacts, as the step would find them, to `sums`; returns the force on it.
template <class Kind, class Neighbours>
CAROM_HD Vec<typename Kind::Real, Kind::kDim> feel(const SpringParams<typename Kind::Real, Kind::kDim>& params,
                                                   const BallsView<typename Kind::Real, Kind::kDim>& balls,
                                                   const OwnBall<Kind>& own, const Vec<double, Kind::kDim>& position,
                                                   Neighbours&& neighbours, SpringSums& sums) {
    using Real = typename Kind::Real;
    FixedSum<Real, Kind::kDim> sum = FixedSum<Real, Kind::kDim>::zero();
    for (int index = 0; index < params.boundary_count; ++index) {
        WallContact<Real, Kind::kDim> contact;
        if (!touching_wall<Kind>(params, own, wall_gap(params, params.boundaries[index], position), contact)) continue;
        if (contact.force <= params.force_grid.limit) sum.add(params.force_grid, contact.force * contact.normal);
        Vec<double, 4> terms = Vec<double, 4>::filled(0.0);
        terms[1] = 2.0 * params.wall_law.energy(contact.overlap, own.radius, Real(0));
        sums.energies.add_clamped(params.observe.energy, terms);
        sums.overlap = larger(static_cast<double>(contact.overlap / own.radius), sums.overlap);
        ++sums.wall_contacts;
    }
    neighbours([&](std::uint32_t j) {
        PairContact<Real, Kind::kDim> contact;
        if (!touching<Kind>(params, balls, own, j, contact)) return;
        const Real factor = -contact.force * contact.inverse_distance;
        if (contact.force <= params.force_grid.limit) sum.add(params.force_grid, factor * contact.separation);
        const double distance = static_cast<double>(contact.distance);
        Vec<double, 4> terms = Vec<double, 4>::filled(0.0);
        terms[1] = params.pair_law.energy(contact.overlap, own.radius + contact.other_radius, params.distance_epsilon);
        terms[3] = -static_cast<double>(factor) * distance * distance;
        sums.energies.add_clamped(params.observe.energy, terms);
        sums.overlap =
            larger(static_cast<double>(contact.overlap / smaller(own.radius, contact.other_radius)), sums.overlap);
        ++sums.contacts;
    });
    return sum.total(params.force_grid);
}

/// The ball's velocity at the time of its position, at step `step`.
template <class Kind>
CAROM_HD Vec<typename Kind::Real, Kind::kDim> velocity_now(const SpringParams<typename Kind::Real, Kind::kDim>& params,
                                                           const OwnBall<Kind>& own,
                                                           const Vec<typename Kind::Real, Kind::kDim>& force,
                                                           std::uint64_t step) {
    using Real = typename Kind::Real;
    const Real lag = step == 0 ? Real(0) : params.lag;
    Vec<Real, Kind::kDim> v;
    for (int axis = 0; axis < Kind::kDim; ++axis) {
        const Real gravity = own.inverse_mass > Real(0)
                                 ? static_cast<Real>(params.gravity[axis].lag(static_cast<double>(step)))
                                 : Real(0);
        v[axis] = own.v[axis] + fused(force[axis], own.inverse_mass * lag, gravity);
    }
    return v;
}

/// A ball's position inside the box and how often it has crossed, from its phase and its cell.
template <class Real, int Dim>
struct Place {
    Vec<double, Dim> position;
    Vec<std::int32_t, Dim> crossings;  ///< since the last sort
};

template <class Real, int Dim>
CAROM_HD Place<Real, Dim> place_of(const SpringParams<Real, Dim>& params,
                                   const Vec<typename Phase<Real>::Stored, Dim>& x, std::uint32_t cell) {
    auto wide = wide_position(params, x, params.grid.cell(cell));
    Place<Real, Dim> place;
    for (int axis = 0; axis < Dim; ++axis) {
        place.crossings[axis] = params.coordinates.wrap(axis, wide[axis]);
        place.position[axis] = params.coordinates.position(axis, wide[axis]);
    }
    return place;
}

/// Adds the ball in `slot`, at step `step`, to `sums`. `neighbours` as for spring_step.
template <class Kind, class Neighbours>
CAROM_HD void observe(const SpringParams<typename Kind::Real, Kind::kDim>& params,
                      const BallsView<typename Kind::Real, Kind::kDim>& balls, std::uint32_t slot, std::uint64_t step,
                      Neighbours&& neighbours, SpringSums& sums) {
    const OwnBall<Kind> own = load_ball<Kind>(params, balls, slot);
    const auto place = place_of(params, own.x, balls.cell[slot]);
    const auto force = feel<Kind>(params, balls, own, place.position, neighbours, sums);
    const auto v = velocity_now<Kind>(params, own, force, step);

    Vec<double, 3> velocity = Vec<double, 3>::filled(0.0);
    Vec<double, 3> arm = Vec<double, 3>::filled(0.0);
    double lifted = 0.0;
    for (int axis = 0; axis < Kind::kDim; ++axis) {
        velocity[axis] = static_cast<double>(v[axis]);
        arm[axis] = place.position[axis] - params.box_min[axis] - 0.5 * params.box_size[axis];
        lifted = lifted - params.gravity[axis].per_step / params.dt * (place.position[axis] - params.box_min[axis]);
    }
    const double squared = dot(velocity, velocity);
    sums.speed = larger(square_root(squared), sums.speed);
    ++sums.balls;
    if (!(own.inverse_mass > 0)) return;

    const double mass = 1.0 / static_cast<double>(own.inverse_mass);
    ++sums.mobile;
    Vec<double, 4> energies = Vec<double, 4>::filled(0.0);
    energies[0] = 0.5 * mass * squared;
    energies[2] = mass * lifted;
    sums.energies.add_clamped(params.observe.energy, energies);
    sums.momentum.add_clamped(params.observe.momentum, mass * velocity);
    Vec<double, 3> angular;
    for (int axis = 0; axis < 3; ++axis) {
        const int next = (axis + 1) % 3;
        const int after = (axis + 2) % 3;
        angular[axis] = mass * (arm[next] * velocity[after] - arm[after] * velocity[next]);
    }
    sums.angular.add_clamped(params.observe.angular, angular);
}

}  // namespace carom
