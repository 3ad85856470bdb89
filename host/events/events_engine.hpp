#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/events/events_setup.hpp"
#include "host/state/solver.hpp"

namespace carom {

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
