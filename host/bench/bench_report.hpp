#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/bench/bench.hpp"

namespace carom {

/// carom's rate over another's on the same gas.
struct Speedup {
    std::string of;  ///< "spring over textbook", "cuda over cpu", "2 threads over 1"
    BenchCase what;  ///< the faster side
    double ratio = 0.0;
    double spread = 0.0;  ///< of the ratio: both sides' spreads together
};

/// All ratios within these results that mean something.
std::vector<Speedup> speedups(const BenchResults& results);

/// Which solver reaches a simulated time sooner, by packing fraction, for gases of one dimension and size.
struct Crossing {
    int dimension = 2;
    std::uint64_t balls = 0;
    struct Point {
        double fraction = 0.0;
        double spring_seconds = 0.0;  ///< for a unit of simulated time, the fastest spring row
        double events_seconds = 0.0;
        double break_even = 0.0;  ///< ball-steps/s at which spring would be there as soon as events
        std::string spring;       ///< which row that is
    };
    std::vector<Point> points;  ///< by fraction
    std::optional<double>
        fraction;  ///< where both take equally long, between two points; by the logarithm of the ratio
    std::string sentence;
};

std::vector<Crossing> crossings(const BenchResults& results);

/// The tables that `carom bench` prints: a block a gas, then ratios, which solver when, and what was left out.
std::string bench_text(const BenchResults& results);

/// All of the results. `carom_bench` is the format's version, 1; docs/bench.md explains each key.
nlohmann::ordered_json bench_json(const BenchResults& results, const BenchRequest& request);

/// What changed between two files of `carom bench`: a line for each measurement that both hold, the second's rate over
/// the first's, and whether that exceeds the noise: the sum of both spreads (the range of the repeats over their
/// median), with the ranges apart. Then what only one of them holds. \throws InputError   a file is not one of
/// carom bench \throws SystemError  it cannot be read
std::string bench_diff(const std::string& before, const std::string& after);

}  // namespace carom
