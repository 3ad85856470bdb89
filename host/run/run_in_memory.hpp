#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/observables/observable.hpp"
#include "host/run/prepare.hpp"
#include "host/run/run_loop.hpp"

namespace carom {

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
