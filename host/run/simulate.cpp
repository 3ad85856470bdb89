#include "host/run/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "host/io/trajectory_header.hpp"
#include "host/io/trajectory_writer.hpp"
#include "host/observables/average.hpp"
#include "host/run/equilibrium.hpp"
#include "host/run/memory.hpp"
#include "host/run/observe.hpp"
#include "host/run/output_queue.hpp"
#include "host/run/row_notes.hpp"
#include "host/run/run_loop.hpp"
#include "host/run/say.hpp"
#include "host/run/signals.hpp"
#include "host/run/summary.hpp"
#include "host/state/errors.hpp"
#include "host/theory/theory_checks.hpp"

namespace carom {

namespace {

/// The output of a run that theory is told of beside its numbers: what theory wants of rows stays in memory, in
/// RowNotes.
class WatchedSink final : public RunSink {
public:
    /// \param run    gets a time and a temperature a row, and whether balls have left
    /// \param watch  looks at frames
    WatchedSink(RunSink& sink, const std::vector<ObservableInfo>& infos, std::size_t balls, MeasuredRun& run,
                EquilibriumWatch& watch)
        : sink_(sink),
          watch_(watch),
          temperature_(find_value(infos, "temperature")),
          balls_left_(find_value(infos, "balls")),
          balls_(static_cast<double>(balls)),
          run_(run),
          notes_(run.time, temperature_ ? &run.temperature : nullptr) {}

    void write_frame(const Frame& frame) override {
        watch_.look(frame);
        sink_.write_frame(frame);
    }
    void write_row(const ObservableRow& row) override {
        sink_.write_row(row);
        notes_.add(row.time, temperature_ ? row.values[*temperature_] : 0.0);
        if (balls_left_) run_.left = row.values[*balls_left_] < balls_;
    }
    void write_averages(const std::vector<AverageTable>& tables) override { sink_.write_averages(tables); }
    void write_checkpoint(SolverState& state) override {
        watch_.save(state);  // here, where all frames before have been looked at
        sink_.write_checkpoint(state);
    }

private:
    RunSink& sink_;
    EquilibriumWatch& watch_;
    std::optional<std::size_t> temperature_;  // its place in a row
    std::optional<std::size_t> balls_left_;
    double balls_;
    MeasuredRun& run_;
    RowNotes notes_;
};

/// All but what its rows say.
MeasuredRun measured_run(const PreparedScene& run, const SolverDescription& solver) {
    MeasuredRun measured{.scene = run.scene, .species = run.state.balls.species_table, .solver = solver};
    measured.counts.assign(measured.species.size(), 0.0);
    for (const std::uint32_t index : run.state.balls.species) measured.counts[index] += 1.0;
    return measured;
}

/// Theory beside what of a run is single numbers.
std::vector<TheoryCheck> theory_of_numbers(MeasuredRun& run, const RowMeans& means, RunAverages& averages) {
    for (const RowMean& mean : means.means) {
        run.means.push_back({mean.name, mean.mean, mean.error, mean.correlation_time, mean.steadiness});
    }
    run.means_since = means.since;
    run.judge_equilibrium(means.equilibrated);
    std::vector<RunAverage> numbers;
    const std::vector<AverageTable> tables = averages.tables();
    for (std::size_t k = 0; k < tables.size(); ++k) {
        // A density is a curve, of whose value at a wall there is a number.
        const AverageInfo& info = averages.infos()[k];
        if (!number_names(info).empty() || info.kind == "density") numbers.push_back({info, tables[k]});
    }
    std::vector<TheoryCheck> checks = theory_checks(run, numbers);
    std::erase_if(checks, [](const TheoryCheck& check) { return check.points > 0; });
    return checks;
}

}  // namespace

std::optional<double> estimate_seconds(const PreparedScene& run) {
    constexpr double kWarmUp = 0.1;
    constexpr double kMeasured = 0.25;
    if (run.host_memory_bytes > machine_memory_bytes()) return std::nullopt;
    using Clock = std::chrono::steady_clock;
    const auto timed = [](const auto& action) {
        const auto begin = Clock::now();
        action();
        return std::chrono::duration<double>(Clock::now() - begin).count();
    };
    try {
        const std::unique_ptr<Solver> solver = run.plan->make_solver(run.state, "");
        const double end = solver->reachable_time(run.scene.run.until);
        double seconds = timed([&] { solver->advance_to(end, kWarmUp); });
        const double begin = solver->time();
        if (begin < end) {
            const double measured = timed([&] { solver->advance_to(end, kMeasured); });
            seconds = measured * (end - run.state.time) / (solver->time() - begin);
        }
        Frame frame;
        seconds += static_cast<double>(run.rows) * timed([&] { static_cast<void>(solver->totals()); });
        seconds += static_cast<double>(run.frames) * timed([&] {
                       solver->request_frame(frame);
                       solver->finish_frame(frame);
                   });
        return seconds;
    } catch (const SimulationError&) {
        return std::nullopt;
    } catch (const SystemError&) {
        return std::nullopt;
    } catch (const std::bad_alloc&) {
        return std::nullopt;
    }
}

Simulation simulate(PreparedScene run, const SimulateOptions& options) {
    if (run.host_memory_bytes > machine_memory_bytes()) {
        throw SystemError(fmt::format("{} need about {} of memory, and this machine has {}",
                                      plural(run.state.balls.size(), "ball"), bytes_text(run.host_memory_bytes),
                                      bytes_text(machine_memory_bytes())));
    }
    const std::unique_ptr<Solver> solver =
        of_checkpoint(run.resumed_from, [&] { return run.plan->make_solver(run.state, options.events_log); });
    ObservableSet observables = observables_of_run(run, *solver);
    const SolverDescription description = solver->describe();
    TrajectoryHeader header = make_trajectory_header(run.scene, run.state.balls, description, observables.infos());
    RunAverages averages = of_checkpoint(run.resumed_from, [&] { return RunAverages(run, observables.infos()); });
    header.averages = averages.infos();
    header.expected_frames = run.frames;
    header.expected_rows = run.rows;
    const SignalGuard signals;  // before there is a file that a signal could leave half made
    TrajectoryWriter writer(options.files.trajectory, header, options.force);
    TrajectorySink sink(writer, options.files.checkpoint, header, *run.plan);
    MeasuredRun measured = measured_run(run, description);
    EquilibriumWatch watch(run);
    of_checkpoint(run.resumed_from, [&] {
        try {
            if (!run.resumed_from.empty()) watch.restore(run.state);
        } catch (const std::invalid_argument& error) {
            throw DamagedState(fmt::format("its looks at equilibrium are not those of its scene: {}", error.what()));
        }
    });
    WatchedSink watched(sink, observables.infos(), run.state.balls.size(), measured, watch);
    header = {};  // gigabytes for many balls
    // Nothing can fail any more that leaves an older log as it was.
    if (auto* const impacts = dynamic_cast<ImpactSource*>(solver.get())) impacts->begin_log();

    if (!options.quiet) say("{}", start_summary(run, description, options.files));
    const std::size_t balls = run.state.balls.size();
    run.state = {};  // the solver has its own

    const RunPlan plan{.until = run.scene.run.until,
                       .frame_every = run.scene.output.every,
                       .row_every = run.scene.output.observables_every,
                       .checkpoint_every = options.checkpoint_every};
    const WorkUnit work = run.plan->work();
    Progress progress(progress_style(options.quiet, stderr), stderr, work.name, work.per_step);
    Simulation simulation;
    simulation.outcome = run_loop(
        *solver, observables, watched, plan, progress, [&signals] { return signals.caught(); }, &averages);
    RunOutcome& outcome = simulation.outcome;
    if (!outcome.means.means.empty()) outcome.means = watch.means(averages);
    std::vector<TheoryCheck> theory;
    measured.energy_defect = energy_balance(outcome).defect;
    measured.events = static_cast<double>(outcome.step - outcome.first_step);
    if (outcome.status != ExitStatus::kSystemFailure) theory = theory_of_numbers(measured, outcome.means, averages);
    simulation.json = summary_json(outcome, run.scene, balls, work, solver->describe(), options.files, theory);
    try {
        writer.close(simulation.json);
    } catch (const SystemError& error) {
        // A failure while writing has been told already; closing such a file fails once more.
        if (outcome.status != ExitStatus::kSystemFailure) {
            outcome.status = ExitStatus::kSystemFailure;
            outcome.error = error.what();
        }
    }
    if (!options.quiet) say("{}", end_summary(outcome, run.scene, work, options.files, theory));
    return simulation;
}

}  // namespace carom
