#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>

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

TEST(CountDue, IsWhatASchedulesTimesAreCountedOneByOne) {
    const auto any_time = [](double time) { return time; };
    int cases = 0;
    for (const double every : {0.01, 0.1, 0.25, 0.3, 0.6, 1.0 / 3.0, 0.7, 1.1, 7.0, 100.0}) {
        for (const double from : {0.0, 0.25, 3.0, 4.25}) {
            for (const double until : {0.25, 3.0, 4.2, 4.25, 4.3, 9.0, 21.0}) {
                for (const bool quarters : {true, false}) {
                    const std::function<double(double)> reachable = quarters ? nearest_quarter : +any_time;
                    const double end = reachable(until);
                    if (end <= from) continue;
                    Schedule schedule(every, from, reachable);
                    std::uint64_t counted = 2;  // both ends
                    for (; schedule.next() < end; ++counted) schedule.take(schedule.next());
                    EXPECT_EQ(count_due(every, from, until, reachable, quarters ? 0.25 : 0.0), counted)
                        << "every " << every << " from " << from << " until " << until << " quarters " << quarters;
                    ++cases;
                }
            }
        }
    }
    EXPECT_GT(cases, 200);
}

TEST(CountDue, HasTheEndsAloneWhereNothingIsDueAndOneOfARunOfNoLength) {
    EXPECT_EQ(count_due(0.0, 0.0, 9.0, nearest_quarter, 0.25), 2u);
    EXPECT_EQ(count_due(0.5, 9.0, 9.0, nearest_quarter, 0.25), 1u);
}

TEST(CountDue, IsQuickWhateverTheInterval) {
    const auto any_time = [](double time) { return time; };
    EXPECT_EQ(count_due(1e-9, 0.0, 1.0, any_time, 0.0), 1'000'000'001u);
    EXPECT_GT(count_due(1e-300, 0.0, 1.0, any_time, 0.0), 1'000'000'000'000'000'000u);
    EXPECT_EQ(count_due(1e-300, 0.0, 100.0, nearest_quarter, 0.25), 401u);
}

}  // namespace
}  // namespace carom
