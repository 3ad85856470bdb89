#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/live_lab.hpp"

// Kicks, and other values of keys, in the middle of a run.

namespace carom::live_change_test {

using test::kBouncing;
using test::kTwoHardBalls;
using test::LiveLab;

TEST(LiveChange, KicksAndChangesAndGoesBack) {
    LiveLab lab;
    lab.run.kick({.id = 1, .velocity = {0.0, 3.0, 0.0}, .add = true});
    const LiveFrame* kicked = lab.wait([](const LiveFrame& f) { return f.frame->velocity[1][1] > 1.0; });
    ASSERT_NE(kicked, nullptr);
    EXPECT_NEAR(kicked->frame->velocity[1][1], 3.0, 1e-6);
    EXPECT_NEAR(kicked->totals.kinetic, 10.0, 1e-5);

    lab.run.change({"physics.gravity=[0, -2]"});
    for (int k = 0; k < 100; ++k) lab.run.step();
    const LiveFrame* falling = lab.wait([](const LiveFrame& f) { return f.step >= 100; });
    ASSERT_NE(falling, nullptr);
    const double after = falling->time;
    EXPECT_GT(after, 0.0);
    EXPECT_NEAR(falling->frame->velocity[1][1], 3.0 - 2.0 * after, 1e-3);  // half a step's kick is 1e-3
    EXPECT_THROW(lab.run.change({"physics.gravity=[0]"}), std::runtime_error);

    lab.run.reset();
    const LiveFrame* again = lab.wait([](const LiveFrame& f) { return f.step == 0; });
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(again->frame->velocity[1][1], 0.0);
}

TEST(LiveChange, AKickReplacesTheVelocityAndIsUndone) {
    LiveLab lab;
    lab.steps(5);
    lab.run.kick({.id = 0, .velocity = {0.0, 3.0, 0.0}});
    const LiveFrame* kicked = lab.wait([](const LiveFrame& f) { return f.frame->velocity[1][0] > 1.0; });
    ASSERT_NE(kicked, nullptr);
    EXPECT_EQ(kicked->step, 5u);
    EXPECT_NEAR(kicked->frame->velocity[0][0], 0.0, 1e-6);  // it had 1 m/s
    EXPECT_NEAR(kicked->frame->velocity[1][0], 3.0, 1e-6);
    lab.steps(100);
    ASSERT_NE(lab.wait([](const LiveFrame& f) { return f.step == 105; }), nullptr);
    lab.run.undo_kick();
    const LiveFrame* undone = lab.wait([](const LiveFrame& f) { return f.step == 5; });
    ASSERT_NE(undone, nullptr);
    EXPECT_EQ(lab.wait_for_message(), "kick of ball 0 undone");
    EXPECT_DOUBLE_EQ(undone->time, 0.005);
    EXPECT_NEAR(undone->frame->position[0][0], 5.005, 1e-6);
    EXPECT_NEAR(undone->frame->position[1][0], 5.0, 1e-6);
    EXPECT_NEAR(undone->frame->velocity[0][0], 1.0, 1e-6);
    EXPECT_NEAR(undone->totals.kinetic, 1.0, 1e-6);
    lab.run.undo_kick();
    EXPECT_EQ(lab.wait_for_message(), "there is no kick to undo");
}

TEST(LiveRewind, GoesBackAndOnAgainToTheSameBits) {
    LiveLab lab{std::string(kBouncing)};
    std::vector<std::uint64_t> hashes;
    for (std::uint64_t step : {200u, 400u, 600u}) {
        lab.steps(199);
        std::this_thread::sleep_for(std::chrono::milliseconds(300));  // states are kept a few times a second
        lab.steps(1);
        const LiveFrame* frame = lab.wait([step](const LiveFrame& f) { return f.step == step; });
        ASSERT_NE(frame, nullptr);
        hashes.push_back(state_hash(*frame->frame));
    }
    const LiveFrame* now = lab.run.take();
    EXPECT_EQ(now->rewind.from, 0.0);
    EXPECT_GE(now->rewind.states, 3u);
    EXPECT_GE(now->rewind.bytes, now->rewind.states * 9 * sizeof(double));
    lab.run.rewind(0.3);
    const LiveFrame* back = lab.wait([](const LiveFrame& f) { return f.step < 600; });
    ASSERT_NE(back, nullptr);
    EXPECT_LE(back->time, 0.3);
    const std::uint64_t from = back->step;
    EXPECT_NEAR(back->time, static_cast<double>(from) * 1e-3, 1e-9);
    EXPECT_NEAR(back->rewind.to, 0.6, 1e-9);  // where it came from is kept
    lab.run.rewind(0.6);
    ASSERT_NE(lab.wait([](const LiveFrame& f) { return f.step == 600; }), nullptr);
    lab.run.rewind(0.0);
    ASSERT_NE(lab.wait([](const LiveFrame& f) { return f.step == 0; }), nullptr);
    lab.steps(400);
    const LiveFrame* again = lab.wait([](const LiveFrame& f) { return f.step == 400; });
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(state_hash(*again->frame), hashes[1]);
    EXPECT_LE(again->rewind.to, 0.4 + 1e-9) << "what was later is gone once it goes on";
    // Without a time: the state before.
    lab.run.rewind(std::nullopt);
    const LiveFrame* before = lab.wait([](const LiveFrame& f) { return f.step < 400; });
    ASSERT_NE(before, nullptr);
}

TEST(LiveRewind, OfHardBallsTakesTheirCollisionsBack) {
    LiveLab lab{std::string(kTwoHardBalls)};
    ASSERT_NE(lab.after(1, 1.0), nullptr);
    const LiveFrame* met = lab.after(3, 1.0);
    ASSERT_NE(met, nullptr);
    EXPECT_GE(met->tallies.collisions, 1u);
    lab.run.rewind(0.5);
    const LiveFrame* back = lab.wait([](const LiveFrame& f) { return f.time < 0.5; });
    ASSERT_NE(back, nullptr);
    EXPECT_EQ(back->tallies.collisions, 0u);
    EXPECT_DOUBLE_EQ(back->frame->position[0][0], 5.0);
}

TEST(LiveRewind, IsRefusedWhereItCannotBe) {
    LiveLab lab;
    lab.run.rewind(0.0);
    EXPECT_EQ(lab.wait_for_message(), "no earlier state is kept");
    lab.steps(3);
    ASSERT_NE(lab.wait([](const LiveFrame& f) { return f.step == 3 && f.rewind.states > 0; }), nullptr);
    lab.run.change({"physics.gravity=[0, -2]"});
    ASSERT_NE(lab.wait([](const LiveFrame& f) { return f.rewind.states == 0; }), nullptr);
    lab.run.rewind(0.0);
    EXPECT_EQ(lab.wait_for_message(), "no earlier state is kept");
    const std::string path = testing::TempDir() + "rewind.h5";
    {
        LiveLab recorded(test::kTwoSoftBalls, path);
        recorded.steps(3);
        recorded.run.rewind(0.0);
        EXPECT_EQ(recorded.wait_for_message(), "time cannot go back in " + path);
    }
    std::remove(path.c_str());
}

TEST(LiveChange, AKickOfHardBallsIsUndoneWithItsCollisions) {
    LiveLab lab{std::string(kTwoHardBalls)};
    const LiveFrame* before = lab.after(1, 1.0);
    ASSERT_NE(before, nullptr);
    lab.run.kick({.id = 0, .velocity = {10.0, 0.0, 0.0}});
    const LiveFrame* met = lab.after(2, 1.0);
    ASSERT_NE(met, nullptr);
    EXPECT_GE(met->tallies.collisions, 1u);
    lab.run.undo_kick();
    const LiveFrame* undone = lab.wait([](const LiveFrame& f) { return f.time < 1.5; });
    ASSERT_NE(undone, nullptr);
    EXPECT_EQ(undone->tallies.collisions, 0u);
    EXPECT_DOUBLE_EQ(undone->frame->velocity[0][0], 1.0);
    EXPECT_DOUBLE_EQ(undone->frame->position[0][0], 6.0);
}

/// The time step follows from the scene.
constexpr const char* kAutomatic = R"(
[scene]
dimension = 2
[box]
size = [20.0, 10.0]
[physics]
gravity = [0.0, -1.0]
[run]
backend = "cpu"
[[ball]]
radius = 0.5
mass = 2.0
position = [5.0, 5.0]
velocity = [1.0, 0.0]
)";

TEST(LiveChange, ChangesInTheMiddleOfARun) {
    LiveLab lab(kAutomatic);
    lab.steps(100);
    const LiveFrame* before = lab.wait([](const LiveFrame& f) { return f.step == 100; });
    ASSERT_NE(before, nullptr);
    const double dt = before->time / 100.0;
    const double speed = before->frame->velocity[1][0];
    lab.run.change({"physics.gravity=[0, -2]"});
    lab.steps(100);
    const LiveFrame* after = lab.wait([](const LiveFrame& f) { return f.step == 200; });
    ASSERT_NE(after, nullptr) << lab.run.error();
    EXPECT_EQ(lab.run.error(), "");
    EXPECT_EQ(lab.run.take_message(), "");
    EXPECT_DOUBLE_EQ(after->time, 200.0 * dt);  // the same step: time does not jump
    // The change's own half kick: half a step of the difference; and the single precision of a ball in flight.
    EXPECT_NEAR(after->frame->velocity[1][0], speed - 2.0 * 100.0 * dt, 0.5 * dt + 1e-5);
}

TEST(LiveChange, ChangesOneAfterTheOtherAllHold) {
    LiveLab lab(kAutomatic);
    lab.steps(10);
    lab.run.change({"physics.gravity=[0, -3]"});
    EXPECT_EQ(lab.run.scene().physics.gravity[1], -3.0);
    lab.run.change({"physics.restitution=0.5"});
    EXPECT_EQ(lab.run.scene().physics.gravity[1], -3.0);
    EXPECT_EQ(lab.run.scene().physics.restitution, 0.5);
    lab.steps(1);
    const LiveFrame* before = lab.wait([](const LiveFrame& f) { return f.step == 11; });
    ASSERT_NE(before, nullptr) << lab.run.error();
    const double speed = before->frame->velocity[1][0];
    const double time = before->time;
    lab.steps(100);
    const LiveFrame* after = lab.wait([](const LiveFrame& f) { return f.step == 111; });
    ASSERT_NE(after, nullptr) << lab.run.error();
    EXPECT_NEAR((after->frame->velocity[1][0] - speed) / (after->time - time), -3.0, 1e-3);
}

TEST(LiveChange, GoesOnWithAnotherTimeStep) {
    LiveLab lab(kBouncing);
    const auto of = [&] { return lab.run.spring().value(); };
    EXPECT_DOUBLE_EQ(of().dt, 1e-3);
    EXPECT_DOUBLE_EQ(of().stiffness, 4e3);
    EXPECT_NEAR(of().longest_dt, 0.1 * 3.14159265 * std::sqrt(2.0 / 4e3), 1e-6);
    lab.steps(300);
    const LiveFrame* before = lab.wait([](const LiveFrame& f) { return f.step == 300; });
    ASSERT_NE(before, nullptr);
    const double height = before->frame->position[1][0];
    const double speed = before->frame->velocity[1][0];
    EXPECT_NEAR(speed, -0.3, 1e-6);
    lab.run.change({"spring.dt=5e-4"});
    lab.steps(400);
    const LiveFrame* after = lab.wait([](const LiveFrame& f) { return f.step == 700; });
    ASSERT_NE(after, nullptr) << lab.run.error();
    EXPECT_EQ(lab.run.take_message(), "");
    EXPECT_DOUBLE_EQ(of().dt, 5e-4);
    EXPECT_NEAR(after->time, 0.3 + 400 * 5e-4, 1e-12);  // time goes on where it was
    // The energy does not know of the change, though a step of velocities lies half a step behind: that of the state is
    // g dt / 2 off, 5e-4 of 0.3, and 5e-4 of the energy if it were taken for the velocity now.
    const auto energy = [](double y, double v) { return 0.5 * 2.0 * v * v + 2.0 * y; };
    const double y = after->frame->position[1][0];
    if (y >= 0.5) {
        EXPECT_NEAR(energy(y, after->frame->velocity[1][0]), energy(height, speed), 2e-4);
    }
    EXPECT_NEAR(after->totals.energy(), energy(height, speed), 2e-4);
}

TEST(LiveChange, RefusesATimeStepThatResolvesNoContact) {
    LiveLab lab(kBouncing);
    const double longest = lab.run.spring().value().longest_dt;
    lab.run.change({"spring.dt=" + std::to_string(1.1 * longest)});
    const std::string said = lab.wait_for_message();
    EXPECT_NE(said.find("a tenth of the shortest contact"), std::string::npos) << said;
    EXPECT_DOUBLE_EQ(lab.run.spring().value().dt, 1e-3);
    EXPECT_DOUBLE_EQ(lab.run.scene().spring.dt.value(), 1e-3);
    lab.run.change({"spring.stiffness=4e7"});  // the same step, shorter contacts
    EXPECT_NE(lab.wait_for_message().find("a tenth of the shortest contact"), std::string::npos);
    lab.run.change({"spring.stiffness=1e4"});
    lab.steps(1);
    ASSERT_NE(lab.wait([](const LiveFrame& f) { return f.step == 1; }), nullptr);
    EXPECT_EQ(lab.run.take_message(), "");
    EXPECT_DOUBLE_EQ(lab.run.spring().value().stiffness, 1e4);
    EXPECT_LT(lab.run.spring().value().longest_dt, longest);
}

TEST(LiveChange, KicksAndChangesHardBalls) {
    LiveLab lab(kTwoHardBalls);
    lab.steps(3);  // at 1.5 s the first gives all its speed to the second
    const LiveFrame* hit = lab.wait([](const LiveFrame& f) { return f.time == 3.0; });
    ASSERT_NE(hit, nullptr);
    ASSERT_EQ(hit->tallies.collisions, 1u);
    const std::uint64_t step = hit->step;
    const double virial = hit->tallies.collisional_virial.value_or(0.0);
    EXPECT_NE(virial, 0.0);

    lab.run.kick({.id = 0, .velocity = {0.0, 0.25, 0.0}, .add = true});
    const LiveFrame* kicked = lab.wait([](const LiveFrame& f) { return f.frame->velocity[1][0] > 0.2; });
    ASSERT_NE(kicked, nullptr);
    EXPECT_EQ(kicked->time, 3.0);
    EXPECT_EQ(kicked->step, step);
    EXPECT_EQ(kicked->tallies.collisions, 1u);
    EXPECT_EQ(kicked->tallies.collisional_virial.value_or(0.0), virial);

    lab.run.change({"physics.gravity=[0, -0.5]"});
    lab.steps(2);
    const LiveFrame* falling = lab.wait([](const LiveFrame& f) { return f.time == 5.0; });
    ASSERT_NE(falling, nullptr);
    EXPECT_NEAR(falling->frame->velocity[1][0], 0.25 - 0.5 * 2.0, 1e-12);
    EXPECT_NEAR(falling->frame->position[1][0], 5.0 + 0.25 * 2.0 - 0.5 * 0.5 * 4.0, 1e-12);
    EXPECT_NEAR(falling->frame->velocity[0][1], 1.0, 1e-12);
    EXPECT_EQ(falling->tallies.collisions, 1u);
    EXPECT_GE(falling->step, step);
    EXPECT_EQ(lab.run.error(), "");
}

/// A box without ends, in which a ball goes up.
constexpr const char* kRing = R"(
[scene]
dimension = 2
[box]
size = [10.0, 10.0]
boundary = ["wall", "periodic"]
[run]
solver = "events"
[output]
every = 100.0
[[ball]]
radius = 0.5
mass = 2.0
position = [5.0, 1.0]
[[ball]]
radius = 0.5
mass = 2.0
position = [5.0, 3.0]
velocity = [0.0, 1.0]
)";

TEST(LiveChange, GoesOnAfterAChangeThatCannotBeMade) {
    LiveLab lab(kRing);
    lab.steps(4);
    const LiveFrame* before = lab.wait([](const LiveFrame& f) { return f.time == 4.0; });
    ASSERT_NE(before, nullptr);
    EXPECT_DOUBLE_EQ(before->frame->position[1][1], 7.0);
    lab.run.change({"box.size=[10, 6]"});  // one ball would be in the place of the other
    lab.steps(1);
    const std::string said = lab.wait_for_message();
    EXPECT_NE(said.find("overlap"), std::string::npos) << said;
    EXPECT_EQ(lab.run.scene().box.size[1], 10.0);
    const LiveFrame* after = lab.wait([](const LiveFrame& f) { return f.time == 5.0; });
    ASSERT_NE(after, nullptr);
    EXPECT_DOUBLE_EQ(after->frame->position[1][1], 8.0);
    EXPECT_EQ(lab.run.error(), "");
}

/// Hard balls of which one leaves, and two meet afterwards. A single step is one second.
constexpr const char* kOneLeaves = R"(
[scene]
dimension = 2
[box]
size = [20.0, 10.0]
boundary = ["open", "wall"]
[run]
solver = "events"
[output]
every = 100.0
[[ball]]
radius = 0.5
mass = 2.0
position = [1.0, 2.0]
velocity = [-4.0, 0.0]
[[ball]]
radius = 0.5
mass = 2.0
position = [10.0, 8.0]
velocity = [0.0, -1.0]
)";

TEST(LiveChange, OfHardBallsGoesOnWithoutThoseThatHaveLeft) {
    LiveLab lab(kOneLeaves);
    ASSERT_NE(lab.after(2, 1.0), nullptr) << lab.run.error();
    lab.run.kick({.id = 1, .velocity = {0.0, -1.0, 0.0}, .add = true});
    lab.run.change({"physics.gravity=[0, -0.5]"});
    const LiveFrame* after = lab.after(1, 1.0);
    ASSERT_NE(after, nullptr) << lab.run.error();
    EXPECT_EQ(lab.run.take_message(), "");
    EXPECT_EQ(after->totals.balls, 1u);
    EXPECT_EQ(after->tallies.balls_left, 1u);
    EXPECT_NEAR(after->totals.kinetic, 0.5 * 2.0 * 2.5 * 2.5, 1e-9);
    EXPECT_TRUE(std::isfinite(after->totals.energy()));
}

/// Balls at rest, with springs that are left to the program.
constexpr const char* kAtRest = R"(
[scene]
dimension = 2
[box]
size = [20.0, 10.0]
[run]
backend = "cpu"
[[ball]]
radius = 0.5
mass = 2.0
position = [5.0, 5.0]
[[ball]]
radius = 0.5
mass = 2.0
position = [15.0, 5.0]
)";

TEST(LiveChangeOfSprings, GravityCanBeSwitchedOnAmongBallsAtRest) {
    LiveLab lab(kAtRest);
    const SpringNumbers before = lab.run.spring().value();
    lab.run.change({"physics.gravity=[0, -3]"});
    const std::string said = lab.wait_for_message();
    EXPECT_NE(said.find("changed, but overlaps may be"), std::string::npos) << said;
    EXPECT_NE(said.find("stiffness would be"), std::string::npos) << said;
    EXPECT_EQ(lab.run.scene().physics.gravity[1], -3.0);
    const SpringNumbers now = lab.run.spring().value();
    EXPECT_EQ(now.dt, before.dt);
    // As stiff as the time step lets them be.
    EXPECT_NEAR(now.longest_dt / now.dt, 1.0, 1e-5);
    EXPECT_GT(now.stiffness, 10.0 * before.stiffness);
}

TEST(LiveChangeOfSprings, StiffnessStaysWhateverTheBallsAreLikeByNow) {
    LiveLab lab(kAtRest);
    const double stiffness = lab.run.spring().value().stiffness;
    lab.run.kick({.id = 0, .velocity = {100.0, 0.0, 0.0}, .add = true});
    lab.run.change({"physics.restitution=0.5"});
    lab.steps(1);
    ASSERT_NE(lab.wait([](const LiveFrame& f) { return f.step == 1; }), nullptr);
    EXPECT_EQ(lab.run.take_message(), "");
    EXPECT_EQ(lab.run.scene().physics.restitution, 0.5);
    EXPECT_EQ(lab.run.spring().value().stiffness, stiffness);

    lab.run.kick(
        {.id = 0, .velocity = {-100.0, 0.0, 0.0}, .add = true});  // and at rest again, no reason for softer ones
    lab.run.change({"physics.gravity=[0, -1e-6]"});
    lab.steps(1);
    ASSERT_NE(lab.wait([](const LiveFrame& f) { return f.step == 2; }), nullptr);
    EXPECT_EQ(lab.run.take_message(), "");
    EXPECT_EQ(lab.run.spring().value().stiffness, stiffness);
}

TEST(LiveChange, SpeaksOfKeysAndNotOfTheCommandLine) {
    LiveLab lab;
    try {
        lab.run.change({"physics.restitution=-3"});
        FAIL() << "was taken";
    } catch (const std::runtime_error& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with("physics.restitution: ")) << error.what();
    }
}

}  // namespace carom::live_change_test
