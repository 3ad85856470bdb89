// Random packings beyond what insertion reaches: growth.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "host/scene/growth.hpp"
#include "host/scene/load.hpp"
#include "host/scene/place.hpp"
#include "host/scene/walls.hpp"
#include "kernels/core/random.hpp"
#include "kernels/physics/collision_time.hpp"

namespace carom::scene_growth_test {

/// The smallest gap between any two balls, or a ball and a wall, over the sum of radii; all pairs and images.
double smallest_gap(const Scene& scene, const Balls& balls) {
    double least = 1e300;
    for (std::size_t i = 0; i < balls.size(); ++i) {
        Vector3 center{};
        const double radius = balls.species_of(i).radius;
        for (int axis = 0; axis < balls.dimension; ++axis) center[axis] = balls.position[axis][i];
        for (const Boundary<3>& wall : all_walls(scene)) {
            least = std::min(least, wall_gap(wall, center).distance / radius - 1.0);
        }
        for (std::size_t j = 0; j < i; ++j) {
            double square = 0.0;
            for (int axis = 0; axis < balls.dimension; ++axis) {
                double along = std::abs(balls.position[axis][i] - balls.position[axis][j]);
                if (scene.box.periodic(axis)) along = std::min(along, scene.box.size[axis] - along);
                square += along * along;
            }
            least = std::min(least, std::sqrt(square) / (radius + balls.species_of(j).radius) - 1.0);
        }
    }
    return least;
}

double packing_fraction(const Scene& scene, const Balls& balls) {
    double volume = 0.0;
    for (std::size_t id = 0; id < balls.size(); ++id) {
        const double r = balls.species_of(id).radius;
        volume += balls.dimension == 2 ? M_PI * r * r : 4.0 / 3.0 * M_PI * r * r * r;
    }
    return volume / scene.box.volume();
}

Scene scene_of(int dimension, const std::string& box, const std::string& rest, int seed = 1) {
    return parse_scene("[scene]\ndimension = " + std::to_string(dimension) + "\nseed = " + std::to_string(seed) +
                           "\n[box]\n" + box + "\n" + rest,
                       "growth.toml", {});
}

std::string fill(double radius, double fraction, const std::string& more = "") {
    return "[[fill]]\nradius = " + std::to_string(radius) +
           "\nmass = 1.0\npacking_fraction = " + std::to_string(fraction) + "\n" + more;
}

constexpr double kWallRounding = 1.0e-12;  // of a radius: a distance from a wall is computed anew

struct GrowthCase {
    const char* name;
    int dimension;
    const char* box;
    double fraction;
};
void PrintTo(const GrowthCase& one, std::ostream* out) { *out << one.name; }

class Grown : public testing::TestWithParam<GrowthCase> {};

TEST_P(Grown, HasTheFractionAndNoOverlap) {
    const GrowthCase& one = GetParam();
    const Scene scene = scene_of(one.dimension, one.box, fill(0.5, one.fraction));
    const Balls balls = make_balls(scene);
    ASSERT_GT(balls.size(), 60U);
    EXPECT_GE(smallest_gap(scene, balls), -kWallRounding);
    const double one_ball = (one.dimension == 2 ? M_PI / 4.0 : M_PI / 6.0) / scene.box.volume();
    EXPECT_NEAR(packing_fraction(scene, balls), one.fraction, 0.5 * one_ball * (1.0 + 1e-9));
}

INSTANTIATE_TEST_SUITE_P(
    Packings, Grown,
    testing::Values(GrowthCase{"periodic", 2, "size = [40.0, 33.0]\nboundary = [\"periodic\", \"periodic\"]", 0.70},
                    GrowthCase{"walls", 2, "size = [40.0, 33.0]\nmin = [-7.0, 100.0]", 0.70},
                    GrowthCase{"two_cells", 2, "size = [2.2, 60.0]\nboundary = [\"periodic\", \"wall\"]", 0.60},
                    GrowthCase{"periodic_3d", 3,
                               "size = [8.0, 9.0, 7.0]\nboundary = [\"periodic\", \"periodic\", \"periodic\"]", 0.55},
                    GrowthCase{"walls_3d", 3, "size = [11.0, 12.0, 10.0]\nmin = [-4.0, 0.0, 2.0]", 0.50},
                    GrowthCase{"slit_3d", 3,
                               "size = [20.0, 20.0, 1.0]\nboundary = [\"periodic\", \"periodic\", \"wall\"]", 0.42}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(Growth, GoesAroundWhatLiesThere) {
    const Scene scene = scene_of(2, "size = [30.0, 30.0]\nboundary = [\"periodic\", \"wall\"]",
                                 "[[wall]]\nshape = \"plane\"\nnormal = [0.0, -1.0]\noffset = -28.0\n"
                                 "[[wall]]\nshape = \"sphere\"\ncenter = [15.0, 15.0]\nradius = 4.0\nside = "
                                 "\"outside\"\n[[ball]]\nradius = 3.0\nmass = 1.0\nposition = [1.0, 8.0]\n"
                                 "[[ball]]\nradius = 0.1\nmass = inf\nposition = [22.0, 8.0]\n" +
                                     fill(0.5, 0.54));
    const Balls balls = make_balls(scene);
    EXPECT_GE(smallest_gap(scene, balls), -kWallRounding);
    EXPECT_EQ(balls.position[0][0], 1.0) << "what lies there has moved";
    // 0.66 of what is free: beyond insertion.
    const double taken = M_PI * (16.0 + 9.0) + 2.0 * 30.0;
    EXPECT_GT(static_cast<double>(balls.size() - 2) * M_PI / 4.0 / (900.0 - taken), 0.62);
}

TEST(Growth, FillsASphereFromWithin) {
    const Scene scene = scene_of(3, "size = [10.0, 10.0, 10.0]",
                                 "[[wall]]\nshape = \"sphere\"\ncenter = [5.0, 5.0, 5.0]\nradius = 4.9\n"
                                 "[[fill]]\nradius = 0.5\nmass = 1.0\ncount = 420\n");
    EXPECT_GE(smallest_gap(scene, make_balls(scene)), -kWallRounding);
    // 420 * 0.5^3 / 4.9^3 = 0.446 of the sphere, more of what centres may use.
}

TEST(Growth, PacksAMixtureTogether) {
    for (const int dimension : {2, 3}) {
        const bool flat = dimension == 2;
        const Scene scene = scene_of(dimension,
                                     flat ? "size = [25.0, 25.0]\nboundary = [\"periodic\", \"periodic\"]"
                                          : "size = [7.0, 6.0, 6.0]\nboundary = [\"periodic\", \"wall\", \"wall\"]",
                                     fill(0.5, flat ? 0.4 : 0.25) + fill(0.25, flat ? 0.3 : 0.25));
        const Balls balls = make_balls(scene);
        EXPECT_GE(smallest_gap(scene, balls), -kWallRounding);
        EXPECT_NEAR(packing_fraction(scene, balls), flat ? 0.7 : 0.5, 2e-3);
        EXPECT_EQ(balls.species_of(0).radius, 0.5) << "ids are in file order";
        EXPECT_EQ(balls.species_of(balls.size() - 1).radius, 0.25);
    }
}

TEST(Growth, KeepsEachFillOfAMixtureInItsRegion) {
    const Scene scene =
        scene_of(2, "size = [30.0, 20.0]",
                 fill(0.5, 0.35, "region = { min = [0.0, 0.0], max = [20.0, 20.0] }\n") +
                     fill(0.4, 0.66, "region = { min = [20.0, 0.0], max = [30.0, 20.0] }\n") + fill(0.2, 0.10));
    const Balls balls = make_balls(scene);
    EXPECT_GE(smallest_gap(scene, balls), -kWallRounding);
    for (std::size_t id = 0; id < balls.size(); ++id) {
        const double radius = balls.species_of(id).radius;
        if (radius == 0.5) {
            EXPECT_LE(balls.position[0][id], 19.5);
        }
        if (radius == 0.4) {
            EXPECT_GE(balls.position[0][id], 20.4);
        }
    }
}

/// All together they reach across a periodic axis, and the first alone does not; two halves do, and neither of them.
TEST(Growth, KeepsEachFillInItsPartOfAPeriodicAxis) {
    const std::string half = "region = { min = [0.0, 0.0], max = [5.0, 6.0] }\n";
    const std::string other = "region = { min = [5.0, 0.0], max = [10.0, 6.0] }\n";
    for (const std::string& second : {fill(0.2, 0.05), fill(0.2, 0.1, other)}) {
        const Scene scene =
            scene_of(2, "size = [10.0, 6.0]\nboundary = [\"periodic\", \"wall\"]", fill(0.5, 0.6, half) + second);
        const Balls balls = make_balls(scene);
        EXPECT_GE(smallest_gap(scene, balls), -kWallRounding);
        double farthest = 0.0;
        for (std::size_t id = 0; id < balls.size(); ++id) {
            const bool large = balls.species_of(id).radius == 0.5;
            if (large) {
                EXPECT_TRUE(balls.position[0][id] >= 0.5 && balls.position[0][id] <= 4.5) << id;
            }
            farthest = std::max(farthest, balls.position[0][id]);
        }
        EXPECT_GT(farthest, 5.2);
    }
}

TEST(Growth, IsTheSameForASeedAndAnotherForAnother) {
    const auto places = [](int seed) {
        return make_balls(scene_of(2, "size = [30.0, 30.0]", fill(0.5, 0.65), seed)).position;
    };
    EXPECT_EQ(places(1), places(1));
    EXPECT_NE(places(1), places(2));
}

std::uint64_t hash_of(const Balls& balls) {
    std::uint64_t hash = 14695981039346656037ULL;
    for (int axis = 0; axis < balls.dimension; ++axis) {
        for (const double value : balls.position[axis]) {
            hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 1099511628211ULL;
        }
    }
    return hash;
}

// The same on every machine, with every compiler; committed.
TEST(Growth, HasTheCommittedBits) {
    const std::string wrap2 = "size = [30.0, 30.0]\nboundary = [\"periodic\", \"periodic\"]";
    EXPECT_EQ(hash_of(make_balls(scene_of(2, wrap2, fill(0.5, 0.65)))), 16830987910711221236ULL);
    EXPECT_EQ(hash_of(make_balls(scene_of(3, "size = [9.0, 9.0, 9.0]", fill(0.5, 0.45)))), 10578525401846911737ULL);
}

TEST(GrowingPair, MeetsWhereItsSurfacesDo) {
    // At the time found the distance is the sum of radii, and at no time before; by steps of a thousandth.
    constexpr double kRounding = 1e-9;
    int met = 0;
    for (std::uint64_t k = 0; k < 2000; ++k) {
        Vec<double, 3> d;
        Vec<double, 3> v;
        for (int axis = 0; axis < 3; ++axis) {
            d[axis] = 4.0 * random_words(1, k, RandomPurpose::kShake, axis).uniform(0) - 2.0;
            v[axis] = 2.0 * random_words(1, k, RandomPurpose::kShake, axis).uniform(1) - 1.0;
        }
        const double growth = random_words(1, k, RandomPurpose::kShake, 3).uniform(0);
        if (dot(d, d) < 1.0) continue;
        const auto gap = [&](double t) {
            const auto apart = d + t * v;
            return std::sqrt(dot(apart, apart)) - 1.0 - growth * t;
        };
        const double time = growing_pair_time(d, v, 1.0, growth);
        const bool meets = time < kNeverTouch;
        met += meets ? 1 : 0;
        if (meets) {
            EXPECT_NEAR(gap(time), 0.0, kRounding * (1.0 + time));
        }
        const double until = std::min(meets ? time : 50.0, 50.0);
        for (int step = 0; step < 1000; ++step) ASSERT_GT(gap(until * step / 1000.0), -kRounding * (1.0 + until)) << k;
    }
    EXPECT_GT(met, 300);
}

TEST(Fill, CanBeEndedWhileItIsPlaced) {
    struct Ended {};
    constexpr double kInserted = 0.3;
    constexpr double kGrown = 0.7;
    constexpr double kOnSites = 0.83;
    for (const double fraction : {kInserted, kGrown, kOnSites}) {
        Scene scene = scene_of(2, "size = [50.0, 50.0]\nboundary = [\"periodic\", \"periodic\"]", fill(0.5, fraction));
        int calls = 0;
        scene.while_placing = [&calls] { ++calls; };
        make_balls(scene);
        ASSERT_GT(calls, 0) << fraction;
        scene.while_placing = [&calls] {
            if (--calls == 0) throw Ended{};
        };
        EXPECT_THROW(make_balls(scene), Ended) << fraction;
    }
}

}  // namespace carom::scene_growth_test
