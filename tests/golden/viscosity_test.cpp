#include "kernels/physics/viscosity.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace carom {
namespace {

/// As the sources print them: eta / eta_0 = b (1 / y + c + k y), y = b chi = Z - 1; k = 0.8729 for disks (Gass 1971),
/// 0.7614 for spheres (Chapman and Cowling 16.41). These, and that of zeta, have four digits.
TEST(EnskogViscosity, IsThePublishedOne) {
    for (const int d : {2, 3}) {
        const double thin = (d == 2 ? 1.022 / 2.0 : 1.016 * 5.0 / 16.0) / std::sqrt(M_PI);  // sigma = T = m = 1
        for (const double phi : {0.01, 0.1, 0.3, 0.45}) {
            const double y = hard_compressibility(d, phi) - 1.0;
            const double b = (d == 2 ? 2.0 : 4.0) * phi;
            const double chi = contact_value(d, 1.0 + y, phi);
            const double eta = thin * b * (1.0 / y + (d == 2 ? 1.0 : 0.8) + (d == 2 ? 0.8729 : 0.7614) * y);
            EXPECT_NEAR(enskog_viscosity(d, phi, 1.0, chi, 1.0, 1.0), eta, 3e-4 * eta) << d << "D " << phi;
            const double zeta = (d == 2 ? 1.246 : 1.002) * thin * b * y;
            EXPECT_NEAR(enskog_bulk_viscosity(d, phi, 1.0, chi, 1.0, 1.0), zeta, 1e-12) << d << "D " << phi;
        }
    }
}

/// The exact integral for zeta, 8 / (d pi) (b^2 chi) over eta_0 without its higher orders: 16 / (5 pi), 4 / pi.
TEST(EnskogViscosity, HasABulkPartThatIsExactlyKnown) {
    EXPECT_NEAR(1.246 * 1.022, 4.0 / M_PI, 5e-4);
    const double disks = enskog_bulk_viscosity(2, 0.1, 1.0, 1.0, 1.0, 1.0) * std::sqrt(M_PI) / (0.2 * 0.2);
    EXPECT_NEAR(disks, 2.0 / M_PI, 5e-4);
    const double spheres = enskog_bulk_viscosity(3, 0.1, 1.0, 1.0, 1.0, 1.0) * std::sqrt(M_PI) / (0.4 * 0.4);
    EXPECT_NEAR(spheres, 5.0 / 16.0 * 16.0 / (5.0 * M_PI), 5e-4);
}

/// Of a thin gas it does not depend on density, and grows as the root of temperature and of mass.
TEST(EnskogViscosity, OfAThinGasGrowsAsTheRootOfTemperature) {
    EXPECT_NEAR(enskog_viscosity(2, 1e-9, 2.0, 1.0, 4.0, 9.0), 1.022 * 6.0 / 4.0 / std::sqrt(M_PI), 1e-7);
    EXPECT_NEAR(enskog_viscosity(3, 1e-9, 2.0, 1.0, 4.0, 9.0), 1.016 * 5.0 * 6.0 / 64.0 / std::sqrt(M_PI), 1e-7);
}

/// Thin spheres: eta and lambda are all of it, 2 (d - 1) / d eta / rho and (gamma - 1) lambda / (n c_p), and
/// lambda = 15/4 eta but for the higher orders.
TEST(SoundAttenuation, OfThinSpheresIsThatOfAnIdealGas) {
    const double phi = 1e-6;
    const double n = phi / (M_PI / 6.0);
    const double eta = 1.016 * 5.0 / 16.0 / std::sqrt(M_PI);
    const double lambda = 1.02513 / 1.016 * 15.0 / 4.0 * eta;
    const double expected = 0.5 * (4.0 / 3.0 * eta + lambda * (2.0 / 3.0 - 2.0 / 5.0)) / n;
    EXPECT_NEAR(sound_attenuation(3, phi, 1.0, 1.0, 1.0), expected, 1e-4 * expected);
    // Length times speed.
    EXPECT_NEAR(sound_attenuation(3, phi, 2.0, 4.0, 16.0), expected, 1e-4 * expected);
}

}  // namespace
}  // namespace carom
