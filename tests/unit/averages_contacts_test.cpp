// Averages of what contacts pass on, against numbers that one can add up by hand.

#include <gtest/gtest.h>

#include <cmath>

#include "host/observables/averager.hpp"
#include "tests/support/average_state.hpp"

namespace carom {
namespace {

using test::AverageState;

constexpr double kRounding = 1e-12;
constexpr std::array<std::array<int, 2>, 6> kPairs{{{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}}};

class ContactAverages : public testing::TestWithParam<int> {
protected:
    /// Three samples, the pairs' part growing by `growth` between two; gives sum m v_a v_b of the last two, their mean.
    std::array<double, 6> feed(Averager& averager, const StressTensor& growth) {
        std::array<double, 6> kinetic{};
        for (int k = 0; k < 3; ++k) {
            state.shake(20 + k);
            Tallies tallies;
            tallies.collisional_virial = 0.0;
            for (std::size_t c = 0; c < growth.size(); ++c) tallies.collisional_stress[c] = 7.0 + k * growth[c];
            averager.account({.time = 0.5 * k, .tallies = tallies, .totals = {}});
            state.show(averager, k);
            for (std::size_t id = 0; k > 0 && id < state.frame.size(); ++id) {
                if (!state.counts(id)) continue;
                for (std::size_t c = 0; c < 6; ++c) {
                    if (kPairs[c][1] >= dimension()) continue;
                    kinetic[c] += 0.5 * state.species(id).mass * state.frame.velocity[kPairs[c][0]][id] *
                                  state.frame.velocity[kPairs[c][1]][id];
                }
            }
        }
        return kinetic;
    }
    int dimension() const { return GetParam(); }
    std::unique_ptr<Averager> make(const std::string& kind) {
        return make_averager({.name = "n", .kind = kind}, state.context());
    }

    AverageState state{GetParam(), 50, Face::kPeriodic, 1};
};
INSTANTIATE_TEST_SUITE_P(Dimensions, ContactAverages, testing::Values(2, 3));

TEST_P(ContactAverages, StressIsMotionAndWhatHasBeenPassedOnSince) {
    const StressTensor growth{
        1.0, 2.0, dimension() == 3 ? 3.0 : 0.0, -4.0, dimension() == 3 ? 5.0 : 0.0, dimension() == 3 ? -6.0 : 0.0};
    const auto stress = make("stress");
    const auto kinetic = feed(*stress, growth);
    const AverageTable table = stress->table();
    EXPECT_EQ(table.samples, 2.0) << "the first one is what the others are counted from";
    EXPECT_EQ(stress->info().components.size(), dimension() == 2 ? 3u : 6u);
    std::size_t at = 0;
    for (std::size_t c = 0; c < 6; ++c) {
        if (kPairs[c][1] >= dimension()) continue;
        EXPECT_NEAR(table.values[at++], (kinetic[c] + growth[c] / 0.5) / state.box.volume(), kRounding) << c;
    }
    const auto moving = make("kinetic_stress");
    const auto passed_on = make("collisional_stress");
    feed(*moving, growth);
    feed(*passed_on, growth);
    const AverageTable motion = moving->table();
    const AverageTable contacts = passed_on->table();
    at = 0;
    for (std::size_t c = 0; c < 6; ++c) {
        if (kPairs[c][1] >= dimension()) continue;
        EXPECT_NEAR(motion.values[at], kinetic[c] / state.box.volume(), kRounding) << c;
        EXPECT_NEAR(contacts.values[at++], growth[c] / 0.5 / state.box.volume(), kRounding) << c;
    }
    const auto pressure = make("pressure");
    feed(*pressure, growth);
    double trace = 0.0;
    for (std::size_t c = 0; c < static_cast<std::size_t>(dimension()); ++c) trace += table.values[c];
    EXPECT_NEAR(pressure->table().values[0], trace / dimension(), kRounding);
}

TEST_P(ContactAverages, StressOfSpringsIsThatOfTheMoment) {
    const auto stress = make("stress");
    Totals totals;
    totals.pair_stress = {30.0, 40.0, 0.0, 5.0, 0.0, 0.0};
    stress->account({.time = 0.0, .tallies = {}, .totals = totals});
    for (auto& axis : state.frame.velocity) std::fill(axis.begin(), axis.end(), 0.0);
    state.show(*stress, 0);
    EXPECT_EQ(stress->table().samples, 1.0);
    EXPECT_NEAR(stress->table().values[0], 30.0 / state.box.volume(), kRounding);
    EXPECT_NEAR(stress->table().values[dimension() == 2 ? 2 : 3], 5.0 / state.box.volume(), kRounding);
}

TEST_P(ContactAverages, BetweenWallsTheVolumeIsThatOfTheCentres) {
    double mean_radius = 0.0;
    for (const std::uint32_t index : state.population->species) mean_radius += state.population->table[index].radius;
    mean_radius /= static_cast<double>(state.population->species.size());
    state.box.faces[0] = {Face::kWall, Face::kWall};
    const auto stress = make("stress");
    const auto kinetic = feed(*stress, {});
    EXPECT_NEAR(stress->table().values[0],
                kinetic[0] / state.box.volume() * state.box.size[0] / (state.box.size[0] - 2.0 * mean_radius),
                kRounding);
    EXPECT_NEAR(stress->table().values[1], kinetic[1] / state.box.volume(), kRounding);
}

TEST_P(ContactAverages, CompressibilityTakesTheTemperatureOfTheMovingFrame) {
    const auto z = make("compressibility");
    feed(*z, {1.0, 2.0, 3.0, 0.0, 0.0, 0.0});
    // By hand, at the same two samples.
    double thermal = 0.0;
    double balls = 0.0;
    for (int k = 1; k < 3; ++k) {
        state.shake(20 + k);
        std::array<double, 3> p{};
        double mass = 0.0;
        for (std::size_t id = 0; id < state.frame.size(); ++id) {
            if (!state.counts(id)) continue;
            for (int axis = 0; axis < dimension(); ++axis) {
                const double v = state.frame.velocity[axis][id];
                thermal += 0.5 * state.species(id).mass * v * v;
                p[axis] += state.species(id).mass * v;
            }
            mass += state.species(id).mass;
            balls += 0.5;
        }
        for (const double component : p) thermal -= 0.5 * component * component / mass;
    }
    const double pairs = (dimension() == 2 ? 3.0 : 6.0) / 0.5;
    const double temperature = thermal / (dimension() * (balls - 1.0));
    // What the whole's own motion adds to the stress is no pressure of pairs.
    EXPECT_NEAR(z->table().values[0], 1.0 + pairs / (dimension() * balls * temperature), 1e-10);
}

/// Ball 1 meets others at x = 0, turns at a wall, meets another: a path of two legs.
TEST_P(ContactAverages, APathGoesFromCollisionToCollisionThroughWalls) {
    const auto feed_paths = [&](Averager& averager) {
        state.frame.time = 0.0;
        state.show(averager, 0);
        const Vector3 first{3.0, 4.0, 0.0};
        const Vector3 back{-3.0, 4.0, 0.0};
        averager.impact({.time = 1.0, .i = 1, .j = 2, .velocity_i = first, .velocity_j = {1.0, 0.0, 0.0}});
        averager.impact({.time = 1.4, .wall = true, .i = 1, .j = 2, .velocity_i = back});  // 2 is the wall's number
        averager.impact({.time = 2.0, .i = 1, .j = 3, .velocity_i = {}, .velocity_j = {}});
        state.frame.time = 4.0;
        state.show(averager, 1);
    };
    // Of a species: 1 and 3 are "b", 2 is "a".
    const auto mean = make_averager({.name = "n", .kind = "mean_free_path", .species = "b"}, state.context());
    feed_paths(*mean);
    double ways = 5.0 * 1.0;  // of ball 1 from its first collision to its last
    for (std::size_t id = 0; id < state.frame.size(); ++id) {
        if (!state.counts(id, "b")) continue;
        double squared = 0.0;
        for (const auto& axis : state.frame.velocity) squared += id < axis.size() ? axis[id] * axis[id] : 0.0;
        ways += std::sqrt(squared) * (id == 1 ? 1.0 : id == 3 ? 2.0 : 4.0);
    }
    EXPECT_NEAR(mean->table().values[0], ways / 3.0, kRounding);
    const auto density = make_averager({.name = "n", .kind = "free_path", .bins = 8, .max = 8.0}, state.context());
    feed_paths(*density);
    for (std::size_t bin = 0; bin < 8; ++bin) EXPECT_EQ(density->table().values[bin], bin == 5 ? 1.0 : 0.0) << bin;
    const auto of_a = make_averager({.name = "n", .kind = "collision_rate", .species = "a"}, state.context());
    feed_paths(*of_a);
    double others = 0.0;
    for (std::size_t id = 0; id < state.frame.size(); ++id) others += state.counts(id, "a") ? 1.0 : 0.0;
    EXPECT_NEAR(of_a->table().values[0], 1.0 / (4.0 * others), kRounding);
}

/// Of all balls, they are what the solver has counted between the first sample and the last of those in a row.
TEST_P(ContactAverages, PathsOfAllBallsAreTheSolversCounts) {
    double mobile = 0.0;
    for (std::size_t id = 0; id < state.frame.size(); ++id) mobile += state.counts(id) ? 1.0 : 0.0;
    for (const char* kind : {"mean_free_path", "collision_rate"}) {
        const auto averager = make(kind);
        EXPECT_TRUE(averager->followed().empty());
        Tallies tallies;
        double path_length = 0.0;
        const auto look = [&](double time, double length, std::uint64_t meetings, bool measure) {
            path_length += length;
            tallies.meetings += meetings;
            averager->account({.time = time, .tallies = tallies, .totals = {}, .path_length = path_length});
            state.frame.time = time;
            if (measure) state.show(*averager, 0);
            if (!measure) averager->skip();
        };
        look(1.0, 100.0, 900, true);
        look(2.0, 10.0, 4, true);
        look(4.0, 30.0, 12, true);
        look(5.0, 7.0, 99, false);
        look(7.0, 8.0, 98, true);  // part of it is from where nothing is measured
        look(8.0, 20.0, 4, true);
        const AverageTable table = averager->table();
        EXPECT_EQ(table.samples, 3.0);
        const bool path = std::string(kind) == "mean_free_path";
        EXPECT_NEAR(table.values[0], path ? 60.0 / 20.0 : 20.0 / (4.0 * mobile), kRounding);
    }
}

TEST_P(ContactAverages, StressForgetsWhatWasNotMeasured) {
    const auto stress = make("stress");
    Tallies tallies;
    tallies.collisional_virial = 0.0;
    for (auto& axis : state.frame.velocity) std::fill(axis.begin(), axis.end(), 0.0);
    const auto look = [&](double time, double gained, bool measure) {
        tallies.collisional_stress[0] += gained;
        stress->account({.time = time, .tallies = tallies, .totals = {}});
        if (measure) state.show(*stress, 0);
        if (!measure) stress->skip();
    };
    look(0.0, 0.0, false);
    look(1.0, 1000.0, false);
    look(2.0, 500.0, true);
    look(3.0, 30.0, true);
    EXPECT_EQ(stress->table().samples, 1.0);
    EXPECT_NEAR(stress->table().values[0], 30.0 / state.box.volume(), kRounding);
}

TEST_P(ContactAverages, APathUnderGravityIsAnArc) {
    AverageContext context = state.context();
    context.gravity = {0.0, -2.0, 0.0};
    const auto mean = make_averager({.name = "n", .kind = "mean_free_path", .species = "b"}, context);
    for (auto& axis : state.frame.velocity) std::fill(axis.begin(), axis.end(), 0.0);
    state.frame.time = 0.0;
    state.show(*mean, 0);
    mean->impact({.time = 0.0, .i = 1, .j = 2, .velocity_i = {3.0, 4.0, 0.0}, .velocity_j = {}});
    mean->impact({.time = 0.5, .i = 1, .j = 3, .velocity_i = {}, .velocity_j = {}});
    state.frame.time = 0.5;
    state.show(*mean, 1);
    double length = 0.0;  // by many short steps
    for (int k = 0; k < 100000; ++k) length += 5e-6 * std::hypot(3.0, 4.0 - 2.0 * 5e-6 * (k + 0.5));
    for (std::size_t id = 0; id < state.frame.size(); ++id) {
        if (id != 1 && state.counts(id, "b")) length += 0.25;  // others fall
    }
    EXPECT_NEAR(mean->table().values[0], length / 3.0, 1e-5);
}

}  // namespace
}  // namespace carom
