// Averages that compare times with each other, against a calculation that goes over all balls and starts.

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "host/observables/averager.hpp"
#include "tests/support/averages_fixture.hpp"

namespace carom {
namespace {

using test::AverageState;

constexpr double kRounding = 1e-12;  // sums of a few hundred terms in another order

class AveragesInTime : public test::AveragesTest {};
INSTANTIATE_TEST_SUITE_P(Dimensions, AveragesInTime, testing::Values(2, 3));

TEST_P(AveragesInTime, CorrelationsInTimeAreMeansOverAllStarts) {
    constexpr int kSamples = 150;  // four levels of the correlator
    std::vector<Frame> frames;
    const auto msd = make_averager({.name = "m", .kind = "msd", .species = "b"}, state.context(0.5, kSamples));
    const auto vacf = make_averager({.name = "v", .kind = "vacf", .species = "b"}, state.context(0.5, kSamples));
    for (int k = 0; k < kSamples; ++k) {
        state.shake(k);
        state.show(*msd, 7 + k);
        state.show(*vacf, 7 + k);
        frames.push_back(state.frame);
    }
    const AverageTable way = msd->table();
    const AverageTable velocity = vacf->table();
    ASSERT_EQ(way.x, velocity.x);
    int looked_at = 0;
    for (std::size_t at = 0; at < way.x.size(); ++at) {
        const int lag = static_cast<int>(std::lround(way.x[at] / 0.5));
        if (lag >= kSamples) continue;
        // Level l looks at starts that are multiples of 2^l, where lag is 9 to 16 times 2^l, or up to 16 for level 0.
        int spacing = 1;
        while (lag / spacing > 16) spacing *= 2;
        double squares = 0.0, products = 0.0, starts = 0.0;
        for (int start = 0; start + lag < kSamples; start += spacing) {
            double square = 0.0, product = 0.0, balls = 0.0;
            for (std::size_t id = 0; id < state.frame.size(); ++id) {
                if (!state.counts(id, "b")) continue;
                balls += 1.0;
                for (int axis = 0; axis < dimension(); ++axis) {
                    const auto place = [&](const Frame& f) {
                        return f.position[axis][id] + f.image[axis][id] * state.box.size[axis];
                    };
                    square += std::pow(place(frames[start + lag]) - place(frames[start]), 2);
                    product += frames[start + lag].velocity[axis][id] * frames[start].velocity[axis][id];
                }
            }
            squares += square / balls;
            products += product / balls / dimension();
            starts += 1.0;
        }
        if (starts == 0.0) continue;
        EXPECT_NEAR(way.values[at], squares / starts, kRounding * std::max(1.0, squares)) << lag;
        EXPECT_NEAR(velocity.values[at], products / starts, kRounding * 10.0) << lag;
        ++looked_at;
    }
    EXPECT_GE(looked_at, 35);
}

TEST_P(AveragesInTime, RandomWalksDiffuseAsTheirStepsDo) {
    // Gaussian steps of variance 1 on each axis, one a sample: D = 1 / (2 every). 199 balls of which 198 move freely,
    // 64 walks: the mean over these and their scatter, at 4 standard errors (false alarms: 1 in 16,000), and errors
    // that are right by a fifth, which their own scatter over 64 walks (9 %) exceeds 1 time in 40.
    constexpr int kSamples = 120;
    constexpr int kWalks = 64;
    constexpr double kEvery = 0.5;
    std::vector<double> found;
    double claimed = 0.0;
    std::mt19937_64 generator(11);
    std::normal_distribution<double> normal;
    for (auto& image : state.frame.image) std::ranges::fill(image, 0);
    for (int walk = 0; walk < kWalks; ++walk) {
        const auto diffusion = make_averager({.name = "d", .kind = "self_diffusion"}, state.context(kEvery, kSamples));
        for (int k = 0; k < kSamples; ++k) {
            for (int axis = 0; axis < dimension(); ++axis) {
                for (double& at : state.frame.position[axis]) at += normal(generator);
            }
            state.show(*diffusion, k);
        }
        const AverageTable table = diffusion->table();
        ASSERT_EQ(table.values.size(), 1U);
        EXPECT_TRUE(table.x.empty());
        found.push_back(table.values[0]);
        claimed += table.errors[0] * table.errors[0] / kWalks;
    }
    double mean = 0.0;
    double scatter = 0.0;
    for (const double value : found) mean += value / kWalks;
    for (const double value : found) scatter += (value - mean) * (value - mean) / (kWalks - 1);
    EXPECT_NEAR(mean, 1.0 / (2.0 * kEvery), 4.0 * std::sqrt(scatter / kWalks));
    EXPECT_NEAR(std::sqrt(claimed / scatter), 1.0, 0.3);
}

TEST_P(AveragesInTime, FewSamplesTellOfNoDiffusion) {
    const auto diffusion = make_averager({.name = "d", .kind = "self_diffusion"}, state.context());
    for (int k = 0; k < 7; ++k) {
        state.show(*diffusion, k);
        EXPECT_TRUE(std::isnan(diffusion->table().values[0]) && std::isnan(diffusion->table().errors[0])) << k;
    }
    state.show(*diffusion, 7);
    EXPECT_EQ(diffusion->table().values[0], 0.0) << "nothing moved";
}

TEST_P(AveragesInTime, BallsThatLeaveCountAsLongAsTheyAreThere) {
    // All move by 1 along x in each sample and never collide: half of them leave after 10 samples, the others after 40.
    constexpr int kSome = 10;
    constexpr int kAll = 40;
    constexpr int kSamples = 200;
    const auto msd = make_averager({.name = "m", .kind = "msd"}, state.context(1.0, kSamples));
    const auto vacf = make_averager({.name = "v", .kind = "vacf"}, state.context(1.0, kSamples));
    for (auto& image : state.frame.image) std::ranges::fill(image, 0);
    for (int k = 0; k < kSamples; ++k) {
        for (std::size_t id = 0; id < state.frame.size(); ++id) {
            for (int axis = 0; axis < dimension(); ++axis) state.frame.velocity[axis][id] = axis == 0 ? 1.0 : 0.0;
            // Those that stay longer are twice as fast: what is weighted by starts instead of balls is off.
            if (id % 2 == 0) state.frame.velocity[0][id] = 2.0;
            state.frame.position[0][id] += state.frame.velocity[0][id];
            if (k >= (id % 2 == 0 ? kAll : kSome)) state.frame.gone[id] = 1;
        }
        state.show(*msd, k);
        state.show(*vacf, k);
    }
    const AverageTable way = msd->table();
    const AverageTable velocity = vacf->table();
    int without = 0;
    for (std::size_t at = 0; at < way.x.size(); ++at) {
        const int lag = static_cast<int>(std::lround(way.x[at]));
        int spacing = 1;
        while (lag / spacing > 16) spacing *= 2;
        double speeds = 0.0;
        double balls = 0.0;
        for (int start = 0; start + lag < kAll; start += spacing) {
            for (std::size_t id = 0; id < state.frame.size(); ++id) {
                if (id == 0 || id + 1 == state.frame.size()) continue;  // a wall, and one that is gone
                if (start + lag >= (id % 2 == 0 ? kAll : kSome)) continue;
                balls += 1.0;
                speeds += id % 2 == 0 ? 4.0 : 1.0;
            }
        }
        if (balls == 0.0) {
            EXPECT_TRUE(std::isnan(way.values[at]) && std::isnan(way.errors[at])) << lag;
            EXPECT_TRUE(std::isnan(velocity.values[at]) && std::isnan(velocity.errors[at])) << lag;
            ++without;
            continue;
        }
        // Places of some hundreds, whose differences are squared.
        EXPECT_NEAR(way.values[at], lag * lag * speeds / balls, 1e3 * kRounding * (1.0 + lag * lag)) << lag;
        EXPECT_NEAR(velocity.values[at], speeds / balls / dimension(), kRounding * 10.0) << lag;
    }
    EXPECT_GE(without, 8);
}

TEST_P(AveragesInTime, AGapInTimeIsNoLag) {
    const auto msd = make_averager({.name = "m", .kind = "msd"}, state.context(0.5, 40));
    for (int k = 0; k < 20; ++k) state.show(*msd, k);
    state.shake(9);
    for (int k = 0; k < 20; ++k) state.show(*msd, 100 + k);
    for (const double value : msd->table().values) {
        if (std::isfinite(value)) {
            EXPECT_EQ(value, 0.0) << "nothing moved but in the gap";
        }
    }
}

}  // namespace
}  // namespace carom
