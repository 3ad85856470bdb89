#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

#include "host/bench/machine.hpp"

namespace carom {

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
