#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "host/run/solver_plan.hpp"
#include "host/scene/load.hpp"
#include "host/scene/place.hpp"
#include "kernels/physics/contact_laws.hpp"
#include "tests/contract/examples/series_spring.hpp"
#include "tests/support/kinds.hpp"

namespace carom::contact_law_test {

constexpr double kReach = 1.0;   // of a pair [length]
constexpr double kMass = 0.5;    // reduced
constexpr double kSpeed = 0.25;  // of approach
constexpr double kStiffness = 1000.0;

/// Every registered law, and the example of docs/extending.md.
using Laws = ContactLaws::And<examples::SeriesSpring>;
using Law = ContactLaw<double, Laws>;
using Contact = SoftContactOf<Laws>;

class ContactLawContract : public testing::TestWithParam<Kind> {
protected:
    [[nodiscard]] Contact contact(double damping_ratio = 0.0) const {
        const KindValues own = test::example_values(GetParam().keys, 3, kTermKeys);
        return {contact_law_called<Laws>(GetParam().name, own), kStiffness, 0.0, damping_ratio};
    }
};

struct Outcome {
    double restitution;
    double duration;
    double deepest;
};

/// A contact in steps of the classical Runge and Kutta, until nothing pushes any more.
Outcome collide(const Contact& contact, double speed, double mass) {
    const Law law = contact.law<double>();
    const double step = 1e-4 * contact.duration(speed, mass);
    const auto pull = [&](double x, double v) { return x > 0.0 ? -law.force(x, v, mass) / mass : 0.0; };
    double x = 0.0;
    double v = speed;
    double deepest = 0.0;
    for (int count = 1;; ++count) {
        const double k1 = pull(x, v);
        const double k2 = pull(x + 0.5 * step * v, v + 0.5 * step * k1);
        const double k3 = pull(x + 0.5 * step * v + 0.25 * step * step * k1, v + 0.5 * step * k2);
        const double k4 = pull(x + step * v + 0.5 * step * step * k2, v + step * k3);
        x += step * v + step * step / 6.0 * (k1 + k2 + k3);
        v += step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        deepest = std::max(deepest, x);
        if (v < 0.0 && pull(x, v) == 0.0) return {-v / speed, step * count, deepest};
        EXPECT_LT(count, 1'000'000);
        if (count >= 1'000'000) return {};
    }
}

TEST_P(ContactLawContract, ForceIsTheDerivativeOfEnergy) {
    const Law law = contact().law<double>();
    for (const double epsilon : {0.0, 1e-9}) {
        for (const double overlap : {1e-4, 1e-3, 1e-2, 0.1}) {
            const double step = 1e-4 * overlap;
            const double slope =
                (law.energy(overlap + step, kReach, epsilon) - law.energy(overlap - step, kReach, epsilon)) /
                (2.0 * step);
            // Central difference: relative error (step/overlap)^2 times a factor of order one, plus rounding eps
            // overlap/step. distance_epsilon takes less than 2e-9 of the force off.
            EXPECT_NEAR(slope / law.force(overlap), 1.0, 1e-8 + 4.0 * 2.2e-16 * overlap / step + 2.0 * epsilon);
        }
    }
}

TEST_P(ContactLawContract, DistanceEpsilonTakesItsPartOffTheEnergy) {
    // The force acts along r / (r + epsilon), r + epsilon = reach - overlap: to first order in epsilon its integral.
    const Law law = contact().law<double>();
    constexpr double kEpsilon = 1e-3;
    constexpr double kOverlap = 0.01;
    constexpr int kIntervals = 100'000;
    double lost = 0.0;
    for (int k = 0; k < kIntervals; ++k) {
        const double s = (k + 0.5) * kOverlap / kIntervals;
        lost += law.force(s) * kEpsilon / (kReach - s) * kOverlap / kIntervals;
    }
    EXPECT_NEAR((law.energy(kOverlap, kReach, 0.0) - law.energy(kOverlap, kReach, kEpsilon)) / lost, 1.0, 1e-6);
}

TEST_P(ContactLawContract, UndampedForceIsTheSameWithAndWithoutARate) {
    const Law law = contact().law<double>();
    for (const double rate : {-3.0, 0.0, 3.0}) EXPECT_EQ(law.force(0.01, rate, kMass), law.force(0.01));
}

TEST_P(ContactLawContract, NeverPulls) {
    const Law law = contact(0.3).law<double>();
    for (const double overlap : {0.0, 1e-6, 1e-3, 0.1}) {
        for (const double rate : {-1e6, -1.0, 0.0, 1.0}) EXPECT_GE(law.force(overlap, rate, kMass), 0.0);
    }
}

TEST_P(ContactLawContract, DampingPushesMoreWhileApproachingAndLessWhileParting) {
    const Law law = contact(0.3).law<double>();
    const double still = law.force(0.01, 0.0, kMass);
    EXPECT_GT(law.force(0.01, 0.1, kMass), still);
    EXPECT_LT(law.force(0.01, -0.1, kMass), still);
}

TEST_P(ContactLawContract, StoresNoEnergyWithoutOverlap) {
    EXPECT_EQ(contact(0.3).law<double>().energy(0.0, kReach, 0.0), 0.0);
    EXPECT_EQ(contact(0.3).law<double>().force(0.0), 0.0);
}

TEST_P(ContactLawContract, AContactIsAsDeepAsItsEnergyTakesIt) {
    const double deepest = contact().largest_overlap(kSpeed, kMass);
    EXPECT_NEAR(contact().law<double>().energy(deepest, kReach, 0.0), 0.5 * kMass * kSpeed * kSpeed, 1e-14);
    EXPECT_NEAR(contact().stiffness_for(deepest, kSpeed, kMass) / kStiffness, 1.0, 1e-13);
}

TEST_P(ContactLawContract, RestitutionIsThatOfItsDampingRatioWhateverTheSpeedAndTheMass) {
    for (const double e : {0.99, 0.8, 0.5, 0.2, 0.05}) {
        const Contact damped = contact(contact().damping_ratio(e));
        for (const double speed : {0.01, 1.0}) {
            for (const double mass : {0.1, 3.0}) {
                // The force begins with a kink or a jump, where a step is of first order: 1e-4 of the duration.
                EXPECT_NEAR(collide(damped, speed, mass).restitution, e, 2e-4) << speed << " " << mass;
            }
        }
    }
    EXPECT_EQ(contact().damping_ratio(1.0), 0.0);
}

TEST_P(ContactLawContract, LastsAsLongAsItSays) {
    for (const double zeta : {0.0, 0.003, 0.1, 0.7, 1.0, 2.0}) {
        const double told = contact(zeta).duration(kSpeed, kMass);
        EXPECT_NEAR(collide(contact(zeta), kSpeed, kMass).duration / told, 1.0, 5e-4) << zeta;
    }
}

TEST_P(ContactLawContract, SlopeIsTheChangeOfTheForceWithTheOverlap) {
    const Contact damped = contact(0.3);
    const Law law = damped.law<double>();
    for (const double overlap : {1e-4, 1e-2}) {
        constexpr double kStep = 1e-8;
        const double change = (law.force(overlap + kStep, 0.1, kMass) - law.force(overlap - kStep, 0.1, kMass)) / kStep;
        EXPECT_NEAR(0.5 * change / damped.slope(overlap, 0.1, kMass), 1.0, 1e-5);
    }
}

TEST_P(ContactLawContract, NoForceExceedsTheStrongest) {
    for (const double zeta : {0.0, 0.3, 4.0}) {
        const Law law = contact(zeta).law<double>();
        for (const double overlap : {1e-9, 1e-3, 0.1}) {
            for (const double rate : {0.0, 1.0, 10.0}) {
                const double most = contact(zeta).strongest_force(0.1, 1.0, kMass);
                EXPECT_LE(law.force(overlap, rate, kMass), most * (1.0 + 1e-12));
            }
        }
    }
}

TEST_P(ContactLawContract, OverlapsAndDurationsGoAsStiffnessToMinusTheSoftness) {
    Contact stiffer = contact(0.1);
    stiffer.terms.stiffness *= 16.0;
    const double expected = std::pow(16.0, -stiffer.softness());
    EXPECT_NEAR(stiffer.duration(kSpeed, kMass) / contact(0.1).duration(kSpeed, kMass), expected, 1e-12);
    EXPECT_NEAR(stiffer.largest_overlap(kSpeed, kMass) / contact(0.1).largest_overlap(kSpeed, kMass), expected, 1e-12);
}

TEST_P(ContactLawContract, SoftDiameterLossIsBarkersAndHendersonsIntegral) {
    constexpr double kTemperature = 0.7;
    const Law law = contact().law<double>();
    const double loss = contact().soft_diameter_loss(kTemperature);
    constexpr int kIntervals = 200'000;
    double sum = 0.0;
    double energy = 0.0;  // held by a contact, times that
    for (int k = 0; k < kIntervals; ++k) {
        const double s = (k + 0.5) * 8.0 * loss / kIntervals;
        const double u = law.energy(s, kReach, 0.0);
        sum += std::exp(-u / kTemperature) * 8.0 * loss / kIntervals;
        energy += u * std::exp(-u / kTemperature) * 8.0 * loss / kIntervals;
    }
    EXPECT_NEAR(sum / loss, 1.0, 1e-7);
    EXPECT_NEAR(energy / sum, contact().softness() * kTemperature, 1e-6);
}

/// What follows is a scene's, from its text to the state: of each registered law.
class ContactLawInAScene : public testing::TestWithParam<Kind> {};

constexpr const char* kScene = R"(
[scene]
dimension = 3
[box]
size = [20.0, 20.0, 20.0]
[physics]
restitution = 0.7
wall_restitution = 0.4
[run]
precision = "double"
backend = "cpu"
until = 1.0
[[species]]
name = "light"
radius = 0.5
mass = 1.0
[[species]]
name = "heavy"
radius = 0.7
mass = 5.0
[[ball]]
species = "light"
position = [4.0, 4.0, 4.0]
velocity = [0.1, 0.0, 0.0]
[[ball]]
species = "light"
position = [5.02, 4.0, 4.0]
[[ball]]
species = "light"
position = [4.0, 10.0, 10.0]
velocity = [0.0, 2.0, 0.0]
[[ball]]
species = "heavy"
position = [4.0, 11.5, 10.0]
[[ball]]
species = "heavy"
position = [14.0, 0.9, 14.0]
velocity = [0.0, -1.0, 0.0]
)";

std::string scene_with(std::string_view law) {
    return std::string(kScene) + "[spring]\nlaw = \"" + std::string(law) + "\"\n" +
           test::required_lines("spring", law, 3).at(0);
}

/// The balls of a scene under a law, ready to run.
test::Gas gas_of(std::string_view law, const std::vector<std::string>& overrides = {}) {
    const Scene scene = parse_scene(scene_with(law), "test.toml", overrides);
    const Balls balls = make_balls(scene);
    test::Gas gas;
    gas.setup = spring_setup(scene, design_spring(scene, balls), 1);
    for (std::size_t id = 0; id < balls.size(); ++id) {
        const auto of = [&](const auto& values) { return std::array{values[0][id], values[1][id], values[2][id]}; };
        gas.add(of(balls.position), of(balls.velocity), balls.species_of(id).radius, 1.0 / balls.species_of(id).mass);
    }
    return gas;
}

std::uint64_t steps_to(const test::Gas& gas, double time) {
    return static_cast<std::uint64_t>(std::llround(time / gas.setup.dt));
}

TEST_P(ContactLawInAScene, GivesBallsAndWallsOfASceneTheirRestitution) {
    test::Gas gas = gas_of(GetParam().name);
    gas.setup.dt /= 16.0;
    const test::Gas end = test::run({"cpu1", 1}, gas, steps_to(gas, 1.0)).frame;
    // The dashpot's force begins within a step: zeta h, and that is below 0.3 * (pi / 50) / 16.
    constexpr double kTolerance = 1.2e-3;
    EXPECT_NEAR((end.velocity[0][1] - end.velocity[0][0]) / 0.1, 0.7, kTolerance);
    EXPECT_NEAR((end.velocity[1][3] - end.velocity[1][2]) / 2.0, 0.7, kTolerance);
    EXPECT_NEAR(end.velocity[1][4], 0.4, kTolerance);
}

TEST_P(ContactLawInAScene, HasTheSameBitsOnEachProcessor) {
    for (const bool twice : {false, true}) {
        for (const double restitution : {1.0, 0.7}) {
            test::Gas gas = gas_of(GetParam().name, {"physics.restitution=" + std::to_string(restitution),
                                                     "physics.wall_restitution=" + std::to_string(restitution)});
            gas.setup.double_precision = twice;
            const test::Seen expected = test::run({"cpu1", 1}, gas, steps_to(gas, 1.0));
            for (const test::Processor& processor : test::processors()) {
                if (!test::missing(processor).empty()) continue;
                EXPECT_TRUE(test::same_bits(expected, test::run(processor, gas, steps_to(gas, 1.0)))) << processor.name;
            }
        }
    }
}

/// Largest error of the total energy in two collisions of balls and one with a wall, relative.
double energy_error(test::Gas gas, double finer) {
    gas.setup.dt /= finer;
    auto engine = test::make_engine({"cpu1", 1}, gas);
    const auto energy = [&] { return engine->totals().kinetic + engine->totals().spring; };
    const double start = energy();
    double worst = 0.0;
    double stored = 0.0;
    while (engine->step() < steps_to(gas, 1.0)) {
        engine->advance(1);
        worst = std::max(worst, std::abs(energy() / start - 1.0));
        stored = std::max(stored, engine->totals().spring / start);
    }
    EXPECT_GT(stored, 0.1) << "contacts hold no energy";
    return worst;
}

TEST_P(ContactLawInAScene, WithoutDampingASceneKeepsItsEnergyToSecondOrder) {
    const test::Gas gas = gas_of(GetParam().name, {"physics.restitution=1", "physics.wall_restitution=1"});
    // A velocity at the time of the position is off by up to h^2 / 8 of what changes in a contact; h = pi / 50.
    const double coarse = energy_error(gas, 1.0);
    EXPECT_LT(coarse, 2e-3);
    const double order = std::log2(coarse / energy_error(gas, 4.0)) / 2.0;
    EXPECT_GT(order, 1.8);
    EXPECT_LT(order, 2.6);
}

TEST_P(ContactLawInAScene, IsTheSameForTheProgramAndOnEachProcessor) {
    test::expect_same_run(scene_with(GetParam().name));
}

TEST(ContactLaws, DifferInWhatBecomesOfAScene) {
    std::set<std::uint64_t> hashes;
    for (const Kind& law : ContactLaws::kKinds) {
        const test::Gas gas = gas_of(law.name);
        hashes.insert(test::hash_state(test::run({"cpu1", 1}, gas, steps_to(gas, 1.0)).raw));
    }
    EXPECT_EQ(hashes.size(), ContactLaws::kKinds.size());
}

INSTANTIATE_TEST_SUITE_P(All, ContactLawContract, testing::ValuesIn(Laws::kKinds),
                         [](const auto& law) { return std::string(law.param.name); });
INSTANTIATE_TEST_SUITE_P(Registered, ContactLawInAScene, testing::ValuesIn(ContactLaws::kKinds),
                         [](const auto& law) { return std::string(law.param.name); });

}  // namespace carom::contact_law_test
