// The first time at which a quartic falls below zero, and the contact times that rest on it.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels/physics/collision_time.hpp"
#include "kernels/physics/first_root.hpp"

namespace carom {
namespace {

/// t - root times t - root ..., as coefficients.
std::vector<double> product(const std::vector<double>& roots, double leading) {
    std::vector<double> c{leading};
    for (double root : roots) {
        c.insert(c.begin(), 0.0);
        for (std::size_t k = 0; k + 1 < c.size(); ++k) c[k] -= root * c[k + 1];
    }
    c.resize(5, 0.0);
    return c;
}

TEST(FirstRoot, IsTheFirstFallBelowZeroAndNoOther) {
    EXPECT_NEAR(first_fall_below_zero(product({1, 2, 3, 4}, 1).data(), kNeverTouch), 1.0, 1e-13);
    EXPECT_NEAR(first_fall_below_zero(product({-1, 2, 3, 4}, -1).data(), kNeverTouch), 2.0, 1e-12);
    EXPECT_NEAR(first_fall_below_zero(product({-3, -2, -1, 0.5}, -1).data(), kNeverTouch), 0.5, 1e-13);
    EXPECT_EQ(first_fall_below_zero(product({-4, -3, -2, -1}, 1).data(), kNeverTouch), kNeverTouch);
    EXPECT_NEAR(first_fall_below_zero(product({7}, -1).data(), kNeverTouch), 7.0, 1e-13);
    EXPECT_EQ(first_fall_below_zero(product({}, 1).data(), kNeverTouch), kNeverTouch);
}

TEST(FirstRoot, LeavesATouchThatSeparatesAlone) {
    EXPECT_NEAR(first_fall_below_zero(product({0, 3}, -1).data(), kNeverTouch), 3.0, 1e-13);
    EXPECT_EQ(first_fall_below_zero(product({0, -3}, 1).data(), kNeverTouch), kNeverTouch);
    EXPECT_EQ(first_fall_below_zero(product({0, 3}, 1).data(), kNeverTouch), 0.0);
}

TEST(FirstRoot, AgreesWithSmallStepsOnRandomQuartics) {
    std::mt19937_64 generator(7);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    for (int trial = 0; trial < 2000; ++trial) {
        double c[5] = {};
        for (double& value : c) value = uniform(generator);
        c[0] = std::abs(c[0]);
        const double found = first_fall_below_zero(c, kNeverTouch);
        const double step = 1e-3;
        double first = kNeverTouch;
        for (double t = 0.0; t < 12.0 && first == kNeverTouch; t += step) {
            if (first_root::value(c, 4, t + step) < 0.0) first = t;
        }
        if (first == kNeverTouch) {
            EXPECT_GT(found, 11.9) << "trial " << trial;
        } else if (found < first - step) {  // a fall shorter than a step
            EXPECT_LT(first_root::value(c, 4, found + 1e-5), 1e-12) << "trial " << trial;
        } else {
            EXPECT_NEAR(found, first, 2 * step) << "trial " << trial;
        }
    }
}

TEST(CollisionTime, OfACurvedPathPutsTheBallOnTheSphere) {
    std::mt19937_64 generator(11);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    int hits = 0;
    for (int trial = 0; trial < 500; ++trial) {
        const bool inside = trial % 2 == 0;
        const double reach = inside ? 3.0 : 0.7;
        const Vec<double, 3> d = {{uniform(generator), uniform(generator), (inside ? 0.0 : 1.5) + uniform(generator)}};
        const Vec<double, 3> v = {{uniform(generator), uniform(generator), uniform(generator)}};
        const Vec<double, 3> a = {{0.0, 0.3, -1.0}};
        if (!inside && dot(d, d) < reach * reach) continue;
        const double t = curved_sphere_time(d, v, a, reach, inside);
        if (t == kNeverTouch) {
            EXPECT_FALSE(inside) << "what falls inside a sphere must reach it";
            continue;
        }
        ++hits;
        const Vec<double, 3> at = d + t * v + (0.5 * t * t) * a;
        EXPECT_NEAR(std::sqrt(dot(at, at)), reach, 1e-12) << "trial " << trial;
    }
    EXPECT_GT(hits, 250);
}

TEST(CollisionTime, WithoutGravityIsTheLimitOfTheCurvedOne) {
    const Vec<double, 2> d = {{0.3, -0.2}};
    const Vec<double, 2> v = {{0.7, 0.4}};
    const Vec<double, 2> a = {{0.0, -1e-9}};
    EXPECT_NEAR(inside_sphere_time(d, v, 2.0), curved_sphere_time(d, v, a, 2.0, true), 1e-7);
    const Vec<double, 2> far = {{-3.0, 0.1}};
    const Vec<double, 2> fast = {{2.0, 0.0}};
    const double pair = pair_time<double, 2>(far, fast, 0.5, 0.0, kNeverTouch).time;
    EXPECT_NEAR(pair, curved_sphere_time(far, fast, a, 0.5, false), 1e-7);
}

TEST(CollisionTime, FourAtOnceHaveTheBitsOfOne) {
    std::mt19937_64 generator(13);
    std::uniform_real_distribution<double> uniform(-2.0, 2.0);
    int meet = 0;
    for (int trial = 0; trial < 1000; ++trial) {
        alignas(32) double d[3][4], v[3][4], time[4];
        for (auto& row : d) {
            for (double& x : row) x = uniform(generator);
        }
        for (auto& row : v) {
            for (double& x : row) x = uniform(generator);
        }
        const Vec<Lanes, 3> dd = {{Lanes::load(d[0]), Lanes::load(d[1]), Lanes::load(d[2])}};
        const Vec<Lanes, 3> vv = {{Lanes::load(v[0]), Lanes::load(v[1]), Lanes::load(v[2])}};
        pair_time<Lanes, 3>(dd, vv, Lanes::filled(0.6), Lanes::filled(0.0), Lanes::filled(kNeverTouch))
            .time.store(time);
        for (int k = 0; k < 4; ++k) {
            const Vec<double, 3> one = {{d[0][k], d[1][k], d[2][k]}};
            const Vec<double, 3> rate = {{v[0][k], v[1][k], v[2][k]}};
            const double alone = pair_time<double, 3>(one, rate, 0.6, 0.0, kNeverTouch).time;
            EXPECT_EQ(alone, time[k]);
            meet += alone < kNeverTouch ? 1 : 0;
        }
    }
    EXPECT_GT(meet, 100);
}

}  // namespace
}  // namespace carom
