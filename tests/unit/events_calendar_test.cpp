// The event calendar and the clock of epochs, without an engine.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "host/events/calendar.hpp"
#include "kernels/core/random.hpp"

namespace carom::events_calendar_test {

double uniform(std::uint64_t draw, int number = 0) {
    return random_words(11, draw, RandomPurpose::kShake, static_cast<std::uint64_t>(number)).uniform(0);
}

const auto kQuiet = [](int, std::uint32_t) {};

/// Owners of one event each, as an engine has them: what is not the owner's last entry is stale.
class Owners {
public:
    explicit Owners(std::uint32_t count) : times_(count), stamps_(count, 0) {}

    void set(Calendar& calendar, std::uint32_t slot, double time) {
        times_[slot] = time;
        calendar.push({time, slot, ++stamps_[slot]});
    }
    /// The earliest event, of equal times that of the higher number: an order that pushing has nothing to do with.
    [[nodiscard]] std::pair<double, std::uint32_t> earliest() const {
        std::uint32_t best = 0;
        for (std::uint32_t slot = 1; slot < times_.size(); ++slot) {
            if (times_[slot] <= times_[best]) best = slot;
        }
        return {times_[best], best};
    }
    const CalendarEntry* next(Calendar& calendar, double limit) const {
        return calendar.next(
            limit, [this](const CalendarEntry& entry) { return stamps_[entry.slot] == entry.stamp; },
            [](const CalendarEntry& a, const CalendarEntry& b) { return a.slot > b.slot; }, kQuiet);
    }

private:
    std::vector<double> times_;
    std::vector<std::uint32_t> stamps_;
};

// What is asked for again and again is the smallest of all that count, whatever is pushed between: into the current
// tick, a later one of the current bucket, a later bucket, or beyond the end. Widths from one tick for all to far more
// ticks than events.
TEST(Calendar, GivesTheEarliestEventThatCountsAtAnyTime) {
    constexpr std::uint32_t kOwners = 57;
    for (const auto& [begin, width] :
         {std::pair{0.0, 100.0}, {0.0, 0.5}, {0.0, 0.01}, {0.0, 1.0e-5}, {1.0e6, 0.5}, {1.0e12, 0.01}}) {
        const double end = begin + 64.0;
        Calendar calendar;
        calendar.start(begin, end, width);
        Owners owners(kOwners);
        std::uint64_t draw = 0;
        const auto ahead = [&draw](double now) {
            const double way = uniform(draw) < 0.5 ? 0.02 : 8.0;
            // Quarters: many equal times, some of them the present.
            return uniform(draw, 1) < 0.3 ? 0.25 * std::floor(4.0 * (now + way * uniform(draw++, 2)) + 1.0)
                                          : now + way * uniform(draw++, 3);
        };
        for (std::uint32_t slot = 0; slot < kOwners; ++slot) owners.set(calendar, slot, ahead(begin));
        int met = 0;
        for (;; ++met) {
            const auto [time, slot] = owners.earliest();
            const CalendarEntry* const next = owners.next(calendar, end);
            if (time >= end) {
                EXPECT_EQ(next, nullptr);
                break;
            }
            ASSERT_NE(next, nullptr) << "width " << width << ", event " << met;
            ASSERT_EQ(next->time, time) << "width " << width << ", event " << met;
            ASSERT_EQ(next->slot, slot) << "width " << width << ", event " << met;
            calendar.pop();
            owners.set(calendar, slot, ahead(time));
            owners.set(calendar, static_cast<std::uint32_t>(kOwners * uniform(draw, 4)), ahead(time));
        }
        EXPECT_GT(met, 1000);
    }
}

TEST(Calendar, GivesNothingAtOrBeyondTheLimit) {
    Calendar calendar;
    calendar.start(0.0, 10.0, 0.1);
    Owners owners(2);
    owners.set(calendar, 0, 3.0);
    owners.set(calendar, 1, 5.0);
    EXPECT_EQ(owners.next(calendar, 3.0), nullptr);
    EXPECT_EQ(owners.next(calendar, std::nextafter(3.0, 4.0))->slot, 0u);
    calendar.pop();
    EXPECT_EQ(owners.next(calendar, 4.0), nullptr);
    owners.set(calendar, 0, 3.5);  // behind a limit that has been asked for, and still in time
    EXPECT_EQ(owners.next(calendar, 4.0)->slot, 0u);
    calendar.pop();
    EXPECT_EQ(owners.next(calendar, 10.0)->slot, 1u);
}

TEST(Calendar, KeepsNothingOfTheTimeBefore) {
    Calendar calendar;
    calendar.start(0.0, 10.0, 0.1);
    Owners owners(1);
    owners.set(calendar, 0, 3.0);
    calendar.start(0.0, 4.0, 0.2);
    EXPECT_EQ(owners.next(calendar, 4.0), nullptr);
    owners.set(calendar, 0, 4.0);  // its end is not a part of it
    EXPECT_EQ(owners.next(calendar, 5.0), nullptr);
}

TEST(Calendar, TellsOfAnEventBeforeItComes) {
    Calendar calendar;
    calendar.start(0.0, 1024.0, 1.0);  // a tick a unit of time
    for (const std::uint32_t slot : {0U, 1U, 2U}) calendar.push({10.0 + slot, slot, 0});
    std::map<std::uint32_t, std::vector<int>> levels;
    const auto told = [&levels](int level, std::uint32_t slot) { levels[slot].push_back(level); };
    while (calendar.next(
        1000.0, [](const CalendarEntry&) { return true; },
        [](const CalendarEntry&, const CalendarEntry&) { return false; }, told)) {
        calendar.pop();
    }
    for (const std::uint32_t slot : {0U, 1U, 2U}) EXPECT_EQ(levels[slot], (std::vector<int>{2, 1, 0})) << slot;
}

// However many epochs have gone by, a time inside one is known to the ulp of the epoch, not of the sum.
TEST(Clock, LosesNothingOverManyEpochs) {
    constexpr double kEpoch = 0x1p-10;
    Clock clock(0x1p43, 0.0);  // an ulp there is 2^-9, two epochs
    for (int k = 0; k < 1001; ++k) clock.add(kEpoch);
    EXPECT_EQ(clock.high() - 0x1p43 + clock.low(), 1001 * kEpoch);
    EXPECT_EQ(clock.in_epoch(0x1p43 + 1.0), 1.0 - 1001 * kEpoch);
    EXPECT_EQ(clock.since_start(23 * kEpoch), 0x1p43 + 1.0);
}

TEST(Clock, HasEpochsOfAPowerOfTwo) {
    EXPECT_EQ(power_of_two_below(1.0), 1.0);
    EXPECT_EQ(power_of_two_below(0.7), 0.5);
    EXPECT_EQ(power_of_two_below(5.0), 4.0);
}

}  // namespace carom::events_calendar_test
