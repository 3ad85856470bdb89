#pragma once

#include <cstdint>
#include <functional>

#include "host/bench/results.hpp"

namespace carom {

struct MeasureOptions {
    double repeat_seconds = 0.5;
    int repeats = 5;
    std::uint64_t least_steps = 1;                        ///< of a repeat, however long they take
    std::uint64_t warm_steps = 0;                         ///< at least, before anything counts
    std::function<int()> interrupted = [] { return 0; };  ///< gives a signal's number, which ends the repeats early
};

struct Measured {
    std::uint64_t steps = 0;  ///< of each repeat
    double seconds = 0.0;     ///< of all, warming up too
    Rate steps_per_second;
};

/// Wall time of something that advances by steps: warms up until the pace is known, then takes the repeats.
/// \param advance  does so many steps and returns when they are done
Measured measure(const std::function<void(std::uint64_t)>& advance, const MeasureOptions& options);

/// A rate in other units: all of it times `factor`.
Rate scaled(Rate rate, double factor);

}  // namespace carom
