#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>

#include "host/ranks/ranked_engine.hpp"
#include "kernels/cpu/spring_cpu.hpp"
#include "kernels/ranks/cut.hpp"
#include "tests/support/spring_engines.hpp"

namespace carom::test::ranks_test {

/// Ranks of each kind of processor, by the name that the tests have for it; those of the emulated device send from
/// there, or through the host.
class RanksOn : public testing::TestWithParam<std::tuple<Processor, bool>> {
protected:
    void SetUp() override { CAROM_REQUIRE(std::get<0>(GetParam())); }
    [[nodiscard]] static BrickMaker maker() { return brick_maker(std::get<0>(GetParam())); }
    [[nodiscard]] static bool reach_devices() { return std::get<1>(GetParam()); }
};

double figure(const SpringEngine& engine, const std::string& name) {
    for (const auto& [key, value] : engine.figures().numbers) {
        if (key == name) return value;
    }
    ADD_FAILURE() << "no figure " << name;
    return 0.0;
}

/// Balls that hardly move, and two that press each other apart so hard that within some steps they are a hundred times
/// as fast: farther than ranks reckoned with when they last had a word.
Gas with_a_bang() {
    Gas gas = empty_box(2, {40.0, 40.0, 0.0});
    add_lattice(gas, {.counts = {25, 25, 1}, .spacing = 1.2, .corner = {1.0, 1.0, 0.0}, .speed = 0.05});
    gas.add({36.0, 36.0, 0.0}, {0.0, 0.0, 0.0}, 0.5, 1.0);
    gas.add({36.0, 36.4, 0.0}, {0.0, 0.0, 0.0}, 0.5, 1.0);
    return gas;
}

TEST_P(RanksOn, DoAStretchAnewThatWasTooBold) {
    Gas gas = with_a_bang();
    gas.setup.margin = 0.1;
    gas.setup.threads = 1;
    for (const int count : {2, 5}) {
        ThreadRanks threads(count, {}, maker(), reach_devices());
        Ranks ranks(threads.rank_0(), maker());
        const auto engine = ranks.make_engine(gas.setup, gas.raw(), 0, gas.tallies);
        const auto alone = make_engine({"cpu1", 1}, gas);
        for (int part = 0; part < 5; ++part) {
            EXPECT_EQ(engine->advance(60).steps, 60U);
            alone->advance(60);
            EXPECT_TRUE(same_bits(look(*alone, gas), look(*engine, gas))) << count << " ranks";
        }
        EXPECT_GT(figure(*engine, "rank_retreats"), 0.0);
    }
}

TEST_P(RanksOn, HaveSeveralEnginesAtOnce) {
    Gas gas = with_a_bang();
    gas.setup.threads = 1;
    ThreadRanks threads(3, {}, maker(), reach_devices());
    Ranks ranks(threads.rank_0(), maker());
    const auto first = ranks.make_engine(gas.setup, gas.raw(), 0, gas.tallies);
    const auto alone = make_engine({"cpu1", 1}, gas);
    first->advance(60);
    alone->advance(60);
    auto other = ranks.make_engine(gas.setup, gas.raw(), 0, gas.tallies);
    EXPECT_TRUE(same_bits(look(*make_engine({"cpu1", 1}, gas), gas), look(*other, gas)));
    first->advance(60);
    alone->advance(60);
    EXPECT_TRUE(same_bits(look(*alone, gas), look(*first, gas)));
    other.reset();
    first->advance(60);
    alone->advance(60);
    EXPECT_TRUE(same_bits(look(*alone, gas), look(*first, gas)));
}

TEST_P(RanksOn, MoveTheirCutsToWhereTheBallsAre) {
    Gas gas = empty_box(2, {60.0, 20.0, 0.0});
    add_lattice(gas, {.counts = {16, 14, 1}, .spacing = 1.2, .corner = {1.0, 1.0, 0.0}, .speed = 6.0});
    gas.setup.threads = 1;
    ThreadRanks threads(4, {}, maker(), reach_devices());
    Ranks ranks(threads.rank_0(), maker());
    ranks.cut_into({4, 1, 0});
    const auto engine = ranks.make_engine(gas.setup, gas.raw(), 0, gas.tallies);
    const auto alone = make_engine({"cpu1", 1}, gas);
    EXPECT_EQ(engine->advance(8000).steps, 8000U);  // until the gas fills the box
    alone->advance(8000);
    EXPECT_TRUE(same_bits(look(*alone, gas), look(*engine, gas)));
    EXPECT_LT(figure(*engine, "rank_imbalance"), 0.5);  // a cut that stayed would have all balls on one of four ranks
}

/// A thousand times as dense at its floor as at its top, nearly.
Gas atmosphere() {
    Gas gas = empty_box(2, {24.0, 900.0, 0.0});
    gas.setup.gravity = {0.0, -0.01, 0.0};
    double height = 0.6;
    for (double spacing = 1.02; height + 2.0 * spacing < 900.0; spacing *= 1.04) {
        const int across = static_cast<int>(22.0 / spacing);
        const int rows = spacing < 1.2 ? 20 : 2;
        if (across < 1) break;
        add_lattice(gas, {.counts = {across, rows, 1}, .spacing = spacing, .corner = {1.0, height, 0.0}, .speed = 1.0});
        height += rows * spacing;
    }
    return gas;
}

TEST_P(RanksOn, ShareTheWorkOfAnAtmosphereToATenth) {
    Gas gas = atmosphere();
    gas.setup.threads = 1;
    for (const int count : {2, 4}) {
        ThreadRanks threads(count, {}, maker(), reach_devices());
        Ranks ranks(threads.rank_0(), maker());
        const auto engine = ranks.make_engine(gas.setup, gas.raw(), 0, gas.tallies);
        EXPECT_EQ(engine->advance(400).steps, 400U);
        EXPECT_GT(engine->tallies().sorts, 0U);
        EXPECT_LT(figure(*engine, "rank_imbalance"), 0.1) << count << " ranks of " << gas.raw().count << " balls";
    }
}

/// Balls fly out, some of them in stretches that are done again.
TEST_P(RanksOn, BringBackWhatLeftInAStretchThatIsDoneAnew) {
    Gas gas = with_a_bang();
    for (auto& side : gas.setup.sides) side = {Side::kOpen, Side::kOpen};
    for (int k = 0; k < 25; ++k) gas.add({-0.49 + 0.004 * k, 1.6 + 1.2 * k, 0.0}, {-1.0, 0.0, 0.0}, 0.5, 1.0);
    gas.setup.margin = 0.1;
    gas.setup.threads = 1;
    ThreadRanks threads(3, {}, maker(), reach_devices());
    Ranks ranks(threads.rank_0(), maker());
    const auto engine = ranks.make_engine(gas.setup, gas.raw(), 0, gas.tallies);
    const auto alone = make_engine({"cpu1", 1}, gas);
    for (int part = 0; part < 5; ++part) {
        EXPECT_EQ(engine->advance(100).steps, 100U);
        alone->advance(100);
        EXPECT_TRUE(same_bits(look(*alone, gas), look(*engine, gas)));
    }
    EXPECT_GT(figure(*engine, "rank_retreats"), 0.0);
    EXPECT_GE(engine->tallies().balls_left, 25U);
}

/// The formula of docs/clusters.md for one cut across a cube, both sides together.
double reckoned_bytes(const Gas& gas, int messages) {
    const int dimension = gas.setup.dimension;
    const auto n = static_cast<double>(gas.size());
    const double cells = std::floor(gas.setup.box_size[0] / (1.0 + gas.setup.margin));
    const double b = std::pow(n, 1.0 / dimension) / cells;  // width of a cell in mean distances of balls
    const double copies = 2.0 * std::pow(n, 1.0 - 1.0 / dimension) * b;
    const double w = (gas.setup.double_precision ? 8.0 : 4.0) * (gas.setup.damping > 0.0 ? 2.0 : 1.0);
    return 16.0 * messages + w * dimension * copies;
}

TEST_P(RanksOn, SendAsManyBytesAsTheFormulaSays) {
    struct Case {
        int dimension;
        int along;  // balls
        bool double_precision;
        double damping;
    };
    // A layer of cells has 100 to 600 balls at a time: some 5 % more or less, and a fifth of that in the mean of the
    // run.
    for (const Case& one : {Case{2, 100, false, 0.0}, Case{2, 100, true, 0.01}, Case{3, 24, false, 0.0}}) {
        const double side = 1.2 * one.along + 0.5;
        Gas gas = empty_box(one.dimension, {side, side, side});
        add_lattice(gas, {.counts = {one.along, one.along, one.dimension == 3 ? one.along : 1},
                          .spacing = 1.2,
                          .corner = {0.2, 0.2, 0.2},
                          .speed = 2.0});
        gas.setup.margin = 0.2;
        gas.setup.threads = 1;
        gas.setup.double_precision = one.double_precision;
        gas.setup.damping = one.damping;
        ThreadRanks threads(2, {}, maker(), reach_devices());
        Ranks ranks(threads.rank_0(), maker());
        const auto engine = ranks.make_engine(gas.setup, gas.raw(), 0, gas.tallies);
        EXPECT_EQ(engine->advance(400).steps, 400U);
        // Copies that come when balls are dealt out are of the present, and want no message before the next step.
        const double asked = 1.0 - static_cast<double>(engine->tallies().sorts) / 400.0;
        const double reckoned = asked * reckoned_bytes(gas, 2);
        EXPECT_NEAR(figure(*engine, "rank_bytes_per_step") / reckoned, 1.0, 0.05)
            << one.dimension << " dimensions, " << gas.size() << " balls";
        EXPECT_NEAR(figure(*engine, "rank_messages_per_step"), (reach_devices() ? 4.0 : 2.0) * asked, 0.02);
    }
}

INSTANTIATE_TEST_SUITE_P(Backends, RanksOn,
                         testing::Values(std::tuple(Processor{"ranks"}, false),
                                         std::tuple(Processor{"emulated_ranks"}, false),
                                         std::tuple(Processor{"emulated_ranks"}, true)),
                         [](const auto& instance) {
                             return std::get<0>(instance.param).name + (std::get<1>(instance.param) ? "_directly" : "");
                         });

TEST(Ranks, TellRankZeroAloneWhatCannotBeShared) {
    Gas gas = empty_box(2, {3.0, 3.0, 0.0});
    gas.add({1.0, 1.0, 0.0}, {1.0, 0.0, 0.0}, 0.5, 1.0);
    ThreadRanks threads(3);
    Ranks ranks(threads.rank_0());
    ranks.cut_into({3, 5, 0});
    EXPECT_THROW(static_cast<void>(ranks.make_engine(gas.setup, gas.raw(), 0, gas.tallies)), CannotShare);
    ranks.cut_into({3, 1, 0});  // and all go on
    EXPECT_EQ(ranks.make_engine(gas.setup, gas.raw(), 0, gas.tallies)->advance(10).steps, 10U);
}

}  // namespace carom::test::ranks_test
