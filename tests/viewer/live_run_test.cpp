#include "host/window/live_run.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

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
    explicit Lab(const char* scene = kScene)
        : run({.scene = "", .text = SceneText{"test.toml", scene}},
              prepare_scene({.scene = "", .text = SceneText{"test.toml", scene}})) {
        store = make_mapped_store(2);
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
