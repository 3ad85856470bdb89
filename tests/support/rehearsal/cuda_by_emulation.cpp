#include "kernels/cuda/spring_cuda.hpp"

// In the place of the CUDA backend: its own sources, run on the host. Linked into carom_rehearsal alone, a carom that
// scripts/gpu-check.sh takes for one with a GPU, so that each of its parts has run before there is one.

namespace carom {

std::vector<CudaDevice> list_cuda_devices(std::string*) {
    return {{.name = "rehearsal on the host", .memory_bytes = std::uint64_t{1} << 33U, .major = 9, .driver = "none"}};
}

std::unique_ptr<SpringEngine> make_cuda_engine(const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                                               const Tallies& tallies, const CrewOptions& crew) {
    return make_emulated_engine(setup, balls, step, tallies, crew);
}

std::unique_ptr<BrickEngine> make_cuda_brick(Transport& transport, const SpringSetup* setup, const RawBalls* balls,
                                             std::uint64_t step, const std::array<int, 3>& layers) {
    return make_emulated_brick(transport, setup, balls, step, layers);
}

std::uint64_t predict_cuda_memory(const SpringSetup& setup, const BallSizes& sizes) {
    return predict_emulated_memory(setup, sizes);
}

std::uint64_t predict_cuda_sampler(std::size_t balls, int dimension, bool pairs) {
    return predict_emulated_sampler(balls, dimension, pairs);
}

std::unique_ptr<LadderEngine> make_cuda_ladder(LadderRung rung, const SpringSetup& setup, const RawBalls& balls) {
    return make_emulated_ladder(rung, setup, balls);
}

std::unique_ptr<LadderEngine> make_cuda_copy(std::size_t bytes) { return make_emulated_copy(bytes); }

}  // namespace carom
