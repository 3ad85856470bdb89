#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/core/random.hpp"
#include "kernels/core/transcendental.hpp"

namespace carom {
namespace {

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

}  // namespace
}  // namespace carom
