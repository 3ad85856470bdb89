#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "host/observables/average.hpp"
#include "host/run/observe.hpp"
#include "host/run/row_means.hpp"
#include "host/run/schedule.hpp"
#include "tests/support/driven_run.hpp"

namespace carom::run_averages_test {

using testing::ElementsAre;

std::vector<double> due_times(SampleSchedule schedule, double until) {
    std::vector<double> times;
    while (schedule.next() <= until) {
        times.push_back(schedule.next());
        schedule.advance(schedule.next());
    }
    return times;
}

double exactly(double time) { return time; }

TEST(SampleSchedule, IsDueAtMultiplesFromItsStartOn) {
    EXPECT_THAT(due_times({{.every = 0.5, .from = 1.2}, -1.0, exactly}, 3.0), ElementsAre(1.5, 2.0, 2.5, 3.0));
    EXPECT_THAT(due_times({{.every = 0.5}, -1.0, exactly}, 1.0), ElementsAre(0.0, 0.5, 1.0));
}

TEST(SampleSchedule, PausesBetweenBursts) {
    EXPECT_THAT(due_times({{.every = 1.0, .burst = 2, .period = 5}, -1.0, exactly}, 12.0),
                ElementsAre(0.0, 1.0, 5.0, 6.0, 10.0, 11.0));
}

TEST(SampleSchedule, TheFirstBurstBeginsWithTheFirstSample) {
    EXPECT_THAT(due_times({{.every = 1.0, .from = 3.0, .burst = 2, .period = 5}, -1.0, exactly}, 10.0),
                ElementsAre(3.0, 4.0, 8.0, 9.0));
}

TEST(SampleSchedule, IsNeverDueBeyondWhatCanBeCounted) {
    SampleSchedule schedule({.every = 1e-3, .from = 1e300}, -1.0, exactly);
    EXPECT_EQ(schedule.next(), INFINITY);
    schedule.advance(1e3);
    EXPECT_EQ(schedule.next(), INFINITY);
}

TEST(SamplePlan, CountsTheSamplesOfARun) {
    for (const SamplePlan& plan :
         {SamplePlan{.every = 0.5, .from = 1.2}, SamplePlan{.every = 1.0, .from = 3.0, .burst = 2, .period = 5},
          SamplePlan{.every = 1.0, .from = 50.0}}) {
        for (const double until : {1.0, 3.0, 8.0, 10.0, 31.0}) {
            EXPECT_EQ(plan.samples_until(until), static_cast<double>(due_times({plan, -1.0, exactly}, until).size()))
                << plan.from << " " << until;
        }
    }
}

TEST(SampleSchedule, GoesOnAfterAResumeAsIfNothingHadHappened) {
    const SamplePlan plan{.every = 0.3, .from = 1.0, .burst = 3, .period = 7};
    const auto to_steps = [](double time) { return std::round(time / 0.01) * 0.01; };
    SampleSchedule whole(plan, -1.0, to_steps);
    for (int k = 0; k < 60; ++k) {
        for (const double stop : {whole.next(), whole.next() + 0.005}) {
            SampleSchedule after = whole;
            after.advance(stop);
            const SampleSchedule resumed(plan, stop, to_steps);
            EXPECT_EQ(resumed.next(), after.next()) << stop;
            EXPECT_EQ(resumed.index(), after.index()) << stop;
        }
        whole.advance(whole.next());
    }
}

TEST(SamplePlan, KnowsHowManySamplesFollowEachOther) {
    EXPECT_EQ((SamplePlan{.every = 0.5, .from = 1.0}).in_a_row(3.0), 5u);
    EXPECT_EQ((SamplePlan{.every = 0.5, .burst = 3, .period = 9}).in_a_row(300.0), 3u);
}

/// Counts what has been tallied since the row before, as pressures do.
class Since final : public Observable {
public:
    ObservableInfo info() const override { return {.name = "temperature", .unit = "J", .label = "x"}; }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        values[0] = sample.previous == nullptr ? NAN
                                               : static_cast<double>(sample.tallies.events - sample.previous->events) /
                                                     (sample.time - sample.previous_time);
    }
};

class RowMeansTest : public testing::Test {
protected:
    static ObservableSet make_set() {
        std::vector<std::unique_ptr<Observable>> all;
        all.push_back(std::make_unique<Since>());
        return ObservableSet(std::move(all));
    }
    static Tallies at(double time) {
        Tallies tallies;
        // Decays to a steady 10 events per time, with a ripple.
        tallies.events = static_cast<std::uint64_t>(
            1e6 * (10.0 * time + 30.0 * (1.0 - std::exp(-time)) + 0.1 * std::sin(9.0 * time)));
        return tallies;
    }
    /// What another process makes of what this one has saved.
    static RowSeries resumed_from(const RowSeries& statistics, const ObservableSet& set, double row_every) {
        std::vector<double> saved;
        statistics.save(saved);
        RowSeries resumed(set.infos(), row_every);
        SavedNumbers numbers(saved);
        resumed.restore(numbers, 0);
        EXPECT_TRUE(numbers.empty());
        return resumed;
    }
    static constexpr Totals kTotals{.mobile = 100};
    static void row(ObservableSet& set, RowSeries* statistics, double time) {
        const Tallies tallies = at(time);
        const ObservableRow row = set.evaluate(time, 0, kTotals, tallies, nullptr);
        if (statistics != nullptr) statistics->add(set, row, kTotals, tallies, nullptr);
    }
};

TEST_F(RowMeansTest, MeansAreOfTheTimeSinceEquilibrium) {
    ObservableSet set = make_set();
    RowSeries statistics(set.infos(), 0.1);
    for (int k = 0; k <= 1000; ++k) row(set, &statistics, 0.1 * k);
    const RowMeans means = statistics.means();
    ASSERT_EQ(means.means.size(), 1u);
    ASSERT_TRUE(means.equilibrated) << means.reason;
    EXPECT_TRUE(*means.equilibrated);
    EXPECT_GT(means.since, 2.0);
    EXPECT_LT(means.since, 25.0)
        << "a ripple has so small an error that what is left of the start shows up to a quarter";
    EXPECT_NEAR(means.rows, (100.0 - means.since) / 0.1, 1.0);
    // What is left of the transient, and of an unfinished ripple.
    EXPECT_NEAR(means.means[0].mean, 10e6, 1e6 * (3.0 * std::exp(-means.since) + 0.01));
}

TEST_F(RowMeansTest, ARunThatStillChangesIsNotAtEquilibrium) {
    ObservableSet set = make_set();
    RowSeries statistics(set.infos(), 0.01);
    for (int k = 0; k <= 100; ++k) row(set, &statistics, 0.01 * k);
    const RowMeans means = statistics.means();
    ASSERT_TRUE(means.equilibrated) << means.reason;
    EXPECT_FALSE(*means.equilibrated);
    EXPECT_EQ(means.since, 0.0);
}

TEST_F(RowMeansTest, ARunWhoseWallMovesIsAtNoEquilibrium) {
    ObservableSet set = make_set();
    RowSeries statistics(set.infos(), 0.1);
    for (int k = 0; k <= 1000; ++k) row(set, &statistics, 0.1 * k);
    EXPECT_TRUE(statistics.means().equilibrated.value());
    EXPECT_FALSE(statistics.means("a wall moves").equilibrated.value());
    EXPECT_EQ(statistics.means("a wall moves").since, 0.0);
}

/// A row called so is the energy of the balls.
class Energy final : public Observable {
public:
    explicit Energy(std::string name) : name_(std::move(name)) {}
    ObservableInfo info() const override { return {.name = name_, .unit = "J", .label = "x"}; }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        values[0] = sample.totals.kinetic + (name_ == "total_energy" ? sample.totals.spring : 0.0);
    }

private:
    std::string name_;
};

/// What white noise and a walk of the energy make of a mean, over many runs, is what each of them says.
TEST_F(RowMeansTest, TheWalkOfTheEnergyCounts) {
    for (const bool isolated : {true, false}) {
        double squares = 0.0;
        double claimed = 0.0;
        std::mt19937_64 random(7);
        std::normal_distribution<double> normal;
        constexpr int kRuns = 200;
        constexpr double kEnergy = 1000.0;
        for (int run = 0; run < kRuns; ++run) {
            std::vector<std::unique_ptr<Observable>> all;
            all.push_back(std::make_unique<Energy>("total_energy"));
            all.push_back(std::make_unique<Energy>("kinetic_energy"));
            ObservableSet set(std::move(all));
            RowSeries statistics(set.infos(), 1.0, isolated);
            double energy = kEnergy;
            for (int k = 0; k <= 800; ++k) {
                Totals totals{.mobile = 100};
                totals.spring = 5.0 * normal(random);
                totals.kinetic = energy - totals.spring;
                const ObservableRow row = set.evaluate(k, 0, totals, {}, nullptr);
                statistics.add(set, row, totals, {}, nullptr);
                energy += 0.03 * normal(random);
            }
            const RowMeans means = statistics.means();
            const RowMean& kinetic = means.means.at(1);
            ASSERT_EQ(kinetic.name, "kinetic_energy");
            squares += (kinetic.mean - kEnergy) * (kinetic.mean - kEnergy) / kRuns;
            claimed += kinetic.error / kRuns;
        }
        const double ratio = std::sqrt(squares) / claimed;
        if (isolated) {
            EXPECT_GT(ratio, 0.85);
            EXPECT_LT(ratio, 1.15);
        } else {
            EXPECT_GT(ratio, 1.4) << "where something else changes the energy, a walk is a drift";
        }
    }
}

/// What is gone after three rows of a thousand is no part of a mean energy, but all of a mean momentum.
TEST_F(RowMeansTest, BallsFallFromARareHeightBeforeItCounts) {
    for (const double start : {0.0, 3.0, -3.0}) {
        for (const char* const name : {"gravitational_energy", "spring_energy"}) {
            std::vector<std::unique_ptr<Observable>> all;
            all.push_back(std::make_unique<Energy>(name));
            ObservableSet set(std::move(all));
            RowSeries statistics(set.infos(), 1.0);
            std::mt19937_64 random(3);
            std::normal_distribution<double> normal;
            for (int k = 0; k <= 1000; ++k) {
                Totals totals{.mobile = 100};
                totals.kinetic = 100.0 + (k <= 3 ? start : normal(random));
                statistics.add(set, set.evaluate(k, 0, totals, {}, nullptr), totals, {}, nullptr);
            }
            const RowMeans means = statistics.means();
            EXPECT_EQ(means.equilibrated, true) << means.reason;
            const bool falls = start != 0.0 && std::string_view(name).starts_with("grav");
            EXPECT_EQ(means.since > 3.0, falls) << name << " " << start;
            EXPECT_LT(means.since, 50.0);
            EXPECT_EQ(resumed_from(statistics, set, 1.0).means().since, means.since);
        }
    }
}

/// White noise, after which nothing changes any more; or that of a few balls.
class Given final : public Observable {
public:
    ObservableInfo info() const override { return {.name = "temperature", .unit = "J", .label = "x"}; }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        values[0] = static_cast<double>(sample.tallies.events);
    }
};

TEST_F(RowMeansTest, FewBallsAndWhatHasCeasedAreAtNoEquilibrium) {
    std::vector<std::unique_ptr<Observable>> all;
    all.push_back(std::make_unique<Given>());
    ObservableSet set(std::move(all));
    std::mt19937 generator(1);
    std::uniform_int_distribution<std::uint64_t> noise(1000, 2000);
    const auto means_of = [&](std::uint64_t mobile, int busy, const std::string& never = "") {
        RowSeries statistics(set.infos(), 1.0);
        Totals totals;
        totals.mobile = mobile;
        for (int k = 0; k <= 500; ++k) {
            Tallies tallies;
            tallies.events = k < busy ? noise(generator) : 1500;
            const ObservableRow row = set.evaluate(k, 0, totals, tallies, nullptr);
            statistics.add(set, row, totals, tallies, nullptr);
        }
        RowSeries resumed = resumed_from(statistics, set, 1.0);
        resumed.skip(501.0, {});  // and nothing more is measured
        EXPECT_EQ(resumed.means(never).reason, statistics.means(never).reason) << mobile << " balls";
        return statistics.means(never);
    };
    EXPECT_EQ(means_of(100, 501).equilibrated, true);
    EXPECT_EQ(means_of(100, 501, "unevenly spread").reason, "unevenly spread");
    EXPECT_EQ(means_of(2, 501, "unevenly spread").reason, "too few balls") << "of which nobody can say how they are";
    EXPECT_EQ(means_of(2, 501).equilibrated, std::nullopt);
    EXPECT_EQ(means_of(2, 501).reason, "too few balls");
    EXPECT_EQ(means_of(100, 100).equilibrated, false);
    EXPECT_EQ(means_of(100, 100).reason, "balls no longer meet");
}

/// A series that is 100 times as long as its memory: by White's rule alone a third of them begin late, and one in
/// fifteen never.
TEST_F(RowMeansTest, AStartIsLeftOutOnlyWhereItShows) {
    std::vector<std::unique_ptr<Observable>> all;
    all.push_back(std::make_unique<Given>());
    ObservableSet set(std::move(all));
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    for (const double start : {0.0, 30.0}) {
        int equilibrated = 0;
        int late = 0;
        for (int run = 0; run < 400; ++run) {
            RowSeries statistics(set.infos(), 1.0);
            double x = start + normal(random);
            for (int k = 0; k <= 1000; ++k) {
                Tallies tallies;
                tallies.events = static_cast<std::uint64_t>(1e6 * (100.0 + x));
                statistics.add(set, set.evaluate(k, 0, kTotals, tallies, nullptr), kTotals, tallies, nullptr);
                x = std::exp(-0.1) * x + std::sqrt(1.0 - std::exp(-0.2)) * normal(random);
            }
            const RowMeans means = statistics.means();
            if (means.equilibrated != true) continue;
            ++equilibrated;
            if (means.since > 0.0) ++late;
        }
        EXPECT_GT(equilibrated, start > 0.0 ? 320 : 384) << start;
        const bool right = start > 0.0 ? 10 * late > 9 * equilibrated : late < 60;
        EXPECT_TRUE(right) << late << " of " << equilibrated << ", from " << start;
    }
}

/// Of so many samples, along an axis or a single number.
class Sampled final : public Average {
public:
    Sampled(double samples, std::string axis) : samples_(samples), axis_(std::move(axis)) {}
    AverageInfo info() const override {
        AverageInfo info;
        info.name = "k";
        info.x.label = axis_;
        return info;
    }
    void add(BallSampler& /*balls*/, const Moment& /*now*/) override {}
    std::size_t most_numbers() const override { return 0; }
    void save(std::vector<double>& /*out*/) const override {}
    void restore(SavedNumbers& /*saved*/) override {}

private:
    AverageTable measured() const override {
        AverageTable table;
        table.samples = samples_;
        table.values = {3.0};
        table.errors = {0.1};
        table.correlation_times = {0.2};
        return table;
    }

    double samples_;
    std::string axis_;
};

TEST(SingleNumber, OfFewSamplesHasNoError) {
    for (const double samples : {3.0, 7.0, 8.0}) {
        const Sampled number(samples, "");
        const AverageInfo info = number.info();
        const AverageTable table = number.table();
        const auto numbers = averaged_numbers(std::span(&info, 1), std::span(&table, 1));
        ASSERT_EQ(numbers.size(), 1u);
        EXPECT_EQ(numbers[0].mean, 3.0);
        EXPECT_EQ(std::isfinite(numbers[0].error), samples >= 8.0) << samples;
        EXPECT_EQ(std::isfinite(numbers[0].correlation_time), samples >= 8.0) << samples;
        EXPECT_EQ(Sampled(samples, "a curve").table().errors[0], 0.1) << samples;
    }
}

TEST_F(RowMeansTest, WhereARunWasStoppedMakesNoDifference) {
    ObservableSet set = make_set();
    RowSeries whole(set.infos(), 0.1);
    for (int k = 0; k <= 300; ++k) row(set, &whole, 0.1 * k);

    ObservableSet first_set = make_set();
    RowSeries first(first_set.infos(), 0.1);
    for (int k = 0; k <= 100; ++k) row(first_set, &first, 0.1 * k);
    row(first_set, nullptr, 10.05);  // the last row, between two that are due
    std::vector<double> saved;
    first.save(saved);

    ObservableSet second_set = make_set();
    RowSeries second(second_set.infos(), 0.1);
    SavedNumbers numbers(saved);
    second.restore(numbers, 0);
    row(second_set, nullptr, 10.05);  // the first row of the file that goes on
    for (int k = 101; k <= 300; ++k) row(second_set, &second, 0.1 * k);
    std::vector<double> a, b;
    whole.save(a);
    second.save(b);
    EXPECT_EQ(a, b);
}

/// Nearly constant, as the energy of a good integrator is.
class Ripple final : public Observable {
public:
    ObservableInfo info() const override { return {.name = "total_energy", .unit = "J", .label = "x"}; }
    void evaluate(const Sample& sample, std::span<double> values) const override {
        // In time with the rows; a chirp, as strong at all frequencies, so that rows know nothing of each other.
        const double row = std::round(sample.time / 0.125);
        values[0] = 1e6 * (1.0 + 1e-8 * std::sin(0.7 * row * row));
    }
};

TEST_F(RowMeansTest, TheCorrelationTimeOfWhatHardlyVariesIsNoRoundingNoise) {
    std::vector<std::unique_ptr<Observable>> all;
    all.push_back(std::make_unique<Ripple>());
    ObservableSet set(std::move(all));
    RowSeries statistics(set.infos(), 0.1);  // asked for; the solver's steps made it 0.125
    for (int k = 0; k <= 256; ++k) row(set, &statistics, 0.125 * k);
    const RowMeans means = statistics.means();
    ASSERT_EQ(means.means.size(), 1u);
    EXPECT_EQ(means.rows, 256u);
    // error^2 = variance / rows, by a claim that is off by a fifth.
    ASSERT_TRUE(std::isfinite(means.means[0].correlation_time));
    EXPECT_NEAR(means.means[0].correlation_time, 0.5 * 0.125, 0.4 * 0.5 * 0.125);
}

TEST_F(RowMeansTest, TimeThatIsNotMeasuredIsNoTimeBetweenRows) {
    const auto make = [] {
        std::vector<std::unique_ptr<Observable>> all;
        all.push_back(std::make_unique<Ripple>());
        return ObservableSet(std::move(all));
    };
    ObservableSet set = make();
    RowSeries statistics(set.infos(), 0.125);
    for (int k = 0; k <= 128; ++k) row(set, &statistics, 0.125 * k);
    for (int k = 129; k <= 4000; ++k) statistics.skip(0.125 * k, at(0.125 * k));
    for (int k = 4001; k <= 4128; ++k) row(set, &statistics, 0.125 * k);
    for (int k = 4129; k <= 6000; ++k) statistics.skip(0.125 * k, at(0.125 * k));
    RowSeries resumed = resumed_from(statistics, set, 0.125);
    for (const RowSeries* each : {&statistics, &resumed}) {
        const RowMeans means = each->means();
        ASSERT_EQ(means.means.size(), 1u);
        EXPECT_EQ(means.rows, 256u);
        EXPECT_NEAR(means.means[0].correlation_time, 0.5 * 0.125, 0.4 * 0.5 * 0.125);
    }
}

TEST_F(RowMeansTest, MeansAreSinceATimeBehindWhatWasNotMeasured) {
    ObservableSet set = make_set();
    RowSeries statistics(set.infos(), 0.1);
    for (int k = 0; k <= 20; ++k) row(set, &statistics, 0.1 * k);  // falls towards the steady state
    for (int k = 21; k <= 500; ++k) statistics.skip(0.1 * k, at(0.1 * k));
    for (int k = 501; k <= 1500; ++k) row(set, &statistics, 0.1 * k);
    RowSeries resumed = resumed_from(statistics, set, 0.1);
    const RowMeans means = statistics.means();
    ASSERT_TRUE(means.equilibrated) << means.reason;
    EXPECT_TRUE(*means.equilibrated);
    EXPECT_GT(means.since, 50.0 - 1e-9);
    EXPECT_LT(means.since, 60.0);
    EXPECT_NEAR(means.rows, (150.0 - means.since) / 0.1, 1e-6);
    EXPECT_EQ(resumed.means().since, means.since);
}

TEST_F(RowMeansTest, RowsOfAnEarlierVersionBeginAnew) {
    ObservableSet set = make_set();
    RowSeries first(set.infos(), 0.1);
    for (int k = 0; k <= 50; ++k) row(set, &first, 0.1 * k);
    std::vector<double> saved;
    first.save(saved);
    auto infos = set.infos();
    infos.push_back({.name = "a_later_row", .unit = "J", .label = "x", .components = {}});
    RowSeries second(infos, 0.1);
    SavedNumbers numbers(saved);
    second.restore(numbers, 0);
    EXPECT_EQ(second.means().rows, 0u);
}

TEST_F(RowMeansTest, RowsAtOtherTimesBeginAnew) {
    ObservableSet set = make_set();
    RowSeries first(set.infos(), 0.1);
    for (int k = 0; k <= 50; ++k) row(set, &first, 0.1 * k);
    std::vector<double> saved;
    first.save(saved);
    RowSeries second(set.infos(), 0.2);
    SavedNumbers numbers(saved);
    second.restore(numbers, 0);
    EXPECT_EQ(second.means().rows, 0u);
}

// Samples that are looked at while the solver goes on.

TEST(RunAverages, OfARunThatGoesOnWithOtherRowsBeginAnewAndSayWhich) {
    const ObservableInfo a{.name = "a"};
    const ObservableInfo b{.name = "b", .components = {"x", "y"}};
    const test::DrivenRun run(
        "[scene]\ndimension = 2\n[box]\nsize = [9.0, 9.0]\n[run]\nsolver = \"events\"\nuntil = 1.0\n"
        "[[ball]]\nradius = 0.5\nmass = 1.0\nposition = [4.0, 4.0]\n");
    PreparedScene scene = run.scene();
    RunAverages(scene, {a, b}).save(scene.state);
    scene.resumed_from = "checkpoint";
    EXPECT_EQ(RunAverages(scene, {a, b}).other_rows(), "");
    for (const auto& [rows, words] : std::vector<std::pair<std::vector<ObservableInfo>, std::string>>{
             {{b, a}, "b (x, y), a"}, {{a}, "a"}, {{{.name = "temperature"}}, "none"}}) {
        EXPECT_EQ(RunAverages(scene, rows).other_rows(),
                  "its rows had these observables of one's own: a, b (x, y); now they have: " + words);
    }
    scene.state.records.averages.clear();  // by a version that did not tell
    EXPECT_EQ(RunAverages(scene, {b, a}).other_rows(), "");
}

/// More balls than are looked at at once, and kinds that need frames only, accounts, impacts, and earlier samples.
std::string gas(const std::string& solver) {
    std::string text =
        "[scene]\ndimension = 2\nseed = 3\n[box]\nsize = [200.0, 200.0]\nboundary = [\"periodic\", \"periodic\"]\n"
        "[run]\nsolver = \"" +
        solver +
        "\"\nuntil = 0.02\n[output]\nobservables_every = 0.01\n[[fill]]\nradius = 0.5\nmass = 1.0\ncount = 12000\n"
        "temperature = 1.0\n";
    std::vector<std::string> kinds{"speed", "density", "stress", "msd"};
    if (solver == "events") kinds.push_back("free_path");
    for (const std::string& kind : kinds) {
        text += "[[observe]]\nname = \"" + kind + "\"\nkind = \"" + kind + "\"\nevery = 0.002\n";
    }
    return text;
}

/// What a checkpoint holds of them, bit for bit.
std::vector<std::uint64_t> averaged(const std::string& solver, int threads) {
    test::DrivenRun run(gas(solver));
    PreparedScene scene = run.scene();
    scene.threads = threads;
    RunAverages averages(scene, {});
    averages.start(run.solver());
    while (run.solver().time() < run.scene().scene.run.until) {
        run.to(averages.next());
        averages.take(run.solver());
        // The solver goes on at once.
    }
    SolverState state;
    averages.save(state);
    std::vector<std::uint64_t> bits;
    state.records.averages.push_back({"row means", state.records.row_means});
    for (const SavedAverage& saved : state.records.averages) {
        for (const double value : saved.numbers) bits.push_back(std::bit_cast<std::uint64_t>(value));
    }
    return bits;
}

class AveragesBeside : public testing::TestWithParam<const char*> {};

TEST_P(AveragesBeside, AreTheSameAsThoseThatTheSolverWaitsFor) {
    const auto waited = averaged(GetParam(), 1);
    EXPECT_GT(waited.size(), 1000U);
    EXPECT_EQ(averaged(GetParam(), 3), waited);
}

INSTANTIATE_TEST_SUITE_P(Solvers, AveragesBeside, testing::Values("events", "spring"));

}  // namespace carom::run_averages_test
