#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "kernels/core/coordinates.hpp"
#include "kernels/core/fixed_sum.hpp"
#include "kernels/core/random.hpp"
#include "kernels/core/transcendental.hpp"
#include "kernels/params_from_setup.hpp"

namespace carom::core_test {

// Known answers published with Random123 (kat_vectors, philox4x32 10).
TEST(Random, IsPhilox) {
    const RandomWords zeros = random_words(0, 0, static_cast<RandomPurpose>(0), 0);
    EXPECT_EQ(zeros.word[0], 0x6627e8d5u);
    EXPECT_EQ(zeros.word[1], 0xe169c58du);
    EXPECT_EQ(zeros.word[2], 0xbc57ac4cu);
    EXPECT_EQ(zeros.word[3], 0x9b00dbd8u);
    // all bits of counter and key set: id 2^56 - 1 and purpose 255 fill the last word
    const RandomWords ones = random_words(~0ULL, (1ULL << 56) - 1, static_cast<RandomPurpose>(255), ~0ULL);
    EXPECT_EQ(ones.word[0], 0x408f276du);
    EXPECT_EQ(ones.word[1], 0x41c83b0eu);
    EXPECT_EQ(ones.word[2], 0xa20bc7c6u);
    EXPECT_EQ(ones.word[3], 0x6d5451fdu);
}

TEST(Random, SeedIdPurposeAndCounterAllMatter) {
    std::set<std::uint64_t> seen;
    std::size_t drawn = 0;
    for (const std::uint64_t seed : {1ULL, 2ULL, 1ULL << 32, 1ULL << 63}) {
        for (const std::uint64_t id : {0ULL, 1ULL, 1ULL << 31, 1ULL << 40}) {
            for (const auto purpose :
                 {RandomPurpose::kVelocity, RandomPurpose::kDirection, RandomPurpose::kThermalWall}) {
                for (const std::uint64_t counter : {0ULL, 1ULL, 1ULL << 32, 1ULL << 63}) {
                    seen.insert(random_words(seed, id, purpose, counter).wide(0));
                    ++drawn;
                }
            }
        }
    }
    EXPECT_EQ(seen.size(), drawn);
}

TEST(Random, UniformIsInTheOpenInterval) {
    const RandomWords least{{0, 0, 0, 0}};
    const RandomWords most{{~0u, ~0u, ~0u, ~0u}};
    EXPECT_GT(least.uniform(0), 0.0);
    EXPECT_LT(most.uniform(1), 1.0);
    EXPECT_EQ(least.uniform(0), std::ldexp(1.0, -53));
    EXPECT_EQ(1.0 - most.uniform(0), std::ldexp(1.0, -53));
}

TEST(Random, NormalDeviatesAreNormal) {
    constexpr int kPairs = 100000;
    double sum = 0.0;
    double square = 0.0;
    double fourth = 0.0;
    double mixed = 0.0;
    for (int id = 0; id < kPairs; ++id) {
        const NormalPair pair = normal_pair(random_words(3, id, RandomPurpose::kVelocity, 0));
        for (const double x : {pair.first, pair.second}) {
            sum += x;
            square += x * x;
            fourth += x * x * x * x;
        }
        mixed += pair.first * pair.second;
    }
    const double n = 2.0 * kPairs;
    // 4 sigma each: variances of x, x^2, x^4 and x y are 1, 2, 96 and 1
    EXPECT_NEAR(sum / n, 0.0, 4.0 / std::sqrt(n));
    EXPECT_NEAR(square / n, 1.0, 4.0 * std::sqrt(2.0 / n));
    EXPECT_NEAR(fourth / n, 3.0, 4.0 * std::sqrt(96.0 / n));
    EXPECT_NEAR(mixed / kPairs, 0.0, 4.0 / std::sqrt(kPairs));
}

constexpr int kDraws = 200000;

/// Distance of `value` from `exact` in units of the last place of `exact` as a double.
double ulps(double value, long double exact) {
    const double nearest = static_cast<double>(exact);
    const double unit = std::nextafter(std::abs(nearest), std::numeric_limits<double>::infinity()) - std::abs(nearest);
    return static_cast<double>(std::abs(static_cast<long double>(value) - exact) / unit);
}

double uniform(std::uint64_t draw) { return random_words(7, draw, RandomPurpose::kVelocity, 0).uniform(0); }

TEST(Transcendental, LogarithmIsWithinOneUlp) {
    double worst = 0.0;
    for (int draw = 0; draw < kDraws; ++draw) {
        const double u = uniform(draw);
        const double wide = std::ldexp(u, draw % 2000 - 1060);  // over the whole range, subnormals included
        const double near_one = 0.5 + u;
        for (const double x : {u, wide, near_one}) {
            if (x == 0.0 || x == 1.0) continue;
            worst = std::max(worst, ulps(natural_log(x), std::log(static_cast<long double>(x))));
        }
    }
    EXPECT_LE(worst, 1.0);
    EXPECT_EQ(natural_log(1.0), 0.0);
    EXPECT_EQ(natural_log(0.0), -std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isnan(natural_log(-1.0)));
}

TEST(Transcendental, ExponentialIsWithinOneUlp) {
    double worst = 0.0;
    for (int draw = 0; draw < kDraws; ++draw) {
        const double u = uniform(draw);
        for (const double x : {1416.0 * u - 708.0, 2.0 * u - 1.0}) {
            worst = std::max(worst, ulps(exponential(x), std::exp(static_cast<long double>(x))));
        }
    }
    EXPECT_LE(worst, 1.0);
    EXPECT_EQ(exponential(0.0), 1.0);
    EXPECT_EQ(exponential(-800.0), 0.0);
    EXPECT_EQ(exponential(800.0), std::numeric_limits<double>::infinity());
}

TEST(Transcendental, SineAndCosineOfTurnsAreWithinOneUlp) {
    constexpr long double kTwoPi = 6.283185307179586476925286766559005768L;
    double worst = 0.0;
    for (int draw = 0; draw < kDraws; ++draw) {
        const double turns = uniform(draw);
        // Reduced to an eighth of a turn, exactly, so that long double's rounding of the angle does not show.
        const int quarter = static_cast<int>(std::lround(4.0 * turns));
        const long double angle = kTwoPi * (static_cast<long double>(turns) - 0.25L * quarter);
        const long double s = std::sin(angle);
        const long double c = std::cos(angle);
        const long double sines[] = {s, c, -s, -c};
        const long double cosines[] = {c, -s, -c, s};
        const SineCosine result = sine_cosine_of_turns(turns);
        worst = std::max(worst, ulps(result.sine, sines[quarter & 3]));
        worst = std::max(worst, ulps(result.cosine, cosines[quarter & 3]));
    }
    EXPECT_LE(worst, 1.0);
}

TEST(Transcendental, QuarterTurnsAreExact) {
    const double sines[] = {0.0, 1.0, 0.0, -1.0};
    const double cosines[] = {1.0, 0.0, -1.0, 0.0};
    for (int quarter = -8; quarter < 8; ++quarter) {
        const SineCosine result = sine_cosine_of_turns(0.25 * quarter);
        EXPECT_EQ(result.sine, sines[quarter & 3]) << quarter;
        EXPECT_EQ(result.cosine, cosines[quarter & 3]) << quarter;
    }
}

TEST(Transcendental, ArcTangentIsWithinOneUlp) {
    double worst = 0.0;
    for (int draw = 0; draw < kDraws; ++draw) {
        const double u = uniform(draw);
        for (const double x : {u, -4.0 * u, std::ldexp(u, draw % 80 - 20)}) {
            worst = std::max(worst, ulps(arc_tangent(x), std::atan(static_cast<long double>(x))));
        }
    }
    EXPECT_LE(worst, 1.0);
}

TEST(Transcendental, ArcCosineAndAreaCosineAreWithinAFewUlps) {
    double worst_circle = 0.0;
    double worst_area = 0.0;
    for (int draw = 0; draw < kDraws; ++draw) {
        const double u = uniform(draw);
        const double x = 2.0 * u - 1.0;
        worst_circle = std::max(worst_circle, ulps(arc_cosine(x), std::acos(static_cast<long double>(x))));
        const double y = 1.1 + 100.0 * u;
        worst_area = std::max(worst_area, ulps(area_cosine(y), std::acosh(static_cast<long double>(y))));
    }
    EXPECT_LE(worst_circle, 3.0);  // arc tangent 1, its argument (quotient and root) 1, doubling none
    EXPECT_LE(worst_area, 4.0);    // the argument's 2 ulps are magnified by less than 2 above 1.1
    EXPECT_EQ(arc_cosine(1.0), 0.0);
    EXPECT_EQ(arc_cosine(-1.0), kPi);
}

// The same bits on every machine: sums of bit patterns, committed.
TEST(Transcendental, BitsAreTheCommittedOnes) {
    std::uint64_t mixed = 0;
    for (int draw = 0; draw < 1000; ++draw) {
        const double u = uniform(draw);
        const SineCosine angle = sine_cosine_of_turns(u);
        for (const double value : {natural_log(u), exponential(20.0 * u - 10.0), angle.sine, angle.cosine,
                                   arc_tangent(3.0 * u), arc_cosine(2.0 * u - 1.0)}) {
            mixed = mixed * 6364136223846793005ULL + std::bit_cast<std::uint64_t>(value);
        }
    }
    EXPECT_EQ(mixed, 571585717534231383ULL);
}

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

template <class Real>
class CoordinatesOf : public ::testing::Test {};
TYPED_TEST_SUITE(CoordinatesOf, Reals);

/// One axis of period `period`, `periods` times around where it is periodic (else 0).
template <class Real>
Coordinates<Real, 1> axis_of(double period, double origin, std::int64_t periods, std::int32_t grain = 0) {
    Coordinates<Real, 1> axis{};
    axis.quantum[0] = period * std::exp2(-Phase<Real>::kBits);
    axis.grain[0] = grain;
    axis.resolution[0] = std::ldexp(axis.quantum[0], grain);
    axis.unit[0] = static_cast<Real>(period * std::exp2(-8.0 * sizeof(typename Phase<Real>::Stored)));
    axis.origin[0] = origin;
    axis.extent[0] = periods << Phase<Real>::kBits;
    return axis;
}

constexpr std::int64_t kWhole(int bits) { return std::int64_t{1} << bits; }

TYPED_TEST(CoordinatesOf, APositionSurvivesTheWayOutAndIn) {
    // Whatever a checkpoint stores as a double must come back as the same integer: lengths that are no powers of two,
    // and origins away from zero. With 2^-52 of a period as the quantum, double precision needs a grain of 8 roundings.
    std::mt19937_64 random(1);
    for (const double period : {1.0, 1.0001, 1.3, 1.9999, 3.0e-9, 7.7e11}) {
        for (const double shift : {0.0, 0.37, 6.9, -2.2, -7.9, -123.4}) {
            const double farthest = std::max(std::abs(shift), std::abs(shift + 1.0)) * period;
            const double rounding = std::ldexp(1.0, std::ilogb(farthest) - 52);
            const double quantum = std::ldexp(period, -Phase<TypeParam>::kBits);
            const int grain =
                sizeof(TypeParam) == 4 ? 0 : static_cast<int>(std::ceil(std::log2(8.0 * rounding / quantum)));
            const auto axis = axis_of<TypeParam>(period, shift * period, 1, grain);
            std::uniform_int_distribution<std::int64_t> places(0, (kWhole(Phase<TypeParam>::kBits) - 1) >> grain);
            for (int draw = 0; draw < 2000; ++draw) {
                const std::int64_t at = places(random) << grain;
                ASSERT_EQ(axis.from_position(0, axis.position(0, at)), at)
                    << "period " << period << ", origin " << shift;
            }
        }
    }
}

TEST(Coordinates, APositionInSinglePrecisionSurvivesInABoxOfManyPeriods) {
    std::mt19937_64 random(2);
    constexpr std::int64_t kPeriods = 1 << 17;  // 2^(52 - 32) periods leave 1 rounding a quantum, 2^17 leave 8
    const auto axis = axis_of<float>(1.37, 0.0, kPeriods);
    std::uniform_int_distribution<std::int64_t> wide(0, axis.extent[0] - 1);
    for (int draw = 0; draw < 20000; ++draw) {
        const std::int64_t at = wide(random);
        ASSERT_EQ(axis.from_position(0, axis.position(0, at)), at);
    }
}

TYPED_TEST(CoordinatesOf, WidenUndoesNarrowWithinHalfAPeriodOfTheAnchor) {
    using Axis = Coordinates<TypeParam, 1>;
    std::mt19937_64 random(3);
    const std::int64_t half = kWhole(Phase<TypeParam>::kBits - 1);
    std::uniform_int_distribution<std::int64_t> anchors(-3 * half, 20 * half);
    std::uniform_int_distribution<std::int64_t> offsets(-half, half - 1);
    for (int draw = 0; draw < 20000; ++draw) {
        const std::int64_t anchor = anchors(random);
        const std::int64_t wide = anchor + offsets(random);
        ASSERT_EQ(Axis::widen(Axis::narrow(wide), anchor), wide);
    }
    for (const std::int64_t edge : {-half, half - 1, std::int64_t{0}, std::int64_t{-1}}) {
        EXPECT_EQ(Axis::widen(Axis::narrow(7 + edge), 7), 7 + edge);
    }
}

TYPED_TEST(CoordinatesOf, WrapBringsEveryPositionIntoTheBoxAndCountsTheFaces) {
    const auto axis = axis_of<TypeParam>(1.7, 0.0, 3);
    const std::int64_t extent = axis.extent[0];
    std::mt19937_64 random(4);
    std::uniform_int_distribution<std::int64_t> inside(0, extent - 1);
    for (int draw = 0; draw < 5000; ++draw) {
        const std::int64_t place = draw == 0 ? 0 : draw == 1 ? extent - 1 : inside(random);
        for (std::int32_t turns = -4; turns <= 4; ++turns) {
            std::int64_t wide = place + turns * extent;
            ASSERT_EQ(axis.wrap(0, wide), turns);
            ASSERT_EQ(wide, place);
        }
    }
    const auto open = axis_of<TypeParam>(1.7, 0.0, 0);
    std::int64_t far = -12345;
    EXPECT_EQ(open.wrap(0, far), 0);
    EXPECT_EQ(far, -12345);
}

TYPED_TEST(CoordinatesOf, DisplacementIsAntisymmetricAndKnowsNoPlace) {
    using Axis = Coordinates<TypeParam, 1>;
    const auto axis = axis_of<TypeParam>(1.7, 0.0, 1);
    std::mt19937_64 random(5);
    const std::int64_t whole = kWhole(Phase<TypeParam>::kBits);
    std::uniform_int_distribution<std::int64_t> places(0, whole - 1);
    std::uniform_int_distribution<std::int64_t> gaps(-whole / 2 + 1, whole / 2 - 1);
    for (int draw = 0; draw < 20000; ++draw) {
        const std::int64_t gap = gaps(random);
        const std::int64_t a = places(random);
        const std::int64_t b = places(random);
        const auto from = [&](std::int64_t at) { return Vec<typename Axis::Stored, 1>{Axis::narrow(at)}; };
        const TypeParam here = axis.displacement(from(a), from(a + gap))[0];
        ASSERT_EQ(here, axis.displacement(from(b), from(b + gap))[0]);
        ASSERT_EQ(here, -axis.displacement(from(a + gap), from(a))[0]);
        // the rounding of unit, of the integer, and of the product
        const double exact = static_cast<double>(gap) * axis.quantum[0];
        constexpr double kRelative = 3.0 * 0.5 * std::numeric_limits<TypeParam>::epsilon();
        ASSERT_NEAR(here, exact, kRelative * std::abs(exact));
    }
}

TYPED_TEST(CoordinatesOf, AMoveIsRoundedToTheNearestStepAndWraps) {
    using Axis = Coordinates<TypeParam, 1>;
    const std::int64_t whole = kWhole(Phase<TypeParam>::kBits);
    const auto at = [](std::int64_t wide) { return Axis::narrow(wide); };
    for (const int grain : {0, 3}) {
        if (grain > 0 && sizeof(TypeParam) == 4) continue;
        const std::int64_t step = std::int64_t{1} << grain;
        EXPECT_EQ(Axis::moved(at(5 * step), TypeParam(2.4), grain), at(7 * step));
        EXPECT_EQ(Axis::moved(at(5 * step), TypeParam(-7.6), grain), at(-3 * step));
        EXPECT_EQ(Axis::moved(at(whole - step), TypeParam(3), grain), at(2 * step));
        EXPECT_EQ(Axis::moved(at(5 * step), TypeParam(0.5), grain), at(5 * step))
            << "ties to even, so that v and -v mirror";
        EXPECT_EQ(Axis::moved(at(5 * step), TypeParam(-0.5), grain), at(5 * step));
        const auto largest = static_cast<TypeParam>(std::exp2(Phase<TypeParam>::kBits - 2 - grain));
        EXPECT_EQ(Axis::moved(at(5 * step), largest, grain), at(5 * step + whole / 4));
        EXPECT_EQ(Axis::moved(at(5 * step), -largest, grain), at(5 * step - whole / 4));
    }
}

}  // namespace carom::core_test
