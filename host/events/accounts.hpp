#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "host/events/events_engine.hpp"
#include "kernels/physics/impulse.hpp"

// What is counted of a run: sums over all balls that are carried from event to event, what impacts have passed, the
// energy balance, and the log. Whoever changes a ball's velocity or place tells the accounts; that the virial identity
// holds in the end shows that none was forgotten.

namespace carom {

/// Kinetic energy, of the spin too; 0 for a body of infinite mass.
template <int Dim>
double kinetic_energy(const ImpactBody<Dim>& body) {
    if (body.inverse_mass == 0.0) return 0.0;
    double squared = dot(body.velocity, body.velocity);
    if (body.inverse_kr2 > 0.0) squared += body.radius * body.radius / body.inverse_kr2 * dot(body.spin, body.spin);
    return 0.5 * squared / body.inverse_mass;
}

/// Sums over all balls of finite mass, carried from event to event, and their integrals over time, exact between
/// impulses: with K the kinetic energy of translation, P the momentum, X = sum m x, M the mass and g gravity,
///
///   d(2K)/dt = 2 P . g,  dP/dt = M g,  dX/dt = P.
///
/// They make the virial identity of a run checkable at no cost.
template <int Dim>
struct Flow {
    double twice_kinetic = 0.0;
    Vec<double, Dim> momentum{};
    Vec<double, Dim> moment{};  ///< X, positions as they are in the box
    double mass = 0.0;
    std::uint64_t balls = 0;  ///< that the sums are over
    double time = 0.0;        ///< of the epoch, that the sums stand for
    double twice_kinetic_time = 0.0;
    double gravity_virial_time = 0.0;

    /// Of no ball the sums are 0, not what rounding has left of them, which gravity would make more of.
    void clear_if_empty() {
        if (balls > 0) return;
        twice_kinetic = mass = 0.0;
        momentum = moment = Vec<double, Dim>::filled(0.0);
    }

    void advance(double to, const Vec<double, Dim>& g) {
        const double s = to - time;
        time = to;
        const double pg = dot(momentum, g);
        const double mgg = mass * dot(g, g);
        twice_kinetic_time += s * (twice_kinetic + s * (pg + s * (mgg / 3.0)));
        gravity_virial_time += s * (dot(moment, g) + s * (0.5 * pg + s * (mgg / 6.0)));
        twice_kinetic += s * (2.0 * pg + s * mgg);
        moment = moment + s * (momentum + (0.5 * s * mass) * g);
        momentum = momentum + (s * mass) * g;
    }
};

template <int Dim>
class Accounts {
public:
    using Vector = Vec<double, Dim>;

    /// \param walls  faces and [[wall]]s
    Accounts(std::size_t walls, const Vector& gravity) : gravity_(gravity) { set_tallies({}, walls); }

    [[nodiscard]] const EventsStatistics& counted() const { return counted_; }
    [[nodiscard]] EventsStatistics& counted() { return counted_; }
    [[nodiscard]] const Tallies& tallies() const { return tallies_; }
    [[nodiscard]] Flow<Dim>& flow() { return flow_; }
    [[nodiscard]] const Flow<Dim>& flow() const { return flow_; }

    /// Goes on with what another run has counted.
    void set_tallies(const Tallies& tallies, std::size_t walls) {
        tallies_ = tallies;
        tallies_.wall_impulse.resize(walls);
        tallies_.wall_heat.resize(walls);
        if (!tallies_.lost) tallies_.lost = 0.0;
    }

    /// A ball of finite mass is there from the start, with the mass m, at the present of flow().
    void enter(double mass, const Vector& position, const Vector& velocity) {
        flow_.twice_kinetic += mass * dot(velocity, velocity);
        flow_.momentum = flow_.momentum + mass * velocity;
        flow_.moment = flow_.moment + mass * position;
        flow_.mass += mass;
        ++flow_.balls;
        counted_.virial_start += mass * dot(position, velocity);
    }
    /// A ball has left through an open face. One of infinite mass: mass 0. \param spin_energy  that goes with it
    void leave(double now, double mass, const Vector& position, const Vector& velocity, double spin_energy) {
        flow_.advance(now, gravity_);
        flow_.twice_kinetic -= mass * dot(velocity, velocity);
        *tallies_.lost += 0.5 * mass * dot(velocity, velocity) - mass * dot(gravity_, position);
        *tallies_.lost += spin_energy;
        flow_.momentum = flow_.momentum - mass * velocity;
        flow_.moment = flow_.moment - mass * position;
        flow_.mass -= mass;
        if (mass > 0.0) --flow_.balls;
        flow_.clear_if_empty();
        counted_.virial_start -= mass * dot(position, velocity);
        ++tallies_.balls_left;
    }
    /// The velocity of a ball of finite mass has changed.
    void change(double now, double mass, const Vector& before, const Vector& after) {
        flow_.advance(now, gravity_);
        flow_.twice_kinetic += mass * (dot(after, after) - dot(before, before));
        flow_.momentum = flow_.momentum + mass * (after - before);
    }

    /// An impulse has been passed between two balls at a distance d, from one to the other; returns its virial.
    double pair(const Vector& d, const Vector& impulse_on_other) {
        ++counted_.ball_collisions;
        ++tallies_.collisions;
        const double virial = dot(d, impulse_on_other);  // r_ij . dp_i = (-d) . (-J)
        counted_.collisional_virial += virial;
        StressTensor& stress = counted_.collisional_stress;  // r_a dp_b
        for (int axis = 0; axis < Dim; ++axis) stress[axis] += d[axis] * impulse_on_other[axis];
        for (int axis = 1; axis < Dim; ++axis) {
            stress[2 + axis] += 0.5 * (d[0] * impulse_on_other[axis] + d[axis] * impulse_on_other[0]);
        }
        if constexpr (Dim == 3) stress[5] += 0.5 * (d[1] * impulse_on_other[2] + d[2] * impulse_on_other[1]);
        return virial;
    }
    /// Of such a pair only one is of finite mass and takes its part: to it the other one is as a wall.
    void pair_was_heavy(const Vector& light, const Vector& impulse_on_light, double virial) {
        ++counted_.heavy_collisions;
        counted_.wall_virial += dot(light, impulse_on_light) - virial;
    }
    /// Such a pair has met across a periodic face: `apart` is from one to the other as they stand in the box.
    void pair_was_across(const Vector& apart, const Vector& d, const Vector& impulse_on_other) {
        counted_.seam_virial += dot(apart - d, impulse_on_other);
    }
    /// A wall has passed an impulse to a ball at this place.
    void wall(std::uint32_t number, const Vector& normal, const Vector& position, const Vector& impulse) {
        ++counted_.wall_collisions;
        ++tallies_.collisions;
        tallies_.wall_impulse[number] += dot(normal, impulse);
        counted_.wall_virial += dot(position, impulse);
    }
    /// A ball's coordinate has changed by a period, its momentum along this axis being so.
    void jump(double period, double velocity, double inverse_mass) {
        counted_.seam_virial += period * velocity / inverse_mass;
    }
    /// A thermostat has given a ball another velocity. To the virial identity it is an impulse as any other from
    /// outside.
    void thermostat(const Vector& position, const Vector& gained, double inverse_mass, double heat) {
        tallies_.thermostat_heat += heat;
        counted_.wall_virial += dot(position, gained) / inverse_mass;
    }

    void cluster(const ClusterOutcome& outcome) {
        ++counted_.clusters;
        counted_.gave_up += outcome.gave_up ? 1 : 0;
        counted_.elastic_by_cutoff += outcome.elastic;
    }
    /// The epoch is over after `length`; \param ways  that balls have gone since their last events
    void begin_epoch(double length, double ways) {
        flow_.advance(length, gravity_);
        flow_.time = 0.0;
        counted_.path_length += ways;
        ++counted_.epochs;
    }

    void overlap(double overlap, double smaller_radius) {
        counted_.worst_overlap = std::max(counted_.worst_overlap, overlap);
        tallies_.max_overlap = std::max(tallies_.max_overlap, overlap / smaller_radius);
    }
    void work(double energy) { tallies_.work += energy; }
    void lose(double energy) { *tallies_.lost += energy; }
    void wall_heat(std::uint32_t number, double energy) { tallies_.wall_heat[number] += energy; }

    /// All sums at a time of the epoch. \param elapsed  since the start
    [[nodiscard]] EventsStatistics statistics(double now, double elapsed) const {
        EventsStatistics result = counted_;
        Flow<Dim> flow = flow_;
        flow.advance(now, gravity_);
        result.twice_kinetic_time = flow.twice_kinetic_time;
        result.gravity_virial_time = flow.gravity_virial_time;
        result.elapsed = elapsed;
        return result;
    }

private:
    Vector gravity_;
    EventsStatistics counted_;
    Tallies tallies_;
    Flow<Dim> flow_;
};

/// Tells a listener of impacts as they were passed.
class ImpactLog {
public:
    /// \param of  by id, 1 or 0 each: of no others than those of these balls; empty: of all
    void listen(std::function<void(const LoggedImpact&)> listener, std::vector<std::uint8_t> of) {
        listener_ = std::move(listener);
        of_ = std::move(of);
    }
    /// Whether it is to hear of what this ball meets.
    [[nodiscard]] bool hears(std::uint32_t id) const { return listener_ && (of_.empty() || of_[id] != 0); }

    template <int Dim>
    void pair(double time, std::uint32_t i, const ImpactBody<Dim>& one, std::uint32_t j,
              const ImpactBody<Dim>& two) const {
        if (j < i) return pair(time, j, two, i, one);
        LoggedImpact entry = of_one(time, i, one);
        entry.j = j;
        copy_motion(two, entry.velocity_j, entry.spin_j);
        listener_(entry);
    }
    template <int Dim>
    void wall(double time, std::uint32_t i, const ImpactBody<Dim>& body, std::uint32_t number) const {
        LoggedImpact entry = of_one(time, i, body);
        entry.what = LoggedImpact::What::kWall;
        entry.j = number;
        listener_(entry);
    }
    /// Of what is no contact.
    template <int Dim>
    void other(LoggedImpact::What what, double time, std::uint32_t i, const ImpactBody<Dim>& body) const {
        LoggedImpact entry = of_one(time, i, body);
        entry.what = what;
        listener_(entry);
    }

private:
    template <int Dim>
    static LoggedImpact of_one(double time, std::uint32_t i, const ImpactBody<Dim>& body) {
        LoggedImpact entry;
        entry.time = time;
        entry.i = i;
        copy_motion(body, entry.velocity_i, entry.spin_i);
        return entry;
    }
    template <int Dim>
    static void copy_motion(const ImpactBody<Dim>& body, Vector3& velocity, Vector3& spin) {
        for (int axis = 0; axis < Dim; ++axis) velocity[axis] = body.velocity[axis];
        if constexpr (Dim == 2) {
            spin[2] = body.spin[0];
        } else {
            for (int axis = 0; axis < 3; ++axis) spin[axis] = body.spin[axis];
        }
    }

    std::function<void(const LoggedImpact&)> listener_;
    std::vector<std::uint8_t> of_;
};

}  // namespace carom
