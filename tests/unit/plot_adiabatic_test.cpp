#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "host/plot/adiabatic.hpp"
#include "host/scene/load.hpp"
#include "kernels/physics/equation_of_state.hpp"

namespace carom {
namespace {

/// A box of 40 that a wall from the left makes 10 shorter per unit of time; points, but for a radius of 1e-6.
struct Gas {
    GasFacts facts;
    std::string text;
    std::vector<double> times{0.0, 1.0, 2.0};

    explicit Gas(int dimension = 2) {
        facts.dimension = dimension;
        facts.balls = 1000.0;
        facts.mass = 1e-6;  // sound is 1000 times as fast as a unit
        set_radius(1e-6);
        const std::string third = dimension == 3 ? ", 40.0" : "";
        const std::string zero = dimension == 3 ? ", 0.0" : "";
        text = "[scene]\ndimension = " + std::to_string(dimension) + "\n[box]\nsize = [40.0, 40.0" + third +
               "]\n[run]\nsolver = \"events\"\nuntil = 2.0\n[[wall]]\nshape = \"plane\"\nnormal = [1.0, 0.0" + zero +
               "]\nvelocity = 10.0\n[[fill]]\nradius = 1e-6\nmass = 1e-6\ncount = 1000\ntemperature = 3.0\n";
    }
    void set_radius(double radius) {
        facts.radius = radius;
        facts.diameter = 2.0 * radius;
    }
    [[nodiscard]] std::optional<AdiabaticCourse> course(const std::string& from = "", const std::string& to = "",
                                                        const std::string& more = "") const {
        std::string scene = text;
        if (!from.empty()) scene.replace(scene.find(from), from.size(), to);
        return adiabatic_course(facts, parse_scene(scene + more, "gas.toml"), times, 3.0);
    }
};

TEST(AdiabaticCourse, OfAThinGasHasTheIdealExponent) {
    for (const int dimension : {2, 3}) {
        const auto course = Gas(dimension).course();
        ASSERT_TRUE(course);
        EXPECT_EQ(course->time.front(), 0.0);
        EXPECT_EQ(course->time.back(), 2.0);
        for (std::size_t k = 0; k < course->time.size(); ++k) {
            const double shorter = (40.0 - 10.0 * course->time[k]) / 40.0;
            EXPECT_NEAR(course->temperature[k], 3.0 * std::pow(shorter, -2.0 / dimension), 1e-5);
        }
        EXPECT_NEAR(course->growth, 2.0 / dimension * std::log(2.0), 1e-5);
    }
}

TEST(AdiabaticCourse, OfHardBallsIsOfTheRoomForTheirCentres) {
    Gas gas;
    gas.set_radius(0.4);
    const auto course = gas.course();
    ASSERT_TRUE(course);
    const double ball = M_PI * 0.16;
    const double from = 1000.0 * ball / (39.2 * 39.2);
    const double to = from * 39.2 / 19.2;
    // A ball beside a wall has fewer others to mind: 2 / (3 pi) sigma S / V of the excess free energy is not there.
    const double before = 0.8 * 2.0 / (3.0 * M_PI) * (4.0 / 39.2) * excess_free_energy(2, from);
    const double after = 0.8 * 2.0 / (3.0 * M_PI) * (2.0 / 39.2 + 2.0 / 19.2) * excess_free_energy(2, to);
    const double bulk = 3.0 * adiabatic_heating(2, from, to);
    EXPECT_NEAR(course->temperature.back(), bulk * std::exp(before - after), 1e-9);
    EXPECT_LT(course->temperature.back(), 0.99 * bulk);
    EXPECT_NEAR(course->walls, 0.3 * (after - before), 1e-9);
    gas.set_radius(0.55);  // at the end 1.3 of the box
    EXPECT_FALSE(gas.course());
}

TEST(AdiabaticCourse, HasThePressureOfTheEquationOfState) {
    // Of points p is N T / A: 4 times as large in half the area.
    const auto ideal = Gas().course();
    ASSERT_TRUE(ideal);
    EXPECT_NEAR(ideal->pressure.front(), 1000.0 * 3.0 / 1600.0, 1e-5);
    EXPECT_NEAR(ideal->pressure.back() / ideal->pressure.front(), 4.0, 1e-5);
    ASSERT_EQ(ideal->pressure.size(), ideal->time.size());
    Gas gas;
    gas.set_radius(0.4);
    const auto dense = gas.course();
    ASSERT_TRUE(dense);
    for (const std::size_t k : {std::size_t{0}, dense->time.size() - 1}) {
        const double room = 39.2 * (39.2 - 10.0 * dense->time[k]);
        const double z = hard_compressibility(2, 1000.0 * M_PI * 0.16 / room);
        EXPECT_NEAR(dense->pressure[k], z * 1000.0 * dense->temperature[k] / room, 1e-9);
    }
}

TEST(AdiabaticCourse, FollowsWallsFromBothSidesAwayAndInStages) {
    Gas gas;
    const std::string other = "[[wall]]\nshape = \"plane\"\nnormal = [-1.0, 0.0]\noffset = -40.0\nvelocity = 5.0\n";
    EXPECT_NEAR(gas.course("", "", other)->temperature.back(), 3.0 * 4.0, 1e-4);
    // From 20 back to the box's face at 0, and out of the box.
    const auto away = gas.course("velocity = 10.0", "offset = 20.0\nvelocity = -12.0");
    ASSERT_TRUE(away);
    EXPECT_NEAR(away->temperature.back(), 3.0 * 0.5, 1e-4);
    EXPECT_LT(away->growth, 0.0);
    const auto stages = gas.course("", "",
                                   "[[stage]]\nuntil = 0.5\nwall_velocity = [20.0]\n"
                                   "[[stage]]\nuntil = 2.0\nwall_velocity = [0.0]\n");
    ASSERT_TRUE(stages);
    EXPECT_NEAR(stages->temperature[75], 3.0 * 4.0 / 3.0 * 1.0, 0.7) << "on its way";
    EXPECT_NEAR(stages->temperature[76], 3.0 * 40.0 / (40.0 - 20.0 * 0.5), 1e-4);
    EXPECT_NEAR(stages->temperature.back(), 4.0, 1e-4);
}

TEST(AdiabaticCourse, IsNoneOfAGasThatSomethingElseDrives) {
    const Gas gas;
    ASSERT_TRUE(gas.course());
    EXPECT_FALSE(gas.course("velocity = 10.0", "velocity = 0.0"));
    EXPECT_FALSE(gas.course("velocity = 10.0", "velocity = 1000.0")) << "a wave, and no slow compression";
    EXPECT_FALSE(gas.course("velocity = 10.0", "velocity = 10.0\ntemperature = 3.0"));
    EXPECT_FALSE(gas.course("[1.0, 0.0]", "[0.6, 0.8]"));
    EXPECT_FALSE(gas.course("size =", "boundary = [\"wall\", [\"wall\", \"open\"]]\nsize ="));
    EXPECT_FALSE(gas.course("size =", "wall_temperature = [0.0, 3.0]\nsize ="));
    EXPECT_FALSE(gas.course("[run]", "[physics]\ngravity = [0.0, -1.0]\n[run]"));
    EXPECT_FALSE(gas.course("", "", "[thermostat]\nkind = \"rescale\"\ntemperature = 3.0\nevery = 0.1\n"));
    EXPECT_FALSE(gas.course("", "",
                            "[[stage]]\nuntil = 1.0\n[[stage]]\nuntil = 2.0\n"
                            "thermostat = { kind = \"andersen\", temperature = 3.0, rate = 1.0 }\n"));
    EXPECT_FALSE(gas.course("temperature = 3.0", "temperature = 3.0\nregion = { min = [0, 0], max = [20, 40] }"))
        << "it expands into what is free";
}

TEST(AdiabaticCourse, IsNoneOfAGasThatLosesEnergyOrBallsOrHasTwoKinds) {
    for (const auto spoil :
         {+[](GasFacts& facts) { facts.thermal = false; }, +[](GasFacts& facts) { facts.left = true; },
          +[](GasFacts& facts) { facts.uniform = false; }}) {
        Gas gas;
        spoil(gas.facts);
        EXPECT_FALSE(gas.course());
    }
}

/// Twice as fast for half the time: twice the friction, and twice its variance.
TEST(AdiabaticCourse, DoubtsHaste) {
    Gas gas;
    gas.set_radius(0.05);
    gas.facts.mass = 1e-12;  // so that what a wall starts is nothing beside friction
    const auto slow = gas.course();
    gas.times = {0.0, 1.0};
    const auto fast = gas.course("velocity = 10.0", "velocity = 20.0");
    ASSERT_TRUE(slow && fast);
    EXPECT_GT(slow->haste, 0.0);
    EXPECT_NEAR(fast->haste / slow->haste, 2.0, 0.01);
    EXPECT_NEAR(fast->scatter / slow->scatter, std::sqrt(2.0), 0.01);
    EXPECT_NEAR(slow->growth, fast->growth, 1e-12);
}

}  // namespace
}  // namespace carom
