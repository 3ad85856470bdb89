#pragma once

#include <algorithm>

#include "host/events/engine.hpp"
#include "host/events/engine_lanes.hpp"

// Contacts: of two balls, of a ball and a wall, and several at once.
//
// A collision is first resolved as if it were alone. The prediction that follows meets all neighbours anyway and counts
// those that touch; only if there are more than the two themselves is the collision taken back and resolved as a
// cluster. So looking for simultaneous contacts costs nothing where there are none.

namespace carom {

template <int Dim, bool Gravity, bool Lists>
bool Engine<Dim, Gravity, Lists>::collided_within_tc(Slot i) const {
    return !last_hit_.empty() && since_start() - last_hit_[i] < setup_.tc;
}

/// Restitution of a contact of two balls that approach with vn, by the rules that avoid collapse.
template <int Dim, bool Gravity, bool Lists>
double Engine<Dim, Gravity, Lists>::restitution(Slot i, Slot j, double vn) {
    const double e = setup_.restitution;
    if (e == 1.0) return e;
    if (setup_.tc > 0.0 && (collided_within_tc(i) || collided_within_tc(j))) {
        ++counted_.elastic_by_tc;
        return 1.0;
    }
    if (-vn < setup_.cutoff_speed) {
        ++counted_.elastic_by_cutoff;
        return 1.0;
    }
    return e;
}

template <int Dim, bool Gravity, bool Lists>
double Engine<Dim, Gravity, Lists>::wall_restitution(Slot i, double vn) {
    const double e = setup_.wall_restitution;
    if (e == 1.0) return e;
    if (collided_within_tc(i)) {
        ++counted_.elastic_by_tc;
        return 1.0;
    }
    if (-vn < setup_.cutoff_speed) {
        ++counted_.elastic_by_cutoff;
        return 1.0;
    }
    return e;
}

/// What brings a ball that gravity holds on a wall, and whose hops have died away, to approach the wall at a sixteenth
/// of the cut-off speed, so that it hops on and time goes on; else it would collide endlessly without moving. The wall
/// gives it, once: a hop that slow is elastic. In the mean over hops the wall bears the ball's weight, and friction
/// acts as on a ball that lies. 0 for all other balls.
template <int Dim, bool Gravity, bool Lists>
auto Engine<Dim, Gravity, Lists>::least_hop(Slot i, const Vector& velocity, const Vector& into_box) const -> Vector {
    constexpr double kOfCutoff = 0.0625;
    const double least = kOfCutoff * setup_.cutoff_speed;
    const double vn = dot(velocity, into_box);
    const bool rests = Gravity && vn <= 0.0 && -vn < least && !heavy(i) && dot(gravity_, into_box) < 0.0;
    return rests ? -(vn + least) * into_box : Vector::filled(0.0);
}

template <int Dim, bool Gravity, bool Lists>
ImpactBody<Dim> Engine<Dim, Gravity, Lists>::body(Slot i) const {
    ImpactBody<Dim> result;
    for (int axis = 0; axis < Dim; ++axis) result.velocity[axis] = hot_[i].velocity[axis];
    result.spin = spin_.empty() ? Spin<Dim>::filled(0.0) : spin_[i];
    result.inverse_mass = inverse_mass(i);
    result.radius = hot_[i].radius;
    result.inverse_kr2 = inverse_kr2_.empty() ? 0.0 : inverse_kr2_[i];
    return result;
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::set_body(Slot i, const ImpactBody<Dim>& body) {
    set_motion(hot_[i], choose(fourth_lane(), motion_lanes(hot_[i]), vector_lanes<Dim>(body.velocity)));
    if (!spin_.empty()) spin_[i] = body.spin;
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::collide(Slot i, Slot j) {
    advance_ball(j, now_);
    HotBall& one = hot_[i];
    HotBall& two = hot_[j];
    Vector d;
    for (int axis = 0; axis < Dim; ++axis) d[axis] = two.position[axis] - one.position[axis];
    if (forecast_[i].at_edge != 0) d = nearest(d);
    const double d2 = dot(d, d);
    const double reach = one.radius + two.radius;
    if (d2 < reach * reach) note_overlap((reach * reach - d2) / (2.0 * reach), std::min(one.radius, two.radius));

    Vector closing;
    for (int axis = 0; axis < Dim; ++axis) closing[axis] = two.velocity[axis] - one.velocity[axis];
    const double b = dot(d, closing);
    if (!elastic_) return collide_with_losses(i, j, d, d2, b);

    const Lanes one_before = motion_lanes(one);
    const Lanes two_before = motion_lanes(two);
    Vector impulse = Vector::filled(0.0);
    if (b < 0.0) {
        const double one_inverse = inverse_mass(i);
        const double two_inverse = inverse_mass(j);
        impulse = impulse_factor(b, d2, one_inverse + two_inverse, 1.0) * d;
        const Lanes push = vector_lanes<Dim>(impulse);
        set_motion(one, one_before - Lanes::filled(one_inverse) * push);
        set_motion(two, two_before + Lanes::filled(two_inverse) * push);
    }
    ++next_[i].hits;
    ++next_[j].hits;
    int touching = predict<true>(i) + touching_walls(i);
    touching += predict<true>(j) + touching_walls(j);
    if (touching > 4) [[unlikely]] {  // each touches itself and the other
        set_motion(one, one_before);
        set_motion(two, two_before);
        resolve_touching(i, j);
        return;
    }
    if (b < 0.0) {
        account_pair(i, j, impulse, d);
        if (logged(i) || logged(j)) log_pair(i, j);
    }
}

/// The same where energy, spins or bodies of infinite mass take part.
template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::collide_with_losses(Slot i, Slot j, const Vector& d, double d2, double b) {
    const ImpactBody<Dim> one_before = body(i);
    const ImpactBody<Dim> two_before = body(j);
    Vector impulse = Vector::filled(0.0);
    if (b < 0.0) {
        ImpactBody<Dim> one_after = one_before;
        ImpactBody<Dim> two_after = two_before;
        const double distance = square_root(d2);
        const Vector n = (1.0 / distance) * d;
        const auto hit = impact(one_before, two_before, n, restitution(i, j, b / distance), setup_.friction);
        apply_impact(one_after, two_after, n, hit);
        impulse = hit.normal * n + hit.tangential;
        set_body(i, one_after);
        set_body(j, two_after);
    }
    ++next_[i].hits;
    ++next_[j].hits;
    int touching = predict<true>(i) + touching_walls(i);
    touching += predict<true>(j) + touching_walls(j);
    if (touching > 4) [[unlikely]] {
        set_body(i, one_before);
        set_body(j, two_before);
        resolve_touching(i, j);
        return;
    }
    if (b < 0.0) {
        account_change(i, one_before.velocity);
        account_change(j, two_before.velocity);
        account_pair(i, j, impulse, d);
        const Vector n = (1.0 / square_root(d2)) * d;
        double work = 0.0;  // of a body of infinite mass, on the other one
        if (heavy(i))
            work = dot(impulse, one_before.velocity + surface_velocity(one_before.spin, one_before.radius, n));
        if (heavy(j))
            work = -dot(impulse, two_before.velocity - surface_velocity(two_before.spin, two_before.radius, n));
        tallies_.work += work;
        *tallies_.lost += work - (energy(body(i)) - energy(one_before)) - (energy(body(j)) - energy(two_before));
        if (logged(i) || logged(j)) log_pair(i, j);
    }
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::collide_face(Slot i, std::uint32_t face) {
    Vector into_box = Vector::filled(0.0);
    into_box[static_cast<int>(face / 2)] = face % 2 == 0 ? 1.0 : -1.0;
    hit_wall(i, face, into_box);
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::collide_wall(Slot i, std::size_t wall) {
    Vector position;
    for (int axis = 0; axis < Dim; ++axis) position[axis] = hot_[i].position[axis];
    const auto number = static_cast<std::uint32_t>(kFaces + wall);
    hit_wall(i, number, gap_to(number, position).normal);
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::hit_wall(Slot i, std::uint32_t number, const Vector& into_box) {
    if (wall_temperature(number) > 0.0) [[unlikely]]
        return hit_thermal_wall(i, number, into_box);
    const double speed = wall_speed(number);
    const ImpactBody<Dim> before = body(i);
    Vector position;
    for (int axis = 0; axis < Dim; ++axis) position[axis] = hot_[i].position[axis];
    const double gap = gap_to(number, position).distance - before.radius;
    if (gap < 0.0) note_overlap(-gap, before.radius);
    const Vector hop = least_hop(i, before.velocity, into_box);
    ImpactBody<Dim> after = before;
    after.velocity = before.velocity + hop;
    const double vn = dot(after.velocity, into_box) - speed;
    Vector impulse = Vector::filled(0.0);
    if (vn < 0.0) {
        ImpactBody<Dim> wall = {speed * into_box, Spin<Dim>::filled(0.0), 0.0, 0.0, 0.0};
        const Vector n = -1.0 * into_box;
        const auto hit = impact(after, wall, n, wall_restitution(i, vn), setup_.wall_friction);
        apply_impact(after, wall, n, hit);
        impulse = -1.0 * (hit.normal * n + hit.tangential);
        if (Gravity && !heavy(i)) impulse = impulse + (1.0 / inverse_mass(i)) * hop;
        set_body(i, after);
    }
    ++next_[i].hits;
    if (predict<true>(i) + touching_walls(i) > 2 && speed == 0.0) [[unlikely]] {  // itself, and this wall
        set_body(i, before);
        resolve_touching(i, count_ + number);
        return;
    }
    if (vn < 0.0) {
        if (Gravity || !elastic_walls_ || speed != 0.0) {
            account_change(i, before.velocity);
            const double work = speed * dot(impulse, into_box);
            tallies_.work += work;
            *tallies_.lost += work - (energy(after) - energy(before));
        }
        account_wall(i, number, impulse);
        if (logged(i)) log_wall(i, number);
    }
}

/// The ball goes, and another comes out of the wall.
template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::hit_thermal_wall(Slot i, std::uint32_t number, const Vector& into_box) {
    const ImpactBody<Dim> before = body(i);
    const double speed = wall_speed(number);
    const double gap = gap_to(number, at(i, now_).position).distance - before.radius;
    if (gap < 0.0) note_overlap(-gap, before.radius);
    if (dot(before.velocity, into_box) - speed < 0.0) {
        const double mass = 1.0 / inverse_mass(i);
        const double spread = square_root(wall_temperature(number) * inverse_mass(i));
        ImpactBody<Dim> after = before;
        after.velocity = thermal_wall_velocity(into_box, spread, setup_.seed, draw_id(id_of_[i], number), draws_++) +
                         speed * into_box;
        set_body(i, after);
        const Vector impulse = mass * (after.velocity - before.velocity);
        const double work = speed * dot(impulse, into_box);
        tallies_.work += work;
        tallies_.wall_heat[number] += energy(after) - energy(before) - work;
        account_change(i, before.velocity);
        account_wall(i, number, impulse);
        if (logged(i)) log_wall(i, number);
    }
    ++next_[i].hits;
    predict<false>(i);
}

}  // namespace carom
