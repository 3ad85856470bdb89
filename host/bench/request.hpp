#pragma once

#include <cstdint>
#include <optional>
#include <string>
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
    double patience = 0.0;  ///< for one measurement [s]; 0: 3 s if quick, else 60 s

    [[nodiscard]] int repeats_or_default() const { return repeats > 0 ? repeats : (quick ? 3 : 5); }
    [[nodiscard]] double limit_or_default() const { return limit > 0.0 ? limit : (quick ? 48.0 : 1e30); }
    [[nodiscard]] double patience_or_default() const { return patience > 0.0 ? patience : (quick ? 3.0 : 60.0); }
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

}  // namespace carom
