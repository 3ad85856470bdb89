#include "host/bench/machine.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>

#include "carom_build_info.hpp"
#include "host/backends/spring_backends.hpp"
#include "host/run/memory.hpp"
#include "kernels/core/processor_name.hpp"

namespace carom {

namespace {

/// The first number of a line that begins with `key`; 0 if there is none.
double number_in(const std::string& file, const std::string& key) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(key)) continue;
        const auto digit = line.find_first_of("0123456789", key.size());
        if (digit != std::string::npos) return std::strtod(line.c_str() + digit, nullptr);
    }
    return 0.0;
}

/// The largest cache of a core, shared or not [bytes].
double last_level_cache() {
    double largest = 0.0;
    for (int index = 0; index < 8; ++index) {
        const std::string file = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index);
        const double kilobytes = number_in(file, "");
        largest = std::max(largest, 1024.0 * kilobytes);  // "32768K"
    }
    return largest;
}

std::string now_text() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

}  // namespace

nlohmann::ordered_json describe_machine() {
    nlohmann::ordered_json machine;
    machine["date"] = now_text();
    machine["version"] = build_info::kVersion;
    machine["commit"] = build_info::commit();
    machine["build"] = {{"type", build_info::kBuildType},
                        {"compiler", build_info::kCompiler},
                        {"cuda_compiler", build_info::kCudaCompiler},
                        {"cpu_architecture", build_info::kCpuArchitecture},
                        {"options", build_info::kOptions}};
    machine["processor"] = {{"name", processor_name()},
                            {"threads", std::thread::hardware_concurrency()},
                            {"last_level_cache_bytes", last_level_cache()},
                            {"memory_bytes", machine_memory_bytes()}};
    machine["gpus"] = nlohmann::ordered_json::array();
    for (const DeviceInfo& device : cuda_devices()) {
        machine["gpus"].push_back({{"name", device.name},
                                   {"memory_bytes", device.memory_bytes},
                                   {"compute_capability", fmt::format("{}.{}", device.major, device.minor)},
                                   {"driver", device.driver}});
    }
    utsname system{};
    if (uname(&system) == 0) machine["system"] = fmt::format("{} {}", system.sysname, system.release);
    std::array<double, 1> load{};
    if (getloadavg(load.data(), 1) == 1) machine["load_at_start"] = load[0];
    return machine;
}

BenchMachine find_machine() {
#if defined(_OPENMP)
    const int threads = static_cast<int>(std::thread::hardware_concurrency());
#else
    const int threads = 1;
#endif
    return {std::max(1, threads), !cuda_devices().empty()};
}

std::uint64_t available_memory() {
    const double kilobytes = number_in("/proc/meminfo", "MemAvailable:");
    return kilobytes > 0.0 ? static_cast<std::uint64_t>(1024.0 * kilobytes) : machine_memory_bytes();
}

std::size_t copy_array_bytes(const std::string& backend) {
    constexpr std::size_t kOfGpu = std::size_t{1} << 31;  // of GPUs' caches the largest is 126 MB
    constexpr double kLeast = 1 << 28;
    constexpr double kCaches = 4.0;
    if (backend == "cuda") return kOfGpu;
    const double most = 0.125 * static_cast<double>(available_memory());
    return static_cast<std::size_t>(std::min(most, std::max(kLeast, kCaches * last_level_cache()))) / 64 * 64;
}

}  // namespace carom
