// The engine against a simulation that tries every pair after every event.

#include <gtest/gtest.h>

#include "tests/support/events_gas.hpp"
#include "tests/support/naive_events.hpp"

namespace carom {
namespace {

using namespace test;

/// Errors grow by (mean free path / radius) with each collision of a ball, so only the first events are the same to
/// this; their order tells the rest.
constexpr double kSameTime = 1.0e-8;

void expect_same_events(const EventsScene& scene, double until) {
    const std::vector<LoggedImpact> expected = naive_events(scene, until);
    std::vector<LoggedImpact> log;
    const auto engine = scene.engine();
    engine->set_log([&](const LoggedImpact& impact) { log.push_back(impact); });
    engine->advance(until, ~0ULL);
    ASSERT_GT(expected.size(), 10u);
    const std::size_t compared = std::min<std::size_t>(expected.size(), 4 * scene.size());
    ASSERT_GE(log.size(), compared);
    for (std::size_t k = 0; k < compared; ++k) {
        ASSERT_EQ(log[k].wall, expected[k].wall) << "event " << k;
        ASSERT_EQ(log[k].i, expected[k].i) << "event " << k;
        ASSERT_EQ(log[k].j, expected[k].j) << "event " << k;
        ASSERT_NEAR(log[k].time, expected[k].time, kSameTime) << "event " << k;
    }
}

TEST(EventsAgainstAllPairs, PeriodicGas) { expect_same_events(lattice_gas(2, 5, 10.0, Face::kPeriodic, 0.6), 2.0); }
TEST(EventsAgainstAllPairs, PeriodicGasIn3d) { expect_same_events(lattice_gas(3, 4, 6.0, Face::kPeriodic, 0.55), 0.8); }
TEST(EventsAgainstAllPairs, GasBetweenWalls) { expect_same_events(lattice_gas(2, 5, 10.0, Face::kWall, 0.6), 2.0); }
TEST(EventsAgainstAllPairs, MixtureWithSizesOneToTen) {
    expect_same_events(lattice_gas(2, 6, 12.0, Face::kPeriodic, 0.95, 3, 10.0), 0.3);
    expect_same_events(lattice_gas(3, 4, 6.0, Face::kWall, 0.7, 3, 10.0), 0.1);
}
TEST(EventsAgainstAllPairs, BoxesOfTwoDiameters) {
    for (double edge : {2.0, 2.1, 2.9, 3.5, 4.4}) {
        EventsScene scene = lattice_gas(2, 2, edge, Face::kPeriodic, 0.499);
        expect_same_events(scene, 2.0 * edge * edge);
    }
}
TEST(EventsAgainstAllPairs, Gravity) {
    EventsScene scene = lattice_gas(2, 5, 10.0, Face::kWall, 0.6);
    scene.setup.gravity = {0.0, -1.5, 0.0};
    expect_same_events(scene, 2.0);
    scene.setup.box.faces[0] = {Face::kPeriodic, Face::kPeriodic};
    expect_same_events(scene, 2.0);
}
TEST(EventsAgainstAllPairs, InelasticGas) {
    EventsScene scene = lattice_gas(2, 5, 10.0, Face::kWall, 0.6);
    scene.setup.restitution = 0.9;
    scene.setup.wall_restitution = 0.8;
    expect_same_events(scene, 3.0);
}
TEST(EventsAgainstAllPairs, ShortEpochs) {
    EventsScene scene = lattice_gas(2, 5, 10.0, Face::kPeriodic, 0.6);
    scene.setup.epoch = 0.125;
    expect_same_events(scene, 2.0);
}
TEST(EventsAgainstAllPairs, CellsOfAnyWidth) {
    for (double cell : {1.0, 1.3, 2.0, 5.0}) {
        EventsScene scene = lattice_gas(2, 7, 14.0, Face::kPeriodic, 0.6);
        scene.setup.cell = cell;
        expect_same_events(scene, 1.5);
    }
}

}  // namespace
}  // namespace carom
