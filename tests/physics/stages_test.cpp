#include <gtest/gtest.h>

#include <cmath>

#include "host/run/observe.hpp"
#include "tests/support/driven_run.hpp"

// Runs in stages, and thermostats.

namespace carom::test::stages_test {

class Stages : public testing::TestWithParam<const char*> {
protected:
    [[nodiscard]] bool events() const { return std::string(GetParam()) == "events"; }
    [[nodiscard]] std::string solver() const { return "run.solver=\"" + std::string(GetParam()) + "\""; }
};

const char* const kFlight = R"(
[scene]
dimension = 2
[box]
size = [100.0, 100.0]
[spring]
stiffness = 1.0e4
dt = 0.001
[run]
precision = "double"
[[ball]]
radius = 0.5
mass = 2.0
position = [20.0, 50.0]
velocity = [1.0, 0.0]
[[stage]]
name = "still"
until = 2.0
[[stage]]
name = "falls"
until = 4.0
gravity = [0.0, -1.5]
[[stage]]
name = "is blown away"
until = 7.0
gravity = [0.5, 0.25]
)";

/// Free flight in three fields, one after the other. The run ends where the last stage does.
TEST_P(Stages, GravityChangesAtItsTime) {
    DrivenRun run(kFlight, {solver()});
    EXPECT_EQ(run.scene().scene.run.until, 7.0);
    run.to(2.0);
    EXPECT_EQ(run.solver().tallies().work, 0.0);
    run.to(7.0);
    const Frame& frame = run.frame();
    // Leapfrog is exact for each of the fields.
    EXPECT_NEAR(frame.velocity[0][0], 1.0 + 0.5 * 3.0, 1e-11);
    EXPECT_NEAR(frame.velocity[1][0], -3.0 + 0.25 * 3.0, 1e-11);
    EXPECT_NEAR(frame.position[0][0], 20.0 + 7.0 + 0.5 * 0.5 * 9.0, 1e-8);
    EXPECT_NEAR(frame.position[1][0], 50.0 - 3.0 - 3.0 * 3.0 + 0.5 * 0.25 * 9.0, 1e-8);
    // To switch a field on is to lift or lower the ball in it: -m g . x changes by that much.
    const double on = 2.0 * 1.5 * 50.0;
    const double changed = -2.0 * (0.5 * 24.0 + 0.25 * 47.0) - 2.0 * 1.5 * 47.0;
    EXPECT_NEAR(run.solver().tallies().work, on + changed, 1e-8);
    EXPECT_LT(std::abs(run.balance()), 1e-10);
}

const char* const kAll = R"(
[scene]
dimension = 2
seed = 6
[box]
size = [16.0, 12.0]
[spring]
stiffness = 3000.0
[[wall]]
shape = "plane"
normal = [1.0, 0.0]
offset = 0.5
[[fill]]
radius = 0.5
mass = 1.0
count = 40
temperature = 1.0
[[stage]]
name = "equilibrate"
until = 2.0
thermostat = { kind = "rescale", temperature = 1.5, every = 0.3 }
[[stage]]
name = "compress"
until = 5.0
wall_velocity = [0.8]
[[stage]]
name = "heat"
until = 7.0
wall_temperature = [[0.0, 3.0], 2.0]
gravity = [0.0, -0.3]
[[stage]]
name = "hold"
until = 10.0
thermostat = { kind = "andersen", temperature = 2.0, rate = 0.5 }
wall_velocity = [-0.2]
)";

/// Within each stage, and at the very ends of stages, where the saved state is that of before the change.
TEST_P(Stages, GoOnToTheSameBitsAfterARestart) {
    for (const double stop : {0.6, 1.0, 2.0, 3.3, 5.0, 6.1, 7.0, 8.5}) {
        DrivenRun whole(kAll, {solver()});
        DrivenRun parts(kAll, {solver()});
        whole.to(10.0);
        parts.to(stop);
        parts.restart();
        parts.to(10.0);
        EXPECT_EQ(state_hash(whole.frame()), state_hash(parts.frame())) << "stopped at " << stop;
        const Tallies expected = whole.solver().tallies();
        const Tallies actual = parts.solver().tallies();
        EXPECT_NEAR(actual.work, expected.work, 1e-8 * std::abs(expected.work));
        EXPECT_NEAR(actual.heat(), expected.heat(), 1e-7 * std::abs(expected.heat()));
        EXPECT_NE(expected.thermostat_heat, 0.0);
    }
}

/// Looking in between changes nothing.
TEST_P(Stages, DoNotDependOnWhereOneLooks) {
    DrivenRun whole(kAll, {solver()});
    DrivenRun parts(kAll, {solver()});
    whole.to(10.0);
    for (int k = 1; k <= 97; ++k) {
        parts.to(10.0 * k / 97.0);
        parts.frame();
    }
    EXPECT_EQ(state_hash(whole.frame()), state_hash(parts.frame()));
}

TEST_P(Stages, KeepTheirEnergyBalance) {
    DrivenRun run(kAll, {solver()});
    for (const double time : {1.0, 3.0, 6.0, 10.0}) {
        run.to(time);
        EXPECT_LT(std::abs(run.balance()), events() ? 1e-12 : 5e-3) << "at " << time;
    }
}

TEST_P(Stages, AWallGoesOnFromWhereTheStageBeforeLeftIt) {
    DrivenRun run(kAll, {solver()});
    run.to(7.0);  // the wall has come from 0.5 to 2.9
    const Frame& frame = run.frame();
    double least = 100.0;
    for (const double x : frame.position[0]) least = std::min(least, x);
    EXPECT_GE(least, 2.9 + 0.5 - (events() ? 1e-9 : 0.2));
}

const char* const kOwnWalls = R"(
[scene]
dimension = 2
seed = 8
[box]
size = [16.0, 12.0]
[spring]
stiffness = 3000.0
[[wall]]
shape = "plane"
normal = [0.6, 0.8]
offset = 2.0
temperature = 1.5
[[wall]]
shape = "sphere"
center = [10.0, 6.0]
radius = 1.5
side = "outside"
[[fill]]
radius = 0.5
mass = 1.0
count = 60
temperature = 1.0
[[stage]]
until = 4.0
[[stage]]
until = 8.0
wall_entry_temperature = [0.0, 2.5]
wall_velocity = [0.1, "same"]
[[stage]]
until = 12.0
wall_entry_temperature = [3.0, "same"]
)";

/// A plane and a circle, each thermal in some stages and reflecting in others; "same" and silence leave them alone.
TEST_P(Stages, TemperaturesOfWallsBesideTheBoxChange) {
    DrivenRun run(kOwnWalls, {solver()});
    EXPECT_EQ(run.scene().scene.hottest_bath(), 3.0);
    const auto heat = [&run](std::size_t wall) { return run.solver().tallies().wall_heat.at(6 + wall); };
    run.to(4.0);
    const double plane = heat(0);
    EXPECT_NE(plane, 0.0);
    EXPECT_EQ(heat(1), 0.0);
    run.to(8.0);
    const double circle = heat(1);
    EXPECT_EQ(heat(0), plane);
    EXPECT_NE(circle, 0.0);
    EXPECT_LT(std::abs(run.balance()), events() ? 1e-12 : 5e-3);
    run.to(12.0);
    EXPECT_NE(heat(0), plane);
    EXPECT_EQ(heat(1), circle);
    EXPECT_LT(std::abs(run.balance()), events() ? 1e-12 : 5e-3);
}

/// The gas comes to the one temperature that a stage gives both walls.
TEST_P(Stages, AWallGivesBallsTheTemperatureOfTheStage) {
    DrivenRun run(kOwnWalls,
                  {solver(), "stage[1].until=100", "stage[2].until=200", "stage[1].wall_velocity=[0.0, 0.0]",
                   "stage[1].wall_entry_temperature=[0.5, 0.5]", "stage[2].wall_entry_temperature=[4.0, 4.0]"});
    const auto mean = [&run](double from, double to) {
        double sum = 0.0;
        for (int k = 1; k <= 20; ++k) {
            run.to(from + (to - from) * k / 20);
            sum += run.temperature() / 20;
        }
        return sum;
    };
    // 60 disks: a temperature fluctuates by T / sqrt(60), about 0.13 T; 20 looks, half of them independent.
    EXPECT_NEAR(mean(50.0, 100.0), 0.5, 4.5 * 0.13 * 0.5 / std::sqrt(10.0));
    EXPECT_NEAR(mean(150.0, 200.0), 4.0, 4.5 * 0.13 * 4.0 / std::sqrt(10.0));
}

TEST_P(Stages, WithWallsOfChangingTemperatureGoOnToTheSameBits) {
    for (const double stop : {3.0, 4.0, 7.1, 8.0, 10.0}) {
        DrivenRun whole(kOwnWalls, {solver()});
        DrivenRun parts(kOwnWalls, {solver()});
        whole.to(12.0);
        parts.to(stop);
        parts.restart();
        parts.to(12.0);
        EXPECT_EQ(state_hash(whole.frame()), state_hash(parts.frame())) << "stopped at " << stop;
    }
}

TEST_P(Stages, AveragesTakeSamplesFromStagesThatMeasure) {
    const std::string scene = std::string(kAll) + "[[observe]]\nname = \"speed\"\nkind = \"speed\"\nevery = 0.5\n";
    const auto samples = [&](const std::vector<std::string>& more) {
        std::vector<std::string> overrides{solver()};
        overrides.insert(overrides.end(), more.begin(), more.end());
        DrivenRun run(scene, overrides);
        RunAverages averages(run.scene(), {});
        averages.start(run.solver());
        for (int k = 1; k <= 20; ++k) {
            run.to(0.5 * k);
            averages.take(run.solver());
        }
        return averages.tables()[0].samples;
    };
    EXPECT_EQ(samples({}), 6U);                                                   // 7.5 to 10
    EXPECT_EQ(samples({"stage[0].measure=true"}), 6U + 5U);                       // and 0 to 2
    EXPECT_EQ(samples({"stage[3].measure=false", "stage[1].measure=true"}), 6U);  // 2.5 to 5
}

std::string bath(const std::string& thermostat) {
    return "[scene]\ndimension = 2\nseed = 4\n[box]\nsize = [16.0, 16.0]\nboundary = [\"periodic\", \"periodic\"]\n"
           "[spring]\nstiffness = 2000.0\n[run]\nuntil = 4000.0\n[[fill]]\nradius = 0.5\nmass = 1.0\ncount = 60\n"
           "temperature = 0.5\n[thermostat]\n" +
           thermostat;
}

/// The canonical ensemble: mean T, and fluctuations of T of variance 2 T^2 / (d N).
TEST_P(Stages, AndersensThermostatGivesTheCanonicalEnsemble) {
    DrivenRun run(bath("kind = \"andersen\"\ntemperature = 2.0\nrate = 0.5\n"), {solver()});
    const int samples = events() ? 150 : 60;  // springs take longer
    constexpr double kApart = 6.0;            // e^-3 of the energy is still the one before
    double sum = 0.0;
    double squares = 0.0;
    std::vector<double> speeds;
    for (int k = 0; k < samples + 4; ++k) {
        run.to(kApart * (k + 1));
        if (k < 4) continue;
        const double off = run.temperature() - 2.0;
        sum += off;
        squares += off * off;
        const Frame& frame = run.frame();
        for (std::size_t id = 0; id < frame.size(); ++id) {
            speeds.push_back(std::hypot(frame.velocity[0][id], frame.velocity[1][id]) / std::sqrt(2.0));
        }
    }
    const double variance = 2.0 * 2.0 * 2.0 / (2.0 * 60.0);
    const double independent = 0.87 * samples;  // 4.5 sigma of these: 7e-6 each
    EXPECT_NEAR(sum / samples, 0.0, 4.5 * std::sqrt(variance / independent));
    EXPECT_NEAR(squares / samples, variance, 4.5 * variance * std::sqrt(2.0 / independent));
    EXPECT_LT(distance_from_maxwell(speeds, 2),
              1.95 / std::sqrt(speeds.size()) + 0.4 * 4.5 * std::sqrt(variance / independent) / 2.0);
    EXPECT_GT(run.solver().tallies().thermostat_heat, 0.0);
    EXPECT_LT(std::abs(run.balance()), events() ? 1e-12 : 1e-2);
}

TEST_P(Stages, ScalingBringsTheTemperatureThere) {
    DrivenRun run(bath("kind = \"rescale\"\ntemperature = 2.0\nevery = 5.0\n"), {solver()});
    run.to(5.0);
    EXPECT_NEAR(run.temperature(), 0.5, 0.05);  // before the first scaling; springs hold some of the energy
    run.to(10.001);
    // Of hard balls exactly; of soft ones what springs hold at the moment of scaling comes on top.
    EXPECT_NEAR(run.temperature(), 2.0, events() ? 1e-12 : 0.1);
    EXPECT_LT(std::abs(run.balance()), events() ? 1e-12 : 5e-3);
}

/// A free flight that gains energy, so that each scaling takes some.
std::string falling(const std::string& driving) {
    return "scene.dimension = 2\n[box]\nsize = [100.0, 100.0]\n[spring]\nstiffness = 1.0e4\ndt = 0.01\n"
           "[run]\nuntil = 1.0\nprecision = \"double\"\n[physics]\ngravity = [1.0, 0.0]\n[[ball]]\nradius = 0.5\n"
           "mass = 1.0\nposition = [20.0, 50.0]\nvelocity = [2.0, 0.0]\n" +
           driving;
}

/// The steps before `steps` at which velocities are scaled.
std::vector<int> scaled_at(DrivenRun& run, int steps) {
    std::vector<int> found;
    for (int step = 0; step < steps; ++step) {
        const double before = run.solver().tallies().thermostat_heat;
        run.to(0.01 * (step + 1));
        if (run.solver().tallies().thermostat_heat != before) found.push_back(step);
    }
    return found;
}

/// An interval that is no whole number of steps is not rounded to one, from which times would drift away.
TEST(Scaling, OfSpringsIsAtTheStepsNearestToTheMultiples) {
    DrivenRun run(falling("[thermostat]\nkind = \"rescale\"\ntemperature = 1.0\nevery = 0.0643\n"));
    std::vector<int> expected;
    for (int k = 1; k <= 15; ++k) expected.push_back(static_cast<int>(std::lround(6.43 * k)));
    EXPECT_EQ(scaled_at(run, 100), expected);
}

TEST(Scaling, MoreOftenThanStepsIsAtEachButTheFirst) {
    DrivenRun run(falling("[thermostat]\nkind = \"rescale\"\ntemperature = 1.0\nevery = 0.003\n"));
    EXPECT_EQ(scaled_at(run, 6), (std::vector{1, 2, 3, 4, 5}));
}

TEST(Scaling, AtTheTimeAtWhichAStageBeginsIsOfThatStage) {
    // Both lie between steps, nearest to step 51.
    DrivenRun run(
        falling("[[stage]]\nuntil = 0.508\n[[stage]]\nuntil = 1.0\ngravity = [1.0, 0.0]\n"
                "thermostat = { kind = \"rescale\", temperature = 1.0, every = 0.127 }\n"));
    EXPECT_EQ(scaled_at(run, 90), (std::vector{51, 64, 76, 89}));
}

INSTANTIATE_TEST_SUITE_P(Driven, Stages, testing::Values("events", "spring"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace carom::test::stages_test
