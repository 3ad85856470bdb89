#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/ladder/ladder.hpp"
#include "kernels/params_from_setup.hpp"
#include "kernels/ranks/brick_engine.hpp"
#include "kernels/ranks/transport.hpp"
#include "kernels/spring_engine.hpp"

// The one header of this folder that others may include: nothing of CUDA is in it.

namespace carom {

class EnginePack;

/// How small systems use the GPU; changes no bit.
struct CrewOptions {
    bool crews = true;                           ///< they do many steps in a launch
    std::shared_ptr<EnginePack> pack = nullptr;  ///< whose launches they share; null: each has its own
};

/// A GPU that the driver offers.
struct CudaDevice {
    std::string name;
    std::uint64_t memory_bytes = 0;
    int major = 0;  ///< compute capability
    int minor = 0;
    std::string driver;  ///< CUDA version that the driver supports
};

/// The GPUs here; empty, at once, where there is no driver.
/// \param why  where it is given and there is none: why, without a full stop
std::vector<CudaDevice> list_cuda_devices(std::string* why = nullptr);

/// The spring engine of the GPU (device 0): one thread a ball, batches of steps without the host.
/// \param step     steps done before (a restart)
/// \param tallies  counted before
/// \param crew     of a small system
/// \throws std::runtime_error  naming the call and the device that failed; with too little memory, what is needed,
///                             what is free, and how many balls would fit
std::unique_ptr<SpringEngine> make_cuda_engine(const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                                               const Tallies& tallies, const CrewOptions& crew = {});

/// A rank's share of such an engine, on the rank's own GPU where the machine has several; together.
/// \param setup, balls, step, layers  as make_cpu_brick has them
/// \throws CannotShare  all ranks do
std::unique_ptr<BrickEngine> make_cuda_brick(Transport& transport, const SpringSetup* setup, const RawBalls* balls,
                                             std::uint64_t step, const std::array<int, 3>& layers);

/// Device memory that such an engine will hold [bytes].
std::uint64_t predict_cuda_memory(const SpringSetup& setup, const BallSizes& sizes);

/// Device memory that it takes besides to look at its balls for averages [bytes].
/// \param pairs  pairs are counted, too
std::uint64_t predict_cuda_sampler(std::size_t balls, int dimension, bool pairs);

/// The bench's rungs on the GPU, as their namesakes in kernels/ladder/ladder.hpp.
std::unique_ptr<LadderEngine> make_cuda_ladder(LadderRung rung, const SpringSetup& setup, const RawBalls& balls);
std::unique_ptr<LadderEngine> make_cuda_copy(std::size_t bytes);

/// The same sources run on the host, thread by thread: for tests. In the library carom_emulated.
std::unique_ptr<SpringEngine> make_emulated_engine(const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                                                   const Tallies& tallies, const CrewOptions& crew = {});
std::unique_ptr<BrickEngine> make_emulated_brick(Transport& transport, const SpringSetup* setup, const RawBalls* balls,
                                                 std::uint64_t step, const std::array<int, 3>& layers);
std::uint64_t predict_emulated_memory(const SpringSetup& setup, const BallSizes& sizes);
std::uint64_t predict_emulated_sampler(std::size_t balls, int dimension, bool pairs);
std::unique_ptr<LadderEngine> make_emulated_ladder(LadderRung rung, const SpringSetup& setup, const RawBalls& balls);
std::unique_ptr<LadderEngine> make_emulated_copy(std::size_t bytes);

}  // namespace carom
