#include "host/backends/ladder_backends.hpp"

#if defined(CAROM_HAVE_CUDA)
#include "kernels/cuda/spring_cuda.hpp"
#endif

namespace carom {

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
