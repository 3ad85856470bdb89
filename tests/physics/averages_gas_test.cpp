#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "kernels/physics/atmosphere.hpp"
#include "kernels/physics/equation_of_state.hpp"
#include "kernels/physics/kinetic_theory.hpp"
#include "kernels/physics/pair_distribution.hpp"
#include "tests/support/averaged_gas.hpp"
#include "tests/support/events_gas.hpp"
#include "tests/support/gas_reference.hpp"

// What the averages say of hard-ball gases, against theory and stats.json. Seeds are fixed; each test says how often it
// would fail by chance.

namespace carom::averages_gas_test {

using nlohmann::json;

using namespace test;

/// Balls of diameter 1, periodic, T = 1 without the momentum's degrees of freedom.
EventsScene gas(int dimension, int per_axis, double phi, unsigned seed = 29) {
    const double volume = std::pow(per_axis, dimension) * (dimension == 2 ? M_PI / 4.0 : M_PI / 6.0) / phi;
    return lattice_gas(dimension, per_axis, std::pow(volume, 1.0 / dimension), Face::kPeriodic, 0.5, seed);
}

class AveragedGasTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Dimensions, AveragedGasTest, testing::Values(2, 3));

/// From equal speeds. Chi squared over ten classes of equal probability: 9 degrees of freedom; 27.9 is exceeded once in
/// a thousand. Samples are 10 collisions per ball apart, after 20; energy fixed makes it rarer still.
TEST_P(AveragedGasTest, SpeedsBecomeMaxwells) {
    const int d = GetParam();
    EventsScene scene = gas(d, d == 2 ? 16 : 6, 0.2);
    Balls& balls = scene.state.balls;
    for (std::size_t id = 0; id < balls.size(); ++id) {
        double squared = 0.0;
        for (int axis = 0; axis < d; ++axis) squared += std::pow(balls.velocity[axis][id], 2);
        for (int axis = 0; axis < d; ++axis) balls.velocity[axis][id] *= std::sqrt(d / squared);
    }
    const double rate = fluid(d, 0.2)["rate_sigma_sqrt_m_kT"];
    AveragedGas run(scene);
    run.settle(20.0 / rate);
    constexpr std::size_t kBins = 2000;
    constexpr double kMax = 10.0;
    const auto speeds = run.watch({.name = "s", .kind = "speed", .bins = kBins, .max = kMax}, 100);
    constexpr int kSamples = 60;
    run.run(10.0 / rate, kSamples);
    const AverageTable table = run.table(speeds);
    const std::string deciles = d == 2 ? "deciles2d" : "deciles3d";
    std::vector<double> counts(10, 0.0);
    const double all = kSamples * static_cast<double>(balls.size());
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        std::size_t decile = 0;
        while (decile < 9 && table.x[bin] > stats()["maxwell"][deciles][decile].get<double>()) ++decile;
        counts[decile] += table.values[bin] * all * kMax / kBins;
    }
    double chi_squared = 0.0;
    for (const double count : counts) chi_squared += std::pow(count - 0.1 * all, 2) / (0.1 * all);
    constexpr double kOnceInAThousand = 27.9;
    // A bin on the border of two deciles goes to one of them whole: 1/2 bin of 0.005, density 0.6, n = 15,360.
    constexpr double kBorder = 1.0;
    EXPECT_LT(chi_squared, kOnceInAThousand + kBorder) << d << "D";
}

/// The contact value from g(r) beside that from the equation of state, which stats.json has: a parabola through the
/// first ten bins. 4 standard errors: two of these fail once in 16,000.
TEST_P(AveragedGasTest, PairDistributionAtContactIsThatOfThePressure) {
    const int d = GetParam();
    const double phi = 0.3;
    AveragedGas run(gas(d, d == 2 ? 20 : 8, phi));
    const double rate = fluid(d, phi)["rate_sigma_sqrt_m_kT"];
    run.settle(20.0 / rate);
    constexpr std::size_t kBins = 75;
    constexpr double kReach = 1.5;
    const auto g = run.watch({.name = "g", .kind = "gr", .bins = kBins, .max = kReach}, 400);
    run.run(1.0 / rate, 1500);
    const AverageTable table = run.table(g);
    constexpr std::size_t kContact = 50;  // the bin that begins at r = 1
    for (std::size_t bin = 0; bin < kContact; ++bin) EXPECT_EQ(table.values[bin], 0.0) << "hard balls overlap";
    // Least squares with equal weights for a + b x + c x^2, x in bins from contact; the weights of each bin in a.
    constexpr std::size_t kFit = 15;
    std::array<std::array<double, 3>, 3> normal{};
    for (std::size_t k = 0; k < kFit; ++k) {
        const double x = static_cast<double>(k) + 0.5;
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) normal[i][j] += std::pow(x, i + j);
        }
    }
    const auto& m = normal;
    const double determinant = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                               m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                               m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    double value = 0.0;
    double variance = 0.0;
    for (std::size_t k = 0; k < kFit; ++k) {
        const double x = static_cast<double>(k) + 0.5;
        const double weight = ((m[1][1] * m[2][2] - m[1][2] * m[2][1]) - x * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                               x * x * (m[1][0] * m[2][1] - m[1][1] * m[2][0])) /
                              determinant;
        value += weight * table.values[kContact + k];
        variance += std::pow(weight * table.errors[kContact + k], 2);
    }
    const double chi = fluid(d, phi)["chi_ref"];
    const double error = std::sqrt(variance);
    EXPECT_NEAR(value, chi, 4.0 * error) << d << "D";
    EXPECT_LT(error, 0.02 * chi) << "too short a run to tell";
}

/// Green and Kubo with Enskog: right after t = 0 a gas forgets its velocities at the rate T / (m D), D to first Sonine
/// order, which follows from the collision rate alone. 4 standard errors, and a hundredth for what the second collision
/// of a pair within the lag changes; two of these fail once in 16,000.
TEST_P(AveragedGasTest, VelocitiesAreForgottenAtEnskogsRate) {
    const int d = GetParam();
    const double phi = d == 2 ? 0.2 : 0.1;
    const json& reference = fluid(d, phi);
    const double rate = reference["rate_sigma_sqrt_m_kT"];
    const double diffusion = reference[d == 2 ? "D_enskog" : "D_enskog_first_sonine"];
    AveragedGas run(gas(d, d == 2 ? 32 : 10, phi));
    run.settle(20.0 / rate);
    const auto c = run.watch({.name = "c", .kind = "vacf"}, 3);
    const double lag = 0.02 / rate;
    run.run(lag, 2500);
    const AverageTable table = run.table(c);
    ASSERT_EQ(table.x[1], 1.0);
    const double forgotten = -std::log(table.values[1] / table.values[0]) / lag;
    // What is lost in a lag is known far better than C itself: it counts collisions, N rate / 2 * time of them, each of
    // which changes v . v by about T.
    const double collisions = 0.5 * std::pow(d == 2 ? 32 : 10, d) * rate * 2500 * lag;
    const double relative = 1.5 / std::sqrt(collisions);
    EXPECT_NEAR(forgotten * diffusion, 1.0, 4.0 * relative + 0.01) << d << "D";
    EXPECT_LT(relative, 0.01);
}

/// Einstein with Enskog in a dilute gas of spheres: within 5 %, of which the finite box takes about 3 and the long-time
/// tail gives some; noise is below 1.
TEST(AveragedSpheres, DiffuseAsEnskogSays) {
    const double phi = 0.05;
    const json& reference = fluid(3, phi);
    const double rate = reference["rate_sigma_sqrt_m_kT"];
    AveragedGas run(gas(3, 10, phi));
    run.settle(20.0 / rate);
    const auto msd = run.watch({.name = "m", .kind = "msd"}, 100);
    const double every = 2.0 / rate;
    run.run(every, 1200);
    const AverageTable table = run.table(msd);
    // Slope between lags of 8 and 16: 16 and 32 collisions per ball.
    ASSERT_EQ(table.x[8], 8.0);
    ASSERT_EQ(table.x[16], 16.0);
    const double diffusion = (table.values[16] - table.values[8]) / (6.0 * 8.0 * every);
    EXPECT_NEAR(diffusion / reference["D_enskog_full"].get<double>(), 1.0, 0.05);
    EXPECT_LT(table.errors[16], 0.02 * table.values[16]);
}

/// Kurtosis of a component at fixed energy, whose formula is that of stats.json; 4 standard errors of the average's
/// own: four of these fail once in 4000.
TEST(AveragedFewBalls, HaveTheKurtosisOfAFixedEnergy) {
    int looked_at = 0;
    for (const json& c : stats()["finite_N"]) {
        EXPECT_NEAR(finite_kurtosis(c["dof"]), c["kurtosis_vx"].get<double>(), 1e-12);
        ++looked_at;
    }
    EXPECT_GE(looked_at, 10);
    for (const int d : {2, 3}) {
        for (const bool walls : {true, false}) {
            const double balls = std::pow(2, d);
            AveragedGas run(lattice_gas(d, 2, 4.0, walls ? Face::kWall : Face::kPeriodic, 0.5, 3));
            run.settle(50.0);
            const auto k = run.watch({.name = "k", .kind = "kurtosis"}, 100);
            run.run(2.0, 20000);
            const AverageTable table = run.table(k);
            const double expected = finite_kurtosis(d * (walls ? balls : balls - 1.0));
            EXPECT_NEAR(table.values[0], expected, 4.0 * table.errors[0]) << d << "D, walls: " << walls;
            EXPECT_LT(table.errors[0], 0.02) << "a kurtosis of 3 would be seen";
        }
    }
}

/// An atmosphere of disks settles on the local-density profile: within 3 % from two diameters above the floor up to
/// where a hundredth of the balls are left, beside 4 standard errors of each of some 15 slices; and is as hot
/// everywhere. Once in 500.
TEST(AveragedAtmosphere, HasTheProfileOfLocalDensity) {
    constexpr double kScale = 12.0;  // T / (m g), T = 1 at the start
    EventsScene scene = lattice_gas(2, 20, 32.0, Face::kPeriodic, 0.5, 4);
    scene.setup.box.faces[1] = {Face::kWall, Face::kOpen};
    scene.setup.box.size[1] = 256.0;
    scene.setup.gravity[1] = -1.0 / kScale;
    AveragedGas run(scene);
    run.settle(1500.0);
    const auto density = run.watch({.name = "n", .kind = "density", .axis = 1, .bins = 128}, 1000);
    const auto heat = run.watch({.name = "t", .kind = "temperature_profile", .axis = 1, .bins = 32}, 1000);
    const auto all = run.watch({.name = "a", .kind = "temperature", .region_max = {32.0, 256.0, 0.0}}, 1000);
    run.run(4.0, 4000);
    const AverageTable n = run.table(density);
    const AverageTable t = run.table(heat);
    const double temperature = run.table(all).values[0];
    const double scale = temperature * kScale;
    const double volume = M_PI / 4.0;
    const double bottom = bottom_packing(2, 400.0 * volume / (32.0 * scale));
    int slices = 0;
    for (std::size_t bin = 0; bin < n.x.size(); ++bin) {
        const double height = n.x[bin] - 0.5;
        const double expected = local_packing(2, bottom, height / scale) / volume;
        if (height < 2.0 || expected < 0.02) continue;
        EXPECT_NEAR(n.values[bin], expected, 0.03 * expected + 4.0 * n.errors[bin]) << "height " << height;
        EXPECT_LT(n.errors[bin], 0.04 * expected) << "height " << height;
        ++slices;
    }
    EXPECT_GE(slices, 12);
    for (std::size_t bin = 0; bin < 6; ++bin) EXPECT_NEAR(t.values[bin], temperature, 4.0 * t.errors[bin]) << bin;
}

/// The theory itself, against stats.json: its numbers are of ten digits and more.
TEST(Atmosphere, TheoryIsThatOfTheReference) {
    for (const json& c : stats()["columns"]) {
        const int d = c["d"];
        const double bottom = bottom_packing(d, c["load"]);
        EXPECT_NEAR(bottom, c["phi_bottom"].get<double>(), 1e-9 * bottom);
        for (std::size_t k = 0; k < c["z_over_ell"].size(); ++k) {
            const double phi = c["phi"][k];
            EXPECT_NEAR(local_packing(d, bottom, c["z_over_ell"][k]), phi, 1e-8 * phi) << d << " " << c["load"];
        }
    }
}

// What is counted of collisions, against the equation of state and kinetic theory. Seeds are fixed; each test says how
// often it would fail by chance.

constexpr double kPathCorrelation = 0.4;

struct Gas {
    int dimension;
    int per_axis;
    double phi;
};

void PrintTo(const Gas& gas, std::ostream* out) {  // NOLINT: GoogleTest's name
    *out << gas.dimension << "D, packing fraction " << gas.phi;
}

double energy_of(EventsEngine& engine) {
    Frame frame;
    engine.frame(frame);
    double energy = 0.0;
    for (int axis = 0; axis < frame.dimension; ++axis) {
        for (const double v : frame.velocity[axis]) energy += 0.5 * v * v;
    }
    return energy;
}

class AveragesOfCollisions : public testing::TestWithParam<Gas> {};
INSTANTIATE_TEST_SUITE_P(Fractions, AveragesOfCollisions,
                         testing::Values(Gas{2, 16, 0.02}, Gas{2, 16, 0.1}, Gas{2, 16, 0.3}, Gas{2, 16, 0.5},
                                         Gas{3, 6, 0.05}, Gas{3, 6, 0.1}, Gas{3, 6, 0.3}, Gas{3, 6, 0.4}));

/// Pressure, collisions and paths of one gas, and that they agree with each other. Each within 4 of its own standard
/// errors (which are known to a fifth) and what the reference is off by: eight gases of eight checks fail once in 200.
TEST_P(AveragesOfCollisions, CompressibilityRateAndPathsAreTheReferences) {
    const auto [d, per_axis, phi] = GetParam();
    const json& reference = fluid(d, phi);
    const double rate = reference["rate_sigma_sqrt_m_kT"];
    AveragedGas run(gas(d, per_axis, phi, 17));
    run.settle(40.0 / rate);
    const auto z = run.watch({.name = "z", .kind = "compressibility"}, 2000);
    const auto stress = run.watch({.name = "s", .kind = "stress"}, 2000);
    const auto pressure = run.watch({.name = "p", .kind = "pressure"}, 2000);
    const auto hits = run.watch({.name = "r", .kind = "collision_rate"}, 2000);
    const auto path = run.watch({.name = "l", .kind = "mean_free_path"}, 2000);
    const auto paths = run.watch({.name = "f", .kind = "free_path", .bins = 40, .max = 8.0 / rate}, 2000);
    const double energy = energy_of(run.engine());
    run.run(1.0 / rate, 1500);
    // Roundings of some 200,000 impulses: one that is 1 % too large would be off by 10^-5.
    EXPECT_NEAR(energy_of(run.engine()) / energy, 1.0, 1e-11);

    const double balls = std::pow(per_axis, d);
    const double expected = compressibility_of(reference, balls);
    const double excess = expected - 1.0;
    const AverageTable measured = run.table(z);
    // 200,000 collisions: (Z - 1) / sqrt(N_c) = 0.2 %, more where they know of each other.
    EXPECT_LT(measured.errors[0], 0.008 * excess) << "it would see 1 in 30";
    EXPECT_NEAR(measured.values[0], expected, 4.0 * measured.errors[0] + 2e-4 * excess);

    // The rate, with the microcanonical factor; and the pressure once more, from it.
    const double freedom = d * (balls - 1.0);
    const AverageTable collisions = run.table(hits);
    const double theory = rate * excess / (reference["Z_ref"].get<double>() - 1.0) * (1.0 + 0.25 / freedom);
    EXPECT_NEAR(collisions.values[0], theory, 4.0 * collisions.errors[0] + 1.5 / balls * theory);

    const AverageTable length = run.table(path);
    const double mean = reference["mfp_over_sigma"];
    EXPECT_NEAR(length.values[0], mean, 4.0 * length.errors[0] + 3.0 / balls * mean);
    EXPECT_LT(length.errors[0], 0.01 * mean);
    EXPECT_NEAR(mean_free_path(d, reference["Z_ref"], 1.0), mean, 1e-9 * mean);

    // Their distribution about this run's own mean is no exponential: at short paths it is higher by a fifth (2D) or a
    // tenth.
    const double own = length.values[0];
    const AverageTable density = run.table(paths);
    double squares = 0.0;
    double told = 0.0;
    double not_exponential = 0.0;
    for (std::size_t bin = 0; bin < 20; ++bin) {
        const double half = 0.5 * 8.0 / rate / 40.0;
        const double at = density.x[bin];
        const double share = (free_path_density(d, (at - half) / own) + 4.0 * free_path_density(d, at / own) +
                              free_path_density(d, (at + half) / own)) /
                             (6.0 * own);
        if (!(density.errors[bin] > 0.0)) continue;
        // Collisions of a dense gas know of each other: theory's own uncertainty grows with phi (measured: 4 % at 0.1
        // for the shortest paths).
        const double scale = std::hypot(density.errors[bin], kPathCorrelation * phi * share);
        squares += std::pow((density.values[bin] - share) / scale, 2);
        not_exponential += std::pow((density.values[bin] - std::exp(-at / own) / own) / scale, 2);
        told += 1.0;
    }
    ASSERT_GE(told, 15.0);
    if (phi <= 0.1) {
        EXPECT_LT(squares / told, 3.0) << "about 1; above 3 once in 10^5 for 15 independent ones";
        if (d == 2) {
            EXPECT_GT(not_exponential, 1.5 * squares) << "an exponential is told from it";
        }
    }

    // A fluid at rest bears no shear, and presses evenly.
    const AverageTable tensor = run.table(stress);
    const double p = run.table(pressure).values[0];
    for (std::size_t k = 0; k < tensor.values.size(); ++k) {
        const bool diagonal = k < static_cast<std::size_t>(d);
        EXPECT_NEAR(tensor.values[k], diagonal ? p : 0.0, 4.0 * tensor.errors[k]) << k;
        EXPECT_GT(tensor.errors[k], 0.0);
        EXPECT_LT(tensor.errors[k], 0.03 * p);
    }
    // The trace is the scalar that the engine has always counted.
    const EventsStatistics statistics = run.engine().statistics();
    double trace = 0.0;
    for (int axis = 0; axis < d; ++axis) trace += statistics.collisional_stress[axis];
    EXPECT_NEAR(trace, statistics.collisional_virial, 1e-12 * statistics.collisional_virial);
}

}  // namespace carom::averages_gas_test
