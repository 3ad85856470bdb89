#include <gtest/gtest.h>

#include <cmath>

#include "kernels/physics/contact_laws.hpp"
#include "tests/contract/examples/hertz_spring.hpp"

namespace carom {
namespace {

/// Every registered law, through the registry, and the example of docs/extending.md.
struct Linear {
    static ContactLaw<double> make(double gamma) {
        return make_contact_law<double>(ContactLawKind::kLinear, 1000.0, gamma, 0.0);
    }
};
struct LinearByRatio {
    static ContactLaw<double> make(double zeta) {
        return make_contact_law<double>(ContactLawKind::kLinear, 1000.0, 0.0, 0.05 * zeta);
    }
};
struct Hertz {
    static examples::HertzSpring<double> make(double gamma) { return {1000.0, gamma}; }
};

template <class Law>
class ContactLawContract : public testing::Test {};
using Laws = testing::Types<Linear, LinearByRatio, Hertz>;
TYPED_TEST_SUITE(ContactLawContract, Laws);

constexpr double kReach = 1.0;
constexpr double kMass = 0.5;

TYPED_TEST(ContactLawContract, ForceIsTheDerivativeOfEnergy) {
    const auto law = TypeParam::make(0.0);
    for (const double overlap : {1e-4, 1e-3, 1e-2, 0.1}) {
        const double step = 1e-4 * overlap;
        const double slope =
            (law.energy(overlap + step, kReach, 0.0) - law.energy(overlap - step, kReach, 0.0)) / (2.0 * step);
        // Central difference: relative error (step/overlap)^2 times a factor of order one, plus rounding eps
        // overlap/step.
        EXPECT_NEAR(slope / law.force(overlap), 1.0, 1e-8 + 4.0 * 2.2e-16 * overlap / step);
    }
}

TYPED_TEST(ContactLawContract, UndampedForceIsTheSameWithAndWithoutARate) {
    const auto law = TypeParam::make(0.0);
    for (const double rate : {-3.0, 0.0, 3.0}) EXPECT_EQ(law.force(0.01, rate, kMass), law.force(0.01));
}

TYPED_TEST(ContactLawContract, NeverPulls) {
    const auto law = TypeParam::make(5.0);
    for (const double overlap : {0.0, 1e-6, 1e-3, 0.1}) {
        for (const double rate : {-1e6, -1.0, 0.0, 1.0}) EXPECT_GE(law.force(overlap, rate, kMass), 0.0);
    }
}

TYPED_TEST(ContactLawContract, DampingPushesMoreWhileApproachingAndLessWhileParting) {
    const auto law = TypeParam::make(5.0);
    const double still = law.force(0.01, 0.0, kMass);
    EXPECT_GT(law.force(0.01, 0.1, kMass), still);
    EXPECT_LT(law.force(0.01, -0.1, kMass), still);
}

TYPED_TEST(ContactLawContract, StoresNoEnergyWithoutOverlap) {
    EXPECT_EQ(TypeParam::make(5.0).energy(0.0, kReach, 0.0), 0.0);
    EXPECT_EQ(TypeParam::make(5.0).force(0.0), 0.0);
}

}  // namespace
}  // namespace carom
