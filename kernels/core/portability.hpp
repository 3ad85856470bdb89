#pragma once

// The one portability macro: a function that the host and the device execute to the same bits.
#if defined(__CUDACC__)
#define CAROM_HD __host__ __device__ __forceinline__
#else
#define CAROM_HD [[gnu::always_inline]] inline
#endif

namespace carom {

/// Behind a branch that few threads of a GPU's warp take: has them all go on together. The compiler must not know what
/// `value`, which the branch has set, is here; else a way around what follows, for some values, keeps them apart.
CAROM_HD void come_together([[maybe_unused]] int& value) {
#if defined(__CUDA_ARCH__)
    asm volatile("" : "+r"(value));
#endif
}

}  // namespace carom
