#include "host/backends/spring_backends.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "kernels/cpu/spring_cpu.hpp"

#if defined(CAROM_HAVE_CUDA)
#include "kernels/cuda/spring_cuda.hpp"
#endif

namespace carom {

#if defined(CAROM_HAVE_CUDA)

bool cuda_built() { return true; }

std::vector<DeviceInfo> cuda_devices(std::string* why) {
    std::vector<DeviceInfo> devices;
    for (const CudaDevice& device : list_cuda_devices(why)) {
        devices.push_back({device.name, device.memory_bytes, device.major, device.minor, device.driver});
    }
    return devices;
}

#else

bool cuda_built() { return false; }

std::vector<DeviceInfo> cuda_devices(std::string* why) {
    if (why != nullptr) *why = "this build has no CUDA backend";
    return {};
}

#endif

void choose_cuda_device(std::uint64_t number) {
    // The driver numbers what this variable lets it see. Current devices, CUDA's other way, are each thread's own.
    constexpr const char* kVisible = "CUDA_VISIBLE_DEVICES";
    std::string chosen = std::to_string(number);
    if (const char* visible = std::getenv(kVisible); visible != nullptr) {
        std::istringstream list(visible);
        for (std::uint64_t left = number + 1; left > 0; --left) {
            if (std::getline(list, chosen, ',')) continue;
            chosen = "-1";
            break;
        }
    }
    setenv(kVisible, chosen.c_str(), 1);
    if (cuda_devices().empty()) {
        throw std::runtime_error(
            "no CUDA device " + std::to_string(number) +
            (cuda_built() ? "; 'carom info' shows those that are there" : ": this build has no CUDA backend"));
    }
}

std::string choose_processor(ProcessorChoice choice, std::size_t balls) {
    // Small systems do not even ask for a device: that wakes the driver, which takes a while.
    if (choice == ProcessorChoice::kCpu || (choice == ProcessorChoice::kAuto && balls < kAutoCudaBalls)) return "cpu";
    std::string why;
    const bool present = !cuda_devices(&why).empty();
    if (choice == ProcessorChoice::kAuto) return present ? "cuda" : "cpu";
    if (!present) throw std::runtime_error("no CUDA device: " + why + "; use --backend cpu");
    return "cuda";
}

SpringProcessor make_spring_processor(const std::string& name, const SpringSetup& setup, const RawBalls& balls,
                                      std::uint64_t step, const Tallies& tallies,
                                      [[maybe_unused]] const std::shared_ptr<EnginePack>& pack) {
#if defined(CAROM_HAVE_CUDA)
    if (name == "cuda") return {name, make_cuda_engine(setup, balls, step, tallies, {.pack = pack})};
#endif
    return {name, make_cpu_engine(setup, balls, step, tallies)};
}

std::unique_ptr<BrickEngine> make_spring_bricks([[maybe_unused]] const std::string& name, Transport& transport,
                                                const SpringSetup* setup, const RawBalls* balls, std::uint64_t step,
                                                const std::array<int, 3>& layers) {
#if defined(CAROM_HAVE_CUDA)
    if (name == "cuda") return make_cuda_brick(transport, setup, balls, step, layers);
#endif
    return make_cpu_brick(transport, setup, balls, step, layers);
}

std::uint64_t spring_memory_bytes(const std::string& name, const SpringSetup& setup, const BallSizes& sizes,
                                  double packing_fraction) {
#if defined(CAROM_HAVE_CUDA)
    if (name == "cuda") return predict_cuda_memory(setup, sizes);
#endif
    (void)name;
    return predict_cpu_memory(setup, sizes, packing_fraction);
}

BrickForecast spring_brick_memory(const SpringSetup& setup, const BallSizes& sizes, double packing_fraction, int ranks,
                                  const std::array<int, 3>& layers) {
    return predict_brick_memory(setup, sizes, packing_fraction, ranks, layers);
}

std::uint64_t sampler_memory_bytes([[maybe_unused]] const std::string& name, [[maybe_unused]] std::size_t balls,
                                   [[maybe_unused]] int dimension, [[maybe_unused]] bool pairs) {
#if defined(CAROM_HAVE_CUDA)
    if (name == "cuda") return predict_cuda_sampler(balls, dimension, pairs);
#endif
    return 0;
}

namespace {

template <class Real, int Dim>
double coarsest_quantum(const SpringSetup& setup, const BallSizes& sizes) {
    const auto params = make_params<Real, Dim>(setup, sizes);
    double coarsest = 0.0;
    for (int axis = 0; axis < Dim; ++axis) coarsest = std::max(coarsest, params.coordinates.resolution[axis]);
    return coarsest;
}

}  // namespace

double spring_position_quantum(const SpringSetup& setup, const BallSizes& sizes) {
    if (setup.double_precision) {
        return setup.dimension == 2 ? coarsest_quantum<double, 2>(setup, sizes)
                                    : coarsest_quantum<double, 3>(setup, sizes);
    }
    return setup.dimension == 2 ? coarsest_quantum<float, 2>(setup, sizes) : coarsest_quantum<float, 3>(setup, sizes);
}

std::unique_ptr<LadderEngine> make_ladder(const std::string& name, LadderRung rung, const SpringSetup& setup,
                                          const RawBalls& balls) {
#if defined(CAROM_HAVE_CUDA)
    if (name == "cuda") return make_cuda_ladder(rung, setup, balls);
#endif
    (void)name;
    return make_cpu_ladder(rung, setup, balls);
}

std::unique_ptr<LadderEngine> make_copy_ladder(const std::string& name, std::size_t bytes, int threads) {
#if defined(CAROM_HAVE_CUDA)
    if (name == "cuda") return make_cuda_copy(bytes);
#endif
    (void)name;
    return make_cpu_copy(bytes, threads);
}

}  // namespace carom
