#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/run/simulate.hpp"

namespace carom {

/// Copies of one run, which differ in their seed alone: the first has that of the scene, each other the next.
struct CopiesOptions {
    SceneRequest request;      ///< of each, but for the seed; its threads are how many go on at once
    std::string resume;        ///< the checkpoint that they go on from; empty: they begin anew
    SimulateOptions run;       ///< of each; it says nothing of its own
    std::uint64_t copies = 2;  ///< all names of files are those of a run alone, by numbered_file
    bool quiet = false;
};

/// How a copy ended.
struct CopyOutcome {
    bool begun = false;  ///< else there was nothing left to do of it, or it did not come to it
    bool was_over = false;
    std::uint64_t seed = 0;
    OutputFiles files;
    ExitStatus status = ExitStatus::kDone;
    int signal = 0;
    std::string error;
    bool saved = false;                                ///< there is a checkpoint
    std::optional<std::uint64_t> hash = std::nullopt;  ///< of the state that it ended in
    std::string json;                                  ///< as Simulation has it
};

struct CopiesOutcome {
    ExitStatus status = ExitStatus::kDone;
    int signal = 0;     ///< that ended them; 0: none
    std::string error;  ///< of a file or device
    std::vector<CopyOutcome> copies;
    int at_once = 0;
    double wall_seconds = 0.0;

    /// Whether several have run to their end and all to the same state: nothing of them is by chance then.
    [[nodiscard]] bool are_one() const;
};

/// Runs all copies to their end, or until a signal comes; each then leaves a checkpoint, whether it had begun or not.
/// \throws InputError, SystemError  before anything is computed; later failures are in the outcome
CopiesOutcome run_copies(const CopiesOptions& options);

/// The outcome as one JSON object on one line.
std::string copies_json(const CopiesOutcome& outcome);

}  // namespace carom
