#pragma once

#include "kernels/core/arithmetic.hpp"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define CAROM_LANES_AVX2 1
#endif

// Four doubles at once, with the operations of arithmetic.hpp, so that a formula written for a type `Real` runs on one
// double or on four. Every operation is correctly rounded, so the four lanes hold the bits that four single runs give,
// with AVX2 and without.

namespace carom {

#ifdef CAROM_LANES_AVX2

struct Lanes {
    __m256d value;

    static Lanes filled(double x) { return {_mm256_set1_pd(x)}; }
    static Lanes load(const double* aligned) { return {_mm256_load_pd(aligned)}; }
    void store(double* aligned) const { _mm256_store_pd(aligned, value); }
    /// All lanes as lane 3.
    [[nodiscard]] Lanes last() const { return {_mm256_permute4x64_pd(value, 0xFF)}; }
    friend Lanes operator+(Lanes a, Lanes b) { return {_mm256_add_pd(a.value, b.value)}; }
    friend Lanes operator-(Lanes a, Lanes b) { return {_mm256_sub_pd(a.value, b.value)}; }
    friend Lanes operator*(Lanes a, Lanes b) { return {_mm256_mul_pd(a.value, b.value)}; }
    friend Lanes operator/(Lanes a, Lanes b) { return {_mm256_div_pd(a.value, b.value)}; }
};

/// One truth value a lane.
struct LanesMask {
    __m256d value;
    friend LanesMask operator&(LanesMask a, LanesMask b) { return {_mm256_and_pd(a.value, b.value)}; }
    /// Bit k is set where lane k is true.
    [[nodiscard]] int bits() const { return _mm256_movemask_pd(value); }
};

inline LanesMask less(Lanes a, Lanes b) { return {_mm256_cmp_pd(a.value, b.value, _CMP_LT_OQ)}; }
inline Lanes choose(LanesMask mask, Lanes a, Lanes b) { return {_mm256_blendv_pd(b.value, a.value, mask.value)}; }
inline Lanes square_root(Lanes x) { return {_mm256_sqrt_pd(x.value)}; }
inline Lanes fused(Lanes a, Lanes b, Lanes c) { return {_mm256_fmadd_pd(a.value, b.value, c.value)}; }
/// c - a * b with one rounding.
inline Lanes fused_away(Lanes a, Lanes b, Lanes c) { return {_mm256_fnmadd_pd(a.value, b.value, c.value)}; }
inline Lanes larger(Lanes a, Lanes b) { return {_mm256_max_pd(a.value, b.value)}; }

/// Four records of four doubles become four columns: column k holds field k of each record.
inline void transpose(Lanes r0, Lanes r1, Lanes r2, Lanes r3, Lanes columns[4]) {
    const __m256d low01 = _mm256_unpacklo_pd(r0.value, r1.value);
    const __m256d high01 = _mm256_unpackhi_pd(r0.value, r1.value);
    const __m256d low23 = _mm256_unpacklo_pd(r2.value, r3.value);
    const __m256d high23 = _mm256_unpackhi_pd(r2.value, r3.value);
    columns[0] = {_mm256_permute2f128_pd(low01, low23, 0x20)};
    columns[1] = {_mm256_permute2f128_pd(high01, high23, 0x20)};
    columns[2] = {_mm256_permute2f128_pd(low01, low23, 0x31)};
    columns[3] = {_mm256_permute2f128_pd(high01, high23, 0x31)};
}

#else

struct Lanes {
    double value[4];

    static Lanes filled(double x) { return {{x, x, x, x}}; }
    static Lanes load(const double* from) { return {{from[0], from[1], from[2], from[3]}}; }
    void store(double* to) const {
        for (int k = 0; k < 4; ++k) to[k] = value[k];
    }
    [[nodiscard]] Lanes last() const { return filled(value[3]); }

    template <class F>
    static Lanes each(F&& f) {
        return {{f(0), f(1), f(2), f(3)}};
    }
    friend Lanes operator+(const Lanes& a, const Lanes& b) {
        return each([&](int k) { return a.value[k] + b.value[k]; });
    }
    friend Lanes operator-(const Lanes& a, const Lanes& b) {
        return each([&](int k) { return a.value[k] - b.value[k]; });
    }
    friend Lanes operator*(const Lanes& a, const Lanes& b) {
        return each([&](int k) { return a.value[k] * b.value[k]; });
    }
    friend Lanes operator/(const Lanes& a, const Lanes& b) {
        return each([&](int k) { return a.value[k] / b.value[k]; });
    }
};

struct LanesMask {
    bool value[4];
    friend LanesMask operator&(const LanesMask& a, const LanesMask& b) {
        LanesMask both{};
        for (int k = 0; k < 4; ++k) both.value[k] = a.value[k] && b.value[k];
        return both;
    }
    [[nodiscard]] int bits() const { return value[0] | value[1] << 1 | value[2] << 2 | value[3] << 3; }
};

inline LanesMask less(const Lanes& a, const Lanes& b) {
    LanesMask result{};
    for (int k = 0; k < 4; ++k) result.value[k] = a.value[k] < b.value[k];
    return result;
}
inline Lanes choose(const LanesMask& mask, const Lanes& a, const Lanes& b) {
    return Lanes::each([&](int k) { return mask.value[k] ? a.value[k] : b.value[k]; });
}
inline Lanes square_root(const Lanes& x) {
    return Lanes::each([&](int k) { return square_root(x.value[k]); });
}
inline Lanes fused(const Lanes& a, const Lanes& b, const Lanes& c) {
    return Lanes::each([&](int k) { return fused(a.value[k], b.value[k], c.value[k]); });
}
inline Lanes fused_away(const Lanes& a, const Lanes& b, const Lanes& c) {
    return Lanes::each([&](int k) { return fused(-a.value[k], b.value[k], c.value[k]); });
}
inline Lanes larger(const Lanes& a, const Lanes& b) {
    return Lanes::each([&](int k) { return larger(a.value[k], b.value[k]); });
}
inline void transpose(const Lanes& r0, const Lanes& r1, const Lanes& r2, const Lanes& r3, Lanes columns[4]) {
    for (int k = 0; k < 4; ++k) columns[k] = {{r0.value[k], r1.value[k], r2.value[k], r3.value[k]}};
}

#endif

inline bool any(LanesMask mask) { return mask.bits() != 0; }
/// A number as `like` is one.
inline Lanes as(const Lanes& /*like*/, double number) { return Lanes::filled(number); }

// The same names for one double.
CAROM_HD bool any(bool mask) { return mask; }
CAROM_HD double as(double /*like*/, double number) { return number; }
CAROM_HD bool less(double a, double b) { return a < b; }
CAROM_HD double choose(bool mask, double a, double b) { return mask ? a : b; }
CAROM_HD double fused_away(double a, double b, double c) { return fused(-a, b, c); }

}  // namespace carom
