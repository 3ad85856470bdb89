// Every reader, with its seeds and with what was made of them: no crash, nothing that a sanitizer finds, and no other
// exception than those that become a line and a status. scripts/fuzz.sh goes on for minutes or hours, led by coverage.

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/fuzz/targets.hpp"

namespace carom::fuzz {

class Readers : public testing::TestWithParam<std::string> {};

TEST_P(Readers, RefuseInOrderWhateverTheyAreGiven) {
    const Target& one = target(GetParam());
    const std::vector<std::string> seeds = one.seeds();
    ASSERT_FALSE(seeds.empty());
    std::mt19937 random(20240229);
    for (const std::string& seed : seeds) ASSERT_NO_THROW(one.read(seed)) << seed;
    for (int k = 0; k < one.inputs; ++k) {
        const std::string& one_seed = seeds[random() % seeds.size()];
        const std::string& another = seeds[random() % seeds.size()];
        const std::string input = mutated(one_seed, another, random);
        ASSERT_NO_THROW(one.read(input)) << "input " << k << ":\n" << input;
    }
}

std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const Target& one : targets()) all.push_back(one.name);
    return all;
}

INSTANTIATE_TEST_SUITE_P(Targets, Readers, testing::ValuesIn(names()), [](const auto& one) { return one.param; });

}  // namespace carom::fuzz
