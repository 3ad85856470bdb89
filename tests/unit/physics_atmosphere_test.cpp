#include <gtest/gtest.h>

#include <cmath>

#include "kernels/physics/atmosphere.hpp"
#include "kernels/physics/kinetic_theory.hpp"

namespace carom {
namespace {

TEST(Atmosphere, UnderACeilingHoldsTheBallsThatThereAre) {
    // Simpson's rule: relative error of some (top / steps)^4.
    constexpr int kSteps = 400;
    constexpr double kTolerance = 1e-6;
    for (const int dimension : {2, 3}) {
        for (const double top : {0.01, 0.5, 3.0}) {
            for (const double mean_packing : {0.01, 0.1, 0.25}) {
                const double load = mean_packing * top;
                const double bottom = bottom_packing_below(dimension, load, top);
                double sum = 0.0;
                for (int k = 0; k <= kSteps; ++k) {
                    const double weight = k == 0 || k == kSteps ? 1.0 : (k % 2 == 1 ? 4.0 : 2.0);
                    sum += weight * local_packing(dimension, bottom, top * k / kSteps);
                }
                EXPECT_NEAR(sum * top / (3.0 * kSteps) / load, 1.0, kTolerance) << top << " " << mean_packing;
            }
        }
    }
}

TEST(Atmosphere, UnderACeilingIsThatOfPointParticlesIfTheyAreFew) {
    constexpr double kLoad = 1e-6;  // what balls do to each other is of that order
    for (const double top : {0.1, 1.0, 5.0}) {
        EXPECT_NEAR(bottom_packing_below(3, kLoad * top, top) / (kLoad * top * barometric_density(0.0, top)), 1.0,
                    100.0 * kLoad);
    }
}

TEST(Atmosphere, WithoutACeilingOrUnderAFarOneIsTheOpenOne) {
    EXPECT_EQ(bottom_packing_below(2, 0.3, INFINITY), bottom_packing(2, 0.3));
    EXPECT_NEAR(bottom_packing_below(2, 0.3, 40.0), bottom_packing(2, 0.3), 1e-12);
}

TEST(Atmosphere, WithNearlyNoGravityIsUniform) {
    for (const double top : {1e-12, 1e-6}) EXPECT_NEAR(bottom_packing_below(3, 0.2 * top, top), 0.2, 1e-6);
}

}  // namespace
}  // namespace carom
