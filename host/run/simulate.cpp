#include "host/run/simulate.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "host/io/trajectory_header.hpp"
#include "host/io/trajectory_writer.hpp"
#include "host/run/averages.hpp"
#include "host/run/memory.hpp"
#include "host/run/observe.hpp"
#include "host/run/say.hpp"
#include "host/run/signals.hpp"
#include "host/run/summary.hpp"
#include "host/run/text.hpp"
#include "host/run/trajectory_sink.hpp"
#include "host/state/errors.hpp"

namespace carom {

Simulation simulate(PreparedScene run, const SimulateOptions& options) {
    if (run.host_memory_bytes > machine_memory_bytes()) {
        throw SystemError(fmt::format("{} need about {} of memory, and this machine has {}",
                                      plural(run.state.balls.size(), "ball"), bytes_text(run.host_memory_bytes),
                                      bytes_text(machine_memory_bytes())));
    }
    const std::unique_ptr<Solver> solver = run.plan->make_solver(run.state, options.events_log);
    ObservableSet observables = observables_of_run(run, *solver);
    const SolverDescription description = solver->describe();
    TrajectoryHeader header = make_trajectory_header(run.scene, run.state.balls, description, observables.infos());
    Averages averages(run, observables.infos());
    header.averages = averages.infos();
    header.expected_frames = run.frames;
    header.expected_rows = run.rows;
    const SignalGuard signals;  // before there is a file that a signal could leave half made
    TrajectoryWriter writer(options.files.trajectory, header, options.force);
    TrajectorySink sink(writer, options.files.checkpoint, header, *run.plan);
    header = {};          // gigabytes for many balls
    solver->begin_log();  // nothing can fail any more that leaves an older one as it was

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
        *solver, observables, sink, plan, progress, [&signals] { return signals.caught(); }, &averages);
    simulation.json = summary_json(simulation.outcome, run.scene, balls, work, solver->describe(), options.files);
    try {
        writer.close(simulation.json);
    } catch (const SystemError& error) {
        // A failure while writing has been told already; closing such a file fails once more.
        if (simulation.outcome.status != ExitStatus::kSystemFailure) {
            simulation.outcome.status = ExitStatus::kSystemFailure;
            simulation.outcome.error = error.what();
        }
    }
    if (!options.quiet) {
        const RunOutcome& outcome = simulation.outcome;
        const bool asked = options.theory && !outcome.numbers.empty() && outcome.status != ExitStatus::kSystemFailure;
        const NumberTheory theory = asked ? options.theory(options.files.trajectory) : NumberTheory{};
        say("{}", end_summary(outcome, run.scene, work, options.files, theory));
    }
    return simulation;
}

}  // namespace carom
