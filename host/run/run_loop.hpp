#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/observables/observable.hpp"
#include "host/run/observe.hpp"
#include "host/run/output_queue.hpp"
#include "host/run/prepare.hpp"
#include "host/run/progress.hpp"
#include "host/state/errors.hpp"
#include "host/state/solver.hpp"

namespace carom {

/// When a run does what; all in simulated time.
struct RunPlan {
    double until = 0.0;
    double frame_every = 0.0;       ///< 0: only the first and the last
    double row_every = 0.0;         ///< 0: only the first and the last
    double checkpoint_every = 0.0;  ///< 0: only at the end
};

/// How a run ended, and what it came to.
struct RunOutcome {
    ExitStatus status = ExitStatus::kDone;
    int signal = 0;     ///< that ended it; 0: none
    std::string error;  ///< what went wrong; empty if nothing did
    double time = 0.0;
    bool over = false;  ///< it has come to where it was to end
    std::uint64_t step = 0;
    double first_time = 0.0;
    std::uint64_t first_step = 0;
    double wall_seconds = 0.0;         ///< of the loop, output included
    double observables_seconds = 0.0;  ///< of these, in which the solver waited for rows and averages
    Totals first;                      ///< when the run (or the part of it since a resume) started
    Totals last;
    Tallies first_tallies;  ///< counted before `first`
    Tallies tallies;
    std::uint64_t frames = 0;               ///< on disk
    std::uint64_t rows = 0;                 ///< on disk
    std::optional<double> checkpoint_time;  ///< of the last checkpoint on disk
    std::optional<std::uint64_t> hash;      ///< of the last frame; none if it could not be had
    SolverReport report;
    RowMeans means;                       ///< none without averages
    std::vector<AveragedNumber> numbers;  ///< the averages of [[observe]] that are single numbers
};

/// A run that goes on as far as it is told to. The first and the last frame and row are always written. It ends early,
/// with the frame of the fault and a checkpoint, when the simulation cannot go on; with a checkpoint, if that is still
/// possible, when output or the device fails. The outcome tells; only defects of the program leave as exceptions.
class RunLoop {
public:
    /// Begins: what the run starts from is written.
    /// \param averages  of the run; null: none are taken
    RunLoop(Solver& solver, ObservableSet& observables, RunSink& sink, const RunPlan& plan, Progress& progress,
            RunAverages* averages = nullptr);
    ~RunLoop();
    RunLoop(const RunLoop&) = delete;
    RunLoop& operator=(const RunLoop&) = delete;

    /// Where the run ends, as the solver reaches plan.until.
    [[nodiscard]] double end() const;
    /// Goes on towards `time`, but not past end(), for a tenth of a second at most. Where and how often one stops never
    /// changes what comes out. \returns  it is there, or cannot go on
    bool advance(double time);
    /// Whether it can go on; outcome() says why not.
    [[nodiscard]] bool failed() const;
    /// Up to now; whole only after finish().
    [[nodiscard]] const RunOutcome& outcome() const;
    /// Waits until what has been taken up to now is on disk.
    void flush();
    /// The solver goes on as another one, which may reach other times.
    void renew();
    /// Writes the last frame, row and checkpoint, if they are not there, and waits until they are on disk.
    /// \param signal  that ends the run early; 0: none
    const RunOutcome& finish(int signal = 0);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

/// Drives `solver` to plan.until with output to `sink`, or until `interrupted` gives a signal's number.
RunOutcome run_loop(Solver& solver, ObservableSet& observables, RunSink& sink, const RunPlan& plan, Progress& progress,
                    const std::function<int()>& interrupted, RunAverages* averages = nullptr);

/// How a run without files ended.
struct MemoryRun {
    RunOutcome outcome;
    std::vector<ObservableInfo> infos;
    /// The last row, as a trajectory would hold it, then the averages that are single numbers, each with its standard
    /// error; empty if the run could not go on.
    std::vector<double> values;
};

/// Runs a prepared scene from its start, without files and without a word: rows are taken as the scene says, the last
/// one is kept. Ends early as soon as `interrupted` gives a signal's number.
/// \throws InputError, SystemError  before anything is computed; later failures are in the outcome
MemoryRun run_in_memory(PreparedScene run, const std::function<int()>& interrupted);

/// What the values of run_in_memory are: the row's, then NAME and NAME_se for each of the averages that are numbers.
/// Finds out that a run could not start without computing anything of it. \throws InputError, SystemError  as
/// run_in_memory
std::vector<ObservableInfo> infos_in_memory(const PreparedScene& run);

/// The place in a row of "name" or "name.component"; none if there is no such value. A vector's name alone is that of
/// its first component.
std::optional<std::size_t> find_value(const std::vector<ObservableInfo>& infos, const std::string& name);

}  // namespace carom
