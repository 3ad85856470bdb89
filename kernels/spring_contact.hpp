#pragma once

#include <cstdint>

#include "kernels/spring_params.hpp"

// What a ball feels: its contacts with other balls and with walls. Used by the step (spring_step.hpp) and by
// everything that looks at a state (spring_observe.hpp), so that both see the same contacts.

namespace carom {

/// One ball's own state, loaded once.
template <class Kind>
struct OwnBall {
    using Real = typename Kind::Real;
    Vec<typename Phase<Real>::Stored, Kind::kDim> x;
    Vec<Real, Kind::kDim> v;
    Real radius;
    Real inverse_mass;
};

template <class Kind, class Balls>
CAROM_HD typename Kind::Real radius_of(const SpringParams<typename Kind::Real, Kind::kDim>& params, const Balls& balls,
                                       std::uint32_t slot) {
    if constexpr (Kind::kUniform) {
        return params.uniform_radius;
    } else {
        return balls.radius[slot];
    }
}

template <class Kind, class Balls>
CAROM_HD typename Kind::Real inverse_mass_of(const SpringParams<typename Kind::Real, Kind::kDim>& params,
                                             const Balls& balls, std::uint32_t slot) {
    if constexpr (Kind::kUniform) {
        return params.uniform_inverse_mass;
    } else {
        return balls.inverse_mass[slot];
    }
}

template <class Kind, class Balls>
CAROM_HD OwnBall<Kind> load_ball(const SpringParams<typename Kind::Real, Kind::kDim>& params, const Balls& balls,
                                 std::uint32_t slot) {
    OwnBall<Kind> own;
    for (int axis = 0; axis < Kind::kDim; ++axis) {
        own.x[axis] = balls.x[axis][slot];
        own.v[axis] = balls.v[axis][slot];
    }
    own.radius = radius_of<Kind>(params, balls, slot);
    own.inverse_mass = inverse_mass_of<Kind>(params, balls, slot);
    return own;
}

/// A contact of two balls, seen from the first.
template <class Real, int Dim>
struct PairContact {
    Vec<Real, Dim> separation;  ///< from i to j [length]
    Real distance;              ///< of the centres [length]
    Real inverse_distance;      ///< 1 / (distance + epsilon), or 0 where that is 0
    Real overlap;               ///< > 0 [length]
    Real force;                 ///< on each, away from the other [force]
    Real other_radius;          ///< [length]
};

/// Square of the distance from ball `own` to the ball in slot j; fills the separation and the other's radius.
template <class Kind, class Balls>
CAROM_HD typename Kind::Real look_at(const SpringParams<typename Kind::Real, Kind::kDim>& params, const Balls& balls,
                                     const OwnBall<Kind>& own, std::uint32_t j,
                                     PairContact<typename Kind::Real, Kind::kDim>& contact) {
    Vec<typename Phase<typename Kind::Real>::Stored, Kind::kDim> other_x;
    for (int axis = 0; axis < Kind::kDim; ++axis) other_x[axis] = balls.x[axis][j];
    contact.separation = params.coordinates.displacement(own.x, other_x);
    contact.other_radius = radius_of<Kind>(params, balls, j);
    return dot(contact.separation, contact.separation);
}

/// Whether the ball in slot j is less than `skin` from touching ball `own`. With none, all that touch are so.
template <class Kind, class Balls>
CAROM_HD bool near(const SpringParams<typename Kind::Real, Kind::kDim>& params, const Balls& balls,
                   const OwnBall<Kind>& own, std::uint32_t j, typename Kind::Real skin) {
    PairContact<typename Kind::Real, Kind::kDim> contact;
    const typename Kind::Real squared = look_at<Kind>(params, balls, own, j, contact);
    const typename Kind::Real reach = own.radius + contact.other_radius + skin;
    return squared < reach * reach;
}

/// Whether ball `own` touches the ball in slot j; if so, fills `contact`. Seen from either ball the contact has
/// the same numbers to the bit, with the opposite separation. Two bodies of infinite mass never touch.
template <class Kind, class Balls>
CAROM_HD bool touching(const SpringParams<typename Kind::Real, Kind::kDim>& params, const Balls& balls,
                       const OwnBall<Kind>& own, std::uint32_t j,
                       PairContact<typename Kind::Real, Kind::kDim>& contact) {
    using Real = typename Kind::Real;
    const Real squared = look_at<Kind>(params, balls, own, j, contact);
    const Real reach = own.radius + contact.other_radius;
    if (!(squared < reach * reach)) return false;

    contact.distance = square_root(squared);
    const Real padded = contact.distance + params.distance_epsilon;
    contact.overlap = reach - padded;
    if (!(contact.overlap > Real(0))) return false;
    contact.inverse_distance = padded > Real(0) ? Real(1) / padded : Real(0);

    const Real other_inverse_mass = inverse_mass_of<Kind>(params, balls, j);
    if (!(own.inverse_mass + other_inverse_mass > Real(0))) return false;
    if constexpr (Kind::kDamped) {
        Vec<Real, Kind::kDim> relative;
        for (int axis = 0; axis < Kind::kDim; ++axis) relative[axis] = balls.v[axis][j] - own.v[axis];
        const Real overlap_rate = -(dot(relative, contact.separation) * contact.inverse_distance);
        contact.force =
            params.pair_law.force(contact.overlap, overlap_rate, reduced_mass(own.inverse_mass, other_inverse_mass));
    } else {
        contact.force = params.pair_law.force(contact.overlap);
    }
    return true;
}

/// A contact with a wall.
template <class Real, int Dim>
struct WallContact {
    Vec<Real, Dim> normal;  ///< from the wall to the ball
    Real overlap;           ///< > 0 [length]
    Real force;             ///< on the ball, along normal [force]
};

/// The ball's position in user coordinates, for walls: exact in double.
template <class Real, int Dim>
CAROM_HD Vec<double, Dim> user_position(const SpringParams<Real, Dim>& params, const Vec<std::int64_t, Dim>& wide) {
    Vec<double, Dim> result;
    for (int axis = 0; axis < Dim; ++axis) result[axis] = params.coordinates.position(axis, wide[axis]);
    return result;
}

/// The wide position of a ball from its phase and an anchor nearby.
template <class Real, int Dim>
CAROM_HD Vec<std::int64_t, Dim> wide_position(const Vec<typename Phase<Real>::Stored, Dim>& x,
                                              const Vec<std::int64_t, Dim>& anchor) {
    Vec<std::int64_t, Dim> wide;
    for (int axis = 0; axis < Dim; ++axis) wide[axis] = Coordinates<Real, Dim>::widen(x[axis], anchor[axis]);
    return wide;
}

/// The same from the cell that it was sorted into.
template <class Real, int Dim>
CAROM_HD Vec<std::int64_t, Dim> wide_position(const SpringParams<Real, Dim>& params,
                                              const Vec<typename Phase<Real>::Stored, Dim>& x,
                                              const Vec<std::int32_t, Dim>& cell) {
    return wide_position<Real, Dim>(x, params.grid.anchor(cell));
}

/// In user coordinates [length].
template <class Real, int Dim>
CAROM_HD Vec<double, Dim> position_of(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls,
                                      std::uint32_t slot) {
    Vec<typename Phase<Real>::Stored, Dim> x;
    for (int axis = 0; axis < Dim; ++axis) x[axis] = balls.x[axis][slot];
    return user_position(params, wide_position(params, x, params.grid.cell(balls.cell[slot])));
}

/// How far from its centre something may be that a ball touches which moves by less than half of `margin` [length],
/// with the rounding of where both are.
template <class Real, int Dim>
CAROM_HD double reach_of(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls, std::uint32_t slot,
                         double margin) {
    const Real radius = balls.radius != nullptr ? balls.radius[slot] : params.uniform_radius;
    double farthest = 0.0;
    for (int axis = 0; axis < Dim; ++axis) {
        farthest = larger(farthest, __builtin_fabs(params.box_min[axis]) + params.box_size[axis]);
    }
    return (static_cast<double>(radius) + 0.5 * margin) * (1.0 + 1e-6) + 0x1p-49 * farthest;
}

/// Of the walls, those that a ball may reach which moves by less than half of `margin` [length], a bit for each: what
/// BallsView::walls says of all. Faces alone are told by where they are.
template <class Real, int Dim>
CAROM_HD std::uint32_t walls_near(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls,
                                  std::uint32_t slot, double margin) {
    const Vec<double, Dim> position = position_of(params, balls, slot);
    const double reach = reach_of(params, balls, slot, margin);
    std::uint32_t walls = 0;
    for (int index = 0; index < params.boundary_count; ++index) {
        if (!clear_of_face(params.boundaries[index], position, reach)) walls |= std::uint32_t{1} << index;
    }
    return walls;
}

/// Whether a ball that moves by less than half of `margin` [length] can reach a face: sharper than the grid's answer,
/// which is by cells.
template <class Real, int Dim>
CAROM_HD bool near_face(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls, std::uint32_t slot,
                        double margin) {
    const Vec<double, Dim> position = position_of(params, balls, slot);
    const double reach = reach_of(params, balls, slot, margin);
    for (int axis = 0; axis < Dim; ++axis) {
        if (params.grid.periodic[axis]) continue;
        const double above_min = position[axis] - params.box_min[axis];
        if (above_min < reach || params.box_size[axis] - above_min < reach) return true;
    }
    return false;
}

/// How far the centre stands from a wall, by the nearest image on periodic axes.
/// \param walls_time  SpringParams::walls_time
template <class Real, int Dim>
CAROM_HD WallGap<Dim> wall_gap(const SpringParams<Real, Dim>& params, const Boundary<Dim>& wall,
                               const Vec<double, Dim>& position, double walls_time) {
    Vec<double, Dim> from_reference = position - wall.reference;
    for (int axis = 0; axis < Dim; ++axis) {
        const double turns = __builtin_rint(from_reference[axis] * params.inverse_period[axis]);
        from_reference[axis] = from_reference[axis] - turns * params.box_size[axis];
    }
    return wall.gap(from_reference, walls_time);
}

/// Whether the ball touches the wall from which it stands at `gap`; if so, fills `contact`.
/// \param wall_speed  along the normal
template <class Kind>
CAROM_HD bool touching_wall(const SpringParams<typename Kind::Real, Kind::kDim>& params, const OwnBall<Kind>& own,
                            const WallGap<Kind::kDim>& gap, double wall_speed,
                            WallContact<typename Kind::Real, Kind::kDim>& contact) {
    using Real = typename Kind::Real;
    contact.overlap = static_cast<Real>(static_cast<double>(own.radius) - gap.distance);
    if (!(contact.overlap > Real(0)) || !(own.inverse_mass > Real(0))) return false;
    for (int axis = 0; axis < Kind::kDim; ++axis) contact.normal[axis] = static_cast<Real>(gap.normal[axis]);
    if constexpr (Kind::kDamped) {
        const Real overlap_rate = static_cast<Real>(wall_speed) - dot(own.v, contact.normal);
        contact.force = params.wall_law.force(contact.overlap, overlap_rate, reduced_mass(own.inverse_mass, Real(0)));
    } else {
        contact.force = params.wall_law.force(contact.overlap);
    }
    return true;
}

/// The number of the open face that the ball is wholly beyond (2 axis + side), or -1.
template <class Real, int Dim>
CAROM_HD int face_left_by(const SpringParams<Real, Dim>& params, const Vec<double, Dim>& position, Real radius) {
    const double reach = static_cast<double>(radius);
    for (int axis = 0; axis < Dim; ++axis) {
        const double above_min = position[axis] - params.box_min[axis];
        if ((params.open >> (2 * axis) & 1) && above_min < -reach) return 2 * axis;
        if ((params.open >> (2 * axis + 1) & 1) && above_min - params.box_size[axis] > reach) return 2 * axis + 1;
    }
    return -1;
}

}  // namespace carom
