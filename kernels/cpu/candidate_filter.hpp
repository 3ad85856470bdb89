#pragma once

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "kernels/spring_params.hpp"

// The inner loop of the CPU: eight balls at a time against one row of eight candidates, in SIMD lanes. It only
// rejects: what it lets through is decided by the scalar function that every processor shares, so its own
// rounding is free as long as it errs on the side of letting through.

namespace carom {

constexpr std::uint32_t kLanes = 8;

/// The filter's distances are in single precision, from the upper 32 bits of the phases.
constexpr float kFilterSlack = 1.0F + 1e-5F;

/// Eight consecutive balls, loaded once for all their rows.
template <class Real, int Dim>
class BlockFilter {
public:
    BlockFilter(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls, std::uint32_t first)
        : balls_(balls), first_(first) {
        for (int axis = 0; axis < Dim; ++axis) {
            unit_[axis] = static_cast<float>(params.coordinates.quantum[axis] * kPerUpperUnit);
            slack_ += 2.0F * unit_[axis];  // of the bits that are left out
        }
        uniform_reach_ = reach_squared(static_cast<float>(2 * params.uniform_radius));
        load();
    }

    /// Bit l is set when lane l's candidate in `row` may touch it and is not the ball itself.
    [[nodiscard]] unsigned touching(const std::uint32_t* row) const;

private:
    static constexpr double kPerUpperUnit = static_cast<double>(std::int64_t{1} << (Phase<Real>::kBits - 32));

    [[nodiscard]] float reach_squared(float reach) const { return (reach + slack_) * (reach + slack_) * kFilterSlack; }
    [[nodiscard]] static std::int32_t upper(typename Phase<Real>::Stored phase) {
        if constexpr (sizeof(Real) == 4) {
            return static_cast<std::int32_t>(phase);
        } else {
            return static_cast<std::int32_t>(phase >> 32);
        }
    }
    void load();

    const BallsView<Real, Dim>& balls_;
    std::uint32_t first_;
    float unit_[Dim];
    float slack_ = 0.0F;
    float uniform_reach_;
    alignas(32) std::int32_t x_[Dim][kLanes];
    alignas(32) float radius_[kLanes];
};

template <class Real, int Dim>
void BlockFilter<Real, Dim>::load() {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        for (int axis = 0; axis < Dim; ++axis) x_[axis][lane] = upper(balls_.x[axis][first_ + lane]);
        radius_[lane] = balls_.radius != nullptr ? static_cast<float>(balls_.radius[first_ + lane]) : 0.0F;
    }
}

#if defined(__AVX2__)

namespace simd {

inline __m256i upper_bits(const std::uint32_t* x, __m256i index) {
    return _mm256_i32gather_epi32(reinterpret_cast<const int*>(x), index, 4);
}
inline __m256i upper_bits(const std::uint64_t* x, __m256i index) {
    return _mm256_i32gather_epi32(reinterpret_cast<const int*>(x) + 1, index, 8);
}
inline __m256 radii(const float* radius, __m256i index) { return _mm256_i32gather_ps(radius, index, 4); }
inline __m256 radii(const double* radius, __m256i index) {
    const __m128 low = _mm256_cvtpd_ps(_mm256_i32gather_pd(radius, _mm256_castsi256_si128(index), 8));
    const __m128 high = _mm256_cvtpd_ps(_mm256_i32gather_pd(radius, _mm256_extracti128_si256(index, 1), 8));
    return _mm256_set_m128(high, low);
}

}  // namespace simd

template <class Real, int Dim>
unsigned BlockFilter<Real, Dim>::touching(const std::uint32_t* row) const {
    const __m256i index = _mm256_load_si256(reinterpret_cast<const __m256i*>(row));
    __m256 squared = _mm256_setzero_ps();
    for (int axis = 0; axis < Dim; ++axis) {
        const __m256i own = _mm256_load_si256(reinterpret_cast<const __m256i*>(x_[axis]));
        const __m256i apart = _mm256_sub_epi32(simd::upper_bits(balls_.x[axis], index), own);
        const __m256 along = _mm256_mul_ps(_mm256_cvtepi32_ps(apart), _mm256_set1_ps(unit_[axis]));
        squared = _mm256_fmadd_ps(along, along, squared);
    }
    __m256 limit = _mm256_set1_ps(uniform_reach_);
    if (balls_.radius != nullptr) {
        const __m256 reach = _mm256_add_ps(_mm256_add_ps(_mm256_load_ps(radius_), simd::radii(balls_.radius, index)),
                                           _mm256_set1_ps(slack_));
        limit = _mm256_mul_ps(_mm256_mul_ps(reach, reach), _mm256_set1_ps(kFilterSlack));
    }
    const __m256i self =
        _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(first_)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    const __m256 near = _mm256_cmp_ps(squared, limit, _CMP_LT_OQ);
    const __m256 same = _mm256_castsi256_ps(_mm256_cmpeq_epi32(index, self));
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_andnot_ps(same, near)));
}

#else

template <class Real, int Dim>
unsigned BlockFilter<Real, Dim>::touching(const std::uint32_t* row) const {
    unsigned mask = 0;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        const std::uint32_t j = row[lane];
        float squared = 0.0F;
        for (int axis = 0; axis < Dim; ++axis) {
            const auto apart = static_cast<std::int32_t>(static_cast<std::uint32_t>(upper(balls_.x[axis][j])) -
                                                         static_cast<std::uint32_t>(x_[axis][lane]));
            const float along = static_cast<float>(apart) * unit_[axis];
            squared += along * along;
        }
        const float limit = balls_.radius != nullptr
                                ? reach_squared(radius_[lane] + static_cast<float>(balls_.radius[j]))
                                : uniform_reach_;
        if (j != first_ + lane && squared < limit) mask |= 1U << lane;
    }
    return mask;
}

#endif

}  // namespace carom
