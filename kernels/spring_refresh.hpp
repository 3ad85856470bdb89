#pragma once

#include <cstdint>

#include "kernels/physics/thermal_wall.hpp"
#include "kernels/spring_observe.hpp"

// Velocities drawn anew: by thermal walls, and by Andersen's thermostat. A pass of its own over few balls, before the
// step, so that the step itself knows nothing of it. It writes velocities in place and reads no other ball's.
//
// A thermal wall exerts no force. In the first step that finds a ball overlapping it on its way in, the ball gets the
// velocity of one that leaves. The random numbers are those of the step, so nothing need be remembered.
//
// The state holds v_{n-1/2}, and a draw is of v_n: what the elastic forces bring from one to the other, h, is added to
// see what the ball had, and taken off again from what it gets. So the heat m (v'_n^2 - v_n^2) / 2 is exact at the time
// of the positions, and the energy balance is of the integrator's order. A dashpot, for which the order is 1 anyway, is
// left out of h: it would read the velocities of others.

namespace carom {

/// The number of the thermostat among the sources of heat: behind the walls.
constexpr int kThermostatHeat = kWallNumbers;

/// Adds what an engine has counted to the tallies that it began with, which have as many walls as the run.
/// \param impulse  by walls
/// \param heat     by walls, and of the thermostat
inline void add_counts(const CountUnits& units, const WideCount* impulse, const WideCount* heat, Tallies& tallies) {
    for (std::size_t wall = 0; wall < tallies.wall_impulse.size(); ++wall) {
        tallies.wall_impulse[wall] += impulse[wall].value() * units.impulse;
        tallies.wall_heat[wall] += heat[wall].value() * units.heat;
    }
    tallies.thermostat_heat += heat[kThermostatHeat].value() * units.heat;
}

/// Whether the thermostat acts in a step.
template <class Real, int Dim>
CAROM_HD bool thermostat_acts(const SpringParams<Real, Dim>& params, std::uint64_t step) {
    return params.thermostat_every > 0 && step % params.thermostat_every == 0;
}

/// In whole units of a grid; far beyond all that makes sense, the limit.
CAROM_HD std::int64_t whole_units(double amount, double unit) {
    constexpr double kMost = 0x1p58;
    return nearest_integer(larger(smaller(amount / unit, kMost), -kMost));
}

/// A ball whose velocity may be drawn anew.
template <class Kind>
struct RefreshedBall {
    using Real = typename Kind::Real;
    OwnBall<Kind> own;
    Vec<Real, Kind::kDim> lag;  ///< h [velocity]
    bool changed = false;       ///< and so, lag is known
};

/// Gives the ball the velocity `drawn` and counts what that takes.
/// \param force   force() is the elastic force on the ball
/// \param normal  of the wall that does it, which moves at `speed` along it
/// \param source  number of the wall, or kThermostatHeat
template <class Kind, class Force, class Tally>
CAROM_HD void replace_velocity(const SpringParams<typename Kind::Real, Kind::kDim>& params, std::uint64_t step,
                               RefreshedBall<Kind>& ball, Force&& force, const Vec<double, Kind::kDim>& drawn,
                               const Vec<double, Kind::kDim>& normal, double speed, int source, Tally& tally) {
    using Real = typename Kind::Real;
    if (!ball.changed) {
        OwnBall<Kind> still = ball.own;
        still.v = Vec<Real, Kind::kDim>::filled(Real(0));
        ball.lag = velocity_now<Kind>(lag_at(params, step), still, force());
        ball.changed = true;
    }
    const double mass = 1.0 / static_cast<double>(ball.own.inverse_mass);
    double gained = 0.0;   // of energy
    double impulse = 0.0;  // along the normal
    for (int axis = 0; axis < Kind::kDim; ++axis) {
        const double before = static_cast<double>(ball.own.v[axis]) + static_cast<double>(ball.lag[axis]);
        ball.own.v[axis] = static_cast<Real>(drawn[axis]) - ball.lag[axis];
        const double after = static_cast<double>(ball.own.v[axis]) + static_cast<double>(ball.lag[axis]);
        gained = gained + 0.5 * mass * (after - before) * (after + before);
        impulse = impulse + mass * (after - before) * normal[axis];
    }
    tally.heat(source, whole_units(gained - speed * impulse, params.heat_grid));
    if (source != kThermostatHeat) tally.wall_impulse(source, whole_units(impulse / params.dt, params.impulse_grid));
}

/// What is due for the ball in `slot` before step `step`.
/// \param velocity    of all balls, as the integrator holds them; that of this one may be changed
/// \param near_walls  whether the ball can reach a thermal wall before the next sort
/// \param neighbours  as for spring_step
template <class Kind, class Neighbours, class Tally>
CAROM_HD void refresh_ball(const SpringParams<typename Kind::Real, Kind::kDim>& params,
                           const BallsView<typename Kind::Real, Kind::kDim>& balls, const std::uint8_t* gone,
                           const Vec<typename Kind::Real*, Kind::kDim>& velocity, std::uint64_t step,
                           std::uint32_t slot, bool near_walls, Neighbours&& neighbours, Tally& tally) {
    static_assert(!Kind::kDamped, "no other ball's velocity may be read");
    constexpr int kDim = Kind::kDim;
    const std::uint32_t id = balls.id[slot];
    if (params.open != 0 && gone[id]) return;
    RefreshedBall<Kind> ball{load_ball<Kind>(params, balls, slot), {}};
    const bool drawn_anew = ball.own.inverse_mass > 0;  // others are looked for behind walls, and no more
    const auto wide = wide_position(params, ball.own.x, params.grid.cell(balls.cell[slot]));
    const Vec<double, kDim> position = user_position(params, wide);
    const double walls_time = params.walls_time(step);
    const auto force = [&] {
        ContactSums unused = ContactSums::zero();
        return feel<Kind>(params, balls, ball.own, position, walls_time, neighbours, unused);
    };
    const auto spread = [&](double temperature) {
        return square_root(temperature * static_cast<double>(ball.own.inverse_mass));
    };

    const int walls = near_walls ? params.thermal_count : 0;
    for (int index = params.boundary_count; index < params.boundary_count + walls; ++index) {
        const Boundary<kDim>& wall = params.boundaries[index];
        const WallGap<kDim> gap = wall_gap(params, wall, position, walls_time);
        if (!(gap.distance >= 0.0)) {
            tally.fault(SpringFault::Kind::kLeftBox, slot, static_cast<std::uint32_t>(wall.number));
        }
        if (!drawn_anew || !(static_cast<double>(ball.own.radius) > gap.distance)) continue;
        double away = -wall.speed;
        for (int axis = 0; axis < kDim; ++axis) away = away + static_cast<double>(ball.own.v[axis]) * gap.normal[axis];
        if (!(away < 0.0)) continue;
        const Vec<double, kDim> drawn =
            thermal_wall_velocity(gap.normal, spread(wall.temperature), params.seed,
                                  draw_id(id, static_cast<std::uint32_t>(wall.number)), step) +
            wall.speed * gap.normal;
        replace_velocity<Kind>(params, step, ball, force, drawn, gap.normal, wall.speed, wall.number, tally);
    }
    if (drawn_anew && thermostat_acts(params, step)) {
        constexpr RandomPurpose kPurpose = RandomPurpose::kThermostat;
        const double u = random_words(params.seed, id, kPurpose, kCountersPerDraw * step).uniform(0);
        if (u < params.thermostat_probability) {
            const Vec<double, kDim> drawn =
                maxwell_velocity<kDim>(spread(params.thermostat_temperature), params.seed, id, kPurpose, step);
            replace_velocity<Kind>(params, step, ball, force, drawn, Vec<double, kDim>::filled(0.0), 0.0,
                                   kThermostatHeat, tally);
        }
    }
    if (!ball.changed) return;
    for (int axis = 0; axis < kDim; ++axis) velocity[axis][slot] = ball.own.v[axis];
}

}  // namespace carom
