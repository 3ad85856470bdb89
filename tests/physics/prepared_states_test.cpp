// What the arrangements "random" and "atmosphere" prepare, run for a while: dense states are near equilibrium from the
// start. Seeds are fixed; each test says how often it would fail by chance.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "host/events/events_engine.hpp"
#include "host/scene/arrange.hpp"
#include "host/scene/load.hpp"
#include "host/scene/place.hpp"
#include "kernels/physics/atmosphere.hpp"
#include "kernels/physics/equation_of_state.hpp"
#include "tests/support/averaged_gas.hpp"

namespace carom::prepared_states_test {

using namespace test;

EventsScene prepared(const Scene& scene) {
    EventsScene result(scene.dimension(), scene.box.size);
    result.setup.box = scene.box;
    result.setup.gravity = scene.physics.gravity;
    result.state.balls = make_balls(scene);
    return result;
}

/// Z over the next `per_ball` collisions of each ball; kT of N balls without momentum.
double compressibility(EventsEngine& engine, double balls, double per_ball) {
    const EventsStatistics from = engine.statistics();
    const double until = static_cast<double>(from.ball_collisions) + 0.5 * per_ball * balls;
    while (static_cast<double>(engine.statistics().ball_collisions) < until) engine.advance(1e300, 10000);
    const EventsStatistics to = engine.statistics();
    return 1.0 + (balls - 1.0) / balls * (to.collisional_virial - from.collisional_virial) /
                     (to.twice_kinetic_time - from.twice_kinetic_time);
}

struct PackingCase {
    int dimension;
    int count;
    double phi;
    double z;  ///< Kolafa & Rottner 2006 (disks); Kolafa, Labik & Malijevsky 2004 (spheres)
};

void PrintTo(const PackingCase& one, std::ostream* out) { *out << one.dimension << "D, " << one.phi; }

class Packing : public testing::TestWithParam<PackingCase> {};

/// The pressure is that of the fluid from the first collisions on. Errors: impulses that follow one another in a dense
/// fluid are correlated; seen over many stretches, their scatter is 1.6 times that of independent ones. 4 of these
/// standard errors: once in 16,000 for each. Without the rest after growth Z would be 2 to 3 % too high.
TEST_P(Packing, PressesAsTheFluidDoesFromTheStart) {
    const auto [dimension, count, phi, z] = GetParam();
    const double volume = count * (dimension == 2 ? M_PI / 4.0 : M_PI / 6.0) / phi;
    const std::string edge = std::to_string(std::pow(volume, 1.0 / dimension));
    const std::string flat = "[" + edge + ", " + edge;
    const Scene scene = parse_scene(
        "[scene]\ndimension = " + std::to_string(dimension) + "\n[box]\nsize = " + flat +
            (dimension == 2 ? "]\nboundary = [\"periodic\", \"periodic\"]\n"
                            : ", " + edge + "]\nboundary = [\"periodic\", \"periodic\", \"periodic\"]\n") +
            "[[fill]]\nradius = 0.5\nmass = 1.0\ntemperature = 1.0\ncount = " + std::to_string(count) + "\n",
        "packing.toml", {});
    const auto engine = prepared(scene).engine();
    constexpr double kPerBall = 10.0;
    const double measured = compressibility(*engine, count, kPerBall);
    const double error = 1.6 * (z - 1.0) / std::sqrt(0.5 * kPerBall * count);
    EXPECT_NEAR(measured, z, 4.0 * error) << dimension << "D";
    EXPECT_LT(error, 0.007 * z) << "too few to tell";
    EXPECT_LT(engine->statistics().worst_overlap, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Dense, Packing,
                         testing::Values(PackingCase{2, 20000, 0.65, 8.408}, PackingCase{3, 9000, 0.45, 9.404}),
                         [](const auto& one) { return one.param.dimension == 2 ? "disks" : "spheres"; });

/// Disks of two sizes, one packing: to the two percent that theory and 0.7 % of scatter leave. Once in 1000.
TEST(PackedMixture, PressesAsTheFluidDoesFromTheStart) {
    const Scene scene = parse_scene(
        "[scene]\ndimension = 2\n[box]\nsize = [80.0, 80.0]\nboundary = [\"periodic\", \"periodic\"]\n"
        "[[fill]]\nradius = 0.5\nmass = 1.0\ntemperature = 1.0\ncount = 3600\n"
        "[[fill]]\nradius = 0.25\nmass = 1.0\ntemperature = 1.0\ncount = 6000\n",
        "mixture.toml", {});
    const double area = 80.0 * 80.0;
    const double phi = M_PI * (3600.0 * 0.25 + 6000.0 * 0.0625) / area;
    ASSERT_GT(phi, 0.62);
    const double mean = (3600.0 * 1.0 + 6000.0 * 0.5) / 9600.0;
    const double square = (3600.0 * 1.0 + 6000.0 * 0.25) / 9600.0;
    const double z = disk_mixture_compressibility(phi, mean * mean / square);
    const auto engine = prepared(scene).engine();
    EXPECT_NEAR(compressibility(*engine, 9600.0, 10.0) / z, 1.0, 0.02);
}

/// Slices of a profile, put together to hold balls enough.
struct Layer {
    double height = 0.0;    ///< where it begins
    double measured = 0.0;  ///< balls, in the mean over time
    double expected = 0.0;
    double error = 0.0;  ///< as if neighbouring slices erred together
};

/// scenes/column.toml: 10,000 disks from the local-density profile, scale height 10. From 60 on, some eight times the
/// time of sound through a scale height. What is promised of it: the floor bears the weight within 0.2 %,
/// and from two diameters up the profile is that of local density within 3 %. Six seconds.
TEST(Column, HasTheProfileOfLocalDensityAndWeighsWhatItWeighs) {
    std::ifstream file(std::string(CAROM_SOURCE_DIR) + "/scenes/column.toml");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const Scene scene = parse_scene(text, "column.toml", {});
    const Atmosphere gas = atmosphere_of(scene, scene.fills[0]);
    AveragedGas run(prepared(scene));
    constexpr double kFrom = 60.0;
    constexpr double kTime = 900.0;
    constexpr int kSamples = 900;
    run.settle(kFrom);
    const auto density = run.watch({.name = "n", .kind = "density", .axis = 1, .bins = 250}, kSamples);
    const auto all = run.watch({.name = "a", .kind = "temperature", .region_max = scene.box.size}, kSamples);
    const double before = run.engine().tallies().wall_impulse[2];
    run.run(kTime / kSamples, kSamples);
    const double n = 10000.0;
    const double weight = n * 0.1;
    const double force = (run.engine().tallies().wall_impulse[2] - before) / kTime;
    const double temperature = run.table(all).values[0];
    // The gas starts as it ends, but for the layer on the floor: else potential energy would turn into heat.
    EXPECT_NEAR(temperature, 1.0, 0.02);
    // What the balls' momentum may change by between two moments in equilibrium is a twelfth of that: never by chance.
    constexpr double kWeight = 0.002;
    const double error = std::sqrt(2.0 * n * temperature) / kTime;
    EXPECT_NEAR(force / weight, 1.0, kWeight);
    EXPECT_LT(error / weight, kWeight / 12.0);
    // Layers of 300 balls, up to where fewer are left above.
    constexpr double kLeastBalls = 300.0;
    const AverageTable table = run.table(density);
    const double scale_height = gas.scale_height * temperature;
    const double bottom = bottom_packing(2, gas.load / temperature);
    std::vector<Layer> layers;
    Layer layer;
    for (std::size_t bin = 0; bin < table.x.size(); ++bin) {
        const double height = table.x[bin] - 0.5;  // of the middle, above the lowest centre; slices are 1 high
        if (height < 2.5) continue;
        if (layer.expected == 0.0) layer.height = height - 0.5;
        layer.measured += scene.box.size[0] * table.values[bin];
        layer.expected += scene.box.size[0] * local_packing(2, bottom, height / scale_height) / (M_PI / 4.0);
        layer.error += scene.box.size[0] * table.errors[bin];
        if (layer.expected < kLeastBalls) continue;
        layers.push_back(layer);
        layer = {};
    }
    // Theory is off by 0.6 % at the bottom and by 2 % high up, for what the layer on the floor holds too much. Errors
    // below 0.35 % leave 3.6 of them to 3 % at least, and most layers twice as many. Where errors are larger, among the
    // highest balls, three of them are added, which leaves 3.9 at least: once in 2000 for all layers together.
    constexpr double kProfile = 0.03;
    constexpr double kTelling = 0.0035;
    std::size_t telling = 0;
    for (const Layer& one : layers) {
        const bool tells = one.error < kTelling * one.expected;
        telling += tells ? 1 : 0;
        EXPECT_NEAR(one.measured, one.expected, kProfile * one.expected + (tells ? 0.0 : 3.0 * one.error))
            << "from height " << one.height << ", error " << one.error / one.expected;
        EXPECT_LT(one.error, 0.02 * one.expected) << "from height " << one.height;
    }
    EXPECT_GE(telling, 15U);
    EXPECT_GE(layers.size(), 21U);
    EXPECT_EQ(run.engine().tallies().balls_left, 0U);
    EXPECT_LT(run.engine().statistics().virial_defect(), 1e-9);
}

}  // namespace carom::prepared_states_test
