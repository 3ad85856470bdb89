#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "host/observables/registry.hpp"
#include "host/run/observe.hpp"
#include "host/run/prepare.hpp"
#include "host/state/solver.hpp"
#include "tests/support/spring_engines.hpp"

// The averages of a run, whichever processor holds its balls, are the same to the last bit.

namespace carom::test::averages_on_processors_test {

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
    for (const ObservableKind& kind : observable_kinds()) {
        if (!kind.averaged() || kind.events_only) continue;
        text += fmt::format("[[observe]]\nname = \"a_{0}\"\nkind = \"{0}\"\nevery = 0.02\n", kind.name);
        if (kind.name == "density" || kind.name == "vacf") text += "species = \"heavy\"\n";
    }
    return prepare_scene({.scene = "", .threads = 1, .text = SceneText{"mixture.toml", text}});
}

/// What a checkpoint holds of the averages at the end, as bits.
std::vector<std::uint64_t> averaged(const Processor& processor) {
    const PreparedScene run = mixture();
    const auto solver = make_solver_on(processor, run);
    RunAverages averages(run, {});
    averages.start(*solver);
    while (solver->time() < run.scene.run.until - 0.5 * solver->describe().dt) {
        while (!solver->advance_to(std::min(averages.next(), run.scene.run.until), 1000.0)) {
        }
        averages.take(*solver);
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

class AveragesOn : public testing::TestWithParam<Processor> {};

TEST_P(AveragesOn, AreThoseOfTheCpu) {
    CAROM_REQUIRE(GetParam());
    const std::vector<std::uint64_t> expected = averaged({"cpu1", 1});
    EXPECT_GT(expected.size(), 5000U);
    EXPECT_EQ(averaged(GetParam()), expected);
}

INSTANTIATE_TEST_SUITE_P(Processors, AveragesOn,
                         testing::Values(Processor{"emulated"}, Processor{"cuda"}, Processor{"ranks1"},
                                         Processor{"ranks2"}, Processor{"ranks3"}, Processor{"ranks4"},
                                         Processor{"ranks8"}, Processor{"emulated_ranks2"},
                                         Processor{"emulated_ranks4"}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace carom::test::averages_on_processors_test
