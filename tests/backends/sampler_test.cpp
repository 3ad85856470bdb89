#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "host/observables/frame_sampler.hpp"
#include "kernels/cuda/spring_cuda.hpp"
#include "tests/support/spring_engines.hpp"

// Who has the balls, a device or several ranks, finds for averages what the host finds in a frame of them, to the last
// bit.

namespace carom::test::sampler_test {

constexpr std::uint64_t kSteps = 400;

/// Everything that can be asked of a sampler, as words.
std::map<std::string, std::vector<std::uint64_t>> answers(BallSampler& balls, const Gas& gas) {
    std::map<std::string, std::vector<std::uint64_t>> said;
    const int dimension = gas.setup.dimension;
    const std::vector<std::uint8_t> all{1, 1, 1};
    const std::vector<std::uint8_t> second{0, 1, 0};
    for (const auto& chosen : {all, second}) {
        said["energy"].push_back(std::bit_cast<std::uint64_t>(balls.largest_energy(chosen)));
    }

    using By = BallSums::By;
    using Terms = BallSums::Terms;
    for (const By by : {By::kNothing, By::kRegion, By::kSlice, By::kCell, By::kSpeed, By::kComponents}) {
        for (const Terms terms : {Terms::kCount, Terms::kFlow, Terms::kThermal, Terms::kMoments, Terms::kStress}) {
            BallSums what{.by = by, .terms = terms, .dimension = static_cast<std::uint8_t>(dimension)};
            const bool velocity = by == By::kSpeed || by == By::kComponents;
            for (int side = 0; side < 2; ++side) {
                what.bins[side] = {gas.setup.box_min[side], gas.setup.box_size[side], side == 0 ? 7U : 5U};
                if (velocity) what.bins[side] = {by == By::kSpeed ? 0.0 : -1.0, by == By::kSpeed ? 1.0 : 2.0, 8};
            }
            for (int axis = 0; axis < dimension; ++axis) {
                what.region_low[axis] = gas.setup.box_min[axis];
                what.region_high[axis] = gas.setup.box_min[axis] + 0.6 * gas.setup.box_size[axis];
            }
            what.choose_grids(gas.size(), 4.0, balls.largest_energy(all));
            for (const auto& chosen : {all, second}) {
                std::vector<std::int64_t> sums(what.width(), -1);
                const double largest = balls.sums(what, chosen, sums);
                auto& words = said["sums " + std::to_string(static_cast<int>(by)) + " of " +
                                   std::to_string(static_cast<int>(terms))];
                words.insert(words.end(), sums.begin(), sums.end());
                words.push_back(std::bit_cast<std::uint64_t>(largest));
            }
        }
    }

    PairOrder order{.dimension = dimension, .reach = 2.5, .bins = 9};
    for (int axis = 0; axis < dimension; ++axis) {
        order.low[axis] = gas.setup.box_min[axis];
        order.size[axis] = gas.setup.box_size[axis];
        order.periodic[axis] = gas.setup.sides[axis][0] == Side::kPeriodic;
        order.inner_low[axis] = gas.setup.box_min[axis] + 0.1 * gas.setup.box_size[axis];
        order.inner_high[axis] = gas.setup.box_min[axis] + 0.9 * gas.setup.box_size[axis];
    }
    for (const double most_looks : {1e9, 0.5}) {  // every reference, and only some of them
        order.most_looks = most_looks;
        for (order.turn = 0; order.turn < 3; ++order.turn) {
            std::vector<std::int64_t> pairs(order.bins, -1);
            const PairSample sample = balls.pairs(order, all, second, pairs);
            auto& words = said["pairs"];
            words.insert(words.end(), pairs.begin(), pairs.end());
            words.insert(words.end(), {sample.references, sample.others_inside});
        }
    }

    std::vector<std::uint32_t> ids;
    for (std::uint32_t id = 0; id < gas.size(); id += 2) ids.push_back(id);
    for (const Followed what : {Followed::kVelocity, Followed::kPlace}) {
        std::vector<double> values(ids.size() * dimension);
        balls.follow(ids, what, std::span(gas.setup.box_size).first(dimension), values);
        auto& words = said["followed"];
        for (const double value : values) words.push_back(std::bit_cast<std::uint64_t>(value));
    }
    return said;
}

using Case = std::tuple<std::string, bool, Processor>;

class Sampler : public testing::TestWithParam<Case> {
protected:
    void SetUp() override { CAROM_REQUIRE(std::get<2>(GetParam())); }
};

TEST_P(Sampler, SeesOnTheDeviceWhatAFrameShows) {
    const auto& [name, doubles, processor] = GetParam();
    Gas gas = scenario(name).make();
    gas.setup.double_precision = doubles;
    std::vector<std::uint32_t> species;
    for (std::uint32_t id = 0; id < gas.size(); ++id) species.push_back(id % 3);
    const std::vector<double> masses{1.0, 4.0, 0.0};
    const BallKinds kinds{.species = species, .mass = masses, .stretches = [&](const BallKinds::Take& take) {
                              for (const std::uint32_t one : species) take(one, 1);
                          }};

    const auto engine = make_engine(processor, gas);
    for (int look_at = 0; look_at < 2; ++look_at) {
        ASSERT_EQ(engine->advance(kSteps).steps, kSteps);
        const Gas seen = look(*engine, gas).frame;
        Frame frame;
        frame.resize(gas.setup.dimension, gas.size());
        for (int axis = 0; axis < gas.setup.dimension; ++axis) {
            frame.position[axis] = seen.position[axis];
            frame.velocity[axis] = seen.velocity[axis];
            frame.image[axis] = seen.image[axis];
        }
        frame.gone = seen.gone;
        FrameSampler here(frame, kinds);
        [[maybe_unused]] const std::uint64_t before = engine->memory_bytes();
        BallSampler* const there = engine->sample_balls(kinds);
        ASSERT_NE(there, nullptr);
        const auto expected = answers(here, gas);
        const auto actual = answers(*there, gas);
        for (const auto& [question, words] : expected) {
            EXPECT_EQ(actual.at(question), words) << question;
            const bool some = std::ranges::any_of(words, [](std::uint64_t word) { return word != 0; });
            EXPECT_TRUE(some || gas.size() == 0) << question;
        }
#if defined(CAROM_HAVE_EMULATED)
        if (look_at == 0 && !brick_maker(processor)) {
            const auto taken = static_cast<double>(engine->memory_bytes() - before);
            EXPECT_LE(taken,
                      1.2 * static_cast<double>(predict_emulated_sampler(gas.size(), gas.setup.dimension, true)));
        }
#endif
        // A frame that is asked for meanwhile is whole all the same.
        EXPECT_TRUE(same_balls("frame", seen, look(*engine, gas).frame));
    }
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
    const auto& [name, doubles, processor] = info.param;
    return name + (doubles ? "_double_" : "_single_") + processor.name;
}

/// With walls, periodic sides, balls that leave, those of infinite mass, and none at all.
INSTANTIATE_TEST_SUITE_P(Scenarios, Sampler,
                         testing::Combine(testing::Values("walls_2d", "periodic_3d", "open_2d", "open_3d", "heavy_2d",
                                                          "mixture_3d", "none_3d"),
                                          testing::Bool(),
                                          testing::Values(Processor{"emulated"}, Processor{"cuda"}, Processor{"ranks"},
                                                          Processor{"emulated_ranks"})),
                         case_name);

/// The CPU's balls are in the host's memory, where a frame does.
TEST(SamplerOfTheCpu, IsAFrame) {
    Gas gas = scenario("walls_2d").make();
    const std::vector<std::uint32_t> species(gas.size(), 0);
    const std::vector<double> masses{1.0};
    EXPECT_EQ(make_engine({"cpu1", 1}, gas)->sample_balls({.species = species, .mass = masses}), nullptr);
}

}  // namespace carom::test::sampler_test
