#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/events/events_engine.hpp"
#include "host/events/events_log.hpp"
#include "host/state/solver.hpp"
#include "kernels/core/half_done.hpp"

namespace carom {

/// A part of a run with a setup of its own: only gravity, temperatures, and the speeds and places of walls may differ
/// from those of other stages.
struct EventsStage {
    double until = 1.0e300;  ///< simulated time at which the next stage begins [time]
    EventsSetup setup;
    double thermostat_temperature = 0.0;  ///< [energy]
    double thermostat_every = 0.0;        ///< from one visit of the thermostat to the next [time]; 0: there is none
    double draw_probability = 0.0;        ///< that a ball is drawn anew at a visit; 0: all velocities are scaled
};

/// The event-driven solver behind the seam that all solvers share.
class EventsSolver final : public Solver, public ImpactSource {
public:
    /// \param stages  at least one
    /// \param state  the initial balls at time 0, or what save() gave
    /// \param log    CSV file of every collision (EventsLog); empty: none
    /// \throws InputError   as make_events_engine
    /// \throws SystemError  the log cannot be written
    EventsSolver(std::vector<EventsStage> stages, const SolverState& state, const std::string& log = "");
    /// Over one stage.
    EventsSolver(const EventsSetup& setup, const SolverState& state, const std::string& log = "")
        : EventsSolver(std::vector{EventsStage{.setup = setup}}, state, log) {}

    double time() const override { return engine_->time(); }
    std::uint64_t step() const override { return engine_->events(); }
    double reachable_time(double time) const override { return time; }
    bool advance_to(double time, double seconds) override;

    Totals totals() override { return engine_->totals(); }
    Tallies tallies() override;
    SolverState starting_anew() override;
    double path_length() const override { return engine_->path_so_far(); }
    void request_frame(Frame& frame) override { engine_->frame(frame); }
    void finish_frame(Frame&) override {}
    void save(SolverState& state) override;
    SolverDescription describe() const override;
    SolverReport report() override;
    void watch_impacts(std::function<void(const LoggedImpact&)> watch, std::vector<std::uint8_t> followed) override;
    void require_new_log() override {
        if (log_) log_->require_new();
    }
    void begin_log() override {
        if (log_) log_->begin();
    }
    void end_log() override {
        set_log({});
        log_.reset();
    }

    [[nodiscard]] EventsStatistics statistics() const { return engine_->statistics(); }
    /// \param of  as EventsEngine::set_log
    void set_log(std::function<void(const LoggedImpact&)> log, std::vector<std::uint8_t> of = {});

private:
    bool advance_for(double time, double seconds);
    void add_progress(SolverState& state) const;
    void change_if_due();
    [[nodiscard]] double next_change() const;
    [[nodiscard]] double next_visit() const;
    void enter(std::size_t next);
    void visit();
    [[nodiscard]] const EventsSetup& setup() const { return stages_[stage_].setup; }

    std::vector<EventsStage> stages_;
    std::size_t stage_ = 0;
    std::uint64_t visits_ =
        0;                     ///< of the thermostat: it comes at multiples of its interval, and this is the last one's
    std::uint64_t draws_ = 0;  ///< of these, over all stages, those that drew velocities: no number is used twice
    std::function<void(const LoggedImpact&)> listener_;
    std::vector<std::uint8_t> listened_to_;
    std::unique_ptr<EventsEngine> engine_;
    std::unique_ptr<EventsLog> log_;
    HalfDone half_done_;
    std::uint64_t slice_ = 1000;  ///< events between two looks at the clock
};

}  // namespace carom
