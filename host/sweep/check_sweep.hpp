#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/run/prepare.hpp"
#include "host/sweep/sweep.hpp"
#include "host/sweep/sweep_progress.hpp"

namespace carom {

/// What a sweep's runs have in common beside the sweep itself.
struct SweepOptions {
    std::optional<std::uint64_t> steps;  ///< of each run, instead of run.until
    int threads = 0;                     ///< runs at once; 0: as many as there are cores
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

/// As threads are counted when none are asked for.
int sweep_threads(const SweepOptions& options, std::uint64_t runs);

}  // namespace carom
