#include "host/viewer/quantity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/scene/load.hpp"
#include "host/viewer/overlaps.hpp"

namespace carom {
namespace {

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

TEST(ValueRange, LeavesOutTheFewThatAreFarAbove) {
    std::vector<float> values(1000, 1.0f);
    for (int k = 0; k < 1000; ++k) values[k] = 1.0f + 0.001f * k;
    values[3] = 1e6f;
    const ValueRange range = range_of(Quantity::kSpeed, values);
    EXPECT_EQ(range.low, 0.0f);
    EXPECT_LT(range.high, 2.01f);
    EXPECT_GT(range.high, 1.9f);
    const ValueRange none = range_of(Quantity::kSpeed, {});
    EXPECT_LT(none.low, none.high);
}

TEST(DefaultQuantity, IsSpeciesWhereTheSceneGivesColorsOrHasSeveral) {
    Balls balls;
    balls.species_table = {{.name = "a"}, {.name = "b"}};
    balls.species = {0, 0};
    EXPECT_EQ(default_quantity(balls), Quantity::kSpeed);
    balls.species = {0, 1};
    EXPECT_EQ(default_quantity(balls), Quantity::kSpecies);
    balls.species = {0, 0};
    balls.species_table[1].color = "#FF0000";
    EXPECT_EQ(default_quantity(balls), Quantity::kSpeed);  // nobody has that colour
    balls.species_table[0].color = "#FF0000";
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

}  // namespace
}  // namespace carom
