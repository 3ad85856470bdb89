#include "host/run/run_loop.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "host/observables/average.hpp"
#include "host/run/memory.hpp"
#include "host/run/observe.hpp"
#include "host/run/schedule.hpp"

namespace carom {

namespace {

/// Wall time between two looks at signals [s].
constexpr double kSliceSeconds = 0.1;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

}  // namespace

class RunLoop::Impl {
public:
    Impl(Solver& solver, ObservableSet& observables, RunSink& sink, const RunPlan& plan, Progress& progress,
         RunAverages* averages)
        : solver_(solver),
          observables_(observables),
          sink_(sink),
          progress_(progress),
          averages_(averages),
          until_(plan.until),
          end_(solver.reachable_time(plan.until)),
          frames_(plan.frame_every, solver.time(), [&solver](double time) { return solver.reachable_time(time); }),
          rows_(plan.row_every, solver.time(), [&solver](double time) { return solver.reachable_time(time); }),
          checkpoints_(plan.checkpoint_every, solver.time(),
                       [&solver](double time) { return solver.reachable_time(time); }) {
        outcome_.first_time = solver_.time();
        outcome_.first_step = solver_.step();
        progress_.start(solver_.time(), end_, solver_.step());
        timed([&] {
            outcome_.first = outcome_.last = solver_.totals();
            outcome_.first_tallies = solver_.tallies();
            queue_.emplace(solver_, sink_, frames_in_flight(outcome_.first.balls, parts_of(solver_) != nullptr));
            if (averages_ != nullptr) averages_->start(solver_);
            push_row(false);
            push_frame();
        });
    }

    [[nodiscard]] double end() const { return end_; }
    [[nodiscard]] bool failed() const { return outcome_.status != ExitStatus::kDone; }
    [[nodiscard]] const RunOutcome& outcome() const { return outcome_; }

    bool advance(double time) {
        if (!failed() && solver_.time() < time) timed([&] { stoppable([&] { go(std::min(time, end_)); }); });
        return failed() || solver_.time() >= std::min(time, end_);
    }

    void flush() {
        if (outcome_.status != ExitStatus::kSystemFailure) timed([&] { queue_->drain(); });
    }

    void renew() {
        end_ = std::max(solver_.time(), solver_.reachable_time(until_));
        for (Schedule* const due : {&frames_, &rows_, &checkpoints_}) due->renew(solver_.time());
    }

    const RunOutcome& finish(int signal) {
        outcome_.signal = signal;
        if (outcome_.status != ExitStatus::kSystemFailure) {
            timed([&] {
                stoppable([&] {
                    // No row of a fault: sums over such a state say nothing.
                    if (!failed() && last_row_ != solver_.time()) push_row({});
                });
                if (last_frame_ != solver_.time()) push_frame();
                push_checkpoint();
                queue_->drain();
                outcome_.hash = queue_->last_hash();
            });
        }
        collect();
        outcome_.report = solver_.report();
        // After a system failure there may be no memory for them.
        if (averages_ != nullptr && outcome_.status != ExitStatus::kSystemFailure) {
            outcome_.means = averages_->row_means();
            outcome_.numbers = averages_->numbers();
        }
        outcome_.time = solver_.time();
        outcome_.over = outcome_.time >= end_;
        outcome_.step = solver_.step();
        progress_.clear();
        return outcome_;
    }

private:
    /// Does what may fail with the output or the device.
    template <class Action>
    void timed(const Action& action) {
        const auto begin = Clock::now();
        try {
            action();
        } catch (const std::runtime_error& error) {  // a SystemError, or what a processor says of itself
            fail(error.what());
        } catch (const std::bad_alloc&) {
            fail("out of memory");
        }
        outcome_.wall_seconds += seconds_since(begin);
    }

    /// Does what the simulation may be unable to go on with.
    template <class Action>
    void stoppable(const Action& action) {
        try {
            action();
        } catch (const SimulationError& error) {
            outcome_.status = ExitStatus::kCannotContinue;
            outcome_.error = error.what();
            outcome_.tallies = solver_.tallies();
        }
    }

    void go(double time) {
        const double target = std::min({frames_.next(), rows_.next(), checkpoints_.next(), next_sample(), time});
        if (solver_.advance_to(target, kSliceSeconds)) {
            const double now = solver_.time();
            const auto begin = Clock::now();
            // First what cannot fail: a checkpoint after a full disk then holds the sample of that time.
            if (averages_ != nullptr) averages_->take(solver_);
            if (rows_.take(now)) push_row(true);
            outcome_.observables_seconds += seconds_since(begin);
            if (frames_.take(now)) push_frame();
            if (checkpoints_.take(now) && now < end_) push_checkpoint();
        }
        progress_.update(solver_.time(), solver_.step());
    }

    [[nodiscard]] double next_sample() const {
        return averages_ == nullptr ? std::numeric_limits<double>::infinity() : averages_->next();
    }

    void push_checkpoint() {
        queue_->push_checkpoint([this](SolverState& state) {
            if (averages_ != nullptr) averages_->save(state);
        });
    }

    void push_frame() {
        if (averages_ != nullptr && !averages_->infos().empty()) queue_->push_averages(averages_->tables());
        queue_->push_frame();
        last_frame_ = solver_.time();
    }

    /// \param due  on a multiple of row_every; the first row is not, the last one need not be (then: nothing)
    void push_row(std::optional<bool> due) {
        outcome_.last = solver_.totals();
        outcome_.tallies = solver_.tallies();
        const Frame* frame = nullptr;
        if (observables_.needs_frame()) {
            solver_.request_frame(row_frame_);
            solver_.finish_frame(row_frame_);
            frame = &row_frame_;
        }
        ObservableRow row =
            observables_.evaluate(solver_.time(), solver_.step(), outcome_.last, outcome_.tallies, frame);
        if (averages_ != nullptr && due) {
            averages_->add_row(*due, observables_, row, outcome_.last, outcome_.tallies, frame);
        }
        queue_->push_row(std::move(row));
        last_row_ = solver_.time();
    }

    void fail(const char* what) {
        outcome_.status = ExitStatus::kSystemFailure;
        outcome_.error = what;
        try {
            if (queue_) queue_->drain();  // what came before the failure still goes to the file
        } catch (const std::exception&) {
            // That is the failure, or one more.
        }
        collect();
        queue_.reset();  // its thread is done with the sink
        try {
            SolverState state;
            const auto add = [this](SolverState& to) {
                if (averages_ != nullptr) averages_->save(to);
            };
            bool written = false;
            save_in_parts(solver_, state, add, [&](SolverState& part) { written = sink_.write_checkpoint(part); });
            if (written) outcome_.checkpoint_time = state.time;
        } catch (const std::exception&) {
            // The first error is the one to tell; an older checkpoint, if there is one, is still on disk.
        }
    }

    void collect() {
        if (!queue_) return;
        outcome_.frames = queue_->frames_written();
        outcome_.rows = queue_->rows_written();
        outcome_.checkpoint_time = queue_->checkpoint_time();
    }

    Solver& solver_;
    ObservableSet& observables_;
    RunSink& sink_;
    Progress& progress_;
    RunAverages* averages_;
    const double until_;
    double end_;
    Schedule frames_;
    Schedule rows_;
    Schedule checkpoints_;
    std::optional<OutputQueue> queue_;
    RunOutcome outcome_;
    Frame row_frame_;
    std::optional<double> last_frame_;  // time of the last frame
    std::optional<double> last_row_;
};

RunLoop::RunLoop(Solver& solver, ObservableSet& observables, RunSink& sink, const RunPlan& plan, Progress& progress,
                 RunAverages* averages)
    : impl_(std::make_unique<Impl>(solver, observables, sink, plan, progress, averages)) {}
RunLoop::~RunLoop() = default;
double RunLoop::end() const { return impl_->end(); }
bool RunLoop::advance(double time) { return impl_->advance(time); }
bool RunLoop::failed() const { return impl_->failed(); }
const RunOutcome& RunLoop::outcome() const { return impl_->outcome(); }
void RunLoop::flush() { impl_->flush(); }
void RunLoop::renew() { impl_->renew(); }
const RunOutcome& RunLoop::finish(int signal) { return impl_->finish(signal); }

RunOutcome run_loop(Solver& solver, ObservableSet& observables, RunSink& sink, const RunPlan& plan, Progress& progress,
                    const std::function<int()>& interrupted, RunAverages* averages) {
    RunLoop loop(solver, observables, sink, plan, progress, averages);
    int signal = 0;
    // A run that is done is done, whatever comes then.
    while (signal == 0 && !loop.advance(loop.end())) signal = interrupted();
    return loop.finish(signal);
}

namespace {

/// Keeps the last row, and lets all else go.
class LastRow final : public RunSink {
public:
    void write_frame(const Frame&) override {}
    void write_row(const ObservableRow& row) override { values = row.values; }
    bool write_checkpoint(SolverState&) override { return false; }

    std::vector<double> values;
};

/// Names of the single numbers among the averages, in the order of RunOutcome::numbers.
void append_average_infos(const std::vector<AverageInfo>& averages, std::vector<ObservableInfo>& infos) {
    for (const AverageInfo& average : averages) {
        for (const std::string& name : number_names(average)) {
            infos.push_back({.name = name, .unit = average.unit, .label = average.label, .components = {}});
            infos.push_back({.name = name + "_se", .unit = average.unit, .label = average.label, .components = {}});
        }
    }
}

}  // namespace

MemoryRun run_in_memory(PreparedScene run, const std::function<int()>& interrupted) {
    const std::unique_ptr<Solver> solver = run.plan->make_solver(run.state, "");
    ObservableSet observables = observables_of_run(run, *solver);
    RunAverages averages(run, {});
    run.state = {};  // the solver has its own
    const RunPlan plan{.until = run.scene.run.until, .row_every = run.scene.output.observables_every};
    LastRow sink;
    Progress silent(ProgressStyle::kNone, stderr, "", 1.0);
    MemoryRun result;
    result.outcome = run_loop(*solver, observables, sink, plan, silent, interrupted, &averages);
    result.infos = observables.infos();
    append_average_infos(averages.infos(), result.infos);
    if (result.outcome.status == ExitStatus::kDone) {
        result.values = std::move(sink.values);
        for (const AveragedNumber& number : result.outcome.numbers) {
            result.values.push_back(number.mean);
            result.values.push_back(number.error);
        }
    }
    return result;
}

std::vector<ObservableInfo> infos_in_memory(const PreparedScene& run) {
    const std::unique_ptr<Solver> solver = run.plan->make_solver(run.state, "");
    std::vector<ObservableInfo> infos = make_observables(run, &run.state.balls).infos();
    append_average_infos(average_infos(run), infos);
    return infos;
}

std::optional<std::size_t> find_value(const std::vector<ObservableInfo>& infos, const std::string& name) {
    std::size_t at = 0;
    for (const ObservableInfo& info : infos) {
        if (info.name == name) return at;
        for (std::size_t k = 0; k < info.components.size(); ++k) {
            if (info.name + "." + info.components[k] == name) return at + k;
        }
        at += info.width();
    }
    return std::nullopt;
}

}  // namespace carom
