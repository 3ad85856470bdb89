#include "host/window/pointer.hpp"

#include <gtest/gtest.h>

#include "host/scene/load.hpp"

namespace carom {
namespace {

/// Two spheres, one before the other.
TEST(BallAt, IsTheNearestThatIsSeen) {
    const Scene scene = parse_scene("[scene]\ndimension = 3\n[box]\nsize = [10, 10, 10]\n", "test.toml");
    const Camera camera(scene, Viewport{.width = 800, .height = 600});
    const Vector3& back = camera.back();
    Balls balls;
    balls.dimension = 3;
    balls.species_table = {Species{.radius = 1.0, .mass = 1.0}};
    balls.resize(2);
    Frame frame;
    frame.resize(3, 2);
    double along = 0.0;  // of the box's middle, on the way to the eye
    for (int axis = 0; axis < 3; ++axis) {
        frame.position[axis] = {5.0 - 3.0 * back[axis], 5.0 + 3.0 * back[axis]};
        along += 5.0 * back[axis];
    }
    const PicturePlace middle = camera.project({5.0, 5.0, 5.0});
    const auto seen = [&](std::optional<ClipPlane> clip) {
        return ball_at(frame, balls, camera, clip, middle.x, middle.y);
    };
    EXPECT_EQ(seen(std::nullopt), std::optional<std::size_t>(1));
    EXPECT_EQ(seen(ClipPlane{back, along}), std::optional<std::size_t>(0));  // the half at the eye is cut off
    EXPECT_EQ(seen(ClipPlane{back, along - 4.0}), std::nullopt);
    EXPECT_EQ(ball_at(frame, balls, camera, std::nullopt, 5.0, 5.0), std::nullopt);
}

}  // namespace
}  // namespace carom
