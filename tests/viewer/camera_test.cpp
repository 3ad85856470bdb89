#include "host/viewer/camera.hpp"

#include <gtest/gtest.h>

#include "host/plot/picture_view.hpp"
#include "host/scene/load.hpp"
#include "host/viewer/painter.hpp"

namespace carom::camera_test {

constexpr double kRounding = 1e-9;  // pixels; some ten operations on numbers up to 1000 at 1e-16 each

Scene scene_of(int dimension, const std::string& gravity = "") {
    const std::string size = dimension == 2 ? "[30, 10]" : "[30, 10, 20]";
    return parse_scene("[scene]\ndimension = " + std::to_string(dimension) + "\n[box]\nsize = " + size + "\n" +
                           (gravity.empty() ? "" : "[physics]\ngravity = " + gravity + "\n"),
                       "test.toml");
}

constexpr Viewport kViewport{.width = 800, .height = 500, .left = 20, .top = 50, .right = 120, .bottom = 40};

/// How far the box reaches beyond the inner part; touching it gives 0, staying away from it less [pixels].
double overshoot(const Camera& camera, const Box& box) {
    double worst = -1e9;
    for (int corner = 0; corner < (1 << box.dimension); ++corner) {
        const PicturePlace p = camera.project(box_corner(box, corner));
        worst = std::max({worst, 20.0 - p.x, p.x - 680.0, 50.0 - p.y, p.y - 460.0});
    }
    return worst;
}

TEST(Camera, FitsTheBoxIntoTheInnerPart) {
    for (const int dimension : {2, 3}) {
        const Scene scene = scene_of(dimension);
        for (const bool perspective : {false, true}) {
            for (const double azimuth : {0.0, 28.0, -130.0}) {
                for (const double elevation : {-60.0, 0.0, 35.0, 90.0}) {
                    Camera camera(scene, kViewport);
                    camera.look_from(azimuth, elevation);
                    camera.set_perspective(perspective);
                    camera.fit();
                    EXPECT_NEAR(overshoot(camera, scene.box), 0.0, 1e-6) << azimuth << " " << elevation;
                }
            }
        }
    }
}

TEST(Camera, LeadsBackFromThePictureToTheScene) {
    for (const bool perspective : {false, true}) {
        Camera camera(scene_of(3), kViewport);
        camera.set_perspective(perspective);
        camera.zoom(1.7, 300.0, 100.0);
        const Vector3 point{4.0, 8.0, 3.0};
        const PicturePlace place = camera.project(point);
        const Vector3 back = camera.unproject(place.x, place.y, point);
        for (int axis = 0; axis < 3; ++axis) EXPECT_NEAR(back[axis], point[axis], kRounding);
        const Vector3 elsewhere = camera.unproject(123.0, 321.0, point);
        EXPECT_NEAR(camera.project(elsewhere).x, 123.0, kRounding * 100);
        EXPECT_NEAR(camera.project(elsewhere).y, 321.0, kRounding * 100);
    }
}

TEST(Camera, ZoomsAboutThePointer) {
    Camera camera(scene_of(2), kViewport);
    const Vector3 there = camera.unproject(150.0, 220.0, {});
    camera.zoom(2.5, 150.0, 220.0);
    EXPECT_NEAR(camera.project(there).x, 150.0, kRounding * 100);
    EXPECT_NEAR(camera.project(there).y, 220.0, kRounding * 100);
}

TEST(Camera, PansWithThePointer) {
    Camera camera(scene_of(3), kViewport);
    const PicturePlace before = camera.project({1.0, 2.0, 3.0});
    camera.pan(30.0, -12.0);
    EXPECT_NEAR(camera.project({1.0, 2.0, 3.0}).x, before.x + 30.0, kRounding * 100);
    EXPECT_NEAR(camera.project({1.0, 2.0, 3.0}).y, before.y - 12.0, kRounding * 100);
}

TEST(Camera, HasUpwardsAgainstGravity) {
    for (const char* gravity : {"[0, -9.8, 0]", "[0, 9.8, 0]", "[0, 0, 9.8]", "[-1, 0, 0]"}) {
        const Scene scene = scene_of(3, gravity);
        const Camera camera(scene, kViewport);
        Vector3 below{15.0, 5.0, 10.0};
        for (int axis = 0; axis < 3; ++axis) below[axis] += 0.1 * scene.physics.gravity[axis];
        EXPECT_GT(camera.project(below).y, camera.project({15.0, 5.0, 10.0}).y) << gravity;
    }
}

TEST(Camera, MatricesAreTheProjection) {
    for (const int dimension : {2, 3}) {
        for (const bool perspective : {false, true}) {
            Camera camera(scene_of(dimension), kViewport);
            camera.set_perspective(perspective);
            camera.zoom(1.3, 100.0, 80.0);
            const Vector3 origin{1.0, -2.0, dimension == 3 ? 0.5 : 0.0};
            const Matrix4 m = multiply(camera.projection_matrix(), camera.view_matrix(origin));
            const Vector3 point{12.0, 7.0, dimension == 3 ? 4.0 : 0.0};
            std::array<double, 4> clip{};
            for (std::size_t row = 0; row < 4; ++row) {
                for (std::size_t k = 0; k < 3; ++k) clip[row] += double{m[4 * k + row]} * (point[k] - origin[k]);
                clip[row] += double{m[12 + row]};
            }
            const PicturePlace place = camera.project(point);
            // Floats: 1e-7 of 800 pixels, some ten operations.
            constexpr double kFloat = 1e-3;
            EXPECT_NEAR((clip[0] / clip[3] + 1.0) * 400.0, place.x, kFloat);
            EXPECT_NEAR((1.0 - clip[1] / clip[3]) * 250.0, place.y, kFloat);
            EXPECT_LT(std::abs(clip[2] / clip[3]), 1.0);
        }
    }
}

TEST(CameraWish, WithoutZIsInTheMiddleOfTheBox) {
    Camera camera(scene_of(3), kViewport);
    parse_camera("target=4:8").apply(camera);
    EXPECT_EQ(camera.target(), (Vector3{4.0, 8.0, 10.0}));
    const CameraWish at = camera_at({{.time = 1.0, .wish = parse_camera("target=2:3")}}, {}, camera, 2.0);
    EXPECT_EQ(at.target, (Vector3{2.0, 3.0, 10.0}));
}

}  // namespace carom::camera_test
