#include "kernels/core/fixed_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/spring_plan.hpp"

namespace carom {
namespace {

constexpr double kLimit = 1024.0;

template <class Real>
std::vector<Vec<Real, 2>> random_terms(std::size_t count, double largest, unsigned seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> sign(-1.0, 1.0);
    std::uniform_real_distribution<double> decades(-12.0, 0.0);
    std::vector<Vec<Real, 2>> terms(count);
    for (auto& term : terms) {
        for (int axis = 0; axis < 2; ++axis) {
            term[axis] = static_cast<Real>(largest * std::copysign(std::pow(10.0, decades(random)), sign(random)));
        }
    }
    return terms;
}

template <class Real>
FixedSum<Real, 2> sum_of(const FixedGrid<Real>& grid, const std::vector<Vec<Real, 2>>& terms) {
    auto sum = FixedSum<Real, 2>::zero();
    for (const auto& term : terms) sum.add(grid, term);
    return sum;
}

template <class Real>
class FixedSumOf : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(FixedSumOf, Reals);

TYPED_TEST(FixedSumOf, TheOrderOfTheTermsDoesNotMatter) {
    const auto grid = make_fixed_grid<TypeParam>(kLimit);
    auto terms = random_terms<TypeParam>(1000, kLimit, 1);
    const auto first = sum_of(grid, terms).total(grid);
    std::mt19937_64 random(2);
    for (int shuffle = 0; shuffle < 50; ++shuffle) {
        std::shuffle(terms.begin(), terms.end(), random);
        const auto total = sum_of(grid, terms).total(grid);
        ASSERT_EQ(total[0], first[0]);
        ASSERT_EQ(total[1], first[1]);
    }
}

TYPED_TEST(FixedSumOf, TheTotalIsTheExactOneRoundedOnce) {
    // Each term is rounded to the grid (its finest step: 2^-52 of the limit, or 2^-90 in two words), the total to Real.
    const auto grid = make_fixed_grid<TypeParam>(kLimit);
    const double step = sizeof(TypeParam) == 4 ? std::ldexp(kLimit, -52) : std::ldexp(kLimit, -90);
    for (unsigned seed = 1; seed <= 50; ++seed) {
        const auto terms = random_terms<TypeParam>(200, kLimit, seed);
        const auto total = sum_of(grid, terms).total(grid);
        for (int axis = 0; axis < 2; ++axis) {
            long double exact = 0.0L;
            for (const auto& term : terms) exact += term[axis];
            // half a step a term, one rounding of the total; long double's own error is 200 * 2^-64 * limit
            const double bound =
                200.0 * 0.5 * step +
                0.5 * std::numeric_limits<TypeParam>::epsilon() * std::abs(static_cast<double>(exact)) +
                200.0 * std::ldexp(kLimit, -64);
            ASSERT_NEAR(static_cast<double>(total[axis]), static_cast<double>(exact), bound);
        }
    }
}

TYPED_TEST(FixedSumOf, OppositeTermsCancelToExactlyZero) {
    const auto grid = make_fixed_grid<TypeParam>(kLimit);
    for (const auto& term : random_terms<TypeParam>(1000, kLimit, 3)) {
        auto sum = FixedSum<TypeParam, 2>::zero();
        sum.add(grid, term);
        sum.add(grid, TypeParam(-1) * term);
        const auto total = sum.total(grid);
        ASSERT_EQ(total[0], TypeParam(0));
        ASSERT_EQ(total[1], TypeParam(0));
        ASSERT_FALSE(std::signbit(total[0]));
    }
}

TYPED_TEST(FixedSumOf, AThousandTermsAtTheLimitDoNotOverflow) {
    const auto grid = make_fixed_grid<TypeParam>(kLimit);
    auto sum = FixedSum<TypeParam, 1>::zero();
    for (int term = 0; term < 1000; ++term) sum.add(grid, {static_cast<TypeParam>(-kLimit)});
    EXPECT_EQ(sum.total(grid)[0], static_cast<TypeParam>(-1000.0 * kLimit));
}

TYPED_TEST(FixedSumOf, ASingleTermKeepsItsValueFarBelowTheLimit) {
    // A force of 2^-27 of the limit still has all 24 (52) bits.
    const auto grid = make_fixed_grid<TypeParam>(kLimit);
    for (const double value : {1.0 / 3.0, -0.1, 5.0e-3}) {
        const auto term = static_cast<TypeParam>(std::ldexp(value * kLimit, -20));
        auto sum = FixedSum<TypeParam, 1>::zero();
        sum.add(grid, {term});
        EXPECT_EQ(sum.total(grid)[0], term);
    }
}

TEST(FixedSum, MillionsOfEqualTermsAddUp) {
    // Equal terms have equal remainders, which must not overflow the fine word: a gas of balls of one speed.
    const auto grid = make_fixed_grid<double>(kLimit);
    constexpr int kTerms = 3'000'000;
    for (const double term : {kLimit * 0.3, kLimit * 1.0e-7 / 3.0, -kLimit / 7.0}) {
        auto sum = FixedSum<double, 1>::zero();
        for (int count = 0; count < kTerms; ++count) sum.add(grid, {term});
        const double exact = term * kTerms;
        const double bound =
            kTerms * 0.5 * std::ldexp(kLimit, -90) + 0x1p-52 * std::abs(exact);  // grid; product and total
        EXPECT_NEAR(sum.total(grid)[0], exact, bound);
    }
}

TEST(FixedSum, HowTheTermsAreDividedAmongPartialSumsDoesNotMatter) {
    const auto grid = make_fixed_grid<double>(kLimit);
    const auto terms = random_terms<double>(100'000, kLimit, 5);
    const auto whole = sum_of(grid, terms).total(grid);
    for (const std::size_t share : {1UL, 7UL, 1024UL}) {
        auto merged = FixedSum<double, 2>::zero();
        for (std::size_t begin = 0; begin < terms.size(); begin += share) {
            const std::size_t end = std::min(begin + share, terms.size());
            merged.merge(sum_of(grid, std::vector<Vec<double, 2>>(terms.begin() + static_cast<std::ptrdiff_t>(begin),
                                                                  terms.begin() + static_cast<std::ptrdiff_t>(end))));
        }
        const auto total = merged.total(grid);
        EXPECT_EQ(total[0], whole[0]) << share;
        EXPECT_EQ(total[1], whole[1]) << share;
    }
}

TEST(FixedSum, AClampedTermCountsAsTheLimit) {
    const auto grid = make_fixed_grid<double>(kLimit);
    for (const double wild : {1e300, HUGE_VAL, static_cast<double>(NAN), 1024.5}) {
        auto sum = FixedSum<double, 1>::zero();
        sum.add_clamped(grid, {wild});
        EXPECT_EQ(sum.total(grid)[0], kLimit);
    }
    auto sum = FixedSum<double, 1>::zero();
    sum.add_clamped(grid, {-HUGE_VAL});
    EXPECT_EQ(sum.total(grid)[0], -kLimit);
}

}  // namespace
}  // namespace carom
