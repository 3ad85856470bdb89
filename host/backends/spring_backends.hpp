#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/ladder/ladder.hpp"
#include "kernels/params_from_setup.hpp"
#include "kernels/ranks/brick_engine.hpp"
#include "kernels/ranks/transport.hpp"
#include "kernels/spring_engine.hpp"

namespace carom {

class EnginePack;

/// A GPU as `carom info` shows it.
struct DeviceInfo {
    std::string name;
    std::uint64_t memory_bytes = 0;
    int major = 0;  ///< compute capability
    int minor = 0;
    std::string driver;  ///< CUDA version that the driver supports
};

/// Whether this build contains the CUDA backend.
bool cuda_built();
/// The devices that the CUDA backend could use; empty without a driver, a device, or the backend.
/// \param why  where it is given and there is none: why, without a full stop
std::vector<DeviceInfo> cuda_devices(std::string* why = nullptr);

/// Lets the CUDA backend see one device alone.
/// \param number  among those that it could use; to be called before anything else here, which may wake the driver
/// \throws std::runtime_error  there is no such device
void choose_cuda_device(std::uint64_t number);

enum class ProcessorChoice : std::uint8_t { kAuto, kCpu, kCuda };

/// A processor for the spring solver, chosen at run time.
struct SpringProcessor {
    std::string name;  ///< "cpu" | "cuda"
    std::unique_ptr<SpringEngine> engine;
};

/// Balls from which on the GPU gains against a few CPU cores; below, kAuto stays on the CPU.
constexpr std::size_t kAutoCudaBalls = 20000;

/// The processor that a choice means for a system of `balls` balls: "cpu" or "cuda".
/// \throws std::runtime_error  for kCuda without a device
std::string choose_processor(ProcessorChoice choice, std::size_t balls);

/// Makes an engine on the processor called `name`.
/// \param pack  whose launches it shares on a GPU; null: it has its own
SpringProcessor make_spring_processor(const std::string& name, const SpringSetup& setup, const RawBalls& balls,
                                      std::uint64_t step, const Tallies& tallies,
                                      const std::shared_ptr<EnginePack>& pack = nullptr);

/// A rank's share of an engine on the processor called `name`: see make_cpu_brick and make_cuda_brick.
std::unique_ptr<BrickEngine> make_spring_bricks(const std::string& name, Transport& transport, const SpringSetup* setup,
                                                const RawBalls* balls, std::uint64_t step,
                                                const std::array<int, 3>& layers);

/// Memory that the engine will hold [bytes], on the processor called `name`.
/// \param packing_fraction  of the balls in the box: sets how many candidates a ball has
std::uint64_t spring_memory_bytes(const std::string& name, const SpringSetup& setup, const BallSizes& sizes,
                                  double packing_fraction);

/// The same of a rank: see predict_brick_memory.
BrickForecast spring_brick_memory(const SpringSetup& setup, const BallSizes& sizes, double packing_fraction, int ranks,
                                  const std::array<int, 3>& layers);

/// What it holds besides where averages are taken [bytes]: nothing where the balls are in the host's memory.
/// \param pairs  some count pairs
std::uint64_t sampler_memory_bytes(const std::string& name, std::size_t balls, int dimension, bool pairs);

/// The smallest step of a position on the coarsest axis, the same on every processor [length].
double spring_position_quantum(const SpringSetup& setup, const BallSizes& sizes);

/// A rung of the bench's ladder on the processor called `name`: "cpu" or "cuda" (as choose_processor gives it).
/// \throws std::invalid_argument  the rung cannot take this setup
/// \throws std::runtime_error     the device failed, or has too little memory
std::unique_ptr<LadderEngine> make_ladder(const std::string& name, LadderRung rung, const SpringSetup& setup,
                                          const RawBalls& balls);

/// Copies of one array of so many bytes into another.
/// \param threads  of the CPU; 0: all
std::unique_ptr<LadderEngine> make_copy_ladder(const std::string& name, std::size_t bytes, int threads);

}  // namespace carom
