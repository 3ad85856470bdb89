#include "host/run/averages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/backends/spring_backends.hpp"
#include "host/run/prepare.hpp"
#include "host/run/spring_plan.hpp"
#include "host/spring/spring_solver.hpp"
#include "kernels/cuda/spring_cuda.hpp"
#include "tests/support/spring_engines.hpp"

// The averages of a run, whichever processor holds its balls, are the same to the last bit.

namespace carom::test {
namespace {

/// Two kinds of balls, gravity, walls and a periodic axis, and an average of each kind.
PreparedScene mixture() {
    std::string text = R"(
[scene]
dimension = 2
seed = 4
[box]
size = [16.0, 12.0]
boundary = ["periodic", "wall"]
[physics]
gravity = [0.0, -0.1]
[run]
solver = "spring"
until = 0.4
[[species]]
name = "light"
radius = 0.3
mass = 1.0
[[species]]
name = "heavy"
radius = 0.5
mass = 5.0
[[fill]]
species = "light"
count = 60
temperature = 1.0
[[fill]]
species = "heavy"
count = 30
temperature = 1.0
)";
    for (const std::string& kind : average_kinds()) {
        if (kind == "free_path" || kind == "mean_free_path" || kind == "collision_rate") continue;  // of events
        text += "[[observe]]\nname = \"a_" + kind + "\"\nkind = \"" + kind + "\"\nevery = 0.02\n";
        if (kind == "density" || kind == "vacf") text += "species = \"heavy\"\n";
    }
    return prepare_scene({.scene = "", .threads = 1, .text = SceneText{"mixture.toml", text}});
}

/// What a checkpoint holds of the averages at the end, as bits.
std::vector<std::uint64_t> averaged(const Processor& processor) {
    const PreparedScene run = mixture();
    const SpringDesign design = design_spring(run.scene, run.state.balls);
    const auto make = [&](const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                          const SpringTallies& tallies) -> std::unique_ptr<SpringEngine> {
#if defined(CAROM_HAVE_EMULATED)
        if (processor.name == "emulated") return make_emulated_engine(setup, balls, step, tallies);
#endif
        const std::string name = processor.name == "cuda" ? "cuda" : "cpu";
        return std::move(make_spring_processor(name, setup, balls, step, tallies).engine);
    };
    const auto solver =
        make_spring_solver({{.setup = spring_setup(run.scene, design, 1)}}, run.state, processor.name, make);
    Averages averages(run, {});
    averages.start(*solver);
    while (solver->time() < run.scene.run.until - 0.5 * design.dt) {
        while (!solver->advance_to(std::min(averages.next(), run.scene.run.until), 1000.0)) {
        }
        averages.take(*solver);
    }
    SolverState state;
    averages.save(state);
    std::vector<std::uint64_t> bits;
    for (const auto& [name, values] : state.extra) {
        for (const double value : values) bits.push_back(std::bit_cast<std::uint64_t>(value));
    }
    return bits;
}

class AveragesOn : public testing::TestWithParam<Processor> {};

TEST_P(AveragesOn, AreThoseOfTheCpu) {
    CAROM_REQUIRE(GetParam());
    const std::vector<std::uint64_t> expected = averaged({"cpu1", 1});
    EXPECT_GT(expected.size(), 5000U);
    EXPECT_EQ(averaged(GetParam()), expected);
}

INSTANTIATE_TEST_SUITE_P(Processors, AveragesOn, testing::Values(Processor{"emulated"}, Processor{"cuda"}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace carom::test
