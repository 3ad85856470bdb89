#pragma once

#include <utility>

#include "host/events/engine.hpp"

// What is counted of impacts: sums for the virial identity, impulses on walls, the log.

namespace carom {

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

/// r_a dp_b, as components of a StressTensor.
template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::add_stress(const Vector& d, const Vector& impulse_on_j) {
    StressTensor& stress = counted_.collisional_stress;
    for (int axis = 0; axis < Dim; ++axis) stress[axis] += d[axis] * impulse_on_j[axis];
    for (int axis = 1; axis < Dim; ++axis) {
        stress[2 + axis] += 0.5 * (d[0] * impulse_on_j[axis] + d[axis] * impulse_on_j[0]);
    }
    if constexpr (Dim == 3) stress[5] += 0.5 * (d[1] * impulse_on_j[2] + d[2] * impulse_on_j[1]);
}

/// Gives a ball another velocity, now, which no contact explains: a thermostat does.
template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::change_velocity(Slot i, const Vector& velocity) {
    advance_ball(i, now_);
    const ImpactBody<Dim> before = body(i);
    ImpactBody<Dim> after = before;
    after.velocity = velocity;
    set_body(i, after);
    account_change(i, before.velocity);
    tallies_.thermostat_heat += energy(after) - energy(before);
    // To the virial identity it is an impulse as any other from outside.
    counted_.wall_virial += dot(at(i, now_).position, velocity - before.velocity) / inverse_mass(i);
    ++next_[i].hits;
    if (!logged(i)) return;
    LoggedImpact entry;
    entry.time = since_start();
    entry.thermostat = true;
    entry.i = id_of_[i];
    events_log::copy_motion(body(i), entry.velocity_i, entry.spin_i);
    log_(entry);
}

/// Where each ball is in memory, by id; found anew after a sort.
template <int Dim, bool Gravity, bool Lists>
const std::vector<std::uint32_t>& Engine<Dim, Gravity, Lists>::slots() const {
    if (slot_of_.empty()) {
        slot_of_.resize(count_);
        for (Slot i = 0; i < count_; ++i) slot_of_[id_of_[i]] = i;
    }
    return slot_of_;
}

/// Asks no ball that is not drawn: of balls drawn with probability p each, the gaps between ids are geometric,
/// P(gap = g) = (1 - p)^g p.
template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::draw_anew(double temperature, double probability, std::uint64_t number) {
    constexpr RandomPurpose kPurpose = RandomPurpose::kThermostat;
    constexpr std::uint64_t kGaps = std::uint64_t{1} << 32;  // above the balls' ids
    const double per_ball = natural_log(1.0 - probability);
    const std::uint64_t counter = kCountersPerDraw * number;
    const std::vector<Slot>& slot_of = slots();
    std::vector<Slot> changed;
    double id = -1.0;  // whole: beyond all ids where a gap is
    for (std::uint64_t draw = 0;; ++draw) {
        const double u = random_words(setup_.seed, kGaps + draw, kPurpose, counter).uniform(0);
        id += 1.0 + std::floor(natural_log(u) / per_ball);
        if (!(id < count_)) break;
        const Slot i = slot_of[static_cast<std::size_t>(id)];
        if (gone_[i] || heavy(i)) continue;
        const double spread = square_root(temperature * inverse_mass(i));
        change_velocity(i, maxwell_velocity<Dim>(spread, setup_.seed, id_of_[i], kPurpose, number));
        changed.push_back(i);
    }
    for (const Slot i : changed) predict<false>(i);
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::scale_velocities(double factor) {
    for (const Slot i : slots()) {
        if (!gone_[i] && !heavy(i)) change_velocity(i, factor * at(i, now_).velocity);
    }
    for (const Slot i : slots()) {
        if (!gone_[i] && !heavy(i)) predict<false>(i);
    }
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::account_pair(Slot i, Slot j, const Vector& impulse_on_j, const Vector& d) {
    ++counted_.ball_collisions;
    ++tallies_.collisions;
    const double virial = dot(d, impulse_on_j);  // r_ij . dp_i = (-d) . (-J)
    counted_.collisional_virial += virial;
    add_stress(d, impulse_on_j);
    if (any_heavy_ && (heavy(i) || heavy(j))) {  // only one of them takes its part: the rest is as from a wall
        ++counted_.heavy_collisions;
        const Slot light = heavy(i) ? j : i;
        const double sign = light == j ? 1.0 : -1.0;
        counted_.wall_virial += sign * dot(at(light, now_).position, impulse_on_j) - virial;
    } else if (forecast_[i].at_edge != 0) {  // perhaps across a periodic face
        counted_.seam_virial += dot((at(j, now_).position - at(i, now_).position) - d, impulse_on_j);
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

/// Kinetic energy, of the spin too; 0 for a body of infinite mass.
template <int Dim, bool Gravity, bool Lists>
double Engine<Dim, Gravity, Lists>::energy(const ImpactBody<Dim>& body) const {
    if (body.inverse_mass == 0.0) return 0.0;
    double squared = dot(body.velocity, body.velocity);
    if (body.inverse_kr2 > 0.0) squared += body.radius * body.radius / body.inverse_kr2 * dot(body.spin, body.spin);
    return 0.5 * squared / body.inverse_mass;
}

/// Whether the log is to hear of what this ball meets.
template <int Dim, bool Gravity, bool Lists>
bool Engine<Dim, Gravity, Lists>::logged(Slot i) const {
    return log_ && (heard_of_.empty() || heard_of_[id_of_[i]] != 0);
}

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
