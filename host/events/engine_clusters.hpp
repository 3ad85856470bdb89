#pragma once

#include <algorithm>

#include "host/events/engine.hpp"

// Contacts at one instant: which bodies touch each other, and their resolution together.

namespace carom {

/// How many walls the ball touches, those that act alone left out.
template <int Dim, bool Gravity, bool Lists>
int Engine<Dim, Gravity, Lists>::touching_walls(Slot i) const {
    if (!any_wall_) return 0;
    const HotBall& ball = hot_[i];
    const Forecast& forecast = forecast_[i];
    int touching = 0;
    const double near = ball.radius * (1.0 + kTouching);
    if (forecast.at_edge != 0 && !heavy(i)) {
        for (int axis = 0; axis < Dim; ++axis) {
            const auto face = static_cast<std::uint32_t>(2 * axis);
            if (is_wall(axis, 0) && !acts_alone(face) && forecast.cell[axis] == 0 && ball.position[axis] < near)
                ++touching;
            if (is_wall(axis, 1) && !acts_alone(face + 1) && forecast.cell[axis] + 1U == grid_.cells[axis] &&
                size_[axis] - ball.position[axis] < near) {
                ++touching;
            }
        }
    }
    if (!walls_.empty() && !heavy(i)) {
        Vector position;
        for (int axis = 0; axis < Dim; ++axis) position[axis] = ball.position[axis];
        for (std::uint32_t wall = 0; wall < walls_.size(); ++wall) {
            if (!acts_alone(kFaces + wall) && gap_to(kFaces + wall, position).distance < near) ++touching;
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
            if (acts_alone(number)) continue;
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
        *tallies_.lost -= energy(cluster_.bodies[m]) - energy(before[m]);
        ++next_[members_[m]].hits;
        changed.push_back(members_[m]);
    }
    for (std::size_t a = 0; a < touches.size(); ++a) {
        const ClusterContact<Dim>& contact = cluster_.contacts[a];
        const bool hops_off = dot(hops[a], hops[a]) > 0.0;
        if (!contact.hit && !hops_off) continue;
        if (touches[a].j < count_) {
            account_pair(touches[a].i, touches[a].j, contact.impulse, apart[a]);
            double work = 0.0;  // of a body of infinite mass, on the other one
            if (heavy(touches[a].i)) work = dot(contact.impulse, body(touches[a].i).velocity);
            if (heavy(touches[a].j)) work = -dot(contact.impulse, body(touches[a].j).velocity);
            tallies_.work += work;
            *tallies_.lost += work;
            if (logged(touches[a].i) || logged(touches[a].j)) log_pair(touches[a].i, touches[a].j);
        } else {
            Vector impulse = -1.0 * contact.impulse;
            if (hops_off) impulse = impulse + (1.0 / inverse_mass(touches[a].i)) * hops[a];
            account_wall(touches[a].i, touches[a].j - count_, impulse);
            if (logged(touches[a].i)) log_wall(touches[a].i, touches[a].j - count_);
        }
    }
    for (const Slot slot : changed) predict<false>(slot);
}

}  // namespace carom
