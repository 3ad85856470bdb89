#pragma once

#include <cstdint>

#include "kernels/physics/touching.hpp"
#include "kernels/spring_contact.hpp"

// One ball's whole step: find neighbours, add forces, walls, kick, drift. Every processor executes these functions;
// they differ in how they find candidates and in where they count (`tally`). A GPU thread calls spring_step; the
// CPU calls its parts for eight balls at a time, so that those without contacts stay in SIMD lanes.
//
// Leapfrog (velocity Verlet, fused): the state holds x_n and v_{n-1/2};
//     v_{n+1/2} = v_{n-1/2} + dt F(x_n, v_{n-1/2}) / m + g dt,    x_{n+1} = x_n + dt v_{n+1/2}.
// Step 0 starts from v_0 and kicks by dt / 2. Order 2; with a dashpot, which sees v_{n-1/2}, order 1.
// Symplectic Euler is the same with a full first kick and v_n in place of v_{n-1/2}.

namespace carom {

/// Whether a force fits the grid on which forces are summed; one that does not is a fault.
template <class Real, int Dim>
CAROM_HD bool fits_grid(const SpringParams<Real, Dim>& params, Real force) {
    return force <= params.force_grid.limit;
}

/// What the ball in slot j does to the one in `slot`: gives the force on the latter, or false where there is none. Seen
/// from j it is the opposite force, to the bit, so a processor may meet a pair once or from both sides.
template <class Kind, class Balls, class Tally>
CAROM_HD bool meet_ball(const SpringParams<typename Kind::Real, Kind::kDim>& params, const Balls& balls,
                        const OwnBall<Kind>& own, std::uint32_t slot, std::uint32_t j,
                        Vec<typename Kind::Real, Kind::kDim>& force, Tally& tally) {
    using Real = typename Kind::Real;
    PairContact<Real, Kind::kDim> contact;
    if (!touching<Kind>(params, balls, own, j, contact)) return false;
    const Real smaller_radius = smaller(own.radius, contact.other_radius);
    tally.overlap(contact.overlap / smaller_radius);
    const auto fault = [&](SpringFault::Kind kind) {
        // Of the ball with the lower id, whichever side looks. Ids are read here and not before: it takes long.
        const bool lower = balls.id[slot] < balls.id[j];
        tally.fault(kind, lower ? slot : j, balls.id[lower ? j : slot]);
    };
    if (contact.distance < Real(kDeepest) * smaller_radius) fault(SpringFault::Kind::kDeepOverlap);
    if (!fits_grid(params, contact.force)) {
        fault(SpringFault::Kind::kForceLimit);
        return false;
    }
    force = -contact.force * contact.inverse_distance * contact.separation;
    return true;
}

/// \param walls  as BallsView::walls
template <class Kind, class Tally>
CAROM_HD void add_walls(const SpringParams<typename Kind::Real, Kind::kDim>& params,
                        const StepNow<typename Kind::Real, Kind::kDim>& now, const OwnBall<Kind>& own,
                        const Vec<double, Kind::kDim>& position, std::uint32_t slot, std::uint32_t walls,
                        FixedSum<typename Kind::Real, Kind::kDim>& sum, Tally& tally) {
    using Real = typename Kind::Real;
    for (int index = 0; index < params.boundary_count; ++index) {
        if ((walls >> index & 1U) == 0) continue;
        const Boundary<Kind::kDim>& wall = params.boundaries[index];
        if (clear_of_face(wall, position, static_cast<double>(own.radius))) continue;
        const WallGap<Kind::kDim> gap = wall_gap(params, wall, position, now.walls_time);
        if (!(gap.distance >= 0.0)) {
            tally.fault(SpringFault::Kind::kLeftBox, slot, static_cast<std::uint32_t>(wall.number));
        }
        WallContact<Real, Kind::kDim> contact;
        if (!touching_wall<Kind>(params, own, gap, wall.speed, contact)) continue;
        tally.overlap(contact.overlap / own.radius);
        if (!fits_grid(params, contact.force)) {
            tally.fault(SpringFault::Kind::kForceLimit, slot, static_cast<std::uint32_t>(wall.number));
            continue;
        }
        const double impulse = static_cast<double>(contact.force) * static_cast<double>(now.kick) / params.dt;
        tally.wall_impulse(wall.number, nearest_integer(impulse / params.impulse_grid));
        sum.add(params.force_grid, contact.force * contact.normal);
    }
}

/// Kick and drift of one ball under `force`.
template <class Kind, class Moved, class Tally>
CAROM_HD void kick_and_drift(const StepNow<typename Kind::Real, Kind::kDim> now, const OwnBall<Kind>& own,
                             const Vec<typename Kind::Real, Kind::kDim>& force, const Moved& moved, std::uint32_t slot,
                             Tally& tally) {
    using Real = typename Kind::Real;
    const Real weight = own.inverse_mass * now.kick;
    // A factor and not a branch: a conditional read of the kick would keep the loop over balls out of SIMD lanes.
    const Real falls = own.inverse_mass > Real(0) ? Real(1) : Real(0);
    Vec<Real, Kind::kDim> v;
    for (int axis = 0; axis < Kind::kDim; ++axis) {
        v[axis] = own.v[axis] + fused(force[axis], weight, falls * now.gravity_kick[axis]);
    }
    const Real speed_squared = dot(v, v);
    const bool sane = speed_squared <= now.too_fast;  // false for NaN
    tally.moved(slot, speed_squared, sane);
    for (int axis = 0; axis < Kind::kDim; ++axis) {
        const Real steps = fused(v[axis], now.drift[axis], now.drift_offset);
        moved.v[axis][slot] = v[axis];
        moved.x[axis][slot] =
            Coordinates<Real, Kind::kDim>::moved(own.x[axis], sane ? steps : Real(0), now.grain[axis]);
    }
}

/// Takes a ball out of the run: far enough beyond the face that nothing touches it, until the next sort drops it.
/// tally.left sets its `gone`, at once or after the step.
template <class Kind, class Moved, class Tally>
CAROM_HD void leave(const SpringParams<typename Kind::Real, Kind::kDim>& params, const OwnBall<Kind>& own, int face,
                    const Moved& moved, std::uint32_t slot, std::uint32_t id, Tally& tally) {
    using Real = typename Kind::Real;
    for (int axis = 0; axis < Kind::kDim; ++axis) {
        const bool away = face >= 0 && axis == face / 2;
        moved.v[axis][slot] = Real(0);
        moved.x[axis][slot] = away ? Coordinates<Real, Kind::kDim>::narrow(params.parked[face % 2][axis]) : own.x[axis];
    }
    if (!moved.gone[id]) tally.left(moved.gone, id);
}

/// What the faces of the box and the walls do to a ball that may reach them: adds their forces to `sum`.
/// Returns the number of the open face that it leaves by, kGone when it has left before, kStays else.
constexpr int kStays = -1;
constexpr int kGone = -2;

template <class Kind, class Balls, class Tally>
CAROM_HD int meet_faces(const SpringParams<typename Kind::Real, Kind::kDim>& params,
                        const StepNow<typename Kind::Real, Kind::kDim>& now, const Balls& balls,
                        const std::uint8_t* gone, const OwnBall<Kind>& own, std::uint32_t slot,
                        FixedSum<typename Kind::Real, Kind::kDim>& sum, Tally& tally) {
    const auto wide = wide_position<typename Kind::Real, Kind::kDim>(own.x, balls.anchor(params.grid, slot));
    const Vec<double, Kind::kDim> position = user_position(params, wide);
    if (params.open != 0) {
        if (gone[balls.id[slot]]) return kGone;
        const int face = face_left_by(params, position, own.radius);
        if (face >= 0) return face;
    }
    add_walls<Kind>(params, now, own, position, slot, balls.walls(slot), sum, tally);
    return kStays;
}

/// The step of the ball in `slot`.
/// \param own         that ball
/// \param near_faces  whether the ball can reach a face or wall before the next sort (from where it was at the
///                    last), so that it must look at them
/// \param neighbours  neighbours(own, f) calls f(j) with a superset of the slots that the ball `own` touches, itself
///                    left out, none twice, in any order
template <class Kind, class Balls, class Moved, class Neighbours, class Tally>
CAROM_HD void spring_step(const SpringParams<typename Kind::Real, Kind::kDim>& params,
                          const StepNow<typename Kind::Real, Kind::kDim>& now, const Balls& balls,
                          const OwnBall<Kind>& own, const Moved& moved, std::uint32_t slot, bool near_faces,
                          Neighbours&& neighbours, Tally& tally) {
    using Real = typename Kind::Real;
    FixedSum<Real, Kind::kDim> sum = FixedSum<Real, Kind::kDim>::zero();
    int face = kStays;
    if (near_faces) face = meet_faces<Kind>(params, now, balls, moved.gone, own, slot, sum, tally);
    if (face != kGone) {  // one that leaves now still counts in the contacts that it leaves from
        neighbours(own, [&](std::uint32_t j) {
            Vec<Real, Kind::kDim> force;
            if (meet_ball<Kind>(params, balls, own, slot, j, force, tally)) sum.add(params.force_grid, force);
        });
    }
    if (face != kStays) {
        leave<Kind>(params, own, face, moved, slot, balls.id[slot], tally);
        return;
    }
    kick_and_drift<Kind>(now, own, sum.total(params.force_grid), moved, slot, tally);
}

/// The same for a ball that is read here.
template <class Kind, class Balls, class Moved, class Neighbours, class Tally>
CAROM_HD void spring_step(const SpringParams<typename Kind::Real, Kind::kDim>& params,
                          const StepNow<typename Kind::Real, Kind::kDim>& now, const Balls& balls, const Moved& moved,
                          std::uint32_t slot, bool near_faces, Neighbours&& neighbours, Tally& tally) {
    spring_step<Kind>(params, now, balls, load_ball<Kind>(params, balls, slot), moved, slot, near_faces, neighbours,
                      tally);
}

}  // namespace carom
