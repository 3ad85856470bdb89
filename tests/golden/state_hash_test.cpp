#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

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
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash_state(end.raw)));

    const std::string precision = twice ? "double" : "single";
    nlohmann::json hashes = read_hashes();
    if (std::getenv("CAROM_WRITE_GOLDEN") != nullptr) {
        hashes[scenario.name][precision] = text.data();
        std::ofstream(kFile) << hashes.dump(2) << '\n';
    }
    ASSERT_TRUE(hashes.contains(scenario.name)) << kFile << " has no hash of " << scenario.name;
    EXPECT_EQ(hashes[scenario.name][precision].get<std::string>(), text.data());
}

INSTANTIATE_TEST_SUITE_P(Golden, StateHash,
                         testing::Combine(testing::Range(std::size_t{0}, scenarios().size()), testing::Bool(),
                                          testing::Values(Processor{"cpu1"}, Processor{"emulated"}, Processor{"cuda"})),
                         [](const auto& instance) {
                             return scenarios()[std::get<0>(instance.param)].name +
                                    (std::get<1>(instance.param) ? "_double_" : "_single_") +
                                    std::get<2>(instance.param).name;
                         });

}  // namespace carom::test::state_hash_test
