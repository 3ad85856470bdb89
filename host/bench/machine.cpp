#include "host/bench/machine.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include "carom_build_info.hpp"
#include "host/backends/spring_backends.hpp"
#include "host/run/memory.hpp"
#include "kernels/core/hardware.hpp"

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

namespace {

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A file that holds one number; 0 where it cannot be read.
double read_number(const std::string& file) {
    double value = 0.0;
    std::ifstream(file) >> value;
    return value;
}

/// What the CPU's packages have used so far [J]; mostly only root may read it.
double cpu_joules() {
    double microjoules = 0.0;
    for (int package = 0; package < 16; ++package) {
        microjoules += read_number(fmt::format("/sys/class/powercap/intel-rapl:{}/energy_uj", package));
    }
    return 1e-6 * microjoules;
}

/// The fastest core's clock now [MHz]; 0: unknown.
double cpu_megahertz() {
    double fastest = 0.0;
    for (int core = 0;; ++core) {
        const std::string file = fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", core);
        const double kilohertz = read_number(file);
        if (kilohertz == 0.0) break;
        fastest = std::max(fastest, 1e-3 * kilohertz);
    }
    if (fastest > 0.0) return fastest;
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        const auto colon = line.find(": ");
        if (line.starts_with("cpu MHz") && colon != std::string::npos)
            fastest = std::max(fastest, std::stod(line.substr(colon + 2)));
    }
    return fastest;
}

}  // namespace

/// The driver's management library (NVML) by its documented C interface, without its header.
struct PowerMeter::Gpu {
    using Device = void*;
    void* library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    Device device = nullptr;
    int (*clock)(Device, int, unsigned*) = nullptr;
    int (*power)(Device, unsigned*) = nullptr;
    int (*temperature)(Device, int, unsigned*) = nullptr;
    int (*shutdown)() = nullptr;

    template <class F>
    void find(F& function, const char* name) const {
        function = reinterpret_cast<F>(dlsym(library, name));
    }

    Gpu() {
        if (library == nullptr) return;
        int (*init)() = nullptr;
        int (*by_index)(unsigned, Device*) = nullptr;
        find(init, "nvmlInit_v2");
        find(by_index, "nvmlDeviceGetHandleByIndex_v2");
        find(clock, "nvmlDeviceGetClockInfo");
        find(power, "nvmlDeviceGetPowerUsage");
        find(temperature, "nvmlDeviceGetTemperature");
        if (init == nullptr || by_index == nullptr || init() != 0) return;
        find(shutdown, "nvmlShutdown");
        if (by_index(0, &device) != 0) device = nullptr;
    }
    ~Gpu() {
        if (shutdown != nullptr) shutdown();
        if (library != nullptr) dlclose(library);
    }
    Gpu(const Gpu&) = delete;
    Gpu& operator=(const Gpu&) = delete;

    void read(std::vector<std::pair<std::string, double>>& into) const {
        constexpr int kGraphicsClock = 0;
        constexpr int kMemoryClock = 2;
        constexpr int kOfChip = 0;
        if (device == nullptr) return;
        unsigned value = 0;
        if (clock != nullptr && clock(device, kGraphicsClock, &value) == 0) into.emplace_back("gpu_mhz", value);
        if (clock != nullptr && clock(device, kMemoryClock, &value) == 0) into.emplace_back("gpu_memory_mhz", value);
        if (power != nullptr && power(device, &value) == 0) into.emplace_back("gpu_watts", 1e-3 * value);
        if (temperature != nullptr && temperature(device, kOfChip, &value) == 0)
            into.emplace_back("gpu_celsius", value);
    }
};

PowerMeter::PowerMeter(const std::string& backend) : backend_(backend) {
    if (backend == "cuda") gpu_ = std::make_unique<Gpu>();
}
PowerMeter::~PowerMeter() = default;

void PowerMeter::start() {
    joules_ = cpu_joules();
    began_ = seconds_now();
}

std::vector<std::pair<std::string, double>> PowerMeter::stop() {
    std::vector<std::pair<std::string, double>> values;
    if (gpu_ != nullptr) gpu_->read(values);  // first: a moment later it may idle
    const double seconds = seconds_now() - began_;
    const double joules = cpu_joules() - joules_;  // below zero when the counter went around
    if (backend_ == "cpu") {
        if (const double clock = cpu_megahertz(); clock > 0.0) values.emplace_back("cpu_mhz", clock);
        if (joules > 0.0 && seconds > 0.0) values.emplace_back("cpu_watts", joules / seconds);
    }
    return values;
}

}  // namespace carom
