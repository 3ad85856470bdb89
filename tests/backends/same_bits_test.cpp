#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "kernels/cpu/tiles.hpp"
#include "tests/support/spring_engines.hpp"

// Every processor gives the same bits: states, frames, totals and tallies, in each scenario.

namespace carom::test::same_bits_test {

enum class Precision : std::uint8_t { kSingle, kDouble };
void PrintTo(Precision precision, std::ostream* out) {
    *out << (precision == Precision::kSingle ? "single" : "double");
}

Gas make_gas(const Scenario& scenario, Precision precision) {
    Gas gas = scenario.make();
    gas.setup.double_precision = precision == Precision::kDouble;
    return gas;
}

/// Half of a scenario: tests/golden has the whole of each.
std::uint64_t steps_of(const Scenario& scenario) { return scenario.steps / std::max<std::uint64_t>(2, kShorter); }

/// What one thread of the CPU gives at the end of it, run once for all tests of one process.
const Seen& expected_end(const Scenario& scenario, Precision precision) {
    static std::map<std::pair<std::string, Precision>, Seen> known;
    const auto key = std::pair(scenario.name, precision);
    auto found = known.find(key);
    if (found == known.end())
        found = known.emplace(key, run({"cpu1", 1}, make_gas(scenario, precision), steps_of(scenario))).first;
    return found->second;
}

using Case = std::tuple<std::string, Precision, Processor>;

std::string case_name(const testing::TestParamInfo<Case>& info) {
    const auto& [name, precision, processor] = info.param;
    return name + (precision == Precision::kSingle ? "_single_" : "_double_") + processor.name;
}

/// Each scenario in one precision, in turns, so that each has half of those of either dimension: what the other one
/// comes to is known of most processors (tests/golden).
std::vector<Case> cases() {
    std::vector<Case> all;
    for (std::size_t turn = 0; turn < scenarios().size(); ++turn) {
        for (const Processor& processor : processors()) {
            all.emplace_back(scenarios()[turn].name,
                             (turn + turn / 2) % 2 == 0 ? Precision::kSingle : Precision::kDouble, processor);
        }
    }
    return all;
}

class SameBits : public testing::TestWithParam<Case> {
protected:
    void SetUp() override { CAROM_REQUIRE(processor()); }
    [[nodiscard]] const Scenario& scenario() const { return test::scenario(std::get<0>(GetParam())); }
    [[nodiscard]] std::uint64_t steps() const { return steps_of(scenario()); }
    [[nodiscard]] Precision precision() const { return std::get<1>(GetParam()); }
    [[nodiscard]] const Processor& processor() const { return std::get<2>(GetParam()); }
};

TEST_P(SameBits, AtTheEnd) {
    const Seen& expected = expected_end(scenario(), precision());
    const Seen actual = run(processor(), make_gas(scenario(), precision()), steps());
    EXPECT_TRUE(same_bits(expected, actual));
}

/// A run in pieces of odd lengths, looked at between them, and restarted from what was stored.
TEST_P(SameBits, AfterARestart) {
    const Seen& expected = expected_end(scenario(), precision());
    Gas gas = make_gas(scenario(), precision());
    const std::uint64_t first = steps() / 3 | 1U;
    auto engine = make_engine(processor(), gas);
    for (const std::uint64_t piece : {std::uint64_t{1}, first - 1}) {
        ASSERT_EQ(engine->advance(piece).steps, piece);
        look(*engine, gas);
    }
    Gas stored = look(*engine, gas).raw;
    engine = make_engine(processor(), stored);
    ASSERT_EQ(engine->advance(steps() - first).steps, steps() - first);
    Seen actual = look(*engine, stored);
    actual.tallies.sorts = actual.raw.tallies.sorts = expected.tallies.sorts;  // a restart sorts anew
    // Impulses are whole numbers of one unit, but counted before and after in doubles: exact to their sum's rounding.
    for (std::size_t wall = 0; wall < actual.tallies.wall_impulse.size(); ++wall) {
        EXPECT_NEAR(actual.tallies.wall_impulse[wall], expected.tallies.wall_impulse[wall],
                    1e-15 * expected.tallies.wall_impulse[wall]);
    }
    actual.tallies.wall_impulse = expected.tallies.wall_impulse;
    for (std::size_t wall = 0; wall < actual.tallies.wall_heat.size(); ++wall) {
        const double heat = expected.tallies.wall_heat[wall];
        EXPECT_NEAR(actual.tallies.wall_heat[wall], heat, 1e-13 * std::abs(heat));  // of parts that may cancel
    }
    actual.tallies.wall_heat = expected.tallies.wall_heat;
    EXPECT_NEAR(actual.tallies.thermostat_heat, expected.tallies.thermostat_heat,
                1e-13 * std::abs(expected.tallies.thermostat_heat));
    actual.tallies.thermostat_heat = expected.tallies.thermostat_heat;
    EXPECT_TRUE(same_bits(expected, actual));
}

/// The margin decides when balls are sorted, how large cells are and who is looked at: speed, and no bit.
TEST_P(SameBits, WithAnotherMargin) {
    const Seen& expected = expected_end(scenario(), precision());
    const bool narrow = (&scenario() - scenarios().data()) / 4 % 2 == 0;  // so each precision has each margin
    Gas gas = make_gas(scenario(), precision());
    gas.setup.margin = narrow ? 0.03 : 0.77;
    Seen actual = run(processor(), gas, steps());
    if (scenario().name == "walls_2d") {
        EXPECT_NE(actual.tallies.sorts, expected.tallies.sorts);
    }
    actual.tallies.sorts = expected.tallies.sorts;
    EXPECT_TRUE(same_bits(expected, actual)) << "margin " << gas.setup.margin;
}

INSTANTIATE_TEST_SUITE_P(Backends, SameBits, testing::ValuesIn(cases()), case_name);

/// Enough balls that each thread of three has work of its own (kBallsPerThread).
class ManyBalls : public testing::TestWithParam<std::tuple<int, Precision, Processor>> {};

TEST_P(ManyBalls, SameBits) {
    const auto& [dimension, precision, processor] = GetParam();
    CAROM_REQUIRE(processor);
    static std::map<std::pair<int, Precision>, Seen> known;
    const int along = dimension == 2 ? 60 : 15;
    Gas gas = empty_box(dimension, {along * 1.1, along * 1.1, dimension == 3 ? along * 1.1 : 0.0});
    add_lattice(gas, {.counts = {along, along, along}, .spacing = 1.1});
    gas.setup.sides[0] = {Side::kPeriodic, Side::kPeriodic};
    gas.setup.damping = 0.1;
    gas.setup.double_precision = precision == Precision::kDouble;
    constexpr std::uint64_t kSteps = 1000;
    const auto key = std::pair(dimension, precision);
    if (!known.contains(key)) known.emplace(key, run({"cpu1", 1}, gas, kSteps));
    EXPECT_TRUE(same_bits(known.at(key), run(processor, gas, kSteps)));
}

INSTANTIATE_TEST_SUITE_P(Backends, ManyBalls,
                         testing::Combine(testing::Values(2, 3),
                                          testing::Values(Precision::kSingle, Precision::kDouble),
                                          testing::ValuesIn(processors())),
                         [](const auto& instance) {
                             return std::to_string(std::get<0>(instance.param)) + "d_" +
                                    (std::get<1>(instance.param) == Precision::kSingle ? "single_" : "double_") +
                                    std::get<2>(instance.param).name;
                         });

/// So many balls that the CPU writes their new state past its caches, which the emulated device does not.
class PastTheCaches : public testing::TestWithParam<Processor> {};

TEST_P(PastTheCaches, SameBits) {
    CAROM_REQUIRE(GetParam());
    const int along = 77;
    const std::size_t count = static_cast<std::size_t>(along) * along * along;
    ASSERT_TRUE(goes_past_caches(count * 3 * (sizeof(std::uint32_t) + sizeof(float))) ||
                !goes_past_caches(std::numeric_limits<std::size_t>::max()));
    Gas gas = empty_box(3, {along * 1.05, along * 1.05, along * 1.05});
    add_lattice(gas, {.counts = {along, along, along}, .spacing = 1.05});
    constexpr std::uint64_t kSteps = 6;
    static const Seen known = run({"cpu1", 1}, gas, kSteps);
    EXPECT_TRUE(same_bits(known, run(GetParam(), gas, kSteps)));
}

INSTANTIATE_TEST_SUITE_P(Backends, PastTheCaches, testing::ValuesIn(processors()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace carom::test::same_bits_test
