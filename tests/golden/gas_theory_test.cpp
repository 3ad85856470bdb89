#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "kernels/physics/equation_of_state.hpp"
#include "kernels/physics/kinetic_theory.hpp"
#include "tests/support/gas_reference.hpp"

// The theory of gases in kernels/physics against references of high precision (stats.json).

namespace carom {
namespace {

using test::stats;

TEST(HardCompressibility, IsThatOfTheVirialSeries) {
    for (const int dimension : {2, 3}) {
        int rows = 0;
        for (const nlohmann::json& row : stats()[dimension == 2 ? "eos2d" : "eos3d"]) {
            const double phi = row["phi"];
            if (phi > (dimension == 2 ? 0.6 : 0.45)) continue;
            const double reference = row["Z_ref"];
            EXPECT_NEAR(hard_compressibility(dimension, phi), reference,
                        compressibility_uncertainty(dimension) * (reference - 1.0) + 1e-6)
                << dimension << "D, phi = " << phi;
            ++rows;
        }
        EXPECT_GE(rows, 5);
    }
}

TEST(DiskCompressibility, IsThatOfKolafaAndRottnerUpToWhereDisksFreeze) {
    const std::vector<std::pair<double, double>> published{
        {0.1, 1.23614}, {0.3, 2.06326}, {0.5, 4.10636}, {0.6, 6.45534}, {0.65, 8.40804}};
    for (const auto& [phi, z] : published) EXPECT_NEAR(disk_compressibility(phi), z, 6e-6) << phi;
    // Their simulations, by n sigma^2, and the standard errors.
    const double kQuarterPi = std::atan(1.0);
    EXPECT_NEAR(disk_compressibility(0.60 * kQuarterPi), 3.663691, 4.0 * 12e-6);
    EXPECT_NEAR(disk_compressibility(0.80 * kQuarterPi), 7.476491, 4.0 * 36e-6);
    EXPECT_NEAR(disk_compressibility(0.85 * kQuarterPi), 9.245785, 4.0 * 72e-6);
    EXPECT_NEAR(disk_compressibility(0.69), 10.20, 0.005) << "the bend before they freeze";
}

/// T V^(gamma - 1) stays what it is, with gamma = 1 + 2 / d.
TEST(AdiabaticHeating, OfAThinGasHasTheIdealExponent) {
    EXPECT_NEAR(adiabatic_heating(2, 1e-9, 2e-9), 2.0, 1e-7);
    EXPECT_NEAR(adiabatic_heating(3, 1e-9, 8e-9), 4.0, 1e-7);
    EXPECT_NEAR(adiabatic_heating(3, 8e-9, 1e-9), 0.25, 1e-7);
}

TEST(AdiabaticHeating, DoesNotDependOnTheWay) {
    for (const int d : {2, 3}) {
        const double whole = adiabatic_heating(d, 0.1, 0.4);
        EXPECT_NEAR(adiabatic_heating(d, 0.1, 0.25) * adiabatic_heating(d, 0.25, 0.4), whole, 1e-6 * whole);
        EXPECT_GT(whole, std::pow(4.0, 2.0 / d) * 1.5) << "hard balls are stiffer";
    }
}

/// Slow work without heat is paid by the temperature: d/2 ln T'/T is the change of the free energy over T.
TEST(ExcessFreeEnergy, IsWhatHeatsBeyondAnIdealGas) {
    for (const int d : {2, 3}) {
        const double change = excess_free_energy(d, 0.4) - excess_free_energy(d, 0.1);
        EXPECT_NEAR(0.5 * d * std::log(adiabatic_heating(d, 0.1, 0.4)), std::log(4.0) + change, 1e-3 * change);
        EXPECT_NEAR(excess_free_energy(d, 1e-6), (d == 2 ? 2.0 : 4.0) * 1e-6, 1e-10) << "the second virial coefficient";
    }
}

/// Balls that stand beyond a wall, over all depths to a diameter: the share of a circle or
/// sphere of radius 1 that lies beyond a plane at depth z, integrated over z.
TEST(ExcessLostToWalls, IsTheShareOfExclusionBeyondThem) {
    constexpr int kDepths = 2000;
    for (const int d : {2, 3}) {
        double sum = 0.0;
        for (int k = 0; k < kDepths; ++k) {
            const double z = (k + 0.5) / kDepths;
            const double beyond =
                d == 2 ? (std::acos(z) - z * std::sqrt(1.0 - z * z)) / M_PI : 0.25 * (1.0 - z) * (1.0 - z) * (2.0 + z);
            sum += beyond / kDepths;
        }
        EXPECT_NEAR(excess_lost_to_walls(d, 1.0), sum, 1e-6);
    }
}

/// c^2 = dp / d(rho) without heat, p = phi Z T.
TEST(AdiabaticHeating, GoesWithTheSpeedOfSound) {
    for (const int d : {2, 3}) {
        const double phi = 0.2;
        const double step = 1e-4;
        const auto pressure = [&](double at) {
            return at * hard_compressibility(d, at) * adiabatic_heating(d, phi, at);
        };
        const double slope = (pressure(phi + step) - pressure(phi - step)) / (2.0 * step);
        EXPECT_NEAR(std::sqrt(slope), sound_speed(d, phi), 1e-5);
    }
}

TEST(CollisionRate, IsThatOfTheReference) {
    for (const int dimension : {2, 3}) {
        for (const nlohmann::json& row : stats()[dimension == 2 ? "eos2d" : "eos3d"]) {
            const double rate = row["rate_sigma_sqrt_m_kT"];
            EXPECT_NEAR(collision_rate(dimension, row["Z_ref"], 1.0, 1.0, 1.0), rate, 1e-9 * rate);
            // Faster by sqrt(T / m) / sigma.
            EXPECT_NEAR(collision_rate(dimension, row["Z_ref"], 8.0, 2.0, 0.5), 4.0 * rate, 1e-8 * rate);
        }
    }
}

TEST(MaxwellSpeeds, AreThoseOfTheReference) {
    const nlohmann::json& maxwell = stats()["maxwell"];
    for (std::size_t k = 0; k < maxwell["v_over_sqrt_kT_m"].size(); ++k) {
        const double v = maxwell["v_over_sqrt_kT_m"][k];
        EXPECT_NEAR(maxwell_speed_share(2, v), maxwell["cdf2d"][k].get<double>(), 1e-14);
        EXPECT_NEAR(maxwell_speed_share(3, v), maxwell["cdf3d"][k].get<double>(), 1e-14);
        EXPECT_NEAR(maxwell_speed_density(2, v), maxwell["pdf2d"][k].get<double>(), 1e-14);
        EXPECT_NEAR(maxwell_speed_density(3, v), maxwell["pdf3d"][k].get<double>(), 1e-14);
    }
}

TEST(KolmogorovDistance, IsSmallForMaxwellSpeedsAndLargeForOthers) {
    constexpr std::size_t kCount = 20000;
    std::vector<double> right(kCount);
    std::vector<double> hot(kCount);
    for (std::size_t k = 0; k < kCount; ++k) {
        // Quantiles in 2D: the distance of n of them at the middles of their shares is 1 / (2 n).
        right[k] = std::sqrt(-2.0 * std::log1p(-(static_cast<double>(k) + 0.5) / kCount));
        hot[k] = 1.05 * right[k];
    }
    EXPECT_NEAR(kolmogorov_distance(2, right), 0.5 / kCount, 1e-9);
    EXPECT_GT(kolmogorov_distance(2, hot), kolmogorov_limit(kCount));
    EXPECT_GT(kolmogorov_distance(3, right), kolmogorov_limit(kCount));
}

TEST(SoftDiameter, TakesOffTheIntegralOfTheBoltzmannFactor) {
    constexpr double kTemperature = 0.7;
    constexpr double kStiffness = 900.0;
    constexpr int kParts = 100000;
    constexpr double kFar = 0.5;  // some 18 thermal lengths
    double sum = 0.0;
    for (int k = 0; k < kParts; ++k) {
        const double x = kFar * (k + 0.5) / kParts;
        sum += std::exp(-0.5 * kStiffness * x * x / kTemperature) * kFar / kParts;
    }
    EXPECT_NEAR(soft_diameter_loss(kTemperature, kStiffness), sum, 1e-9 * sum);
}

}  // namespace
}  // namespace carom
