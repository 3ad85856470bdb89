#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <set>
#include <sstream>

#include "host/plot/table_figure.hpp"
#include "host/scene/formula.hpp"
#include "host/state/errors.hpp"
#include "host/sweep/journal.hpp"
#include "host/sweep/run_sweep.hpp"
#include "host/sweep/sweep.hpp"
#include "tests/support/message_of.hpp"

namespace carom::sweep_table_test {

using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> texts(double from, double to, double step) {
    std::vector<std::string> result;
    for (const double value : stepped_values(from, to, step)) result.push_back(decimal_text(value));
    return result;
}

TEST(SteppedValues, AreTheDecimalsThatAPersonWouldWrite) {
    EXPECT_THAT(texts(0.35, 0.525, 0.025),
                ElementsAre("0.35", "0.375", "0.4", "0.425", "0.45", "0.475", "0.5", "0.525"));
    EXPECT_THAT(texts(0.0, 0.3, 0.1), ElementsAre("0", "0.1", "0.2", "0.3"));
    EXPECT_THAT(texts(0, 7, 1), ElementsAre("0", "1", "2", "3", "4", "5", "6", "7"));
    EXPECT_THAT(texts(1e-6, 3e-6, 1e-6), ElementsAre("1e-06", "2e-06", "3e-06"));
    EXPECT_THAT(texts(2e6, 4e6, 1e6), ElementsAre("2000000", "3000000", "4000000"));
}

TEST(SteppedValues, MayGoDownAndThroughZeroWithoutASign) {
    EXPECT_THAT(texts(0.2, -0.2, -0.1), ElementsAre("0.2", "0.1", "0", "-0.1", "-0.2"));
}

TEST(SteppedValues, OneValueIsEnough) { EXPECT_THAT(texts(0.3, 0.3, 0.1), ElementsAre("0.3")); }

TEST(SteppedValues, AreDecimalsInLongRangesToo) {
    const auto values = stepped_values(0.0, 1000.0, 0.001);
    ASSERT_EQ(values.size(), 1000001u);
    for (std::size_t k = 0; k < values.size(); k += 997) {
        EXPECT_EQ(values[k], std::stod(fmt::format("{}.{:03}", k / 1000, k % 1000)));
    }
}

TEST(SteppedValues, WithStepsThatAreNoShortDecimalsEndAtTheEnd) {
    const auto values = stepped_values(0.0, 1.0, 1.0 / 3.0);
    ASSERT_EQ(values.size(), 4u);
    EXPECT_DOUBLE_EQ(values.back(), 1.0);
    EXPECT_EQ(stepped_values(1e6, 1e6 + 1e-3, 1e-4).size(), 11u) << "rounding of the ends is forgiven";
}

TEST(SteppedValues, RefuseStepsThatMissTheEnd) {
    EXPECT_THAT(message_of<InputError>([] { stepped_values(9007199254740990.0, 9007199254741000.0, 1.0); }),
                HasSubstr("steps of 1 are lost in rounding at 9007199254740992"));
    EXPECT_THAT(message_of<InputError>([] { stepped_values(0.35, 0.53, 0.025); }),
                HasSubstr("do not hit 0.53: the nearest is 0.525"));
    EXPECT_THAT(message_of<InputError>([] { stepped_values(0.0, 1.0, -0.1); }), HasSubstr("leads away"));
    EXPECT_THAT(message_of<InputError>([] { stepped_values(0.0, 1.0, 0.0); }), HasSubstr("must not be 0"));
    EXPECT_THAT(message_of<InputError>([] { stepped_values(0.0, 1.0, 1e-9); }), HasSubstr("more than 10000000 values"));
}

double value_of(const std::string& text) { return Formula(text, {"x", "y_2"}).evaluate(std::vector{3.0, 0.25}); }

TEST(Formulas, BindAsInArithmetic) {
    EXPECT_EQ(value_of("1 + 2 * x"), 7.0);
    EXPECT_EQ(value_of("(1 + 2) * x"), 9.0);
    EXPECT_EQ(value_of("8 - 4 - 2"), 2.0);
    EXPECT_EQ(value_of("8 / 4 / 2"), 1.0);
    EXPECT_EQ(value_of("-x^2"), -9.0);
    EXPECT_EQ(value_of("2^-1"), 0.5);
    EXPECT_EQ(value_of("2^3^2"), 512.0);
    EXPECT_EQ(value_of("2 * -x"), -6.0);
    EXPECT_EQ(value_of(" 1e-1*1E1 "), 1.0);
}

TEST(Formulas, KnowFunctionsAndNames) {
    EXPECT_EQ(value_of("sqrt(y_2)"), 0.5);
    EXPECT_EQ(value_of("min(x, y_2) + max(x, y_2)"), 3.25);
    for (const char* const none :
         {"min((-3)^0.5, 2)", "min(2, (-3)^0.5)", "max((-3)^0.5, 2)", "max(2, (-3)^0.5)", "((-3)^0.5)^0", "1^(-3)^0.5",
          "(-3)^0.5 < 1", "1 != (-3)^0.5", "(-3)^0.5 == (-3)^0.5", "not (-3)^0.5", "0 and (-3)^0.5", "(-3)^0.5 or 1"}) {
        EXPECT_TRUE(std::isnan(value_of(none))) << none;
    }
    EXPECT_DOUBLE_EQ(value_of("cos(60 * pi / 180)"), 0.5);
    EXPECT_DOUBLE_EQ(value_of("exp(log(x)) + abs(-1)"), 4.0);
    EXPECT_DOUBLE_EQ(value_of("atan(1) + asin(0) + acos(1) + sin(0) + tan(0)"), std::numbers::pi / 4.0);
    EXPECT_TRUE(Formula("x + 1", {"x", "y"}).uses(0));
    EXPECT_FALSE(Formula("x + 1", {"x", "y"}).uses(1));
}

TEST(Formulas, CompareAndDecide) {
    EXPECT_EQ(value_of("x > 2"), 1.0);
    EXPECT_EQ(value_of("x>=3 and not y_2 < 0.25"), 1.0);
    EXPECT_EQ(value_of("x < 2 or y_2 == 0.25 and x != 3"), 0.0);
    EXPECT_EQ(value_of("(x < 2 or y_2 == 0.25) and x <= 3"), 1.0);
    EXPECT_EQ(value_of("2 * (x + 1 > 3) + 1"), 3.0);
    EXPECT_EQ(value_of("min(x, 5) > 2 or 1 > 2"), 1.0);
    const Formula names("order and android or nothing", {"order", "android", "nothing"});
    EXPECT_EQ(names.evaluate(std::vector{0.0, 1.0, 2.0}), 1.0);
    EXPECT_EQ(names.evaluate(std::vector{3.0, 0.0, 0.0}), 0.0);
    EXPECT_THAT(message_of<InputError>([] { value_of("1 < x < 2"); }), HasSubstr("an operator is expected"));
}

TEST(Formulas, OfStrangersAreReadAndEvaluatedInBoundedTimeAndMemory) {
    EXPECT_THAT(message_of<InputError>([] { value_of(std::string(3000, '1')); }), HasSubstr("longer than 2000"));
    EXPECT_THAT(message_of<InputError>([] { value_of("not " + std::string(1900, 'x')); }), HasSubstr("is not known"));
    std::string nots;
    for (int k = 0; k < 400; ++k) nots += "not ";
    EXPECT_THAT(message_of<InputError>([&] { value_of(nots + "x"); }), HasSubstr("are too deep"));
    // Each bracket leaves five numbers waiting.
    std::string waiting;
    for (int k = 0; k < 60; ++k) waiting += "0 or 1 and 2 < 3 + 4 * (";
    EXPECT_THAT(message_of<InputError>([&] { value_of(waiting + "1"); }), HasSubstr("wait for each other"));
}

TEST(Formulas, SayWhereTheyAreWrong) {
    EXPECT_THAT(message_of<InputError>([] { value_of("1 + z"); }),
                HasSubstr("character 5: 'z' is not known; allowed: x, y_2, sqrt"));
    EXPECT_THAT(message_of<InputError>([] { value_of("(1 + x"); }), HasSubstr("character 7: ')' is expected"));
    EXPECT_THAT(message_of<InputError>([] { value_of("1 2"); }), HasSubstr("an operator is expected"));
    EXPECT_THAT(message_of<InputError>([] { value_of("min(1)"); }), HasSubstr("',' is expected"));
    EXPECT_THAT(message_of<InputError>([] { value_of(""); }), HasSubstr("it ends too early"));
    EXPECT_THAT(message_of<InputError>([] { value_of("1 +* 2"); }), HasSubstr("a number, a name or '(' is expected"));
    EXPECT_THAT(message_of<InputError>([] { value_of(std::string(1500, '(')); }), HasSubstr("too deep"));
    EXPECT_THAT(message_of<InputError>([] { value_of(std::string(1500, '-')); }), HasSubstr("too many"));
}

Sweep sweep_of(const std::string& rest, const std::string& head = "") {
    return parse_sweep(
        "[sweep]\nscene = \"" CAROM_SOURCE_DIR "/scenes/two_balls.toml\"\nrecord = [\"temperature\"]\n" + head + rest,
        "t.sweep.toml");
}

const std::string kAxes = R"(
[[axis]]
key = "physics.restitution"
values = [0.5, 1.0]
[[axis]]
key = "scene.seed"
values = [1, 2, 3]
[[axis]]
key = "run.until"
name = "end [s]"
values = { from = 0.1, to = 0.2, step = 0.1 }
)";

TEST(SweepGrid, LastAxisIsTheFastest) {
    const Sweep sweep = sweep_of(kAxes);
    EXPECT_EQ(sweep.rows(), 12u);
    EXPECT_THAT(sweep.values_of(0), ElementsAre(0u, 0u, 0u));
    EXPECT_THAT(sweep.values_of(1), ElementsAre(0u, 0u, 1u));
    EXPECT_THAT(sweep.values_of(2), ElementsAre(0u, 1u, 0u));
    EXPECT_THAT(sweep.values_of(11), ElementsAre(1u, 2u, 1u));
    EXPECT_EQ(sweep.label_of(3), "physics.restitution=0.5, scene.seed=2, end [s]=0.2");
    EXPECT_EQ(sweep.assignments(3).back().text, "run.until=0.2");
}

TEST(SweepGrid, RunsOfOneRowFollowEachOther) {
    const Sweep sweep = sweep_of(kAxes, "average_over = \"scene.seed\"\n");
    EXPECT_EQ(sweep.rows(), 4u);
    EXPECT_EQ(sweep.runs(), 12u);
    EXPECT_THAT(sweep.values_of(3), ElementsAre(0u, 0u, 1u));
    EXPECT_THAT(sweep.values_of(5), ElementsAre(0u, 2u, 1u));
    EXPECT_THAT(sweep.axis_columns(), ElementsAre("physics.restitution", "end [s]"));
}

TEST(SweepGrid, ShardsHaveEveryRowOnce) {
    const Sweep whole = sweep_of(kAxes);
    for (const std::size_t shards : {1u, 2u, 5u, 12u, 13u}) {
        std::vector<int> seen(12, 0);
        for (std::size_t shard = 0; shard < shards; ++shard) {
            Sweep part = whole;
            part.shard = shard;
            part.shards = shards;
            for (std::uint64_t row = 0; row < part.rows(); ++row) {
                ++seen.at(part.row_number(row));
                EXPECT_EQ(part.values_of(row), whole.values_of(part.row_number(row)));
            }
        }
        EXPECT_THAT(seen, testing::Each(1)) << shards;
    }
}

TEST(SweepGrid, FormulasFollowTheAxes) {
    const Sweep sweep = sweep_of(kAxes +
                                 "[[set]]\nkeys = [\"a.b\", \"c.d\"]\nformula = \"10 * end\"\n"
                                 "[[set]]\nkey = \"e.f\"\nvalue = [1, \"x\", true]\n");
    const auto all = sweep.assignments(1);
    EXPECT_EQ(all.front().text, "e.f=[1, \"x\", true]");
    EXPECT_EQ(all[all.size() - 2].text, "a.b=2");
    EXPECT_EQ(all.back().text, "c.d=2");
}

TEST(SweepTable, HoldsAxesThenRecords) {
    const Sweep sweep = sweep_of("[[axis]]\nkey = \"scene.title\"\nvalues = [\"a,b\", \"c\"]\n");
    const std::map<std::uint64_t, RunResult> results{{0, {{0.1, 3.0}, ""}}, {1, {{}, "stuck"}}};
    EXPECT_EQ(table_text(sweep, {"one", "two"}, results), "scene.title,one,two\n\"a,b\",0.1,3\nc,,\n");
}

TEST(SweepTable, AveragesWithTheStandardErrorOfTheMean) {
    const Sweep sweep = sweep_of(
        "[[axis]]\nkey = \"scene.seed\"\nvalues = [1, 2, 3, 4]\n[[axis]]\nkey = \"run.until\"\nvalues = [5, 6]\n",
        "average_over = \"scene.seed\"\n");
    std::map<std::uint64_t, RunResult> results;
    for (std::uint64_t run = 0; run < 8; ++run) results[run].values = {static_cast<double>(run % 4)};
    // 0, 1, 2, 3: the variance of the sample is 5/3, that of the mean 5/12.
    const std::string se = fmt::format("{}", std::sqrt(5.0 / 3.0 / 4.0));
    EXPECT_EQ(table_text(sweep, {"v"}, results), "run.until,v,v_se\n5,1.5," + se + "\n6,1.5," + se + "\n");
    results[6].values.clear();
    EXPECT_EQ(table_text(sweep, {"v"}, results), "run.until,v,v_se\n5,1.5," + se + "\n6,,\n")
        << "a mean over the runs that could go on would be another quantity";
}

TEST(SweepKey, ChangesWithAllThatResultsDependOn) {
    const std::string changes[] = {
        kAxes,
        kAxes + "[[set]]\nkey = \"box.size\"\nvalue = [10.0, 11.0]\n",
        kAxes + "[[set]]\nkey = \"box.size\"\nvalue = [10.0, 12.0]\n",
        kAxes + "[[set]]\nkey = \"a.b\"\nformula = \"end\"\n",
        kAxes + "[[set]]\nkey = \"a.b\"\nformula = \"2 * end\"\n",
        "[[axis]]\nkey = \"run.until\"\nvalues = [1, 2]\n",
        "[[axis]]\nkey = \"run.until\"\nvalues = [1, 3]\n",
    };
    std::set<std::string> keys;
    for (const std::string& text : changes) EXPECT_TRUE(keys.insert(sweep_key(sweep_of(text), {}, {"v"})).second);
    Sweep sweep = sweep_of(kAxes);
    EXPECT_TRUE(keys.insert(sweep_key(sweep, {}, {"w"})).second);
    EXPECT_TRUE(keys.insert(sweep_key(sweep, {.steps = 7}, {"v"})).second);
    sweep.shards = 2;
    EXPECT_TRUE(keys.insert(sweep_key(sweep, {}, {"v"})).second);
    sweep.shards = 1;
    EXPECT_FALSE(keys.insert(sweep_key(sweep, {.threads = 3}, {"v"})).second) << "threads change nothing";
    sweep.overrides = {"box.size=[9, 9]"};
    EXPECT_TRUE(keys.insert(sweep_key(sweep, {}, {"v"})).second);
}

TEST(SweepNames, TheTableIsNamedAfterTheSweep) {
    EXPECT_EQ(default_table("a/pinfall.sweep.toml"), "pinfall.csv");
    EXPECT_EQ(default_table("scan.toml"), "scan.csv");
    EXPECT_EQ(name_without_unit("angle [deg]"), "angle");
    EXPECT_EQ(name_without_unit("ball[0]"), "ball[0]");
}

TEST(SweepProgressText, SaysHowManyAndHowLong) {
    EXPECT_EQ(sweep_progress_text(16, 64, 4.0, 0), " 25 %  16 of 64 runs  4 runs/s  0:12 left");
    EXPECT_EQ(sweep_progress_text(16, 64, 0.0, 60).substr(0, 33), " 25 % [======>                 ] ");
    EXPECT_LE(sweep_progress_text(1600, 6400, 4.0, 30).size(), 30u);
}

class JournalTest : public testing::Test {
protected:
    void SetUp() override {
        path =
            testing::TempDir() + "journal_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".part";
        std::filesystem::remove(path);
    }
    void TearDown() override { std::filesystem::remove(path); }
    std::string text() {
        std::ostringstream all;
        all << std::ifstream(path).rdbuf();
        return all.str();
    }
    std::string path;
};

TEST_F(JournalTest, ReadsBackTheSameNumbers) {
    {
        Journal journal(path, "k", {8, 2}, false);
        journal.add(7, {{1.0 / 3.0, std::nan("")}, ""});
        journal.add(3, {{}, "collapsed,\nbadly"});
    }
    const Journal again(path, "k", {8, 2}, false);
    ASSERT_EQ(again.results().size(), 2u);
    EXPECT_EQ(again.results().at(7).values[0], 1.0 / 3.0);
    EXPECT_TRUE(std::isnan(again.results().at(7).values[1]));
    EXPECT_TRUE(again.results().at(3).values.empty());
    EXPECT_EQ(again.results().at(3).error, "collapsed, badly");
}

TEST_F(JournalTest, EveryPrefixOfTheFileIsGood) {
    {
        Journal journal(path, "k", {8, 1}, false);
        journal.add(0, {{0.25}, ""});
        journal.add(1, {{125.0}, ""});
    }
    const std::string whole = text();
    for (std::size_t length = 0; length <= whole.size(); ++length) {
        std::ofstream(path, std::ios::trunc) << whole.substr(0, length);
        {
            Journal journal(path, "k", {8, 1}, false);
            for (const auto& [run, result] : journal.results()) {
                EXPECT_EQ(result.values.at(0), run == 0 ? 0.25 : 125.0) << length;
            }
            journal.add(2, {{4.0}, ""});
        }
        const Journal again(path, "k", {8, 1}, false);
        EXPECT_TRUE(again.results().contains(2)) << length;
    }
}

TEST_F(JournalTest, RunsOfALineThatWasChangedAreDoneAgain) {
    {
        Journal journal(path, "k", {8, 1}, false);
        journal.add(0, {{0.25}, ""});
        journal.add(1, {{125.0}, ""});
        journal.add(2, {{}, "collapsed"});
    }
    const std::string whole = text();
    for (std::size_t at = whole.find('\n') + 1; at < whole.size(); ++at) {
        std::string changed = whole;
        changed[at] = changed[at] == '7' ? '8' : '7';
        std::ofstream(path, std::ios::trunc) << changed;
        const Journal journal(path, "k", {8, 1}, false);
        EXPECT_LT(journal.results().size(), 3u) << at;
        for (const auto& [run, result] : journal.results()) {
            EXPECT_EQ(result.values.at(0), run == 0 ? 0.25 : 125.0) << at;
        }
    }
}

TEST_F(JournalTest, RefusesAnotherSweepsFileUnlessForced) {
    {
        Journal journal(path, "k", {8, 1}, false);
        journal.add(0, {{0.25}, ""});
    }
    const std::string before = text();
    EXPECT_THAT(message_of<InputError>([&] { Journal(path, "other", {8, 1}, false); }), HasSubstr("another sweep"));
    EXPECT_EQ(text(), before);
    EXPECT_EQ(Journal(path, "other", {8, 1}, true).results().size(), 0u);
    EXPECT_THAT(message_of<InputError>([&] { Journal(path, "k", {8, 1}, false); }), HasSubstr("another sweep"));
}

TEST_F(JournalTest, ALineOfAnotherSweepIsADamagedOne) {
    {
        Journal other(path, "other", {8, 1}, false);
        other.add(1, {{0.5}, ""});
        other.add(2, {{}, "collapsed"});
    }
    const std::string others = text().substr(text().find('\n') + 1);
    {
        Journal journal(path, "k", {8, 1}, true);
        journal.add(0, {{0.25}, ""});
    }
    const std::string own = text();
    std::ofstream(path, std::ios::app) << others;
    EXPECT_EQ(Journal(path, "k", {8, 1}, false).results().size(), 1u);
    EXPECT_EQ(text(), own);
}

TEST_F(JournalTest, ALineOfARunThatTheSweepHasNotIsADamagedOne) {
    {
        Journal journal(path, "k", {100, 1}, false);
        journal.add(0, {{0.25}, ""});
        journal.add(99, {{}, "no"});
        journal.add(1, {{125.0}, ""});
    }
    EXPECT_EQ(Journal(path, "k", {100, 1}, false).results().size(), 3u);
    const std::string whole = text();
    EXPECT_EQ(Journal(path, "k", {99, 1}, false).results().size(), 1u);
    EXPECT_EQ(text() + journal_line(99, {{}, "no"}, "k") + journal_line(1, {{125.0}, ""}, "k"), whole);
}

TEST_F(JournalTest, OfAnySizeIsReadInPieces) {
    constexpr std::uint64_t kRuns = 60'000;
    const auto result_of = [](std::uint64_t run) {
        return RunResult{{static_cast<double>(run) / 7.0, -1.0 / (1.0 + static_cast<double>(run))}, ""};
    };
    { const Journal begun(path, "k", {kRuns, 2}, false); }
    {
        std::ofstream file(path, std::ios::app);
        for (std::uint64_t run = 0; run < kRuns; ++run) file << journal_line(run, result_of(run), "k");
    }
    const std::string whole = text();
    ASSERT_GT(whole.size(), 3u << 20);
    int looks = 0;
    const Journal journal(path, "k", {kRuns, 2}, false, [&looks] { return ++looks, 0; });
    ASSERT_EQ(journal.results().size(), kRuns);
    for (std::uint64_t run = 0; run < kRuns; ++run) ASSERT_EQ(journal.results().at(run).values, result_of(run).values);
    EXPECT_GT(looks, 3);
}

TEST_F(JournalTest, AnInterruptionWhileItIsReadLeavesItAsItIs) {
    {
        Journal journal(path, "k", {8, 1}, false);
        journal.add(0, {{0.25}, ""});
    }
    std::ofstream(path, std::ios::app) << "half a li";
    const std::string whole = text();
    {
        const Journal journal(path, "k", {8, 1}, false, [] { return SIGINT; });
        EXPECT_EQ(text(), whole);
    }
    EXPECT_EQ(Journal(path, "k", {8, 1}, false).results().size(), 1u);
}

TEST_F(JournalTest, ALineWithoutAnEndIsNotReadToItsEnd) {
    { const Journal begun(path, "k", {8, 1}, false); }
    const auto head = std::filesystem::file_size(path);
    std::filesystem::resize_file(path, std::uintmax_t{1} << 40);  // takes an hour to read
    EXPECT_TRUE(Journal(path, "k", {8, 1}, false).results().empty());
    EXPECT_EQ(std::filesystem::file_size(path), head);
}

TEST_F(JournalTest, WhatHasTakenItsPlaceStays) {
    for (const bool replaced : {false, true}) {
        Journal journal(path, "k", {8, 1}, false);
        journal.add(0, {{0.25}, ""});
        EXPECT_TRUE(journal.in_place());
        std::filesystem::rename(path, path + ".moved");
        EXPECT_FALSE(journal.in_place());
        if (replaced) std::ofstream(path) << "notes";
        EXPECT_FALSE(journal.in_place());
        journal.remove();
        EXPECT_EQ(std::filesystem::exists(path), replaced);
        EXPECT_EQ(text(), replaced ? "notes" : "");
        std::filesystem::rename(path + ".moved", path);
        journal.remove();
        EXPECT_FALSE(std::filesystem::exists(path));
    }
}

const std::string kGrid = "x [m],angle,fall,fall_se\n0.1,0,1,3\n0.1,1,2,4\n0.2,0,3,0\n0.2,1,,\n";

TEST(SweepTables, AreReadWithQuotesAndEmptyCells) {
    const SweepTable table = parse_table("a,\"b,c\"\r\n1,\"x \"\"y\"\"\"\r\n2,\r\n", "t.csv");
    EXPECT_THAT(table.names, ElementsAre("a", "b,c"));
    EXPECT_THAT(table.rows[0], ElementsAre("1", "x \"y\""));
    EXPECT_THAT(table.rows[1], ElementsAre("2", ""));
    EXPECT_TRUE(std::isnan(table.numbers(1)[1]));
}

TEST(SweepTables, HaveNumbersWithAPlusAndBlanks) {
    const SweepTable table = parse_table("a,b\n1,+1.5\n2,+15e-1\n3,+-1\n", "t.csv");
    EXPECT_FALSE(table.numeric(1)) << "+-1";
    EXPECT_EQ(table.numbers(1)[0], 1.5);
    const SweepTable numbers = parse_table("a,b\n1,+1.5\n2,15e-1\n3,-1.5\n", "t.csv");
    EXPECT_THAT(numbers.rows[1], ElementsAre("2", "+1.5")) << "one value in two forms";
    EXPECT_THAT(numbers.rows[2], ElementsAre("3", "-1.5"));
    const SweepTable blank = parse_table("a,b\n1, 1.5\n2,15e-1 \n3, \n", "t.csv");
    EXPECT_TRUE(blank.numeric(1));
    EXPECT_THAT(blank.rows[1], ElementsAre("2", " 1.5"));
    EXPECT_TRUE(std::isnan(blank.numbers(1)[2]));
}

TEST(SweepTables, HaveNoNegativeErrors) {
    const SweepTable table = parse_table("a,v,v_se\n1,2,0.5\n2,3,-0.25\n", "t.csv");
    const auto reduced = [&] { reduce_table(table, choose_columns(table, {}), false); };
    EXPECT_THAT(message_of<InputError>(reduced), HasSubstr("t.csv:3: v_se: no standard error is negative"));
    const SweepTable wide = parse_table("a,s,v,v_se\n1,1,2,3e200\n1,2,2,4e200\n2,1,2,3e-200\n2,2,2,4e-200\n", "t.csv");
    const Reduced sum = reduce_table(wide, choose_columns(wide, {.by = {"a"}}), false);
    EXPECT_DOUBLE_EQ(sum.errors[0], 5e200);
    EXPECT_DOUBLE_EQ(sum.errors[1], 5e-200);
}

TEST(SweepTables, AxesAreTheFewestFirstColumnsThatTellRowsApart) {
    EXPECT_EQ(parse_table(kGrid, "t.csv").axes, 2u);
    EXPECT_EQ(parse_table("a,b\n1,2\n2,2\n", "t.csv").axes, 1u);
    EXPECT_EQ(parse_table("a,b,c,d\n1,1,1,0\n1,1,2,0\n", "t.csv").axes, 3u);
    for (const char* const key : {"scene.seed", "box.size[0]", "fill[0].temperature", "stage[0].thermostat.rate"}) {
        const std::string table = fmt::format("a,{},c\n1,7,0\n2,7,0\n", key);
        EXPECT_EQ(parse_table(table, "t.csv").axes, 2u) << key << " is an axis, of one value";
    }
    for (const char* const name : {"felled_all", "temperature", "momentum.x", "b_se", "seed"}) {
        const std::string table = fmt::format("a,{},c\n1,7,0\n2,7,0\n", name);
        EXPECT_EQ(parse_table(table, "t.csv").axes, 1u) << name << " may be measured";
    }
    EXPECT_EQ(parse_table("\xEF\xBB\xBF" + kGrid, "t.csv").find("x"), 0u) << "behind a byte order mark";
    EXPECT_EQ(parse_table(kGrid, "t.csv").find("x"), 0u);
    EXPECT_EQ(parse_table(kGrid, "t.csv").find("x [m]"), 0u);
}

TEST(SweepTables, SayWhatIsWrong) {
    EXPECT_THAT(message_of<InputError>([] { parse_table("a,b\n1,2,3\n", "t.csv"); }), HasSubstr("t.csv:2: 3 cells"));
    EXPECT_THAT(message_of<InputError>([] { parse_table("a,b\n", "t.csv"); }), HasSubstr("holds no row"));
    EXPECT_THAT(message_of<InputError>([] { parse_table("a,b\n1,2\n1,2\n", "t.csv"); }),
                HasSubstr("two rows are the same"));
    EXPECT_THAT(message_of<InputError>([] { parse_table("a\n1\n2\n", "t.csv"); }), HasSubstr("nothing beside axes"));
}

Reduced reduced(const TableView& view) {
    const SweepTable table = parse_table(kGrid, "t.csv");
    return reduce_table(table, choose_columns(table, view), view.mean);
}

TEST(SweepReduction, SumsOverTheOtherAxes) {
    const Reduced by_x = reduced({.by = {"x"}});
    EXPECT_EQ(by_x.values[0], 3.0);
    EXPECT_TRUE(std::isnan(by_x.values[1])) << "a sum of which a part is missing is none";
    EXPECT_EQ(by_x.errors[0], 5.0);
    EXPECT_TRUE(std::isnan(by_x.errors[1])) << "nor is its error";
    EXPECT_EQ(by_x.label, "fall, sum over angle (some missing)");
    EXPECT_EQ(reduced({.by = {"angle"}}).values[0], 4.0);
    const Reduced mean = reduced({.by = {"angle"}, .mean = true});
    EXPECT_EQ(mean.values[0], 2.0);
    EXPECT_EQ(mean.errors[0], 1.5);
    EXPECT_EQ(mean.label, "fall, mean over x (some missing)");
    EXPECT_EQ(reduced({.by = {"x"}, .mean = true}).values[1], 3.0) << "of the run that went on";
}

TEST(SweepReduction, OfRowsThatAreMissingThereIsNoSum) {
    const SweepTable table = parse_table("a,b,v\n0,0,1\n0,1,2\n1,0,3\n2,0,5\n2,1,6\n", "t.csv");
    const Reduced sum = reduce_table(table, choose_columns(table, {.by = {"a"}}), false);
    EXPECT_EQ(sum.values[0], 3.0);
    EXPECT_TRUE(std::isnan(sum.values[1]));
    EXPECT_EQ(sum.values[2], 11.0);
    EXPECT_EQ(sum.label, "v, sum over b (some missing)");
    const Reduced mean = reduce_table(table, choose_columns(table, {.by = {"a"}, .mean = true}), true);
    EXPECT_THAT(mean.values, ElementsAre(1.5, 3.0, 5.5));
    EXPECT_EQ(mean.label, "v, mean over b (some missing)");
}

TEST(SweepReduction, KeepsCellsInOrderOfTheirValues) {
    const SweepTable table = parse_table("a,b,v\n10,0,1\n10,1,2\n9,0,3\n9,1,4\n", "t.csv");
    const Reduced cells = reduce_table(table, choose_columns(table, {}), false);
    EXPECT_THAT(cells.scales[0].at, ElementsAre(9.0, 10.0));
    EXPECT_THAT(cells.values, ElementsAre(3.0, 4.0, 1.0, 2.0));
}

TEST(SweepReduction, TakesANumberInTwoFormsForOne) {
    const SweepTable table = parse_table("a,b,v\n1,0,1\n1.0,1,2\n2,-0,3\n2,1e0,4\n", "t.csv");
    const Reduced cells = reduce_table(table, choose_columns(table, {}), false);
    EXPECT_THAT(cells.scales[0].at, ElementsAre(1.0, 2.0));
    EXPECT_THAT(cells.values, ElementsAre(1.0, 2.0, 3.0, 4.0));
    const std::string seeds = "a,seed,v\n1,9007199254740992,1\n1,9007199254740993,2\n2,9007199254740992,2\n";
    EXPECT_EQ(parse_table(seeds, "t.csv").axes, 2u);
    const SweepTable told = parse_table("a,b,q\n1,1,5\n1.00,2,6\n-1e+02,2,7\n-100,1,8\n", "t.csv");
    EXPECT_EQ(told.axes, 2u) << "which no form of a number changes";
    const Reduced more = reduce_table(told, choose_columns(told, {}), false);
    EXPECT_THAT(more.scales[0].at, ElementsAre(-100.0, 1.0));
}

TEST(SweepReduction, NamesWhatThereIs) {
    EXPECT_THAT(message_of<InputError>([] { reduced({.quantity = "fal"}); }), HasSubstr("did you mean 'fall'?"));
    EXPECT_THAT(message_of<InputError>([] { reduced({.quantity = "angle"}); }),
                HasSubstr("no quantity 'angle'; allowed: fall"));
    EXPECT_THAT(message_of<InputError>([] { reduced({.by = {"fall"}}); }),
                HasSubstr("no axis 'fall'; allowed: x [m], angle"));
    const SweepTable table = parse_table("a,b,c,v\n1,1,1,0\n1,1,2,0\n", "t.csv");
    EXPECT_THAT(message_of<InputError>([&] { choose_columns(table, {}); }), HasSubstr("no figure has 3 axes"));
}

std::string script(const std::string& text, const TableView& view = {}) {
    return table_figure_script(parse_table(text, "t.csv"), view, "f.png").text();
}

TEST(SweepFigures, TwoAxesAreAHeatMap) {
    const std::string text = script(kGrid);
    EXPECT_THAT(text, HasSubstr("set xlabel 'x [m]' noenhanced\nset ylabel 'angle'"));
    EXPECT_THAT(text, HasSubstr("set cblabel 'fall'"));
    EXPECT_THAT(text, HasSubstr("0.1 1 0.05 0.15 0.5 1.5 2\n"));
    EXPECT_THAT(text, HasSubstr("maxcolors 3")) << "whole numbers have a colour each";
    EXPECT_THAT(text, HasSubstr("\"no value\""));
    EXPECT_THAT(script("a,b,v\n0,0,0.5\n0,1,2.5\n"), Not(HasSubstr("maxcolors")));
}

TEST(SweepFigures, TurnNumbersThatAColumnHasNoRoomFor) {
    std::string table = "x,y,v\n";
    for (int x = 0; x < 8; ++x) table += fmt::format("0.{},0,1\n0.{},1,2\n", 350 + 25 * x, 350 + 25 * x);
    Canvas column("f.pdf");
    column.style = FigureStyle::kOneColumn;
    EXPECT_THAT(table_figure_script(parse_table(table, "t.csv"), {}, column).text(), HasSubstr("set xtics rotate"));
    EXPECT_THAT(script(table), Not(HasSubstr("rotate")));
}

TEST(SweepFigures, OneAxisIsALineWithErrorBars) {
    const std::string text = script("k,v,v_se\n1,2,0.5\n2,3,0.25\n");
    EXPECT_THAT(text, HasSubstr("1 2 0.5\n2 3 0.25\n"));
    EXPECT_THAT(text, HasSubstr("with lines"));
    EXPECT_THAT(text, HasSubstr("yerrorbars"));
    EXPECT_THAT(script("k,v\n1,2\n2,3\n"), Not(HasSubstr("yerrorbars")));
}

TEST(SweepFigures, OfThousandsOfValuesArePointsAlone) {
    std::string table = "k,v\n";
    for (int k = 1; k <= 5000; ++k) table += fmt::format("{},{}\n", k, k % 7);
    EXPECT_THAT(script(table), HasSubstr("with lines"));
    table += "5001,1\n";
    EXPECT_THAT(script(table), Not(HasSubstr("with lines")));
    EXPECT_THAT(script(table), HasSubstr("with points"));
}

TEST(SweepFigures, OfACompressibilityHaveTheoryBesideThem) {
    const std::string text =
        script("packing_fraction [disks],compressibility,compressibility_se\n0.1,1.2,0.1\n0.6,5.9,0.1\n");
    EXPECT_THAT(text, HasSubstr("title 'Kolafa and Rottner 2006'"));
    EXPECT_THAT(text, HasSubstr("title 'measured'"));
    EXPECT_THAT(text, HasSubstr("set key below "));
    EXPECT_THAT(script("packing_fraction,compressibility\n0.1,1.2\n0.6,5.9\n"), Not(HasSubstr("Kolafa")));
}

TEST(SweepFigures, SumsAreBarsFromZero) {
    const std::string text = script("a,b,v\n0,0,1\n0,1,2\n1,0,3\n1,1,4\n", {.by = {"a"}});
    EXPECT_THAT(text, HasSubstr("0 3 NaN\n1 7 NaN\n"));
    EXPECT_THAT(text, HasSubstr("with boxes"));
    EXPECT_THAT(text, HasSubstr("set yrange [0:"));
}

TEST(SweepFigures, EqualRatiosAreALogarithmicAxisAndWordsKeepTheirOrder) {
    EXPECT_THAT(script("k,v\n0.1,1\n1,2\n10,3\n"), HasSubstr("set logscale x"));
    EXPECT_THAT(script("k,v\n1,1\n5,2\n9,3\n"), Not(HasSubstr("logscale")));
    EXPECT_THAT(script("law,v\nreflect,1\nnewton,2\n"), HasSubstr("'reflect' 0, 'newton' 1"));
}

}  // namespace carom::sweep_table_test
