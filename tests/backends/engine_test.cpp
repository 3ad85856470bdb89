#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>
#include <thread>

#include "kernels/cuda/spring_cuda.hpp"
#include "tests/support/spring_engines.hpp"

// What an engine promises beside its results.

namespace carom::test::engine_test {

class Engine : public testing::TestWithParam<Processor> {
protected:
    void SetUp() override { CAROM_REQUIRE(GetParam()); }
};

TEST_P(Engine, GivesTheFrameOfTheTimeOfTheRequest) {
    Gas gas = scenario("gravity_2d").make();
    const auto engine = make_engine(GetParam(), gas);
    engine->advance(77);
    const Seen then = look(*engine, gas);
    Gas frame = gas;
    engine->request_frame(frame.arrays());
    engine->advance(500);
    std::thread([&] { engine->finish_frame(); }).join();
    EXPECT_EQ(hash_state(frame), hash_state(then.frame));
    EXPECT_NE(hash_state(frame), hash_state(look(*engine, gas).frame));
}

TEST_P(Engine, LookingChangesNothing) {
    Gas gas = scenario("damped_3d").make();
    const auto engine = make_engine(GetParam(), gas);
    for (int step = 0; step < 300; ++step) {
        engine->advance(1);
        engine->totals();
        if (step % 10 == 0) look(*engine, gas);
    }
    const Seen undisturbed = run(GetParam(), gas, 300);
    EXPECT_EQ(hash_state(look(*engine, gas).raw), hash_state(undisturbed.raw));
}

TEST_P(Engine, DoesNoMoreStepsThanAsked) {
    Gas gas = scenario("walls_2d").make();
    const auto engine = make_engine(GetParam(), gas);
    EXPECT_EQ(engine->advance(0).steps, 0U);
    std::uint64_t done = 0;
    for (const std::uint64_t steps : {1, 2, 31, 32, 33, 64, 500, 5000}) {
        EXPECT_EQ(engine->advance(steps).steps, steps);
        done += steps;
        EXPECT_EQ(engine->step(), done);
    }
}

/// What was stored leads back to the same state: positions in user coordinates lose nothing.
/// Velocities and constants that change between two steps: in place, and in an engine that is made anew.
TEST_P(Engine, GoesOnUnderAnotherSetupAsOneMadeAnewWould) {
    CAROM_REQUIRE(GetParam());
    for (const char* name : {"walls_2d", "open_2d", "heavy_2d", "piston_2d", "mixture_3d"}) {
        for (const bool double_precision : {false, true}) {
            SCOPED_TRACE(testing::Message() << name << (double_precision ? ", double" : ", single"));
            Gas gas = scenario(name).make();
            gas.setup.double_precision = double_precision;
            auto engine = make_engine(GetParam(), gas);
            ASSERT_EQ(engine->advance(301).steps, 301U);
            look(*engine, gas);
            ASSERT_EQ(engine->advance(3).steps, 3U);  // not just behind a sort
            Gas stored = look(*engine, gas).raw;

            SpringSetup warmer = gas.setup;
            warmer.gravity[1] -= 0.5;
            warmer.thermostat_rate = 4.0;
            warmer.thermostat_temperature = 0.5;
            warmer.seed = 7;
            // Another wall to be near to.
            if (gas.setup.sides[1][0] == Side::kWall) warmer.face_temperature[1] = {2.0, 0.0};
            const VelocityChange changes[] = {{.factor = 1.25}, {.factor = 1.0, .added = {0.0, -0.125, 0.0}}};
            for (const bool same_setup : {true, false}) {
                const VelocityChange& change = changes[same_setup ? 0 : 1];
                const SpringSetup& setup = same_setup ? gas.setup : warmer;
                ASSERT_TRUE(engine->change(setup, same_setup, change));
                for (std::size_t id = 0; id < stored.size(); ++id) {
                    if (stored.inverse_mass[id] == 0.0 || stored.gone[id] != 0) continue;
                    for (int axis = 0; axis < setup.dimension; ++axis)
                        stored.velocity[axis][id] = change.of(axis, stored.velocity[axis][id]);
                }
                stored.setup = setup;
                const auto anew = make_engine(GetParam(), stored);
                ASSERT_EQ(engine->advance(150).steps, 150U);
                ASSERT_EQ(anew->advance(150).steps, 150U);
                Seen expected = look(*anew, stored);
                const Seen actual = look(*engine, stored);
                expected.tallies.sorts = expected.raw.tallies.sorts = actual.tallies.sorts;
                EXPECT_TRUE(same_bits(expected, actual));
                stored = expected.raw;
            }
        }
    }
}

/// Much faster balls want a wider margin, and a new engine for it, but with ranks, where that would take all balls to
/// one of them.
TEST_P(Engine, LetsOneBeMadeAnewWhereThatIsFaster) {
    CAROM_REQUIRE(GetParam());
    Gas gas = scenario("walls_2d").make();
    auto engine = make_engine(GetParam(), gas);
    ASSERT_EQ(engine->advance(50).steps, 50U);
    const Seen before = look(*engine, gas);
    if (brick_maker(GetParam())) {
        EXPECT_TRUE(engine->change(gas.setup, true, {.factor = 1e3}));
        return;
    }
    EXPECT_FALSE(engine->change(gas.setup, true, {.factor = 1e3}));
    EXPECT_TRUE(same_bits(before, look(*engine, gas)));
}

TEST_P(Engine, StoresWhatItWasGiven) {
    for (const bool precision : {false, true}) {
        Gas gas = scenario("sparse_3d").make();
        gas.setup.double_precision = precision;
        Gas once = run(GetParam(), gas, 200).raw;
        const auto engine = make_engine(GetParam(), once);
        EXPECT_EQ(hash_state(look(*engine, once).raw), hash_state(once));
    }
}

/// In double precision too, whose positions are rounded to what a coordinate far from zero, as a double, can tell.
TEST_P(Engine, MovesASlowBallAsFarAsItShould) {
    constexpr std::uint64_t kSteps = 4000;
    for (const double width : {20.0, 1.0e5}) {
        for (const double corner : {0.0, 1.0e5}) {
            for (const bool wide : {false, true}) {
                Gas gas = empty_box(2, {width, 10.0, 0.0});
                gas.setup.box_min[0] = corner;
                gas.setup.double_precision = wide;
                gas.setup.dt = 1e-6;
                gas.setup.design_speed = 1.0;
                gas.add({corner + 5.0, 5.0, 0.0}, {1e-3, 0.0, 0.0}, 0.5, 1.0);
                const auto engine = make_engine(GetParam(), gas);
                ASSERT_EQ(engine->advance(kSteps).steps, kSteps);
                const double moved = look(*engine, gas).frame.position[0][0] - gas.position[0][0];
                const double resolution = wide ? 16.0 * 0x1p-52 * (corner + width) : 200.0 * 0x1p-32;
                // Where a step at the design speed is so long that it does not matter, each may be off to the same
                // side.
                const double long_steps = 0x1p-27 * gas.setup.design_speed * gas.setup.dt * kSteps;
                EXPECT_NEAR(moved, 1e-9 * kSteps, 4.0 * resolution + long_steps) << width << " wide at " << corner;
            }
        }
    }
}

/// Of the CUDA backend's sources; what the CPU's engine holds is tested through `carom check`, by the whole process.
class CudaSources : public Engine {};

TEST_P(CudaSources, HoldTheMemoryThatWasPredicted) {
    for (const bool mixed : {false, true}) {
        Gas gas = empty_box(2, {440.0, 440.0, 0.0});
        add_lattice(gas, {.counts = {400, 400, 1}, .mixed = mixed});
        [[maybe_unused]] const BallSizes sizes = measure_sizes(gas.raw(), 2);
        std::uint64_t predicted = 0;
        if (GetParam().name == "emulated") {
#if defined(CAROM_HAVE_EMULATED)
            predicted = predict_emulated_memory(gas.setup, sizes);
#endif
        } else {
#if defined(CAROM_HAVE_CUDA)
            predicted = predict_cuda_memory(gas.setup, sizes);
#endif
        }
        const auto engine = make_engine(GetParam(), gas);
        const auto at_first = static_cast<double>(engine->memory_bytes());
        EXPECT_NEAR(static_cast<double>(predicted), at_first, 0.1 * at_first);
        engine->advance(40);
        engine->totals();
        look(*engine, gas);
        engine->advance(100);
        EXPECT_NEAR(static_cast<double>(engine->memory_bytes()), at_first, 0.01 * at_first);
    }
}

/// Lists of who is near decide who is looked at, and no bit: without them; where they outgrow the room that they had at
/// first, as a thin gas does that falls to the floor; where they would take too much of it.
TEST_P(CudaSources, GiveTheSameBitsWithoutLists) {
    for (const int dimension : {2, 3}) {
        for (const double margin : {0.0, 0.9}) {
            const double floor = dimension == 2 ? 12.0 : 6.0;
            Gas gas = empty_box(dimension, {floor, dimension == 2 ? 120.0 : floor, dimension == 3 ? 60.0 : 0.0});
            add_lattice(gas, {.counts = {dimension == 2 ? 10 : 5, dimension == 2 ? 20 : 5, 10}, .spacing = 1.15});
            gas.setup.gravity[dimension - 1] = -5.0;
            gas.setup.damping = 30.0;
            gas.setup.margin = margin;
            const auto listed = make_engine(GetParam(), gas);
            gas.setup.near_lists = false;
            const auto searching = make_engine(GetParam(), gas);
            EXPECT_GT(listed->memory_bytes(), searching->memory_bytes());
            const std::uint64_t at_first = listed->memory_bytes();
            std::uint64_t most = at_first;
            for (int part = 0; part < 20; ++part) {
                ASSERT_EQ(listed->advance(500).steps, 500U);
                ASSERT_EQ(searching->advance(500).steps, 500U);
                most = std::max(most, listed->memory_bytes());
            }
            EXPECT_TRUE(same_bits(look(*searching, gas), look(*listed, gas))) << dimension << "D, margin " << margin;
            if (margin > 0.0) {
                EXPECT_GT(most, at_first) << dimension << "D";
            }
        }
    }
}

/// More contacts than a crew lists before it deals them out: of a cubic lattice pressed together, six a ball.
TEST_P(CudaSources, GiveTheSameBitsWhereEachBallTouchesAllAround) {
    for (const bool open : {false, true}) {
        Gas gas = empty_box(3, {16.0, 16.0, 16.0});
        add_lattice(gas, {.counts = {16, 16, 16}, .spacing = 0.98});
        if (open) gas.setup.sides[0][1] = SpringSetup::Side::kOpen;
        const auto expected = make_engine(processors().front(), gas);
        const auto engine = make_engine(GetParam(), gas);
        for (int part = 0; part < 3; ++part) {
            ASSERT_EQ(expected->advance(500).steps, 500U);
            ASSERT_EQ(engine->advance(500).steps, 500U);
            EXPECT_TRUE(same_bits(look(*expected, gas), look(*engine, gas))) << "open " << open << ", part " << part;
        }
        EXPECT_EQ(engine->tallies().balls_left > 0, open);
        EXPECT_EQ(engine->tallies().balls_left, expected->tallies().balls_left);
        EXPECT_EQ(engine->tallies().wall_impulse, expected->tallies().wall_impulse);
    }
}

INSTANTIATE_TEST_SUITE_P(Backends, Engine, testing::ValuesIn(processors()),
                         [](const auto& instance) { return instance.param.name; });
INSTANTIATE_TEST_SUITE_P(Backends, CudaSources, testing::Values(Processor{"emulated"}, Processor{"cuda"}),
                         [](const auto& instance) { return instance.param.name; });

#if defined(CAROM_HAVE_CUDA)

/// Without a driver there is nothing to wait for: some twentieth of what is allowed, the first time, with the libraries
/// it loads. Processor time, since others may want the processor; a wait would show in the best of some tries by the
/// clock.
TEST(CudaDevices, AreListedAtOnceWhereThereIsNoDriver) {
    constexpr int kTries = 50;
    constexpr double kMost = 0.02;  // [s]
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < kTries; ++k) {
        const auto begin = std::chrono::steady_clock::now();
        const std::clock_t begin_of_work = std::clock();
        const auto devices = list_cuda_devices();
        const double worked = static_cast<double>(std::clock() - begin_of_work) / CLOCKS_PER_SEC;
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        if (!devices.empty()) GTEST_SKIP() << "there is a GPU: " << devices[0].name;
        EXPECT_LT(worked, kMost) << "call " << k;
        least = std::min(least, took.count());
    }
    EXPECT_LT(least, kMost);
}

TEST(CudaDevices, AreMissedForAReasonAndNoOther) {
    std::string why;
    const bool here = !list_cuda_devices(&why).empty();
    const bool said = why.starts_with("no ") || why.starts_with("the driver is for CUDA ");
    EXPECT_EQ(said, !here) << why;
    EXPECT_EQ(why.empty(), here) << why;
}

TEST(CudaDevices, WithoutOneAnEngineIsRefusedByName) {
    if (!list_cuda_devices().empty()) GTEST_SKIP() << "there is a GPU";
    Gas gas = scenario("single_2d").make();
    try {
        make_cuda_engine(gas.setup, gas.raw(), 0, {});
        FAIL() << "an engine was made";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("cuda"), std::string::npos) << error.what();
    }
}

#endif

}  // namespace carom::test::engine_test
