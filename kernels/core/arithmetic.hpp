#pragma once

#include <cstdint>

#include "kernels/core/portability.hpp"

// The operations that may reach the state: + - * / are the language's own (no contraction, no flush to zero);
// the rest are here. Each is correctly rounded, so every processor and compiler gives the same bits.

namespace carom {

CAROM_HD float square_root(float x) { return __builtin_sqrtf(x); }
CAROM_HD double square_root(double x) { return __builtin_sqrt(x); }

/// a * b + c with one rounding.
CAROM_HD float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
CAROM_HD double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }

/// To the nearest integer, ties to even. The argument must be in the result's range.
CAROM_HD std::int64_t nearest_integer(float x) { return static_cast<std::int64_t>(__builtin_rintf(x)); }
CAROM_HD std::int64_t nearest_integer(double x) { return static_cast<std::int64_t>(__builtin_rint(x)); }
/// The same for magnitudes of at most 2^51, by an addition whose rounding is the one wanted: SIMD lanes have that.
CAROM_HD std::int64_t nearest_integer51(double x) {
    constexpr double kShift = 0x1.8p52;
    return __builtin_bit_cast(std::int64_t, x + kShift) - __builtin_bit_cast(std::int64_t, kShift);
}
/// The same, as a double.
CAROM_HD double rounded51(double x) {
    constexpr double kShift = 0x1.8p52;
    return x + kShift - kShift;
}
CAROM_HD std::int32_t nearest_integer32(float x) { return static_cast<std::int32_t>(__builtin_rintf(x)); }

/// a where a is smaller, else b: also where either is NaN or both are zeros.
template <class T>
CAROM_HD T smaller(T a, T b) {
    return a < b ? a : b;
}
/// a where a is larger, else b: also where either is NaN or both are zeros.
template <class T>
CAROM_HD T larger(T a, T b) {
    return a > b ? a : b;
}

}  // namespace carom
