#pragma once

#include <array>
#include <bit>
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "kernels/spring_params.hpp"

// Eight distances at a time, in SIMD lanes: which pairs of balls are near enough to be looked at. The filter only
// rejects. What it lets through is decided by the scalar functions that every processor shares, so its own rounding is
// free as long as it errs on the side of letting through: distances are in single precision, from the upper 32 bits of
// the phases.

namespace carom {

constexpr std::uint32_t kLanes = 8;

/// The arrays of balls are this much longer than there are balls, since eight are loaded from wherever one begins.
constexpr std::size_t padded(std::size_t count) { return (count + kLanes - 1) / kLanes * kLanes + kLanes; }

/// Eight pairs: the first of each is one of eight consecutive balls, the second any ball.
struct PairRow {
    const std::uint32_t* other;  ///< slots
    const std::uint8_t* own;     ///< counted from the first of the eight consecutive balls

    [[nodiscard]] PairRow next() const { return {other + kLanes, own + kLanes}; }
};

namespace near_filter {

constexpr float kSlack = 1.0F + 1e-5F;  // for the roundings of single precision

inline std::int32_t upper_bits(std::uint32_t phase) { return static_cast<std::int32_t>(phase); }
inline std::int32_t upper_bits(std::uint64_t phase) { return static_cast<std::int32_t>(phase >> 32); }

#if defined(__AVX2__)

inline __m256i upper_from(const std::uint32_t* x) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)); }
inline __m256i upper_from(const std::uint64_t* x) {
    const __m256 low = _mm256_loadu_ps(reinterpret_cast<const float*>(x));
    const __m256 high = _mm256_loadu_ps(reinterpret_cast<const float*>(x + 4));
    const __m256 mixed = _mm256_shuffle_ps(low, high, _MM_SHUFFLE(3, 1, 3, 1));
    return _mm256_permute4x64_epi64(_mm256_castps_si256(mixed), _MM_SHUFFLE(3, 1, 2, 0));
}
inline __m256i upper_at(const std::uint32_t* x, __m256i slots) {
    return _mm256_i32gather_epi32(reinterpret_cast<const int*>(x), slots, 4);
}
inline __m256i upper_at(const std::uint64_t* x, __m256i slots) {
    return _mm256_i32gather_epi32(reinterpret_cast<const int*>(x) + 1, slots, 8);
}
inline __m256 radii_from(const float* radius) { return _mm256_loadu_ps(radius); }
inline __m256 radii_from(const double* radius) {
    return _mm256_set_m128(_mm256_cvtpd_ps(_mm256_loadu_pd(radius + 4)), _mm256_cvtpd_ps(_mm256_loadu_pd(radius)));
}
inline __m256 radii_at(const float* radius, __m256i slots) { return _mm256_i32gather_ps(radius, slots, 4); }
inline __m256 radii_at(const double* radius, __m256i slots) {
    const __m128 low = _mm256_cvtpd_ps(_mm256_i32gather_pd(radius, _mm256_castsi256_si128(slots), 8));
    const __m128 high = _mm256_cvtpd_ps(_mm256_i32gather_pd(radius, _mm256_extracti128_si256(slots, 1), 8));
    return _mm256_set_m128(high, low);
}

#endif

/// For each mask of eight lanes, where the lanes that are set come from when they are moved to the front.
constexpr std::array<std::array<std::uint8_t, kLanes>, 256> kToFront = [] {
    std::array<std::array<std::uint8_t, kLanes>, 256> table{};
    for (unsigned mask = 0; mask < table.size(); ++mask) {
        std::size_t kept = 0;
        for (unsigned lane = 0; lane < kLanes; ++lane) {
            if ((mask >> lane & 1U) != 0) table[mask][kept++] = static_cast<std::uint8_t>(lane);
        }
    }
    return table;
}();

}  // namespace near_filter

#if defined(__AVX2__)

inline __m256i eight_bytes(const std::uint8_t* bytes) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes)));
}
inline __m256i eight_slots(const std::uint32_t* slots) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(slots));
}
inline void store_slots(std::uint32_t* to, __m256i slots) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), slots);
}

#endif

/// Writes the slots of those pairs of a row whose bits are set, and returns how many. Eight are written in any case,
/// without a branch.
/// \param first  slot of the first of the eight consecutive balls
inline std::uint32_t keep_pairs(const PairRow& row, unsigned kept, std::uint32_t first, std::uint32_t* one,
                                std::uint32_t* other) {
#if defined(__AVX2__)
    const __m256i order = eight_bytes(near_filter::kToFront[kept].data());
    const __m256i own = _mm256_add_epi32(eight_bytes(row.own), _mm256_set1_epi32(static_cast<int>(first)));
    store_slots(other, _mm256_permutevar8x32_epi32(eight_slots(row.other), order));
    store_slots(one, _mm256_permutevar8x32_epi32(own, order));
#else
    for (std::uint32_t k = 0; k < kLanes; ++k) {
        const std::uint8_t lane = near_filter::kToFront[kept][k];
        other[k] = row.other[lane];
        one[k] = first + row.own[lane];
    }
#endif
    return static_cast<std::uint32_t>(std::popcount(kept));
}

/// Moves those of eight slots whose bits are set to the front of `to`, in the same manner.
inline void keep_slots(const std::uint32_t* slots, unsigned kept, std::uint32_t* to) {
#if defined(__AVX2__)
    const __m256i order = eight_bytes(near_filter::kToFront[kept].data());
    store_slots(to, _mm256_permutevar8x32_epi32(eight_slots(slots), order));
#else
    for (std::uint32_t k = 0; k < kLanes; ++k) to[k] = slots[near_filter::kToFront[kept][k]];
#endif
}

/// Writes those of the slots first, first + 1, ... whose bits are set, in the same manner.
inline std::uint32_t keep_slots(std::uint32_t first, unsigned kept, std::uint32_t* slots) {
#if defined(__AVX2__)
    const __m256i lanes = eight_bytes(near_filter::kToFront[kept].data());
    store_slots(slots, _mm256_add_epi32(lanes, _mm256_set1_epi32(static_cast<int>(first))));
#else
    for (std::uint32_t k = 0; k < kLanes; ++k) slots[k] = first + near_filter::kToFront[kept][k];
#endif
    return static_cast<std::uint32_t>(std::popcount(kept));
}

/// Which pairs of balls are nearer than the sum of their radii and a given `extra` [length].
template <class Real, int Dim>
class NearFilter {
public:
    /// Eight balls.
    struct Eight {
#if defined(__AVX2__)
        __m256i x[Dim];
        __m256 radius;
#else
        std::int32_t x[Dim][kLanes];
        float radius[kLanes];
#endif
    };

    NearFilter(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls, double extra)
        : x_(balls.x), radius_(balls.radius), slack_(static_cast<float>(extra)) {
        constexpr double kPerUpperUnit = static_cast<double>(std::int64_t{1} << (Phase<Real>::kBits - 32));
        for (int axis = 0; axis < Dim; ++axis) {
            unit_[axis] = static_cast<float>(params.coordinates.quantum[axis] * kPerUpperUnit);
            slack_ += 2.0F * unit_[axis];  // for the bits that are left out
        }
        const float reach = static_cast<float>(2 * params.uniform_radius) + slack_;
        uniform_limit_ = reach * reach * near_filter::kSlack;
    }

    /// Eight consecutive balls.
    [[nodiscard]] Eight from(std::uint32_t first) const;
    /// The same ball eight times.
    [[nodiscard]] Eight same(std::uint32_t slot) const;
    /// The balls in any eight slots.
    [[nodiscard]] Eight at(const std::uint32_t* slots) const;

    /// Bit l is set where pair l of the row, whose first balls are of `eight`, may be near.
    [[nodiscard]] unsigned near(const Eight& eight, const PairRow& row) const;
    /// Bit l is set where ball l of one eight may be near ball l of the other.
    [[nodiscard]] unsigned near(const Eight& one, const Eight& other) const;

    /// Calls f(at, bits): bit l is set where the ball in slot at + l, of those in [first, last), may be near the ball
    /// that `own` holds eight times.
    template <class F>
    void for_each_eight(const Eight& own, std::uint32_t first, std::uint32_t last, F&& f) const {
        for (std::uint32_t at = first; at < last; at += kLanes) {
            unsigned bits = near(own, from(at));
            if (last - at < kLanes) bits &= (1U << (last - at)) - 1U;
            f(at, bits);
        }
    }

private:
    Vec<const typename Phase<Real>::Stored*, Dim> x_;
    const Real* radius_;  // null where uniform
    float unit_[Dim];
    float slack_;
    float uniform_limit_;
};

#if defined(__AVX2__)

template <class Real, int Dim>
inline typename NearFilter<Real, Dim>::Eight NearFilter<Real, Dim>::from(std::uint32_t first) const {
    Eight eight;
    for (int axis = 0; axis < Dim; ++axis) eight.x[axis] = near_filter::upper_from(x_[axis] + first);
    eight.radius = radius_ != nullptr ? near_filter::radii_from(radius_ + first) : _mm256_setzero_ps();
    return eight;
}

template <class Real, int Dim>
inline typename NearFilter<Real, Dim>::Eight NearFilter<Real, Dim>::same(std::uint32_t slot) const {
    Eight eight;
    for (int axis = 0; axis < Dim; ++axis) {
        eight.x[axis] = _mm256_set1_epi32(near_filter::upper_bits(x_[axis][slot]));
    }
    eight.radius = _mm256_set1_ps(radius_ != nullptr ? static_cast<float>(radius_[slot]) : 0.0F);
    return eight;
}

template <class Real, int Dim>
inline unsigned NearFilter<Real, Dim>::near(const Eight& one, const Eight& other) const {
    __m256 squared = _mm256_setzero_ps();
    for (int axis = 0; axis < Dim; ++axis) {
        const __m256i apart = _mm256_sub_epi32(other.x[axis], one.x[axis]);
        const __m256 along = _mm256_mul_ps(_mm256_cvtepi32_ps(apart), _mm256_set1_ps(unit_[axis]));
        squared = _mm256_fmadd_ps(along, along, squared);
    }
    __m256 limit = _mm256_set1_ps(uniform_limit_);
    if (radius_ != nullptr) {
        const __m256 reach = _mm256_add_ps(_mm256_add_ps(one.radius, other.radius), _mm256_set1_ps(slack_));
        limit = _mm256_mul_ps(_mm256_mul_ps(reach, reach), _mm256_set1_ps(near_filter::kSlack));
    }
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(squared, limit, _CMP_LT_OQ)));
}

template <class Real, int Dim>
inline typename NearFilter<Real, Dim>::Eight NearFilter<Real, Dim>::at(const std::uint32_t* slots) const {
    const __m256i eight_of = eight_slots(slots);
    Eight eight;
    for (int axis = 0; axis < Dim; ++axis) eight.x[axis] = near_filter::upper_at(x_[axis], eight_of);
    eight.radius = radius_ != nullptr ? near_filter::radii_at(radius_, eight_of) : _mm256_setzero_ps();
    return eight;
}

template <class Real, int Dim>
inline unsigned NearFilter<Real, Dim>::near(const Eight& eight, const PairRow& row) const {
    const __m256i own = eight_bytes(row.own);
    Eight one;
    for (int axis = 0; axis < Dim; ++axis) one.x[axis] = _mm256_permutevar8x32_epi32(eight.x[axis], own);
    one.radius = _mm256_permutevar8x32_ps(eight.radius, own);
    return near(one, at(row.other));
}

#else

template <class Real, int Dim>
inline typename NearFilter<Real, Dim>::Eight NearFilter<Real, Dim>::from(std::uint32_t first) const {
    Eight eight;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        for (int axis = 0; axis < Dim; ++axis) {
            eight.x[axis][lane] = near_filter::upper_bits(x_[axis][first + lane]);
        }
        eight.radius[lane] = radius_ != nullptr ? static_cast<float>(radius_[first + lane]) : 0.0F;
    }
    return eight;
}

template <class Real, int Dim>
inline typename NearFilter<Real, Dim>::Eight NearFilter<Real, Dim>::same(std::uint32_t slot) const {
    Eight eight;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        for (int axis = 0; axis < Dim; ++axis) eight.x[axis][lane] = near_filter::upper_bits(x_[axis][slot]);
        eight.radius[lane] = radius_ != nullptr ? static_cast<float>(radius_[slot]) : 0.0F;
    }
    return eight;
}

template <class Real, int Dim>
inline unsigned NearFilter<Real, Dim>::near(const Eight& one, const Eight& other) const {
    unsigned mask = 0;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        float squared = 0.0F;
        for (int axis = 0; axis < Dim; ++axis) {
            const auto apart = static_cast<std::int32_t>(static_cast<std::uint32_t>(other.x[axis][lane]) -
                                                         static_cast<std::uint32_t>(one.x[axis][lane]));
            const float along = static_cast<float>(apart) * unit_[axis];
            squared += along * along;
        }
        const float reach = one.radius[lane] + other.radius[lane] + slack_;
        const float limit = radius_ != nullptr ? reach * reach * near_filter::kSlack : uniform_limit_;
        mask |= squared < limit ? 1U << lane : 0U;
    }
    return mask;
}

template <class Real, int Dim>
inline typename NearFilter<Real, Dim>::Eight NearFilter<Real, Dim>::at(const std::uint32_t* slots) const {
    Eight eight;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        for (int axis = 0; axis < Dim; ++axis) eight.x[axis][lane] = near_filter::upper_bits(x_[axis][slots[lane]]);
        eight.radius[lane] = radius_ != nullptr ? static_cast<float>(radius_[slots[lane]]) : 0.0F;
    }
    return eight;
}

template <class Real, int Dim>
inline unsigned NearFilter<Real, Dim>::near(const Eight& eight, const PairRow& row) const {
    Eight one;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        for (int axis = 0; axis < Dim; ++axis) one.x[axis][lane] = eight.x[axis][row.own[lane]];
        one.radius[lane] = eight.radius[row.own[lane]];
    }
    return near(one, at(row.other));
}

#endif

}  // namespace carom
