#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/driven_run.hpp"
#include "tests/support/spring_engines.hpp"

// The state at the end of each scenario is the one that is committed, on every processor: so a GPU anywhere is
// compared with the machine on which the hashes were taken. A change of a formula changes them on purpose; then
//   CAROM_WRITE_GOLDEN=1 carom_golden_tests --gtest_filter='*StateHash*cpu1*'
// writes them anew, and the commit says why.

namespace carom::test::state_hash_test {

const char* const kFile = CAROM_GOLDEN_DIR "/state_hashes.json";

nlohmann::json read_hashes() {
    std::ifstream file(kFile);
    return file ? nlohmann::json::parse(file) : nlohmann::json::object();
}

/// The committed hash of what a run is called by is this one.
void expect_committed(const std::string& name, const std::string& way, std::uint64_t hash) {
    const std::string text = fmt::format("{:016x}", hash);
    nlohmann::json hashes = read_hashes();
    if (std::getenv("CAROM_WRITE_GOLDEN") != nullptr) {
        hashes[name][way] = text;
        std::ofstream(kFile) << hashes.dump(2) << '\n';
    }
    ASSERT_TRUE(hashes.contains(name) && hashes[name].contains(way)) << kFile << " has no hash of " << name;
    EXPECT_EQ(hashes[name][way].get<std::string>(), text);
}

using Case = std::tuple<std::size_t, bool, Processor>;

class StateHash : public testing::TestWithParam<Case> {};

TEST_P(StateHash, IsTheCommittedOne) {
    const Scenario& scenario = scenarios()[std::get<0>(GetParam())];
    const bool twice = std::get<1>(GetParam());
    const Processor& processor = std::get<2>(GetParam());
    CAROM_REQUIRE(processor);
    Gas gas = scenario.make();
    gas.setup.double_precision = twice;
    const Seen end = run(processor, gas, scenario.steps);
    expect_committed(scenario.name, twice ? "double" : "single", hash_state(end.raw));
}

/// Hard spheres in a warm pipe whose axis is none of the box's, under gravity: the event-driven solver has no scenario.
TEST(EventsStateHash, OfAPipeIsTheCommittedOne_cpu1) {
    DrivenRun run(R"(
[scene]
dimension = 3
[box]
size = [10.0, 10.0, 10.0]
[physics]
gravity = [0.0, 0.0, -1.0]
restitution = 0.95
[run]
solver = "events"
until = 4.0
[[wall]]
shape = "cylinder"
center = [5.0, 5.0, 5.0]
axis = [0.48, 0.64, 0.6]
radius = 3.0
temperature = 1.0
[[fill]]
radius = 0.5
mass = 1.0
count = 60
temperature = 1.0
)");
    run.to(4.0);
    EXPECT_NE(run.solver().tallies().wall_heat.back(), 0.0);
    expect_committed("events_pipe_3d", "double", state_hash(run.frame()));
}

/// Radii that differ from ball to ball, in a packing that grows, by either solver.
TEST(SizesStateHash, IsTheCommittedOne_cpu1) {
    for (const char* solver : {"events", "spring"}) {
        DrivenRun run(R"(
[scene]
dimension = 2
[box]
size = [20.0, 20.0]
boundary = ["periodic", "wall"]
[run]
until = 2.0
[[fill]]
radius = 0.5
mass = 1.0
sizes = {kind = "lognormal", spread = 0.15}
packing_fraction = 0.6
temperature = 1.0
)",
                      {fmt::format("run.solver={}", solver)});
        run.to(2.0);
        expect_committed(fmt::format("sizes_2d_{}", solver), std::string_view(solver) == "events" ? "double" : "single",
                         state_hash(run.frame()));
    }
}

std::string name_of(const testing::TestParamInfo<Case>& instance) {
    return scenarios()[std::get<0>(instance.param)].name + (std::get<1>(instance.param) ? "_double_" : "_single_") +
           std::get<2>(instance.param).name;
}

const auto kAllScenarios = testing::Range(std::size_t{0}, scenarios().size());

INSTANTIATE_TEST_SUITE_P(Golden, StateHash,
                         testing::Combine(kAllScenarios, testing::Bool(),
                                          testing::Values(Processor{"cpu1"}, Processor{"emulated"}, Processor{"cuda"},
                                                          Processor{"emulated_ranks3"})),
                         name_of);
// Each number of ranks in one of the precisions, for the time that they take together.
INSTANTIATE_TEST_SUITE_P(GoldenOnRanks, StateHash,
                         testing::Combine(kAllScenarios, testing::Values(false),
                                          testing::Values(Processor{"ranks1"}, Processor{"ranks3"},
                                                          Processor{"ranks8"})),
                         name_of);
INSTANTIATE_TEST_SUITE_P(GoldenOnMoreRanks, StateHash,
                         testing::Combine(kAllScenarios, testing::Values(true),
                                          testing::Values(Processor{"ranks2"}, Processor{"ranks4"})),
                         name_of);

}  // namespace carom::test::state_hash_test
