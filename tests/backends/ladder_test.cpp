#include "kernels/ladder/ladder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <ostream>
#include <vector>

#include "kernels/cpu/spring_cpu.hpp"
#include "kernels/cuda/spring_cuda.hpp"
#include "kernels/ladder/cpu_ladder.cpp"
#include "tests/support/message_of.hpp"
#include "tests/support/spring_engines.hpp"

// The rungs of the bench's ladder on each processor: a baseline that computed something else would prove nothing.

namespace carom::ladder_test {

using test::Gas;
using test::Processor;

constexpr std::uint64_t kSteps = 300;  // 6 contact durations

Gas small_gas(int dimension, bool double_precision) {
    const int along = dimension == 2 ? 20 : 8;
    constexpr double kSpacing = 1.15;
    constexpr double kInWall = 0.015;  // so deep the outermost stand in the walls: the first kick must be half a step
    const double edge = kSpacing * (along - 1) + 1.0 - 2.0 * kInWall;
    constexpr double kFirst = 0.5 - kInWall - 0.5 * kSpacing;
    Gas gas = test::empty_box(dimension, {edge, edge, dimension == 2 ? 0.0 : edge});
    gas.setup.double_precision = double_precision;
    gas.setup.dt = 4.4e-4;  // 50 steps a contact
    // Fast enough to meet each other several times.
    test::add_lattice(gas, {.counts = {along, along, dimension == 2 ? 1 : along},
                            .spacing = kSpacing,
                            .corner = {kFirst, kFirst, kFirst},
                            .speed = 4.0});
    return gas;
}

std::unique_ptr<LadderEngine> make(const Processor& processor, LadderRung rung, Gas& gas) {
    SpringSetup setup = gas.setup;
    setup.threads = processor.threads;
#if defined(CAROM_HAVE_EMULATED)
    if (processor.name == "emulated") return make_emulated_ladder(rung, setup, gas.raw());
#endif
#if defined(CAROM_HAVE_CUDA)
    if (processor.name == "cuda") return make_cuda_ladder(rung, setup, gas.raw());
#endif
    return make_cpu_ladder(rung, setup, gas.raw());
}

struct Difference {
    double position = 0.0;
    double velocity = 0.0;
};

/// Largest over balls and axes.
Difference difference(const Gas& a, const Gas& b) {
    Difference largest;
    for (int axis = 0; axis < a.setup.dimension; ++axis) {
        for (std::size_t id = 0; id < a.size(); ++id) {
            largest.position = std::max(largest.position, std::abs(a.position[axis][id] - b.position[axis][id]));
            largest.velocity = std::max(largest.velocity, std::abs(a.velocity[axis][id] - b.velocity[axis][id]));
        }
    }
    return largest;
}

struct LadderCase {
    Processor processor;
    int dimension;
    bool double_precision;
};

void PrintTo(const LadderCase& of, std::ostream* out) {
    *out << of.processor.name << ", " << of.dimension << "D, " << (of.double_precision ? "double" : "single");
}

class Ladder : public testing::TestWithParam<LadderCase> {
protected:
    void SetUp() override {
        const std::string why = test::missing(GetParam().processor);
        if (why.empty()) return;
        if (test::gpu_required(GetParam().processor)) FAIL() << why;
        GTEST_SKIP() << why;
    }
};

TEST_P(Ladder, TextbookFollowsTheTrajectoryOfTheStep) {
    // Both are the same leapfrog, but round differently: the textbook's positions are floats of up to 26 diameters, so
    // 300 steps are off by up to 300 * 2^-20 without contacts (double: 2^-49), typically by the square root of that
    // many. In 300 steps a ball collides up to four times, and with gaps of a sixth of a diameter a collision enlarges
    // what two balls are off by some 1.6 to 2.3 times: 30 in all. In a contact velocities change by k dt / m = 4.4
    // times the overlap in each of 50 steps of which half compress: another factor of 100.
    const double rounding = static_cast<double>(kSteps) * (GetParam().double_precision ? 0x1p-49 : 0x1p-20);
    const double kPosition = 30.0 * rounding;
    const double kVelocity = 3000.0 * rounding;

    Gas start = small_gas(GetParam().dimension, GetParam().double_precision);
    Gas expected = start;
    const auto engine = make_cpu_engine(start.setup, start.raw(), 0, {});
    ASSERT_EQ(engine->advance(kSteps).fault.kind, SpringFault::Kind::kNone);
    engine->store(expected.arrays());
    // There is something to get wrong: most balls were hit.
    ASSERT_GT(difference(start, expected).velocity, 1.0);
    ASSERT_GT(engine->totals().contacts, 0U);

    Gas actual = start;
    const auto textbook = make(GetParam().processor, LadderRung::kTextbook, start);
    textbook->advance(kSteps / 2);
    textbook->advance(kSteps - kSteps / 2);
    textbook->store(actual.arrays());
    const Difference off = difference(expected, actual);
    EXPECT_LT(off.position, kPosition);
    EXPECT_LT(off.velocity, kVelocity);
    RecordProperty("position", std::to_string(off.position / kPosition));
    RecordProperty("velocity", std::to_string(off.velocity / kVelocity));
}

TEST_P(Ladder, IntegrateIsTheStepWithoutContacts) {
    // Far from walls and from each other, carom's step does nothing else; so to the bit.
    Gas gas = test::empty_box(GetParam().dimension, {60.0, 60.0, GetParam().dimension == 2 ? 0.0 : 60.0});
    gas.setup.double_precision = GetParam().double_precision;
    const int along = GetParam().dimension == 2 ? 7 : 4;  // no multiple of a block of lanes
    test::add_lattice(gas, {.counts = {along, along, GetParam().dimension == 2 ? 1 : along},
                            .spacing = 4.0,
                            .corner = {20.0, 20.0, 20.0},
                            .speed = 1.0});
    Gas expected = gas;
    const auto engine = make_cpu_engine(gas.setup, gas.raw(), 0, {});
    ASSERT_EQ(engine->advance(kSteps).fault.kind, SpringFault::Kind::kNone);
    engine->store(expected.arrays());
    ASSERT_GT(difference(gas, expected).position, 0.1);

    Gas actual = gas;
    const auto rung = make(GetParam().processor, LadderRung::kIntegrate, gas);
    rung->advance(kSteps);
    rung->store(actual.arrays());
    EXPECT_TRUE(test::same_balls(GetParam().processor.name, expected, actual));
}

std::vector<LadderCase> ladder_cases() {
    std::vector<LadderCase> cases;
    for (const Processor& processor : test::processors()) {
        for (const int dimension : {2, 3}) {
            for (const bool double_precision : {false, true}) cases.push_back({processor, dimension, double_precision});
        }
    }
    return cases;
}

INSTANTIATE_TEST_SUITE_P(Processors, Ladder, testing::ValuesIn(ladder_cases()), [](const auto& of) {
    return of.param.processor.name + (of.param.dimension == 2 ? "_2D" : "_3D") +
           (of.param.double_precision ? "_double" : "_single");
});

TEST(CpuExecutor, SortsPairsStablyForAnyNumberOfThreads) {
    for (const int threads : {1, 2, 3}) {
        for (const std::size_t count : {1UL, 2UL, 1000UL, 100003UL}) {
            for (const int bits : {1, 11, 12, 27}) {  // one to three passes: the result is in either buffer
                std::vector<std::uint32_t> key(count);
                std::vector<std::uint32_t> value(count);
                for (std::size_t i = 0; i < count; ++i) {
                    key[i] = static_cast<std::uint32_t>(i * 2654435761U) & ((1U << bits) - 1);
                    value[i] = static_cast<std::uint32_t>(i);
                }
                const std::vector<std::uint32_t> given = key;
                CpuExecutor executor(threads);
                executor.sort_pairs(key.data(), value.data(), count, bits);
                for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(key[i], given[value[i]]);
                for (std::size_t i = 1; i < count; ++i) {
                    ASSERT_LE(key[i - 1], key[i]);
                    ASSERT_TRUE(key[i - 1] != key[i] || value[i - 1] < value[i]) << "not stable";
                }
            }
        }
    }
}

TEST(CopyRung, MovesAllOfTheArray) {
    // What it moves is not to be seen from outside; that the copy is one is a matter of the executor.
    constexpr std::size_t kWords = 1001;  // does not divide by the threads
    std::vector<CopyWord> from(kWords);
    std::vector<CopyWord> to(kWords, CopyWord{});
    for (std::size_t i = 0; i < kWords; ++i) from[i] = {{i + 1, ~i}};
    CpuExecutor(3).copy(from.data(), to.data(), kWords);
    for (std::size_t i = 0; i < kWords; ++i) {
        ASSERT_EQ(to[i].half[0], i + 1);
        ASSERT_EQ(to[i].half[1], ~i);
    }
    EXPECT_EQ(make_cpu_copy(1600, 2)->streamed_bytes(), 3200.0);
#if defined(CAROM_HAVE_EMULATED)
    const auto emulated = make_emulated_copy(1600);
    emulated->advance(2);
    EXPECT_EQ(emulated->streamed_bytes(), 3200.0);
#endif
}

TEST(LadderSetups, AreRefusedWhereTheRungsWouldComputeSomethingElse) {
    const auto refused = [](auto&& change) {
        Gas gas = small_gas(2, false);
        change(gas);
        return test::message_of<std::invalid_argument>(
            [&] { make_cpu_ladder(LadderRung::kTextbook, gas.setup, gas.raw()); });
    };
    EXPECT_EQ(refused([](Gas& gas) { gas.setup.damping = 0.1; }), "contacts are damped");
    EXPECT_EQ(refused([](Gas& gas) { gas.setup.gravity[1] = -1.0; }), "there is gravity");
    EXPECT_EQ(refused([](Gas& gas) { gas.setup.sides[0][1] = SpringSetup::Side::kPeriodic; }),
              "a face of the box is not a wall");
    EXPECT_EQ(refused([](Gas& gas) { gas.radius[7] = 0.4; }), "balls differ in radius or mass");
    EXPECT_EQ(refused([](Gas& gas) { gas.setup.walls.emplace_back(); }), "there are walls beside the faces of the box");
}

}  // namespace carom::ladder_test
