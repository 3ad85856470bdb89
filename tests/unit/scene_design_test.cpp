#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "host/scene/design.hpp"
#include "host/scene/load.hpp"
#include "host/scene/place.hpp"
#include "kernels/physics/restitution.hpp"

namespace carom::scene_design_test {

struct Designed {
    Scene scene;
    MeasuredBalls balls;
    SpringDesign design;
};

Designed designed(const std::string& text, const std::vector<std::string>& overrides = {}) {
    Designed result{.scene = parse_scene(text, "design.toml", overrides)};
    result.balls = measure_balls(result.scene, make_balls(result.scene));
    result.design = design_spring(result.scene, result.balls);
    return result;
}

constexpr const char* kGas = R"(
[scene]
dimension = 2
[box]
size = [50.0, 50.0]
boundary = ["periodic", "periodic"]
[run]
until = 2.0
[[fill]]
radius = 0.5
mass = 2.0
count = 100
temperature = 8.0
)";

TEST(Design, OfAGasIsTheOneByHand) {
    const SpringDesign design = designed(kGas).design;
    EXPECT_DOUBLE_EQ(design.thermal_speed, 2.0);  // sqrt(8 / 2)
    EXPECT_DOUBLE_EQ(design.design_speed, 10.0);
    EXPECT_DOUBLE_EQ(design.stiffness, 1.0 * std::pow(20.0 / (0.01 * 0.5), 2));  // m_e = 1, two at 10
    EXPECT_DOUBLE_EQ(design.wall_stiffness, design.stiffness);
    EXPECT_EQ(design.damping, 0.0);
    EXPECT_EQ(design.damping_ratio, 0.0);
    EXPECT_DOUBLE_EQ(design.contact_duration, M_PI / std::sqrt(design.stiffness));
    EXPECT_DOUBLE_EQ(design.dt, design.contact_duration / 50.0);
    EXPECT_DOUBLE_EQ(design.phase_step, M_PI / 50.0);
    EXPECT_EQ(design.steps, static_cast<std::uint64_t>(std::llround(2.0 / design.dt)));
    EXPECT_NEAR(design.rms_speed, std::sqrt(2.0 * 8.0 / 2.0), 1e-12);
    EXPECT_DOUBLE_EQ(design.packing_fraction, 100.0 * M_PI / 4.0 / 2500.0);
    EXPECT_EQ(design.size_ratio, 1.0);
}

TEST(Design, GivenNumbersStay) {
    const SpringDesign design =
        designed(kGas, {"spring.stiffness=1e4", "spring.wall_stiffness=2e4", "spring.damping=3", "spring.dt=1e-3"})
            .design;
    EXPECT_EQ(design.stiffness, 1e4);
    EXPECT_EQ(design.wall_stiffness, 2e4);
    EXPECT_EQ(design.damping, 3.0);
    EXPECT_EQ(design.damping_ratio, 0.0);
    EXPECT_EQ(design.dt, 1e-3);
    EXPECT_EQ(design.steps, 2000u);
    // zeta = 3 / (2 sqrt(1e4)) = 0.015
    EXPECT_DOUBLE_EQ(design.contact_duration, contact_duration(1e4, 1.0, 0.015));
}

TEST(Design, SpeedIsThatOfTheFastestBallOrOfAFall) {
    const std::string text =
        "[scene]\ndimension = 2\n[box]\nsize = [4.0, 5.0]\n"
        "[[ball]]\nradius = 0.5\nmass = 1.0\nposition = [2.0, 2.0]\nvelocity = [3.0, 4.0]\n";
    EXPECT_DOUBLE_EQ(designed(text).design.design_speed, 5.0);
    EXPECT_DOUBLE_EQ(designed(text, {"physics.gravity=[0, -10]"}).design.design_speed, 10.0);  // sqrt(2 * 10 * 5)
    EXPECT_DOUBLE_EQ(designed(text, {"physics.gravity=[0, -10]"}).design.stiffness, std::pow(10.0 / 0.005, 2))
        << "only walls: m_e = m, once the speed";
}

TEST(Design, TakesTheWorstPairOfSpeciesAndTheLightestForTheStep) {
    const Designed both = designed(R"(
[scene]
dimension = 3
[box]
size = [50.0, 50.0, 50.0]
boundary = ["periodic", "periodic", "periodic"]
[[ball]]
radius = 2.0
mass = 8.0
position = [10.0, 10.0, 10.0]
velocity = [2.0, 0.0, 0.0]
[[ball]]
radius = 2.0
mass = inf
position = [30.0, 10.0, 10.0]
[[ball]]
radius = 0.5
mass = 2.0
position = [10.0, 30.0, 10.0]
)");
    // Pairs: 8 with inf (m_e = 8, g = 2, r = 2), 8 with 2 (1.6, 4, 0.5), 2 with inf (2, 2, 0.5)
    EXPECT_DOUBLE_EQ(both.design.stiffness, 1.6 * std::pow(4.0 / (0.01 * 0.5), 2));
    EXPECT_DOUBLE_EQ(both.design.contact_duration, M_PI * std::sqrt(1.6 / both.design.stiffness));
    EXPECT_DOUBLE_EQ(both.design.size_ratio, 4.0);
}

TEST(Design, StepIsBoundByTheFastestMoveWhereNothingTouches) {
    const SpringDesign design =
        designed(
            "[scene]\ndimension = 2\n[box]\nsize = [4.0, 5.0]\nboundary = [\"open\", \"open\"]\n"
            "[[ball]]\nradius = 0.5\nmass = 1.0\nposition = [2.0, 2.0]\nvelocity = [3.0, 4.0]\n")
            .design;
    EXPECT_EQ(design.contact_duration, 0.0);
    EXPECT_DOUBLE_EQ(design.dt, 0.1 * 0.5 / 5.0);
}

TEST(Design, WorstContactsAreThoseOfAllPairs) {
    // Against a look at every pair, for species of every kind; sums and products of doubles grow with their terms, so
    // equality is of bits.
    std::mt19937_64 random(1);
    const auto draw = [&random](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    for (int scene = 0; scene < 500; ++scene) {
        std::vector<PresentSpecies> species(1 + random() % 6);
        for (PresentSpecies& one : species) {
            one.radius = random() % 3 == 0 ? 0.5 : draw(0.1, 1.0);
            one.mass = random() % 3 == 0 ? std::numeric_limits<double>::infinity() : draw(0.1, 10.0);
            one.fastest = draw(0.0, 3.0);
            one.count = 1 + random() % 2;
        }
        const auto worst = [](double& lightest, double& stiffest, double m, double r, double speed) {
            lightest = std::min(lightest, m);
            stiffest = std::max(stiffest, m * (speed / r) * (speed / r));
        };
        double lightest = 1e300, stiffest = 0.0;
        for (std::size_t i = 0; i < species.size(); ++i) {
            for (std::size_t j = i; j < species.size(); ++j) {
                const PresentSpecies& a = species[i];
                const PresentSpecies& b = species[j];
                if ((i == j && a.count < 2) || (!a.mobile() && !b.mobile())) continue;
                worst(lightest, stiffest, 1.0 / (1.0 / a.mass + 1.0 / b.mass), std::min(a.radius, b.radius),
                      (a.mobile() ? 3.0 : a.fastest) + (b.mobile() ? 3.0 : b.fastest));
            }
        }
        double lightest_found = 1e300, stiffest_found = 0.0;
        for (const PossibleContact& contact : extreme_contacts(species, false, 3.0)) {
            worst(lightest_found, stiffest_found, contact.reduced_mass, contact.smaller_radius, contact.approach);
        }
        ASSERT_EQ(lightest, lightest_found) << scene;
        ASSERT_EQ(stiffest, stiffest_found) << scene;
    }
}

TEST(Design, OfAMassForEachBallLooksAtFewContacts) {
    std::vector<PresentSpecies> species;
    for (int k = 0; k < 10'000; ++k) species.push_back({.radius = 0.5, .mass = 1.0 + k, .fastest = 0.0, .count = 1});
    EXPECT_LE(extreme_contacts(species, true, 1.0).size(), 3 * species.size());
}

TEST(Design, OfBallsAtRestDoesNotDependOnWhereTheRunStops) {
    const std::string text =
        "[scene]\ndimension = 2\n[box]\nsize = [4.0, 5.0]\n"
        "[[ball]]\nradius = 0.5\nmass = 1.0\nposition = [2.0, 2.0]\n"
        "[[ball]]\nradius = 0.25\nmass = 1.0\nposition = [2.7, 2.0]\n";
    const SpringDesign once = designed(text, {"run.until=1"}).design;
    const SpringDesign twice = designed(text, {"run.until=2"}).design;
    EXPECT_DOUBLE_EQ(once.design_speed, 1.0);  // the larger diameter in a unit of time
    EXPECT_EQ(once.design_speed, twice.design_speed);
    EXPECT_EQ(once.stiffness, twice.stiffness);
    EXPECT_EQ(once.dt, twice.dt);
}

TEST(Design, OfNothingAndOfBallsAtRestIsFinite) {
    for (const char* balls : {"", "[[fill]]\nradius = 0.5\nmass = 1.0\ncount = 3\n",
                              "[[ball]]\nradius = 0.5\nmass = inf\nposition = [2.0, 2.0]\n"}) {
        const SpringDesign design =
            designed(std::string("[scene]\ndimension = 2\n[box]\nsize = [4.0, 5.0]\n") + balls).design;
        EXPECT_TRUE(std::isfinite(design.dt) && design.dt > 0.0) << balls;
        EXPECT_TRUE(std::isfinite(design.stiffness) && design.stiffness > 0.0) << balls;
        EXPECT_TRUE(std::isfinite(design.design_speed) && design.design_speed > 0.0) << balls;
    }
}

TEST(Design, DampingComesFromRestitution) {
    const SpringDesign design = designed(kGas, {"physics.restitution=0.5", "physics.wall_restitution=0.8"}).design;
    EXPECT_NEAR(design.damping_ratio, 0.2552756376486518, 1e-14);  // the golden table
    EXPECT_NEAR(design.wall_damping_ratio, 0.07435509709764061, 1e-14);
    EXPECT_DOUBLE_EQ(design.contact_duration, contact_duration(design.stiffness, 1.0, design.damping_ratio));
}

TEST(DesignWarnings, AreNoneForAutomaticNumbers) {
    const Designed gas = designed(kGas);
    EXPECT_TRUE(design_warnings(gas.scene, gas.balls, gas.design, 1e-9).empty());
}

TEST(Design, AutomaticStepsDivideTheTimeBetweenFramesThatTheSceneGives) {
    const double longest = designed(kGas).design.dt;
    EXPECT_EQ(designed(kGas, {"run.until=7"}).design.dt, longest) << "where a run stops changes no step";
    for (const char* every : {"0.1", "0.0371", "1.0"}) {
        const double dt = designed(kGas, {std::string("output.every=") + every}).design.dt;
        const double steps = std::stod(every) / dt;
        EXPECT_NEAR(steps, std::round(steps), 1e-9 * steps) << every;
        EXPECT_LE(dt, longest) << every;
        EXPECT_GT(dt, longest * (1.0 - 2.0 * longest / std::stod(every))) << every;
    }
    for (const char* every : {"0", "1e-9"}) {
        EXPECT_EQ(designed(kGas, {std::string("output.every=") + every}).design.dt, longest) << every;
    }
    EXPECT_EQ(designed(kGas, {"output.every=0.1", "spring.dt=0.0007"}).design.dt, 0.0007)
        << "a step that is given stays";
}

struct WarningCase {
    std::vector<std::string> overrides;
    double quantum;
    const char* says;
};

TEST(DesignWarnings, NameWhatIsWrong) {
    const WarningCase cases[] = {
        {{"spring.dt=1"}, 0.0, "is unstable"},
        {{"spring.dt=1e-4"}, 0.0, "a tenth of the shortest contact"},
        {{"spring.stiffness=1e4", "spring.dt=1e-4"}, 0.0, "overlaps may reach"},
        {{"spring.stiffness=1e-2", "spring.dt=1e-2"}, 0.0, "of the smallest radius in a step"},
        {{}, 1e-3, "quanta of position in a step, under 100; use --precision double or a larger dt"},
        {{"run.precision=double"}, 1e-3, "under 100; use a larger dt"},
        {{"spring.damping=0", "physics.restitution=0.5"}, 0.0, "physics.restitution is not used"},
    };
    for (const WarningCase& one : cases) {
        const Designed gas = designed(kGas, one.overrides);
        std::string all;
        for (const auto& warning : design_warnings(gas.scene, gas.balls, gas.design, one.quantum))
            all += warning + "\n";
        EXPECT_NE(all.find(one.says), std::string::npos) << one.says << " in:\n" << all;
    }
}

TEST(DesignWarnings, SayThatAWideRatioIsSlow) {
    const Designed wide = designed(std::string(kGas) + "[[fill]]\nradius = 0.1\nmass = 1.0\ncount = 5\n");
    ASSERT_EQ(design_warnings(wide.scene, wide.balls, wide.design).size(), 1u);
    EXPECT_NE(design_warnings(wide.scene, wide.balls, wide.design)[0].find("largest ball is 5 times"),
              std::string::npos);
}

}  // namespace carom::scene_design_test
