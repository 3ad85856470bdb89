#include "kernels/cuda/cuda_engine.hpp"
#include "kernels/cuda/spring_cuda.hpp"
#include "kernels/ranks/brick_parts.hpp"

namespace carom {

namespace CAROM_PROCESSOR {

namespace {

std::unique_ptr<SpringEngine> make_engine(const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                                          const Tallies& tallies, const CrewOptions& crew) {
    if (setup.double_precision) {
        return setup.dimension == 2 ? make_engine_of<double, 2>(setup, balls, step, tallies, crew)
                                    : make_engine_of<double, 3>(setup, balls, step, tallies, crew);
    }
    return setup.dimension == 2 ? make_engine_of<float, 2>(setup, balls, step, tallies, crew)
                                : make_engine_of<float, 3>(setup, balls, step, tallies, crew);
}

std::unique_ptr<BrickEngine> make_brick(Transport& transport, const SpringSetup* setup, const RawBalls* balls,
                                        std::uint64_t step, const std::array<int, 3>& layers) {
    use_device(transport.rank_here());
    const BrickKind kind = BrickKind::agree(transport, setup, layers);
    if (kind.double_precision) {
        return kind.dimension == 2 ? make_brick_of<double, 2>(transport, setup, balls, step, kind.layers)
                                   : make_brick_of<double, 3>(transport, setup, balls, step, kind.layers);
    }
    return kind.dimension == 2 ? make_brick_of<float, 2>(transport, setup, balls, step, kind.layers)
                               : make_brick_of<float, 3>(transport, setup, balls, step, kind.layers);
}

std::uint64_t predict_memory(const SpringSetup& setup, const BallSizes& sizes) {
    if (setup.double_precision) {
        return setup.dimension == 2 ? predict_memory_of<double, 2>(setup, sizes)
                                    : predict_memory_of<double, 3>(setup, sizes);
    }
    return setup.dimension == 2 ? predict_memory_of<float, 2>(setup, sizes) : predict_memory_of<float, 3>(setup, sizes);
}

}  // namespace

}  // namespace CAROM_PROCESSOR

#if defined(CAROM_EMULATED)

std::string emulated::device_name() { return "emulated"; }

std::unique_ptr<SpringEngine> make_emulated_engine(const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                                                   const Tallies& tallies, const CrewOptions& crew) {
    return emulated::make_engine(setup, balls, step, tallies, crew);
}

std::unique_ptr<BrickEngine> make_emulated_brick(Transport& transport, const SpringSetup* setup, const RawBalls* balls,
                                                 std::uint64_t step, const std::array<int, 3>& layers) {
    return emulated::make_brick(transport, setup, balls, step, layers);
}

std::uint64_t predict_emulated_memory(const SpringSetup& setup, const BallSizes& sizes) {
    return emulated::predict_memory(setup, sizes);
}

std::uint64_t predict_emulated_sampler(std::size_t balls, int dimension, bool pairs) {
    return emulated::sampler_bytes(balls, dimension, pairs);
}

#else

std::unique_ptr<SpringEngine> make_cuda_engine(const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                                               const Tallies& tallies, const CrewOptions& crew) {
    const std::uint64_t own = cuda::predict_memory(setup, measure_sizes(balls, setup.dimension));
    cuda::require_memory(own + setup.memory_beside, balls.count);
    return cuda::make_engine(setup, balls, step, tallies, crew);
}

std::unique_ptr<BrickEngine> make_cuda_brick(Transport& transport, const SpringSetup* setup, const RawBalls* balls,
                                             std::uint64_t step, const std::array<int, 3>& layers) {
    return cuda::make_brick(transport, setup, balls, step, layers);
}

std::uint64_t predict_cuda_memory(const SpringSetup& setup, const BallSizes& sizes) {
    return cuda::predict_memory(setup, sizes);
}

std::uint64_t predict_cuda_sampler(std::size_t balls, int dimension, bool pairs) {
    return cuda::sampler_bytes(balls, dimension, pairs);
}

#endif

}  // namespace carom
