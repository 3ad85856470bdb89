#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/support/make_walls.hpp"
#include "tests/support/spring_engines.hpp"

// Every processor stops before the same step, names the same balls, and leaves the same state.

namespace carom::test::faults_test {

using Kind = SpringFault::Kind;

struct FaultCase {
    std::string name;
    std::function<Gas()> make;
    Kind kind;
    std::uint32_t ball;
    std::uint32_t other;
};

Gas calm() {
    Gas gas = empty_box(2, {24.0, 24.0, 0.0});
    add_lattice(gas, {.counts = {10, 10, 1}, .spacing = 1.4, .corner = {3.0, 3.0, 0.0}, .speed = 0.3});
    return gas;
}

/// Two at a time: the smaller id is named.
Gas not_a_number() {
    Gas gas = calm();
    gas.velocity[1][71] = gas.velocity[0][34] = std::nan("");
    return gas;
}

Gas too_fast() {
    Gas gas = calm();
    gas.velocity[0][17] = -501.0;  // the limit is half a diameter a step: 500
    return gas;
}

/// What no wall can turn back, after some hundred steps.
Gas left_box() {
    Gas gas = calm();
    gas.add({22.0, 12.0, 0.0}, {4.0, 0.0, 0.0}, 0.5, 0.0);
    return gas;
}

Gas left_by_a_shape() {
    Gas gas = calm();
    gas.setup.walls = {sphere_wall({12.0, 1.0, 0.0}, 1.0, "outside"), sphere_wall({12.0, 20.0, 0.0}, 1.0, "outside")};
    gas.add({12.0, 22.0, 0.0}, {0.0, -3.0, 0.0}, 0.5, 0.0);
    return gas;
}

Gas deep_overlap() {
    Gas gas = calm();
    gas.add({20.0, 20.0, 0.0}, {0.0, 0.0, 0.0}, 0.5, 1.0);
    gas.add({20.0, 20.2, 0.0}, {0.0, 0.0, 0.0}, 0.5, 1.0);
    return gas;
}

/// A dashpot that nobody reckoned with: balls approach at 10^4 times the design speed.
Gas force_limit() {
    Gas gas = calm();
    gas.setup.damping = 2000.0;
    gas.setup.design_speed = 0.01;
    gas.add({20.0, 20.0, 0.0}, {0.0, 0.0, 0.0}, 0.5, 1.0);
    gas.add({21.3, 20.0, 0.0}, {-100.0, 0.0, 0.0}, 0.5, 1.0);
    return gas;
}

const std::vector<FaultCase>& fault_cases() {
    static const std::vector<FaultCase> cases = {
        {"not_a_number", not_a_number, Kind::kNotANumber, 34, 0},
        {"too_fast", too_fast, Kind::kTooFast, 17, 0},
        {"left_box", left_box, Kind::kLeftBox, 100, 1},
        {"left_by_a_shape", left_by_a_shape, Kind::kLeftBox, 100, 7},
        {"deep_overlap", deep_overlap, Kind::kDeepOverlap, 100, 101},
        {"force_limit", force_limit, Kind::kForceLimit, 100, 101},
    };
    return cases;
}

using Case = std::tuple<std::size_t, bool, Processor>;

class Faults : public testing::TestWithParam<Case> {};

TEST_P(Faults, AreTheSame) {
    const FaultCase& fault = fault_cases()[std::get<0>(GetParam())];
    const Processor& processor = std::get<2>(GetParam());
    CAROM_REQUIRE(processor);
    Gas gas = fault.make();
    gas.setup.double_precision = std::get<1>(GetParam());
    const auto engine = make_engine(processor, gas);
    const auto reference = make_engine({"cpu1", 1}, gas);

    const AdvanceResult result = engine->advance(2000);
    EXPECT_EQ(result.fault.kind, fault.kind);
    EXPECT_EQ(result.fault.ball, fault.ball);
    EXPECT_EQ(result.fault.other, fault.other);
    EXPECT_LT(result.steps, 2000U);
    EXPECT_EQ(engine->step(), result.steps);
    EXPECT_EQ(reference->advance(2000).steps, result.steps);
    const Seen before = look(*reference, gas);
    EXPECT_TRUE(same_bits(before, look(*engine, gas)));

    const AdvanceResult again = engine->advance(5);
    EXPECT_EQ(again.steps, 0U);
    EXPECT_EQ(again.fault.kind, fault.kind);
    EXPECT_TRUE(same_bits(before, look(*engine, gas)));
}

INSTANTIATE_TEST_SUITE_P(Backends, Faults,
                         testing::Combine(testing::Range(std::size_t{0}, fault_cases().size()), testing::Bool(),
                                          testing::ValuesIn(processors())),
                         [](const auto& instance) {
                             return fault_cases()[std::get<0>(instance.param)].name +
                                    (std::get<1>(instance.param) ? "_double_" : "_single_") +
                                    std::get<2>(instance.param).name;
                         });

}  // namespace carom::test::faults_test
