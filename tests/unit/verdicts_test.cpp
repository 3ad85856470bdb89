#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "host/scene/load.hpp"
#include "host/theory/gas_facts.hpp"
#include "host/theory/theory_checks.hpp"
#include "kernels/physics/equation_of_state.hpp"

// When a measured value is said to agree with theory, and when nothing is said.

namespace carom::verdicts_test {

/// 100 hard disks in a periodic box, temperature 1: the kurtosis is 3 D / (D + 2), D = 198.
struct Gas {
    static constexpr double kKurtosis = 3.0 * 198.0 / 200.0;

    MeasuredRun run;
    RunAverage kurtosis{{.name = "k", .kind = "kurtosis"}, {.samples = 100.0}};

    explicit Gas(const std::string& more = "", const std::string& boundary = "\"periodic\", \"periodic\"") {
        run.scene = parse_scene("[scene]\ndimension = 2\n[box]\nsize = [20.0, 20.0]\nboundary = [" + boundary +
                                    "]\n[run]\nsolver = \"events\"\nuntil = 100.0\n[[species]]\nname = \"a\"\n"
                                    "radius = 0.5\nmass = 2.0\n[[fill]]\nspecies = \"a\"\ncount = 100\n"
                                    "temperature = 1.0\n" +
                                    more,
                                "gas.toml");
        run.species = {{.name = "a", .radius = 0.5, .mass = 2.0}};
        run.counts = {100.0};
        run.solver.solver = "events";
        for (int k = 0; k <= 100; ++k) {
            run.time.push_back(k);
            run.temperature.push_back(1.0);
        }
        run.equilibrated_since = 0.0;
    }
    [[nodiscard]] TheoryCheck check(double value, double error, Steadiness steadiness = {}) {
        kurtosis.table.values = {value};
        kurtosis.table.errors = {error};
        kurtosis.table.steadiness = steadiness;
        const std::vector<TheoryCheck> checks = average_checks(run, {&kurtosis, 1});
        EXPECT_EQ(checks.size(), 1U);
        return checks.front();
    }
};

TEST(Verdict, SaysWhatWouldHaveShown) {
    Gas gas;
    const TheoryCheck check = gas.check(Gas::kKurtosis + 0.03, 0.01, {50.0, 1.0});
    EXPECT_EQ(check.words(), "agrees");
    EXPECT_NEAR(check.sigmas, 3.0, 1e-9);
    EXPECT_NEAR(check.would_show, 4.0 * 0.01 / Gas::kKurtosis, 1e-12);
    EXPECT_EQ(gas.check(Gas::kKurtosis + 0.041, 0.01, {50.0, 1.0}).words(), "differs");
    EXPECT_NE(theory_words(check).find("+3.0 sigma: agrees, 1.3 % would show"), std::string::npos)
        << theory_words(check);
}

TEST(Verdict, OfAnErrorAsLargeAsTheThingIsNone) {
    Gas gas;
    EXPECT_EQ(gas.check(Gas::kKurtosis, 0.76).words(), "too few samples to say");
    EXPECT_EQ(gas.check(Gas::kKurtosis, 0.73).words(), "agrees");
    EXPECT_EQ(gas.check(10.0, 0.76).words(), "differs") << "what is seen is seen";
    EXPECT_EQ(gas.check(Gas::kKurtosis, NAN).words(), "too few samples");
}

TEST(Verdict, IsNoneWhereSamplesAreFewOrDrift) {
    Gas gas;
    for (const double value : {Gas::kKurtosis, 2.0}) {
        EXPECT_EQ(gas.check(value, 0.01, {3.0, 0.0}).words(), "too few independent samples");
        EXPECT_EQ(gas.check(value, 0.01, {30.0, -4.5}).words(), "still changing");
    }
    EXPECT_NE(theory_words(gas.check(2.0, 0.01, {3.0, 0.0})).find(": no verdict, too few independent samples"),
              std::string::npos);
    gas.run.judge_equilibrium(false);
    EXPECT_EQ(gas.check(Gas::kKurtosis, 0.01, {50.0, 0.0}).words(), "not at equilibrium");
}

/// Of a curve: a speed distribution that is off by a share at each point.
TEST(Verdict, OfACurveSaysWhichShareWouldShow) {
    Gas gas;
    constexpr std::size_t kBins = 40;
    RunAverage speeds{{.name = "s", .kind = "speed", .x = {"speed", "m s-1", kBins}}, {.samples = 100.0}};
    const auto check_of = [&](double factor) {
        speeds.table = {.samples = 100.0};
        for (std::size_t k = 0; k < kBins; ++k) {
            // v m / T exp(-m v^2 / 2 T), over a bin by its integral.
            const double low = 0.08 * static_cast<double>(k);
            const double high = low + 0.08;
            const double density = (std::exp(-low * low) - std::exp(-high * high)) / 0.08;
            speeds.table.x.push_back(0.5 * (low + high));
            speeds.table.values.push_back(factor * density);
            speeds.table.errors.push_back(0.01 * density);
        }
        return average_checks(gas.run, {&speeds, 1}).front();
    };
    const TheoryCheck right = check_of(1.0);
    EXPECT_EQ(right.words(), "agrees");
    // Its own error and the 5 / N of theory, together; seen from twice that on, for what is left of chance is 1.
    EXPECT_NEAR(right.would_show, std::sqrt(3.0) * std::hypot(0.01, 0.05), 2e-4);
    EXPECT_EQ(check_of(1.0 + 1.1 * 2.0 / std::sqrt(3.0) * right.would_show).words(), "differs");
    EXPECT_EQ(check_of(1.0 + 0.9 * 2.0 / std::sqrt(3.0) * right.would_show).words(), "agrees");
}

/// The force on a floor, over a time t, is off by the change of the balls' momentum over t: sqrt(2 N m T) / t.
TEST(Verdict, OnAWeightHasTheErrorOfTheMomentum) {
    const std::string gravity = "[physics]\ngravity = [0.0, -0.5]\n";
    const auto weight = [](Gas& gas, double force) {
        gas.run.means = {{"wall_pressure.y_min", force / 20.0, 3.0, 1.0}};  // whose scatter is large
        const std::vector<TheoryCheck> checks = theory_checks(gas.run, {});
        EXPECT_EQ(checks.size(), 1U);
        return checks.front();
    };
    const std::string walls = "\"periodic\", [\"wall\", \"open\"]";
    Gas gas(gravity, walls);
    const double error = std::sqrt(2.0 * 100.0 * 2.0) / 100.0;
    const TheoryCheck right = weight(gas, 100.0 + error);
    EXPECT_EQ(right.words(), "agrees");
    EXPECT_NEAR(right.error, error, 1e-12);
    EXPECT_NEAR(right.would_show, 4.0 * error / 100.0, 1e-12);
    // sqrt(2 / N) (l / v) / t
    EXPECT_NEAR(right.error / 100.0, std::sqrt(2.0 / 100.0) * (1.0 / (2.0 * 0.5) / std::sqrt(0.5)) / 100.0, 1e-12);
    EXPECT_EQ(weight(gas, 100.0 + 4.5 * error).words(), "differs") << "a fault of 0.9 %";
    gas.run.means_since = 36.0;
    EXPECT_NEAR(weight(gas, 100.0).error, error / 0.64, 1e-12) << "of a shorter time";
    gas.run.judge_equilibrium(std::nullopt);
    EXPECT_EQ(weight(gas, 120.0).words(), "not known to be at equilibrium");
    std::string stages;
    for (const char* stage :
         {"20.0\nmeasure = true", "36.0", "50.0\nmeasure = true", "80.0\nmeasure = true", "90.0", "100.0"}) {
        stages += fmt::format("[[stage]]\nuntil = {}\n", stage);
    }
    Gas parts(gravity + stages, walls);
    parts.run.time.resize(86);
    parts.run.temperature.resize(86);
    EXPECT_NEAR(weight(parts, 100.0).error, std::sqrt(2.0) * error / 0.64, 1e-12) << "each part has its own change";
    parts.run.means_since = 20.0;
    EXPECT_NEAR(weight(parts, 100.0).error, error / 0.44, 1e-12) << "of the parts that count";
    Gas held(gravity + "[thermostat]\nkind = \"andersen\"\ntemperature = 1.0\nrate = 1.0\n", walls);
    EXPECT_NEAR(weight(held, 100.0).error, 60.0, 1e-9) << "velocities come from elsewhere too";
}

/// A bath that redraws velocities damps waves of density, which spread by diffusion then: longer than a run of which
/// all errors are too small.
TEST(Verdict, OnADensityIsNoneWhereItSpreadsTooSlowly) {
    const auto andersen = [](double rate) {
        return fmt::format("[thermostat]\nkind = \"andersen\"\ntemperature = 1.0\nrate = {}\n", rate);
    };
    const auto density = [](Gas gas) {
        constexpr std::size_t kSlices = 10;
        RunAverage profile{{.name = "n", .kind = "density", .x = {"x", "m", kSlices}}, {.samples = 100.0}};
        for (std::size_t k = 0; k < kSlices; ++k) {
            profile.table.x.push_back(1.0 + 2.0 * static_cast<double>(k));
            profile.table.values.push_back(0.25 + (k < 5 ? 0.03 : -0.03));
            profile.table.errors.push_back(0.01);
        }
        return average_checks(gas.run, {&profile, 1}).front().words();
    };
    const auto force = [](Gas gas) {
        gas.run.means = {{"wall_pressure.x_min", 0.5, 0.01, 1.0}, {"wall_pressure.x_max", 0.4, 0.01, 1.0}};
        return theory_checks(gas.run, {}).front().words();
    };
    // rate m / (T s k^2) = 10 is 0.86, 2 for a wave of two lengths.
    const double stiffness = isothermal_stiffness(2, 100.0 * std::numbers::pi / 4.0 / 400.0);
    const double k = 2.0 * std::numbers::pi / 20.0;
    const double rate = 10.0 * stiffness * k * k / 2.0;
    EXPECT_EQ(density(Gas()), "differs");
    EXPECT_EQ(density(Gas(andersen(0.99 * rate))), "differs");
    EXPECT_EQ(density(Gas(andersen(1.01 * rate))), "density spreads too slowly in this bath");
    const std::string walls = "\"wall\", \"periodic\"";
    const double half = std::numbers::pi / 19.0;
    const double packing = 100.0 * std::numbers::pi / 4.0 / (19.0 * 20.0);
    const double between = 10.0 * isothermal_stiffness(2, packing) * half * half / 2.0;
    EXPECT_EQ(force(Gas(andersen(0.99 * between), walls)), "differs");
    EXPECT_EQ(force(Gas(andersen(1.01 * between), walls)), "density spreads too slowly in this bath");
    const auto warning = [](Gas gas, const std::vector<AverageInfo>& infos) {
        gas.run.means = {{"wall_pressure.x_min", 0.5, 0.01, 1.0}};
        const std::vector<std::string> warnings = spreading_warnings(gas.run, infos);
        return warnings.empty() ? "" : warnings.front();
    };
    EXPECT_EQ(warning(Gas(andersen(0.99 * between), walls), {}), "");
    EXPECT_EQ(
        warning(Gas(andersen(1.01 * between), walls), {{.name = "n", .kind = "density_map"}}),
        "density spreads along x in 10.1 s in this bath: errors of wall_pressure.x, n are too small in runs shorter "
        "than ten times that");
    Gas periodic(andersen(100.0));
    EXPECT_TRUE(spreading_warnings(periodic.run, {}).empty()) << "nothing that is measured knows of it";
}

/// Nobody but the bath says how warm a gas is in it; which scatters by sqrt(2 / (d N)).
TEST(Verdict, OnTheTemperatureOfAGasIsThatOfItsBath) {
    const std::string andersen = "[thermostat]\nkind = \"andersen\"\ntemperature = 1.5\nrate = 5.0\n";
    const double variance = 2.0 / 200.0 * 1.5 * 1.5;
    const auto checks_of = [&](Gas& gas, double temperature, double share) {
        const double error = 0.01;
        gas.run.means = {{"temperature", temperature, error, 0.5 * error * error * 100.0 / (share * variance)}};
        return theory_checks(gas.run, {});
    };
    Gas gas(andersen);
    const std::vector<TheoryCheck> right = checks_of(gas, 1.53, 1.0);
    ASSERT_EQ(right.size(), 1U);
    EXPECT_EQ(right.front().what, "temperature");
    EXPECT_EQ(right.front().expected, 1.5);
    EXPECT_EQ(right.front().words(), "agrees");
    EXPECT_EQ(checks_of(gas, 1.545, 1.0).front().words(), "differs");
    EXPECT_EQ(checks_of(gas, 1.545, 0.2).front().words(), "too slow a bath") << "it has hardly changed so far";
    Gas rarely("[thermostat]\nkind = \"andersen\"\ntemperature = 1.5\nrate = 1.0\n");
    EXPECT_EQ(checks_of(rarely, 1.545, 1.0).front().words(), "agrees")
        << "of 100 times, in which blocks saw too little";
    gas.run.judge_equilibrium(false);
    EXPECT_EQ(checks_of(gas, 1.545, 1.0).front().words(), "not at equilibrium");
    gas.run.judge_equilibrium(true);
    gas.run.solver.solver = "spring";
    EXPECT_EQ(checks_of(gas, 1.5 + 4.05 * 0.01, 1.0).front().words(), "agrees") << "steps";

    const std::string walls = "\"wall\", \"wall\"]\nwall_temperature = [1.5, 0.0";
    Gas warm("", walls);
    EXPECT_EQ(checks_of(warm, 1.545, 1.0).size(), 1U);
    const std::string outside =
        "[[wall]]\nshape = \"sphere\"\ncenter = [10.0, 10.0]\nradius = 4.0\nside = \"outside\"\n";
    Gas behind(outside, walls);
    EXPECT_TRUE(checks_of(behind, 1.545, 1.0).empty()) << "some balls may never come to a warm wall";
    Gas inside(outside + andersen);
    EXPECT_EQ(checks_of(inside, 1.545, 1.0).size(), 1U);
    Gas at_last(
        "[[stage]]\nuntil = 50.0\nmeasure = true\n[[stage]]\nuntil = 100.0\nthermostat = { kind = \"andersen\", "
        "temperature = "
        "1.5, rate = 1.0 }\n");
    EXPECT_TRUE(checks_of(at_last, 1.545, 1.0).empty()) << "what is isolated keeps the energy that it happens to have";
    at_last.run.means_since = 50.0;
    EXPECT_EQ(checks_of(at_last, 1.545, 2.0).size(), 1U);
    Gas unlike("", "\"wall\", \"periodic\"]\nwall_temperature = [[1.0, 2.0], 0.0");
    EXPECT_TRUE(checks_of(unlike, 1.5, 1.0).empty());
}

/// A floor warms what lies on it, in the same time whatever is above.
TEST(Verdict, OnABathUnderGravityHasTheErrorOfTheColumn) {
    const auto bath_time = [](double height) {
        Gas gas("[physics]\ngravity = [0.0, -0.1]\n",
                "\"periodic\", [\"wall\", \"open\"]]\nwall_temperature = [0.0, [1.0, 0.0]");
        gas.run.scene.box.size = {200.0, height};
        return gas_facts(gas.run, "", 0.0).bath_time;
    };
    const double high = bath_time(400.0);
    EXPECT_NEAR(bath_time(100.0), high, 0.03 * high);
    // 5 lengths of sqrt(T / (2 pi m)) / 5, 3 / 2 of it a ball, and twice as much to warm; and the heat's way.
    const double exchange = 2.0 * 5.0 / (1.5 * std::sqrt(1.0 / (4.0 * std::numbers::pi)));
    EXPECT_GT(high, exchange);
    EXPECT_LT(high, 1.5 * exchange);
    EXPECT_LT(bath_time(2.0), 0.6 * high) << "a box lower than the column";
}

/// In a bath T scatters, and p with it: theory's p is at the T that was measured.
TEST(Verdict, OnThePressureInABathHasNoErrorOfTheTemperature) {
    for (const bool bath : {false, true}) {
        Gas gas(bath ? "[thermostat]\nkind = \"andersen\"\ntemperature = 1.0\nrate = 1.0\n" : "");
        MeasuredMean pressure{"virial_pressure", 0.4, 0.03, 1.0};
        pressure.error_at_temperature = 0.01;
        gas.run.means = {pressure};
        const std::vector<TheoryCheck> checks = theory_checks(gas.run, {});
        ASSERT_EQ(checks.size(), 1U);
        EXPECT_EQ(checks.front().error, bath ? 0.01 : 0.03);
        gas.run.means.push_back({"temperature", 1.1, 0.02, 1.0});
        EXPECT_NEAR(theory_checks(gas.run, {}).front().expected, 1.1 * checks.front().expected, 1e-12)
            << "of all rows, not of those that are kept";
    }
}

/// Between two walls at which nothing else pushes, the forces are equal but for the change of the balls' momentum.
TEST(Verdict, OnTheBalanceOfMomentumHasItsOwnError) {
    Gas gas("", "\"wall\", \"periodic\"");
    const double error = std::sqrt(2.0 * 100.0 * 2.0) / 100.0;
    const auto forces = [&](double low, double high) {
        gas.run.means = {{"wall_pressure.x_min", low / 20.0, 0.3, 1.0}, {"wall_pressure.x_max", high / 20.0, 0.3, 1.0}};
        const std::vector<TheoryCheck> checks = theory_checks(gas.run, {});
        EXPECT_EQ(checks.size(), 1U);
        return checks.front();
    };
    const TheoryCheck right = forces(8.0 + error, 8.0);
    EXPECT_EQ(right.what, "force on x-min, less that on x-max");
    EXPECT_EQ(right.words(), "agrees");
    EXPECT_NEAR(right.error, error, 1e-12);
    EXPECT_NEAR(right.would_show, 4.0 * error / (8.0 + error), 1e-12);
    EXPECT_EQ(forces(8.0 + 4.5 * error, 8.0).words(), "differs") << "whatever the pressures scatter by";
}

/// A gas that is hotter at one end creeps along walls that draw velocities anew, and they push it back.
TEST(Verdict, OnTheBalanceOfMomentumIsNoneWhereWallsBesidePushTheGas) {
    const auto words = [](const std::string& temperatures, const std::string& more = "") {
        Gas gas(more, "\"wall\", \"wall\"]\nwall_temperature = [" + temperatures);
        std::string all;
        for (const char* face : {"x_min", "x_max", "y_min", "y_max"}) {
            gas.run.means.push_back({std::string("wall_pressure.") + face, face[3] == 'i' ? 4.0 : 0.4, 0.001, 1.0});
        }
        for (const TheoryCheck& check : theory_checks(gas.run, {})) {
            if (check.what.starts_with("force")) all += check.what.substr(9, 1) + ": " + check.words() + "; ";
        }
        return all;
    };
    const std::string differ = "x: differs; y: differs; ";
    EXPECT_EQ(words("[1.0, 4.0], 1.0"), "x: walls beside push too; y: differs; ") << "along y both ends are alike";
    EXPECT_EQ(words("[1.0, 4.0], 0.0"), differ) << "walls beside reflect";
    EXPECT_EQ(words("[2.0, 2.0], 2.0"), differ) << "one temperature";
    EXPECT_EQ(words("[2.0, 0.0], 2.0"), differ) << "one temperature, if only at three walls";
    EXPECT_EQ(words("0.0, 0.0",
                    "[[stage]]\nuntil = 60.0\n[[stage]]\nuntil = 100.0\n"
                    "wall_temperature = [[1.0, 4.0], [1.0, 2.0]]\n"),
              "x: walls beside push too; y: walls beside push too; ");
}

TEST(Verdict, OnTheEnergyIsOfRoundingOrOfSteps) {
    Gas gas;
    const auto balance = [&](double defect) {
        gas.run.energy_defect = {defect, 100.0};
        const std::vector<TheoryCheck> checks = theory_checks(gas.run, {});
        EXPECT_EQ(checks.size(), 1U);
        return checks.front();
    };
    gas.run.events = 1e6;
    gas.run.judge_equilibrium(false);
    EXPECT_EQ(balance(5e-13).words(), "agrees") << "it holds out of equilibrium too";
    EXPECT_EQ(balance(1e-12).words(), "differs");
    // Masses that are no powers of 2 round to one side, by up to a fifth of a rounding of a ball's energy at each.
    gas.run.events = 1e8;
    EXPECT_EQ(balance(4e-11).words(), "agrees");
    EXPECT_EQ(balance(6e-11).words(), "differs");
    gas.run.events = 1e6;
    gas.run.counts.push_back(5.0);
    gas.run.species.push_back({.name = "b", .radius = 0.5, .mass = 1000.0});
    EXPECT_EQ(balance(1e-12).words(), "agrees") << "unlike masses round to one side";
    EXPECT_EQ(balance(6e-11).words(), "differs");
    gas.run.counts.pop_back();
    gas.run.species.pop_back();
    gas.run.scene.spring.integrator = Integrator::kVerlet;
    gas.run.solver = {.solver = "spring", .precision = "double", .dt = 1e-4, .parameters = {{"stiffness", 1e6}}};
    const double walk = balance(0.0).error;
    // h = dt sqrt(2 k / m) = 0.1; 100 disks at a packing fraction of 0.19 collide 0.5 times a unit of time each,
    // and a contact lasts 31.4 steps.
    EXPECT_NEAR(walk, 0.196 * 0.01 * std::sqrt(0.5 * 100.0 * 0.5 * 100.0) * 2.0 / 200.0, 0.4 * walk);
    EXPECT_EQ(balance(3.0 * walk).words(), "agrees");
    EXPECT_EQ(balance(5.0 * walk).words(), "differs");
    gas.run.solver.dt = 1e-4 * 31.4034 / 31.0;
    EXPECT_LT(balance(0.0).error, 0.3 * walk) << "whole steps make up for themselves";
    gas.run.changed = true;
    EXPECT_TRUE(theory_checks(gas.run, {}).empty()) << "who changes a run changes its energy";
}

/// What rounds is all that goes to and fro, not what is left of it.
TEST(Verdict, OnTheEnergyIsOfRoundingOfGrossEnergies) {
    constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
    const auto words = [](Gas gas, double defect, double scale) {
        gas.run.events = 1.0;
        gas.run.energy_defect = {defect, scale};
        const std::vector<TheoryCheck> checks = theory_checks(gas.run, {});
        EXPECT_EQ(checks.size(), 1U);
        return checks.front().words();
    };
    EXPECT_EQ(words(Gas(), 20.0 * kEpsilon, 100.0), "agrees") << "one event, but sums besides";
    EXPECT_EQ(words(Gas(), 40.0 * kEpsilon, 100.0), "differs");
    EXPECT_EQ(words(Gas(), 2000.0 * kEpsilon, 1.0), "agrees") << "it has been a hundred times as warm";
    EXPECT_EQ(words(Gas(), 4000.0 * kEpsilon, 1.0), "differs");

    const std::string walls = "\"wall\", \"wall\"";
    const auto falls = [](const std::string& gravity) { return "[physics]\ngravity = " + gravity + "\n"; };
    // 100 balls of mass 2 across 20: 4000.
    EXPECT_EQ(words(Gas(falls("[1.0, -1.0]"), walls), 1e-10, 0.01), "agrees") << "the sum of two falls cancels";
    EXPECT_EQ(words(Gas(falls("[1.0, -1.0]"), walls), 1e-8, 0.01), "differs");
    EXPECT_EQ(words(Gas(falls("[0.0, 1.0]"), walls), 500.0 * kEpsilon, 100.0), "agrees") << "from below 0 up";
    EXPECT_EQ(words(Gas(falls("[0.0, -1.0]"), walls), 40.0 * kEpsilon, 100.0), "differs");
    const std::string stages =
        "[[stage]]\nuntil = 50.0\ngravity = [0.0, -1.0]\n[[stage]]\nuntil = 100.0\ngravity = [0.0, 0.0]\n";
    EXPECT_EQ(words(Gas(stages, walls), 500.0 * kEpsilon, 100.0), "agrees") << "what has been lifted, and is no more";

    const std::string andersen = "[thermostat]\nkind = \"andersen\"\ntemperature = 1.0\nrate = 1.0\n";
    EXPECT_EQ(words(Gas(andersen), 300.0 * kEpsilon, 100.0), "agrees") << "10,000 of its visits";
    EXPECT_EQ(words(Gas(andersen), 500.0 * kEpsilon, 100.0), "differs");
    const std::string rescale = "[thermostat]\nkind = \"rescale\"\ntemperature = 1.0\nevery = 1.0\n";
    EXPECT_EQ(words(Gas(rescale), 300.0 * kEpsilon, 100.0), "agrees");
}

/// n T = p at a wall, from slices that rise towards it.
TEST(Verdict, OnADensityAtAWallIsThePressureThere) {
    Gas gas("", "\"wall\", \"periodic\"");
    constexpr std::size_t kSlices = 400;
    RunAverage density{{.name = "n", .kind = "density", .x = {"x", "m", kSlices}}, {.samples = 100.0}};
    for (std::size_t k = 0; k < kSlices; ++k) {
        const double at = 0.05 * (static_cast<double>(k) + 0.5);
        const double away = std::min(at - 0.5, 19.5 - at);
        density.table.x.push_back(at);
        density.table.values.push_back(away < 0.0 ? 0.0 : 0.4 * std::exp(-0.9 * away + 0.5 * away * away));
        density.table.errors.push_back(0.002);
    }
    const auto check_of = [&](double pressure, const char* side) {
        gas.run.means = {{std::string("wall_pressure.x_") + side, pressure, 1e-3, 1.0}};
        const std::vector<TheoryCheck> checks = average_checks(gas.run, {&density, 1});
        EXPECT_EQ(checks.size(), 1U);
        return checks.front();
    };
    for (const char* side : {"min", "max"}) {
        const TheoryCheck right = check_of(0.4, side);
        EXPECT_EQ(right.what, std::string("n, times T at x-") + side);
        EXPECT_NEAR(right.measured, 0.4, 1e-9);
        EXPECT_EQ(right.words(), "agrees");
        EXPECT_LT(right.would_show, 0.2);
        EXPECT_EQ(check_of(0.5, side).words(), "differs") << "as of the bulk";
    }
    density.info.x.points = 20;
    gas.run.means = {{"wall_pressure.x_min", 0.4, 1e-3, 1.0}};
    RunAverage coarse = density;
    coarse.table = {.samples = 100.0, .x = {}, .y = {}, .values = {}, .errors = {}};
    for (std::size_t k = 0; k < 20; ++k) {
        coarse.table.x.push_back(static_cast<double>(k) + 0.5);
        coarse.table.values.push_back(0.3);
        coarse.table.errors.push_back(0.002);
    }
    EXPECT_TRUE(average_checks(gas.run, {&coarse, 1}).empty()) << "slices too wide to tell";
}

/// A speed of 0.7 in the mean, in bins of half of it and wider: what a bin holds, not what stands in its middle.
TEST(Verdict, OfACurveInWideBinsIsOfWhatTheyHold) {
    for (const double width : {0.5, 1.0, 2.0, 20.0}) {
        Gas gas;
        constexpr std::size_t kBins = 4;
        RunAverage speeds{{.name = "s", .kind = "speed", .x = {"speed", "m s-1", kBins}}, {.samples = 100.0}};
        for (std::size_t k = 0; k < kBins; ++k) {
            const double low = width * static_cast<double>(k);
            const double held = std::exp(-low * low) - std::exp(-(low + width) * (low + width));
            speeds.table.x.push_back(low + 0.5 * width);
            speeds.table.values.push_back(held / width);
            speeds.table.errors.push_back(1e-3 * held / width);
        }
        const std::vector<TheoryCheck> checks = average_checks(gas.run, {&speeds, 1});
        ASSERT_EQ(checks.size(), 1U);
        EXPECT_LT(checks.front().sigmas, 0.2) << width;
    }
}

/// Of 100 disks of mass 2 that all move by (0.12, -0.05), and are as much cooler than rows say.
TEST(Verdict, OnVelocitiesIsAboutTheMotionOfAll) {
    const double thermal = std::sqrt((1.0 - 2.0 * (0.12 * 0.12 + 0.05 * 0.05) / 2.0) / 2.0);
    constexpr std::size_t kBins = 20;
    constexpr double kWidth = 0.25;
    RunAverage velocities{
        {.name = "v", .kind = "velocity", .components = {"x", "y"}, .x = {"velocity", "m s-1", kBins}},
        {.samples = 100.0}};
    for (const double along : {0.12, -0.05}) {
        const auto below = [&](double v) { return 0.5 * std::erf((v - along) / (thermal * std::sqrt(2.0))); };
        for (std::size_t k = 0; k < kBins; ++k) {
            const double low = kWidth * static_cast<double>(k) - 2.5;
            const double held = below(low + kWidth) - below(low);
            if (along > 0.0) velocities.table.x.push_back(low + 0.5 * kWidth);
            velocities.table.values.push_back(held / kWidth);
            velocities.table.errors.push_back(1e-3 * held / kWidth);
        }
    }
    const auto sigmas = [&](Gas& gas) {
        gas.run.means = {{.name = "momentum.x", .mean = 24.0}, {.name = "momentum.y", .mean = -10.0}};
        const TheoryCheck check = average_checks(gas.run, {&velocities, 1}).front();
        EXPECT_EQ(check.theory, "Maxwell-Boltzmann") << "of all components";
        return check.sigmas;
    };
    Gas gas;
    EXPECT_LT(sigmas(gas), 0.02);
    Gas between("", "\"periodic\", \"wall\"");
    EXPECT_GT(sigmas(between), 0.5) << "walls push back";
}

/// What the theories of a gas at rest in its box do not know of.
TEST(Verdict, IsNoneWhereAGasIsNoneOfTheory) {
    const auto checks_of = [](const Gas& gas, const char* kind) {
        RunAverage average{{.name = "a", .kind = kind}, {.samples = 100.0, .values = {1.0}, .errors = {1e-3}}};
        if (std::string(kind) == "density") {
            average.info.x = {"x", "m", 2};
            average.table.x = {5.0, 15.0};
            average.table.values = {0.25, 0.25};
            average.table.errors = {1e-3, 1e-3};
        }
        return average_checks(gas.run, {&average, 1});
    };
    Gas gas;
    ASSERT_EQ(checks_of(gas, "compressibility").size(), 1U);
    gas.run.flow_energy = 1.9;
    EXPECT_EQ(checks_of(gas, "compressibility").size(), 1U) << "a momentum that chance has";
    gas.run.flow_energy = 2.1;
    EXPECT_TRUE(checks_of(gas, "compressibility").empty()) << "all of it flows";
    EXPECT_TRUE(checks_of(gas, "kurtosis").empty());
    Gas narrow;
    narrow.run.counts = {20.0};
    narrow.run.scene.box.size[1] = 5.1;
    EXPECT_EQ(checks_of(narrow, "compressibility").size(), 1U);
    narrow.run.scene.box.size[1] = 4.9;
    EXPECT_TRUE(checks_of(narrow, "compressibility").empty());
    Gas around;
    EXPECT_EQ(checks_of(around, "density").size(), 1U);
    around.run.species.push_back({.name = "rock", .radius = 3.0, .mass = INFINITY});
    around.run.counts.push_back(1.0);
    EXPECT_TRUE(checks_of(around, "density").empty()) << "it takes its room";
    EXPECT_EQ(checks_of(around, "kurtosis").size(), 1U);
    around.run.bodies_move = true;
    EXPECT_TRUE(checks_of(around, "kurtosis").empty()) << "it gives energy";
}

/// A momentum that chance has, and that stays, drags all along for ever: of 100 disks of mass 2 in 20 x 20, for 100.
TEST(Verdict, AllowsForAMomentumThatStays) {
    const auto check_of = [](const Gas& gas, const AverageInfo& info) {
        const std::size_t count = std::max<std::size_t>(1, info.components.size());
        const RunAverage average{
            info,
            {.samples = 100.0, .values = std::vector<double>(count, 0.1), .errors = std::vector<double>(count, 1e-3)}};
        return average_checks(gas.run, {&average, 1}).back();
    };
    const AverageInfo stress{.name = "s", .kind = "stress", .components = {"xx", "xy"}};
    const AverageInfo diffusion{.name = "d", .kind = "self_diffusion", .every = 1.0};
    Gas gas;
    const double at_rest = check_of(gas, diffusion).expected;
    EXPECT_EQ(check_of(gas, stress).uncertainty, 0.0);
    gas.run.means = {{.name = "flow_energy", .mean = 0.9}};
    EXPECT_NEAR(check_of(gas, stress).uncertainty, 0.9 / 400.0, 1e-12);
    // V^2 = 2 E / M, of M = 200; the lags are 100 / 8 and 100 / 4.
    EXPECT_NEAR(check_of(gas, diffusion).expected - at_rest, 2.0 * 0.9 / 200.0 * 37.5 / 4.0, 1e-9);
    gas.run.means = {{.name = "flow_energy", .mean = 2.1}};
    const RunAverage average{stress, {.samples = 100.0, .values = {0.1, 0.1}, .errors = {1e-3, 1e-3}}};
    EXPECT_TRUE(average_checks(gas.run, {&average, 1}).empty()) << "that a stage before has left, more than by chance";
}

/// Where momentum stays heavy balls have less of the energy, and what all move by as a whole is none of warmth.
TEST(Verdict, OnAKurtosisKnowsMassesAndTheMotionOfAll) {
    Gas gas;
    EXPECT_NEAR(gas.check(3.0, 0.01).expected, Gas::kKurtosis, 1e-12);
    gas.run.means = {{.name = "flow_energy", .mean = 1.0}};  // m |u|^2 = 0.02, along an axis or evenly along both
    const TheoryCheck moving = gas.check(3.0, 0.01);
    const double along_one = 0.5 * (2.0 * Gas::kKurtosis * 0.99 * 0.99 + 6.0 * 0.99 * 0.02 + 0.02 * 0.02);
    EXPECT_NEAR(moving.expected + moving.uncertainty, along_one, 1e-12);
    EXPECT_NEAR(moving.expected - moving.uncertainty, along_one - 0.25 * 0.02 * 0.02, 1e-12);
    gas.run.means.clear();
    gas.run.species = {{.name = "a", .radius = 0.5, .mass = 1.0}, {.name = "b", .radius = 0.5, .mass = 0.1}};
    gas.run.counts = {2.0, 6.0};
    // 3 D / (D + 2) of D = 14; 1 - m / M is 0.615 and 0.962: 64 runs gave 2.7038 +- 0.0024.
    const double heavy = 1.0 - 1.0 / 2.6, light = 1.0 - 0.1 / 2.6;
    const double mean = 0.25 * heavy + 0.75 * light;
    EXPECT_NEAR(gas.check(2.7, 0.01).expected, 2.625 * (0.25 * heavy * heavy + 0.75 * light * light) / (mean * mean),
                1e-12);
    EXPECT_NEAR(gas.check(2.7, 0.01).expected, 2.7021, 1e-4);
    gas.kurtosis.info.species = "b";
    EXPECT_NEAR(gas.check(2.7, 0.01).expected, 2.625, 1e-12) << "of one mass";
}

/// Of what moves as a whole along a periodic axis; across one between walls it moves to and fro.
TEST(Verdict, KnowsHowBallsMoveAsAWhole) {
    Gas gas("", "\"periodic\", \"wall\"");
    gas.run.species.push_back({.name = "rock", .radius = 3.0, .mass = INFINITY});
    Balls balls;
    balls.resize(3);
    balls.velocity = {std::vector{1.0, 2.0, 0.0}, std::vector{5.0, 5.0, 0.0}, {}};
    gas.run.look_at_start(balls, {0, 0, 1});
    EXPECT_DOUBLE_EQ(gas.run.flow_energy, 0.5 * 6.0 * 6.0 / 4.0);
    EXPECT_FALSE(gas.run.bodies_move);
    balls.velocity[1][2] = -1.0;
    gas.run.look_at_start(balls, {0, 0, 1});
    EXPECT_TRUE(gas.run.bodies_move);
}

/// Of a fixed energy what stands high leaves less to all: 1 / (2 N) of T a scale height, in 2D.
TEST(Verdict, OnTheTemperatureOfARegionKnowsItsHeight) {
    const auto uncertainty = [](double low, const std::string& more) {
        Gas gas(more + fmt::format("[[observe]]\nname = \"t\"\nkind = \"temperature\"\n"
                                   "region = {{ min = [0.0, {}], max = [20.0, {}] }}\n",
                                   low, low + 5.0),
                "\"wall\", \"wall\"");
        const RunAverage average{{.name = "t", .kind = "temperature"},
                                 {.samples = 100.0, .x = {}, .y = {}, .values = {1.0}, .errors = {1e-3}}};
        return average_checks(gas.run, {&average, 1}).front().uncertainty;
    };
    const std::string gravity = "[physics]\ngravity = [0.0, -0.1]\n";  // a scale height of 5
    EXPECT_EQ(uncertainty(0.0, ""), 0.0);
    EXPECT_NEAR(uncertainty(0.0, gravity), 1.0 / 200.0, 1e-12);
    EXPECT_NEAR(uncertainty(15.0, gravity), 3.0 / 200.0, 1e-12);
    EXPECT_EQ(uncertainty(15.0, gravity + "[thermostat]\nkind = \"andersen\"\ntemperature = 1.0\nrate = 1.0\n"), 0.0);
}

/// In a round wall a gas that turns goes on so.
TEST(Verdict, KnowsThatAGasTurnsInARoundWall) {
    const auto energy = [](const std::string& more) {
        Gas gas(more, "\"wall\", \"wall\"");
        Balls balls;
        balls.resize(4);
        balls.position = {std::vector{11.0, 10.0, 9.0, 10.0}, std::vector{10.0, 11.0, 10.0, 9.0}, {}};
        balls.velocity = {std::vector{0.0, -3.0, 0.0, 3.0}, std::vector{3.0, 0.0, -3.0, 0.0}, {}};
        gas.run.look_at_start(balls, {0, 0, 0, 0});
        return gas.run.flow_energy;
    };
    EXPECT_EQ(energy(""), 0.0) << "corners stop it";
    EXPECT_DOUBLE_EQ(energy("[[wall]]\nshape = \"sphere\"\ncenter = [10.0, 10.0]\nradius = 9.0\nside = \"inside\"\n"),
                     0.5 * 4.0 * 2.0 * 9.0);
}

/// One heavy ball has a large part in the momentum that stays 0.
TEST(Verdict, OnTheTemperatureOfHeavyBallsTakesTheirMomentum) {
    Gas gas;
    gas.run.species.push_back({.name = "heavy", .radius = 0.5, .mass = 200.0});
    gas.run.counts.push_back(1.0);
    const auto expected = [&](const char* species) {
        const RunAverage average{{.name = "t", .kind = "temperature", .species = species},
                                 {.samples = 100.0, .x = {}, .y = {}, .values = {0.5}, .errors = {1e-2}}};
        return average_checks(gas.run, {&average, 1}).front().expected;
    };
    // Of 101 balls with 100 left to share, and half of the mass.
    EXPECT_NEAR(expected("heavy"), 1.01 * 0.5, 1e-12);
    EXPECT_NEAR(expected("a"), 1.01 * (1.0 - 2.0 / 400.0), 1e-12);
    // Rows have the warmth of 101 balls, 1.9 of it in their motion as a whole.
    gas.run.means = {{.name = "flow_energy", .mean = 1.9}};
    EXPECT_NEAR(expected("heavy"), (1.01 - 0.019) * 0.5, 1e-12);
    EXPECT_NEAR(expected("a"), (1.01 - 0.019) * (1.0 - 2.0 / 400.0), 1e-12);
    Gas along("", "\"periodic\", \"wall\"");
    along.run.species.push_back({.name = "b", .radius = 0.5, .mass = 2.0});
    along.run.counts.push_back(1.0);
    along.run.flow_energy = 1.9;
    const RunAverage average{{.name = "t", .kind = "temperature", .species = "b"},
                             {.samples = 100.0, .x = {}, .y = {}, .values = {0.99}, .errors = {1e-2}}};
    EXPECT_NEAR(average_checks(along.run, {&average, 1}).front().uncertainty, 1.9 / 101.0, 1e-12)
        << "of axes one by one nothing is known";
}

/// Whose energy is fixed, by what shares it: a momentum that something in the box changes too, a height if there is
/// one.
TEST(Verdict, OnAKurtosisKnowsWhatSharesTheEnergy) {
    const auto check_of = [](const std::string& more, const std::string& boundary) {
        return Gas(more, boundary).check(2.9, 1e-4);
    };
    const std::string walls = "\"wall\", \"wall\"";
    const auto of = [](double degrees) { return 3.0 * degrees / (degrees + 2.0); };
    EXPECT_NEAR(check_of("", walls).expected, of(200.0), 1e-12);
    EXPECT_EQ(check_of("", walls).uncertainty, 0.0);
    const std::string sphere =
        "[[wall]]\nshape = \"sphere\"\ncenter = [10.0, 10.0]\nradius = 2.0\nside = \"outside\"\n";
    const TheoryCheck round = check_of(sphere, "\"periodic\", \"periodic\"");
    EXPECT_NEAR(round.expected, of(200.0), 1e-12);
    EXPECT_NEAR(round.uncertainty, of(200.0) - of(198.0), 1e-12);
    const auto gravity = [&](double g) { return check_of(fmt::format("[physics]\ngravity = [0.0, {}]\n", -g), walls); };
    EXPECT_NEAR(gravity(1.0).expected, of(400.0), 1e-12);
    EXPECT_EQ(gravity(1.0).uncertainty, 0.0);
    EXPECT_NEAR(gravity(0.01).uncertainty, of(400.0) - of(200.0), 1e-12) << "a ceiling far below the gas's height";
}

/// Disks of two sizes have a theory of their pressure, and of nothing else that two sizes change.
TEST(Verdict, OfAMixtureIsByItsOwnEquationOfState) {
    Gas gas;
    gas.run.species.push_back({.name = "b", .radius = 0.25, .mass = 1.0});
    gas.run.counts.push_back(200.0);
    const double phi = (100.0 * 0.25 + 200.0 * 0.0625) * std::acos(-1.0) / 400.0;
    SizeMoments sizes;
    sizes.add(1.0, 1.0 / 3.0);
    sizes.add(0.5, 2.0 / 3.0);
    const double z = sizes.compressibility(2, phi);
    ASSERT_GT(std::abs(z / disk_compressibility(phi) - 1.0), 0.01) << "one size is another theory";
    const auto check_of = [&](const char* kind, double value) {
        const RunAverage average{{.name = "a", .kind = kind},
                                 {.samples = 100.0, .x = {}, .y = {}, .values = {value}, .errors = {1e-4}}};
        return average_checks(gas.run, {&average, 1});
    };
    ASSERT_EQ(check_of("compressibility", z).size(), 1U);
    EXPECT_NEAR(check_of("compressibility", z).front().expected, z, 1e-12);
    EXPECT_EQ(check_of("compressibility", z).front().words(), "agrees");
    EXPECT_EQ(check_of("compressibility", disk_compressibility(phi)).front().words(), "differs");
    EXPECT_NEAR(check_of("pressure", z).front().expected, z * 300.0 / 400.0, 1e-12);
    for (const char* kind : {"collision_rate", "mean_free_path", "self_diffusion"}) {
        EXPECT_TRUE(check_of(kind, 1.0).empty()) << kind;
    }
}

/// Where balls still fly straight on, or rattle among their neighbours, that is no diffusion.
TEST(Verdict, OfDiffusionNeedsLagsThatAreLong) {
    Gas gas;
    const auto check_of = [&](double every) {
        const RunAverage average{{.name = "d", .kind = "self_diffusion", .every = every},
                                 {.samples = 100.0, .x = {}, .y = {}, .values = {0.5}, .errors = {1e-4}}};
        const auto checks = average_checks(gas.run, {&average, 1});
        return checks.empty() ? TheoryCheck{} : checks.front();
    };
    const double expected = check_of(1e3).expected;
    ASSERT_GT(expected, 0.0);
    EXPECT_EQ(check_of(1e3).reason, "");
    // An eighth of 100 samples is 12.5 intervals: four times m D / T, or out of the cage, whichever takes longer.
    const double larger = std::max(0.5, expected);
    const double least = std::max(4.0 * 2.0 * larger, 0.25 / (4.0 * larger)) / 12.5;
    EXPECT_EQ(check_of(0.99 * least).reason, "too short for diffusion");
    EXPECT_EQ(check_of(1.01 * least).reason, "");
}

/// Of a temperature that balls never meet, or hardly, energy is as good as fixed, and what flows goes on so.
TEST(Verdict, OnABathIsOfOneThatIsMetAndForgotten) {
    const auto andersen = [](double rate) {
        return Gas(fmt::format("[thermostat]\nkind = \"andersen\"\ntemperature = 1.0\nrate = {}\n", rate));
    };
    // It forgets in 1 / rate, and is measured for 100.
    Gas soon = andersen(0.11);
    EXPECT_EQ(soon.check(3.0, 0.001).expected, 3.0);
    EXPECT_EQ(soon.check(3.0, 0.001).uncertainty, 0.0);
    for (const double rate : {0.09, 1e-7}) {
        Gas slow = andersen(rate);
        for (const double value : {Gas::kKurtosis, 3.0}) {
            const TheoryCheck check = slow.check(value, 0.001);
            EXPECT_EQ(check.words(), "agrees") << rate;
            EXPECT_NEAR(check.expected, Gas::kKurtosis, 1e-12);
            EXPECT_NEAR(check.uncertainty, 3.0 - Gas::kKurtosis, 1e-12);
        }
        slow.run.flow_energy = 50.0;
        EXPECT_TRUE(average_checks(slow.run, {&slow.kurtosis, 1}).empty()) << "nothing has stopped it";
    }
    soon.run.flow_energy = 50.0;
    EXPECT_EQ(soon.check(3.0, 0.001).words(), "agrees") << "it does not flow any more";
    Gas late = andersen(0.11);
    late.kurtosis.info.from = 50.0;
    EXPECT_GT(late.check(3.0, 0.001).uncertainty, 0.0) << "of the time that is measured";

    // One heavy ball has half of the momentum, which a slow bath may have changed.
    Gas slow = andersen(1e-3);
    slow.run.species.push_back({.name = "heavy", .radius = 0.5, .mass = 200.0});
    slow.run.counts.push_back(1.0);
    const RunAverage heavy{{.name = "t", .kind = "temperature", .species = "heavy"},
                           {.samples = 100.0, .x = {}, .y = {}, .values = {1.0}, .errors = {1e-2}}};
    const TheoryCheck check = average_checks(slow.run, {&heavy, 1}).front();
    EXPECT_NEAR(check.expected, 0.505, 1e-12);
    EXPECT_NEAR(check.uncertainty, 0.495, 1e-12);
}

TEST(Verdict, IsNoneOfABathThatSomeBallsMayNeverMeet) {
    const std::string never = "a bath that balls may never meet";
    const std::string warm = "\"wall\", \"wall\"]\nwall_temperature = [0.0, [0.0, 2.0]";
    const std::string round = "[[wall]]\nshape = \"sphere\"\ncenter = [10.0, 10.0]\nradius = 9.0\n";
    const auto kurtosis = [](Gas gas) { return gas.check(3.0, 0.001).words(); };
    EXPECT_EQ(kurtosis(Gas("", warm)), "agrees");
    EXPECT_EQ(kurtosis(Gas(round, warm)), never);
    EXPECT_EQ(kurtosis(Gas(round + "temperature = 2.0\n", warm)), "agrees") << "all are in it, or outside";
    EXPECT_EQ(kurtosis(Gas(round + "[thermostat]\nkind = \"andersen\"\ntemperature = 2.0\nrate = 1.0\n", warm)),
              "agrees");
    Gas behind("", warm);
    behind.run.species.push_back({.name = "rock", .radius = 1.0, .mass = INFINITY});
    behind.run.counts.push_back(10.0);
    EXPECT_EQ(kurtosis(behind), never) << "of a row of bodies";
    behind.run.judge_equilibrium(false);
    EXPECT_EQ(kurtosis(behind), "not at equilibrium");
    Gas for_once(
        "[[stage]]\nuntil = 50.0\nmeasure = true\n[[stage]]\nuntil = 100.0\nthermostat = { kind = \"andersen\", "
        "temperature = 1.0, rate = 1.0 }\n");
    EXPECT_EQ(kurtosis(for_once), never) << "in the first half";
    for_once.kurtosis.info.from = 50.0;
    EXPECT_EQ(kurtosis(for_once), "agrees");
}

}  // namespace carom::verdicts_test
