#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "host/scene/arrange.hpp"
#include "host/scene/load.hpp"
#include "host/scene/place.hpp"
#include "kernels/physics/atmosphere.hpp"
#include "kernels/physics/kinetic_theory.hpp"

// Fills of arrangement "atmosphere".

namespace carom::scene_atmosphere_test {

struct AtmosphereCase {
    const char* name;
    const char* box;      ///< with dimension and gravity
    double temperature;   ///< mass 1, radius 0.5
    double least_bottom;  ///< packing fraction at the floor
    double most_bottom;
};
void PrintTo(const AtmosphereCase& one, std::ostream* out) { *out << one.name; }

Scene scene_of(const AtmosphereCase& one, int seed = 1) {
    return parse_scene("[scene]\nseed = " + std::to_string(seed) + "\n" + one.box +
                           "\n[[fill]]\nradius = 0.5\nmass = 1.0\ncount = 1200\narrangement = \"atmosphere\"\n"
                           "temperature = " +
                           std::to_string(one.temperature) + "\n",
                       "atmosphere.toml", {});
}

double least_distance(const Scene& scene, const Balls& balls) {
    double least = 1e300;
    for (std::size_t i = 0; i < balls.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            double square = 0.0;
            for (int axis = 0; axis < balls.dimension; ++axis) {
                double along = std::abs(balls.position[axis][i] - balls.position[axis][j]);
                if (scene.box.periodic(axis)) along = std::min(along, scene.box.size[axis] - along);
                square += along * along;
            }
            least = std::min(least, square);
        }
    }
    return std::sqrt(least);
}

class AtmosphereFill : public testing::TestWithParam<AtmosphereCase> {};

// At each height there lie as many balls above as carry the difference of pressures, but for one that the sequence of
// heights may be off by, and what growth moves: half a ball's way at the density there.
TEST_P(AtmosphereFill, HasTheProfileOfLocalDensityAndNoOverlap) {
    const Scene scene = scene_of(GetParam());
    const Balls balls = make_balls(scene);
    const Atmosphere gas = atmosphere_of(scene, scene.fills[0]);
    const int d = scene.dimension();
    EXPECT_GE(gas.bottom, GetParam().least_bottom);
    EXPECT_LE(gas.bottom, GetParam().most_bottom);
    EXPECT_GE(least_distance(scene, balls), 1.0);
    const double low = scene.box.min[gas.axis] + 0.5;
    const double high = scene.box.min[gas.axis] + scene.box.size[gas.axis] - 0.5;
    const double on_ceiling = local_pressure(d, local_packing(d, gas.bottom, gas.top));
    const bool grows = gas.bottom > (d == 2 ? 0.50 : 0.32);
    int looked_at = 0;
    for (double height = 0.25; height < std::min(5.0, gas.top / 1.01); height += 0.25) {
        int above = 0;
        for (const double x : balls.position[gas.axis]) {
            EXPECT_GE(x, low);
            EXPECT_LE(x, high);
            above += (gas.down ? x - low : high - x) > height * gas.scale_height ? 1 : 0;
        }
        const double phi = local_packing(d, gas.bottom, height);
        const double expected = 1200.0 * (local_pressure(d, phi) - on_ceiling) / gas.load;
        // Of the balls within 1/2 of the height, by the mean way of a ball in its window, at random.
        const double area = 1200.0 * (d == 2 ? M_PI / 4.0 : M_PI / 6.0) / (gas.load * gas.scale_height);
        const double near = phi * area / (d == 2 ? M_PI / 4.0 : M_PI / 6.0);
        EXPECT_NEAR(above, expected, 3.0 + (grows ? 4.0 * std::sqrt(near) : 0.0)) << "height " << height;
        ++looked_at;
    }
    EXPECT_GE(looked_at, 3);
}

INSTANTIATE_TEST_SUITE_P(
    Gases, AtmosphereFill,
    testing::Values(
        AtmosphereCase{"disks",
                       "dimension = 2\n[physics]\ngravity = [0.0, -0.1]\n[box]\nsize = [150.0, 250.0]\nboundary = "
                       "[\"periodic\", [\"wall\", \"open\"]]",
                       1.0, 0.2, 0.4},
        AtmosphereCase{"dense_disks",
                       "dimension = 2\n[physics]\ngravity = [0.0, -1.0]\n[box]\nmin = [-10.0, -5.0]\nsize = [31.0, "
                       "250.0]\nboundary = [\"periodic\", [\"wall\", \"open\"]]",
                       7.0, 0.6, 0.68},
        AtmosphereCase{"falling_up",
                       "dimension = 2\n[physics]\ngravity = [0.0, 0.1]\n[box]\nsize = [150.0, 250.0]\nboundary = "
                       "[\"wall\", [\"open\", \"wall\"]]",
                       1.0, 0.2, 0.4},
        AtmosphereCase{"under_a_ceiling",
                       "dimension = 2\n[physics]\ngravity = [-0.1, 0.0]\n[box]\nsize = [20.0, 150.0]\nboundary = "
                       "[\"wall\", \"periodic\"]",
                       1.0, 0.3, 0.5},
        AtmosphereCase{"spheres",
                       "dimension = 3\n[physics]\ngravity = [0.0, 0.0, -0.2]\n[box]\nsize = [14.0, 14.0, 120.0]\n"
                       "boundary = [\"periodic\", \"periodic\", [\"wall\", \"open\"]]",
                       1.0, 0.2, 0.32},
        AtmosphereCase{"dense_spheres",
                       "dimension = 3\n[physics]\ngravity = [0.0, 0.0, -0.2]\n[box]\nsize = [6.0, 6.0, 120.0]\n"
                       "boundary = [\"periodic\", \"periodic\", [\"wall\", \"open\"]]",
                       1.0, 0.40, 0.49}),
    [](const auto& one) { return std::string(one.param.name); });

constexpr AtmosphereCase kColumn{
    "column",
    "dimension = 2\n[physics]\ngravity = [0.0, -0.1]\n[box]\nsize = [150.0, 250.0]\nboundary = [\"periodic\", "
    "[\"wall\", \"open\"]]",
    1.0, 0.0, 1.0};

TEST(Atmospheres, AreTheSameForASeedAndOthersForAnother) {
    EXPECT_EQ(make_balls(scene_of(kColumn)).position, make_balls(scene_of(kColumn)).position);
    EXPECT_NE(make_balls(scene_of(kColumn)).position, make_balls(scene_of(kColumn, 2)).position);
}

// The same on every machine, with every compiler; committed.
TEST(Atmospheres, HaveTheCommittedBits) {
    const Balls balls = make_balls(scene_of(kColumn));
    std::uint64_t hash = 14695981039346656037ULL;
    for (int axis = 0; axis < 2; ++axis) {
        for (const double value : balls.position[axis]) {
            hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 1099511628211ULL;
        }
    }
    EXPECT_EQ(hash, 9014580129714977461ULL);
}

TEST(Atmospheres, GoAroundWhatLiesThere) {
    Scene scene = scene_of(kColumn);
    scene.species.push_back(scene.species[0]);
    scene.species.back().radius = 5.0;
    scene.balls.push_back({.species = 1, .position = {40.0, 6.0, 0.0}, .velocity = {}, .spin = {}});
    const Balls balls = make_balls(scene);
    ASSERT_EQ(balls.size(), 1201U);
    for (std::size_t id = 1; id < balls.size(); ++id) {
        EXPECT_GE(std::hypot(balls.position[0][id] - 40.0, balls.position[1][id] - 6.0), 5.5);
    }
}

TEST(Atmosphere, HeightIsTheInverseOfDensity) {
    for (const int dimension : {2, 3}) {
        for (const double height : {1e-3, 0.5, 3.0, 20.0}) {
            const double phi = local_packing(dimension, 0.4, height);
            EXPECT_NEAR(height_of_packing(dimension, 0.4, phi), height, 1e-13 * (10.0 + height));
        }
    }
}

TEST(Atmosphere, UnderACeilingHoldsTheBallsThatThereAre) {
    // Simpson's rule: relative error of some (top / steps)^4.
    constexpr int kSteps = 400;
    constexpr double kTolerance = 1e-6;
    for (const int dimension : {2, 3}) {
        for (const double top : {0.01, 0.5, 3.0}) {
            for (const double mean_packing : {0.01, 0.1, 0.25}) {
                const double load = mean_packing * top;
                const double bottom = bottom_packing_below(dimension, load, top);
                double sum = 0.0;
                for (int k = 0; k <= kSteps; ++k) {
                    const double weight = k == 0 || k == kSteps ? 1.0 : (k % 2 == 1 ? 4.0 : 2.0);
                    sum += weight * local_packing(dimension, bottom, top * k / kSteps);
                }
                EXPECT_NEAR(sum * top / (3.0 * kSteps) / load, 1.0, kTolerance) << top << " " << mean_packing;
            }
        }
    }
}

TEST(Atmosphere, UnderACeilingIsThatOfPointParticlesIfTheyAreFew) {
    constexpr double kLoad = 1e-6;  // what balls do to each other is of that order
    for (const double top : {0.1, 1.0, 5.0}) {
        EXPECT_NEAR(bottom_packing_below(3, kLoad * top, top) / (kLoad * top * barometric_density(0.0, top)), 1.0,
                    100.0 * kLoad);
    }
}

TEST(Atmosphere, WithoutACeilingOrUnderAFarOneIsTheOpenOne) {
    EXPECT_EQ(bottom_packing_below(2, 0.3, INFINITY), bottom_packing(2, 0.3));
    EXPECT_NEAR(bottom_packing_below(2, 0.3, 40.0), bottom_packing(2, 0.3), 1e-12);
}

TEST(Atmosphere, WithNearlyNoGravityIsUniform) {
    for (const double top : {1e-12, 1e-6}) EXPECT_NEAR(bottom_packing_below(3, 0.2 * top, top), 0.2, 1e-6);
}

}  // namespace carom::scene_atmosphere_test
