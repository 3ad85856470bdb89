#include "host/window/live_run.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "host/viewer/egl_context.hpp"

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

/// A live run without a window.
struct Lab {
    Lab()
        : run({.scene = "", .text = SceneText{"test.toml", kScene}},
              prepare_scene({.scene = "", .text = SceneText{"test.toml", kScene}})) {
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

    EglContext context;
    std::unique_ptr<CloudStore> store;
    LiveRun run;
};

TEST(LiveRun, DoesNothingUntilItIsToldTo) {
    Lab lab;
    const LiveFrame* first = lab.wait([](const LiveFrame&) { return true; });
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->frame.step, 0u);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_FALSE(lab.run.fresh());
}

TEST(LiveRun, ShowsTheNumbersOfItsFrames) {
    Lab lab;
    for (int k = 0; k < 5; ++k) lab.run.step();
    const LiveFrame* frame = lab.wait([](const LiveFrame& f) { return f.frame.step == 5; });
    ASSERT_NE(frame, nullptr);
    EXPECT_DOUBLE_EQ(frame->totals.kinetic, 1.0);
    EXPECT_EQ(frame->totals.balls, 2u);
    EXPECT_DOUBLE_EQ(frame->frame.time, 0.005);
    // A quantum of the position a step.
    EXPECT_NEAR(frame->frame.position[0][0], 5.005, 1e-6);
    EXPECT_EQ(lab.store->buffers(lab.run.slot()).count, 2u);
}

TEST(LiveRun, PlaysAtTheSpeedAskedForAndPauses) {
    Lab lab;
    lab.run.set_speed(0.25);
    const auto begin = std::chrono::steady_clock::now();
    lab.run.set_playing(true);
    const LiveFrame* frame = lab.wait([](const LiveFrame& f) { return f.frame.time > 0.2; });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    ASSERT_NE(frame, nullptr);
    EXPECT_LE(frame->frame.time, 0.25 * seconds + 0.25 * 2.0 / 60.0);  // never faster, but for the frame begun
    lab.run.set_playing(false);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    lab.run.take();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_FALSE(lab.run.fresh());
}

TEST(LiveRun, KicksAndChangesAndGoesBack) {
    Lab lab;
    lab.run.kick(1, {0.0, 3.0, 0.0});
    const LiveFrame* kicked = lab.wait([](const LiveFrame& f) { return f.frame.velocity[1][1] > 1.0; });
    ASSERT_NE(kicked, nullptr);
    EXPECT_NEAR(kicked->frame.velocity[1][1], 3.0, 1e-6);
    EXPECT_NEAR(kicked->totals.kinetic, 10.0, 1e-5);

    lab.run.change({"physics.gravity=[0, -2]"});
    for (int k = 0; k < 100; ++k) lab.run.step();
    const LiveFrame* falling = lab.wait([](const LiveFrame& f) { return f.frame.step >= 100; });
    ASSERT_NE(falling, nullptr);
    const double after = falling->frame.time;
    EXPECT_GT(after, 0.0);
    EXPECT_NEAR(falling->frame.velocity[1][1], 3.0 - 2.0 * after, 1e-3);  // half a step's kick is 1e-3
    EXPECT_THROW(lab.run.change({"physics.gravity=[0]"}), std::runtime_error);

    lab.run.reset();
    const LiveFrame* again = lab.wait([](const LiveFrame& f) { return f.frame.step == 0; });
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(again->frame.velocity[1][1], 0.0);
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

}  // namespace
}  // namespace carom
