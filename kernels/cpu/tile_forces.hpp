#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "kernels/core/fixed_sum.hpp"
#include "kernels/cpu/near_pairs.hpp"

namespace carom {

/// The forces on the balls of one tile, and those that pairs met so far exert on balls of later tiles: these wait in
/// lists, one a tile, of nodes that are used again and again. There are few at a time, so all of this stays in the
/// nearest cache, where an array of sums for all balls would be fetched and written back at every step.
template <class Real, int Dim>
class alignas(kThreadsApart) TileForces {
public:
    using Sum = FixedSum<Real, Dim>;

    /// Before a step. \param tiles  of the thread
    void restart(std::uint32_t tiles) {
        if (head_.size() != tiles) head_.assign(tiles, kNone);
    }

    /// Takes the next tile; its sums hold what was waiting for it.
    void begin(std::uint32_t tile) {
        tile_ = tile;
        forced_ = 0;
        for (std::uint32_t node = head_[tile]; node != kNone;) {
            Waiting& waiting = nodes_[node];
            on(waiting.ball).merge(waiting.sum);
            const std::uint32_t next = waiting.next;
            waiting.next = free_;
            free_ = node;
            node = next;
        }
        head_[tile] = kNone;
    }

    /// The sum of a ball of the tile at hand, counted from the tile's first.
    Sum& on(std::uint32_t ball) {
        if ((forced_ >> ball & 1U) == 0) sums_[ball] = Sum::zero();
        forced_ |= std::uint64_t{1} << ball;
        return sums_[ball];
    }

    /// Adds to a ball of the tile at hand or of a later one. \param ball  counted from the thread's first
    void add(std::uint32_t ball, const FixedGrid<Real>& grid, const Vec<Real, Dim>& force) {
        const std::uint32_t tile = ball / kTile;
        if (tile == tile_) {
            on(ball % kTile).add(grid, force);
            return;
        }
        if (free_ == kNone) {
            free_ = static_cast<std::uint32_t>(nodes_.size());
            nodes_.push_back({Sum::zero(), 0, kNone});
        }
        const std::uint32_t node = free_;
        Waiting& waiting = nodes_[node];
        free_ = waiting.next;
        waiting.sum = Sum::zero();
        waiting.sum.add(grid, force);
        waiting.ball = ball % kTile;
        waiting.next = head_[tile];
        head_[tile] = node;
    }

    /// Bit l: there is a force on ball l of the tile at hand.
    [[nodiscard]] std::uint64_t forced() const { return forced_; }
    [[nodiscard]] const Sum& sum(std::uint32_t ball) const { return sums_[ball]; }

    [[nodiscard]] std::uint64_t memory_bytes() const {
        return head_.capacity() * sizeof(std::uint32_t) + nodes_.capacity() * sizeof(Waiting) + sizeof(sums_);
    }

private:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    struct Waiting {
        Sum sum;
        std::uint32_t ball;  // of its tile
        std::uint32_t next;  // node
    };

    std::uint32_t tile_ = 0;
    std::uint64_t forced_ = 0;
    Sum sums_[kTile];
    std::vector<std::uint32_t> head_;  // of each tile's list
    PageVector<Waiting> nodes_;
    std::uint32_t free_ = kNone;  // first of the nodes that nobody waits in
};

}  // namespace carom
