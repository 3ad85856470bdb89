#include "host/events/events_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "host/state/errors.hpp"
#include "kernels/core/processor_name.hpp"

namespace carom {

namespace {

/// What the virial identity may be off by in a correct run: roundings of its terms, which grow as the square root of
/// their number.
constexpr double kVirialTolerance = 1e-9;

}  // namespace

EventsSolver::EventsSolver(const EventsSetup& setup, const SolverState& state, const std::string& log)
    : setup_(setup), engine_(make_events_engine(setup, state)) {
    if (log.empty()) return;
    log_ = std::make_unique<EventsLog>(log, setup.box.dimension);
    engine_->set_log([this](const LoggedImpact& impact) { log_->write(impact); });
}

bool EventsSolver::watch_impacts(std::function<void(const LoggedImpact&)> watch) {
    if (log_ == nullptr) {
        engine_->set_log(std::move(watch));
        return true;
    }
    engine_->set_log([this, watch = std::move(watch)](const LoggedImpact& impact) {
        log_->write(impact);
        watch(impact);
    });
    return true;
}

bool EventsSolver::advance_to(double time, double seconds) {
    bool there = false;
    try {
        there = advance_for(time, seconds);
    } catch (const SimulationError&) {
        if (log_) log_->flush();  // the collisions before a fault are what explains it
        throw;
    }
    if (log_) log_->flush();
    return there;
}

bool EventsSolver::advance_for(double time, double seconds) {
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

Tallies EventsSolver::tallies() {
    Tallies tallies = engine_->tallies();
    const EventsStatistics statistics = engine_->statistics();
    tallies.collisional_virial = statistics.collisional_virial;
    tallies.collisional_stress = statistics.collisional_stress;
    return tallies;
}

SolverReport EventsSolver::report() {
    const EventsStatistics s = engine_->statistics();
    const double defect = s.virial_defect();
    SolverReport report;
    report.figures = {{"collisions", static_cast<double>(s.ball_collisions + s.wall_collisions)},
                      {"ball_collisions", static_cast<double>(s.ball_collisions)},
                      {"wall_collisions", static_cast<double>(s.wall_collisions)},
                      {"collision_rate", s.collision_rate()},
                      {"mean_free_path", s.mean_free_path()},
                      {"collisional_virial", s.collisional_virial},
                      {"virial_defect", defect},
                      {"clusters", static_cast<double>(s.clusters)},
                      {"elastic_by_tc", static_cast<double>(s.elastic_by_tc)},
                      {"elastic_by_cutoff", static_cast<double>(s.elastic_by_cutoff)},
                      {"worst_overlap", s.worst_overlap}};
    std::string line = fmt::format("collisions: {} between balls, {} with walls", s.ball_collisions, s.wall_collisions);
    if (s.ball_collisions > 0) line += fmt::format("; {:.5g} per ball and time", s.collision_rate());
    if (s.ball_collisions + s.wall_collisions > 0) line += fmt::format("; mean free path {:.5g}", s.mean_free_path());
    report.lines.push_back(line);
    if (s.clusters > 0) report.lines.push_back(fmt::format("instants with several contacts: {}", s.clusters));
    if (s.elastic_by_tc + s.elastic_by_cutoff > 0) {
        report.lines.push_back(fmt::format("made elastic by events.tc: {}, by events.cutoff_speed: {}", s.elastic_by_tc,
                                           s.elastic_by_cutoff));
    }
    if (s.gave_up > 0) {
        report.warnings.push_back(fmt::format(
            "{} clusters of contacts found no end and were finished with restitution 0; physics.simultaneous = "
            "\"newton\" always ends",
            s.gave_up));
    }
    if (!(defect <= kVirialTolerance)) {
        report.warnings.push_back(fmt::format(
            "the virial identity is off by {:.2g} of its largest term, above {:.0e}: events have been miscounted",
            defect, kVirialTolerance));
    }
    return report;
}

SolverDescription EventsSolver::describe() const {
    SolverDescription description;
    description.solver = "events";
    description.backend = "cpu";
    description.device = processor_name();
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
