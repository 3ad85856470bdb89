#include <gtest/gtest.h>

#include <cmath>

#include "host/run/schedule.hpp"

namespace carom {
namespace {

double nearest_quarter(double time) { return std::round(time * 4.0) / 4.0; }

TEST(Schedule, DueTimesAreTheNearestReachableOnes) {
    Schedule schedule(0.6, 0.0, nearest_quarter);
    EXPECT_EQ(schedule.next(), 0.5);
    EXPECT_FALSE(schedule.take(0.25));
    EXPECT_TRUE(schedule.take(0.5));
    EXPECT_EQ(schedule.next(), 1.25);
}

TEST(Schedule, SeveralTimesOnOneStepCountOnce) {
    Schedule schedule(0.01, 0.0, nearest_quarter);
    EXPECT_EQ(schedule.next(), 0.25);
    EXPECT_TRUE(schedule.take(0.25));
    EXPECT_EQ(schedule.next(), 0.5);
}

TEST(Schedule, CountsFromTimeZeroWhereverItStarts) {
    EXPECT_EQ(Schedule(0.75, 1.25, nearest_quarter).next(), 1.5);
    EXPECT_EQ(Schedule(0.75, 1.5, nearest_quarter).next(), 2.25);
    // 7 * 0.6 = 4.2 is reached at 4.25, so from there on the eighth is next; from 4.0 on it is the seventh.
    EXPECT_EQ(Schedule(0.6, 4.25, nearest_quarter).next(), 4.75);
    EXPECT_EQ(Schedule(0.6, 4.0, nearest_quarter).next(), 4.25);
}

TEST(Schedule, EveryZeroIsNever) { EXPECT_TRUE(std::isinf(Schedule(0.0, 0.0, nearest_quarter).next())); }

}  // namespace
}  // namespace carom
