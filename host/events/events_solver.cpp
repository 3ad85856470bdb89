#include "host/events/events_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <utility>

#include "host/state/errors.hpp"
#include "host/state/multiples.hpp"
#include "kernels/core/hardware.hpp"

namespace carom {

namespace {

/// What the virial identity may be off by in a correct run: roundings of its terms, which grow as the square root of
/// their number.
constexpr double kVirialTolerance = 1e-9;

constexpr double kForever = 1.0e300;

/// How often a thermostat has come before a time: what is due then comes when time goes on. 0 where there is none.
std::uint64_t visits_before(double time, double every) {
    constexpr double kMostCounted = 1e15;  // one by one, in doubles
    if (!(every > 0.0)) return 0;
    if (time / every > kMostCounted) return static_cast<std::uint64_t>(kMostCounted);
    const Multiples multiple(every);
    double count = std::max(0.0, std::floor(time / every) - 1.0);  // a little below, since that is rounded
    while (multiple(count + 1.0) < time) ++count;
    return static_cast<std::uint64_t>(count);
}

}  // namespace

EventsSolver::EventsSolver(std::vector<EventsStage> stages, const SolverState& state, const std::string& log)
    : stages_(std::move(stages)) {
    visits_ = visits_before(state.time, stages_[0].thermostat_every);
    if (const auto& saved = state.records.events_progress) {
        stage_ = std::min(static_cast<std::size_t>(saved->stage), stages_.size() - 1);
        // A number that is far from what is due is of another thermostat, which has been changed meanwhile; or of a
        // file that somebody made up, and which would have all these visits made at once.
        const std::uint64_t due = visits_before(state.time, stages_[stage_].thermostat_every);
        const bool near = saved->visits <= due + 1 && due <= saved->visits + 1;
        visits_ = near ? saved->visits : due;
        draws_ = saved->draws;
    }
    engine_ = make_events_engine(setup(), state);
    if (log.empty()) return;
    log_ = std::make_unique<EventsLog>(log, setup().box.dimension);
    set_log([this](const LoggedImpact& impact) { log_->write(impact); });
}

void EventsSolver::set_log(std::function<void(const LoggedImpact&)> log, std::vector<std::uint8_t> of) {
    listener_ = std::move(log);
    listened_to_ = std::move(of);
    engine_->set_log(listener_, listened_to_);
}

void EventsSolver::save(SolverState& state) {
    half_done_.require_none("what the solver holds");
    engine_->save(state);
    add_progress(state);
}

SolverState EventsSolver::starting_anew() {
    half_done_.require_none("what the solver holds");
    SolverState state = carom::starting_anew(*engine_);
    add_progress(state);
    return state;
}

void EventsSolver::add_progress(SolverState& state) const {
    const EventsStage& stage = stages_[stage_];
    if (stages_.size() > 1 || stage.thermostat_every > 0.0) {
        state.records.events_progress = {.stage = stage_, .visits = visits_, .draws = draws_};
    }
}

/// Simulated time of the thermostat's next visit.
double EventsSolver::next_visit() const {
    const double every = stages_[stage_].thermostat_every;
    return every > 0.0 ? Multiples(every)(static_cast<double>(visits_ + 1)) : kForever;
}

/// Simulated time at which something is due again.
double EventsSolver::next_change() const {
    return std::min(next_visit(), stage_ + 1 < stages_.size() ? stages_[stage_].until : kForever);
}

/// What is due at the present time, before time goes on. A state that is saved is that of before, or knows of the
/// change.
void EventsSolver::change_if_due() {
    while (stage_ + 1 < stages_.size() && engine_->time() >= stages_[stage_].until) enter(stage_ + 1);
    while (engine_->time() >= next_visit()) visit();
}

void EventsSolver::enter(std::size_t next) {
    const double before = engine_->totals().gravitational;
    const SolverState state = carom::starting_anew(*engine_);
    engine_ = make_events_engine(stages_[next].setup, state);  // where it cannot be made, all stays as it was
    stage_ = next;
    engine_->set_log(listener_, listened_to_);
    engine_->add_work(engine_->totals().gravitational - before);
    visits_ = visits_before(state.time, stages_[stage_].thermostat_every);
}

void EventsSolver::visit() {
    const EventsStage& stage = stages_[stage_];
    ++visits_;
    if (stage.draw_probability > 0.0) {
        engine_->draw_anew(stage.thermostat_temperature, stage.draw_probability, ++draws_);
        return;
    }
    const Totals totals = engine_->totals();
    const double wanted =
        0.5 * stage.thermostat_temperature * setup().box.dimension * static_cast<double>(totals.mobile);
    // Energies below all numbers that have a reciprocal are no motion.
    const double factor = std::sqrt(wanted / totals.kinetic);
    if (totals.kinetic > 0.0 && std::isfinite(factor)) engine_->scale_velocities(factor);
}

void EventsSolver::watch_impacts(std::function<void(const LoggedImpact&)> watch, std::vector<std::uint8_t> followed) {
    if (log_ == nullptr) {
        set_log(std::move(watch), std::move(followed));
        return;
    }
    set_log([this, watch = std::move(watch)](const LoggedImpact& impact) {
        log_->write(impact);
        watch(impact);
    });
}

bool EventsSolver::advance_to(double time, double seconds) {
    bool there = false;
    std::exception_ptr fault;
    half_done_.change([&] {
        try {
            there = advance_for(time, seconds);
        } catch (const SimulationError&) {  // of a state that there is
            fault = std::current_exception();
        }
    });
    if (log_) log_->flush();  // also the collisions before a fault, which are what explains it
    if (fault) std::rethrow_exception(fault);
    return there;
}

bool EventsSolver::advance_for(double time, double seconds) {
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    double before = 0.0;
    while (true) {
        if (time > engine_->time()) change_if_due();
        const double target = std::min(time, next_change());
        if (engine_->advance(target, slice_)) {
            if (target == time) return true;
            if (elapsed() > seconds) return false;  // a thermostat may come more often than anyone looks
            continue;
        }
        const double after = elapsed();
        // Slices of about a tenth of the caller's patience.
        if (after - before < 0.05 * seconds) slice_ = std::min<std::uint64_t>(slice_ * 2, 1U << 24);
        if (after - before > 0.2 * seconds) slice_ = std::max<std::uint64_t>(slice_ / 2, 64);
        if (after > seconds) return false;
        before = after;
    }
}

Tallies EventsSolver::tallies() {
    Tallies tallies = engine_->tallies();
    const EventsStatistics& counted = engine_->counted();
    tallies.collisional_virial = counted.collisional_virial;
    tallies.collisional_stress = counted.collisional_stress;
    tallies.meetings = counted.meetings();
    return tallies;
}

SolverReport EventsSolver::report() {
    const EventsStatistics s = engine_->statistics();
    const double defect = s.virial_defect();
    // Of balls that leave there are fewer and fewer, for how long nobody has counted: an average does.
    const double rate = tallies().balls_left > 0 ? std::nan("") : s.collision_rate();
    SolverReport report;
    report.figures = {{"collisions", static_cast<double>(s.ball_collisions + s.wall_collisions)},
                      {"ball_collisions", static_cast<double>(s.ball_collisions)},
                      {"wall_collisions", static_cast<double>(s.wall_collisions)},
                      {"collision_rate", rate},
                      {"mean_free_path", s.mean_free_path()},
                      {"collisional_virial", s.collisional_virial},
                      {"virial_defect", defect},
                      {"clusters", static_cast<double>(s.clusters)},
                      {"elastic_by_tc", static_cast<double>(s.elastic_by_tc)},
                      {"elastic_by_cutoff", static_cast<double>(s.elastic_by_cutoff)},
                      {"worst_overlap", s.worst_overlap}};
    std::string line = fmt::format("collisions: {} between balls, {} with walls", s.ball_collisions, s.wall_collisions);
    if (s.ball_collisions > 0 && std::isfinite(rate)) line += fmt::format("; {:.5g} per ball and time", rate);
    if (s.ball_collisions + s.wall_collisions > 0) {
        line += fmt::format("; mean free path {:.5g}{}", s.mean_free_path(),
                            s.wall_collisions > 0 ? " (walls end it too)" : "");
    }
    report.lines.push_back(line);
    if (s.clusters > 0) report.lines.push_back(fmt::format("instants with several contacts: {}", s.clusters));
    if (s.elastic_by_tc + s.elastic_by_cutoff > 0) {
        report.lines.push_back(fmt::format("made elastic by events.tc: {}, by events.cutoff_speed: {}", s.elastic_by_tc,
                                           s.elastic_by_cutoff));
    }
    if (s.gave_up > 0) {
        // Which takes no friction, and so is no advice where there is some.
        const bool advice =
            setup().friction == 0.0 && setup().wall_friction == 0.0 && setup().simultaneous != SimultaneousLaw::kNewton;
        report.warnings.push_back(
            fmt::format("{} clusters of contacts found no end and were finished with restitution 0{}", s.gave_up,
                        advice ? "; by physics.simultaneous = \"newton\" nearly all end" : ""));
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
    description.parameters.emplace_back("restitution", setup().restitution);
    description.parameters.emplace_back("friction", setup().friction);
    description.parameters.emplace_back("tc", setup().tc);
    description.parameters.emplace_back("cutoff_speed", setup().cutoff_speed);
    return description;
}

}  // namespace carom
