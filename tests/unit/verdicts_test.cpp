#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "host/scene/load.hpp"
#include "host/theory/theory_checks.hpp"

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
    gas.run.unsettled = "a wall moves";
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
    gas.run.equilibrated_since.reset();
    EXPECT_EQ(weight(gas, 120.0).words(), "not known to be at equilibrium");
    Gas held(gravity + "[thermostat]\nkind = \"andersen\"\ntemperature = 1.0\nrate = 1.0\n", walls);
    EXPECT_NEAR(weight(held, 100.0).error, 60.0, 1e-9) << "velocities come from elsewhere too";
}

}  // namespace carom::verdicts_test
