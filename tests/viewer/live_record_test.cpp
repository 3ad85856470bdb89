#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "host/io/trajectory_reader.hpp"
#include "tests/support/live_lab.hpp"

// The file of a live run.

namespace carom {
namespace {

using test::LiveLab;

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

TEST(LiveRecord, StoresFramesAndWhatWasChanged) {
    const std::string path = testing::TempDir() + "/live-record.h5";
    {
        LiveLab lab(kBouncing, path);
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

}  // namespace
}  // namespace carom
