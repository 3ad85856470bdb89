#include "host/bench/bench.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>

#include "host/bench/bench_case.hpp"
#include "host/bench/bench_report.hpp"
#include "host/bench/machine.hpp"
#include "host/plot/bench_figure.hpp"
#include "host/state/errors.hpp"
#include "tests/support/message_of.hpp"

namespace carom::bench_test {

using test::message_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

BenchRow row(BenchRung rung, double rate, const BenchGas& gas, const std::string& backend = "cpu", int threads = 1) {
    BenchRow result{.what = {rung, backend, threads, gas, false}, .start = "melted"};
    result.rate = {rate, 0.9 * rate, 1.1 * rate, 3};
    return result;
}

BenchResults results_of(std::vector<BenchRow> rows) {
    BenchResults results;
    results.machine = {{"date", "2026-01-02T03:04:05Z"}, {"version", "1.2.3"}, {"commit", "abc"}};
    results.machine["processor"] = {{"name", "some CPU"}, {"threads", 4}};
    results.machine["gpus"] = nlohmann::ordered_json::array();
    results.rows = std::move(rows);
    return results;
}

TEST(BenchRates, AreMediansWithTheirRange) {
    const Rate odd = rate_of({5.0, 1.0, 3.0});
    EXPECT_EQ(odd.median, 3.0);
    EXPECT_EQ(odd.least, 1.0);
    EXPECT_EQ(odd.most, 5.0);
    EXPECT_DOUBLE_EQ(odd.spread(), 4.0 / 3.0);
    EXPECT_EQ(rate_of({4.0, 1.0, 2.0, 9.0}).median, 3.0);
}

TEST(BenchMeasure, TakesWhatItIsAskedToTake) {
    std::uint64_t done = 0;
    int calls = 0;
    const Measured measured = measure(
        [&](std::uint64_t steps) {
            done += steps;
            ++calls;
            const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(100 * steps);
            while (std::chrono::steady_clock::now() < until) {
            }
        },
        {.repeat_seconds = 0.01, .repeats = 4, .least_steps = 30, .warm_steps = 200});
    EXPECT_GE(measured.steps, 30U);
    EXPECT_GE(done, 200 + 4 * measured.steps) << "the warming up comes beside the repeats";
    EXPECT_EQ(measured.steps_per_second.repeats, 4);
    EXPECT_LE(measured.steps_per_second.most, 10000.0) << "no step is faster than it can be";
}

TEST(BenchMeasure, BeginsNoRepeatWhenTheTimeIsOver) {
    const auto sleep = [](std::uint64_t steps) { std::this_thread::sleep_for(std::chrono::microseconds(100 * steps)); };
    const MeasureOptions options{.repeat_seconds = 0.01, .repeats = 1000, .most_seconds = 0.05};
    const Measured measured = measure(sleep, options);
    EXPECT_GE(measured.steps_per_second.repeats, 1);
    EXPECT_LE(measured.steps_per_second.repeats, 200) << "about 4, more where the pace is taken for slower than it is";
    EXPECT_EQ(measure(sleep, {.repeat_seconds = 0.01, .repeats = 9, .most_seconds = 0.0}).steps_per_second.repeats, 1);
}

TEST(BenchTraffic, CountsPositionAndVelocityInAndOut) {
    EXPECT_EQ(bytes_counted(2, false), 32.0);
    EXPECT_EQ(bytes_counted(3, false), 48.0);
    EXPECT_EQ(bytes_counted(2, true), 64.0);
    EXPECT_EQ(bytes_counted(3, true), 96.0);
    // The cell's number and, with a cell a ball, its start: 8 bytes more; and with each sort its share.
    EXPECT_EQ(bytes_streamed_by_cell_walk(2, false, 1.0, 0.0), 40.0);
    EXPECT_LT(bytes_streamed_by_cell_walk(2, false, 1.0, 50.0), bytes_streamed_by_cell_walk(2, false, 1.0, 20.0));
}

TEST(BenchCases, LaddersOfThreadsArePowersOfTwoAndAll) {
    BenchRequest request;
    request.rungs = {BenchRung::kSpring};
    request.dimensions = {2};
    request.sizes = {1000};
    request.precisions = {"single"};
    std::vector<int> middle;
    std::vector<int> dense;
    for (const BenchCase& what : list_cases(request, {6, false})) {
        if (what.gas->fraction == 0.5) middle.push_back(what.threads);
        if (what.gas->fraction == 0.8) dense.push_back(what.threads);
    }
    EXPECT_THAT(middle, ElementsAre(1, 2, 4, 6));
    EXPECT_THAT(dense, ElementsAre(1, 6));
}

TEST(BenchCases, CoverTheLadderOnEveryProcessor) {
    std::set<std::string> seen;
    for (const BenchCase& what : list_cases({}, {2, true})) {
        seen.insert(std::string(rung_name(what.rung)) + " " + what.backend);
        EXPECT_TRUE(what.rung != BenchRung::kEvents || what.gas->balls <= 1'000'000);
        EXPECT_TRUE(what.backend != "cuda" || what.threads == 1);
    }
    for (const char* rung : {"copy", "integrate", "textbook", "spring", "output"}) {
        EXPECT_TRUE(seen.contains(std::string(rung) + " cpu")) << rung;
        EXPECT_TRUE(seen.contains(std::string(rung) + " cuda")) << rung;
    }
    EXPECT_TRUE(seen.contains("events cpu"));
    for (const BenchCase& what : list_cases({}, {2, false})) EXPECT_EQ(what.backend, "cpu");
}

TEST(BenchCases, ReachAHundredMillionBalls) {
    std::set<std::uint64_t> sizes;
    for (const BenchCase& what : list_cases({}, {2, false})) {
        if (what.gas) sizes.insert(what.gas->balls);
    }
    EXPECT_THAT(sizes, ElementsAre(1000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000));
}

TEST(BenchGas, IsAGasOfRootMeanSquareSpeedOneWithoutOverlap) {
    for (const BenchGas& gas : {BenchGas{2, 0.5, 400}, BenchGas{2, 0.8, 10000}, BenchGas{3, 0.3, 500}}) {
        const PlacedGas placed = place_gas(gas, 60.0, [] { return 0; });
        const Balls& balls = placed.state.balls;
        ASSERT_EQ(balls.size(), gas.balls);
        EXPECT_EQ(placed.start, "melted");
        double squared = 0.0;
        double nearest = HUGE_VAL;
        for (std::size_t i = 0; i < balls.size(); ++i) {
            for (int axis = 0; axis < gas.dimension; ++axis) {
                squared += balls.velocity[axis][i] * balls.velocity[axis][i];
                EXPECT_GE(balls.position[axis][i], 0.5 - 1e-9);
                EXPECT_LE(balls.position[axis][i], placed.scene.box.size[axis] - 0.5 + 1e-9);
            }
            for (std::size_t j = 0; j < i; ++j) {
                double d = 0.0;
                for (int axis = 0; axis < gas.dimension; ++axis)
                    d += std::pow(balls.position[axis][i] - balls.position[axis][j], 2);
                nearest = std::min(nearest, d);
            }
        }
        // Elastic collisions keep it; temperatures are met exactly but for rounding.
        EXPECT_NEAR(squared / static_cast<double>(gas.balls), 1.0, 1e-9);
        EXPECT_GE(nearest, 1.0 - 1e-9);
        const double volume = gas.dimension == 2 ? M_PI / 4.0 : M_PI / 6.0;
        EXPECT_NEAR(static_cast<double>(gas.balls) * volume / placed.scene.box.volume(), gas.fraction, 1e-9);
    }
}

TEST(BenchGas, HasNeighboursWhoseIdsAreFarApart) {
    for (const BenchGas& gas : {BenchGas{2, 0.5, 4}, BenchGas{3, 0.3, 500}, BenchGas{2, 0.8, 10000}}) {
        const PlacedGas placed = place_gas(gas, 60.0, [] { return 0; });
        const std::uint64_t count = gas.balls;
        const Balls& balls = placed.state.balls;
        std::set<std::pair<double, double>> places;
        std::size_t close = 0;
        std::size_t pairs = 0;
        for (std::size_t i = 0; i < count; ++i) {
            places.emplace(balls.position[0][i], balls.position[1][i]);
            for (std::size_t j = 0; j < i; ++j) {
                const double d = std::hypot(balls.position[0][i] - balls.position[0][j],
                                            balls.position[1][i] - balls.position[1][j]);
                if (d > 1.9) continue;  // in a row of the lattice they are 1.83 apart
                ++pairs;
                close += i - j < 8 ? 1 : 0;
            }
        }
        EXPECT_EQ(places.size(), count) << "nobody is lost";
        if (count > 1000) {  // a crystal: nobody has changed places
            EXPECT_LT(close * 10, pairs);
        }
    }
}

TEST(BenchGas, IsTheSameEveryTimeAndIsNoLatticeAnyMore) {
    const BenchGas gas{2, 0.05, 100};
    const PlacedGas first = place_gas(gas, 60.0, [] { return 0; });
    EXPECT_EQ(first.state.balls.position, place_gas(gas, 60.0, [] { return 0; }).state.balls.position);
    std::set<double> columns;
    for (const double x : first.state.balls.position[0]) columns.insert(x);
    EXPECT_EQ(columns.size(), gas.balls) << "on a lattice many balls share a column";
}

TEST(BenchFindings, CompareWithTheBestTextbookOfNoMoreThreads) {
    const BenchGas gas{2, 0.5, 1000};
    const auto found = speedups(
        results_of({row(BenchRung::kTextbook, 10.0, gas), row(BenchRung::kSpring, 40.0, gas),
                    row(BenchRung::kTextbook, 2.0, gas, "cpu", 4), row(BenchRung::kSpring, 60.0, gas, "cpu", 4),
                    row(BenchRung::kSpring, 600.0, gas, "cuda")}));
    std::vector<std::string> lines;
    for (const Speedup& speedup : found) lines.push_back(fmt::format("{} {}", speedup.of, speedup.ratio));
    EXPECT_THAT(lines, testing::UnorderedElementsAre("spring over textbook 4", "textbook: 4 threads over 1 0.2",
                                                     "spring: 4 threads over 1 1.5", "spring over textbook 6",
                                                     "spring: cuda over cpu 10"));
}

TEST(BenchFindings, SayWhereBothSolversTakeEquallyLong) {
    std::vector<BenchRow> rows;
    for (const auto& [fraction, spring, events] : {std::tuple{0.2, 8.0, 1.0}, std::tuple{0.6, 1.0, 2.0}}) {
        rows.push_back(row(BenchRung::kSpring, 100.0, {2, fraction, 1000}));
        rows.back().seconds_per_time = spring;
        rows.push_back(row(BenchRung::kEvents, 7.0, {2, fraction, 1000}));
        rows.back().what.double_precision = true;
        rows.back().seconds_per_time = events;
    }
    const auto found = crossings(results_of(rows));
    ASSERT_EQ(found.size(), 1U);
    // The ratio's logarithm falls from 3 to -1 in units of ln 2: zero at three quarters of the way.
    EXPECT_NEAR(*found[0].fraction, 0.5, 1e-12);
    EXPECT_EQ(found[0].points[0].break_even, 800.0);
    EXPECT_THAT(found[0].sentence, AllOf(HasSubstr("at packing fraction 0.2 events is there 8 times as soon"),
                                         HasSubstr("at packing fraction 0.6 spring is there 2 times as soon"),
                                         HasSubstr("both take equally long at about 0.50")));
    rows.resize(2);
    EXPECT_FALSE(crossings(results_of(rows))[0].fraction);
}

class BenchFiles : public testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(folder_); }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ + "/" + name) << text;
        return folder_ + "/" + name;
    }
    std::string write(const std::string& name, std::vector<BenchRow> rows) const {
        return write(name, bench_json(results_of(std::move(rows)), {}).dump());
    }

    std::string folder_ = testing::TempDir() + "carom-bench-" + std::to_string(::getpid());
};

TEST_F(BenchFiles, DifferWhereTheRangesLieApart) {
    const BenchGas gas{2, 0.5, 1000};
    const BenchGas other{3, 0.3, 1000};
    // Each spread is 0.2, so the noise 0.4.
    const std::string a =
        write("a.json", {row(BenchRung::kSpring, 100.0, gas), row(BenchRung::kTextbook, 100.0, gas),
                         row(BenchRung::kIntegrate, 100.0, gas), row(BenchRung::kSpring, 1.0, other)});
    const std::string b = write("b.json", {row(BenchRung::kSpring, 141.0, gas), row(BenchRung::kTextbook, 139.0, gas),
                                           row(BenchRung::kIntegrate, 70.0, gas), row(BenchRung::kEvents, 1.0, other)});
    const std::string text = bench_diff(a, b);
    EXPECT_THAT(text, HasSubstr("3 compared: 1 faster and 1 slower by more than the noise, 1 within it"));
    EXPECT_THAT(text, testing::ContainsRegex("spring .* 1\\.410 +40\\.0 %  faster\n"));
    EXPECT_THAT(text, testing::ContainsRegex("textbook .* 1\\.390 +40\\.0 %\n"));
    EXPECT_THAT(text, testing::ContainsRegex("integrate .* 0\\.700 +40\\.0 %  SLOWER\n"));
    EXPECT_THAT(text, testing::ContainsRegex("Only in A\n  spring .*3D.*\n\nOnly in B\n  events"));
    EXPECT_THAT(bench_diff(a, a), HasSubstr("4 compared: 0 faster and 0 slower by more than the noise, 4 within it"));
    EXPECT_THAT(text, HasSubstr("Median of the ratios: 1.390;"));
}

TEST_F(BenchFiles, DifferByTheSameWhicheverComesFirst) {
    const BenchGas gas{2, 0.5, 1000};
    const auto rates = [&](double one, double two) {
        return std::vector{row(BenchRung::kSpring, one, gas), row(BenchRung::kTextbook, two, gas)};
    };
    const std::string a = write("a.json", rates(80.0, 100.0));
    const std::string b = write("b.json", rates(100.0, 80.0));
    EXPECT_THAT(bench_diff(a, b), HasSubstr("Median of the ratios: 1.000;"));
    EXPECT_THAT(bench_diff(b, a), HasSubstr("Median of the ratios: 1.000;"));
}

TEST_F(BenchFiles, DoNotDifferWhereTheRangesOverlap) {
    BenchRow one = row(BenchRung::kSpring, 100.0, {2, 0.5, 1000});
    one.rate = {.median = 100.0, .least = 99.0, .most = 140.0, .repeats = 3};
    BenchRow other = one;
    other.rate = {.median = 145.0, .least = 139.0, .most = 146.0, .repeats = 3};
    EXPECT_THAT(bench_diff(write("a.json", {one}), write("b.json", {other})),
                HasSubstr("1 compared: 0 faster and 0 slower by more than the noise, 1 within it"));
}

TEST_F(BenchFiles, HaveNumbersThatAMeasurementCanHave) {
    BenchRow measured = row(BenchRung::kSpring, 100.0, {2, 0.5, 1000});
    measured.limit = 400.0;
    auto json = bench_json(results_of({measured}), {});
    const std::string good = write("a.json", json.dump());
    const auto sound = json.at("rows").at(0);
    for (const auto& [key, values] :
         std::vector<std::pair<std::string, std::vector<double>>>{{"per_second", {-1e8, 0.0}},
                                                                  {"per_second_least", {-1.0, 101.0}},
                                                                  {"per_second_most", {99.0}},
                                                                  {"limit_per_second", {-1.0, 0.0}},
                                                                  {"balls", {1e30, -5.0, 0.0, 2.5}},
                                                                  {"threads", {-1.0, 1e300, 0.0, 1.5}},
                                                                  {"dimension", {2.7, 4.0}},
                                                                  {"packing_fraction", {-0.1, 0.0, 1.1}}}) {
        for (const double value : values) {
            json["rows"][0] = sound;
            json["rows"][0][key] = value;
            const std::string bad = write("b.json", json.dump());
            const std::string words = "b.json: rows[0]." + key + ": must be ";
            EXPECT_THAT(message_of<InputError>([&] { bench_diff(good, bad); }), HasSubstr(words)) << value;
            EXPECT_THAT(message_of<InputError>([&] { bench_figure(bad, "speed"); }), HasSubstr(words)) << value;
        }
    }
}

TEST_F(BenchFiles, OfOthersAreRefused) {
    const std::string good = write("a.json", std::vector<BenchRow>{});
    for (const char* text : {"", "{}", "[1, 2]", "{\"carom_bench\": 2}", "{\"carom_bench\": 1, \"rows\": 3}"}) {
        const std::string bad = write("b.json", text);
        EXPECT_THAT(message_of<InputError>([&] { bench_diff(good, bad); }), HasSubstr("b.json: is ")) << text;
        EXPECT_THAT(message_of<InputError>([&] { bench_figure(bad, "speed"); }), HasSubstr("b.json: is ")) << text;
    }
    const std::string later = write("b.json", R"({"carom_bench": 2, "machine": {}, "rows": []})");
    EXPECT_THAT(message_of<InputError>([&] { bench_diff(good, later); }), HasSubstr("is of another version"));
    EXPECT_THAT(message_of<InputError>([&] { bench_figure(later, "speed"); }), HasSubstr("is of another version"));
    EXPECT_THAT(message_of<SystemError>([&] { bench_diff(good, folder_ + "/none.json"); }),
                HasSubstr("cannot be read"));
}

TEST_F(BenchFiles, AreDrawnWithTheLimitAndTheFastestCountOfThreads) {
    const BenchGas gas{2, 0.5, 1000};
    std::vector<BenchRow> rows{row(BenchRung::kSpring, 80.0, gas, "cpu", 2), row(BenchRung::kSpring, 50.0, gas),
                               row(BenchRung::kTextbook, 20.0, gas), row(BenchRung::kSpring, 900.0, gas, "cuda")};
    rows[0].limit = 400.0;
    const std::string file = write("a.json", rows);
    const std::string speed = bench_figure(file, "speed").script("x.png").text();
    Canvas named("x.png");
    named.title = "a title";
    EXPECT_THAT(bench_figure(file, "speed").script(named).text(), HasSubstr("layout 1,1 title 'a title'"));
    EXPECT_THAT(speed, AllOf(HasSubstr("1000 80 72 88"), Not(HasSubstr("1000 50 ")), HasSubstr("1000 400 "),
                             HasSubstr("cpu limit: memory"), HasSubstr("cuda spring, 0.5"),
                             HasSubstr("cpu textbook, 0.5"), Not(HasSubstr("3D"))));
    EXPECT_THAT(bench_figure(file, "threads").script("x.png").text(),
                AllOf(HasSubstr("1 50 45 55\n2 80 72 88"), HasSubstr("1 50 0 0\n2 100 0 0")));
    EXPECT_THAT(bench_figure(file, "limit").script("x.png").text(), HasSubstr("1000 20 18 22"));
    rows.push_back(row(BenchRung::kSpring, 40.0, gas));  // again, and slower
    EXPECT_THAT(bench_figure(write("b.json", rows), "threads").script("x.png").text(), HasSubstr("1 50 45 55\n"));
    EXPECT_THAT(message_of<InputError>([&] { bench_figure(file, "double"); }),
                HasSubstr("holds nothing to draw for 'double'"));
    EXPECT_THAT(message_of<InputError>([&] { bench_figure(file, "colour"); }),
                HasSubstr("holds no quantity 'colour'; allowed: speed, double, limit, threads, events"));
}

TEST_F(BenchFiles, AreDrawnInARangeAndWrittenAsATable) {
    const BenchGas gas{2, 0.5, 1000};
    std::vector<BenchRow> rows{row(BenchRung::kSpring, 80.0, gas, "cpu", 2), row(BenchRung::kTextbook, 20.0, gas)};
    rows[0].limit = 400.0;
    const BenchFigure figure = bench_figure(write("a.json", rows), "speed");
    EXPECT_EQ(figure.csv(),
              "panel,curve,balls,ball-steps / s,least,most\n"
              "\"disks (2D), by packing fraction\",cpu limit: memory,1000,400,,\n"
              "\"disks (2D), by packing fraction\",\"cpu spring, 0.5\",1000,80,72,88\n"
              "\"disks (2D), by packing fraction\",\"cpu textbook, 0.5\",1000,20,18,22\n");
    const FigureWishes wishes{.x = {.low = 10.0}, .y = {.low = 1.0, .high = 1000.0}};
    EXPECT_THAT(figure.script("x.png", wishes).text(),
                AllOf(HasSubstr("set xrange [10:"), HasSubstr("set yrange [1:1000]")));
    EXPECT_THAT(message_of<InputError>([&] { static_cast<void>(figure.script("x.png", {.y = {.low = 0.0}})); }),
                HasSubstr("--yrange: a logarithmic axis begins above 0, not at 0"));
    EXPECT_THAT(message_of<InputError>([&] { static_cast<void>(figure.script("x.png", {.x = {.high = 2.0}})); }),
                HasSubstr("--xrange: from "));
}

TEST(BenchPower, IsReadWhereItCanBeAndIsNeverNeeded) {
    for (const char* backend : {"cpu", "cuda"}) {
        PowerMeter meter(backend);
        meter.start();
        for (const auto& [name, value] : meter.stop()) {
            EXPECT_THAT(name, testing::StartsWith(std::string(backend) == "cpu" ? "cpu_" : "gpu_"));
            EXPECT_GT(value, 0.0) << name;
        }
    }
}

TEST(BenchText, HasEveryMeasurementAndWhatWasLeftOut) {
    BenchResults results = results_of({row(BenchRung::kSpring, 1.25e8, {2, 0.5, 1000})});
    results.rows[0].bytes_counted = 32.0;
    results.rows[0].limit = 5e8;
    LeftOut& left = results.left_out.emplace_back();
    left.what = row(BenchRung::kTextbook, 1.0, {3, 0.6, 100'000'000}, "cpu", 2).what;
    left.why = "needs 1 TB";
    const std::string text = bench_text(results);
    EXPECT_THAT(text, HasSubstr("2D, packing fraction 0.5, 1,000 balls (melted)"));
    EXPECT_THAT(text,
                testing::ContainsRegex("spring +cpu +1 +single +1\\.25e\\+08 ball-steps/s +±10\\.0 % +32 +25\\.0 %"));
    EXPECT_THAT(text, HasSubstr("textbook, cpu, 2 threads, 3D, packing fraction 0.6, 100,000,000 balls, single: "
                                "needs 1 TB"));
}

}  // namespace carom::bench_test
