#pragma once

#include <optional>
#include <string>

#include "host/run/output_files.hpp"
#include "host/run/prepare.hpp"
#include "host/run/run_loop.hpp"
#include "host/run/summary.hpp"

namespace carom {

struct SimulateOptions {
    OutputFiles files;
    bool force = false;             ///< overwrite them
    bool quiet = false;             ///< neither summaries nor progress on standard error
    double checkpoint_every = 0.0;  ///< simulated time; 0: only at the end
    std::string events_log;         ///< CSV of every collision; empty: none
};

struct Simulation {
    RunOutcome outcome;
    std::string json;  ///< the end summary as one object on one line
};

/// How long a run will take on this machine, as its first moments go, with its frames and rows but without averages:
/// wall time [s]. It is tried for a third of a second. Empty where the run does not get that far, or has no memory.
std::optional<double> estimate_seconds(const PreparedScene& run);

/// Runs a prepared scene, from its start or its checkpoint, with summaries and progress on standard error, until it
/// ends or SIGINT, SIGTERM or SIGHUP comes.
/// \throws InputError, SystemError  before anything is computed; later failures are in the outcome
Simulation simulate(PreparedScene run, const SimulateOptions& options);

}  // namespace carom
