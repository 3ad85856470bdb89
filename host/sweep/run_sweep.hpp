#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/state/errors.hpp"
#include "host/sweep/check_sweep.hpp"
#include "host/sweep/sweep.hpp"

namespace carom {

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
    std::vector<FailedRun> failed;
    int threads = 1;
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
