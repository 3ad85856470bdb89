#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "host/observables/time_average.hpp"
#include "host/plot/theory_checks.hpp"

namespace carom {
namespace {

/// Samples of which each two are alike: half as many know all that they tell.
std::vector<double> in_pairs(std::size_t count) {
    std::vector<double> samples;
    for (std::size_t k = 0; k < count; ++k) samples.push_back(k / 2 % 2 == 0 ? -1.0 : 1.0);
    return samples;
}

double error_of_independent(const std::vector<double>& samples) { return blocked_error(samples, samples.size()); }

TEST(TheoryVerdict, IsOfErrorsThatKnowOfNeighbours) {
    constexpr auto kLeast = static_cast<std::size_t>(kLeastSamplesForVerdict);
    const std::vector<double> enough = in_pairs(kLeast);
    EXPECT_GT(blocked_error(enough), 1.4 * error_of_independent(enough));
    const std::vector<double> few = in_pairs(kLeast - 1);
    EXPECT_EQ(blocked_error(few), error_of_independent(few)) << "though they are no more independent";
}

}  // namespace
}  // namespace carom
