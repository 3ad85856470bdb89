#pragma once

#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "host/viewer/cloud_feed.hpp"
#include "host/viewer/opengl.hpp"
#include "host/window/live_run.hpp"

namespace carom::test {

/// Two balls, of which one comes to the other.
inline constexpr const char* kTwoSoftBalls = R"(
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
inline constexpr const char* kTwoHardBalls = R"(
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

/// A ball that falls onto the floor: a contact lasts 0.07 s.
inline constexpr const char* kBouncing = R"(
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

/// A live run without a window.
struct LiveLab {
    explicit LiveLab(const std::string& scene = kTwoSoftBalls, const std::string& record = {})
        : run({.scene = "", .text = SceneText{"test.toml", scene}},
              prepare_scene({.scene = "", .text = SceneText{"test.toml", scene}})) {
        store = make_mapped_store(run.balls().size());
        if (!record.empty()) run.record(record, true);
        run.start(*store, false);
    }
    ~LiveLab() { run.stop(); }

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
    /// That many of the given length, and the frame behind the last; null if it does not come.
    const LiveFrame* after(int count, double length) {
        steps(count);
        time_ += count * length;
        return wait([this, length](const LiveFrame& f) { return std::abs(f.time - time_) < 0.25 * length; });
    }

    void reset() {
        run.reset();
        time_ = 0.0;
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

private:
    double time_ = 0.0;
};

}  // namespace carom::test
