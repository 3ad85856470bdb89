#pragma once

#include <cstdint>
#include <limits>

#include "kernels/core/box_cells.hpp"
#include "kernels/core/picture.hpp"
#include "kernels/physics/pair_distribution.hpp"
#include "kernels/spring_contact.hpp"

// What one sees of a ball at the time of its position. Observing changes nothing: velocities are brought to the
// time of the positions on a copy.

namespace carom {

// Totals while they are summed: fixed-point integers, counts and maxima, so that the order of the balls, and with it
// the processor, does not matter. In two parts, because a thread of a GPU has no room for all in registers.

/// What contacts add. Pairs are added at both balls.
struct ContactSums {
    FixedSum<double, 2> energies;  // spring, virial; pairs twice
    FixedSum<double, 6> stress;    // pairs twice
    double overlap;
    std::uint64_t contacts;  // pairs twice
    std::uint64_t wall_contacts;

    CAROM_HD static ContactSums zero() { return {FixedSum<double, 2>::zero(), FixedSum<double, 6>::zero(), 0.0, 0, 0}; }
    CAROM_HD void merge(const ContactSums& other) {
        energies.merge(other.energies);
        stress.merge(other.stress);
        overlap = larger(other.overlap, overlap);
        contacts += other.contacts;
        wall_contacts += other.wall_contacts;
    }
};

/// What places and velocities add.
struct MotionSums {
    FixedSum<double, 2> energies;  // kinetic, gravitational
    FixedSum<double, 3> momentum;
    FixedSum<double, 3> angular;
    double speed;
    std::uint64_t balls;
    std::uint64_t mobile;

    CAROM_HD static MotionSums zero() {
        return {FixedSum<double, 2>::zero(), FixedSum<double, 3>::zero(), FixedSum<double, 3>::zero(), 0.0, 0, 0};
    }
    CAROM_HD void merge(const MotionSums& other) {
        energies.merge(other.energies);
        momentum.merge(other.momentum);
        angular.merge(other.angular);
        speed = larger(other.speed, speed);
        balls += other.balls;
        mobile += other.mobile;
    }
};

struct SpringSums {
    ContactSums contact;
    MotionSums motion;

    CAROM_HD static SpringSums zero() { return {ContactSums::zero(), MotionSums::zero()}; }
    CAROM_HD void merge(const SpringSums& other) {
        contact.merge(other.contact);
        motion.merge(other.motion);
    }

    /// \param grids  those that the terms were added with
    /// Spins, which no contact changes, are left out.
    [[nodiscard]] Totals totals(const ObserveGrids& grids) const {
        Totals result;
        const Vec<double, 2> of_contacts = contact.energies.total(grids.energy);
        result.spring = 0.5 * of_contacts[0];
        result.virial = 0.5 * of_contacts[1];
        const Vec<double, 6> tensor = contact.stress.total(grids.energy);
        for (int k = 0; k < 6; ++k) result.pair_stress[k] = 0.5 * tensor[k];
        result.overlap = contact.overlap;
        result.contacts = contact.contacts / 2;
        result.wall_contacts = contact.wall_contacts;
        const Vec<double, 2> of_motion = motion.energies.total(grids.energy);
        result.kinetic = of_motion[0];
        result.gravitational = of_motion[1];
        const Vec<double, 3> p = motion.momentum.total(grids.momentum);
        const Vec<double, 3> l = motion.angular.total(grids.angular);
        for (int axis = 0; axis < 3; ++axis) {
            result.momentum[axis] = p[axis];
            result.angular_momentum[axis] = l[axis];
        }
        result.speed = motion.speed;
        result.balls = motion.balls;
        result.mobile = motion.mobile;
        return result;
    }
};

/// Adds the ball's contacts with walls to `sums` and their forces to `sum`.
/// \param walls_time  SpringParams::walls_time
template <class Kind>
CAROM_HD void feel_walls(const SpringParams<typename Kind::Real, Kind::kDim>& params, const OwnBall<Kind>& own,
                         const Vec<double, Kind::kDim>& position, double walls_time,
                         FixedSum<typename Kind::Real, Kind::kDim>& sum, ContactSums& sums) {
    using Real = typename Kind::Real;
    for (int index = 0; index < params.boundary_count; ++index) {
        WallContact<Real, Kind::kDim> contact;
        const Boundary<Kind::kDim>& wall = params.boundaries[index];
        const WallGap<Kind::kDim> gap = wall_gap(params, wall, position, walls_time);
        if (!touching_wall<Kind>(params, own, gap, wall.speed, contact)) continue;
        if (contact.force <= params.force_grid.limit) sum.add(params.force_grid, contact.force * contact.normal);
        Vec<double, 2> terms = Vec<double, 2>::filled(0.0);
        terms[0] = 2.0 * params.wall_law.energy(contact.overlap, own.radius, Real(0));
        sums.energies.add_clamped(params.observe.energy, terms);
        sums.overlap = larger(static_cast<double>(contact.overlap / own.radius), sums.overlap);
        ++sums.wall_contacts;
    }
}

/// factor * s_a s_b: xx, yy, zz, xy, xz, yz.
template <class Real, int Dim>
CAROM_HD Vec<double, 6> stress_terms(const Vec<Real, Dim>& separation, double factor) {
    Vec<double, 3> s = Vec<double, 3>::filled(0.0);
    for (int axis = 0; axis < Dim; ++axis) s[axis] = static_cast<double>(separation[axis]);
    Vec<double, 6> terms;
    for (int axis = 0; axis < 3; ++axis) terms[axis] = factor * s[axis] * s[axis];
    terms[3] = factor * s[0] * s[1];
    terms[4] = factor * s[0] * s[2];
    terms[5] = factor * s[1] * s[2];
    return terms;
}

/// Adds a contact of two balls to `sums`, as one of them sees it; gives the force on that one, or false where it is
/// beyond what can be summed.
template <class Kind>
CAROM_HD bool feel_ball(const SpringParams<typename Kind::Real, Kind::kDim>& params, const OwnBall<Kind>& own,
                        const PairContact<typename Kind::Real, Kind::kDim>& contact,
                        Vec<typename Kind::Real, Kind::kDim>& force, ContactSums& sums) {
    using Real = typename Kind::Real;
    const Real factor = -contact.force * contact.inverse_distance;
    force = factor * contact.separation;
    const double distance = static_cast<double>(contact.distance);
    Vec<double, 2> terms;
    terms[0] = params.pair_law.energy(contact.overlap, own.radius + contact.other_radius, params.distance_epsilon);
    terms[1] = -static_cast<double>(factor) * distance * distance;
    sums.energies.add_clamped(params.observe.energy, terms);
    sums.stress.add_clamped(params.observe.energy, stress_terms(contact.separation, -static_cast<double>(factor)));
    sums.overlap =
        larger(static_cast<double>(contact.overlap / smaller(own.radius, contact.other_radius)), sums.overlap);
    ++sums.contacts;
    return contact.force <= params.force_grid.limit;
}

/// Adds what the ball in `slot` has in contacts, as the step would find them, to `sums`; returns the force on it.
template <class Kind, class Neighbours>
CAROM_HD Vec<typename Kind::Real, Kind::kDim> feel(const SpringParams<typename Kind::Real, Kind::kDim>& params,
                                                   const BallsView<typename Kind::Real, Kind::kDim>& balls,
                                                   const OwnBall<Kind>& own, const Vec<double, Kind::kDim>& position,
                                                   double walls_time, Neighbours&& neighbours, ContactSums& sums) {
    using Real = typename Kind::Real;
    FixedSum<Real, Kind::kDim> sum = FixedSum<Real, Kind::kDim>::zero();
    feel_walls<Kind>(params, own, position, walls_time, sum, sums);
    neighbours([&](std::uint32_t j) {
        PairContact<Real, Kind::kDim> contact;
        Vec<Real, Kind::kDim> force;
        if (!touching<Kind>(params, balls, own, j, contact)) return;
        if (feel_ball<Kind>(params, own, contact, force, sums)) sum.add(params.force_grid, force);
    });
    return sum.total(params.force_grid);
}

/// What brings velocities to the time of the positions.
template <class Real, int Dim>
struct Lag {
    Real time;               ///< since the velocities' own time [time]
    Vec<Real, Dim> gravity;  ///< gained from gravity meanwhile [velocity]
};

template <class Real, int Dim>
CAROM_HD Lag<Real, Dim> lag_at(const SpringParams<Real, Dim>& params, std::uint64_t step) {
    Lag<Real, Dim> lag;
    lag.time = step == 0 ? Real(0) : params.lag;
    for (int axis = 0; axis < Dim; ++axis) {
        lag.gravity[axis] = static_cast<Real>(params.gravity[axis].lag(static_cast<double>(step)));
    }
    return lag;
}

/// The ball's velocity at the time of its position.
template <class Kind>
CAROM_HD Vec<typename Kind::Real, Kind::kDim> velocity_now(const Lag<typename Kind::Real, Kind::kDim>& lag,
                                                           const OwnBall<Kind>& own,
                                                           const Vec<typename Kind::Real, Kind::kDim>& force) {
    using Real = typename Kind::Real;
    const Real falls = own.inverse_mass > Real(0) ? Real(1) : Real(0);
    Vec<Real, Kind::kDim> v;
    for (int axis = 0; axis < Kind::kDim; ++axis) {
        v[axis] = own.v[axis] + fused(force[axis], own.inverse_mass * lag.time, falls * lag.gravity[axis]);
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

/// What a ball's motion adds to the sums over all balls; zeros for one of infinite mass, but its speed.
struct MotionTerms {
    double speed_squared;
    double kinetic;
    double gravitational;
    Vec<double, 3> momentum;
    Vec<double, 3> angular;
};

template <class Real, int Dim>
CAROM_HD MotionTerms motion_terms(const SpringParams<Real, Dim>& params, Real inverse_mass,
                                  const Vec<double, Dim>& position, const Vec<Real, Dim>& v) {
    Vec<double, 3> velocity = Vec<double, 3>::filled(0.0);
    Vec<double, 3> arm = Vec<double, 3>::filled(0.0);
    double lifted = 0.0;
    for (int axis = 0; axis < Dim; ++axis) {
        velocity[axis] = static_cast<double>(v[axis]);
        arm[axis] = position[axis] - params.box_min[axis] - 0.5 * params.box_size[axis];
        lifted = lifted - params.gravity[axis].per_step / params.dt * (position[axis] - params.box_min[axis]);
    }
    MotionTerms terms;
    terms.speed_squared = dot(velocity, velocity);
    const bool mobile = inverse_mass > Real(0);
    const double mass = 1.0 / static_cast<double>(mobile ? inverse_mass : Real(1));
    terms.kinetic = mobile ? 0.5 * mass * terms.speed_squared : 0.0;
    terms.gravitational = mobile ? mass * lifted : 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        const int next = (axis + 1) % 3;
        const int after = (axis + 2) % 3;
        const bool turns = mobile && (Dim == 3 || axis == 2);  // in the plane about its normal alone
        terms.momentum[axis] = mobile ? mass * velocity[axis] : 0.0;
        terms.angular[axis] = turns ? mass * (arm[next] * velocity[after] - arm[after] * velocity[next]) : 0.0;
    }
    return terms;
}

/// Adds the contacts of the ball in `slot`, at step `step`, to `sums`; returns its velocity at the time of its
/// position. `neighbours` as for spring_step.
template <class Kind, class Neighbours>
CAROM_HD Vec<typename Kind::Real, Kind::kDim> observe_contacts(
    const SpringParams<typename Kind::Real, Kind::kDim>& params,
    const BallsView<typename Kind::Real, Kind::kDim>& balls, std::uint32_t slot, std::uint64_t step,
    Neighbours&& neighbours, ContactSums& sums) {
    const OwnBall<Kind> own = load_ball<Kind>(params, balls, slot);
    const auto place = place_of(params, own.x, balls.cell[slot]);
    const auto force = feel<Kind>(params, balls, own, place.position, params.walls_time(step), neighbours, sums);
    return velocity_now<Kind>(lag_at(params, step), own, force);
}

/// Adds what else there is of the ball in `slot` to `sums`; `v` from observe_contacts.
template <class Kind>
CAROM_HD void observe_motion(const SpringParams<typename Kind::Real, Kind::kDim>& params,
                             const BallsView<typename Kind::Real, Kind::kDim>& balls, std::uint32_t slot,
                             const Vec<typename Kind::Real, Kind::kDim>& v, MotionSums& sums) {
    const OwnBall<Kind> own = load_ball<Kind>(params, balls, slot);
    const auto place = place_of(params, own.x, balls.cell[slot]);
    const MotionTerms terms = motion_terms(params, own.inverse_mass, place.position, v);
    sums.speed = larger(square_root(terms.speed_squared), sums.speed);
    ++sums.balls;
    if (!(own.inverse_mass > 0)) return;
    ++sums.mobile;
    Vec<double, 2> energies;
    energies[0] = terms.kinetic;
    energies[1] = terms.gravitational;
    sums.energies.add_clamped(params.observe.energy, energies);
    sums.momentum.add_clamped(params.observe.momentum, terms.momentum);
    sums.angular.add_clamped(params.observe.angular, terms.angular);
}

// What a renderer sees of a ball. One function for all processors.

/// AroundSums of a cell while they are summed: steps of grids, so that the order of the balls, and with it the
/// processor, does not matter. Threads add to them side by side, so what has a fine word has no carry: its steps leave
/// room for those of 2^33 balls.
struct AroundWords {
    enum : int { kMobile, kVolume, kMass, kMomentum, kEnergy = kMomentum + 6, kCount = kEnergy + 2 };
    static constexpr double kSteps = 0x1p36;      // of the largest ball's volume and mass
    static constexpr double kFineSteps = 0x1p30;  // of a coarse one

    std::int64_t words[kCount];

    /// \param add  adds an integer to one that is shared
    template <class Add>
    CAROM_HD void add_terms(int at, const FixedGrid<double>& grid, double term, Add&& add) {
        const double inside = larger(smaller(term, grid.limit), -grid.limit);
        const std::int64_t coarse = nearest_integer(inside * grid.to_grid);
        const double remainder = inside - static_cast<double>(coarse) * grid.from_grid;  // exact
        add(words + at, coarse);
        add(words + at + 1, nearest_integer(remainder * grid.to_grid * kFineSteps));
    }
    [[nodiscard]] CAROM_HD double total(int at, const FixedGrid<double>& grid) const {
        return fused(static_cast<double>(words[at]), grid.from_grid,
                     static_cast<double>(words[at + 1]) * (grid.from_grid / kFineSteps));
    }
    [[nodiscard]] CAROM_HD AroundSums sums(const PictureOrder& order, const ObserveGrids& grids) const {
        AroundSums sums;
        sums.mobile = static_cast<double>(words[kMobile]);
        sums.volume = static_cast<double>(words[kVolume]) * (order.largest_volume / kSteps);
        sums.mass = static_cast<double>(words[kMass]) * (order.largest_mass / kSteps);
        for (int axis = 0; axis < 3; ++axis) sums.momentum[axis] = total(kMomentum + 2 * axis, grids.momentum);
        sums.energy = total(kEnergy, grids.energy);
        return sums;
    }
};

/// The cell of a place.
template <int Dim>
CAROM_HD std::int64_t cell_around(const BoxCells& cells, const Vec<double, Dim>& position) {
    std::int64_t cell = 0;
    for (int axis = Dim - 1; axis >= 0; --axis) cell = cell * cells.count[axis] + cells.index(axis, position[axis]);
    return cell;
}

/// Adds a ball to those of its cell.
/// \param v    at the time of the position
/// \param add  see AroundWords
template <class Real, int Dim, class Add>
CAROM_HD void add_around(const PictureOrder& order, const ObserveGrids& grids, const Vec<double, Dim>& position,
                         const Vec<Real, Dim>& v, Real radius, Real inverse_mass, AroundWords* cells, Add&& add) {
    AroundWords& to = cells[cell_around(order.cells, position)];
    const double volume = ball_volume(Dim, static_cast<double>(radius));
    add(to.words + AroundWords::kVolume, nearest_integer(volume / order.largest_volume * AroundWords::kSteps));
    if (!(inverse_mass > Real(0)) || order.value == PictureOrder::Value::kDensity) return;
    const double mass = 1.0 / static_cast<double>(inverse_mass);
    add(to.words + AroundWords::kMobile, 1);
    add(to.words + AroundWords::kMass, nearest_integer(mass / order.largest_mass * AroundWords::kSteps));
    double speed_squared = 0.0;
    for (int axis = 0; axis < Dim; ++axis) {
        const auto component = static_cast<double>(v[axis]);
        speed_squared = speed_squared + component * component;
        to.add_terms(AroundWords::kMomentum + 2 * axis, grids.momentum, mass * component, add);
    }
    to.add_terms(AroundWords::kEnergy, grids.energy, mass * speed_squared, add);
}

/// What colours stand for in the middle of a cell.
CAROM_HD float around_value(const PictureOrder& order, const ObserveGrids& grids, const AroundWords* cells,
                            std::int64_t cell) {
    AroundWords all = {};
    double looked = 0.0;
    order.cells.near(cell, [&](std::int64_t other) {
        for (int k = 0; k < AroundWords::kCount; ++k) all.words[k] += cells[other].words[k];
        looked = looked + 1.0;
    });
    const AroundSums sums = all.sums(order, grids);
    if (order.value == PictureOrder::Value::kDensity) {
        return static_cast<float>(sums.density(looked * order.cells.cell_volume()));
    }
    return static_cast<float>(order.value == PictureOrder::Value::kFlow ? sums.flow()
                                                                        : sums.temperature(order.cells.dimension));
}

/// What the colour of a ball stands for.
/// \param given    what give_picture_values() had, by id; of what is around, around_value() by cell
/// \param v        at the time of the position
/// \param overlap  the deepest of its contacts with balls, as a fraction of the smaller radius
template <class Real, int Dim>
CAROM_HD float picture_value(const PictureOrder& order, const float* given, std::uint32_t id,
                             const Vec<double, Dim>& position, const Vec<Real, Dim>& v, Real inverse_mass,
                             Real overlap) {
    double speed_squared = 0.0;
    for (int axis = 0; axis < Dim; ++axis) {
        const auto component = static_cast<double>(v[axis]);
        speed_squared = speed_squared + component * component;
    }
    switch (order.value) {
        case PictureOrder::Value::kGiven:
            return given[id];
        case PictureOrder::Value::kSpeed:
            return static_cast<float>(square_root(speed_squared));
        case PictureOrder::Value::kKineticEnergy:
            if (!(inverse_mass > Real(0))) return std::numeric_limits<float>::quiet_NaN();
            return static_cast<float>(0.5 * speed_squared / static_cast<double>(inverse_mass));
        case PictureOrder::Value::kOverlap:
            return static_cast<float>(overlap);
        case PictureOrder::Value::kId:
            return static_cast<float>(id);
        case PictureOrder::Value::kHeight: {
            double x = position[0];
            for (int axis = 1; axis < Dim; ++axis) x = axis == order.axis ? position[axis] : x;
            return static_cast<float>(order.down ? order.face - x : x - order.face);
        }
        case PictureOrder::Value::kDensity:
        case PictureOrder::Value::kTemperature:
        case PictureOrder::Value::kFlow: {
            double place[3] = {};
            for (int axis = 0; axis < Dim; ++axis) place[axis] = position[axis];
            return static_cast<float>(
                order.cells.between(place, [&](std::int64_t cell) { return static_cast<double>(given[cell]); }));
        }
    }
    return 0.0f;
}

/// \param position  in the user's coordinates
template <int Dim>
CAROM_HD BallPlace picture_place(const PictureOrder& order, const Vec<double, Dim>& position, float radius) {
    float x[3] = {0.0f, 0.0f, 0.0f};
    for (int axis = 0; axis < Dim; ++axis) x[axis] = static_cast<float>(position[axis] - order.origin[axis]);
    return {x[0], x[1], x[2], radius};
}

/// A ball that is gone.
CAROM_HD void hide_ball(const PictureArrays& to, std::uint64_t id) {
    to.places[id] = {0.0f, 0.0f, 0.0f, -1.0f};
    to.values[id] = std::numeric_limits<float>::quiet_NaN();
}

/// The velocity, at the time of the position, of the ball in `slot`, if a picture asks for it; else as it is kept.
template <class Kind, class Neighbours>
CAROM_HD Vec<typename Kind::Real, Kind::kDim> picture_velocity(
    const SpringParams<typename Kind::Real, Kind::kDim>& params,
    const BallsView<typename Kind::Real, Kind::kDim>& balls, const OwnBall<Kind>& own,
    const Vec<double, Kind::kDim>& position, std::uint64_t step, Neighbours&& neighbours, const PictureOrder& order) {
    using Real = typename Kind::Real;
    if (!order.moving() || step == 0 || !(params.lag > Real(0))) return own.v;
    ContactSums unused = ContactSums::zero();
    return velocity_now<Kind>(lag_at(params, step), own,
                              feel<Kind>(params, balls, own, position, params.walls_time(step), neighbours, unused));
}

/// Adds the ball in `slot`, at step `step`, to those of its cell. `neighbours` as for spring_step.
template <class Kind, class Neighbours, class Add>
CAROM_HD void sum_around(const SpringParams<typename Kind::Real, Kind::kDim>& params,
                         const BallsView<typename Kind::Real, Kind::kDim>& balls, std::uint32_t slot,
                         std::uint64_t step, Neighbours&& neighbours, const PictureOrder& order, AroundWords* cells,
                         Add&& add) {
    const OwnBall<Kind> own = load_ball<Kind>(params, balls, slot);
    const auto place = place_of(params, own.x, balls.cell[slot]);
    const auto v = picture_velocity<Kind>(params, balls, own, place.position, step, neighbours, order);
    add_around(order, params.observe, place.position, v, own.radius, own.inverse_mass, cells, add);
}

/// Writes the ball in `slot`, at step `step`. `neighbours` as for spring_step; `given` as for picture_value.
template <class Kind, class Neighbours>
CAROM_HD void draw_ball(const SpringParams<typename Kind::Real, Kind::kDim>& params,
                        const BallsView<typename Kind::Real, Kind::kDim>& balls, std::uint32_t slot, std::uint64_t step,
                        Neighbours&& neighbours, const PictureOrder& order, const float* given,
                        const PictureArrays& to) {
    using Real = typename Kind::Real;
    const std::uint32_t id = balls.id[slot];
    const OwnBall<Kind> own = load_ball<Kind>(params, balls, slot);
    const auto place = place_of(params, own.x, balls.cell[slot]);
    Vec<Real, Kind::kDim> v = own.v;
    Real overlap = Real(0);
    if (order.value == PictureOrder::Value::kOverlap) {
        neighbours([&](std::uint32_t j) {
            PairContact<Real, Kind::kDim> contact;
            if (!touching<Kind>(params, balls, own, j, contact)) return;
            overlap = larger(contact.overlap / smaller(own.radius, contact.other_radius), overlap);
        });
    }
    if (!order.around()) v = picture_velocity<Kind>(params, balls, own, place.position, step, neighbours, order);
    to.places[id] = picture_place(order, place.position, static_cast<float>(own.radius));
    to.values[id] = picture_value(order, given, id, place.position, v, own.inverse_mass, overlap);
}

}  // namespace carom
