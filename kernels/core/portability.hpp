#pragma once

// The one portability macro: a function that the host and the device execute to the same bits.
#if defined(__CUDACC__)
#define CAROM_HD __host__ __device__ __forceinline__
#else
#define CAROM_HD [[gnu::always_inline]] inline
#endif

namespace carom {

/// Threads of a GPU's warp that are together here. A branch that some of them take may keep them apart for as long as
/// the compiler likes, and what follows is then done twice.
class Company {
public:
    /// Waits until all are here again; all must come.
    CAROM_HD void meet() const {
#if defined(__CUDA_ARCH__)
        __syncwarp(mask_);
#endif
    }

private:
#if defined(__CUDA_ARCH__)
    unsigned mask_ = __activemask();
#endif
};

}  // namespace carom
