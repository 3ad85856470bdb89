#include <gtest/gtest.h>

#include "host/cli/nearest.hpp"

namespace carom {
namespace {

const std::vector<std::string> kCommands{"run", "check", "state", "convert", "plot", "info"};

TEST(Nearest, FindsSlipsOfTheFinger) {
    EXPECT_EQ(nearest("rnu", kCommands), "run");
    EXPECT_EQ(nearest("chek", kCommands), "check");
    EXPECT_EQ(nearest("covnert", kCommands), "convert");
    EXPECT_EQ(nearest("plots", kCommands), "plot");
}

TEST(Nearest, SuggestsNothingFarFetched) {
    EXPECT_EQ(nearest("frobnicate", kCommands), "");
    EXPECT_EQ(nearest("xyz", kCommands), "");
    EXPECT_EQ(nearest("", kCommands), "");
}

}  // namespace
}  // namespace carom
