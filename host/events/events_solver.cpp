#include "host/events/events_solver.hpp"

#include <algorithm>
#include <chrono>

namespace carom {

EventsSolver::EventsSolver(const EventsSetup& setup, const SolverState& state)
    : setup_(setup), engine_(make_events_engine(setup, state)) {}

bool EventsSolver::advance_to(double time, double seconds) {
    const auto start = std::chrono::steady_clock::now();
    double before = 0.0;
    while (!engine_->advance(time, slice_)) {
        const double after = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        // Slices of about a tenth of the caller's patience.
        if (after - before < 0.05 * seconds) slice_ = std::min<std::uint64_t>(slice_ * 2, 1U << 24);
        if (after - before > 0.2 * seconds) slice_ = std::max<std::uint64_t>(slice_ / 2, 64);
        if (after > seconds) return false;
        before = after;
    }
    return true;
}

SolverDescription EventsSolver::describe() const {
    SolverDescription description;
    description.solver = "events";
    description.backend = "cpu";
    description.device = "CPU";
    description.threads = 1;
    description.precision = "double";
    description.memory_bytes = engine_->memory_bytes();
    description.parameters = engine_->parameters();
    description.parameters.emplace_back("restitution", setup_.restitution);
    description.parameters.emplace_back("friction", setup_.friction);
    description.parameters.emplace_back("tc", setup_.tc);
    description.parameters.emplace_back("cutoff_speed", setup_.cutoff_speed);
    return description;
}

}  // namespace carom
