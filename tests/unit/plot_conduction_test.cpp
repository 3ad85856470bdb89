#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "host/plot/conduction.hpp"

namespace carom {
namespace {

/// A thin gas of small disks between walls at 4 and 1, in 30 slices; mean free path 3.4.
struct ThinGas {
    GasFacts facts;
    Box box;
    RunAverage profile;

    ThinGas() {
        box.dimension = 2;
        box.size = {60.0, 40.0, 0.0};
        box.faces[0] = {Face::kWall, Face::kWall};
        facts.temperature = 2.3;
        facts.balls = 1e5;
        facts.number_density = 1e5 / 2400.0;
        set_diameter(2.5e-3);
        facts.mass = 1.0;
        facts.heat_axis = 0;
        facts.wall_temperature = {4.0, 1.0};
        profile.info.kind = "temperature_profile";
        profile.info.x = {"x", "m", 30};
        for (int k = 0; k < 30; ++k) {
            const double x = 2.0 * k + 1.0;
            profile.table.x.push_back(x);
            profile.table.values.push_back(law(x));
            profile.table.errors.push_back(0.01);
        }
    }
    void set_diameter(double diameter) {
        facts.diameter = diameter;
        facts.radius = 0.5 * diameter;
        facts.packing_fraction = facts.number_density * M_PI / 4.0 * diameter * diameter;
    }
    /// T^(3/2) linear: 3.5 and 1.2 at the walls.
    static double law(double x) {
        const double hot = std::pow(3.5, 1.5);
        return std::pow(hot + (std::pow(1.2, 1.5) - hot) * x / 60.0, 2.0 / 3.0);
    }
};

TEST(ConductionCurve, OfAThinGasHasTemperatureToTheThreeHalvesLinear) {
    ThinGas gas;
    // Next to the walls no local law holds, and nothing is fitted: two free paths are 13 at the hot wall, of a gas that
    // is half as dense there, and 3 at the cold one.
    for (const std::size_t k : {0u, 1u, 2u, 3u, 4u, 5u, 29u}) gas.profile.table.values[k] = 2.0;
    const std::vector<Curve> curves = conduction_curves(gas.facts, gas.box, gas.profile);
    ASSERT_EQ(curves.size(), 2u);
    const Curve& curve = curves[0];
    ASSERT_EQ(curve.x.front(), 0.0);
    ASSERT_EQ(curve.x.back(), 60.0);
    for (std::size_t k = 0; k < curve.x.size(); ++k) EXPECT_NEAR(curve.y[k], ThinGas::law(curve.x[k]), 2e-3);
    EXPECT_EQ(curves[1].y, (std::vector<double>{4.0, 1.0}));
    EXPECT_TRUE(curves[1].points);
}

TEST(ConductionCurve, IsOfAGasThatConducts) {
    ThinGas gas;
    gas.facts.heat_axis = 1;
    EXPECT_TRUE(conduction_curves(gas.facts, gas.box, gas.profile).empty());
    gas.facts.heat_axis = -1;
    EXPECT_TRUE(conduction_curves(gas.facts, gas.box, gas.profile).empty());
    gas.facts.heat_axis = 0;
    gas.set_diameter(3e-4);  // nothing lies two free paths from both walls: these alone
    EXPECT_EQ(conduction_curves(gas.facts, gas.box, gas.profile).size(), 1u);
    gas.set_diameter(2.5e-3);
    gas.profile.info.kind = "density";
    EXPECT_TRUE(conduction_curves(gas.facts, gas.box, gas.profile).empty());
}

TEST(ConductionCurve, IsNoneOfAGasThatLosesEnergyOrBallsOrHasTwoKinds) {
    for (const auto spoil :
         {+[](GasFacts& facts) { facts.thermal = false; }, +[](GasFacts& facts) { facts.left = true; },
          +[](GasFacts& facts) { facts.uniform = false; }}) {
        ThinGas gas;
        ASSERT_TRUE(conduction_law(gas.facts, gas.box, gas.profile));
        spoil(gas.facts);
        EXPECT_FALSE(conduction_law(gas.facts, gas.box, gas.profile));
        const std::vector<Curve> curves = conduction_curves(gas.facts, gas.box, gas.profile);
        ASSERT_EQ(curves.size(), 1u);
        EXPECT_EQ(curves[0].label, "the walls");
    }
}

}  // namespace
}  // namespace carom
