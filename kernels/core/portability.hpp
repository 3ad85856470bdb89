#pragma once

// The one portability macro: a function that the host and the device execute to the same bits.
#if defined(__CUDACC__)
#define CAROM_HD __host__ __device__ __forceinline__
#else
#define CAROM_HD [[gnu::always_inline]] inline
#endif
