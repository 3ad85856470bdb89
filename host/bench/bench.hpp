#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace carom {

/// What can be measured, in the order of the ladder.
enum class BenchRung : std::uint8_t {
    kCopy,       ///< bandwidth of the memory
    kIntegrate,  ///< kick and drift alone
    kTextbook,   ///< sort every step, one kernel a stage
    kSpring,     ///< carom's step
    kEvents,     ///< the event-driven solver
    kOutput,     ///< a whole run, without and with files
};

const std::vector<BenchRung>& bench_rungs();
const char* rung_name(BenchRung rung);

/// A gas to measure on: equal balls of diameter and mass 1, root-mean-square speed 1, in a box of walls.
struct BenchGas {
    int dimension = 2;
    double fraction = 0.5;  ///< packing fraction
    std::uint64_t balls = 0;

    bool operator==(const BenchGas&) const = default;
};

/// One measurement.
struct BenchCase {
    BenchRung rung = BenchRung::kSpring;
    std::string backend;          ///< "cpu" | "cuda"
    int threads = 1;              ///< of the CPU
    std::optional<BenchGas> gas;  ///< none: kCopy
    bool double_precision = false;
};

/// "spring, cpu, 2 threads, 2D, packing fraction 0.5, 100,000 balls, single".
std::string case_text(const BenchCase& what);

/// What the user asks for. Empty lists: chosen by list_cases.
struct BenchRequest {
    bool quick = false;
    std::vector<int> dimensions;
    std::vector<std::uint64_t> sizes;
    std::vector<double> fractions;
    std::vector<std::string> precisions;  ///< "single", "double"
    std::vector<std::string> backends;    ///< "cpu", "cuda"
    std::vector<int> threads;
    std::vector<BenchRung> rungs;
    int repeats = 0;        ///< of each measurement; 0: 3 if quick, else 5
    double limit = 0.0;     ///< for everything [s]; 0: 48 s if quick, else none
    double patience = 0.0;  ///< for one measurement [s]; 0: 3 s if quick, else 60 s, or twice what its repeats take

    [[nodiscard]] int repeats_or_default() const { return repeats > 0 ? repeats : (quick ? 3 : 5); }
    [[nodiscard]] double limit_or_default() const { return limit > 0.0 ? limit : (quick ? 48.0 : 1e30); }
    [[nodiscard]] double patience_or_default() const {
        return patience > 0.0 ? patience : std::max(quick ? 3.0 : 60.0, 2.0 * repeats_seconds());
    }
    /// The repeats of a measurement and their warming up, at least [s].
    [[nodiscard]] double repeats_seconds() const { return (repeats_or_default() + 1) * repeat_seconds(); }
    /// One repeat lasts about this long [s].
    [[nodiscard]] double repeat_seconds() const { return quick ? 0.1 : 0.5; }
};

/// What the machine offers.
struct BenchMachine {
    int threads = 1;
    bool cuda = false;
};

/// All measurements that a request means, those of one gas together, small gases first.
std::vector<BenchCase> list_cases(const BenchRequest& request, const BenchMachine& machine);

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
    std::string start;                       ///< "melted" | "shaken lattice": see PlacedGas
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

/// Measures all that the request means, as far as time and memory allow; what is left out is in the results, with why.
/// \param tell         is given a line about each measurement before it begins
/// \param interrupted  gives a signal's number; then what has been measured is returned
/// \throws SystemError  "cuda" is asked for and there is none
BenchResults run_bench(const BenchRequest& request, const std::function<void(const std::string&)>& tell,
                       const std::function<int()>& interrupted);

}  // namespace carom
