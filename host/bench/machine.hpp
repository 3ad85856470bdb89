#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "host/bench/bench.hpp"

namespace carom {

/// Name, processors, memory, driver, operating system, load at the start, build, commit and date, for the results.
nlohmann::ordered_json describe_machine();

/// What list_cases must know.
BenchMachine find_machine();

/// Memory that is free for this process [bytes].
std::uint64_t available_memory();

/// Bytes of an array that no cache of this machine's CPU holds.
std::size_t copy_array_bytes(const std::string& backend);

/// Clocks, power and temperature of a processor while it is measured, where they can be read. Nothing is needed for it:
/// the driver's library is looked for when it is asked.
class PowerMeter {
public:
    explicit PowerMeter(const std::string& backend);
    ~PowerMeter();
    PowerMeter(const PowerMeter&) = delete;
    PowerMeter& operator=(const PowerMeter&) = delete;

    void start();
    /// Since start(), by key: "cpu_mhz", "cpu_watts", "gpu_mhz", "gpu_memory_mhz", "gpu_watts", "gpu_celsius".
    std::vector<std::pair<std::string, double>> stop();

private:
    struct Gpu;
    std::string backend_;
    std::unique_ptr<Gpu> gpu_;
    double joules_ = 0.0;
    double began_ = 0.0;
};

}  // namespace carom
