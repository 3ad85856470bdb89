#include "tests/support/events_gas.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "kernels/physics/kinetic_theory.hpp"
#include "tests/support/gas_reference.hpp"

// Hard-disk and hard-sphere gases against theory: the references in stats.json.

namespace carom::events_gas_test {

using nlohmann::json;

using namespace test;

/// Of the N-particle reference, as a fraction of Z - 1: checked to 0.12 % by runs of another program, but for those
/// next to freezing, where so few balls were 0.6 % low in 2D and 0.3 % in 3D.
double reference_error(int dimension, double phi) {
    if (dimension == 2) return phi > 0.6 ? 0.008 : 0.0012;
    return phi > 0.45 ? 0.005 : 0.0012;
}

/// Balls of diameter 1 from a square or cubic lattice.
EventsScene gas(int dimension, double phi) {
    const int per_axis = dimension == 2 ? 16 : 6;
    const double n = std::pow(per_axis, dimension);
    const double volume = n * (dimension == 2 ? M_PI / 4.0 : M_PI / 6.0) / phi;
    return lattice_gas(dimension, per_axis, std::pow(volume, 1.0 / dimension), Face::kPeriodic, 0.5, 17);
}

using GasCase = std::pair<int, double>;  // dimension, packing fraction

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
    const json& reference = fluid(dimension, phi);
    const double expected = compressibility_of(reference, n);
    // Collisions know of each other: measured over seeds, the error is 1.15 to 1.3 times that of independent ones.
    const double error = 1.3 * (expected - 1.0) / std::sqrt(kCollisions);
    EXPECT_NEAR(z, expected, 4.0 * error + reference_error(dimension, phi) * (expected - 1.0));
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

/// Every row of stats.json.
std::vector<GasCase> all_of(int dimension) {
    std::vector<GasCase> cases;
    for (const json& row : stats()[dimension == 2 ? "eos2d" : "eos3d"]) cases.push_back({dimension, row["phi"]});
    return cases;
}

INSTANTIATE_TEST_SUITE_P(Disks, EquationOfState, testing::ValuesIn(all_of(2)));
INSTANTIATE_TEST_SUITE_P(Spheres, EquationOfState, testing::ValuesIn(all_of(3)));

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

/// Point particles: K / E ~ Beta(d N / 2, N). Radii of a fiftieth of the width bring an excluded volume of about a per
/// cent, with which the tolerances are; samples are apart by what a ball takes for the height of the gas, so that
/// errors are well below them.
TEST(Atmosphere, SharesItsEnergyAsPhaseSpaceSays) {
    for (const json& row : stats()["gravity_energy_partition"]) {
        const int d = row["d"];
        const int count = row["N"];
        if (count > 30) continue;  // a distribution as narrow as the excluded volume shifts it
        const double width = std::pow(count / 8.0, 1.0 / (d - 1));
        EventsScene scene(d, {width, d == 2 ? 1000.0 : width, 1000.0}, Face::kWall);
        const int up = d - 1;
        scene.setup.gravity[up] = -1.0;
        for (int k = 0; k < count; ++k) {
            Vector3 x{width * (0.15 + 0.25 * (k % 4)), width * (0.2 + 0.3 * (k / 4 % 2)), 0.2};
            x[up] = 0.2 + 0.1 * k * 8.0 / count;
            if (d == 2) x[2] = 0.0;
            Vector3 v{0.3 - 0.8 / count * k, 0.2 + 0.4 / count * k, 0.1 * (k % 3)};
            if (d == 2) v[2] = 0.0;
            scene.add(0.02, 1.0, x, v);
        }
        const auto engine = scene.engine();
        double sum = 0.0;
        double square = 0.0;
        constexpr int kSamples = 20000;
        for (int k = 1; k <= kSamples; ++k) {
            engine->advance(2.0 * k, ~0ULL);
            const Totals totals = engine->totals();
            // Heights count from the lowest place of a centre.
            const double height = totals.gravitational - count * 0.02;
            const double share = totals.kinetic / (totals.kinetic + height);
            sum += share / kSamples;
            square += share * share / kSamples;
        }
        EXPECT_NEAR(sum, row["K_over_E_mean"].get<double>(), 0.02) << count << " balls, " << d << "D";
        const double variance = row["K_over_E_var"];
        EXPECT_NEAR(square - sum * sum, variance, 0.1 * variance) << count << " balls, " << d << "D";
    }
}

// The mean free path of an event-driven run against the paths in its log of impacts.

/// What the log of a run without gravity says: each ball of finite mass flies straight from one entry to its next.
struct LoggedPaths {
    double length = 0.0;
    double ends = 0.0;

    LoggedPaths(const EventsScene& scene, EventsEngine& engine, double until) {
        const Balls& balls = scene.state.balls;
        std::vector<double> speed(balls.size());
        std::vector<double> since(balls.size(), 0.0);
        const auto norm = [](const Vector3& v) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); };
        for (std::size_t id = 0; id < balls.size(); ++id) {
            Vector3 v{};
            for (int axis = 0; axis < scene.dimension(); ++axis) v[axis] = balls.velocity[axis][id];
            speed[id] = norm(v);
        }
        const auto fly = [&](std::uint32_t id, double time, double new_speed) {
            if (std::isinf(balls.species_of(id).mass)) return 0.0;
            length += speed[id] * (time - since[id]);
            since[id] = time;
            speed[id] = new_speed;
            return 1.0;
        };
        engine.set_log([&](const LoggedImpact& impact) {
            ends += fly(impact.i, impact.time, norm(impact.velocity_i));
            if (impact.what == LoggedImpact::What::kBall) ends += fly(impact.j, impact.time, norm(impact.velocity_j));
        });
        engine.advance(until, ~0ULL);
        for (std::uint32_t id = 0; id < balls.size(); ++id) fly(id, until, 0.0);
    }
};

TEST(EventsFreePath, OfACoolingGasIsThatOfItsLog) {
    for (const Face face : {Face::kPeriodic, Face::kWall}) {
        EventsScene scene = lattice_gas(2, 12, 18.0, face, 0.5, 5);
        scene.setup.restitution = 0.85;
        scene.setup.wall_restitution = 0.9;
        const auto engine = scene.engine();
        const LoggedPaths paths(scene, *engine, 60.0);
        ASSERT_GT(paths.ends, 2000.0);
        EXPECT_NEAR(engine->statistics().mean_free_path(), paths.length / paths.ends, 1e-9);
    }
}

TEST(EventsFreePath, OfABreakCountsTheBallsThatRest) {
    EventsScene scene(2, {20.0, 10.0, 0.0});
    for (int row = 0; row < 5; ++row) {
        for (int k = 0; k <= row; ++k)
            scene.add(0.3, 1.0, {12.0 + 0.61 * row, 5.0 + 0.7 * (k - 0.5 * row), 0.0}, {0.0, 0.0, 0.0});
    }
    scene.add(0.3, 1.0, {3.0, 5.01, 0.0}, {7.0, 0.0, 0.0});
    const auto engine = scene.engine();
    const LoggedPaths paths(scene, *engine, 50.0);
    ASSERT_GT(paths.ends, 100.0);
    EXPECT_NEAR(engine->statistics().mean_free_path(), paths.length / paths.ends, 1e-9);
}

TEST(EventsFreePath, LeavesOutObstacles) {
    EventsScene scene = lattice_gas(3, 4, 8.0, Face::kPeriodic, 0.5, 9);
    for (std::size_t id = 0; id < scene.size(); id += 2) {
        scene.state.balls.species[id] = 1;
        for (auto& v : scene.state.balls.velocity) v[id] = 0.0;
    }
    scene.state.balls.species_table.push_back(scene.state.balls.species_table[0]);
    scene.state.balls.species_table[1].mass = std::numeric_limits<double>::infinity();
    const auto engine = scene.engine();
    const LoggedPaths paths(scene, *engine, 20.0);
    ASSERT_GT(engine->statistics().heavy_collisions, 100u);
    ASSERT_LT(engine->statistics().heavy_collisions, engine->statistics().ball_collisions);
    EXPECT_NEAR(engine->statistics().mean_free_path(), paths.length / paths.ends, 1e-9);
}

TEST(EventsFreePath, UnderGravityIsTheLengthOfTheParabolas) {
    // A ball let go at 5 above the floor hops for ever: after the first fall, 10 between two impacts.
    EventsScene scene(2, {10.0, 20.0, 0.0});
    scene.setup.gravity = {0.0, -10.0, 0.0};
    scene.add(1.0, 1.0, {5.0, 6.0, 0.0}, {0.0, 0.0, 0.0});
    const auto engine = scene.engine();
    engine->advance(10.0, ~0ULL);  // impacts at 1, 3, 5, 7, 9; at the top again
    EXPECT_EQ(engine->statistics().wall_collisions, 5u);
    EXPECT_NEAR(engine->statistics().mean_free_path(), 50.0 / 5.0, 1e-7);
}

TEST(EventsFreePath, IsTheSameAfterARestart) {
    const EventsScene scene = lattice_gas(2, 20, 30.0, Face::kPeriodic, 0.5, 3);
    const auto whole = scene.engine();
    whole->advance(3.0, ~0ULL);
    SolverState state;
    whole->save(state);
    const auto resumed = make_events_engine(scene.setup, state);
    whole->advance(40.0, ~0ULL);
    resumed->advance(40.0, ~0ULL);
    EXPECT_EQ(whole->statistics().mean_free_path(), resumed->statistics().mean_free_path());
}

}  // namespace carom::events_gas_test
