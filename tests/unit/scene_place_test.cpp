#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>

#include "host/scene/load.hpp"
#include "host/scene/place.hpp"
#include "host/scene/walls.hpp"
#include "host/state/errors.hpp"
#include "kernels/physics/pair_distribution.hpp"

namespace carom::scene_place_test {

constexpr double kRounding = 1.0e-12;  // of a length: sites are computed, and a lattice may touch

/// Nothing overlaps, by brute force, periodic images and walls included; returns the smallest gap.
double smallest_gap(const Scene& scene, const Balls& balls) {
    double least = 1e300;
    for (std::size_t i = 0; i < balls.size(); ++i) {
        Vector3 center{};
        for (int axis = 0; axis < balls.dimension; ++axis) center[axis] = balls.position[axis][i];
        for (const Boundary<3>& wall : all_walls(scene)) {
            least = std::min(least, wall_gap(wall, center).distance - balls.species_of(i).radius);
        }
        for (std::size_t j = 0; j < i; ++j) {
            double square = 0.0;
            for (int axis = 0; axis < balls.dimension; ++axis) {
                double along = std::abs(balls.position[axis][i] - balls.position[axis][j]);
                if (scene.box.periodic(axis)) along = std::min(along, scene.box.size[axis] - along);
                square += along * along;
            }
            least = std::min(least, std::sqrt(square) - balls.species_of(i).radius - balls.species_of(j).radius);
        }
    }
    return least;
}

bool all_inside(const Scene& scene, const FillEntry& fill, const Balls& balls, std::size_t first) {
    bool inside = true;
    const double radius = scene.species[fill.species].radius;
    for (std::size_t id = first; id < first + fill.count; ++id) {
        for (int axis = 0; axis < balls.dimension; ++axis) {
            const double across = fill.region_max[axis] - fill.region_min[axis];
            const bool wraps = scene.box.periodic(axis) && across >= scene.box.size[axis] - kRounding;
            const double margin = wraps ? 0.0 : radius - kRounding;
            const double x = balls.position[axis][id];
            inside = inside && x >= fill.region_min[axis] + margin && x <= fill.region_max[axis] - margin;
            if (wraps) inside = inside && x < fill.region_max[axis];
        }
    }
    return inside;
}

struct PlaceCase {
    const char* name;
    int dimension;
    const char* box;
    double fraction;
    const char* arrangement;
};

void PrintTo(const PlaceCase& one, std::ostream* out) { *out << one.name; }

class Placement : public testing::TestWithParam<PlaceCase> {};

TEST_P(Placement, PutsNoBallIntoAnotherNorIntoAWall) {
    const PlaceCase& one = GetParam();
    const std::string text =
        "[scene]\ndimension = " + std::to_string(one.dimension) + "\n[box]\n" + one.box +
        "\n[[fill]]\nradius = 0.5\nmass = 1.0\npacking_fraction = " + std::to_string(one.fraction) +
        "\narrangement = \"" + one.arrangement + "\"\n";
    const Scene scene = parse_scene(text, "place.toml");
    ASSERT_GT(scene.ball_count(), 50u);
    const Balls balls = make_balls(scene);
    EXPECT_GE(smallest_gap(scene, balls), -kRounding);
    EXPECT_TRUE(all_inside(scene, scene.fills[0], balls, 0));
}

INSTANTIATE_TEST_SUITE_P(
    Arrangements, Placement,
    testing::Values(
        PlaceCase{"walls", 2, "size = [20.0, 15.0]", 0.4, "random"},
        PlaceCase{"negative", 2, "size = [20.0, 15.0]\nmin = [-10.0, -100.0]", 0.45, "random"},
        PlaceCase{"periodic", 2, "size = [20.0, 15.0]\nmin = [-10.0, 3.0]\nboundary = [\"periodic\", \"periodic\"]",
                  0.5, "random"},
        PlaceCase{"narrow", 2, "size = [2.0, 100.0]\nboundary = [\"periodic\", \"open\"]", 0.4, "random"},
        PlaceCase{"dense", 2, "size = [60.0, 50.0]\nboundary = [\"periodic\", \"wall\"]", 0.7, "random"},
        PlaceCase{"denser", 2, "size = [60.0, 50.0]\nboundary = [\"periodic\", \"wall\"]", 0.84, "random"},
        PlaceCase{"sparse", 2, "size = [5000.0, 5000.0]", 0.00001, "random"},
        PlaceCase{"lattice", 2, "size = [20.0, 15.0]", 0.5, "lattice"},
        PlaceCase{"full_lattice", 2, "size = [20.0, 15.0]", 0.785398, "lattice"},
        PlaceCase{"hexagonal", 2, "size = [60.0, 50.0]\nboundary = [\"periodic\", \"periodic\"]", 0.86, "lattice"},
        PlaceCase{"walls_3d", 3, "size = [8.0, 7.0, 9.0]\nmin = [-4.0, 0.0, 2.0]", 0.25, "random"},
        PlaceCase{"periodic_3d", 3, "size = [8.0, 7.0, 9.0]\nboundary = [\"periodic\", \"periodic\", \"periodic\"]",
                  0.3, "random"},
        PlaceCase{"thin_3d", 3, "size = [2.0, 2.0, 60.0]\nboundary = [\"periodic\", \"periodic\", \"wall\"]", 0.25,
                  "random"},
        PlaceCase{"dense_3d", 3, "size = [12.0, 12.0, 12.0]\nboundary = [\"periodic\", \"wall\", \"open\"]", 0.55,
                  "random"},
        PlaceCase{"fcc", 3, "size = [16.0, 16.0, 16.0]\nboundary = [\"periodic\", \"periodic\", \"periodic\"]", 0.68,
                  "lattice"},
        PlaceCase{"cubic", 3, "size = [6.0, 7.0, 8.0]", 0.5, "lattice"}),
    [](const auto& one) { return std::string(one.param.name); });

/// Where the box begins is nothing to a periodic gas: (min + size) - min rounds to less than size in some of these.
TEST(Placement, IsTheSameWhereverAPeriodicBoxBegins) {
    const auto placed = [](double min, double size, const char* arrangement) {
        const std::string corner = std::to_string(min) + ", " + std::to_string(min);
        const std::string text = "[scene]\ndimension = 2\n[box]\nmin = [" + corner + "]\nsize = [" +
                                 std::to_string(size) + ", " + std::to_string(size) +
                                 "]\nboundary = [\"periodic\", \"periodic\"]\n[[fill]]\nradius = 0.5\nmass = 1.0\n" +
                                 "packing_fraction = 0.34\narrangement = \"" + arrangement + "\"\n";
        return make_balls(parse_scene(text, "box.toml"));
    };
    int shorter = 0;
    for (const char* arrangement : {"random", "lattice"}) {
        for (int tenths = 1; tenths <= 60; tenths += 2) {
            const double min = 0.1 * tenths;
            const double size = 13.6 + 0.1 * (tenths % 7);
            shorter += (min + size) - min < size ? 1 : 0;
            const Balls moved = placed(min, size, arrangement);
            const Balls balls = placed(0.0, size, arrangement);
            ASSERT_EQ(moved.size(), balls.size()) << min << ", " << size;
            double off = 0.0;
            for (int axis = 0; axis < 2; ++axis) {
                for (std::size_t id = 0; id < balls.size(); ++id) {
                    off = std::max(off, std::abs(moved.position[axis][id] - min - balls.position[axis][id]));
                }
            }
            EXPECT_LT(off, 1e-9) << arrangement << " in a box of " << size << " from " << min;
        }
    }
    EXPECT_GE(shorter, 4);
}

/// The balls of a random fill in each tenth of an axis, over some seeds, and the sum of their radii there.
struct Tenths {
    std::array<double, 10> balls{};
    std::array<double, 10> radii{};
    double all = 0.0;

    Tenths(const std::string& text, std::size_t axis, int seeds) {
        for (int seed = 1; seed <= seeds; ++seed) {
            const Scene scene = parse_scene(text, "gas.toml", {"scene.seed=" + std::to_string(seed)});
            const Balls placed = make_balls(scene);
            for (std::size_t id = 0; id < placed.size(); ++id) {
                const auto tenth = static_cast<std::size_t>(10.0 * placed.position[axis][id] / scene.box.size[axis]);
                balls.at(tenth) += 1.0;
                radii.at(tenth) += placed.species_of(id).radius;
                all += 1.0;
            }
        }
    }
};

TEST(Placement, AtRandomIsAsDenseEverywhere) {
    for (const auto& [text, axis, seeds] :
         {std::tuple{
              "[scene]\ndimension = 2\n[box]\nsize = [1000.0, 4.0]\nboundary = [\"periodic\", \"wall\"]\n[[fill]]\n"
              "radius = 0.5\nmass = 1.0\ncount = 200\n",
              0, 10},
          std::tuple{"[scene]\ndimension = 2\n[box]\nsize = [217.0, 217.0]\nboundary = \"periodic\"\n[[fill]]\n"
                     "radius = 0.5\nmass = 1.0\ncount = 3000\n",
                     1, 10},
          std::tuple{"[scene]\ndimension = 3\n[box]\nsize = [28.0, 28.0, 28.0]\nboundary = \"periodic\"\n[[fill]]\n"
                     "radius = 0.5\nmass = 1.0\ncount = 2000\n",
                     2, 10}}) {
        const Tenths found(text, static_cast<std::size_t>(axis), seeds);
        const double expected = found.all / 10.0;
        for (const double balls : found.balls) EXPECT_NEAR(balls, expected, 4.5 * std::sqrt(expected)) << text;
    }
}

TEST(Placement, AtRandomLargeAndSmallBallsAreEverywhere) {
    const Tenths found(
        "[scene]\ndimension = 2\n[box]\nsize = [300.0, 300.0]\nboundary = \"periodic\"\n[[fill]]\nradius = 0.5\n"
        "mass = 1.0\ncount = 10000\nsizes = {kind = \"uniform\", min = 0.5, max = 1.5}\n",
        1, 1);
    for (std::size_t tenth = 0; tenth < 10; ++tenth) {
        EXPECT_NEAR(found.radii[tenth] / found.balls[tenth], 0.5, 5.0 * 0.144 / std::sqrt(1000.0)) << tenth;
    }
}

TEST(Placement, GoesAroundEarlierBallsSpheresAndPlanes) {
    for (const char* arrangement : {"random", "lattice"}) {
        const Scene scene = parse_scene(std::string(R"(
[scene]
dimension = 2
[box]
min = [-15.0, 0.0]
size = [30.0, 30.0]
boundary = ["periodic", "wall"]
[[wall]]
shape = "plane"
normal = [0.0, -1.0]
offset = -28.0
[[wall]]
shape = "sphere"
center = [0.0, 15.0]
radius = 4.0
side = "outside"
[[ball]]
radius = 3.0
mass = 1.0
position = [-14.0, 8.0]
[[fill]]
radius = 1.0
mass = 1.0
count = 40
[[fill]]
radius = 0.25
mass = 1.0
count = 800
arrangement = ")") + arrangement + "\"\n",
                                        "around.toml");
        const Balls balls = make_balls(scene);
        ASSERT_EQ(balls.size(), 841u);
        EXPECT_GE(smallest_gap(scene, balls), -kRounding) << arrangement;
    }
}

TEST(Placement, FillsASphereFromWithin) {
    const Scene scene = parse_scene(R"(
[scene]
dimension = 3
[box]
size = [20.0, 20.0, 20.0]
[[wall]]
shape = "sphere"
center = [10.0, 10.0, 10.0]
radius = 8.0
[[fill]]
radius = 0.5
mass = 1.0
count = 900
)",
                                    "within.toml");
    EXPECT_GE(smallest_gap(scene, make_balls(scene)), -kRounding);
}

TEST(Placement, SquareLatticeHasOneBallACell) {
    const Scene scene = parse_scene(
        "[scene]\ndimension = 2\n[box]\nsize = [6.0, 4.0]\n"
        "[[fill]]\nradius = 0.5\nmass = 1.0\ncount = 24\narrangement = \"lattice\"\n",
        "square.toml");
    const Balls balls = make_balls(scene);
    for (std::size_t id = 0; id < 24; ++id) {
        EXPECT_DOUBLE_EQ(balls.position[0][id], 0.5 + static_cast<double>(id % 6));
        EXPECT_DOUBLE_EQ(balls.position[1][id], 0.5 + static_cast<double>(id / 6));
    }
}

/// The bond-orientational order |psi_6| over all balls is near 0 in a fluid and 1 in a lattice.
TEST(Placement, ADenseFluidHasNoAxes) {
    const Scene scene = parse_scene(
        "[scene]\ndimension = 2\n[box]\nsize = [50.0, 50.0]\nboundary = [\"periodic\", \"periodic\"]\n"
        "[[fill]]\nradius = 0.5\nmass = 1.0\npacking_fraction = 0.55\n",
        "dense.toml");
    const Balls balls = make_balls(scene);
    double re = 0.0;
    double im = 0.0;
    int bonds = 0;
    for (std::size_t i = 0; i < balls.size(); ++i) {
        for (std::size_t j = 0; j < balls.size(); ++j) {
            double d[2];
            for (int axis = 0; axis < 2; ++axis) {
                d[axis] = balls.position[axis][j] - balls.position[axis][i];
                d[axis] -= 50.0 * std::round(d[axis] / 50.0);
            }
            const double distance = std::hypot(d[0], d[1]);
            if (i == j || distance > 1.5) continue;
            const double angle = 6.0 * std::atan2(d[1], d[0]);
            re += std::cos(angle);
            im += std::sin(angle);
            ++bonds;
        }
    }
    EXPECT_LT(std::hypot(re, im) / bonds, 0.15);
}

std::string gas(const char* more, int dimension = 2) {
    const std::string size = dimension == 2 ? "[40.0, 40.0]" : "[12.0, 12.0, 12.0]";
    return "[scene]\ndimension = " + std::to_string(dimension) + "\nseed = 5\n[box]\nsize = " + size +
           "\n[[fill]]\nradius = 0.5\nmass = 2.0\n" + more;
}

struct Moments {
    Vector3 momentum{};
    double square = 0.0;
};

Moments moments(const Balls& balls) {
    Moments result;
    for (int axis = 0; axis < balls.dimension; ++axis) {
        for (const double v : balls.velocity[axis]) {
            result.momentum[axis] += v;
            result.square += v * v;
        }
    }
    return result;
}

TEST(Velocities, TemperatureIsMetExactlyAndMomentumIsZero) {
    for (const int dimension : {2, 3}) {
        const Balls balls = make_balls(parse_scene(gas("count = 500\ntemperature = 3.0\n", dimension), "gas.toml"));
        const Moments sums = moments(balls);
        // 500 terms of size 1.2, each rounded once
        EXPECT_NEAR(2.0 * sums.square / (500.0 * dimension), 3.0, 3.0 * 500 * 2.3e-16);
        for (int axis = 0; axis < dimension; ++axis) EXPECT_NEAR(sums.momentum[axis], 0.0, 500 * 1.2 * 2.3e-16);
    }
}

TEST(Velocities, WithoutZeroMomentumTheMeanIsRandom) {
    const Moments sums =
        moments(make_balls(parse_scene(gas("count = 500\ntemperature = 3.0\nzero_momentum = false\n"), "gas.toml")));
    EXPECT_GT(std::abs(sums.momentum[0]), 0.1);
    EXPECT_NEAR(2.0 * sums.square / 1000.0, 3.0, 1e-12);
}

TEST(Velocities, ComponentsAreNormal) {
    const Balls balls =
        make_balls(parse_scene("[scene]\ndimension = 2\n[box]\nsize = [1000.0, 1000.0]\n[[fill]]\nradius = 0.5\nmass = "
                               "1.0\ncount = 20000\ntemperature = 1.0\n",
                               "gas.toml"));
    for (int axis = 0; axis < 2; ++axis) {
        double square = 0.0;
        double fourth = 0.0;
        for (const double v : balls.velocity[axis]) {
            square += v * v;
            fourth += v * v * v * v;
        }
        EXPECT_NEAR(square / 20000.0, 1.0, 4.0 * std::sqrt(2.0 / 20000.0));   // 4 sigma
        EXPECT_NEAR(fourth / 20000.0, 3.0, 4.0 * std::sqrt(96.0 / 20000.0));  // 4 sigma
    }
}

TEST(Velocities, EqualSpeedsGoOppositeWays) {
    for (const char* count : {"count = 200\n", "count = 201\n", "count = 3\n", "count = 2\n"}) {
        for (const int dimension : {2, 3}) {
            const Balls balls =
                make_balls(parse_scene(gas((std::string(count) + "speed = 2.5\n").c_str(), dimension), "gas.toml"));
            const Moments sums = moments(balls);
            for (int axis = 0; axis < dimension; ++axis)
                EXPECT_NEAR(sums.momentum[axis], 0.0, 200 * 2.5 * 2.3e-16) << count;
            for (std::size_t id = 0; id < balls.size(); ++id) {
                double square = 0.0;
                for (int axis = 0; axis < dimension; ++axis)
                    square += balls.velocity[axis][id] * balls.velocity[axis][id];
                EXPECT_NEAR(std::sqrt(square), 2.5, 2.5 * 1e-15) << count;
            }
        }
    }
}

TEST(Velocities, ExplicitBallsKeepTheirsAndComeFirst) {
    const Balls balls = make_balls(parse_scene(gas("count = 3\ntemperature = 1.0\n[[ball]]\nradius = 1.0\nmass = 1.0\n"
                                                   "position = [5.0, 6.0]\nvelocity = [7.0, 8.0]\nspin = 9.0\n"),
                                               "gas.toml"));
    ASSERT_EQ(balls.size(), 4u);
    EXPECT_EQ(balls.position[0][0], 5.0);
    EXPECT_EQ(balls.velocity[1][0], 8.0);
    EXPECT_EQ(balls.spin[2][0], 9.0);
    EXPECT_TRUE(balls.spin[0].empty());
    EXPECT_EQ(balls.species_of(0).radius, 1.0);
    EXPECT_EQ(balls.species_of(3).radius, 0.5);
}

/// All parts as one.
Balls joined(const BallParts& parts, std::size_t* number = nullptr) {
    Balls all;
    parts.each([&](const Balls& part) {
        if (part.first == 0) all = {};
        EXPECT_EQ(part.first, all.size());
        EXPECT_EQ(part.first + part.size() + part.rest, parts.size());
        if (number != nullptr) ++*number;
        all.dimension = part.dimension;
        all.species_table = part.species_table;
        EXPECT_EQ(part.species_table, parts.species_table());
        const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
        append(all.species, part.species);
        append(all.gone, part.gone);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            append(all.position[axis], part.position[axis]);
            append(all.velocity[axis], part.velocity[axis]);
            append(all.spin[axis], part.spin[axis]);
            append(all.image[axis], part.image[axis]);
        }
    });
    return all;
}

/// Of several sizes, and among each other: what was placed before is in the way, around periodic sides too.
std::string sized(int dimension) {
    const std::string third = dimension == 3 ? ", 20.0" : "";
    std::string text = "[scene]\ndimension = " + std::to_string(dimension) + "\nseed = 5\n[box]\nsize = [40.0, 30.0" +
                       third + "]\nboundary = [\"periodic\", \"wall\"" + (dimension == 3 ? ", \"wall\"" : "") + "]\n";
    for (const char* more : {"count = 60\ntemperature = 2.0\nsizes = {kind = \"lognormal\", spread = 0.1}\n",
                             "count = 40\nspeed = 1.5\nzero_momentum = true\n",
                             "count = 50\ntemperature = 0.5\nzero_momentum = false\nsizes = {kind = \"table\", values "
                             "= [0.5, 1.5], mass = \"equal\"}\n"}) {
        text += std::string("[[fill]]\nradius = 0.4\nmass = 2.0\narrangement = \"lattice\"\n") + more;
    }
    // Its balls would lie in those of the first fills that are near the other end of the box.
    text += "[[fill]]\nradius = 0.5\nmass = 1.0\narrangement = \"lattice\"\ncount = 30\nregion = {min = [0.0, 0.0" +
            std::string(dimension == 3 ? ", 0.0" : "") + "], max = [6.0, 30.0" + third + "]}\n";
    return text;
}

TEST(BallsInParts, AreThoseThatAreMadeAtOnce) {
    const std::string lattice = "arrangement = \"lattice\"\n";
    const std::string ball =
        "[[ball]]\nradius = 1.0\nmass = 1.0\nposition = [5.0, 6.0]\nvelocity = [7.0, 8.0]\nspin = 9.0\n";
    const std::string many =
        "[scene]\ndimension = 2\nseed = 3\n[box]\nsize = [500.0, 400.0]\n[[fill]]\nradius = 0.5\nmass = 2.0\n"
        "count = 150000\ntemperature = 3.0\n" +
        lattice;
    std::size_t parts = 0;
    for (const std::string& text :
         {gas(("count = 500\ntemperature = 3.0\n" + lattice).c_str()),
          gas(("count = 500\ntemperature = 3.0\n" + lattice).c_str(), 3),
          gas(("count = 500\ntemperature = 3.0\nzero_momentum = false\n" + lattice + ball).c_str()),
          gas(("count = 501\nspeed = 2.5\n" + lattice).c_str(), 3), gas(("count = 500\n" + lattice + ball).c_str()),
          "[scene]\ndimension = 2\n[box]\nsize = [9.0, 9.0]\n" + ball, sized(2), sized(3), many}) {
        const Scene scene = parse_scene(text, "gas.toml");
        const auto made = balls_in_parts(scene);
        ASSERT_NE(made, nullptr) << text;
        const Balls whole = make_balls(scene);
        for (int time = 0; time < 2; ++time) {  // as often as it is asked
            parts = 0;
            const Balls all = joined(*made, &parts);
            EXPECT_EQ(all.species, whole.species) << text;
            EXPECT_EQ(all.species_table, whole.species_table) << text;
            EXPECT_EQ(all.position, whole.position) << text;
            EXPECT_EQ(all.velocity, whole.velocity) << text;
            EXPECT_EQ(all.spin, whole.spin) << text;
            EXPECT_EQ(all.image, whole.image) << text;
            EXPECT_EQ(all.gone, whole.gone) << text;
        }
    }
    EXPECT_GT(parts, 2u);
}

TEST(BallsInParts, AreNoneWhereAllMustBeThere) {
    const std::string lattice = "arrangement = \"lattice\"\n";
    const std::string fill = "[[fill]]\nradius = 0.5\nmass = 2.0\ncount = 5\n";
    for (const std::string& text : {gas("count = 500\n"), gas(("count = 50\n" + lattice + fill).c_str()),
                                    gas(("count = 50\n" + lattice + "[run]\nsolver = \"events\"\n").c_str())}) {
        EXPECT_EQ(balls_in_parts(parse_scene(text, "gas.toml")), nullptr) << text;
    }
    EXPECT_THROW(static_cast<void>(balls_in_parts(parse_scene(gas(("count = 50000\n" + lattice).c_str()), "gas.toml"))),
                 InputError);
}

TEST(SpeciesById, AreWhatWasPutIn) {
    std::vector<std::uint32_t> rows(1000, 4);
    for (std::size_t id = 200; id < 300; ++id) rows[id] = static_cast<std::uint32_t>(id % 2);
    for (std::size_t id = 500; id < 1000; ++id) rows[id] = 7;
    for (const std::size_t period : {1000, 3}) {  // few stretches, and as many as there are balls
        for (std::size_t id = 0; id < rows.size(); ++id) rows[id] += id % period == 1 ? 1 : 0;
        const SpeciesById species(rows);
        ASSERT_EQ(species.size(), rows.size());
        EXPECT_EQ(species.rows(), rows);
        for (std::size_t id = 0; id < rows.size(); ++id) EXPECT_EQ(species[id], rows[id]) << id;
        std::vector<std::uint32_t> some(333);
        species.copy(190, some);
        EXPECT_TRUE(std::equal(some.begin(), some.end(), rows.begin() + 190));
        std::vector<std::uint32_t> told;
        species.for_each_stretch([&](std::uint32_t row, std::size_t count) { told.insert(told.end(), count, row); });
        EXPECT_EQ(told, rows);
    }
}

/// `sizes` of a fill of disks or spheres.
std::string sized_gas(const std::string& sizes, const std::string& more, int dimension = 2) {
    return gas(("sizes = {" + sizes + "}\n" + more).c_str(), dimension);
}

std::vector<double> radii(const Balls& balls) {
    std::vector<double> all;
    for (std::size_t id = 0; id < balls.size(); ++id) all.push_back(balls.species_of(id).radius);
    return all;
}

struct SizeCase {
    const char* name;
    const char* sizes;
    double mean;      // of radius over `radius`
    double variance;  // of the same
    double fourth;    // central moment, for the error of the variance
};

void PrintTo(const SizeCase& one, std::ostream* out) { *out << one.name; }

class SizeDistribution : public testing::TestWithParam<SizeCase> {};

/// Moments of 40,000 balls; 8 figures within 4.5 standard errors: by chance one test of 18,000 fails.
TEST_P(SizeDistribution, HasItsMoments) {
    const SizeCase& one = GetParam();
    constexpr double kBalls = 40000.0;
    constexpr double kErrors = 4.5;
    const Scene scene = parse_scene(
        std::string("[scene]\ndimension = 2\nseed = 11\n[box]\nsize = [900.0, 900.0]\n[[fill]]\nradius = 0.5\nmass = "
                    "1.0\ncount = 40000\nsizes = {") +
            one.sizes + "}\n",
        "sizes.toml");
    const Balls balls = make_balls(scene);
    double mean = 0.0;
    double square = 0.0;
    for (const double radius : radii(balls)) mean += radius / 0.5 / kBalls;
    for (const double radius : radii(balls)) square += (radius / 0.5 - one.mean) * (radius / 0.5 - one.mean) / kBalls;
    EXPECT_NEAR(mean, one.mean, kErrors * std::sqrt(one.variance / kBalls));
    EXPECT_NEAR(square, one.variance, kErrors * std::sqrt((one.fourth - one.variance * one.variance) / kBalls));
    EXPECT_LT(balls.species_table.size(), 4000u);
}

// A normal distribution cut off at c deviations: with g = c phi(c) / (2 Phi(c) - 1) its variance is 1 - 2 g, its fourth
// moment 3 - 2 g (3 + c^2): for c = 3 g = 0.013332, for c = 1 g = 0.354437. A lognormal one cut off at 3: moments
// exp(n^2 s^2 / 2) (Phi(3 - n s) - Phi(-3 - n s)) / (Phi(3) - Phi(-3)).
INSTANTIATE_TEST_SUITE_P(
    Kinds, SizeDistribution,
    testing::Values(
        SizeCase{"normal", "kind = \"normal\", spread = 0.1", 1.0, 0.00973337, 2.68004e-04},
        SizeCase{"cut", "kind = \"normal\", spread = 0.2, min = 0.8, max = 1.2", 1.0, 0.0116450, 2.63201e-04},
        SizeCase{"lognormal", "kind = \"lognormal\", spread = 0.2", 1.019646, 0.0411118, 0.0055549},
        SizeCase{"uniform", "kind = \"uniform\", min = 0.5, max = 1.5", 1.0, 1.0 / 12.0, 1.0 / 80.0},
        SizeCase{"table", "kind = \"table\", values = [1.0, 1.4], weights = [3.0, 1.0]", 1.1, 0.03, 0.0021}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(Sizes, FollowFromSeedAndIdAlone) {
    const std::string sizes = "kind = \"normal\", spread = 0.1";
    const auto all = radii(make_balls(parse_scene(sized_gas(sizes, "count = 300\n"), "a.toml")));
    EXPECT_EQ(radii(make_balls(parse_scene(sized_gas(sizes, "count = 300\n"), "a.toml"))), all);
    EXPECT_NE(radii(make_balls(parse_scene(sized_gas(sizes, "count = 300\n"), "a.toml", {"scene.seed=9"}))), all);
    // However the ids are shared out among fills, wherever these are.
    const std::string one = "radius = 0.5\nmass = 1.0\nsizes = {" + sizes + "}\n";
    const Balls two = make_balls(parse_scene(
        sized_gas(sizes, "count = 100\narrangement = \"lattice\"\nregion = {max = [20.0, 20.0]}\n[[fill]]\n" + one +
                             "count = 200\nregion = {min = [20.0, 0.0]}\n"),
        "a.toml"));
    EXPECT_EQ(radii(two), all);
}

TEST(Sizes, GiveMassesByVolumeAndSpinsByRadius) {
    for (const int dimension : {2, 3}) {
        const Balls balls = make_balls(
            parse_scene(sized_gas("kind = \"uniform\", min = 0.5, max = 1.5", "count = 50\n", dimension), "a.toml"));
        for (std::size_t id = 0; id < balls.size(); ++id) {
            const Species& ball = balls.species_of(id);
            const double factor = ball.radius / 0.5;
            EXPECT_NEAR(ball.mass, 2.0 * std::pow(factor, dimension), 1e-14 * ball.mass) << id;
            EXPECT_NEAR(ball.radius_of_gyration, ball.radius * std::sqrt(dimension == 2 ? 0.5 : 0.4), 1e-15);
            EXPECT_EQ(species_row(balls.species_table, balls.species[id]), 0u);
        }
    }
    const Balls equal = make_balls(
        parse_scene(sized_gas("kind = \"uniform\", min = 0.5, max = 1.5, mass = \"equal\"", "count = 50\n"), "a.toml"));
    for (std::size_t id = 0; id < equal.size(); ++id) EXPECT_EQ(equal.species_of(id).mass, 2.0);
}

TEST(Sizes, LeaveTemperatureAndMomentumAsTheyAre) {
    const Balls balls = make_balls(
        parse_scene(sized_gas("kind = \"normal\", spread = 0.2", "count = 500\ntemperature = 3.0\n"), "gas.toml"));
    double energy = 0.0;
    double momentum[2] = {};
    double largest_share = 0.0;
    for (std::size_t id = 0; id < balls.size(); ++id) {
        const double mass = balls.species_of(id).mass;
        double own = 0.0;
        for (int axis = 0; axis < 2; ++axis) {
            own += 0.5 * mass * balls.velocity[axis][id] * balls.velocity[axis][id];
            momentum[axis] += mass * balls.velocity[axis][id];
        }
        energy += own;
        largest_share = std::max(largest_share, own);
    }
    EXPECT_NEAR(energy / 500.0, 3.0, 3.0 * 500 * 2.3e-16);
    for (const double sum : momentum) EXPECT_NEAR(sum, 0.0, 1e-11);
    EXPECT_LT(largest_share, 3.0 * 20.0);  // of 500 exponential deviates: by chance 1 in 10^6
}

struct SizedPlace {
    const char* name;
    int dimension;
    double fraction;
    const char* arrangement;
    double spread = 0.15;
};

void PrintTo(const SizedPlace& one, std::ostream* out) { *out << one.name; }

class SizedPlacement : public testing::TestWithParam<SizedPlace> {};

TEST_P(SizedPlacement, FillsWhatItSaysWithoutOverlap) {
    const SizedPlace& one = GetParam();
    const std::string text =
        "[scene]\ndimension = " + std::to_string(one.dimension) + "\n[box]\nsize = " +
        (one.dimension == 2 ? "[30.0, 30.0]\nboundary = [\"periodic\", \"wall\"]"
                            : "[9.0, 9.0, 9.0]\nboundary = [\"periodic\", \"wall\", \"wall\"]") +
        "\n[[fill]]\nradius = 0.5\nmass = 1.0\nsizes = {kind = \"normal\", spread = " + std::to_string(one.spread) +
        "}\narrangement = \"" + one.arrangement + "\"\npacking_fraction = " + std::to_string(one.fraction) + "\n";
    const Scene scene = parse_scene(text, "sizes.toml");
    const Balls balls = make_balls(scene);
    EXPECT_GE(smallest_gap(scene, balls), -kRounding);
    double filled = 0.0;
    for (const double radius : radii(balls)) filled += ball_volume(one.dimension, radius);
    // As near as a ball more or less would be.
    EXPECT_NEAR(filled, one.fraction * scene.box.volume(), 0.5 * ball_volume(one.dimension, 0.5 * 1.45));
    for (std::size_t id = 0; id < balls.size(); ++id) {
        EXPECT_GE(balls.position[1][id], balls.species_of(id).radius - kRounding);
        EXPECT_LE(balls.position[1][id], scene.box.size[1] - balls.species_of(id).radius + kRounding);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Arrangements, SizedPlacement,
    testing::Values(SizedPlace{"insertion", 2, 0.45, "random"}, SizedPlace{"growth", 2, 0.75, "random"},
                    SizedPlace{"shaken", 2, 0.83, "random", 0.01}, SizedPlace{"lattice", 2, 0.35, "lattice"},
                    SizedPlace{"insertion_3d", 3, 0.3, "random"}, SizedPlace{"growth_3d", 3, 0.5, "random"},
                    SizedPlace{"lattice_3d", 3, 0.2, "lattice"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(SizedPlacement, ALatticeHasRoomForTheLargestOrIsRefused) {
    const Scene scene = parse_scene(
        sized_gas("kind = \"normal\", spread = 0.1", "packing_fraction = 0.7\narrangement = \"lattice\"\n"), "a.toml");
    try {
        static_cast<void>(make_balls(scene));
        ADD_FAILURE() << "placed";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("on sites for the largest of them"), std::string::npos)
            << error.what();
    }
}

std::uint64_t hash_of(const Balls& balls) {
    std::uint64_t hash = 14695981039346656037ULL;
    for (int axis = 0; axis < balls.dimension; ++axis) {
        for (const auto* values : {&balls.position[axis], &balls.velocity[axis]}) {
            for (const double value : *values) hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 1099511628211ULL;
        }
    }
    return hash;
}

// The same scene and seed give the same bits on every machine, with every compiler; committed.
TEST(InitialState, BitsAreTheCommittedOnes) {
    EXPECT_EQ(hash_of(make_balls(parse_scene(gas("count = 900\ntemperature = 1.0\n"), "a.toml"))),
              867508894186052066ULL);
    EXPECT_EQ(hash_of(make_balls(parse_scene(gas("count = 1200\nspeed = 1.0\n"), "b.toml"))), 4773216247654627316ULL);
    EXPECT_EQ(hash_of(make_balls(parse_scene(gas("count = 700\ntemperature = 1.0\n", 3), "c.toml"))),
              13830780834599563225ULL);
    EXPECT_EQ(hash_of(make_balls(parse_scene(gas("count = 1200\nspeed = 1.0\n", 3), "d.toml"))),
              1597042027599817704ULL);
    EXPECT_EQ(
        hash_of(make_balls(parse_scene(gas("count = 300\ntemperature = 2.0\narrangement = \"lattice\"\n"), "e.toml"))),
        15735664217981924655ULL);
}

TEST(InitialState, AnotherSeedIsAnotherState) {
    const std::string text = gas("count = 900\ntemperature = 1.0\n");
    const Balls one = make_balls(parse_scene(text, "a.toml"));
    const Balls other = make_balls(parse_scene(text, "a.toml", {"scene.seed=6"}));
    EXPECT_NE(one.position, other.position);
    EXPECT_NE(one.velocity, other.velocity);
}

/// A box of 40 x 20 from (0, 0) with walls at its faces.
Scene box_with(const std::string& walls, const std::string& boundary = "\"wall\"") {
    return parse_scene(
        "[scene]\ndimension = 2\n[box]\nsize = [40.0, 20.0]\nboundary = [\"wall\", " + boundary +
            "]\n[run]\nsolver = \"events\"\nuntil = 10.0\n[[ball]]\nradius = 0.5\nmass = 1.0\nposition = "
            "[30.0, 10.0]\n" +
            walls,
        "room.toml");
}

std::string plane(const std::string& normal, double offset, double velocity) {
    return "[[wall]]\nshape = \"plane\"\nnormal = " + normal + "\noffset = " + std::to_string(offset) +
           "\nvelocity = " + std::to_string(velocity) + "\n";
}

TEST(Room, IsTheBoxWithoutWalls) {
    EXPECT_EQ(room_at(box_with(""), 5.0).volume(), 800.0);
    EXPECT_EQ(room_at(box_with(""), 5.0, 0.5).volume(), 39.0 * 19.0);
    const Scene walled = box_with(plane("[1.0, 0.0]", 10.0, 2.0));
    EXPECT_EQ(room_of(walled.box, 0.5).volume(), 39.0 * 19.0) << "whatever stands in it";
    EXPECT_EQ(room_at(box_with("", "\"periodic\""), 5.0, 0.5).volume(), 39.0 * 20.0) << "no wall, no radius";
}

TEST(Room, IsBetweenPlanesWhereTheyStand) {
    const Scene scene = box_with(plane("[1.0, 0.0]", -4.0, 2.0) + plane("[-1.0, 0.0]", -38.0, 1.0));
    EXPECT_EQ(room_at(scene, 0.0).axis[0].low, 0.0) << "not in the box yet";
    EXPECT_EQ(room_at(scene, 0.0).axis[0].high, 38.0);
    const Room later = room_at(scene, 5.0, 0.5);
    EXPECT_EQ(later.axis[0].low, 6.5);
    EXPECT_EQ(later.axis[0].high, 32.5);
    EXPECT_EQ(later.volume(), 26.0 * 19.0);
}

TEST(Room, IsNoneWhereWallsHaveMetOrAnyPlaneHasComeThroughTheBox) {
    const Scene met = box_with(plane("[1.0, 0.0]", 0.0, 3.0) + plane("[-1.0, 0.0]", -38.0, 3.0));
    EXPECT_GT(room_at(met, 6.0).volume(), 0.0);
    EXPECT_EQ(room_at(met, 7.0).volume(), 0.0);
    EXPECT_EQ(room_at(met, 6.0, 1.5).volume(), 0.0) << "for balls as large as that";
    // The far corner lies 0.6 * 40 + 0.8 * 20 = 40 along it; before, what it takes is not known.
    const Scene slanting = box_with(plane("[0.6, 0.8]", 0.0, 5.0));
    EXPECT_EQ(room_at(slanting, 7.9).volume(), 800.0);
    EXPECT_EQ(room_at(slanting, 8.1).volume(), 0.0);
    EXPECT_EQ(axis_across(slanting.walls[0], 2), -1);
    EXPECT_EQ(axis_across(met.walls[1], 2), 0);
}

}  // namespace carom::scene_place_test
