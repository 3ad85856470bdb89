#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/events_gas.hpp"

// Whom Andersen's thermostat draws in the event-driven engine.

namespace carom {
namespace {

using namespace test;

/// As if each ball were asked for itself: the first and the last too, and whatever its neighbour's lot. Bounds are 4.5
/// sigma, 7e-6 each.
TEST(EventsThermostat, DrawsEachBallIndependentlyWithTheProbability) {
    constexpr double kProbability = 0.02;
    constexpr int kVisits = 20000;
    const EventsScene scene = lattice_gas(2, 20, 40.0, Face::kPeriodic, 0.5);
    const auto engine = scene.engine();
    const std::size_t count = scene.state.balls.size();
    std::vector<int> drawn(count);
    std::vector<std::size_t> now;
    int together = 0;  // balls of one id and the next in one visit
    engine->set_log([&](const LoggedImpact& entry) {
        ASSERT_TRUE(entry.thermostat);
        ++drawn[entry.i];
        if (!now.empty()) {
            EXPECT_GT(entry.i, now.back()) << "twice in one visit";
            together += entry.i == now.back() + 1 ? 1 : 0;
        }
        now.push_back(entry.i);
    });
    for (int visit = 1; visit <= kVisits; ++visit) {
        now.clear();
        engine->draw_anew(1.0, kProbability, static_cast<std::uint64_t>(visit));
    }
    const double expected = kProbability * kVisits;
    const double variance = expected * (1.0 - kProbability);
    double sum = 0.0;
    double squares = 0.0;
    for (const int one : drawn) {
        sum += one;
        squares += (one - expected) * (one - expected) / variance;
    }
    const double balls = static_cast<double>(count);
    EXPECT_NEAR(sum, balls * expected, 4.5 * std::sqrt(balls * variance));
    EXPECT_NEAR(squares, balls, 4.5 * std::sqrt(2.0 * balls));
    EXPECT_NEAR(drawn.front(), expected, 4.5 * std::sqrt(variance));
    EXPECT_NEAR(drawn.back(), expected, 4.5 * std::sqrt(variance));
    const double pairs = (balls - 1.0) * expected * kProbability;
    EXPECT_NEAR(together, pairs, 4.5 * std::sqrt(pairs));
}

}  // namespace
}  // namespace carom
