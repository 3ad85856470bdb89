#include "tests/support/picture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/viewer/gl_error.hpp"

namespace carom {
namespace {

using test::Blob;
using test::blobs;
using test::bytes_of;
using test::Rgb;
using test::Studio;

constexpr int kLevel = 1;  // rounding of colours to 8 bits, once here and once in OpenGL

testing::Matcher<Rgb> near_color(const Color& color) {
    const Rgb rgb = bytes_of(color);
    return testing::ElementsAre(testing::AllOf(testing::Ge(rgb[0] - kLevel), testing::Le(rgb[0] + kLevel)),
                                testing::AllOf(testing::Ge(rgb[1] - kLevel), testing::Le(rgb[1] + kLevel)),
                                testing::AllOf(testing::Ge(rgb[2] - kLevel), testing::Le(rgb[2] + kLevel)));
}

bool reddish(const Rgb& rgb) { return rgb[0] > 100 && rgb[1] < 100 && rgb[2] < 100; }

std::string flat_scene(const std::string& balls, const std::string& boundary = "wall") {
    return "[scene]\ndimension = 2\n[box]\nmin = [-5, 2]\nsize = [20, 15]\nboundary = [\"" + boundary + "\", \"" +
           boundary +
           "\"]\n[run]\nbackend = \"cpu\"\n"
           "[[species]]\nname = \"red\"\nradius = 0.5\nmass = 1\ncolor = \"#E00000\"\n"
           "[[species]]\nname = \"green\"\nradius = 1.0\nmass = 2\ncolor = \"#00C040\"\n" +
           balls;
}

std::string deep_scene(const std::string& balls) {
    return "[scene]\ndimension = 3\n[box]\nsize = [10, 10, 10]\n[run]\nbackend = \"cpu\"\n"
           "[[species]]\nname = \"red\"\nradius = 1.0\nmass = 1\ncolor = \"#E00000\"\n"
           "[[species]]\nname = \"green\"\nradius = 1.0\nmass = 1\ncolor = \"#00C040\"\n" +
           balls;
}

std::string ball(const std::string& species, const std::string& position, const std::string& velocity = "") {
    return "[[ball]]\nspecies = \"" + species + "\"\nposition = [" + position + "]\n" +
           (velocity.empty() ? "" : "velocity = [" + velocity + "]\n");
}

TEST(Picture, ShowsEachBallOfASparseSceneOnce) {
    std::string balls;
    int count = 0;
    for (int x = 0; x < 5; ++x) {
        for (int y = 0; y < 3; ++y, ++count) {
            balls += ball("red", std::to_string(-3 + 4 * x) + ", " + std::to_string(4.5 + 4.0 * y));
        }
    }
    Studio studio(flat_scene(balls));
    studio.shoot();
    const auto found = blobs(studio, reddish);
    EXPECT_EQ(found.size(), static_cast<std::size_t>(count));
    // The area of a disk, whose rim is darker than `reddish` looks for by up to one pixel all around.
    const double radius = 0.5 * studio.camera().scale();
    for (const Blob& blob : found) {
        EXPECT_LE(blob.pixels, M_PI * (radius + 1.0) * (radius + 1.0));
        EXPECT_GE(blob.pixels, M_PI * (radius - 1.5) * (radius - 1.5));
    }
}

TEST(Picture, HasEachBallWhereTheCameraSaysItIs) {
    Studio studio(flat_scene(ball("red", "7.3, 12.1")));
    for (const double zoom : {1.0, 3.7, 0.6}) {
        studio.camera().fit();
        studio.camera().zoom(zoom, 210.0, 120.0);
        studio.camera().pan(-20.0, 13.0);
        studio.shoot();
        const auto found = blobs(studio, reddish);
        ASSERT_EQ(found.size(), 1u);
        const PicturePlace place = studio.camera().project(studio.position(0));
        // A disk's pixels are symmetric about its centre to within half a pixel.
        EXPECT_NEAR(found[0].x, place.x, 0.5);
        EXPECT_NEAR(found[0].y, place.y, 0.5);
    }
}

TEST(Picture, HasSpheresWhereTheCameraSaysTheyAre) {
    for (const bool perspective : {false, true}) {
        for (const double azimuth : {0.0, 35.0, 200.0}) {
            Studio studio(deep_scene(ball("red", "3.0, 6.5, 7.25")));
            studio.camera().look_from(azimuth, 25.0);
            studio.camera().set_perspective(perspective);
            studio.camera().fit();
            studio.shoot();
            // A line of the box may pass in front of the ball, so it is its outermost pixels that count.
            double left = 1e9, right = 0.0, top = 1e9, bottom = 0.0;
            for (int y = 0; y < 300; ++y) {
                for (int x = 0; x < 400; ++x) {
                    const Rgb c = studio.at(x, y);
                    if (c[0] < 2 * std::max(c[1], c[2]) || c[0] < 60) continue;
                    left = std::min(left, x + 0.0);
                    right = std::max(right, x + 1.0);
                    top = std::min(top, y + 0.0);
                    bottom = std::max(bottom, y + 1.0);
                }
            }
            const PicturePlace place = studio.camera().project(studio.position(0));
            // Perspective widens the outward side by about r sin(15 deg) r / distance, under a pixel here.
            EXPECT_NEAR(0.5 * (left + right), place.x, 1.5) << perspective << " " << azimuth;
            EXPECT_NEAR(0.5 * (top + bottom), place.y, 1.5) << perspective << " " << azimuth;
        }
    }
}

TEST(Picture, HasTheColorsOfTheScene) {
    Studio studio(flat_scene(ball("red", "0, 10") + ball("green", "5, 10")));
    studio.shoot();
    EXPECT_THAT(studio.at(studio.position(0)), near_color({224.0f / 255.0f, 0.0f, 0.0f}));
    EXPECT_THAT(studio.at(studio.position(1)), near_color({0.0f, 192.0f / 255.0f, 64.0f / 255.0f}));
}

TEST(Picture, HasTheColorsOfTheLegend) {
    const std::string scene =
        flat_scene(ball("red", "0, 10", "1, 0") + ball("red", "3, 10", "0, 2.5") + ball("red", "6, 10", "-3, 4"));
    Studio studio(scene, {.quantity = Quantity::kSpeed, .range = ValueRange{0.0f, 5.0f}}, 800, 600);
    studio.shoot();
    const std::array<float, 3> speeds{1.0f, 2.5f, 5.0f};
    for (std::size_t id = 0; id < 3; ++id) {
        const Color expected = studio.painter().palette().at(speeds[id] / 5.0f);
        EXPECT_THAT(studio.at(studio.position(id)), near_color(expected));
        // The legend's bar, to the right of the box, has it too, to within a slice's step.
        int best = 1000;
        for (int y = 60; y < 540; ++y) {
            const Rgb bar = studio.at(725, y);
            int off = 0;
            for (std::size_t k = 0; k < 3; ++k) off = std::max(off, std::abs(bar[k] - bytes_of(expected)[k]));
            best = std::min(best, off);
        }
        EXPECT_LE(best, 2);
    }
}

TEST(Picture, ShowsTheNearerOfTwoSpheres) {
    for (const bool perspective : {false, true}) {
        // Seen along y, from either side, in either order of ids.
        for (const bool swapped : {false, true}) {
            const std::string front = ball("red", "5, 3, 5");
            const std::string back = ball("green", "5, 7, 5");
            Studio studio(deep_scene(swapped ? back + front : front + back));
            studio.camera().set_perspective(perspective);
            for (const double azimuth : {0.0, 180.0}) {
                studio.camera().look_from(azimuth, 0.0);
                studio.shoot();
                const Rgb seen = studio.at(200, 150);
                EXPECT_EQ(seen[0] > seen[1], azimuth == 0.0) << perspective << swapped;
            }
        }
    }
}

TEST(Picture, CutsOneSphereWithAnother) {
    // Equally far away and half overlapping: the border between them is where the planes of both are.
    Studio studio(deep_scene(ball("red", "4.5, 5, 5") + ball("green", "5.5, 5, 5")));
    studio.camera().look_from(0.0, 0.0);
    studio.shoot();
    const double scale = studio.camera().scale();
    const double middle = studio.camera().project({5.0, 5.0, 5.0}).x;
    for (const double off : {-0.3, -0.1, 0.1, 0.3}) {
        const Rgb seen = studio.at(static_cast<int>(middle + off * scale), 150);
        EXPECT_EQ(seen[0] > seen[1], off < 0.0) << off;
    }
}

TEST(Picture, ShowsWhatHangsOverAPeriodicFaceAtBothFaces) {
    Studio studio(flat_scene(ball("red", "-4.9, 10"), "periodic"));
    studio.shoot();
    EXPECT_THAT(studio.at(Vector3{-4.75, 10.0, 0.0}), near_color({224.0f / 255.0f, 0.0f, 0.0f}));
    EXPECT_THAT(studio.at(Vector3{14.88, 10.2, 0.0}), near_color({224.0f / 255.0f, 0.0f, 0.0f}));
    // And nothing of it beyond the box.
    EXPECT_THAT(studio.at(Vector3{-5.2, 10.2, 0.0}), near_color(kDarkTheme.paper));
}

TEST(Picture, ShowsBallsSmallerThanAPixel) {
    std::string balls;
    for (int k = 0; k < 12; ++k) balls += ball("red", std::to_string(-4.0 + 1.5 * k) + ", 8.013");
    Studio studio(flat_scene(balls));
    // Apart also from far away, and beside the box, whose lines are as thick as the balls there.
    for (double& x : studio.frame().position[0]) x *= 3.1;
    for (double& y : studio.frame().position[1]) y += 40.0;
    studio.camera().zoom(0.04);
    ASSERT_LT(0.5 * studio.camera().scale(), 0.5);
    studio.shoot();
    for (std::size_t id = 0; id < 12; ++id) {
        const Rgb seen = studio.at(studio.position(id));
        EXPECT_GT(seen[0], seen[1] + 20) << id;
    }
}

TEST(Picture, OfNoBallsIsTheBoxAlone) {
    Studio studio(flat_scene(""));
    studio.shoot();
    EXPECT_THAT(studio.at(Vector3{5.0, 9.5, 0.0}), near_color(kDarkTheme.inside));
    EXPECT_THAT(studio.at(2, 2), near_color(kDarkTheme.paper));
}

TEST(Picture, LeavesOutBallsBeyondTheClippingPlane) {
    Studio studio(deep_scene(ball("red", "5, 3, 5") + ball("green", "5, 7, 5")));
    studio.camera().look_from(0.0, 0.0);
    studio.painter().set_clip(ClipPlane{{0.0, -1.0, 0.0}, -5.0});  // y < 5 is left out
    studio.shoot();
    const Rgb seen = studio.at(200, 150);
    EXPECT_GT(seen[1], seen[0]);
}

TEST(GlErrors, AreThrownInOpenGlsOwnWords) {
    const EglContext context;
    GlErrors errors;
    errors.check();
    glEnable(0x1234);
    try {
        errors.check();
        FAIL() << "nothing was thrown";
    } catch (const std::logic_error& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("glEnable"));
    }
    glGetError();  // the error is still OpenGL's own as well
    errors.check();
}

}  // namespace
}  // namespace carom
