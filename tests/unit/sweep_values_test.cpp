#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "host/state/errors.hpp"
#include "host/sweep/axis_values.hpp"
#include "host/sweep/formula.hpp"
#include "tests/support/message_of.hpp"

namespace carom {
namespace {

using test::message_of;

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> texts(double from, double to, double step) {
    std::vector<std::string> result;
    for (const double value : stepped_values(from, to, step)) result.push_back(decimal_text(value));
    return result;
}

TEST(SteppedValues, AreTheDecimalsThatAPersonWouldWrite) {
    EXPECT_THAT(texts(0.35, 0.525, 0.025),
                ElementsAre("0.35", "0.375", "0.4", "0.425", "0.45", "0.475", "0.5", "0.525"));
    EXPECT_THAT(texts(0.0, 0.3, 0.1), ElementsAre("0", "0.1", "0.2", "0.3"));
    EXPECT_THAT(texts(0, 7, 1), ElementsAre("0", "1", "2", "3", "4", "5", "6", "7"));
    EXPECT_THAT(texts(1e-6, 3e-6, 1e-6), ElementsAre("1e-06", "2e-06", "3e-06"));
    EXPECT_THAT(texts(2e6, 4e6, 1e6), ElementsAre("2000000", "3000000", "4000000"));
}

TEST(SteppedValues, MayGoDownAndThroughZeroWithoutASign) {
    EXPECT_THAT(texts(0.2, -0.2, -0.1), ElementsAre("0.2", "0.1", "0", "-0.1", "-0.2"));
}

TEST(SteppedValues, OneValueIsEnough) { EXPECT_THAT(texts(0.3, 0.3, 0.1), ElementsAre("0.3")); }

TEST(SteppedValues, AreDecimalsInLongRangesToo) {
    const auto values = stepped_values(0.0, 1000.0, 0.001);
    ASSERT_EQ(values.size(), 1000001u);
    for (std::size_t k = 0; k < values.size(); k += 997) {
        EXPECT_EQ(values[k], std::stod(fmt::format("{}.{:03}", k / 1000, k % 1000)));
    }
}

TEST(SteppedValues, WithStepsThatAreNoShortDecimalsEndAtTheEnd) {
    const auto values = stepped_values(0.0, 1.0, 1.0 / 3.0);
    ASSERT_EQ(values.size(), 4u);
    EXPECT_DOUBLE_EQ(values.back(), 1.0);
    EXPECT_EQ(stepped_values(1e6, 1e6 + 1e-3, 1e-4).size(), 11u) << "rounding of the ends is forgiven";
}

TEST(SteppedValues, RefuseStepsThatMissTheEnd) {
    EXPECT_THAT(message_of<InputError>([] { stepped_values(0.35, 0.53, 0.025); }),
                HasSubstr("do not hit 0.53: the nearest is 0.525"));
    EXPECT_THAT(message_of<InputError>([] { stepped_values(0.0, 1.0, -0.1); }), HasSubstr("leads away"));
    EXPECT_THAT(message_of<InputError>([] { stepped_values(0.0, 1.0, 0.0); }), HasSubstr("must not be 0"));
    EXPECT_THAT(message_of<InputError>([] { stepped_values(0.0, 1.0, 1e-9); }), HasSubstr("more than 10000000 values"));
}

double value_of(const std::string& text) { return Formula(text, {"x", "y_2"}).evaluate(std::vector{3.0, 0.25}); }

TEST(Formulas, BindAsInArithmetic) {
    EXPECT_EQ(value_of("1 + 2 * x"), 7.0);
    EXPECT_EQ(value_of("(1 + 2) * x"), 9.0);
    EXPECT_EQ(value_of("8 - 4 - 2"), 2.0);
    EXPECT_EQ(value_of("8 / 4 / 2"), 1.0);
    EXPECT_EQ(value_of("-x^2"), -9.0);
    EXPECT_EQ(value_of("2^-1"), 0.5);
    EXPECT_EQ(value_of("2^3^2"), 512.0);
    EXPECT_EQ(value_of("2 * -x"), -6.0);
    EXPECT_EQ(value_of(" 1e-1*1E1 "), 1.0);
}

TEST(Formulas, KnowFunctionsAndNames) {
    EXPECT_EQ(value_of("sqrt(y_2)"), 0.5);
    EXPECT_EQ(value_of("min(x, y_2) + max(x, y_2)"), 3.25);
    EXPECT_DOUBLE_EQ(value_of("cos(60 * pi / 180)"), 0.5);
    EXPECT_DOUBLE_EQ(value_of("exp(log(x)) + abs(-1)"), 4.0);
    EXPECT_DOUBLE_EQ(value_of("atan(1) + asin(0) + acos(1) + sin(0) + tan(0)"), std::numbers::pi / 4.0);
    EXPECT_TRUE(Formula("x + 1", {"x", "y"}).uses(0));
    EXPECT_FALSE(Formula("x + 1", {"x", "y"}).uses(1));
}

TEST(Formulas, SayWhereTheyAreWrong) {
    EXPECT_THAT(message_of<InputError>([] { value_of("1 + z"); }),
                HasSubstr("character 5: 'z' is not known; allowed: x, y_2, sqrt"));
    EXPECT_THAT(message_of<InputError>([] { value_of("(1 + x"); }), HasSubstr("character 7: ')' is expected"));
    EXPECT_THAT(message_of<InputError>([] { value_of("1 2"); }), HasSubstr("an operator is expected"));
    EXPECT_THAT(message_of<InputError>([] { value_of("min(1)"); }), HasSubstr("',' is expected"));
    EXPECT_THAT(message_of<InputError>([] { value_of(""); }), HasSubstr("it ends too early"));
    EXPECT_THAT(message_of<InputError>([] { value_of("1 +* 2"); }), HasSubstr("a number, a name or '(' is expected"));
    EXPECT_THAT(message_of<InputError>([] { value_of(std::string(100000, '(')); }), HasSubstr("too deep"));
    EXPECT_THAT(message_of<InputError>([] { value_of(std::string(100000, '-')); }), HasSubstr("too many"));
}

}  // namespace
}  // namespace carom
