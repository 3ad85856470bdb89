#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "host/plot/ball_colors.hpp"
#include "host/plot/ball_picture.hpp"
#include "host/plot/image.hpp"
#include "host/scene/load.hpp"

namespace carom::plot_picture_test {

double ink(const Image& image) {
    double sum = 0.0;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) sum += 1.0 - image.at(x, y)[0];
    }
    return sum;
}

TEST(DrawDisk, CoversItsAreaWhateverItsSizeAndPlace) {
    for (const float radius : {0.3f, 0.8f, 2.5f, 7.0f, 30.0f}) {
        for (const float offset : {0.0f, 0.25f, 0.5f}) {
            Image image(80, 80, {1.0f, 1.0f, 1.0f});
            draw_disk(image, {40.0f + offset, 40.0f - offset}, radius, {0.0f, 0.0f, 0.0f});
            const double area = M_PI * radius * radius;
            // The linear edge is a few per cent off for disks of about a pixel, exact for large ones.
            EXPECT_NEAR(ink(image), area, 0.1 * area + 0.02) << radius << " " << offset;
        }
    }
}

TEST(DrawDisk, IsCutAtTheBordersOfTheImage) {
    Image image(20, 20, {1.0f, 1.0f, 1.0f});
    draw_disk(image, {0.0f, 10.0f}, 5.0f, {0.0f, 0.0f, 0.0f});
    EXPECT_NEAR(ink(image), 0.5 * M_PI * 25.0, 1.0);
    draw_disk(image, {-100.0f, 1e9f}, 5.0f, {0.0f, 0.0f, 0.0f});
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    draw_disk(image, {kInfinity, 10.0f}, kInfinity, {0.0f, 0.0f, 0.0f});  // its left end is no number
    draw_sphere(image, {10.0f, -kInfinity}, kInfinity, {0.0f, 0.0f, 0.0f}, 0.0f, {0.0f, 0.0f, 0.0f});
}

TEST(DrawText, IsAsWideAsItSays) {
    Image image(300, 60, {1.0f, 1.0f, 1.0f});
    const float width = text_width(20.0f, "speed 0.5");
    draw_text(image, {10.0f, 40.0f}, 20.0f, "speed 0.5", {0.0f, 0.0f, 0.0f});
    int last = 0;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) last = image.at(x, y)[0] < 0.5f ? std::max(last, x) : last;
    }
    EXPECT_NEAR(last, 10.0f + width, 8.0f);
}

TEST(Viridis, RunsFromDarkToLightWithoutTurningBack) {
    float before = -1.0f;
    for (int k = 0; k <= 100; ++k) {
        const Color color = viridis(static_cast<float>(k) / 100.0f);
        const float light = 0.2126f * color[0] + 0.7152f * color[1] + 0.0722f * color[2];
        EXPECT_GT(light, before);
        before = light;
    }
}

TEST(ColorBalls, OneSpeciesIsColouredBySpeedAndSeveralByTheirColours) {
    Balls balls;
    balls.species_table.resize(2);
    balls.species_table[0].color = balls.species_table[1].color = "#FF0000";
    balls.resize(2);
    Frame frame;
    frame.resize(2, 2);
    frame.velocity[0][1] = 2.0;
    EXPECT_EQ(color_balls(balls, frame, ColorBy::kAuto).fastest, 2.0);
    balls.species = {0, 1};
    EXPECT_EQ(color_balls(balls, frame, ColorBy::kAuto).color[0], (Color{1.0f, 0.0f, 0.0f}));
    EXPECT_EQ(color_balls(balls, frame, ColorBy::kSpeed).fastest, 2.0);
    balls.species = {0, 0, 0};
    frame.resize(2, 3);
    frame.velocity[0] = {1.0, 2.0, 30.0};
    EXPECT_EQ(color_balls(balls, frame, ColorBy::kSpeed).fastest, 30.0) << "of few none is left out";
}

TEST(ParseColor, ReadsHashRrggbbAndNothingElse) {
    const Color other{0.1f, 0.2f, 0.3f};
    EXPECT_EQ(parse_color("#FF0080", other), (Color{1.0f, 0.0f, 128.0f / 255.0f}));
    for (const char* wrong : {"", "red", "#FF00", "#GG0000", "FF0080#"}) EXPECT_EQ(parse_color(wrong, other), other);
}

class BallPictureTest : public testing::Test {
protected:
    explicit BallPictureTest(int dimension = 2) {
        scene.box.dimension = dimension;
        scene.box.size = {10.0, 10.0, dimension == 3 ? 10.0 : 0.0};
        balls.dimension = dimension;
        balls.species_table.resize(1);
        balls.species_table[0].radius = 1.0;
        balls.species_table[0].color = "#FF0000";
        balls.resize(1);
        frame.resize(dimension, 1);
        for (int axis = 0; axis < dimension; ++axis) frame.position[axis][0] = 5.0;
    }
    [[nodiscard]] int red_pixels() const {
        const Image image =
            draw_balls(scene, balls, frame, {.width = 600, .height = 450, .color_by = ColorBy::kSpecies});
        int count = 0;
        for (int y = 0; y < image.height(); ++y) {
            for (int x = 0; x < image.width(); ++x) {
                const Color& c = image.at(x, y);
                count += c[0] > c[1] + 0.3f && c[0] > c[2] + 0.3f ? 1 : 0;
            }
        }
        return count;
    }
    Scene scene;
    Balls balls;
    Frame frame;
};

TEST_F(BallPictureTest, ABallHasItsColourAndItsShareOfTheBox) {
    // The box's side is the picture's height without title and margin.
    const double pixels_per_length = (450.0 - 28.0 - 62.0) / 10.0;
    EXPECT_NEAR(red_pixels(), M_PI * pixels_per_length * pixels_per_length, 150);
}

TEST_F(BallPictureTest, WhatHangsOverAPeriodicSideIsSeenAtTheOther) {
    const int whole = red_pixels();
    scene.box.faces[0] = {Face::kPeriodic, Face::kPeriodic};
    frame.position[0][0] = 0.2;
    EXPECT_NEAR(red_pixels(), whole, 0.06 * whole);
    scene.box.faces[0] = {Face::kOpen, Face::kOpen};
    EXPECT_LT(red_pixels(), 0.7 * whole);
}

TEST_F(BallPictureTest, TheSpaceThatAMovingWallHasLeftLooksAsOutside) {
    scene = parse_scene(
        "[scene]\ndimension = 2\n[box]\nsize = [10.0, 10.0]\n[run]\nuntil = 1.0\n[[ball]]\nradius = 1.0\nmass = 1.0\n"
        "position = [8.0, 5.0]\n[[wall]]\nshape = \"plane\"\nnormal = [1.0, 0.0]\nvelocity = 1.0\n",
        "test.toml");
    frame.time = 3.0;
    const Image image = draw_balls(scene, balls, frame, {.width = 600, .height = 450});
    const auto at = [&](double x) { return image.at(static_cast<int>(28.0 + 36.0 * x), 62 + 36)[0]; };
    EXPECT_EQ(at(2.5), 1.0f);
    EXPECT_LT(at(3.5), 0.1f);
}

TEST_F(BallPictureTest, TimesAndSpeedsHaveTheUnitsOfTheScene) {
    const auto ink_of = [&](int from, int to) {
        Image image = draw_balls(scene, balls, frame, {.width = 600, .height = 450, .color_by = ColorBy::kSpeed});
        double sum = 0.0;
        for (int y = 0; y < (from > 0 ? 80 : 60); ++y) {  // above the bar, and the box
            for (int x = from; x < to; ++x) sum += 1.0 - image.at(x, y)[0];
        }
        return sum;
    };
    frame.velocity[0][0] = 1.0;
    const double title = ink_of(0, 300);
    const double legend = ink_of(400, 546);
    scene.units.reduced = true;
    EXPECT_LT(ink_of(0, 300), title);
    EXPECT_LT(ink_of(400, 546), 0.8 * legend);
}

TEST_F(BallPictureTest, BallsThatHaveLeftAreNotDrawn) {
    frame.gone[0] = 1;  // its position may be anything
    EXPECT_EQ(red_pixels(), 0);
    frame.position[0][0] = frame.position[1][0] = std::nan("");
    EXPECT_EQ(red_pixels(), 0);
}

TEST_F(BallPictureTest, ABallIsSeenHoweverLargeTheBoxIs) {
    // A tenth of a pixel wide; a disk of two pixels is drawn, of which one at least is red for the most part.
    scene.box.size = {7200.0, 7200.0, 0.0};
    for (const double at : {3600.0, 3605.0, 3611.0}) {
        frame.position[0][0] = frame.position[1][0] = at;
        EXPECT_GE(red_pixels(), 1) << at;
        EXPECT_LE(red_pixels(), 9) << at;
    }
}

TEST_F(BallPictureTest, VeryManyBallsDoNotHideHowDenseTheyAre) {
    // 90,000 of them in 360 by 360 pixels, a fortieth of the box by their own size: drawn larger, half of it at most.
    scene.box.size = {1000.0, 1000.0, 0.0};
    balls.species_table[0].radius = 0.3;
    constexpr std::size_t kSide = 300;
    balls.resize(kSide * kSide);
    frame.resize(2, kSide * kSide);
    for (std::size_t id = 0; id < kSide * kSide; ++id) {
        frame.position[0][id] = (static_cast<double>(id % kSide) + 0.5) * 1000.0 / kSide;
        frame.position[1][id] = (static_cast<double>(id / kSide) + 0.5) * 1000.0 / kSide;
    }
    const Image image = draw_balls(scene, balls, frame, {.width = 600, .height = 450, .color_by = ColorBy::kSpecies});
    double red = 0.0;
    for (int y = 100; y < 400; ++y) {
        for (int x = 100; x < 300; ++x) red += image.at(x, y)[0] / (300.0 * 200.0);
    }
    EXPECT_GT(red, 0.3);
    EXPECT_LT(red, 0.7);
}

class SpherePictureTest : public BallPictureTest {
protected:
    SpherePictureTest() : BallPictureTest(3) {}
};

TEST_F(SpherePictureTest, NearBallsHideFarOnes) {
    const int one = red_pixels();
    EXPECT_GT(one, 300);
    balls.species_table.push_back(balls.species_table[0]);
    balls.species_table[1].color = "#0000FF";
    balls.resize(2);
    balls.species = {0, 1};
    frame.resize(3, 2);
    // The eye looks along (-sin a cos e, cos a cos e, -sin e) for a = 28 and e = 20 degrees.
    const double toward[3] = {0.441, -0.830, 0.342};
    for (int axis = 0; axis < 3; ++axis) frame.position[axis][1] = 5.0 + 3.0 * toward[axis];
    EXPECT_LT(red_pixels(), one / 10);
    for (int axis = 0; axis < 3; ++axis) frame.position[axis][1] = 5.0 - 3.0 * toward[axis];
    EXPECT_NEAR(red_pixels(), one, 0.05 * one);
}

}  // namespace carom::plot_picture_test
