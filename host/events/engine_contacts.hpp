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
        if (log_) log_pair(i, j);
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
        if (log_) log_pair(i, j);
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
    const ImpactBody<Dim> before = body(i);
    Vector position;
    for (int axis = 0; axis < Dim; ++axis) position[axis] = hot_[i].position[axis];
    const double gap = gap_to(number, position).distance - before.radius;
    if (gap < 0.0) note_overlap(-gap, before.radius);
    const Vector hop = least_hop(i, before.velocity, into_box);
    ImpactBody<Dim> after = before;
    after.velocity = before.velocity + hop;
    const double vn = dot(after.velocity, into_box);
    Vector impulse = Vector::filled(0.0);
    if (vn < 0.0) {
        ImpactBody<Dim> wall = {Vector::filled(0.0), Spin<Dim>::filled(0.0), 0.0, 0.0, 0.0};
        const Vector n = -1.0 * into_box;
        const auto hit = impact(after, wall, n, wall_restitution(i, vn), setup_.wall_friction);
        apply_impact(after, wall, n, hit);
        impulse = -1.0 * (hit.normal * n + hit.tangential);
        if (Gravity && !heavy(i)) impulse = impulse + (1.0 / inverse_mass(i)) * hop;
        set_body(i, after);
    }
    ++next_[i].hits;
    if (predict<true>(i) + touching_walls(i) > 2) [[unlikely]] {  // itself, and this wall
        set_body(i, before);
        resolve_touching(i, count_ + number);
        return;
    }
    if (vn < 0.0) {
        if (Gravity || !elastic_walls_) account_change(i, before.velocity);
        account_wall(i, number, impulse);
        if (log_) log_wall(i, number);
    }
}

/// How many walls the ball touches.
template <int Dim, bool Gravity, bool Lists>
int Engine<Dim, Gravity, Lists>::touching_walls(Slot i) const {
    if (!any_wall_) return 0;
    const HotBall& ball = hot_[i];
    const Forecast& forecast = forecast_[i];
    int touching = 0;
    const double near = ball.radius * (1.0 + kTouching);
    if (forecast.at_edge != 0 && !heavy(i)) {
        for (int axis = 0; axis < Dim; ++axis) {
            if (is_wall(axis, 0) && forecast.cell[axis] == 0 && ball.position[axis] < near) ++touching;
            if (is_wall(axis, 1) && forecast.cell[axis] + 1U == grid_.cells[axis] &&
                size_[axis] - ball.position[axis] < near) {
                ++touching;
            }
        }
    }
    if (!walls_.empty() && !heavy(i)) {
        Vector position;
        for (int axis = 0; axis < Dim; ++axis) position[axis] = ball.position[axis];
        for (std::uint32_t wall = 0; wall < walls_.size(); ++wall) {
            if (gap_to(kFaces + wall, position).distance < near) ++touching;
        }
    }
    return touching;
}

/// Resolves the contact of i with `partner` (a slot, or count + number of a wall) and all that touch them, directly or
/// through others, together.
template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::resolve_touching(Slot i, std::uint32_t partner) {
    struct Touch {
        std::uint32_t key_i, key_j;  // ids, or count + number of the wall
        Slot i;
        std::uint32_t j;  // slot, or count + number
    };
    std::vector<Touch> touches;
    members_.assign(1, i);
    if (partner < count_) members_.push_back(partner);
    const auto index_of = [this](Slot slot) {
        return static_cast<int>(std::find(members_.begin(), members_.end(), slot) - members_.begin());
    };
    const auto add = [&](Slot a, std::uint32_t b) {
        if (b < count_ && id_of_[b] < id_of_[a]) std::swap(a, b);
        const std::uint32_t key_j = b < count_ ? id_of_[b] : b;
        touches.push_back({id_of_[a], key_j, a, b});
    };
    add(i, partner);
    for (std::size_t m = 0; m < members_.size(); ++m) {
        const Slot member = members_[m];
        const Flight here = at(member, now_);
        bool edge = false;
        const std::uint32_t count = gather_all(member, edge);
        for (std::uint32_t k = 0; k < count; ++k) {
            const Slot other = candidates_[k];
            if (other == member || (heavy(member) && heavy(other))) continue;
            const Vector d = nearest(at(other, now_).position - here.position);
            const double reach = hot_[member].radius + hot_[other].radius;
            if (square_root(dot(d, d)) - reach > kTouching * reach) continue;
            add(member, other);
            if (index_of(other) == static_cast<int>(members_.size())) members_.push_back(other);
        }
        if (heavy(member)) continue;
        const double near = hot_[member].radius * (1.0 + kTouching);
        for (std::uint32_t number = 0; number < kFaces + walls_.size(); ++number) {
            if (number < kFaces && (number >= 2 * Dim || !is_wall(static_cast<int>(number / 2), number % 2))) continue;
            if (gap_to(number, here.position).distance < near) add(member, count_ + number);
        }
    }
    std::sort(touches.begin(), touches.end(), [](const Touch& a, const Touch& b) {
        return std::pair{a.key_i, a.key_j} < std::pair{b.key_i, b.key_j};
    });
    touches.erase(std::unique(touches.begin(), touches.end(),
                              [](const Touch& a, const Touch& b) { return a.key_i == b.key_i && a.key_j == b.key_j; }),
                  touches.end());

    cluster_.clear();
    for (const Slot member : members_) {
        cluster_.bodies.push_back(body(member));
        cluster_.bodies.back().velocity = at(member, now_).velocity;
    }
    const auto before = cluster_.bodies;
    std::vector<Vector> apart;
    std::vector<Vector> hops;
    for (const Touch& touch : touches) {
        hops.push_back(Vector::filled(0.0));
        const Flight one = at(touch.i, now_);
        ClusterContact<Dim> contact{};
        contact.one = index_of(touch.i);
        if (touch.j < count_) {
            apart.push_back(nearest(at(touch.j, now_).position - one.position));
            contact.normal = (1.0 / square_root(dot(apart.back(), apart.back()))) * apart.back();
            contact.two = index_of(touch.j);
            contact.e = setup_.restitution;
            if (setup_.tc > 0.0 && (collided_within_tc(touch.i) || collided_within_tc(touch.j))) contact.e = 1.0;
            contact.mu = setup_.friction;
        } else {
            apart.push_back(Vector::filled(0.0));
            contact.normal = -1.0 * gap_to(touch.j - count_, one.position).normal;
            contact.two = ClusterContact<Dim>::kWall;
            Vector& velocity = cluster_.bodies[static_cast<std::size_t>(contact.one)].velocity;
            hops.back() = least_hop(touch.i, velocity, -1.0 * contact.normal);
            velocity = velocity + hops.back();
            contact.e = collided_within_tc(touch.i) ? 1.0 : setup_.wall_restitution;
            contact.mu = setup_.wall_friction;
        }
        cluster_.contacts.push_back(contact);
    }
    const ClusterOutcome outcome = resolve_cluster(cluster_, setup_.simultaneous, setup_.cutoff_speed);
    // The contact that brought us here may be slower than the cluster's noise: it must not come again at once.
    for (std::size_t a = 0; a < touches.size(); ++a) {
        ClusterContact<Dim>& contact = cluster_.contacts[a];
        if (contact.hit || touches[a].i != i || touches[a].j != partner) continue;
        Cluster<Dim> alone;
        alone.bodies = cluster_.bodies;
        alone.contacts.push_back(contact);
        resolve_cluster(alone, SimultaneousLaw::kSequential, setup_.cutoff_speed);
        cluster_.bodies = alone.bodies;
        contact = alone.contacts[0];
    }
    ++counted_.clusters;
    counted_.gave_up += outcome.gave_up ? 1 : 0;
    counted_.elastic_by_cutoff += outcome.elastic;

    std::vector<Slot> changed;
    for (std::size_t m = 0; m < members_.size(); ++m) {
        bool differs = members_[m] == i || members_[m] == partner;
        for (int axis = 0; axis < Dim; ++axis) {
            differs = differs || cluster_.bodies[m].velocity[axis] != before[m].velocity[axis];
        }
        if (!spin_.empty()) {
            for (int k = 0; k < (Dim == 2 ? 1 : 3); ++k)
                differs = differs || cluster_.bodies[m].spin[k] != before[m].spin[k];
        }
        if (!differs) continue;
        advance_ball(members_[m], now_);
        set_body(members_[m], cluster_.bodies[m]);
        account_change(members_[m], before[m].velocity);
        ++next_[members_[m]].hits;
        changed.push_back(members_[m]);
    }
    for (std::size_t a = 0; a < touches.size(); ++a) {
        const ClusterContact<Dim>& contact = cluster_.contacts[a];
        const bool hops_off = dot(hops[a], hops[a]) > 0.0;
        if (!contact.hit && !hops_off) continue;
        if (touches[a].j < count_) {
            account_pair(touches[a].i, touches[a].j, contact.impulse, apart[a]);
            if (log_) log_pair(touches[a].i, touches[a].j);
        } else {
            Vector impulse = -1.0 * contact.impulse;
            if (hops_off) impulse = impulse + (1.0 / inverse_mass(touches[a].i)) * hops[a];
            account_wall(touches[a].i, touches[a].j - count_, impulse);
            if (log_) log_wall(touches[a].i, touches[a].j - count_);
        }
    }
    for (const Slot slot : changed) predict<false>(slot);
}

/// Tells the sums over all balls that the velocity of one has changed.
template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::account_change(Slot i, const Vector& velocity_before) {
    if (heavy(i)) return;
    flow_.advance(now_, gravity_);
    const double mass = 1.0 / inverse_mass(i);
    const Vector velocity = body(i).velocity;
    flow_.twice_kinetic += mass * (dot(velocity, velocity) - dot(velocity_before, velocity_before));
    flow_.momentum = flow_.momentum + mass * (velocity - velocity_before);
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::account_pair(Slot i, Slot j, const Vector& impulse_on_j, const Vector& d) {
    ++counted_.ball_collisions;
    ++tallies_.collisions;
    if (any_heavy_ && (heavy(i) || heavy(j))) {  // like a wall to the other one
        const Slot light = heavy(i) ? j : i;
        const double sign = light == j ? 1.0 : -1.0;
        counted_.wall_virial += sign * dot(at(light, now_).position, impulse_on_j);
    } else {
        counted_.collisional_virial += dot(d, impulse_on_j);  // r_ij . dp_i = (-d) . (-J)
        if (forecast_[i].at_edge != 0) {                      // perhaps across a periodic face
            counted_.seam_virial += dot((at(j, now_).position - at(i, now_).position) - d, impulse_on_j);
        }
    }
    if (!last_hit_.empty()) last_hit_[i] = last_hit_[j] = since_start();
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::account_wall(Slot i, std::uint32_t number, const Vector& impulse_on_i) {
    ++counted_.wall_collisions;
    ++tallies_.collisions;
    const Vector position = at(i, now_).position;
    tallies_.wall_impulse[number] += dot(gap_to(number, position).normal, impulse_on_i);
    counted_.wall_virial += dot(position, impulse_on_i);
    if (!last_hit_.empty()) last_hit_[i] = since_start();
}

namespace events_log {

template <int Dim>
void copy_motion(const ImpactBody<Dim>& body, Vector3& velocity, Vector3& spin) {
    for (int axis = 0; axis < Dim; ++axis) velocity[axis] = body.velocity[axis];
    if constexpr (Dim == 2) {
        spin[2] = body.spin[0];
    } else {
        for (int axis = 0; axis < 3; ++axis) spin[axis] = body.spin[axis];
    }
}

}  // namespace events_log

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::log_pair(Slot i, Slot j) const {
    if (id_of_[j] < id_of_[i]) std::swap(i, j);
    LoggedImpact entry;
    entry.time = since_start();
    entry.i = id_of_[i];
    entry.j = id_of_[j];
    events_log::copy_motion(body(i), entry.velocity_i, entry.spin_i);
    events_log::copy_motion(body(j), entry.velocity_j, entry.spin_j);
    log_(entry);
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::log_wall(Slot i, std::uint32_t number) const {
    LoggedImpact entry;
    entry.time = since_start();
    entry.wall = true;
    entry.i = id_of_[i];
    entry.j = number;
    events_log::copy_motion(body(i), entry.velocity_i, entry.spin_i);
    log_(entry);
}

}  // namespace carom
