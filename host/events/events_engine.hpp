#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/events/clusters.hpp"
#include "host/state/box.hpp"
#include "host/state/solver.hpp"
#include "host/state/solver_records.hpp"
#include "kernels/physics/wall.hpp"

namespace carom {

/// What an event-driven run needs to know, in plain numbers.
struct EventsSetup {
    Box box;
    std::vector<Wall> walls;

    std::uint64_t seed = 0;   ///< of thermal walls and thermostat
    double walls_time = 0.0;  ///< simulated time at which moving walls stand at their offset [time]

    Vector3 gravity{};  ///< [length/time^2]
    double restitution = 1.0;
    double friction = 0.0;
    double wall_restitution = 1.0;
    double wall_friction = 0.0;
    SimultaneousLaw simultaneous = SimultaneousLaw::kReflect;
    double tc = 0.0;            ///< a ball that collides again within tc does so elastically [time]; 0: off
    double cutoff_speed = 0.0;  ///< approaches slower than this are elastic [velocity]; 0: off

    double epoch = 0.0;  ///< length of an epoch [time], a power of two; 0: chosen. For tests.
    double cell = 0.0;   ///< least edge of a cell [largest diameters]; 0: chosen. Changes bits, never physics.
    double shell = 0.0;  ///< reach of neighbour lists [diameters], up to 2; 0: chosen; at most 1: cells. As `cell`.
};

/// What an event-driven run has counted since its start, beside the solver's Tallies.
struct EventsStatistics : EventsCounts {
    double twice_kinetic_time = 0.0;   ///< integral of 2 K dt, translation
    double gravity_virial_time = 0.0;  ///< integral of sum r_i . F_i dt
    double virial_now = 0.0;           ///< sum r_i . p_i now, as virial_start
    double virial_size = 0.0;          ///< sum |r_i| |p_i| now
    double elapsed = 0.0;              ///< simulated time that all these cover
    std::uint64_t mobile = 0;          ///< balls of finite mass still in

    /// How often a ball of finite mass has met another ball, counted for each of the two.
    [[nodiscard]] std::uint64_t meetings() const { return 2 * ball_collisions - heavy_collisions; }
    /// What the identity d(sum r . p) = 2 K dt + sum r . dp + sum r . F dt is off by, as a fraction of its largest
    /// term, or of 10^-4 of virial_size where that is larger.
    [[nodiscard]] double virial_defect() const;
    /// Mean path of the balls of finite mass between two collisions, with balls or walls [length]; 0 before any.
    [[nodiscard]] double mean_free_path() const;
    /// Collisions of a ball of finite mass with other balls per time, where none has left.
    [[nodiscard]] double collision_rate() const;
};

/// An event-driven engine for one dimension and one kind of flight; chosen by make_events_engine.
class EventsEngine {
public:
    virtual ~EventsEngine() = default;

    /// Simulated time since the start of the run.
    [[nodiscard]] virtual double time() const = 0;
    [[nodiscard]] virtual std::uint64_t events() const = 0;
    /// Goes on to `time`, or through at most `most_events` events; returns whether it got there.
    /// \throws SimulationError  where time cannot go on: inelastic collapse, or a body of infinite mass at a wall
    virtual bool advance(double time, std::uint64_t most_events) = 0;

    /// All balls at time(), from copies: nothing here moves a ball.
    virtual void frame(Frame& frame) const = 0;
    [[nodiscard]] virtual Totals totals() const = 0;
    [[nodiscard]] virtual Tallies tallies() const = 0;
    [[nodiscard]] virtual EventsStatistics statistics() const = 0;
    /// Of these, what impacts alone change, up to now; the rest is that of some time before. At no cost.
    [[nodiscard]] virtual const EventsStatistics& counted() const = 0;
    /// EventsStatistics::path_length.
    [[nodiscard]] virtual double path_so_far() const = 0;
    virtual void save(SolverState& state) const = 0;

    /// Draws velocities anew from Maxwell's distribution, now, for each ball of finite mass with this probability.
    /// \param number  of this visit: it decides on the random numbers
    virtual void draw_anew(double temperature, double probability, std::uint64_t number) = 0;
    /// Multiplies all velocities of balls of finite mass by a factor, now. Both count the energy as a thermostat's
    /// heat.
    virtual void scale_velocities(double factor) = 0;
    virtual void add_work(double work) = 0;

    /// From now on `log` hears of every contact that passes an impulse.
    /// \param of  by id, 1 or 0 each: of no others than those of these balls; empty: of all
    virtual void set_log(std::function<void(const LoggedImpact&)> log, std::vector<std::uint8_t> of) = 0;
    void set_log(std::function<void(const LoggedImpact&)> log) { set_log(std::move(log), {}); }
    [[nodiscard]] virtual std::size_t memory_bytes() const = 0;
    /// Choices that belong to the run's bits, by name.
    [[nodiscard]] virtual std::vector<std::pair<std::string, double>> parameters() const = 0;
};

/// \param state  the initial balls at time 0; what EventsEngine::save gave; or what starting_anew made of that
/// \throws InputError  where balls overlap at the start, or friction comes with a law that has none
std::unique_ptr<EventsEngine> make_events_engine(const EventsSetup& setup, const SolverState& state);

/// The engine's state as balls to start from, for an engine of another setup, with all that has been counted.
SolverState starting_anew(const EventsEngine& engine);

/// What EventsEngine::memory_bytes will be [bytes], to within a tenth for 10,000 balls and more.
std::uint64_t predict_events_memory(const EventsSetup& setup, const Balls& balls);

}  // namespace carom
