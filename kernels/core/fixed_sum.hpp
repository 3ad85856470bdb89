#pragma once

#include <cstdint>

#include "kernels/core/arithmetic.hpp"
#include "kernels/core/portability.hpp"
#include "kernels/core/vec.hpp"

// Sums whose result does not depend on the order of the terms: each term is rounded once to a fixed-point
// grid, and integers are added. The grid's step is 2^-52 (single precision) or, in two words, 2^-90 (double
// precision) of the largest term that is allowed, which is far below the rounding of the terms themselves.
// 1,000 terms at the limit do not overflow (double: 8 million). The fine word carries into the coarse one after every
// term: equal terms have equal remainders, which would overflow it after some 10,000 terms, however small they are.

namespace carom {

/// The grid: a power of two, so that scaling is exact.
template <class Real>
struct FixedGrid {
    Real limit;      ///< largest magnitude of one term, a power of two, in the terms' unit
    Real to_grid;    ///< steps per unit
    Real from_grid;  ///< 1 / to_grid
    Real to_fine;    ///< double precision only: fine steps per unit
    Real from_fine;  ///< 1 / to_fine

    static constexpr int kCoarseBits = sizeof(Real) == 4 ? 52 : 40;
    static constexpr int kFineBits = 50;
};

template <class Real, int Dim>
struct FixedSum;

template <int Dim>
struct FixedSum<float, Dim> {
    Vec<std::int64_t, Dim> steps;

    CAROM_HD static FixedSum zero() { return {Vec<std::int64_t, Dim>::filled(0)}; }
    CAROM_HD void add(const FixedGrid<float>& grid, const Vec<float, Dim>& term) {
        for (int axis = 0; axis < Dim; ++axis) steps[axis] += nearest_integer(term[axis] * grid.to_grid);
    }
    CAROM_HD void merge(const FixedSum& other) {
        for (int axis = 0; axis < Dim; ++axis) steps[axis] += other.steps[axis];
    }
    CAROM_HD Vec<float, Dim> total(const FixedGrid<float>& grid) const {
        Vec<float, Dim> result;
        for (int axis = 0; axis < Dim; ++axis) result[axis] = static_cast<float>(steps[axis]) * grid.from_grid;
        return result;
    }
};

template <int Dim>
struct FixedSum<double, Dim> {
    Vec<std::int64_t, Dim> steps;
    Vec<std::int64_t, Dim> fine;  // the remainder of each term, on its own grid

    CAROM_HD static FixedSum zero() { return {Vec<std::int64_t, Dim>::filled(0), Vec<std::int64_t, Dim>::filled(0)}; }
    CAROM_HD void add(const FixedGrid<double>& grid, const Vec<double, Dim>& term) {
        for (int axis = 0; axis < Dim; ++axis) {
            const std::int64_t coarse = nearest_integer(term[axis] * grid.to_grid);
            const double remainder = term[axis] - static_cast<double>(coarse) * grid.from_grid;  // exact
            steps[axis] += coarse;
            fine[axis] += nearest_integer(remainder * grid.to_fine);
            carry(axis);
        }
    }
    CAROM_HD void merge(const FixedSum& other) {
        for (int axis = 0; axis < Dim; ++axis) {
            steps[axis] += other.steps[axis];
            fine[axis] += other.fine[axis];
            carry(axis);
        }
    }
    /// Brings the fine word into half a coarse step: one form for each value, so that sums compare by their words.
    CAROM_HD void carry(int axis) {
        constexpr int kBits = FixedGrid<double>::kFineBits;
        const std::int64_t whole = (fine[axis] + (std::int64_t{1} << (kBits - 1))) >> kBits;
        steps[axis] += whole;
        fine[axis] -= whole * (std::int64_t{1} << kBits);
    }
    /// As add(), for terms that may exceed the limit or be NaN: they count as the limit.
    CAROM_HD void add_clamped(const FixedGrid<double>& grid, Vec<double, Dim> term) {
        for (int axis = 0; axis < Dim; ++axis) {
            term[axis] = larger(smaller(term[axis], grid.limit), -grid.limit);
        }
        add(grid, term);
    }
    /// Adds terms to one component, as add_clamped one after the other would, but in SIMD lanes. At most 4,096.
    void add_all_clamped(const FixedGrid<double>& grid, int axis, const double* terms, std::uint32_t count) {
        std::int64_t coarse_sum = 0;
        std::int64_t fine_sum = 0;
        for (std::uint32_t k = 0; k < count; ++k) {
            const double term = larger(smaller(terms[k], grid.limit), -grid.limit);
            const double whole = term * grid.to_grid;
            const std::int64_t coarse = nearest_integer51(whole);
            const double remainder = term - rounded51(whole) * grid.from_grid;
            coarse_sum += coarse;
            fine_sum += nearest_integer51(remainder * grid.to_fine);
        }
        steps[axis] += coarse_sum;
        fine[axis] += fine_sum;
        carry(axis);
    }
    CAROM_HD Vec<double, Dim> total(const FixedGrid<double>& grid) const {
        Vec<double, Dim> result;
        for (int axis = 0; axis < Dim; ++axis) {
            result[axis] = fused(static_cast<double>(steps[axis]), grid.from_grid,
                                 static_cast<double>(fine[axis]) * grid.from_fine);
        }
        return result;
    }
};

/// An integer of 95 bits to count small steps in for ever: the sum of any number of 64-bit terms, in any order.
struct WideCount {
    std::int64_t high = 0;  ///< times 2^32
    std::int64_t low = 0;   ///< 0 to 2^32 - 1 between additions

    CAROM_HD void add(std::int64_t term) {
        constexpr std::int64_t kBase = std::int64_t{1} << 32;
        const std::int64_t upper = term >> 32;
        low += term - upper * kBase;
        const std::int64_t carry = low >> 32;
        low -= carry * kBase;
        high += upper + carry;
    }
    CAROM_HD void merge(const WideCount& other) {
        high += other.high;
        add(other.low);
    }

    /// To double, rounded twice.
    [[nodiscard]] CAROM_HD double value() const {
        return static_cast<double>(high) * 4294967296.0 + static_cast<double>(low);
    }
};

}  // namespace carom
