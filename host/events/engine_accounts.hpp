#pragma once

#include <utility>

#include "host/events/engine.hpp"

// What is counted of impacts: sums for the virial identity, impulses on walls, the log.

namespace carom {

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

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::account_pair(Slot i, Slot j, const Vector& impulse_on_j, const Vector& d) {
    ++counted_.ball_collisions;
    ++tallies_.collisions;
    if (any_heavy_ && (heavy(i) || heavy(j))) {  // like a wall to the other one
        ++counted_.heavy_collisions;
        const Slot light = heavy(i) ? j : i;
        const double sign = light == j ? 1.0 : -1.0;
        counted_.wall_virial += sign * dot(at(light, now_).position, impulse_on_j);
    } else {
        counted_.collisional_virial += dot(d, impulse_on_j);  // r_ij . dp_i = (-d) . (-J)
        add_stress(d, impulse_on_j);
        if (forecast_[i].at_edge != 0) {  // perhaps across a periodic face
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
