#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "host/state/errors.hpp"
#include "host/sweep/journal.hpp"
#include "host/sweep/read_sweep.hpp"
#include "host/sweep/run_sweep.hpp"
#include "host/sweep/sweep_progress.hpp"
#include "host/sweep/table.hpp"
#include "tests/support/message_of.hpp"

namespace carom {
namespace {

using test::message_of;

using testing::ElementsAre;
using testing::HasSubstr;

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
        Journal journal(path, "k", 2, false);
        journal.add(7, {{1.0 / 3.0, std::nan("")}, ""});
        journal.add(3, {{}, "collapsed,\nbadly"});
    }
    const Journal again(path, "k", 2, false);
    ASSERT_EQ(again.results().size(), 2u);
    EXPECT_EQ(again.results().at(7).values[0], 1.0 / 3.0);
    EXPECT_TRUE(std::isnan(again.results().at(7).values[1]));
    EXPECT_TRUE(again.results().at(3).values.empty());
    EXPECT_EQ(again.results().at(3).error, "collapsed, badly");
}

TEST_F(JournalTest, EveryPrefixOfTheFileIsGood) {
    {
        Journal journal(path, "k", 1, false);
        journal.add(0, {{0.25}, ""});
        journal.add(1, {{125.0}, ""});
    }
    const std::string whole = text();
    for (std::size_t length = 0; length <= whole.size(); ++length) {
        std::ofstream(path, std::ios::trunc) << whole.substr(0, length);
        {
            Journal journal(path, "k", 1, false);
            for (const auto& [run, result] : journal.results()) {
                EXPECT_EQ(result.values.at(0), run == 0 ? 0.25 : 125.0) << length;
            }
            journal.add(2, {{4.0}, ""});
        }
        const Journal again(path, "k", 1, false);
        EXPECT_TRUE(again.results().contains(2)) << length;
    }
}

TEST_F(JournalTest, RefusesAnotherSweepsFileUnlessForced) {
    {
        Journal journal(path, "k", 1, false);
        journal.add(0, {{0.25}, ""});
    }
    const std::string before = text();
    EXPECT_THAT(message_of<InputError>([&] { Journal(path, "other", 1, false); }), HasSubstr("another sweep"));
    EXPECT_EQ(text(), before);
    EXPECT_EQ(Journal(path, "other", 1, true).results().size(), 0u);
    EXPECT_THAT(message_of<InputError>([&] { Journal(path, "k", 1, false); }), HasSubstr("another sweep"));
}

}  // namespace
}  // namespace carom
