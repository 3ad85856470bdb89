#include "host/window/live_run.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>

#include "host/io/trajectory_reader.hpp"
#include "host/viewer/egl_context.hpp"
#include "tests/support/shared_pictures.hpp"

namespace carom {
namespace {

constexpr const char* kScene = R"(
[scene]
dimension = 2
[box]
size = [20.0, 10.0]
[physics]
gravity = [0.0, 0.0]
[spring]
stiffness = 1.0e4
dt = 1.0e-3
[run]
backend = "cpu"
[[ball]]
radius = 0.5
mass = 2.0
position = [5.0, 5.0]
velocity = [1.0, 0.0]
[[ball]]
radius = 0.5
mass = 2.0
position = [15.0, 5.0]
)";

/// Hard balls; a single step is one second.
constexpr const char* kHardScene = R"(
[scene]
dimension = 2
[box]
size = [20.0, 10.0]
[run]
solver = "events"
[output]
every = 100.0
[[ball]]
radius = 0.5
mass = 2.0
position = [5.0, 5.0]
velocity = [1.0, 0.0]
[[ball]]
radius = 0.5
mass = 2.0
position = [7.5, 5.0]
)";

/// A live run without a window.
struct Lab {
    explicit Lab(const char* scene = kScene, const std::string& record = {})
        : run({.scene = "", .text = SceneText{"test.toml", scene}},
              prepare_scene({.scene = "", .text = SceneText{"test.toml", scene}})) {
        store = make_mapped_store(2);
        if (!record.empty()) run.record(record, true);
        run.start(*store, false);
    }
    ~Lab() { run.stop(); }

    /// The first new frame that is as wanted.
    const LiveFrame* wait(const std::function<bool(const LiveFrame&)>& wanted) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (std::chrono::steady_clock::now() < end) {
            const LiveFrame* frame = run.take();
            if (frame != nullptr && wanted(*frame)) return frame;
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        return nullptr;
    }

    void steps(int count) {
        for (int k = 0; k < count; ++k) run.step();
    }

    /// The reason for which something was refused; empty if nothing was.
    std::string wait_for_message() {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (std::chrono::steady_clock::now() < end) {
            if (std::string said = run.take_message(); !said.empty()) return said;
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        return {};
    }

    EglContext context;
    std::unique_ptr<CloudStore> store;
    LiveRun run;
};

TEST(LiveRun, DoesNothingUntilItIsToldTo) {
    Lab lab;
    const LiveFrame* first = lab.wait([](const LiveFrame&) { return true; });
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->step, 0u);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_FALSE(lab.run.fresh());
}

TEST(LiveRun, ShowsTheNumbersOfItsFrames) {
    Lab lab;
    for (int k = 0; k < 5; ++k) lab.run.step();
    const LiveFrame* frame = lab.wait([](const LiveFrame& f) { return f.step == 5; });
    ASSERT_NE(frame, nullptr);
    EXPECT_DOUBLE_EQ(frame->totals.kinetic, 1.0);
    EXPECT_EQ(frame->totals.balls, 2u);
    EXPECT_DOUBLE_EQ(frame->time, 0.005);
    // A quantum of the position a step.
    EXPECT_NEAR(frame->frame->position[0][0], 5.005, 1e-6);
    EXPECT_EQ(lab.store->buffers(lab.run.slot()).extent.count, 2u);
}

TEST(LiveRun, PlaysAtTheSpeedAskedForAndPauses) {
    Lab lab;
    lab.run.set_speed(0.25);
    const auto begin = std::chrono::steady_clock::now();
    lab.run.set_playing(true);
    const LiveFrame* frame = lab.wait([](const LiveFrame& f) { return f.time > 0.2; });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    ASSERT_NE(frame, nullptr);
    EXPECT_LE(frame->time, 0.25 * seconds + 0.25 * 2.0 / 60.0);  // never faster, but for the frame begun
    lab.run.set_playing(false);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    lab.run.take();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_FALSE(lab.run.fresh());
}

TEST(LiveRun, KicksAndChangesAndGoesBack) {
    Lab lab;
    lab.run.kick(1, {0.0, 3.0, 0.0});
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

TEST(LiveRun, ChangesInTheMiddleOfARun) {
    Lab lab(kAutomatic);
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

TEST(LiveRun, ChangesOneAfterTheOtherAllHold) {
    Lab lab(kAutomatic);
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

/// A ball that falls onto the floor: a contact lasts 0.07 s.
constexpr const char* kBouncing = R"(
[scene]
dimension = 2
[box]
size = [20.0, 10.0]
[physics]
gravity = [0.0, -1.0]
[spring]
stiffness = 4.0e3
dt = 1.0e-3
[run]
backend = "cpu"
[output]
every = 0.05
[[ball]]
radius = 0.5
mass = 2.0
position = [5.0, 0.7]
)";

TEST(LiveRun, GoesOnWithAnotherTimeStep) {
    Lab lab(kBouncing);
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

TEST(LiveRun, RefusesATimeStepThatResolvesNoContact) {
    Lab lab(kBouncing);
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

TEST(LiveRun, StoresFramesAndWhatWasChanged) {
    const std::string path = testing::TempDir() + "/live-record.h5";
    {
        Lab lab(kBouncing, path);
        lab.steps(100);
        lab.run.change({"physics.gravity=[0, -2]"});
        lab.steps(50);
        lab.run.change({"physics.restitution=0.5"});
        lab.run.change({"spring.dt=10"});  // refused, so it is not in the file
        lab.run.change({"spring.stiffness=5000"});
        lab.run.kick(0, {0.0, 0.25, 0.0});
        lab.steps(60);
        ASSERT_NE(lab.wait([](const LiveFrame& f) { return f.step == 210; }), nullptr) << lab.run.error();
        EXPECT_EQ(lab.run.error(), "");
    }
    const TrajectoryReader file(path);
    ASSERT_EQ(file.frame_count(), 5u);  // 0, 0.05, ... 0.2
    for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(file.times()[k], 0.05 * static_cast<double>(k), 1e-9) << k;
    EXPECT_EQ(file.steps()[3], 150u);
    Frame frame;
    file.read(3, frame);
    EXPECT_NEAR(frame.velocity[1][0], -0.1 - 0.1, 1e-6);  // 0.1 s of either gravity
    const std::vector<RunChange> changes = file.changes();
    ASSERT_EQ(changes.size(), 4u);
    EXPECT_EQ(changes[0].what, "physics.gravity=[0, -2]");
    EXPECT_EQ(changes[0].step, 100u);
    EXPECT_NEAR(changes[0].time, 0.1, 1e-12);
    EXPECT_EQ(changes[1].what, "physics.restitution=0.5");
    EXPECT_EQ(changes[2].what, "spring.stiffness=5000");
    EXPECT_EQ(changes[3].what, "ball 0 kicked by [0, 0.25]");
    EXPECT_EQ(changes[3].step, 150u);
    EXPECT_NE(file.summary().find("\"changes\": 4"), std::string::npos) << file.summary();
    std::remove(path.c_str());
}

TEST(LiveRun, KicksAndChangesHardBalls) {
    Lab lab(kHardScene);
    lab.steps(3);  // at 1.5 s the first gives all its speed to the second
    const LiveFrame* hit = lab.wait([](const LiveFrame& f) { return f.time == 3.0; });
    ASSERT_NE(hit, nullptr);
    ASSERT_EQ(hit->tallies.collisions, 1u);
    const std::uint64_t step = hit->step;
    const double virial = hit->tallies.collisional_virial.value_or(0.0);
    EXPECT_NE(virial, 0.0);

    lab.run.kick(0, {0.0, 0.25, 0.0});
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

TEST(LiveRun, GoesOnAfterAChangeThatCannotBeMade) {
    Lab lab(kRing);
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

TEST(LiveRun, PlaysSlowerThanAStepAFrame) {
    Lab lab;
    lab.run.set_speed(0.003);  // three steps a second
    lab.run.set_playing(true);
    const LiveFrame* frame = lab.wait([](const LiveFrame& f) { return f.step >= 3; });
    EXPECT_NE(frame, nullptr);
}

TEST(LiveRun, SingleStepsNeedNoStoredFrames) {
    const std::string scene = std::string(kHardScene);
    const std::string never = std::string(scene).replace(scene.find("every = 100.0"), 13, "every = 0.0  ");
    Lab lab(never.c_str());
    const double until = lab.run.scene().run.until;
    lab.steps(1);
    const LiveFrame* frame = lab.wait([](const LiveFrame& f) { return f.time > 0.0; });
    ASSERT_NE(frame, nullptr);
    EXPECT_DOUBLE_EQ(frame->time, 1e-4 * until);
}

TEST(LiveRun, SaysWhatStoppedIt) {
    Lab lab;
    lab.run.kick(0, {1e9, 0.0, 0.0});  // it leaves the box within a step
    lab.run.set_playing(true);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (lab.run.error().empty() && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_NE(lab.run.error().find("ball"), std::string::npos) << lab.run.error();
    EXPECT_FALSE(lab.run.playing());
}

#if defined(CAROM_HAVE_EMULATED)

constexpr const char* kGas = R"(
[scene]
dimension = 2
[box]
size = [24.0, 18.0]
[[fill]]
count = 190
radius = 0.5
mass = 1.0
temperature = 1.0
)";

/// What is drawn from a slot is of the time that the slot says, whole, however the two threads meet.
TEST(LiveRun, HandsOverWholePicturesFromThreadToThread) {
    const EglContext context;
    LiveRun run({.scene = "", .text = SceneText{"test.toml", kGas}}, test::on_processor(kGas, "emulated"));
    const auto store = test::make_fake_store(run.balls().size());
    run.want_frames(true);
    run.start(*store, true);
    std::vector<BallPlace> places(run.balls().size());
    const Vector3 origin = cloud_origin(run.scene().box);
    int seen = 0;
    int wrong = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (seen < 40 && std::chrono::steady_clock::now() < end) {
        if (!run.fresh()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            continue;
        }
        const LiveFrame* now = run.take();
        const CloudBuffers buffers = store->buffers(run.slot());
        glGetNamedBufferSubData(buffers.places, 0, static_cast<GLsizeiptr>(places.size() * sizeof(BallPlace)),
                                places.data());
        store->drawn(run.slot());
        ++seen;
        ASSERT_EQ(now->time, now->frame->time);
        for (std::size_t id = 0; id < places.size(); ++id) {
            wrong += places[id].x != static_cast<float>(now->frame->position[0][id] - origin[0]) ? 1 : 0;
            wrong += places[id].y != static_cast<float>(now->frame->position[1][id] - origin[1]) ? 1 : 0;
        }
    }
    run.stop();
    EXPECT_EQ(run.error(), "");
    EXPECT_EQ(seen, 40);
    EXPECT_EQ(wrong, 0);
}

#endif

}  // namespace
}  // namespace carom
