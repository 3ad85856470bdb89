#pragma once

#include <cstdint>

#include "kernels/core/vec.hpp"

namespace carom {

/// All that predicting a collision reads of a ball: one cache line. Times are counted from the start of the epoch,
/// positions from the box's lower corner.
struct alignas(64) HotBall {
    double position[3];  ///< at `time` [length]
    double time;         ///< of the ball's own last event
    double velocity[3];  ///< at `time`
    double radius;
};

/// The event that a ball has in the calendar.
struct alignas(16) NextEvent {
    std::uint32_t partner;       ///< a slot; or count + number: a side of the cell or box (0 to 5), or a wall (from 6)
    std::uint32_t partner_hits;  ///< the partner's `hits` when this was predicted: another value makes it stale
    std::uint32_t stamp;         ///< of the entry in the calendar that counts
    std::uint32_t hits;          ///< how often this ball's path has changed
};

/// What else is known of a ball's future, and its cell.
struct alignas(32) Forecast {
    double contact_time;    ///< the earliest contact with a ball or a [[wall]], however far
    double event_time;      ///< of the event in the calendar
    std::uint32_t partner;  ///< of that contact
    std::uint32_t partner_hits;
    std::uint16_t cell[3];
    std::uint16_t at_edge;  ///< 1: the cell lies at a side of the box
};

/// The balls that a ball can meet while it and they stay in their bubbles (engine_lists.hpp): two cache lines.
struct alignas(128) NeighbourList {
    static constexpr std::uint32_t kMost = 24;
    // Upper half of a double whose lower half is `count`: a normal number, so that four lanes from `centre` load fast.
    static constexpr std::uint32_t kWhole = 0x3ff00000;
    static constexpr std::uint32_t kTooLong = 0x40000000;  // more than kMost: gathered anew each time

    double centre[3];     ///< of the bubble [length]
    std::uint32_t count;  ///< 0 where too long
    std::uint32_t state;
    std::uint32_t member[kMost];  ///< slots; behind them, the ball that nothing meets

    void add(std::uint32_t slot) {
        if (state == kTooLong) return;
        if (count == kMost) {
            state = kTooLong;
            count = 0;
        } else {
            member[count++] = slot;
        }
    }
    void remove(std::uint32_t slot, std::uint32_t nobody) {
        for (std::uint32_t k = 0; k < count; ++k) {
            if (member[k] != slot) continue;
            member[k] = member[--count];
            member[count] = nobody;
            return;
        }
    }
};

}  // namespace carom
