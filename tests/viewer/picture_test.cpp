#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "host/scene/load.hpp"
#include "host/state/errors.hpp"
#include "host/viewer/opengl.hpp"
#include "host/viewer/quantity.hpp"
#include "host/viewer/scenery.hpp"
#include "host/viewer/visible_balls.hpp"
#include "tests/support/studio.hpp"

namespace carom::picture_test {

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

TEST(Picture, KeepsAPlaneWhileAnotherMoves) {
    Studio studio(deep_scene(ball("red", "5, 3, 5") + ball("green", "5, 7, 5")));
    Painter& painter = studio.painter();
    painter.set_clip(ClipPlane{{0.0, -1.0, 0.0}, -4.0});
    painter.keep_clip();
    painter.set_clip(ClipPlane{{0.0, 1.0, 0.0}, 6.0});
    ASSERT_EQ(painter.clips().size(), 2U);
    EXPECT_EQ(painter.clips()[0].offset, -4.0);
    painter.set_clip(std::nullopt);
    EXPECT_EQ(painter.clips().size(), 1U);
    for (std::size_t k = 1; k < kMostClips; ++k) {
        painter.set_clip(ClipPlane{{0.0, 1.0, 0.0}, 10.0 + static_cast<double>(k)});
        painter.keep_clip();
    }
    painter.set_clip(ClipPlane{{1.0, 0.0, 0.0}, 0.0});  // one too many
    ASSERT_EQ(painter.clips().size(), kMostClips);
    EXPECT_EQ(painter.clips().back().offset, 15.0);
    painter.set_clip(std::nullopt);
    EXPECT_EQ(painter.clips().back().offset, 15.0);
    painter.drop_kept_clips();
    EXPECT_TRUE(painter.clips().empty());
}

TEST(Picture, LegendTakesNoMoreThanAFifthOfItsWidth) {
    for (const auto& [width, height] : {std::pair(1280, 800), std::pair(500, 800), std::pair(690, 3000)}) {
        const Viewport room = overlay_viewport(width, height, true);
        EXPECT_LE(room.right, 0.2001f * static_cast<float>(width)) << width;
    }
    EXPECT_EQ(overlay_scale(1280, 800), 1.0f);
}

TEST(Picture, ClosesBallsThatSeveralPlanesCut) {
    const auto clips = [](const std::string& text) {
        return PictureStyle{
            .quantity = Quantity::kSpecies, .clips = parse_clips(text, "--clip"), .labels = false, .shadows = false};
    };
    const std::string scene = deep_scene(ball("red", "5, 5, 5"));
    const auto red_pixels = [&](const std::string& planes, double azimuth) {
        Studio cut(scene, clips(planes));
        cut.camera().look_from(azimuth, 0.0);
        cut.shoot();
        int count = 0;
        for (int y = 0; y < 300; ++y) {
            for (int x = 0; x < 400; ++x)
                count += cut.at(x, y)[0] > 60 && cut.at(x, y)[0] > 3 * cut.at(x, y)[1] ? 1 : 0;
        }
        return static_cast<double>(count);
    };
    const double whole = red_pixels("", 0.0);
    ASSERT_GT(whole, 1000.0);
    // From the front a quarter is left of it; from the side, too, where one looks onto the cut.
    constexpr double kRim = 0.03;  // of the pixels are partly covered
    EXPECT_NEAR(red_pixels("1:0:0:5,0:0:1:5", 0.0) / whole, 0.25, kRim);
    EXPECT_NEAR(red_pixels("1:0:0:5,0:0:2:5", 90.0) / whole, 0.5, kRim);
    EXPECT_NEAR(red_pixels("1:0:1:7.0711", 0.0) / whole, 0.5, kRim);  // oblique
    EXPECT_NEAR(red_pixels("1:0:0:5,0:0:1:5,0:1:0:5,-1:0:0:-4.5,0:0:-1:-4.5", 0.0) / whole, 0.25 / M_PI, kRim);
    for (const double azimuth : {0.0, 90.0}) {
        EXPECT_EQ(red_pixels("1:0:0:5,-1:0:0:-5.1", azimuth), 0.0);  // which exclude each other
    }
    // The cut faces the eye: all of it is in one colour.
    Studio cut(scene, clips("0:-1:0:-5,0:0:1:6.5"));
    cut.camera().look_from(0.0, 0.0);
    cut.shoot();
    const Rgb middle = cut.at(200, 150);
    EXPECT_EQ(cut.at(200, 165), middle);
    EXPECT_EQ(cut.at(185, 150), middle);
    EXPECT_THROW(parse_clips("1:0:0:1,1:0:0:2,1:0:0:3,1:0:0:4,1:0:0:5,1:0:0:6,1:0:0:7", "--clip"), InputError);
}

TEST(Picture, HasCopiesOfAPeriodicBox) {
    const PictureStyle style{.quantity = Quantity::kSpecies, .copies = 1, .labels = false};
    Studio inside(flat_scene(ball("red", "5, 9"), "periodic"), style, 600, 450);
    inside.shoot();
    EXPECT_EQ(blobs(inside, reddish).size(), 9u);
    // Over a face: four columns of it, those at the rim cut through; nothing is drawn twice.
    Studio over(flat_scene(ball("red", "14.9, 9"), "periodic"), style, 600, 450);
    over.shoot();
    auto found = blobs(over, reddish);
    ASSERT_EQ(found.size(), 12u);
    std::ranges::sort(found, {}, &Blob::pixels);
    EXPECT_LT(found[5].pixels, 0.75 * found[6].pixels);
    EXPECT_NEAR(found[6].pixels, found[11].pixels, 0.1 * found[6].pixels);
    // Only along periodic axes; in 3D too.
    Studio deep(
        "[scene]\ndimension = 3\n[box]\nsize = [10, 10, 10]\nboundary = [\"periodic\", \"wall\", \"wall\"]\n"
        "[run]\nbackend = \"cpu\"\n[[ball]]\nradius = 1\nmass = 1\nposition = [5, 5, 5]\ncolor = \"#E00000\"\n",
        PictureStyle{.quantity = Quantity::kSpecies, .copies = 2, .labels = false, .shadows = false});
    deep.camera().look_from(0.0, 0.0);
    deep.shoot();
    EXPECT_EQ(blobs(deep, reddish).size(), 5u);
}

TEST(Picture, OfGlowingBallsAddsUp) {
    const auto level = [](bool light, const std::string& more) {
        Studio studio(flat_scene(ball("red", "5, 9") + more),
                      PictureStyle{.quantity = Quantity::kSpecies, .light = light, .glow = true, .labels = false});
        studio.shoot();
        return std::pair{studio.at(studio.position(0)), studio.at(2, 2)};
    };
    const auto [one, paper] = level(false, "");
    EXPECT_GT(one[0], paper[0] + 40);
    const auto [two, same_paper] = level(false, ball("green", "6.8, 9"));
    EXPECT_GT(two[1], one[1] + 5);  // its light is there too
    EXPECT_EQ(paper, same_paper);
    EXPECT_GE(two[0] + 20, one[0]);
    const auto [ink, white] = level(true, "");
    EXPECT_LT(ink[1], white[1] - 40);  // on white what is red takes the green away
}

/// How bright a pixel is.
int grey(const Rgb& rgb) { return rgb[0] + rgb[1] + rgb[2]; }

TEST(Picture, DrawnInHasteIsThatWithoutLight) {
    std::string balls;
    for (int k = 0; k < 27; ++k) {
        balls += ball(k % 2 == 0 ? "red" : "green", std::to_string(2 + 3 * (k % 3)) + ", " +
                                                        std::to_string(2 + 3 * (k / 3 % 3)) + ", " +
                                                        std::to_string(2 + 3 * (k / 9)));
    }
    for (const bool perspective : {false, true}) {
        std::vector<Pixels> pictures;
        for (const bool hasty : {false, true}) {
            Studio studio(deep_scene(balls),
                          {.quantity = Quantity::kSpecies, .oversampling = 1, .labels = false, .shadows = false});
            studio.painter().set_shadows(!hasty);
            studio.camera().set_perspective(perspective);
            pictures.push_back(studio.shoot());
        }
        std::size_t differing = 0;
        for (std::size_t k = 0; k < pictures[0].rgb.size(); ++k) {
            differing += std::abs(pictures[0].rgb[k] - pictures[1].rgb[k]) > 2 * kLevel ? 1 : 0;
        }
        // Lines that pass through balls end elsewhere.
        EXPECT_LT(differing, pictures[0].rgb.size() / 200);
    }
}

TEST(VisibleBalls, HaveAllThatRaysMeetAndLeaveOutMuchOfADenseBody) {
    Studio studio(deep_scene(""));
    Camera& camera = studio.camera();
    std::vector<BallPlace> places;
    std::mt19937 random(5);
    std::uniform_real_distribution<float> inside(-5.0f, 5.0f);
    for (int k = 0; k < 8000; ++k) places.push_back({inside(random), inside(random), inside(random), 0.25f});
    places.push_back({0.0f, 0.0f, 0.0f, -1.0f});  // has left
    VisibleBalls finder;
    for (const bool perspective : {false, true}) {
        for (const double zoom : {1.0, 2.5, 0.5}) {
            camera.set_perspective(perspective);
            camera.fit();
            camera.zoom(zoom);
            const Vector3 middle{5.0, 5.0, 5.0};
            const Matrix4 view = camera.view_matrix(middle);
            const Matrix4 projection = camera.projection_matrix();
            const auto found = finder.find(places, view, projection, perspective);
            const std::set<std::uint32_t> kept(found.begin(), found.end());
            EXPECT_LT(kept.size(), 6 * places.size() / 10);
            EXPECT_FALSE(kept.contains(8000));
            // What the ray through each pixel meets first, in the eye's frame.
            std::vector<std::array<double, 3>> centers;
            for (const BallPlace& p : places) {
                std::array<double, 3> c{};
                for (std::size_t row = 0; row < 3; ++row) {
                    c[row] = view[row] * p.x + view[4 + row] * p.y + view[8 + row] * p.z + view[12 + row];
                }
                centers.push_back(c);
            }
            std::set<std::uint32_t> met;
            for (int pixel = 0; pixel < 400 * 300; pixel += 31) {
                const double u = (pixel % 400 + 0.5) / 200.0 - 1.0;
                const double v = (pixel / 400 + 0.5) / 150.0 - 1.0;
                double nearest = std::numeric_limits<double>::infinity();
                std::uint32_t first = 0;
                const double x =
                    perspective ? (u + projection[8]) / projection[0] : (u - projection[12]) / projection[0];
                const double y =
                    perspective ? (v + projection[9]) / projection[5] : (v - projection[13]) / projection[5];
                const double length = perspective ? std::sqrt(x * x + y * y + 1.0) : 1.0;
                for (std::uint32_t k = 0; k < 8000; ++k) {
                    const auto& c = centers[k];
                    const double along = perspective ? (c[0] * x + c[1] * y - c[2]) / length : -c[2];
                    const double miss2 = perspective ? c[0] * c[0] + c[1] * c[1] + c[2] * c[2] - along * along
                                                     : (c[0] - x) * (c[0] - x) + (c[1] - y) * (c[1] - y);
                    if (miss2 >= 0.25 * 0.25) continue;
                    const double at = along - std::sqrt(0.25 * 0.25 - miss2);
                    if (at < nearest) {
                        nearest = at;
                        first = k;
                    }
                }
                if (!std::isfinite(nearest)) continue;
                met.insert(first);
                EXPECT_GE(u, finder.extent().left);
                EXPECT_LE(u, finder.extent().right);
                EXPECT_GE(v, finder.extent().bottom);
                EXPECT_LE(v, finder.extent().top);
            }
            EXPECT_GT(met.size(), 100u);
            EXPECT_TRUE(std::ranges::includes(kept, met)) << "perspective " << perspective << ", zoom " << zoom;
        }
    }
}

TEST(Light, CastsAShadowOnTheFloorAndTakesSkyWhereABallStands) {
    const std::string fall = "[physics]\ngravity = [0, 0, -1]\n";
    for (const bool shadows : {true, false}) {
        Studio studio(deep_scene(fall + ball("red", "5, 5, 4") + ball("green", "2, 8, 1")),
                      {.quantity = Quantity::kSpecies, .labels = false, .shadows = shadows});
        const Camera& camera = studio.camera();
        studio.camera().look_from(20.0, 40.0);
        studio.shoot();
        // Along the lamp's rays from the ball's middle to the floor.
        Vector3 lamp{};
        for (std::size_t k = 0; k < 3; ++k) {
            lamp[k] = -0.45 * camera.right()[k] + 0.65 * camera.up()[k] + 0.75 * camera.back()[k];
        }
        const double way = 4.0 / lamp[2];
        const Vector3 shadow{5.0 - way * lamp[0], 5.0 - way * lamp[1], 0.0};
        const int lit = grey(studio.at(Vector3{8.5, 1.5, 0.0}));
        EXPECT_NEAR(lit, grey(bytes_of(kDarkTheme.floor)), 3.0 * kLevel) << "where nothing is near";
        const double dark = static_cast<double>(grey(studio.at(shadow))) / lit;
        const double beside = static_cast<double>(grey(studio.at(Vector3{3.1, 7.2, 0.0}))) / lit;
        if (shadows) {
            EXPECT_LT(dark, 0.75);
            EXPECT_LT(beside, 0.95);
        } else {
            EXPECT_EQ(dark, 1.0);
            EXPECT_EQ(beside, 1.0);
        }
        // Nothing around the box changes.
        EXPECT_EQ(studio.at(2, 2), bytes_of(kDarkTheme.paper));
        // From below the floor hides nothing.
        studio.camera().look_from(20.0, -40.0);
        studio.shoot();
        EXPECT_GT(studio.at(studio.position(0))[0], 60);
    }
}

TEST(Light, IsTheSameInABoxOfAtomsInMetres) {
    const auto scene = [](const std::string& power) {
        const auto times = [&](const char* number) { return number + power; };
        return "[scene]\ndimension = 3\n[box]\nsize = [" + times("10") + ", " + times("10") + ", " + times("10") +
               "]\n[run]\nbackend = \"cpu\"\n[[species]]\nname = \"red\"\nradius = " + times("2") +
               "\nmass = 1\ncolor = \"#E00000\"\n" + ball("red", times("3") + ", " + times("3") + ", " + times("5")) +
               ball("red", times("7") + ", " + times("7") + ", " + times("5"));
    };
    for (const bool perspective : {false, true}) {
        const PictureStyle style{
            .quantity = Quantity::kSpecies, .labels = false, .camera = {.perspective = perspective}};
        Studio large(scene("e0"), style);
        Studio small(scene("e-9"), style);
        const Pixels& right = large.shoot();
        const Pixels& pixels = small.shoot();
        std::size_t others = 0;
        for (std::size_t k = 0; k < right.rgb.size(); ++k) {
            others += std::abs(int{right.rgb[k]} - int{pixels.rgb[k]}) > 8 ? 1U : 0U;
        }
        EXPECT_LT(others, right.rgb.size() / 200) << perspective;  // edges
    }
}

TEST(Light, DrawsALineAroundWhatIsNearer) {
    const std::string scene =
        deep_scene("[[species]]\nname = \"large\"\nradius = 1.8\nmass = 1\ncolor = \"#FFFFFF\"\n" +
                   ball("red", "5, 1.2, 5") + ball("large", "5, 8, 5"));
    for (const bool shadows : {true, false}) {
        Studio studio(scene, {.quantity = Quantity::kSpecies, .labels = false, .shadows = shadows}, 800, 600);
        studio.camera().look_from(0.0, 0.0);
        studio.shoot();
        const PicturePlace middle = studio.camera().project({5.0, 1.2, 5.0});
        // Upwards and to the left, away from where the shadow falls.
        const double edge = studio.camera().scale() + 1.0;
        const auto along = [&](double way) {
            const double side = way / std::sqrt(2.0);
            return grey(studio.at(static_cast<int>(middle.x - side), static_cast<int>(middle.y - side)));
        };
        const double line = static_cast<double>(along(edge)) / along(edge + 8.0);
        EXPECT_EQ(line < 0.75, shadows) << line;
    }
}

/// How many of 360 points at a share of the ball's radius look as another picture's do, `turned` degrees further on.
int alike(Studio& before, Studio& now, int turned) {
    int count = 0;
    for (int k = 0; k < 360; ++k) {
        const auto on_ring = [&](Studio& studio, int degrees) {
            const double angle = static_cast<double>(degrees) * 3.14159265358979 / 180.0;
            Vector3 x = studio.position(0);
            x[0] += 0.6 * std::cos(angle);
            x[1] += 0.6 * std::sin(angle);
            return grey(studio.at(x));
        };
        count += std::abs(on_ring(before, k) - on_ring(now, k + turned)) < 40 ? 1 : 0;
    }
    return count;
}

TEST(Pattern, TurnsWithTheBall) {
    const std::string spinning = "[[ball]]\nspecies = \"green\"\nposition = [5, 10]\nspin = 0.5\n";
    Studio before(flat_scene(spinning));
    before.shoot();
    Studio now(flat_scene(spinning));
    now.shoot();
    for (int k = 0; k < 4; ++k) {  // 45 degrees in all, not all at once
        now.frame().time += 0.3926990817;
        now.shoot();
    }
    EXPECT_GT(alike(before, now, 45), 325);
    EXPECT_LT(alike(before, now, 0), 300);
    // Where nothing turns there is no pattern, unless it is asked for.
    const std::string still = "[[ball]]\nspecies = \"green\"\nposition = [5, 10]\n";
    for (const bool asked : {false, true}) {
        Studio plain(flat_scene(still + (asked ? "[look]\npattern = \"stripe\"\n" : "")));
        plain.shoot();
        EXPECT_EQ(alike(plain, plain, 90) == 360, !asked);
    }
    Studio none(flat_scene(spinning + "[look]\npattern = \"none\"\n"));
    none.shoot();
    EXPECT_EQ(alike(none, none, 90), 360);
}

TEST(BallTurns, AddUpWhatSpinsDo) {
    Frame frame;
    frame.resize(3, 3);
    frame.spin[0] = {0.0, 0.3, 0.0};
    frame.spin[1] = {0.0, -0.4, 0.0};
    frame.spin[2] = {1.5, 1.2, 0.0};
    BallTurns turns;
    const auto at = [&](double time) {
        frame.time = time;
        const auto now = turns.at(frame);
        return std::vector<BallTurn>(now.begin(), now.end());
    };
    const auto first = at(0.0);
    for (const double time : {0.3, 0.5, 1.1}) at(time);
    const auto last = at(2.0);
    const auto angle = [](const BallTurn& a, const BallTurn& b) {
        double cosine = 0.0;
        for (std::size_t k = 0; k < 4; ++k) cosine += static_cast<double>(a[k] * b[k]);
        return 2.0 * std::acos(std::min(1.0, std::abs(cosine)));
    };
    EXPECT_NEAR(angle(first[0], last[0]), 3.0, 1e-5);
    EXPECT_NEAR(angle(first[1], last[1]), 2.6, 1e-5);
    EXPECT_EQ(first[2], last[2]);
    EXPECT_GT(angle(first[0], first[1]), 0.1) << "they do not all stand alike";
    const auto back = at(0.0);
    for (std::size_t id = 0; id < 3; ++id) {
        for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(back[id][k], first[id][k], 1e-6);
    }
    frame.spin[2].clear();  // as of a file without spins
    EXPECT_TRUE(turns.at(frame).empty());
}

TEST(Look, IsThatOfTheScene) {
    const std::string look =
        "[look]\nbackground = \"#102030\"\nfloor = \"#1B6E46\"\nwalls = \"#5D4037\"\ncushion = 0.2\n"
        "colors = \"#FAFAFA #F9C80E\"\nnumbers_from = 1\n";
    Studio studio(flat_scene(ball("red", "0, 10") + ball("green", "5, 10") + ball("red", "10, 10") + look),
                  {.labels = false});
    studio.shoot();
    const auto byte = [](int red, int green, int blue) {
        return near_color(
            {static_cast<float>(red) / 255.0f, static_cast<float>(green) / 255.0f, static_cast<float>(blue) / 255.0f});
    };
    EXPECT_THAT(studio.at(200, 2), byte(0x10, 0x20, 0x30));
    EXPECT_THAT(studio.at(Vector3{-3.0, 4.0, 0.0}), byte(0x1B, 0x6E, 0x46));
    EXPECT_THAT(studio.at(Vector3{5.0, 17.12, 0.0}), byte(0x5D, 0x40, 0x37));
    EXPECT_THAT(studio.at(studio.position(0)), byte(0xFA, 0xFA, 0xFA)) << "without a number";
    EXPECT_THAT(studio.at(Vector3{5.0, 10.75, 0.0}), byte(0xF9, 0xC8, 0x0E)) << "beside its number";
    EXPECT_GT(grey(studio.at(Vector3{5.35, 10.0, 0.0})), 700) << "what the number stands on";
    EXPECT_THAT(studio.at(Vector3{10.0, 10.4, 0.0}), byte(0xFA, 0xFA, 0xFA)) << "from the first one on again";
}

TEST(Look, ThatIsWrongIsToldWithItsPlace) {
    for (const auto& [line, words] :
         {std::pair{"color_by = \"mood\"", "test.toml:20:12: look.color_by: 'mood' is not known"},
          std::pair{"camera = \"up\"", "test.toml:20:10: look.camera: 'up' is not known"}}) {
        try {
            const Studio studio(flat_scene(std::string("[look]\n") + line + "\n"), {.labels = false});
            static_cast<void>(Appearance({}, studio.source().scene(), studio.source().balls()));
            FAIL() << line;
        } catch (const InputError& error) {
            EXPECT_THAT(error.what(), testing::HasSubstr(words));
        }
    }
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

/// Balls of radius 0.5 and mass 2 at given places of a box of 10 x 10 (x 10).
struct World {
    explicit World(int dimension, const std::string& boundary = "periodic")
        : scene(parse_scene("[scene]\ndimension = " + std::to_string(dimension) +
                                "\n[box]\nmin = " + (dimension == 2 ? "[1, 1]" : "[1, 1, 1]") + "\nsize = " +
                                (dimension == 2 ? "[10, 10]" : "[10, 10, 10]") + "\nboundary = [" + quoted(boundary) +
                                ", " + quoted(boundary) + (dimension == 3 ? ", " + quoted(boundary) : "") + "]\n",
                            "test.toml")) {
        balls.dimension = dimension;
        balls.species_table.push_back({.name = "a", .radius = 0.5, .mass = 2.0, .radius_of_gyration = 0.3});
        frame.dimension = dimension;
    }
    static std::string quoted(const std::string& word) { return "\"" + word + "\""; }

    void add(const Vector3& x, const Vector3& v = {}) {
        const std::size_t id = frame.size();
        frame.resize(frame.dimension, id + 1);
        balls.species.push_back(0);
        for (int axis = 0; axis < frame.dimension; ++axis) {
            frame.position[axis][id] = x[axis];
            frame.velocity[axis][id] = v[axis];
        }
    }
    std::vector<float> values(Quantity quantity) {
        std::vector<float> result;
        evaluate(quantity, scene, balls, frame, result);
        return result;
    }

    Scene scene;
    Balls balls;
    Frame frame;
};

TEST(Quantity, HasTheNumbersOfTheBalls) {
    World world(2);
    world.add({4.0, 3.5, 0.0}, {3.0, -4.0, 0.0});
    world.frame.spin[2][0] = -7.0;
    EXPECT_FLOAT_EQ(world.values(Quantity::kSpeed)[0], 5.0f);
    EXPECT_FLOAT_EQ(world.values(Quantity::kKineticEnergy)[0], 25.0f);
    EXPECT_FLOAT_EQ(world.values(Quantity::kSpin)[0], 7.0f);
    EXPECT_FLOAT_EQ(world.values(Quantity::kHeight)[0], 2.5f);
    EXPECT_FLOAT_EQ(world.values(Quantity::kId)[0], 0.0f);
    world.scene.physics.gravity = {1.0, 0.0, 0.0};
    EXPECT_FLOAT_EQ(world.values(Quantity::kHeight)[0], 7.0f);  // from the face at x = 11, against gravity
}

TEST(BallFormula, KnowsTheNumbersOfABallAndTheNamesOfSpecies) {
    World world(2);
    world.balls.species_table.push_back({.name = "b c", .radius = 0.25, .mass = 1.0});
    world.balls.species_table.push_back({.name = "pool", .radius = 0.125, .mass = 3.0});
    world.add({4.0, 3.5, 0.0}, {3.0, -4.0, 0.0});
    world.add({2.0, 7.0, 0.0}, {1.0, 0.5, 0.0});
    world.add({0.0, 0.0, 0.0});
    world.balls.species[1] = 2;
    world.frame.spin[2][0] = -7.0;
    world.frame.gone[2] = 1;
    const auto values = [&](const std::string& text) {
        std::vector<float> result;
        BallFormula(text, world.balls, "--select").evaluate(world.balls, world.frame, result);
        return result;
    };
    const auto all = values("id + 10 * x + 100 * y + 1000 * vx + 1e4 * vy");
    EXPECT_FLOAT_EQ(all[0], 40.0f + 350.0f + 3000.0f - 40000.0f);
    EXPECT_FLOAT_EQ(all[1], 1.0f + 20.0f + 700.0f + 1000.0f + 5000.0f);
    EXPECT_TRUE(std::isnan(all[2]));
    EXPECT_FLOAT_EQ(values("speed + 10 * spin + z + vz")[0], -65.0f) << "counter-clockwise";
    EXPECT_FLOAT_EQ(values("mass / radius")[1], 24.0f);
    EXPECT_FLOAT_EQ(values("species == pool")[1], 1.0f);
    EXPECT_FLOAT_EQ(values("species == pool or species == a")[0], 1.0f);
    EXPECT_FLOAT_EQ(values("species != a")[0], 0.0f);
    world.balls.species_table.push_back({.name = "pool", .radius = 0.0625, .mass = 1.0, .size_of = 2});
    world.balls.species[1] = 3;
    EXPECT_FLOAT_EQ(values("species == pool")[1], 1.0f) << "a size of a species is of that species";
    world.balls.species[1] = 2;
    // What a float holds no more of than 0 is not 0.
    EXPECT_TRUE(std::isnan(values("1e-60 * (1 + id)")[0]));
    EXPECT_TRUE(std::isnan(range_of(Quantity::kFormula, values("1e-60 * (1 + id)")).low));
    std::vector<float> chosen;
    BallFormula("1e-60 * id", world.balls, "--select").choose(world.balls, world.frame, chosen);
    EXPECT_EQ(chosen[0], 0.0f);
    EXPECT_EQ(chosen[1], 1.0f);
    const std::string said = [&] {
        try {
            values("x + speeed");
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    }();
    EXPECT_EQ(values("how far: x + 100 * y")[0], values("x + 100 * y")[0]);
    EXPECT_EQ(BallFormula("how far: x", world.balls, "--color-by").name(), "how far");
    EXPECT_EQ(BallFormula("2 * x", world.balls, "--color-by").name(), "2 * x");
    EXPECT_THAT(said, testing::HasSubstr("--select: \"x + speeed\", character 5: 'speeed' is not known; allowed: id"));
}

TEST(BallFormula, ColoursAndChoosesBalls) {
    std::string balls;
    for (int k = 0; k < 6; ++k) balls += ball(k < 3 ? "red" : "green", std::to_string(-3 + 3 * k) + ", 9");
    Studio studio(flat_scene(balls), {.quantity = Quantity::kFormula, .formula = "2 * x - 1", .labels = false});
    studio.shoot();
    EXPECT_NEAR(studio.painter().range().low, -7.0, 1e-5);
    EXPECT_NEAR(studio.painter().range().high, 23.0, 1e-5);
    EXPECT_THAT(studio.at(studio.position(5)), near_color(studio.painter().palette().at(1.0f)));
    Studio some(flat_scene(balls),
                {.quantity = Quantity::kSpecies, .select = "species == red and x > -2", .labels = false});
    some.shoot();
    EXPECT_EQ(blobs(some, reddish).size(), 2u);
    EXPECT_TRUE(some.painter().left_out(0));
    EXPECT_FALSE(some.painter().left_out(1));
    EXPECT_TRUE(some.painter().left_out(4));
    // A formula that is no number leaves out as 0 does, also where the picture says how many are seen.
    Studio none(flat_scene(balls), {.quantity = Quantity::kSpecies, .select = "sqrt(x - 1)"});
    Studio zero(flat_scene(balls), {.quantity = Quantity::kSpecies, .select = "x > 1"});
    EXPECT_EQ(none.shoot().rgb, zero.shoot().rgb);
}

TEST(BallFormula, LeavesOutWhatIsDrawnOfABallToo) {
    const std::string scene =
        flat_scene(ball("green", "0, 6", "3, 0") + ball("green", "1.9, 6", "0, 1") + ball("green", "3.8, 6", "1, 1") +
                   ball("green", "0, 12", "-1, 0") + "[look]\nnumbers_from = 0\n");
    PictureStyle style{.quantity = Quantity::kSpecies, .arrows = true, .contacts = true, .labels = false};
    Studio all(scene, style);
    const auto whole = all.shoot().rgb;
    style.select = "id > 0";
    Studio some(scene, style);
    some.shoot();
    all.frame().gone[0] = 1;
    EXPECT_EQ(some.shoot().rgb, all.shoot().rgb);
    EXPECT_NE(some.shoot().rgb, whole);
}

TEST(Quantity, OfWhatIsAroundABall) {
    // Left of the middle balls stand thin and fly to the right together, right of it twice as dense and against each
    // other.
    World world(2, "wall");
    const auto add = [&](double x, double y, double v) { world.add({1.0 + x, 1.0 + y, 0.0}, {v, 0.0, 0.0}); };
    world.balls.species_table[0].radius = 0.1;
    for (int k = 0; k < 400; ++k) add(5.0 * (k % 20 + 0.5) / 20.0, 10.0 * (k / 20 + 0.5) / 20.0, 3.0);
    for (int k = 0; k < 800; ++k) {
        add(5.0 + 5.0 * (k % 20 + 0.5) / 20.0, 10.0 * (k / 20 + 0.5) / 40.0, k % 2 == 0 ? 2.0 : -2.0);
    }
    const auto density = world.values(Quantity::kDensity);
    const auto temperature = world.values(Quantity::kTemperature);
    const auto flow = world.values(Quantity::kFlow);
    const std::size_t left = 3;  // far from the middle
    const std::size_t right = 400 + 17;
    const double share = 3.14159265 * 0.01 * 400.0 / 50.0;
    EXPECT_NEAR(density[left], share, 0.1 * share);
    EXPECT_NEAR(density[right], 2.0 * share, 0.2 * share);
    EXPECT_NEAR(temperature[left], 0.0, 1e-5);
    EXPECT_NEAR(temperature[right], 2.0 * 4.0 / 2.0, 0.2);  // m v^2 over two dimensions
    EXPECT_NEAR(flow[left], 3.0, 1e-5);
    EXPECT_LT(flow[right], 0.5);
    world.frame.gone[left] = 1;
    EXPECT_TRUE(std::isnan(world.values(Quantity::kDensity)[left]));
    world.frame.gone[left] = 0;
    // A ball on its way from left to right sees no cells: from one place to the next a step of a twentieth at most.
    std::vector<float> seen;
    for (int k = 0; k <= 200; ++k) {
        world.frame.position[0][left] = 1.0 + 10.0 * (k + 0.5) / 201.0;
        seen.push_back(world.values(Quantity::kDensity)[left]);
    }
    for (std::size_t k = 1; k < seen.size(); ++k) EXPECT_NEAR(seen[k], seen[k - 1], 0.05 * share) << k;
    EXPECT_GT(seen[150], 1.7 * seen[50]);
}

TEST(Contacts, AreAsBroadAsTheyPress) {
    World world(2);
    world.add({4.0, 5.0, 0.0});
    world.add({4.9, 5.0, 0.0});   // 0.1 deep
    world.add({5.85, 5.0, 0.0});  // half of that
    world.add({8.0, 8.0, 0.0});
    const Camera camera(world.scene, Viewport{.width = 400, .height = 400});
    LineList lines;
    const auto none = [](std::size_t /*id*/) { return false; };
    add_contacts(lines, world.scene, world.balls, world.frame, none, camera, kDarkTheme, 1.0f);
    ASSERT_EQ(lines.lines().size(), 2u);
    EXPECT_NEAR(lines.lines()[0].width / lines.lines()[1].width, 2.0, 1e-3);
    EXPECT_NEAR(lines.lines()[0].b[0] - lines.lines()[0].a[0], 0.9 * camera.scale(), 1e-2);
    for (const std::size_t hidden : {0u, 1u}) {
        LineList some;
        const auto out = [&](std::size_t id) { return id == hidden; };
        add_contacts(some, world.scene, world.balls, world.frame, out, camera, kDarkTheme, 1.0f);
        EXPECT_EQ(some.lines().size(), 1u - hidden) << hidden;
    }
}

TEST(BallTrails, AreWhereBallsHaveBeen) {
    World world(2);
    world.add({4.0, 5.0, 0.0});
    world.add({9.0, 5.0, 0.0});
    BallTrails trails({1});
    const auto count = [&] {
        LineList lines;
        trails.draw(lines, {}, kDarkTheme, 1.0f);
        return lines.lines().size();
    };
    for (int k = 0; k < 5; ++k) {
        world.frame.time = k;
        world.frame.image[0][1] = 9.0 + 0.7 * k < 11.0 ? 0 : 1;  // around the face at 11
        world.frame.position[0][1] = 9.0 + 0.7 * k - 10.0 * world.frame.image[0][1];
        trails.add(world.frame);
        trails.add(world.frame);  // drawn twice
    }
    EXPECT_EQ(count(), 3u) << "and none across the box";
    world.frame.time = 5.0;
    world.frame.position[0][1] += 6.0;
    trails.add(world.frame);
    EXPECT_EQ(count(), 4u) << "farther than half of the box, but around no face";
    world.frame.time = 6.0;
    world.frame.image[0][1] = 2;
    trails.add(world.frame);
    EXPECT_EQ(count(), 4u) << "all around the box";
    world.frame.time = 0.0;
    trails.add(world.frame);
    EXPECT_EQ(count(), 0u) << "it begins anew";
}

TEST(Quantity, OfABallThatHasLeftOrWeighsInfinitelyMuchIsNone) {
    World world(2);
    world.add({4.0, 3.5, 0.0}, {1.0, 0.0, 0.0});
    world.frame.gone[0] = 1;
    EXPECT_TRUE(std::isnan(world.values(Quantity::kSpeed)[0]));
    world.frame.gone[0] = 0;
    world.balls.species_table[0].mass = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(std::isnan(world.values(Quantity::kKineticEnergy)[0]));
}

TEST(Quantity, OverlapIsThatOfAllPairs) {
    for (const int dimension : {2, 3}) {
        for (const char* boundary : {"periodic", "wall"}) {
            World world(dimension, boundary);
            const std::uint32_t count = dimension == 2 ? 150 : 1500;
            for (std::uint32_t id = 0; id < count; ++id) {
                // Places by a quasi-random sequence; many overlap, some around the faces.
                Vector3 x{};
                constexpr std::array<double, 3> kStep{0.7548776662, 0.5698402910, 0.3819660113};
                for (int axis = 0; axis < dimension; ++axis) x[axis] = 1.0 + 10.0 * std::fmod(id * kStep[axis], 1.0);
                world.add(x);
            }
            const std::vector<float> found = world.values(Quantity::kOverlap);
            int overlapping = 0;
            for (std::size_t i = 0; i < found.size(); ++i) {
                double deepest = 0.0;
                for (std::size_t j = 0; j < found.size(); ++j) {
                    if (i == j) continue;
                    double squared = 0.0;
                    for (int axis = 0; axis < dimension; ++axis) {
                        double d = world.frame.position[axis][i] - world.frame.position[axis][j];
                        if (world.scene.box.periodic(axis)) d -= 10.0 * std::round(d / 10.0);
                        squared += d * d;
                    }
                    deepest = std::max(deepest, (1.0 - std::sqrt(squared)) / 0.5);
                }
                constexpr double kFloat = 2e-7;  // a float's rounding of numbers up to 2
                EXPECT_NEAR(found[i], deepest, kFloat) << dimension << boundary << i;
                overlapping += deepest > 0.0 ? 1 : 0;
            }
            EXPECT_GT(overlapping, 10);
        }
    }
}

TEST(PartnersOf, AreTheBallsThatTouchAlsoAroundAFace) {
    World world(2);
    world.add({1.2, 5.0, 0.0});
    world.add({10.9, 5.0, 0.0});  // 0.3 away around the face
    world.add({1.2, 6.0, 0.0});   // touches
    world.add({1.2, 6.9, 0.0});
    world.add({1.7, 5.0, 0.0});
    world.frame.gone[4] = 1;
    EXPECT_EQ(partners_of(world.scene, world.balls, world.frame, 0), (std::vector<std::size_t>{1, 2}));
    EXPECT_EQ(partners_of(world.scene, world.balls, world.frame, 3), (std::vector<std::size_t>{2}));
    EXPECT_TRUE(partners_of(world.scene, world.balls, world.frame, 4).empty());
    World walled(2, "wall");
    walled.add({1.2, 5.0, 0.0});
    walled.add({10.9, 5.0, 0.0});
    EXPECT_TRUE(partners_of(walled.scene, walled.balls, walled.frame, 0).empty());
}

TEST(Velocities, HaveAKeyThatSaysHowManyThereAre) {
    World world(2, "wall");
    for (int k = 0; k < 1500; ++k) world.add({1.0, 1.0, 0.0}, {k == 0 ? 2.0 : 1.0, 0.0, 0.0});
    const Camera camera(world.scene, Viewport{.width = 400, .height = 300});
    LineList lines;
    const auto none = [](std::size_t /*id*/) { return false; };
    const auto key = add_velocities(lines, world.scene, world.balls, world.frame, none, {}, kDarkTheme, camera, 1.0f);
    ASSERT_TRUE(key.has_value());
    EXPECT_EQ(key->balls, 1500u);
    EXPECT_EQ(key->drawn, 500u);
    EXPECT_EQ(lines.lines().size(), 3u * key->drawn);
    EXPECT_EQ(key->fastest, 2.0);
    const auto& arrow = lines.lines().front();
    EXPECT_NEAR(arrow.b[0] - arrow.a[0], 2.0 * key->seconds, 1e-5);
    LineList few;  // of those that are drawn
    world.frame.gone[7] = 1;
    const auto out = [](std::size_t id) { return id < 2 || id > 1100; };
    const auto some = add_velocities(few, world.scene, world.balls, world.frame, out, {}, kDarkTheme, camera, 1.0f);
    ASSERT_TRUE(some.has_value());
    EXPECT_EQ(some->balls, 1098u);
    EXPECT_EQ(some->drawn, 550u);  // 7 is none of every second one from 2 on
    EXPECT_EQ(few.lines().size(), 3u * some->drawn);
    EXPECT_EQ(some->fastest, 1.0);
    for (auto& v : world.frame.velocity[0]) v = 0.0;
    EXPECT_FALSE(
        add_velocities(lines, world.scene, world.balls, world.frame, none, {}, kDarkTheme, camera, 1.0f).has_value());
}

TEST(ValueRange, LeavesOutTheFewThatAreFarAbove) {
    std::vector<float> values(1000, 1.0f);
    for (int k = 0; k < 1000; ++k) values[k] = 1.0f + 0.001f * k;
    values[3] = 1e6f;
    const ValueRange range = range_of(Quantity::kSpeed, values);
    EXPECT_EQ(range.low, 0.0f);
    EXPECT_LT(range.high, 2.01f);
    EXPECT_GT(range.high, 1.9f);
    EXPECT_EQ(range_of(Quantity::kSpeed, std::vector{1.0f, 30.0f, 2.0f}).high, 30.0f);  // of few none is left out
}

TEST(ValueRange, IsTheValueWhereThereIsButOne) {
    for (const auto& [quantity, value] : {std::pair{Quantity::kSpeed, 0.0f}, std::pair{Quantity::kHeight, 3.5f}}) {
        const ValueRange range = range_of(quantity, std::vector<float>(10, value));
        EXPECT_EQ(range.low, value);
        EXPECT_EQ(range.high, value);
    }
    EXPECT_TRUE(std::isnan(range_of(Quantity::kSpeed, {}).high));
}

TEST(DefaultQuantity, IsSpeciesWhereThereAreSeveral) {
    Balls balls;
    balls.species_table = {{.name = "a", .color = "#FF0000"}, {.name = "b"}};
    balls.species = {0, 0};
    EXPECT_EQ(default_quantity(balls), Quantity::kSpeed);
    balls.species = {0, 1};
    EXPECT_EQ(default_quantity(balls), Quantity::kSpecies);
}

/// Equal steps look equally large; the lightness alone tells the order.
TEST(ColorMaps, AreUniform) {
    for (const ColorMapInfo& info : color_maps()) {
        constexpr std::size_t kColors = 128;
        const auto colors = map_colors(info.map, kColors);
        ASSERT_EQ(colors.size(), kColors);
        std::vector<double> steps;
        double sum = 0.0;
        std::size_t top = kColors - 1;  // the lightest
        for (std::size_t k = 0; k + 1 < kColors; ++k) {
            const auto a = lab_of(colors[k]);
            const auto b = lab_of(colors[k + 1]);
            steps.push_back(std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]));
            sum += steps.back();
            if (b[0] < a[0] && top == kColors - 1) top = k;
            EXPECT_GT(k < top ? b[0] - a[0] : a[0] - b[0], 0.0) << info.name << " " << k;
        }
        EXPECT_NEAR(static_cast<double>(top), info.map == ColorMap::kBalance ? 0.5 * kColors : kColors - 1, 4.0);
        // Viridis is equal in another space; the others are equal in this one, but for what a screen cannot show. The
        // two halves of kBalance are of different lengths.
        const double mean = sum / static_cast<double>(steps.size());
        const double slack = info.map == ColorMap::kViridis ? 0.75 : info.map == ColorMap::kBalance ? 0.2 : 0.1;
        EXPECT_LT(std::ranges::max(steps), (1.0 + slack) * mean) << info.name;
        EXPECT_GT(std::ranges::min(steps), (1.0 - slack) * mean) << info.name;
        const double range = lab_of(colors[kColors / 2])[0] - lab_of(colors.front())[0];
        EXPECT_GT(range, 25.0) << info.name;
    }
}

}  // namespace carom::picture_test
