#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace carom {

/// Whether new values of this many bytes, and as many old ones, had better go past the caches into memory: what is
/// written in the usual way is read first, and by the next step the caches have lost it anyway. Measured in 3D with
/// single precision: 1.15 times the speed at 48 MB for both, 0.92 at 5 MB.
constexpr bool goes_past_caches([[maybe_unused]] std::size_t bytes) {
#if defined(__AVX2__)
    return bytes > (std::size_t{10} << 20);
#else
    return false;
#endif
}

/// Copies values past the caches. Other threads see them after end_of_stream().
/// \param to     on a multiple of 32 bytes, like `from`
/// \param count  of values that fill whole 32 bytes
template <class T>
void stream(const T* from, T* to, std::size_t count) {
#if defined(__AVX2__)
    const auto* source = reinterpret_cast<const __m256i*>(from);
    auto* target = reinterpret_cast<__m256i*>(to);
    for (std::size_t k = 0; k < count * sizeof(T) / sizeof(__m256i); ++k) {
        _mm256_stream_si256(target + k, _mm256_load_si256(source + k));
    }
#else
    for (std::size_t k = 0; k < count; ++k) to[k] = from[k];
#endif
}

inline void end_of_stream() {
#if defined(__AVX2__)
    _mm_sfence();
#endif
}

}  // namespace carom
