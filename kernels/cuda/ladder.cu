#include "kernels/cuda/ladder_executor.hpp"
#include "kernels/cuda/spring_cuda.hpp"
#include "kernels/ladder/make_ladder.hpp"

namespace carom {

#if defined(CAROM_EMULATED)

std::unique_ptr<LadderEngine> make_emulated_ladder(LadderRung rung, const SpringSetup& setup, const RawBalls& balls) {
    return make_ladder_over<emulated::LadderExecutor>(rung, setup, balls);
}
std::unique_ptr<LadderEngine> make_emulated_copy(std::size_t bytes) {
    return std::make_unique<CopyRung<emulated::LadderExecutor>>(emulated::LadderExecutor(), bytes);
}

#else

std::unique_ptr<LadderEngine> make_cuda_ladder(LadderRung rung, const SpringSetup& setup, const RawBalls& balls) {
    return make_ladder_over<cuda::LadderExecutor>(rung, setup, balls);
}
std::unique_ptr<LadderEngine> make_cuda_copy(std::size_t bytes) {
    return std::make_unique<CopyRung<cuda::LadderExecutor>>(cuda::LadderExecutor(), bytes);
}

#endif

}  // namespace carom
