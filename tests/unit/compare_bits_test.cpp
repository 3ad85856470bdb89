#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <memory>

#include "host/compare/bits.hpp"
#include "tests/support/compare_scene.hpp"
#include "tests/support/fake_solver.hpp"

namespace carom::test::compare_bits_test {

constexpr double kDt = 0.25;  // FakeSolver's

/// A FakeSolver whose ball `ball` has one bit of a velocity wrong from step `from` on.
class FlippedBit final : public Solver {
public:
    FlippedBit(std::uint64_t from, std::size_t ball, int bit) : from_(from), ball_(ball), bit_(bit), right_(50) {}

    double time() const override { return right_.time(); }
    std::uint64_t step() const override { return right_.step(); }
    double reachable_time(double time) const override { return right_.reachable_time(time); }
    bool advance_to(double time, double seconds) override { return right_.advance_to(time, seconds); }
    Totals totals() override { return right_.totals(); }
    Tallies tallies() override { return right_.tallies(); }
    void request_frame(Frame& frame) override {
        right_.request_frame(frame);
        if (step() < from_) return;
        double& value = frame.velocity[1][ball_];
        value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << bit_));
    }
    void finish_frame(Frame&) override {}
    void save(SolverState& state) override { right_.save(state); }
    SolverDescription describe() const override { return right_.describe(); }

private:
    std::uint64_t from_;
    std::size_t ball_;
    int bit_;
    FakeSolver right_;
};

SolverSource right_source() {
    return {"right", [] { return std::make_unique<FakeSolver>(50); }};
}

TEST(CompareBits, FindsTheFirstStepBallQuantityAndBit) {
    constexpr std::uint64_t kSteps = 10'000;
    for (const std::uint64_t from : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4711}, kSteps}) {
        const SolverSource wrong{"wrong", [from] { return std::make_unique<FlippedBit>(from, 37, 13); }};
        const BitsResult result = compare_bits({right_source(), right_source(), wrong}, kSteps, kDt, CompareContext{});
        ASSERT_TRUE(result.parting) << from;
        EXPECT_EQ(result.parting->step, from);
        EXPECT_EQ(result.parting->ball, 37u);
        EXPECT_EQ(result.parting->quantity, "velocity y");
        EXPECT_EQ(result.parting->bit, 13);
        EXPECT_EQ(result.parting->other, "wrong");
        EXPECT_TRUE(result.parting->repeated);
    }
}

TEST(CompareBits, CallsEqualRunsIdentical) {
    const BitsResult result = compare_bits({right_source(), right_source()}, 1000, kDt, CompareContext{});
    EXPECT_FALSE(result.parting);
    FakeSolver solver(50);
    solver.advance_to(250.0, 1.0);
    Frame frame;
    solver.request_frame(frame);
    EXPECT_EQ(result.hash, state_hash(frame));
}

TEST(CompareBits, TellsWhatASecondRunDoesNotShowAgain) {
    int made = 0;
    const SolverSource sometimes{"sometimes", [&made]() -> std::unique_ptr<Solver> {
                                     if (made++ == 0) return std::make_unique<FlippedBit>(500, 0, 0);
                                     return std::make_unique<FakeSolver>(50);
                                 }};
    const BitsResult result = compare_bits({right_source(), sometimes}, 1000, kDt, CompareContext{});
    ASSERT_TRUE(result.parting);
    EXPECT_FALSE(result.parting->repeated);
}

TEST(CompareBits, SeesThatABallIsGone) {
    Frame one;
    one.resize(2, 3);
    Frame two = one;
    EXPECT_FALSE(first_difference(one, two));
    two.gone[2] = 1;
    ASSERT_TRUE(first_difference(one, two));
    EXPECT_EQ(first_difference(one, two)->ball, 2u);
    two = one;
    two.position[0][1] = -0.0;
    EXPECT_FALSE(first_difference(one, two)) << "negative zero is zero";
}

constexpr const char* kGas = R"(
[scene]
dimension = 2
[box]
size = [24.0, 24.0]
boundary = ["periodic", "wall"]
[run]
until = 0.05
backend = "cpu"
[[fill]]
count = 200
radius = 0.5
mass = 1.0
temperature = 1.0
)";

TEST(CompareBits, OfASceneAreIdenticalOnAnyNumberOfThreads) {
    CompareContext context;
    context.threads = 4;
    const Findings findings = bits_section(prepared(kGas), context);
    EXPECT_EQ(verdict(findings, "bits"), Verdict::kGood) << words(findings);
    EXPECT_NE(words(findings).find("cpu on 4 threads"), std::string::npos);
}

TEST(CompareBits, OfASceneShowThreadsThatCountDifferently) {
    CompareContext context;
    context.threads = 2;
    context.make_spring = [](const Scene& scene, const SolverState& state, int threads) {
        Scene wrong = scene;
        if (threads > 1) wrong.spring.stiffness = 1.0001 * design_spring(scene, state.balls).stiffness;
        return make_spring_of(wrong, state, threads);
    };
    PreparedScene run = prepared(kGas);
    run.scene.spring.dt = run.plan->time_of_step(1);
    const Findings findings = bits_section(run, context);
    EXPECT_EQ(verdict(findings, "bits"), Verdict::kBad);
    EXPECT_NE(words(findings).find("part at step"), std::string::npos) << words(findings);
}

}  // namespace carom::test::compare_bits_test
