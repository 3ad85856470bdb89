// What is counted of collisions, against the equation of state and kinetic theory. Seeds are fixed; each test says how
// often it would fail by chance.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "kernels/physics/equation_of_state.hpp"
#include "kernels/physics/kinetic_theory.hpp"
#include "tests/support/averaged_gas.hpp"
#include "tests/support/events_gas.hpp"
#include "tests/support/gas_reference.hpp"

namespace carom {
namespace {

using namespace test;
using nlohmann::json;

/// Balls of diameter 1, periodic, T = 1 without the momentum's degrees of freedom.
EventsScene gas(int dimension, int per_axis, double phi) {
    const double volume = std::pow(per_axis, dimension) * (dimension == 2 ? M_PI / 4.0 : M_PI / 6.0) / phi;
    return lattice_gas(dimension, per_axis, std::pow(volume, 1.0 / dimension), Face::kPeriodic, 0.5, 17);
}

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
    AveragedGas run(gas(d, per_axis, phi));
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

}  // namespace
}  // namespace carom
