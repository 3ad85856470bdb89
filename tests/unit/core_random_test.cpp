#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "kernels/core/random.hpp"

namespace carom {
namespace {

// Known answers published with Random123 (kat_vectors, philox4x32 10).
TEST(Random, IsPhilox) {
    const RandomWords zeros = random_words(0, 0, static_cast<RandomPurpose>(0), 0);
    EXPECT_EQ(zeros.word[0], 0x6627e8d5u);
    EXPECT_EQ(zeros.word[1], 0xe169c58du);
    EXPECT_EQ(zeros.word[2], 0xbc57ac4cu);
    EXPECT_EQ(zeros.word[3], 0x9b00dbd8u);
    // all bits of counter and key set: id 2^56 - 1 and purpose 255 fill the last word
    const RandomWords ones = random_words(~0ULL, (1ULL << 56) - 1, static_cast<RandomPurpose>(255), ~0ULL);
    EXPECT_EQ(ones.word[0], 0x408f276du);
    EXPECT_EQ(ones.word[1], 0x41c83b0eu);
    EXPECT_EQ(ones.word[2], 0xa20bc7c6u);
    EXPECT_EQ(ones.word[3], 0x6d5451fdu);
}

TEST(Random, SeedIdPurposeAndCounterAllMatter) {
    std::set<std::uint64_t> seen;
    std::size_t drawn = 0;
    for (const std::uint64_t seed : {1ULL, 2ULL, 1ULL << 32, 1ULL << 63}) {
        for (const std::uint64_t id : {0ULL, 1ULL, 1ULL << 31, 1ULL << 40}) {
            for (const auto purpose :
                 {RandomPurpose::kVelocity, RandomPurpose::kDirection, RandomPurpose::kThermalWall}) {
                for (const std::uint64_t counter : {0ULL, 1ULL, 1ULL << 32, 1ULL << 63}) {
                    seen.insert(random_words(seed, id, purpose, counter).wide(0));
                    ++drawn;
                }
            }
        }
    }
    EXPECT_EQ(seen.size(), drawn);
}

TEST(Random, UniformIsInTheOpenInterval) {
    const RandomWords least{{0, 0, 0, 0}};
    const RandomWords most{{~0u, ~0u, ~0u, ~0u}};
    EXPECT_GT(least.uniform(0), 0.0);
    EXPECT_LT(most.uniform(1), 1.0);
    EXPECT_EQ(least.uniform(0), std::ldexp(1.0, -53));
    EXPECT_EQ(1.0 - most.uniform(0), std::ldexp(1.0, -53));
}

TEST(Random, NormalDeviatesAreNormal) {
    constexpr int kPairs = 100000;
    double sum = 0.0;
    double square = 0.0;
    double fourth = 0.0;
    double mixed = 0.0;
    for (int id = 0; id < kPairs; ++id) {
        const NormalPair pair = normal_pair(random_words(3, id, RandomPurpose::kVelocity, 0));
        for (const double x : {pair.first, pair.second}) {
            sum += x;
            square += x * x;
            fourth += x * x * x * x;
        }
        mixed += pair.first * pair.second;
    }
    const double n = 2.0 * kPairs;
    // 4 sigma each: variances of x, x^2, x^4 and x y are 1, 2, 96 and 1
    EXPECT_NEAR(sum / n, 0.0, 4.0 / std::sqrt(n));
    EXPECT_NEAR(square / n, 1.0, 4.0 * std::sqrt(2.0 / n));
    EXPECT_NEAR(fourth / n, 3.0, 4.0 * std::sqrt(96.0 / n));
    EXPECT_NEAR(mixed / kPairs, 0.0, 4.0 / std::sqrt(kPairs));
}

}  // namespace
}  // namespace carom
