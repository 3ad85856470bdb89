// Hard-disk and hard-sphere gases against theory: the references in stats.json.

#include "tests/support/events_gas.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kernels/physics/kinetic_theory.hpp"

namespace carom {
namespace {

using namespace test;
using nlohmann::json;

const json& stats() {
    static const json data = json::parse(std::ifstream(std::string(CAROM_GOLDEN_DIR) + "/stats.json"));
    return data;
}

const json& row(const char* table, double phi) {
    for (const json& entry : stats()[table]) {
        if (std::abs(entry["phi"].get<double>() - phi) < 1e-9) return entry;
    }
    throw std::runtime_error("no such packing fraction");
}

/// Of the N-particle reference: Z_256 to the order 1/N, checked to 0.12 % of Z - 1 by runs of another program.
constexpr double kReference = 0.0012;

/// Balls of diameter 1 from a square or cubic lattice, which is loose enough for packing fractions up to 0.6 in 2D and
/// 0.45 in 3D.
EventsScene gas(int dimension, double phi) {
    const int per_axis = dimension == 2 ? 16 : 6;
    const double n = std::pow(per_axis, dimension);
    const double volume = n * (dimension == 2 ? M_PI / 4.0 : M_PI / 6.0) / phi;
    return lattice_gas(dimension, per_axis, std::pow(volume, 1.0 / dimension), Face::kPeriodic, 0.5, 17);
}

struct GasCase {
    int dimension;
    double phi;
};

class EquationOfState : public testing::TestWithParam<GasCase> {};

TEST_P(EquationOfState, IsThePublishedOne) {
    const auto [dimension, phi] = GetParam();
    const EventsScene scene = gas(dimension, phi);
    const auto n = static_cast<double>(scene.size());
    const auto engine = scene.engine();
    const auto collisions = [&] { return static_cast<double>(engine->statistics().ball_collisions); };
    while (collisions() < 50.0 * n) engine->advance(1e9, 10000);
    const EventsStatistics from = engine->statistics();
    constexpr double kCollisions = 200000.0;
    while (collisions() - static_cast<double>(from.ball_collisions) < kCollisions) engine->advance(1e9, 10000);
    const EventsStatistics to = engine->statistics();
    // kT = 2K / (d (N - 1)), as the N-particle reference wants.
    const double z = 1.0 + (n - 1.0) / n * (to.collisional_virial - from.collisional_virial) /
                               (to.twice_kinetic_time - from.twice_kinetic_time);
    const json& reference = row(dimension == 2 ? "eos2d" : "eos3d", phi);
    // Z_N - Z falls as 1/N; 3D runs have 216 balls.
    const double z_ref = reference["Z_ref"];
    const double expected = z_ref + (reference["Z_N"]["256"].get<double>() - z_ref) * 256.0 / n;
    const double error = (expected - 1.0) / std::sqrt(kCollisions);
    EXPECT_NEAR(z, expected, 4.0 * error + kReference * (expected - 1.0));
    EXPECT_LT(to.virial_defect(), 1e-9);
    EXPECT_LT(to.worst_overlap, 1e-13);
    // The rate that kinetic theory gives for this Z (per ball; microcanonical correction 1/(4D) and less).
    const auto counted = static_cast<double>(to.ball_collisions - from.ball_collisions);
    const double rate = 2.0 * counted / n / (to.elapsed - from.elapsed);
    const double kt =
        (to.twice_kinetic_time - from.twice_kinetic_time) / (to.elapsed - from.elapsed) / (dimension * (n - 1.0));
    const double theory = collision_rate(dimension, z, kt, 1.0, 1.0);
    EXPECT_NEAR(rate / theory, 1.0, 0.01);
}

INSTANTIATE_TEST_SUITE_P(Disks, EquationOfState,
                         testing::Values(GasCase{2, 0.1}, GasCase{2, 0.2}, GasCase{2, 0.3}, GasCase{2, 0.4},
                                         GasCase{2, 0.5}, GasCase{2, 0.6}));
INSTANTIATE_TEST_SUITE_P(Spheres, EquationOfState,
                         testing::Values(GasCase{3, 0.05}, GasCase{3, 0.1}, GasCase{3, 0.2}, GasCase{3, 0.3},
                                         GasCase{3, 0.4}, GasCase{3, 0.45}));

TEST(TwoBallsInABox, PressAsTheExactFormulaSays) {
    for (const json& c : stats()["two_particles_in_box"]) {
        const int d = c["d"];
        const double edge = c["L_over_sigma"];
        EventsScene scene(d, {edge, edge, d == 3 ? edge : 0.0});
        scene.add(0.5, 1.0, {0.8, 0.9, d == 3 ? 1.1 : 0.0}, {0.9, 0.31, d == 3 ? -0.5 : 0.0});
        scene.add(0.5, 1.0, {edge - 0.7, edge - 0.9, d == 3 ? edge - 1.0 : 0.0}, {-0.4, 0.77, d == 3 ? 0.3 : 0.0});
        const auto engine = scene.engine();
        const double energy = engine->totals().kinetic;
        const double kt = 2.0 * energy / (2.0 * d);
        // Twenty stretches give the error of their mean.
        constexpr int kStretches = 20;
        double sum = 0.0;
        double square = 0.0;
        double fourth = 0.0;
        double second = 0.0;
        double before = 0.0;
        double time = 0.0;
        const double stretch = 600.0 * edge;
        Frame frame;
        for (int k = 0; k < kStretches; ++k) {
            for (int sample = 0; sample < 200; ++sample) {
                time += stretch / 200.0;
                engine->advance(time, ~0ULL);
                engine->frame(frame);
                for (int axis = 0; axis < d; ++axis) {
                    for (double v : frame.velocity[axis]) {
                        second += v * v;
                        fourth += v * v * v * v;
                    }
                }
            }
            double impulse = 0.0;
            for (double w : engine->tallies().wall_impulse) impulse += w;
            const double a = edge - 1.0;
            const double z = (impulse - before) * a / (2.0 * d * 2.0 * kt * stretch);
            before = impulse;
            sum += z;
            square += z * z;
        }
        const double mean = sum / kStretches;
        const double error = std::sqrt((square / kStretches - mean * mean) / (kStretches - 1));
        EXPECT_NEAR(mean, c["Z_accessible"].get<double>(), 4.5 * error) << "d = " << d << ", L = " << edge;
        EXPECT_LT(error, 0.01 * mean);
        const double samples = kStretches * 200.0 * 2.0 * d;
        const double kurtosis = fourth / samples / (second / samples * second / samples);
        EXPECT_NEAR(kurtosis, c["kurtosis_vx"].get<double>(), 0.05) << "d = " << d << ", L = " << edge;
    }
}

/// N balls between walls with a given energy: m v_x^2 / (2 E) is Beta(1/2, (D - 1)/2) distributed, D = d N, so the
/// kurtosis of a component is 3 D / (D + 2), and not the 3 of a heat bath.
TEST(FewBalls, HaveTheVelocitiesOfAFixedEnergy) {
    for (const auto& [dimension, per_axis] : {std::pair{2, 3}, std::pair{3, 2}}) {
        const EventsScene scene = lattice_gas(dimension, per_axis, 2.0 * per_axis, Face::kWall, 0.5, 3);
        const auto engine = scene.engine();
        const double degrees = dimension * std::pow(per_axis, dimension);
        constexpr int kStretches = 40;  // their scatter gives the error of the mean
        constexpr int kSamples = 250;   // of each, about a collision per ball apart
        double sum = 0.0;
        double square = 0.0;
        double time = 20.0;
        Frame frame;
        for (int stretch = 0; stretch < kStretches; ++stretch) {
            double fourth = 0.0;
            for (int sample = 0; sample < kSamples; ++sample) {
                engine->advance(time += 1.0, ~0ULL);
                engine->frame(frame);
                for (int axis = 0; axis < dimension; ++axis) {
                    for (const double v : frame.velocity[axis]) fourth += v * v * v * v;
                }
            }
            // <v^2> is known: kT = 1, exactly, at all times.
            const double kurtosis = fourth / (kSamples * degrees);
            sum += kurtosis;
            square += kurtosis * kurtosis;
        }
        const double mean = sum / kStretches;
        const double error = std::sqrt((square / kStretches - mean * mean) / (kStretches - 1));
        EXPECT_NEAR(mean, 3.0 * degrees / (degrees + 2.0), 4.0 * error) << dimension << "D";
        EXPECT_LT(error, 0.03);  // a kurtosis of 3 would be seen
    }
}

TEST(Atmosphere, WeighsOnItsFloorWhatItWeighs) {
    for (int d : {2, 3}) {
        EventsScene scene = lattice_gas(d, d == 2 ? 10 : 5, 12.0, Face::kPeriodic, 0.5, 4);
        const int up = d - 1;
        scene.setup.box.faces[up] = {Face::kWall, Face::kOpen};
        scene.setup.box.size[up] = 1.0e4;
        scene.setup.gravity[up] = -0.4;
        const auto engine = scene.engine();
        engine->advance(200.0, ~0ULL);
        const double before = engine->tallies().wall_impulse[2 * up];
        engine->advance(1200.0, ~0ULL);
        const double force = (engine->tallies().wall_impulse[2 * up] - before) / 1000.0;
        EXPECT_NEAR(force / (0.4 * static_cast<double>(scene.size())), 1.0, 0.002) << "d = " << d;
        EXPECT_LT(engine->statistics().virial_defect(), 1e-9);
        EXPECT_EQ(engine->tallies().balls_left, 0u);
    }
}

TEST(Atmosphere, SharesItsEnergyAsPhaseSpaceSays) {
    // Point particles: K / E ~ Beta(d N / 2, N), mean 1/2 in 2D and 3/5 in 3D. Radii of a fiftieth of the width bring
    // an excluded volume of about a percent.
    for (int d : {2, 3}) {
        EventsScene scene(d, {1.0, d == 2 ? 1000.0 : 1.0, 1000.0}, Face::kWall);
        const int up = d - 1;
        scene.setup.gravity[up] = -1.0;
        for (int k = 0; k < 8; ++k) {
            Vector3 x{0.15 + 0.25 * (k % 4), 0.2 + 0.3 * (k / 4), 0.2 + 0.1 * k};
            if (d == 2) x[2] = 0.0;
            Vector3 v{0.3 - 0.1 * k, 0.2 + 0.05 * k, 0.1 * (k % 3)};
            if (d == 2) v[2] = 0.0;
            scene.add(0.02, 1.0, x, v);
        }
        const auto engine = scene.engine();
        double share = 0.0;
        constexpr int kSamples = 20000;
        for (int k = 1; k <= kSamples; ++k) {
            engine->advance(2.0 * k, ~0ULL);
            const Totals totals = engine->totals();
            // Heights count from the lowest place of a centre.
            const double height = totals.gravitational - 8.0 * 0.02;
            share += totals.kinetic / (totals.kinetic + height);
        }
        EXPECT_NEAR(share / kSamples, d == 2 ? 0.5 : 0.6, 0.02) << "d = " << d;
    }
}

}  // namespace
}  // namespace carom
