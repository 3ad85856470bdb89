#include "kernels/physics/heat_conduction.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/physics/equation_of_state.hpp"
#include "kernels/physics/pair_distribution.hpp"

namespace carom {
namespace {

/// As the sources print it: lambda / lambda_0 = b (1 / y + c + k y), y = b chi = Z - 1; k = 0.8718 for disks (Gass
/// 1971), 0.7574 for spheres (Chapman and Cowling 16.4). Both have four digits.
TEST(EnskogConductivity, IsThePublishedOne) {
    for (const int d : {2, 3}) {
        const double thin =
            d == 2 ? 1.0292 * 2.0 / std::sqrt(M_PI) : 1.02513 * 75.0 / 64.0 / std::sqrt(M_PI);  // sigma = T = m = 1
        for (const double phi : {0.01, 0.1, 0.3, 0.45}) {
            const double y = hard_compressibility(d, phi) - 1.0;
            const double b = (d == 2 ? 2.0 : 4.0) * phi;
            const double expected = thin * b * (1.0 / y + (d == 2 ? 1.5 : 1.2) + (d == 2 ? 0.8718 : 0.7574) * y);
            const double chi = contact_value(d, 1.0 + y, phi);
            EXPECT_NEAR(enskog_conductivity(d, phi, 1.0, chi, 1.0, 1.0), expected, 2e-4 * expected) << d << "D " << phi;
        }
    }
}

/// Of a thin gas it does not depend on density, and grows as the root of the temperature.
TEST(EnskogConductivity, OfAThinGasGrowsAsTheRootOfTemperature) {
    EXPECT_NEAR(enskog_conductivity(2, 1e-9, 2.0, 1.0, 4.0, 1.0), 1.0292 * 2.0 / std::sqrt(M_PI), 1e-8);
    EXPECT_NEAR(enskog_conductivity(3, 1e-9, 2.0, 1.0, 4.0, 16.0), 1.02513 * 75.0 / 512.0 / std::sqrt(M_PI), 1e-8);
}

}  // namespace
}  // namespace carom
