#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "host/io/trajectory_reader.hpp"
#include "tests/support/driven_run.hpp"
#include "tests/support/live_lab.hpp"

// Live changes where the scene drives its balls: thermal walls, moving walls, stages.

namespace carom::live_walls_test {

using test::DrivenRun;
using test::LiveLab;

/// A gas between two thermal walls.
const std::string kWarmGas = R"(
[scene]
dimension = 2
seed = 3
[box]
size = [14.0, 14.0]
boundary = ["wall", "periodic"]
wall_temperature = [1.0, 0.0]
[output]
every = 100.0
[[fill]]
count = 100
radius = 0.5
mass = 1.0
temperature = 1.0
)";
/// A single step is a thousandth of a second; of hard balls a whole one.
const std::string kGivenSprings = "[spring]\nstiffness = 5.0e3\ndt = 1.0e-3\n";

std::string with_solver(const std::string& scene, const std::string& solver) {
    return scene + "[run]\nbackend = \"cpu\"\nsolver = \"" + solver + "\"\n";
}

double temperature_of(const LiveFrame& frame) {
    return frame.totals.kinetic / static_cast<double>(frame.totals.mobile);  // d = 2
}

/// The two, bit for bit.
void expect_equal(const Frame& a, const Frame& b) {
    ASSERT_EQ(a.size(), b.size());
    for (int axis = 0; axis < a.dimension; ++axis) {
        EXPECT_EQ(a.position[axis], b.position[axis]);
        EXPECT_EQ(a.velocity[axis], b.velocity[axis]);
    }
}

class LiveWalls : public testing::TestWithParam<const char*> {
protected:
    [[nodiscard]] std::string driven(const std::string& scene) const { return with_solver(scene, GetParam()); }
    /// Of kWarmGas with kGivenSprings, in single steps.
    static const LiveFrame* two_seconds(LiveLab& lab) {
        return std::string(GetParam()) == "events" ? lab.after(2, 1.0) : lab.after(2000, 1e-3);
    }
};

INSTANTIATE_TEST_SUITE_P(Solvers, LiveWalls, testing::Values("spring", "events"),
                         [](const auto& param) { return std::string(param.param); });

/// Of N balls with d degrees of freedom each, the temperature of a canonical gas has a relative deviation of
/// sqrt(2 / (d N)). Which moments are seen depends on the clock: of the mean of some, four of these are never left.
void expect_heated(LiveLab& lab, double temperature) {
    lab.run.set_speed(1e4);
    lab.run.set_playing(true);
    constexpr int kMoments = 4;
    double mean = 0.0;
    for (int k = 0; k < kMoments; ++k) {
        const LiveFrame* warm = lab.wait([&](const LiveFrame& f) { return f.time > 80.0 + 10.0 * k; });
        ASSERT_NE(warm, nullptr) << lab.run.error();
        mean += temperature_of(*warm) / kMoments;
    }
    EXPECT_NEAR(mean, temperature, 4.0 * temperature * std::sqrt(2.0 / 200.0));
}

TEST_P(LiveWalls, HotterWallsHeatTheGas) {
    LiveLab lab(driven(kWarmGas + kGivenSprings));
    lab.run.change({"box.wall_temperature[0][0]=4"});
    lab.run.change({"box.wall_temperature[0][1]=4"});
    EXPECT_EQ(lab.run.scene().box.temperature[0][0], 4.0);
    EXPECT_EQ(lab.run.scene().box.temperature[0][1], 4.0);
    expect_heated(lab, 4.0);
}

TEST_P(LiveWalls, ChangedFromTheStartIsTheRunOfAnotherScene) {
    LiveLab lab(driven(kWarmGas + kGivenSprings));
    lab.run.change({"box.wall_temperature[0][1]=2"});
    const LiveFrame* changed = two_seconds(lab);
    ASSERT_NE(changed, nullptr) << lab.run.error();
    DrivenRun other(driven(kWarmGas + kGivenSprings), {"box.wall_temperature=[[1, 2], 0]"});
    other.to(2.0);
    expect_equal(*changed->frame, other.frame());
    DrivenRun same(driven(kWarmGas + kGivenSprings));
    same.to(2.0);
    EXPECT_NE(same.frame().velocity[0], changed->frame->velocity[0]);
}

/// A live change is what a stage is that begins at that time.
TEST(LiveWallsOfHardBalls, ChangedInTheMiddleIsTheRunOfAStage) {
    const std::string scene = with_solver(kWarmGas, "events");
    LiveLab lab(scene);
    ASSERT_NE(lab.after(10, 1.0), nullptr);
    lab.run.change({"box.wall_temperature[0][0]=2.5"});
    const LiveFrame* changed = lab.after(10, 1.0);
    ASSERT_NE(changed, nullptr) << lab.run.error();
    DrivenRun stages(scene +
                     "[[stage]]\nuntil = 10.0\n[[stage]]\nuntil = 20.0\nwall_temperature = [[2.5, 1.0], 0.0]\n");
    stages.to(20.0);
    expect_equal(*changed->frame, stages.frame());
}

TEST_P(LiveWalls, TemperaturesOfEntriesChangeToo) {
    const std::string walls =
        "[[wall]]\nshape = \"plane\"\nnormal = [1, 0]\noffset = 0.0\ntemperature = 1.0\n"
        "[[wall]]\nshape = \"plane\"\nnormal = [-1, 0]\noffset = -14.0\ntemperature = 1.0\n";
    std::string scene = driven(kWarmGas + kGivenSprings) + walls;
    scene.replace(scene.find("wall_temperature = [1.0, 0.0]"), 29, "");
    LiveLab lab(scene);
    lab.run.change({"wall[0].temperature=4"});
    lab.run.change({"wall[1].temperature=4"});
    EXPECT_EQ(lab.run.scene().walls[1].temperature, 4.0);
    expect_heated(lab, 4.0);
}

TEST_P(LiveWalls, TemperaturesAreNotedInTheFile) {
    const std::string path = testing::TempDir() + "/live-walls-" + GetParam() + ".h5";
    {
        LiveLab lab(driven(kWarmGas), path);
        lab.run.change({"box.wall_temperature[0][1]=1.5"});
        EXPECT_THROW(lab.run.change({"box.wall_temperature[0][1]=-1"}), std::runtime_error);
        EXPECT_THROW(lab.run.change({"box.wall_temperature[1][0]=1"}), std::runtime_error);  // of no wall
        ASSERT_NE(lab.wait([](const LiveFrame&) { return true; }), nullptr);
        lab.run.change({"box.wall_temperature[0][0]=2"});
        lab.run.step();
        ASSERT_NE(lab.wait([](const LiveFrame& f) { return f.time > 0.0; }), nullptr) << lab.run.error();
    }
    const TrajectoryReader file(path);
    const std::vector<RunChange> changes = file.changes();
    ASSERT_EQ(changes.size(), 2u);
    EXPECT_EQ(changes[0].what, "box.wall_temperature[0][1]=1.5");
    EXPECT_EQ(changes[1].what, "box.wall_temperature[0][0]=2");
    std::remove(path.c_str());
}

TEST_P(LiveWalls, GoingBackGivesTheSceneAsItWas) {
    LiveLab lab(driven(kWarmGas + kGivenSprings));
    ASSERT_NE(two_seconds(lab), nullptr);
    lab.run.change({"box.wall_temperature[0][0]=2"});
    ASSERT_NE(two_seconds(lab), nullptr);
    EXPECT_EQ(lab.run.scene().box.temperature[0][0], 2.0);
    lab.reset();
    EXPECT_NE(lab.wait_for_message().find("as it was"), std::string::npos);
    EXPECT_EQ(lab.run.scene().box.temperature[0][0], 1.0);
    const LiveFrame* again = two_seconds(lab);
    ASSERT_NE(again, nullptr) << lab.run.error();
    DrivenRun first(driven(kWarmGas + kGivenSprings));
    first.to(2.0);
    expect_equal(*again->frame, first.frame());
}

TEST(LiveWallsOfSprings, GrowStifferWithTheHeatAsFarAsTheTimeStepBears) {
    LiveLab lab(with_solver(kWarmGas, "spring"));
    const double stiffness = lab.run.spring()->stiffness;
    lab.run.change({"box.wall_temperature[0][0]=10"});  // a contact of fewer steps, but of enough
    ASSERT_NE(lab.after(1, lab.run.spring()->dt), nullptr);
    EXPECT_EQ(lab.run.take_message(), "");
    EXPECT_EQ(lab.run.scene().box.temperature[0][0], 10.0);
    EXPECT_NEAR(lab.run.spring()->stiffness, 10.0 * stiffness, 1e-9 * stiffness);
    lab.run.change({"box.wall_temperature[0][0]=100"});
    const std::string said = lab.wait_for_message();
    EXPECT_NE(said.find("stiffness would be"), std::string::npos) << said;
    EXPECT_EQ(lab.run.scene().box.temperature[0][0], 100.0);
    EXPECT_NEAR(lab.run.spring()->longest_dt / lab.run.spring()->dt, 1.0, 1e-5);
}

TEST(LiveWallsOfSprings, GivenStiffnessStaysAndWhatThatMeansIsSaid) {
    LiveLab lab(with_solver(kWarmGas + "[spring]\nstiffness = 4.0e6\n", "spring"));
    lab.run.change({"box.wall_temperature[0][0]=5"});
    EXPECT_NE(lab.wait_for_message().find("changed, but overlaps may reach"), std::string::npos);
    EXPECT_EQ(lab.run.scene().box.temperature[0][0], 5.0);
    EXPECT_EQ(lab.run.spring()->stiffness, 4e6);
}

/// Free flight; a step of either solver is 0.01 s.
const std::string kFlight = R"(
[scene]
dimension = 2
[box]
size = [100.0, 100.0]
[output]
every = 1.0
[spring]
stiffness = 100.0
dt = 0.01
[[ball]]
radius = 0.5
mass = 2.0
position = [20.0, 50.0]
velocity = [1.0, 0.0]
[[stage]]
until = 2.0
[[stage]]
until = 4.0
gravity = [0.0, -1.5]
[[stage]]
until = 5.0
[[stage]]
until = 7.0
gravity = [0.5, 0.25]
)";
constexpr double kStep = 0.01;

/// What one changes holds from then on, through stages that say nothing of it, to one that does.
TEST_P(LiveWalls, GravityChangesInTheMiddleOfAStage) {
    LiveLab lab(driven(kFlight) + "precision = \"double\"\n");
    ASSERT_NE(lab.after(300, kStep), nullptr);  // 1 s of -1.5
    lab.run.change({"physics.gravity=[0, 2]"});
    const LiveFrame* frame = lab.after(50, kStep);
    ASSERT_NE(frame, nullptr) << lab.run.error();
    EXPECT_EQ(lab.run.take_message(), "");
    EXPECT_NEAR(frame->frame->velocity[1][0], -1.5 + 2.0 * 0.5, 1e-9);
    frame = lab.after(150, kStep);  // to the end of the stage that says nothing
    ASSERT_NE(frame, nullptr) << lab.run.error();
    EXPECT_NEAR(frame->frame->velocity[1][0], -1.5 + 2.0 * 2.0, 1e-9);
    frame = lab.after(100, kStep);
    ASSERT_NE(frame, nullptr) << lab.run.error();
    EXPECT_NEAR(frame->frame->velocity[1][0], -1.5 + 2.0 * 2.0 + 0.25, 1e-9);
    EXPECT_NEAR(frame->frame->velocity[0][0], 1.0 + 0.5, 1e-9);
    // Once more, in the last stage, which has no end.
    lab.run.change({"physics.gravity=[0, -1]"});
    frame = lab.after(200, kStep);
    ASSERT_NE(frame, nullptr) << lab.run.error();
    EXPECT_NEAR(frame->frame->velocity[1][0], 2.75 - 2.0, 1e-9);
    EXPECT_NEAR(frame->frame->velocity[0][0], 1.5, 1e-9);
    // Positions are exact for each of the fields: -1.5 for 1 s, 2 for 2 s, (0.5, 0.25) for 1 s, -1 for 2 s.
    EXPECT_NEAR(frame->frame->position[1][0], 50.0 - 0.75 + (-1.5 * 2.0 + 4.0) + (2.5 + 0.125) + (2.75 * 2.0 - 2.0),
                1e-7);
    EXPECT_NEAR(frame->time, 8.0, 1e-12);
}

/// kWarmGas between two [[wall]] planes, the first at a temperature of its own, with stages.
std::string between_entries(const std::string& scene, const std::string& first, const std::string& stages) {
    std::string text = scene;
    text.replace(text.find("wall_temperature = [1.0, 0.0]"), 29, "");
    return text + "[[wall]]\nshape = \"plane\"\nnormal = [1, 0]\noffset = 0.0\ntemperature = " + first +
           "\n[[wall]]\nshape = \"plane\"\nnormal = [-1, 0]\noffset = -14.0\ntemperature = 1.0\n" + stages;
}

/// A [[stage]] that sets the temperatures of both.
std::string stage_of_entries(const std::string& until, const std::string& temperatures) {
    return "[[stage]]\nuntil = " + until + "\nwall_entry_temperature = [" + temperatures + "]\n";
}

/// What follows the stage in which an entry is changed: one that leaves it "same", one that says a temperature, and one
/// that says nothing.
const std::string kLaterStages =
    stage_of_entries("6.0", "\"same\", 2.0") + stage_of_entries("10.0", "0.5, \"same\"") + "[[stage]]\nuntil = 14.0\n";

TEST_P(LiveWalls, TemperaturesOfEntriesHoldUntilAStageSaysAnother) {
    const std::string gas = driven(kWarmGas + kGivenSprings);
    LiveLab lab(between_entries(gas, "3.0", stage_of_entries("2.0", "2.5, \"same\"") + kLaterStages));
    lab.run.change({"wall[0].temperature=4"});
    const std::vector<Stage> stages = lab.run.scene().stages;
    const std::vector<std::vector<double>> expected{{4.0, 1.0}, {4.0, 2.0}, {0.5, 1.0}, {4.0, 1.0}};
    ASSERT_EQ(stages.size(), expected.size());
    for (std::size_t k = 0; k < stages.size(); ++k) EXPECT_EQ(stages[k].wall_entry_temperature, expected[k]) << k;
    DrivenRun other(between_entries(gas, "4.0", stage_of_entries("2.0", "4.0, \"same\"") + kLaterStages));
    for (int end = 2; end <= 14; end += 2) {
        const LiveFrame* live = two_seconds(lab);
        ASSERT_NE(live, nullptr) << lab.run.error();
        other.to(end);
        expect_equal(*live->frame, other.frame());
    }
    EXPECT_EQ(lab.run.take_message(), "");
}

TEST(LiveWallsOfHardBalls, AnEntryChangedInTheMiddleOfAStageIsTheRunOfAnotherStage) {
    const std::string gas = with_solver(kWarmGas, "events");
    LiveLab lab(between_entries(gas, "3.0", stage_of_entries("2.0", "2.5, \"same\"") + kLaterStages));
    ASSERT_NE(lab.after(1, 1.0), nullptr);
    lab.run.change({"wall[0].temperature=4"});
    DrivenRun other(between_entries(
        gas, "4.0",
        stage_of_entries("1.0", "2.5, \"same\"") + stage_of_entries("2.0", "4.0, \"same\"") + kLaterStages));
    other.to(1.0);
    for (int end = 2; end <= 14; ++end) {
        const LiveFrame* live = lab.after(1, 1.0);
        ASSERT_NE(live, nullptr) << lab.run.error();
        other.to(end);
        expect_equal(*live->frame, other.frame());
    }
}

TEST(LiveWallsOfSprings, StagesGoOnAtTheirTimesWithAnotherTimeStep) {
    LiveLab lab(with_solver(kFlight, "spring") + "precision = \"double\"\n");
    ASSERT_NE(lab.after(100, kStep), nullptr);
    lab.run.change({"spring.dt=0.02"});
    const LiveFrame* frame = lab.after(100, 2.0 * kStep);
    ASSERT_NE(frame, nullptr) << lab.run.error();
    EXPECT_NEAR(frame->time, 3.0, 1e-12);
    EXPECT_NEAR(frame->frame->velocity[1][0], -1.5, 1e-9);
}

/// A wall that comes, and stops, and a ball before it.
const std::string kPiston = R"(
[scene]
dimension = 2
[box]
size = [20.0, 100.0]
[output]
every = 1.0
[spring]
stiffness = 1.0e6
dt = 1.0e-4
[[wall]]
shape = "plane"
normal = [1.0, 0.0]
offset = 0.0
velocity = 0.5
[[ball]]
radius = 0.5
mass = 2.0
position = [3.0, 50.0]
)";

/// Plays to a time of the run and pauses there, or not much later.
const LiveFrame* play_to(LiveLab& lab, double time) {
    lab.run.set_speed(20.0);
    lab.run.set_playing(true);
    lab.wait([&](const LiveFrame& f) { return f.time >= time; });
    lab.run.set_playing(false);
    return lab.wait([&](const LiveFrame& f) { return f.frame->time == f.time && f.time >= time; });
}

/// The events solver counts visits of a thermostat, and those of the one before say nothing of another's.
TEST(LiveThermostat, MayBeChanged) {
    LiveLab lab(with_solver(kWarmGas, "events") +
                "[thermostat]\nkind = \"andersen\"\nrate = 40.0\ntemperature = 1.0\n");
    ASSERT_NE(play_to(lab, 1.0), nullptr) << lab.run.error();
    for (const char* rate : {"thermostat.rate=4", "thermostat.rate=400"}) {
        const double before = lab.run.take()->time;
        lab.run.change({rate});
        EXPECT_EQ(lab.run.take_message(), "") << rate;
        ASSERT_NE(play_to(lab, before + 1.0), nullptr) << lab.run.error();
        EXPECT_EQ(lab.run.error(), "") << rate;
    }
}

/// The ball is met at t = 5 and flies away twice as fast as the wall.
TEST_P(LiveWalls, MovingWallsGoOnFromWhereTheyAre) {
    LiveLab lab(driven(kPiston) + "precision = \"double\"\n");
    ASSERT_NE(play_to(lab, 1.0), nullptr);
    lab.run.change({"physics.restitution=0.9"});
    ASSERT_NE(play_to(lab, 2.0), nullptr);
    lab.run.change({"physics.gravity=[0, 0]"});
    const LiveFrame* frame = play_to(lab, 8.0);
    ASSERT_NE(frame, nullptr) << lab.run.error();
    EXPECT_EQ(lab.run.take_message(), "");
    const double speed = (1.0 + 0.9) * 0.5;
    EXPECT_NEAR(frame->frame->velocity[0][0], speed, 5e-3);  // a dashpot is of the first order in dt
    // A contact takes 4 ms.
    EXPECT_NEAR(frame->frame->position[0][0], 3.0 + speed * (frame->time - 5.0), 0.03);
}

TEST_P(LiveWalls, MovingWallsStopWhenTheirStageEnds) {
    LiveLab lab(driven(kPiston) + "precision = \"double\"\n" +
                "[[stage]]\nuntil = 3.0\n[[stage]]\nuntil = 100.0\nwall_velocity = [0.0]\n");
    ASSERT_NE(play_to(lab, 1.0), nullptr);
    lab.run.change({"physics.gravity=[-0.05, 0]"});  // by which the ball comes to the wall, at x = 1.5
    lab.run.want_frames(true);
    lab.run.set_speed(4.0);
    lab.run.set_playing(true);
    ASSERT_NE(lab.wait([](const LiveFrame& f) { return f.frame->position[0][0] < 2.5; }), nullptr);
    lab.run.set_speed(0.4);  // so that it is seen near the wall
    const LiveFrame* bounced = lab.wait([](const LiveFrame& f) { return f.frame->velocity[0][0] > 0.0; });
    ASSERT_NE(bounced, nullptr) << lab.run.error();
    EXPECT_NEAR(bounced->frame->position[0][0], 2.05, 0.12);  // of the picture after it
    EXPECT_GT(bounced->frame->time, 1.0 + std::sqrt(2.0 * 1.0 / 0.05));
    // m v^2 / 2 + m g (x - 2) is that of the ball at rest at x = 3: the wall gave it nothing.
    const double v = bounced->frame->velocity[0][0];
    EXPECT_NEAR(0.5 * v * v + 0.05 * (bounced->frame->position[0][0] - 2.0), 0.05, 1e-3);
}

}  // namespace carom::live_walls_test
