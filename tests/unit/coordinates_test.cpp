#include "kernels/core/coordinates.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace carom {
namespace {

template <class Real>
class CoordinatesOf : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
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

}  // namespace
}  // namespace carom
