// In a source of its own, as the other sort: Thrust's kernels take long to compile.

#include <thrust/sort.h>

#include "kernels/cuda/ladder_executor.hpp"

namespace carom::CAROM_PROCESSOR {

void LadderExecutor::sort_pairs(std::uint32_t* key, std::uint32_t* value, std::size_t count, int) {
    thrust::sort_by_key(algorithms_in(*queue_, *scratch_), key, key + count, value);
}

}  // namespace carom::CAROM_PROCESSOR
