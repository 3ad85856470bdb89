#include "host/run/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "host/io/checkpoint.hpp"
#include "host/io/replacement.hpp"
#include "host/io/trajectory_header.hpp"
#include "host/io/trajectory_writer.hpp"
#include "host/observables/average.hpp"
#include "host/run/equilibrium.hpp"
#include "host/run/memory.hpp"
#include "host/run/observe.hpp"
#include "host/run/output_files.hpp"
#include "host/run/output_queue.hpp"
#include "host/run/row_notes.hpp"
#include "host/run/run_loop.hpp"
#include "host/run/say.hpp"
#include "host/run/summary.hpp"
#include "host/state/errors.hpp"
#include "host/theory/theory_checks.hpp"

namespace carom {

/// The output of a run that theory is told of beside its numbers: what theory wants of rows stays in memory, in
/// RowNotes. In no unnamed namespace, for SimulationRun::Impl has one.
class WatchedSink final : public RunSink {
public:
    /// \param run    gets a time, a temperature and an energy a row, and whether balls have left
    /// \param watch  looks at frames
    /// \param sink   null: nothing is written
    /// \param also   as in SimulateOptions
    WatchedSink(RunSink* sink, RunSink* also, const std::vector<ObservableInfo>& infos, std::size_t balls,
                MeasuredRun& run, EquilibriumWatch& watch)
        : sinks_{sink, also},
          watch_(watch),
          temperature_(find_value(infos, "temperature").value()),
          energies_{find_value(infos, "translational_energy").value(), find_value(infos, "spring_energy").value()},
          balls_left_(find_value(infos, "balls")),
          balls_(static_cast<double>(balls)),
          run_(run),
          notes_({&run.time, &run.temperature, &run.energy}) {}

    void write_frame(const Frame& frame) override {
        watch_.look(frame);
        each([&](RunSink& sink) { sink.write_frame(frame); });
    }
    void write_row(const ObservableRow& row) override {
        each([&](RunSink& sink) { sink.write_row(row); });
        notes_.add({row.time, row.values[temperature_], row.values[energies_[0]] + row.values[energies_[1]]});
        if (balls_left_) run_.left = row.values[*balls_left_] < balls_;
    }
    void write_averages(const std::vector<AverageTable>& tables) override {
        each([&](RunSink& sink) { sink.write_averages(tables); });
    }
    bool write_checkpoint(SolverState& state) override {
        if (!saves_) return false;
        if (state.balls.first == 0) {
            state.records.changed = run_.changed;
            watch_.save(state);  // here, where all frames before have been looked at
        }
        bool written = false;
        each([&](RunSink& sink) { written = sink.write_checkpoint(state) || written; });
        return written;
    }

    /// No more checkpoints. While nothing is being written.
    void stop_saving() { saves_ = false; }

private:
    template <class Action>
    void each(const Action& action) {
        for (RunSink* const sink : sinks_) {
            if (sink != nullptr) action(*sink);
        }
    }

    std::array<RunSink*, 2> sinks_;
    EquilibriumWatch& watch_;
    std::size_t temperature_;  // its place in a row
    std::array<std::size_t, 2> energies_;
    std::optional<std::size_t> balls_left_;
    double balls_;
    MeasuredRun& run_;
    RowNotes notes_;
    bool saves_ = true;
};

namespace {

/// All but what its rows say.
MeasuredRun measured_run(const PreparedScene& run, const SolverDescription& solver) {
    MeasuredRun measured{.scene = run.scene, .species = run.state.balls.species_table, .solver = solver};
    measured.changed = run.state.records.changed;
    measured.counts.assign(measured.species.size(), 0.0);
    run.species->for_each_stretch(
        [&](std::uint32_t row, std::size_t count) { measured.counts[row] += static_cast<double>(count); });
    if (run.state.parts == nullptr) measured.look_at_start(run.state.balls, run.state.balls.species);
    return measured;
}

/// Theory beside what of a run is single numbers.
std::vector<TheoryCheck> theory_of_numbers(MeasuredRun& run, const RowMeans& means, RunAverages& averages) {
    for (const RowMean& mean : means.means) {
        run.means.push_back(
            {mean.name, mean.mean, mean.error, mean.correlation_time, mean.steadiness, mean.error_at_temperature});
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
    if (run.state.parts != nullptr || run.host_memory_bytes > machine_memory_bytes()) return std::nullopt;
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
        // So short that another program which takes the processor meanwhile would be most of it.
        const auto least = [&](const auto& action) { return std::min({timed(action), timed(action), timed(action)}); };
        seconds += static_cast<double>(run.rows) * least([&] { static_cast<void>(solver->totals()); });
        seconds += static_cast<double>(run.frames) * least([&] {
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

class SimulationRun::Impl {
public:
    Impl(PreparedScene run, const SimulateOptions& options)
        : run_(std::move(run)),
          options_(options),
          solver_(make_solver()),
          observables_(all_observables()),
          description_(solver_->describe()),
          header_(make_trajectory_header(run_.scene, run_.state.balls.species_table, *run_.species, description_,
                                         observables_.infos())),
          averages_(of_checkpoint(run_.resumed_from, [&] { return RunAverages(run_, observables_.infos()); })),
          measured_(measured_run(run_, description_)),
          watch_(run_),
          progress_(progress_style(options.quiet, stderr), stderr, run_.plan->work().name, run_.plan->work().per_step) {
        auto* const impacts = dynamic_cast<ImpactSource*>(&solver_->itself());
        if (impacts != nullptr && !options.force) impacts->require_new_log();
        if (const std::string& other = averages_.other_rows(); !other.empty()) {
            if (options.same_observables) throw InputError(fmt::format("{}: {}", run_.resumed_from, other));
            run_.warnings.push_back(other + "; means of rows begin anew");
        }
        header_.averages = averages_.infos();
        header_.changeable = options.changeable;
        header_.expected_frames = run_.frames;
        header_.expected_rows = run_.rows;
        of_checkpoint(run_.resumed_from, [&] {
            try {
                if (!run_.resumed_from.empty()) watch_.restore(run_.state);
            } catch (const std::invalid_argument& error) {
                throw DamagedState(
                    fmt::format("its looks at equilibrium are not those of its scene: {}", error.what()));
            }
        });
    }

    RunLoop& begin() {
        const OutputFiles& files = options_.files;
        if (!files.trajectory.empty()) {
            // Its own checkpoint it has read before.
            const bool replace =
                options_.force || (!run_.resumed_from.empty() && same_file(files.checkpoint, run_.resumed_from));
            require_replaceable(files.checkpoint, replace);
            writer_ = std::make_unique<TrajectoryWriter>(files.trajectory, header_, options_.force);
            sink_ =
                std::make_unique<TrajectorySink>(*writer_, files.checkpoint, replace, header_, *run_.plan, run_.scene);
        }
        balls_ = run_.state.ball_count();
        watched_ =
            std::make_unique<WatchedSink>(sink_.get(), options_.also, observables_.infos(), balls_, measured_, watch_);
        header_ = {};  // gigabytes for many balls
        // Nothing can fail any more that leaves an older log as it was.
        if (auto* const impacts = dynamic_cast<ImpactSource*>(&solver_->itself())) impacts->begin_log();

        if (!options_.quiet) say("{}", start_summary(run_, description_, files));
        run_.state = {};  // the solver has its own
        const RunPlan plan{.until = run_.scene.run.until,
                           .frame_every = run_.scene.output.every,
                           .row_every = run_.scene.output.observables_every,
                           .checkpoint_every = options_.checkpoint_every};
        loop_ = std::make_unique<RunLoop>(*solver_, observables_, *watched_, plan, progress_, &averages_);
        return *loop_;
    }

    Simulation finish(int signal) {
        const WorkUnit work = run_.plan->work();
        Simulation simulation;
        simulation.outcome = loop_->finish(signal);
        RunOutcome& outcome = simulation.outcome;
        if (!outcome.means.means.empty()) outcome.means = watch_.means(averages_);
        std::vector<TheoryCheck> theory;
        measured_.energy_defect = energy_balance(outcome).defect;
        measured_.events = static_cast<double>(outcome.step - outcome.first_step);
        if (outcome.status != ExitStatus::kSystemFailure) {
            theory = theory_of_numbers(measured_, outcome.means, averages_);
            std::ranges::move(spreading_warnings(measured_, averages_.infos()),
                              std::back_inserter(outcome.report.warnings));
        }
        const OutputFiles& files = options_.files;
        if (!writer_ || (changing_ != nullptr && !changing_->can_be_saved())) outcome.checkpoint_time = {};
        const SolverDescription solver = solver_->describe();
        const auto summarize = [&] {
            if (writer_ && outcome.status == ExitStatus::kSystemFailure) {
                // What has been handed to the writer waits for the next frame.
                outcome.frames = writer_->frames();
                outcome.rows = writer_->rows();
            }
            simulation.json = summary_json(outcome, scene(), balls_, work, solver, files, theory);
        };
        summarize();
        try {
            if (writer_) writer_->close(simulation.json);
        } catch (const SystemError& error) {
            // A failure while writing has been told already; closing such a file fails once more.
            if (outcome.status != ExitStatus::kSystemFailure) {
                outcome.status = ExitStatus::kSystemFailure;
                outcome.error = error.what();
                summarize();
            }
        }
        sink_.reset();  // the files are anyone's from now on
        writer_.reset();
        if (auto* const impacts = dynamic_cast<ImpactSource*>(&solver_->itself())) impacts->end_log();
        if (!options_.quiet) say("{}", end_summary(outcome, run_.scene, work, files, theory));
        return simulation;
    }

    void flush() {
        loop_->flush();
        if (writer_) writer_->flush();
    }

    void change(const std::function<std::vector<std::string>(ChangingSolver&)>& change) {
        if (!options_.events_log.empty()) {
            throw InputError("a run that logs its collisions cannot be changed, for the log would end there");
        }
        loop_->flush();
        std::vector<std::string> said;
        averages_.change(*solver_, [&]() -> const Scene& {
            said = change(*changing_);
            return changing_->scene();
        });
        measured_.changed = true;
        loop_->renew();
        if (!changing_->can_be_saved()) watched_->stop_saving();
        for (const std::string& what : said) {
            if (writer_) writer_->append_change({solver_->time(), solver_->step(), what});
        }
    }

    void save(const std::string& path) {
        if (changing_ != nullptr && !changing_->can_be_saved()) {
            throw InputError("a run whose keys have been changed cannot be saved");
        }
        require_no_input({{path}}, loaded_files(run_.scene));
        if (run_.resumed_from.empty()) require_no_input({{path}}, {{run_.scene.path}});
        loop_->flush();  // what looks at frames on their way is no one else's then
        Checkpoint checkpoint{
            .scene_path = run_.scene.path, .scene_source = run_.scene.source, .description = description_};
        solver_->save(checkpoint.state);
        averages_.save(checkpoint.state);
        watch_.save(checkpoint.state);
        checkpoint.state.records.changed = measured_.changed;
        run_.plan->store(checkpoint.state);  // which is the solver's, as long as it can be saved
        if (is_dead_end(checkpoint.state, run_.scene)) {
            throw SimulationError(fmt::format(
                "{}: is not written: balls are so deep in each other that no run goes on from there", path));
        }
        save_checkpoint(path, checkpoint);
    }

    [[nodiscard]] const Scene& scene() const { return changing_ != nullptr ? changing_->scene() : run_.scene; }
    [[nodiscard]] double time_of_step(std::uint64_t step) const {
        return changing_ != nullptr ? changing_->time_of_step(step) : run_.plan->time_of_step(step);
    }
    [[nodiscard]] TrajectoryHeader header(const Balls& balls) {
        TrajectoryHeader header = make_trajectory_header(scene(), balls.species_table, balls.species,
                                                         solver_->describe(), observables_.infos());
        header.averages = averages_.infos();
        header.changeable = options_.changeable;
        return header;
    }
    [[nodiscard]] Solver& solver() { return *solver_; }
    [[nodiscard]] const ObservableSet& observables() const { return observables_; }
    [[nodiscard]] RunAverages& averages() { return averages_; }

private:
    ObservableSet all_observables() {
        ObservableSet observables = observables_of_run(run_, *solver_);
        for (const auto& one : options_.observables) {
            const std::string name = one->info().name;
            const std::vector<ObserveEntry>& observed = run_.scene.observables;
            bool taken = std::ranges::find(observed, name, &ObserveEntry::name) != observed.end();  // by averages, too
            try {
                if (!taken) observables.add(one);
            } catch (const std::invalid_argument&) {
                taken = true;
            }
            if (taken) throw InputError(fmt::format("the run has {} already: another name is needed", name));
        }
        return observables;
    }

    std::unique_ptr<Solver> make_solver() {
        // What one process would need of many ranks' balls says nothing of this one.
        if (run_.state.parts == nullptr && run_.host_memory_bytes > machine_memory_bytes()) {
            throw SystemError(fmt::format("{} need about {} of memory, and this machine has {}",
                                          plural(run_.state.ball_count(), "ball"), bytes_text(run_.host_memory_bytes),
                                          bytes_text(machine_memory_bytes())));
        }
        return of_checkpoint(run_.resumed_from, [&]() -> std::unique_ptr<Solver> {
            if (!options_.changeable) return run_.plan->make_solver(run_.state, options_.events_log);
            auto solver =
                std::make_unique<ChangingSolver>(run_.scene, run_.plan, run_.state, run_.threads, options_.events_log);
            changing_ = solver.get();
            return solver;
        });
    }

    PreparedScene run_;
    SimulateOptions options_;
    ChangingSolver* changing_ = nullptr;  // is solver_, where the run may be changed
    std::unique_ptr<Solver> solver_;
    ObservableSet observables_;
    SolverDescription description_;
    TrajectoryHeader header_;
    RunAverages averages_;
    MeasuredRun measured_;
    EquilibriumWatch watch_;
    Progress progress_;
    std::size_t balls_ = 0;
    std::unique_ptr<TrajectoryWriter> writer_;
    std::unique_ptr<TrajectorySink> sink_;
    std::unique_ptr<WatchedSink> watched_;
    std::unique_ptr<RunLoop> loop_;  // last: its thread writes to all that
};

SimulationRun::SimulationRun(PreparedScene run, const SimulateOptions& options)
    : impl_(std::make_unique<Impl>(std::move(run), options)) {}
SimulationRun::~SimulationRun() = default;
RunLoop& SimulationRun::begin() { return impl_->begin(); }
Simulation SimulationRun::finish(int signal) { return impl_->finish(signal); }
void SimulationRun::flush() { impl_->flush(); }
const Scene& SimulationRun::scene() const { return impl_->scene(); }
double SimulationRun::time_of_step(std::uint64_t step) const { return impl_->time_of_step(step); }
void SimulationRun::change(const std::function<std::vector<std::string>(ChangingSolver&)>& change) {
    impl_->change(change);
}
Solver& SimulationRun::solver() { return impl_->solver(); }
const std::vector<ObservableInfo>& SimulationRun::infos() const { return impl_->observables().infos(); }
RunAverages& SimulationRun::averages() { return impl_->averages(); }
TrajectoryHeader SimulationRun::header(const Balls& balls) { return impl_->header(balls); }
void SimulationRun::save(const std::string& path) { impl_->save(path); }

Simulation simulate(PreparedScene run, const SimulateOptions& options) {
    SimulationRun simulation(std::move(run), options);
    auto signals = std::make_unique<const SignalGuard>();  // before there is a file that a signal could leave half made
    RunLoop& loop = simulation.begin();
    int signal = 0;
    while (signal == 0 && !loop.advance(loop.end())) signal = signals->caught();
    Simulation done = simulation.finish(signal);
    done.signals = std::move(signals);
    return done;
}

}  // namespace carom
