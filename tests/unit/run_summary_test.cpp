#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "host/run/say.hpp"
#include "host/run/summary.hpp"
#include "host/state/errors.hpp"
#include "host/state/text.hpp"
#include "tests/support/message_of.hpp"

namespace carom::run_summary_test {

using test::message_of;

using testing::HasSubstr;

TEST(Visible, ShowsWhatCommandsATerminalAndWhatIsNoUtf8) {
    EXPECT_EQ(visible("plain \u00e4 \u20ac \U0001f600"), "plain \u00e4 \u20ac \U0001f600");
    EXPECT_EQ(visible("a\n\x1b\x7f\u009b"), "a\\x0a\\x1b\\x7f\\x9b");
    // A byte alone, one that lacks the rest, an overlong form, a surrogate.
    EXPECT_EQ(visible("\xe4lle \xc3"), "\\xe4lle \\xc3");
    // What turns or hides a part of the line; not what scripts are joined with.
    EXPECT_EQ(visible("a\u202eb\u200bc\u2028\ufeff\U000e0041"), "a\\u{202e}b\\u{200b}c\\u{2028}\\u{feff}\\u{e0041}");
    EXPECT_EQ(visible("\u0645\u200c\u0646 \u200d \u2027\u202f\u2070"), "\u0645\u200c\u0646 \u200d \u2027\u202f\u2070");
    EXPECT_EQ(visible("a\u202eb\n", false), "a\u202eb\\x0a");
    EXPECT_EQ(visible("\xc0\xaf \xed\xa0\x80"), "\\xc0\\xaf \\xed\\xa0\\x80");
}

TEST(EnergyDrift, IsRelativeToTheLargerOfTotalAndKineticEnergyAtTheStart) {
    // Kinetic 2, gravitational -1.5: total 0.5, so 2 is what counts.
    const Totals first{.kinetic = 2.0, .gravitational = -1.5};
    const Totals last{.kinetic = 1.0, .gravitational = -0.4};
    EXPECT_DOUBLE_EQ(energy_drift(first, last), 0.1 / 2.0);
    const Totals high{.kinetic = 1.0, .gravitational = 9.0};
    const Totals higher{.kinetic = 1.0, .gravitational = 10.0};
    EXPECT_DOUBLE_EQ(energy_drift(high, higher), 0.1);
}

TEST(EnergyDrift, IsNoNumberWhenThereWasNoEnergy) { EXPECT_TRUE(std::isnan(energy_drift({}, {.kinetic = 1.0}))); }

TEST(EnergyBalance, TakesHeatWorkAndLossesOffTheChangeOfEnergy) {
    RunOutcome outcome;
    outcome.first = {.kinetic = 10.0};
    outcome.last = {.kinetic = 12.5};
    // Half of it had been given before this part of the run began.
    outcome.first_tallies = {.wall_heat = {1.0, -1.0}, .thermostat_heat = 0.5, .work = 1.0, .lost = 0.25};
    outcome.tallies = {.wall_heat = {21.0, -18.5}, .thermostat_heat = 1.0, .work = 1.75, .lost = 1.5};
    const EnergyBalance balance = energy_balance(outcome);
    EXPECT_DOUBLE_EQ(balance.heat, 3.0);
    EXPECT_DOUBLE_EQ(balance.work, 0.75);
    EXPECT_DOUBLE_EQ(balance.lost.value(), 1.25);
    // Of what went through: 20 in at one wall, 17.5 out at the other, 0.5 from the thermostat.
    EXPECT_NEAR(balance.defect.share, 0.0, 1e-15);
    EXPECT_DOUBLE_EQ(balance.defect.scale, 38.0);
    outcome.tallies.work += 0.38;
    EXPECT_NEAR(energy_balance(outcome).defect.share, -0.01, 1e-15);
    outcome.tallies.lost.reset();
    EXPECT_TRUE(std::isnan(energy_balance(outcome).defect.share));
}

/// A box with one warm face, and a [[wall]] that only a stage warms.
Scene warm_walls() {
    Scene scene;
    scene.box.dimension = 2;
    scene.box.temperature[1] = {2.0, 0.0};
    scene.walls.resize(2);
    Stage stage;
    stage.wall_temperature = scene.box.temperature;
    stage.wall_entry_temperature = {0.0, 3.0};
    stage.wall_velocity = {0.0, 0.0};
    scene.stages = {stage};
    return scene;
}

RunOutcome with_heat() {
    RunOutcome outcome;
    outcome.rows = 2;
    outcome.first_tallies.wall_heat = {0.0, 0.0, 1.0};
    outcome.tallies.wall_heat = {0.0, 0.0, 21.5, 0.0, 0.0, 0.0, 0.0, -4.25};
    return outcome;
}

TEST(EndSummary, TellsTheHeatOfEachThermalWallByName) {
    const auto told = [](const RunOutcome& outcome, const Scene& scene) {
        return end_summary(outcome, scene, {"events", "events_per_second", "event", 1.0}, {"a.h5", "b.h5"});
    };
    RunOutcome outcome = with_heat();
    std::string text = told(outcome, warm_walls());
    EXPECT_NE(text.find("\nheat by source: y-min +20.5, wall[1] -4.25\n"), std::string::npos) << text;
    outcome.tallies.thermostat_heat = 0.5;
    text = told(outcome, warm_walls());
    EXPECT_NE(text.find("\nheat by source: y-min +20.5, wall[1] -4.25, thermostat +0.5\n"), std::string::npos) << text;
    EXPECT_EQ(told(outcome, Scene{}).find("heat by source"), std::string::npos);
}

/// Equal baths make an equilibrium; what heat flows through is steady at most.
TEST(EndSummary, CallsSteadyWhatHeatFlowsThrough) {
    RunOutcome outcome = with_heat();
    outcome.means.equilibrated = true;
    outcome.means.means.push_back({"temperature", "J", 1.0, 0.1});
    const auto told = [&](const Scene& scene) {
        return end_summary(outcome, scene, {"events", "events_per_second", "event", 1.0}, {"a.h5", "b.h5"});
    };
    Scene scene;
    EXPECT_NE(told(scene).find("(equilibrated)"), std::string::npos);
    scene.box.temperature[0] = {1.0, 1.0};
    EXPECT_NE(told(scene).find("(equilibrated)"), std::string::npos);
    scene.box.temperature[0] = {1.0, 2.0};
    EXPECT_NE(told(scene).find("(steady)"), std::string::npos);
    scene.box.temperature[0] = {1.0, 1.0};
    scene.physics.restitution = 0.9;
    EXPECT_NE(told(scene).find("(steady)"), std::string::npos);
    // What has been made hot or cold before it is measured is in nobody's way.
    scene.physics.restitution = 1.0;
    scene.stages.resize(2);
    scene.stages[0].measure = false;
    scene.stages[0].wall_temperature[0] = {1.0, 2.0};
    scene.stages[1].wall_temperature[0] = {1.0, 1.0};
    EXPECT_NE(told(scene).find("(equilibrated)"), std::string::npos);
    scene.stages[0].measure = true;
    EXPECT_NE(told(scene).find("(steady)"), std::string::npos);
}

TEST(SummaryJson, HasTheHeatOfEachThermalWallByName) {
    const auto json = nlohmann::json::parse(summary_json(
        with_heat(), warm_walls(), 0, {"events", "events_per_second", "event", 1.0}, {}, {"a.h5", "b.h5"}));
    EXPECT_EQ(json["wall_heat"], nlohmann::json({{"y_min", 20.5}, {"wall_1", -4.25}}));
}

TEST(SummaryJson, IsOneLineAndHasNullsForWhatIsNoNumber) {
    Scene scene;
    RunOutcome outcome;
    outcome.hash = 0xabcULL;
    outcome.error = "two\nlines";
    const std::string text =
        summary_json(outcome, scene, 0, {"ball-steps", "ball_steps_per_second", "step", 0.0}, {}, {"a.h5", "b.h5"});
    EXPECT_EQ(text.find('\n'), std::string::npos);
    const auto json = nlohmann::json::parse(text);
    EXPECT_TRUE(json["energy_drift"].is_null());
    EXPECT_TRUE(json["checkpoint"].is_null());
    EXPECT_EQ(json["state_hash"], "0000000000000abc");
    EXPECT_EQ(json["momentum"].size(), 2u);
}

RunOutcome with_numbers() {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    RunOutcome outcome;
    outcome.numbers = {{"skew", "kurtosis", "", 2.987, 0.012, 500.0},
                       {"stress.xy", "stress", "N m-1", -0.25, kNan, 1.0},
                       {"late", "temperature", "J", kNan, kNan, 0.0},
                       {"thin.xx", "stress", "N m-1", 0.5, kNan, 500.0},
                       {"thin.yy", "stress", "N m-1", 0.6, kNan, 500.0}};
    return outcome;
}

TEST(EndSummary, TellsEachAverageThatIsANumberBesideTheory) {
    TheoryCheck skew{.what = "skew", .theory = "a law", .measured = 2.987, .error = 0.012, .expected = 3.0};
    skew.sigmas = -1.1;
    skew.would_show = 0.016;
    skew.verdict = TheoryVerdict::kAgrees;
    TheoryCheck weight{.what = "weight", .theory = "N m g", .measured = 9.0, .error = 4.0, .expected = 10.0};
    weight.sigmas = -0.25;
    weight.reason = "too few samples to say";
    const std::vector<TheoryCheck> theory{skew, weight};
    const std::string text = end_summary(with_numbers(), Scene{}, {"ball-steps", "ball_steps_per_second", "step", 0.0},
                                         {"a.h5", "b.h5"}, theory);
    EXPECT_NE(text.find("average skew 2.99(1); theory 3 (a law), -1.1 sigma: agrees, 1.6 % would show\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("\nweight 9(4); theory 10 (N m g), -0.2 sigma: no verdict, too few samples to say\n"),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("\nskew"), std::string::npos) << "it is told once";
    EXPECT_NE(text.find("average stress.xy -0.25, 1 sample: too few for an error\n"), std::string::npos) << text;
    EXPECT_NE(text.find("average late has no value from 0 samples\n"), std::string::npos) << text;
    EXPECT_NE(text.find("average thin.yy 0.6, no error: too few contacts were seen\n"), std::string::npos) << text;
}

TEST(EndSummary, WarnsOfEachAverageWithoutAnErrorOnceAndSoDoesItsJson) {
    RunOutcome outcome = with_numbers();
    outcome.report.warnings = {"of the solver"};
    const std::vector<std::string> warnings{
        "of the solver", "stress took 1 sample, too few for an error: shorten its observe.every, or run longer",
        "late took 0 samples, too few for an error: shorten its observe.every, or run longer",
        "thin has no error: too few contacts were seen; shorten its observe.every, or run longer"};
    const WorkUnit work{"ball-steps", "ball_steps_per_second", "step", 0.0};
    std::string lines;
    for (const std::string& warning : warnings) lines += "warning: " + warning + "\n";
    const std::string text = end_summary(outcome, Scene{}, work, {"a.h5", "b.h5"});
    EXPECT_NE(text.find("\n" + lines), std::string::npos) << text;
    const auto json = nlohmann::json::parse(summary_json(outcome, Scene{}, 0, work, {}, {"a.h5", "b.h5"}));
    EXPECT_EQ(json["warnings"], nlohmann::json(warnings));
    outcome.numbers.resize(1);  // that has its error
    outcome.report.warnings.clear();
    EXPECT_FALSE(
        nlohmann::json::parse(summary_json(outcome, Scene{}, 0, work, {}, {"a.h5", "b.h5"})).contains("warnings"));
}

TEST(SummaryJson, HoldsEachAverageThatIsANumber) {
    const auto json = nlohmann::json::parse(summary_json(
        with_numbers(), Scene{}, 0, {"ball-steps", "ball_steps_per_second", "step", 0.0}, {}, {"a.h5", "b.h5"}));
    const auto& averages = json["averages"];
    EXPECT_EQ(averages.size(), 5u);
    EXPECT_EQ(averages["skew"]["mean"], 2.987);
    EXPECT_EQ(averages["skew"]["error"], 0.012);
    EXPECT_EQ(averages["skew"]["samples"], 500.0);
    EXPECT_EQ(averages["stress.xy"]["unit"], "N m-1");
    EXPECT_EQ(averages["stress.xy"]["kind"], "stress");
    EXPECT_TRUE(averages["stress.xy"]["error"].is_null());
    EXPECT_TRUE(averages["late"]["mean"].is_null());
}

TEST(Text, CountsAndBytesReadEasily) {
    EXPECT_EQ(count_text(0), "0");
    EXPECT_EQ(count_text(999), "999");
    EXPECT_EQ(count_text(1234567), "1,234,567");
    EXPECT_EQ(bytes_text(999), "999 bytes");
    EXPECT_EQ(bytes_text(1500), "1.5 kB");
    EXPECT_EQ(bytes_text(63'400'000), "63 MB");
    EXPECT_EQ(bytes_text(999'900'000), "1.0 GB");
    EXPECT_EQ(plural(1, "ball"), "1 ball");
    EXPECT_EQ(plural(2000, "ball"), "2,000 balls");
}

TEST(WithError, HasTheErrorInUnitsOfTheLastDigit) {
    EXPECT_EQ(with_error(0.99314, 0.00042), "0.9931(4)");
    EXPECT_EQ(with_error(-0.99314, 0.00042), "-0.9931(4)");
    EXPECT_EQ(with_error(-1234.0, 26.0), "-1230(30)");
    EXPECT_EQ(with_error(1.5, std::numeric_limits<double>::quiet_NaN()), "1.5");
}

TEST(WithError, HasNoSignWhereNothingButZerosIsLeft) {
    EXPECT_EQ(with_error(-0.3, 12.0), "0(10)");
    EXPECT_EQ(with_error(-0.004, 0.04), "0.00(4)");
    EXPECT_EQ(with_error(-0.006, 0.04), "-0.01(4)");
    EXPECT_EQ(with_error(0.3, 12.0), "0(10)");
    EXPECT_EQ(with_error(1.25e-7, 3e-7), "0.0000001(3)");
    EXPECT_EQ(with_error(9.1e-16, 2e-13), "0(2)e-13");
    EXPECT_EQ(with_error(-1.234e-9, 4e-11), "-1.23(4)e-09");
    EXPECT_EQ(with_error(3.0, 2e-9), "3.000000000(2)");
}

const std::vector<std::string_view> kCommands{"run", "check", "state", "convert", "plot", "info"};

TEST(NearestName, FindsSlipsOfTheFinger) {
    EXPECT_EQ(nearest_name("rnu", kCommands), "run");
    EXPECT_EQ(nearest_name("chek", kCommands), "check");
    EXPECT_EQ(nearest_name("covnert", kCommands), "convert");
    EXPECT_EQ(nearest_name("plots", kCommands), "plot");
}

TEST(NearestName, IsEmptyWhereNothingIsNear) {
    EXPECT_EQ(nearest_name("frobnicate", kCommands), "");
    EXPECT_EQ(nearest_name("xyz", kCommands), "");
    EXPECT_EQ(nearest_name("", kCommands), "");
}

TEST(NearestName, AllowsFewerSlipsInShortWordsIfAsked) {
    EXPECT_EQ(nearest_name("ran", kCommands, 1), "run");
    EXPECT_EQ(nearest_name("ra", kCommands), "run");
    EXPECT_EQ(nearest_name("ra", kCommands, 1), "");
}

TEST(TextFile, IsReadWhole) {
    const std::string path = testing::TempDir() + "carom-text-file";
    for (const std::string& text :
         {std::string(), std::string("a\n"), std::string("\r\n\0x", 4), std::string(70000, 'y')}) {
        std::ofstream(path, std::ios::binary) << text;
        EXPECT_EQ(read_text_file(path), text);
    }
    std::filesystem::remove(path);
}

TEST(TextFile, SaysWhyItCannotBeRead) {
    const std::string path = testing::TempDir() + "carom-no-such-file";
    EXPECT_THAT(message_of<SystemError>([&] { (void)read_text_file(path); }),
                HasSubstr(path + ": cannot be read: No such file"));
    EXPECT_THAT(message_of<SystemError>([] { (void)read_text_file(testing::TempDir()); }), HasSubstr("cannot be read"));
}

}  // namespace carom::run_summary_test
