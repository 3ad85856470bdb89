#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/ranks/ranked_engine.hpp"
#include "host/run/prepare.hpp"
#include "host/run/progress.hpp"
#include "host/state/errors.hpp"
#include "host/sweep/journal.hpp"
#include "host/sweep/sweep.hpp"

namespace carom {

/// " 42 % [==========>             ]  27 of 64 runs  120 runs/s  0:32 left", at most `width` wide; no bar if `width`
/// is 0.
/// \param per_second  0: not known yet
/// \param word        what is done with the runs, if they are not run: "checked"
std::string sweep_progress_text(std::uint64_t done, std::uint64_t runs, double per_second, int width,
                                const std::string& word = "");

/// Prints how many runs are done, and how long the rest may take.
class SweepProgress {
public:
    /// \param before  runs that were done before this process
    /// \param word    as sweep_progress_text
    SweepProgress(ProgressStyle style, std::FILE* stream, std::uint64_t runs, std::uint64_t before,
                  std::string word = "");

    void update(std::uint64_t done);
    /// Takes the bar away, so that a message can follow.
    void clear();

private:
    using Clock = std::chrono::steady_clock;

    ProgressStyle style_;
    std::FILE* stream_;
    std::uint64_t runs_;
    std::uint64_t before_;
    std::string word_;
    Clock::time_point begin_;
    Clock::time_point last_print_;
    bool drawn_ = false;
};

/// What a sweep's runs have in common beside the sweep itself.
struct SweepOptions {
    std::optional<std::uint64_t> steps;  ///< of each run, instead of run.until
    int threads = 0;                     ///< runs at once, of a process; 0: as many as there are cores for it
    Ranks* ranks = nullptr;              ///< that take part in it; null: none
};

/// The scene of one run, on one thread.
/// \throws InputError  in terms of the sweep file where that is to blame
PreparedScene prepare_run(const Sweep& sweep, const SweepOptions& options, std::uint64_t run);

/// Prepares every run and makes its solver, so that whatever is wrong with any of them is known before the first.
/// \param interrupted  gives a signal's number once it is to end
/// \param progress     is told of runs that are looked at
/// \return  the columns that `record` stands for: a vector's name for all of its components; none when interrupted
/// \throws InputError, SystemError  of the first run that could not start
std::vector<std::string> check_sweep(const Sweep& sweep, const SweepOptions& options,
                                     const std::function<int()>& interrupted, SweepProgress& progress);

/// Runs at once in this process.
int sweep_threads(const SweepOptions& options);

/// What other ranks than 0 do in check_sweep and run_sweep.
void help_with_sweep(Transport& transport, std::span<const std::byte> order);

/// The table of a sweep as CSV: a line of names, then a line a row: the axes' values and what was recorded. With an
/// averaged axis each record has its mean and, as NAME_se, the standard error of the mean. Cells of a row of which a
/// run could not go on are empty.
/// \param columns  of each run
/// \param results  of every run
std::string table_text(const Sweep& sweep, const std::vector<std::string>& columns,
                       const std::map<std::uint64_t, RunResult>& results);

/// Where a sweep writes to.
struct SweepOutput {
    std::string table;   ///< CSV
    bool force = false;  ///< overwrite it, and begin anew over another sweep's unfinished table
    bool quiet = false;  ///< neither summaries nor progress on standard error
};

/// A run that could not go on.
struct FailedRun {
    std::uint64_t row = 0;  ///< of the whole table, from 1
    std::string label;      ///< "position=0.35, angle=2"
    std::string error;
};

/// How a sweep ended, and what it came to.
struct SweepOutcome {
    ExitStatus status = ExitStatus::kDone;
    int signal = 0;     ///< that ended it; 0: none
    std::string error;  ///< of a file or device, or of a run's input; empty if nothing failed
    std::uint64_t rows = 0;
    std::uint64_t runs = 0;
    bool checked = false;           ///< it came to running
    std::uint64_t runs_done = 0;    ///< all that are known now
    std::uint64_t runs_before = 0;  ///< of these, known before: the sweep went on
    bool kept = true;               ///< what is done is in the journal, as long as there is no table
    std::vector<FailedRun> failed;
    int threads = 0;  ///< runs at once, of all ranks together
    double wall_seconds = 0.0;
};

/// SWEEP.csv in the current folder, for SWEEP.sweep.toml.
std::string default_table(const std::string& sweep);

/// Finds out before anything is computed that the table could not be written.
/// \throws InputError, SystemError
void check_table(const Sweep& sweep, const SweepOutput& output);

/// What tells this sweep from every other: 16 digits from all that its results depend on.
std::string sweep_key(const Sweep& sweep, const SweepOptions& options, const std::vector<std::string>& columns);

/// Runs a sweep to its end, or until SIGINT or SIGTERM comes, with summaries and progress on standard error. Runs that
/// are done are kept in TABLE.part, and not done again by the same sweep; the table is written when all are there.
/// \throws InputError, SystemError  before anything is computed; later failures are in the outcome
SweepOutcome run_sweep(const Sweep& sweep, const SweepOptions& options, const SweepOutput& output);

/// The outcome as one JSON object on one line.
std::string sweep_json(const SweepOutcome& outcome, const Sweep& sweep, const SweepOutput& output);

}  // namespace carom
