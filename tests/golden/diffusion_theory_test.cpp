#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "kernels/physics/diffusion.hpp"
#include "kernels/physics/equation_of_state.hpp"
#include "tests/support/gas_reference.hpp"

namespace carom {
namespace {

using test::stats;

TEST(EnskogDiffusion, IsThatOfTheReference) {
    for (const int d : {2, 3}) {
        for (const nlohmann::json& row : stats()[d == 2 ? "eos2d" : "eos3d"]) {
            const double phi = row["phi"];
            const double n = phi / (d == 2 ? M_PI / 4.0 : M_PI / 6.0);
            const double chi = contact_value(d, row["Z_ref"], phi);
            EXPECT_NEAR(chi, row["chi_ref"].get<double>(), 1e-9 * chi);
            const double expected = row[d == 2 ? "D_enskog" : "D_enskog_full"];
            // The reference's factor for the higher Sonine orders has a digit more than ours.
            EXPECT_NEAR(enskog_diffusion(d, n, 1.0, chi, 1.0, 1.0), expected, (d == 2 ? 1e-9 : 1e-5) * expected);
            // sigma sqrt(T / m) has its dimension.
            EXPECT_NEAR(enskog_diffusion(d, n / std::pow(2.0, d), 2.0, chi, 8.0, 2.0), 4.0 * expected,
                        (d == 2 ? 1e-9 : 1e-5) * 4.0 * expected);
        }
    }
}

TEST(EnskogDiffusion, FollowsFromItsAutocorrelationByGreenAndKubo) {
    const double t = 0.7, m = 3.0, d = 0.4;
    double integral = 0.0;
    constexpr double kStep = 1e-4;
    for (int k = 0; k < 500000; ++k) integral += kStep * exponential_autocorrelation((k + 0.5) * kStep, t, m, d);
    EXPECT_NEAR(integral, d, 1e-6);
    for (const int dimension : {2, 3}) {
        EXPECT_NEAR(exponential_displacement(dimension, 1e-4, t, m, d), dimension * t / m * 1e-8, 1e-12);
        const double late = exponential_displacement(dimension, 1e3, t, m, d);
        const double later = exponential_displacement(dimension, 2e3, t, m, d);
        EXPECT_NEAR((later - late) / 1e3, 2.0 * dimension * d, 1e-9);
    }
}

TEST(SimpleEquationsOfState, AreThoseOfTheReference) {
    for (const nlohmann::json& row : stats()["eos2d"]) {
        EXPECT_NEAR(henderson_compressibility(row["phi"]), row["Z_henderson"].get<double>(), 1e-12 * 10.0);
    }
    for (const nlohmann::json& row : stats()["eos3d"]) {
        EXPECT_NEAR(carnahan_starling_compressibility(row["phi"]), row["Z_carnahan_starling"].get<double>(), 1e-11);
    }
}

}  // namespace
}  // namespace carom
