#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "host/events/cells.hpp"
#include "host/events/flying_balls.hpp"
#include "kernels/core/hardware.hpp"
#include "kernels/core/lanes.hpp"
#include "kernels/core/transcendental.hpp"

// Neighbour lists, for dense systems: a ball looks for its next contact among the dozen balls of its list, instead of
// those in 27 cells.
//
// Each ball has a bubble, a sphere around where its list was made. Two balls are in each other's lists exactly when the
// centres of their bubbles are closer than shell * diameter. While both stay in their bubbles, of radius
// (shell - 1) * radius, no two that are not listed can touch. A ball that leaves its bubble gets a new one, and tells
// those whose lists change. So the lists are a function of the centres alone, whatever the order of events: that is
// what makes a restart go on to the same bits. (Donev, Torquato & Stillinger 2005: near-neighbour lists.)
//
// The cells hold the balls by the centres of their bubbles here, and are at least shell * diameter wide.

namespace carom {

/// The balls that a ball can meet while it and they stay in their bubbles: two cache lines.
struct alignas(128) NeighbourList {
    static constexpr std::uint32_t kMost = 24;
    // Upper half of a double whose lower half is `count`: a normal number, so that four lanes from `centre` load fast.
    static constexpr std::uint32_t kWhole = 0x3ff00000;
    static constexpr std::uint32_t kTooLong = 0x40000000;  // more than kMost: gathered anew each time

    double centre[3];     ///< of the bubble [length]
    std::uint32_t count;  ///< 0 where too long
    std::uint32_t state;
    Slot member[kMost];  ///< behind them, the ball that nothing meets

    void add(Slot slot) {
        if (state == kTooLong) return;
        if (count == kMost) {
            state = kTooLong;
            count = 0;
        } else {
            member[count++] = slot;
        }
    }
    void remove(Slot slot, Slot nobody) {
        for (std::uint32_t k = 0; k < count; ++k) {
            if (member[k] != slot) continue;
            member[k] = member[--count];
            member[count] = nobody;
            return;
        }
    }
};

/// The bubbles and lists of balls of one size, over cells that hold them by their centres.
template <int Dim>
class Bubbles {
public:
    Bubbles() = default;
    /// \param shell  reach of the lists [diameters]
    Bubbles(double shell, double radius, Slot count)
        : reach_(shell * 2.0 * radius),
          // A little less than what the lists allow, so that no rounding matters.
          radius_((shell - 1.0) * radius * (1.0 - 1.0e-6)),
          count_(count),
          lists_(count + 1),
          listed_(count, 0) {
        constexpr double kNaN = transcendental::kNaN;
        lists_[count_] = {{kNaN, kNaN, kNaN}, 0, NeighbourList::kWhole, {}};
    }

    [[nodiscard]] const double* centre(Slot i) const { return lists_[i].centre; }
    void set_centre(Slot i, const double* centre) { std::copy_n(centre, Dim, lists_[i].centre); }

    /// All lists, from the centres.
    void make_lists(NeighbourCells<Dim>& cells, const auto& place_of) {
        for (Slot i = 0; i < count_; ++i) store(i, gather(i, cells, place_of(i)), cells.candidates());
    }

    struct Listed {
        const Slot* members;  ///< filled up with nobody to a multiple of four
        std::uint32_t count;
    };
    /// Whom ball i may meet. Good until the next call.
    [[nodiscard]] Listed list(Slot i, NeighbourCells<Dim>& cells, const CellPlace& place) const {
        const NeighbourList& list = lists_[i];
        if (list.state != NeighbourList::kTooLong) [[likely]]
            return {list.member, list.count};
        const std::uint32_t count = gather(i, cells, place);
        cells.fill_up(count, false);
        return {cells.candidates(), count};
    }

    /// A new bubble for ball i around `centre`, in the cell `place` that it goes to, and lists to match.
    void renew(Slot i, const double* centre, NeighbourCells<Dim>& cells, CellPlace& place, const CellPlace& to) {
        NeighbourList& list = lists_[i];
        std::uint32_t old_count = list.count;
        const Slot* old = list.member;
        if (list.state == NeighbourList::kTooLong) [[unlikely]] {
            old_count = gather(i, cells, place);
            long_list_.assign(cells.candidates(), cells.candidates() + old_count);
            old = long_list_.data();
        }
        set_centre(i, centre);
        cells.move(place, to, i);
        const std::uint32_t count = gather(i, cells, place);
        // Who is in only one of the two lists.
        for (std::uint32_t k = 0; k < old_count; ++k) listed_[old[k]] = 1;
        for (std::uint32_t k = 0; k < count; ++k) {
            const Slot j = cells.candidates()[k];
            if (listed_[j] == 0) lists_[j].add(i);
            listed_[j] = 0;
        }
        for (std::uint32_t k = 0; k < old_count; ++k) {
            if (listed_[old[k]] != 0) lists_[old[k]].remove(i, count_);
            listed_[old[k]] = 0;
        }
        store(i, count, cells.candidates());
    }

    /// Time from now until a ball leaves its bubble.
    [[nodiscard]] double leaving_time(Slot i, const HotBall& ball) const {
        double b = 0.0;
        double v2 = 0.0;
        double c = -radius_ * radius_;
        for (int axis = 0; axis < Dim; ++axis) {
            const double d = ball.position[axis] - lists_[i].centre[axis];
            b = fused(d, ball.velocity[axis], b);
            v2 = fused(ball.velocity[axis], ball.velocity[axis], v2);
            c = fused(d, d, c);
        }
        const double root = square_root(fused(b, b, -v2 * smaller(c, 0.0)));
        return smaller((root - b) / v2, kNeverTouch);  // a ball at rest: no number
    }

    /// Puts all into another order. \param slot_of  the new slot of each old one
    void sort(const std::vector<Slot>& order, const std::vector<Slot>& slot_of) {
        permute(lists_, order);
        for (Slot i = 0; i < count_; ++i) {
            for (std::uint32_t k = 0; k < lists_[i].count; ++k) lists_[i].member[k] = slot_of[lists_[i].member[k]];
        }
    }

    /// Asks for a record, in time, and soon(slot) hears of its members.
    void ask(Slot i) const {
        prefetch(&lists_[i]);
        prefetch(&lists_[i].member[8]);
    }
    template <class Soon>
    void ask_members(Slot i, Soon&& soon) const {
        const NeighbourList& list = lists_[i];
        for (std::uint32_t k = 0; k < list.count; ++k) soon(list.member[k]);
    }

    [[nodiscard]] std::size_t bytes() const { return lists_.capacity() * sizeof(NeighbourList); }

private:
    /// The list of ball i in the candidates, whether or not its record holds it; returns how many.
    std::uint32_t gather(Slot i, NeighbourCells<Dim>& cells, const CellPlace& place) const {
        const std::uint32_t count = cells.gather_around(place);
        return keep_listed(i, cells, count, place.at_edge != 0);
    }

    /// Keeps of `count` gathered candidates those in whose lists ball i belongs; returns how many.
    std::uint32_t keep_listed(Slot i, NeighbourCells<Dim>& cells, std::uint32_t count, bool edge) const {
        const Lanes centre = Lanes::load(lists_[i].centre);
        const Lanes reach2 = Lanes::filled(reach_ * reach_);
        cells.fill_up(count, edge);  // nobody's centre is no number
        Slot* list = cells.candidates();
        std::uint32_t kept = 0;
        for (std::uint32_t k = 0; k < count; k += 4) {
            Lanes apart[4];
            Slot slot[4];
            for (int lane = 0; lane < 4; ++lane) {
                slot[lane] = list[k + lane];
                apart[lane] = centre - Lanes::load(lists_[slot[lane]].centre);
                // The sign of a difference does not touch its rounding: what i finds of j, j finds of i.
                if (edge) apart[lane] = apart[lane] - Lanes::load(cells.shift(k + lane));
            }
            Lanes d[4];
            transpose(apart[0], apart[1], apart[2], apart[3], d);
            Lanes squared = d[0] * d[0];
            for (int axis = 1; axis < Dim; ++axis) squared = fused(d[axis], d[axis], squared);
            const int near = less(squared, reach2).bits();
            for (int lane = 0; lane < 4; ++lane) {
                list[kept] = slot[lane];
                kept += (near >> lane & 1) & (slot[lane] != i ? 1 : 0);
            }
        }
        return kept;
    }

    void store(Slot i, std::uint32_t count, const Slot* members) {
        NeighbourList& list = lists_[i];
        list.state = count <= NeighbourList::kMost ? NeighbourList::kWhole : NeighbourList::kTooLong;
        list.count = count <= NeighbourList::kMost ? count : 0;
        for (std::uint32_t k = 0; k < NeighbourList::kMost; ++k) list.member[k] = k < list.count ? members[k] : count_;
    }

    double reach_ = 0.0;
    double radius_ = 0.0;  // of a bubble
    Slot count_ = 0;
    PageVector<NeighbourList> lists_;  // by slot; one more, all NaN
    std::vector<Slot> long_list_;
    std::vector<std::uint8_t> listed_;  // by slot: 0 between events
};

}  // namespace carom
