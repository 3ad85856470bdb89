#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/bench/request.hpp"

namespace carom {

/// Repeats of one measurement, per second.
struct Rate {
    double median = 0.0;
    double least = 0.0;
    double most = 0.0;
    int repeats = 0;

    /// The whole range over the median.
    [[nodiscard]] double spread() const { return median > 0.0 ? (most - least) / median : 0.0; }
};

/// From work per second of each repeat, at least one.
Rate rate_of(std::vector<double> per_second);

/// One line of the results.
struct BenchRow {
    BenchCase what;
    std::string start;                       ///< "melted" | "shaken lattice": see bench gas.hpp
    Rate rate;                               ///< bytes (copy), events (events), else ball-steps, per second
    std::uint64_t steps = 0;                 ///< of one repeat
    double measured_seconds = 0.0;           ///< of all repeats, warming up too
    std::optional<double> bytes_counted;     ///< per ball-step: what any program must move
    std::optional<double> bytes_streamed;    ///< per ball-step: what this one moves if caches hold no array
    std::optional<double> copy_bandwidth;    ///< of the same processor and threads [bytes/s]
    std::optional<double> limit;             ///< copy_bandwidth / bytes_counted [ball-steps/s]
    std::optional<double> seconds_per_time;  ///< wall time for a unit of simulated time
    std::optional<double> contacts_per_ball;
    std::optional<double> steps_between_sorts;
    std::vector<std::pair<std::string, double>> more;  ///< what else is known, by its key in JSON
};

struct LeftOut {
    BenchCase what;
    std::string why;
};

struct BenchResults {
    nlohmann::ordered_json machine;
    std::vector<BenchRow> rows;
    std::vector<LeftOut> left_out;
    double seconds = 0.0;  ///< that all took
    int signal = 0;        ///< that ended it early; 0: none
};

}  // namespace carom
