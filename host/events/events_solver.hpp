#pragma once

#include <functional>
#include <memory>
#include <string>

#include "host/events/events_engine.hpp"
#include "host/events/events_log.hpp"
#include "host/state/solver.hpp"

namespace carom {

/// The event-driven solver behind the seam that all solvers share.
class EventsSolver final : public Solver {
public:
    /// \param state  the initial balls at time 0, or what save() gave
    /// \param log    CSV file of every collision (EventsLog); empty: none
    /// \throws InputError   as make_events_engine
    /// \throws SystemError  the log cannot be written
    EventsSolver(const EventsSetup& setup, const SolverState& state, const std::string& log = "");

    double time() const override { return engine_->time(); }
    std::uint64_t step() const override { return engine_->events(); }
    double reachable_time(double time) const override { return time; }
    bool advance_to(double time, double seconds) override;

    Totals totals() override { return engine_->totals(); }
    Tallies tallies() override;
    void request_frame(Frame& frame) override { engine_->frame(frame); }
    void finish_frame(Frame&) override {}
    void save(SolverState& state) override { engine_->save(state); }
    SolverDescription describe() const override;
    SolverReport report() override;
    bool watch_impacts(std::function<void(const LoggedImpact&)> watch) override;

    [[nodiscard]] EventsStatistics statistics() const { return engine_->statistics(); }
    void set_log(std::function<void(const LoggedImpact&)> log) { engine_->set_log(std::move(log)); }

private:
    bool advance_for(double time, double seconds);

    EventsSetup setup_;
    std::unique_ptr<EventsEngine> engine_;
    std::unique_ptr<EventsLog> log_;
    std::uint64_t slice_ = 1000;  ///< events between two looks at the clock
};

}  // namespace carom
