#include <gtest/gtest.h>

#include <limits>

#include "host/run/text.hpp"

namespace carom {
namespace {

TEST(WithError, HasTheErrorInUnitsOfTheLastDigit) {
    EXPECT_EQ(with_error(0.99314, 0.00042), "0.9931(4)");
    EXPECT_EQ(with_error(-0.99314, 0.00042), "-0.9931(4)");
    EXPECT_EQ(with_error(-1234.0, 26.0), "-1230(30)");
    EXPECT_EQ(with_error(1.5, std::numeric_limits<double>::quiet_NaN()), "1.5");
}

TEST(WithError, HasNoSignWhereNothingButZerosIsLeft) {
    EXPECT_EQ(with_error(-0.3, 12.0), "0(10)");
    EXPECT_EQ(with_error(-0.004, 0.04), "0.00(4)");
    EXPECT_EQ(with_error(-0.006, 0.04), "-0.01(4)");
    EXPECT_EQ(with_error(0.3, 12.0), "0(10)");
}

}  // namespace
}  // namespace carom
