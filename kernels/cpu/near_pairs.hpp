#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "kernels/cpu/pair_lists.hpp"

// Of the pairs that may touch until the next sort, those that may touch within the next few steps. Looking through the
// former at every step would be most of the work of a step; their margin is wide, so that sorts are rare, and most of
// them are far apart at any one time. So they are looked through every few steps only, with a small margin, and a step
// looks at what that has left.

namespace carom {

constexpr std::uint32_t kTile = 64;  // balls that a thread takes at a time: some ten contacts in a dense gas

/// One thread's near pairs, tile by tile.
class alignas(kThreadsApart) NearPairs {
public:
    struct Tile {
        std::uint32_t begin = 0;  // of its pairs: a multiple of eight
        std::uint32_t pairs = 0;
        std::uint32_t farthest = 0;    // the largest slot in a pair
        std::uint64_t near_faces = 0;  // bit l: ball l can reach a face or wall
    };

    /// Forgets all tiles; then they are found one after the other, in order.
    void restart(std::uint32_t tiles) {
        tiles_.clear();
        tiles_.reserve(tiles);
        end_ = 0;
    }

    /// Finds the near pairs of the next tile, of the balls in slots [first, end).
    /// \param filter  lets through what is nearer than `margin`
    /// \param margin      twice the distance that a ball, or a wall, may move until the next restart [length]
    /// \param walls_time  SpringParams::walls_time
    template <class Real, int Dim>
    void find(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls, const PairLists& lists,
              int thread, const NearFilter<Real, Dim>& filter, double margin, double walls_time, std::uint32_t first,
              std::uint32_t end);

    /// Whether this tile's pairs have been found.
    [[nodiscard]] bool has(std::uint32_t t) const { return t < tiles_.size(); }
    [[nodiscard]] const Tile& tile(std::uint32_t t) const { return tiles_[t]; }
    [[nodiscard]] const std::uint32_t* one() const { return one_.data(); }      // slots
    [[nodiscard]] const std::uint32_t* other() const { return other_.data(); }  // slots
    [[nodiscard]] std::uint64_t memory_bytes() const {
        return tiles_.capacity() * sizeof(Tile) + (one_.capacity() + other_.capacity()) * sizeof(std::uint32_t);
    }

private:
    std::vector<Tile> tiles_;
    PageVector<std::uint32_t> one_;
    PageVector<std::uint32_t> other_;
    std::size_t end_ = 0;
};

template <class Real, int Dim>
void NearPairs::find(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls, const PairLists& lists,
                     int thread, const NearFilter<Real, Dim>& filter, double margin, double walls_time,
                     std::uint32_t first, std::uint32_t end) {
    Tile tile;
    const std::size_t begin = end_;
    for (std::uint32_t at = first; at < end; at += kLanes) {
        const PairLists::Block block = lists.block(at / kLanes);
        for (unsigned lanes = block.near_faces; lanes != 0; lanes &= lanes - 1) {
            const std::uint32_t slot = at + static_cast<std::uint32_t>(std::countr_zero(lanes));
            const bool near = near_face(params, balls, slot, margin) ||
                              near_wall(params, balls, slot, margin, reflecting_walls(params), walls_time);
            tile.near_faces |= std::uint64_t{near} << (slot - first);
        }
        if (block.pairs == 0) continue;
        const std::size_t most = end_ + block.pairs + 2 * kLanes;
        if (most > one_.size()) {
            one_.resize(most * 9 / 8 + 64 * kLanes);  // doubling would waste
            other_.resize(one_.size());
        }
        const auto eight = filter.from(at);
        PairRow row = lists.row(thread, block.first_row);
        for (std::uint32_t pairs = block.pairs;; row = row.next(), pairs -= kLanes) {
            unsigned near = filter.near(eight, row);
            if (pairs < kLanes) near &= (1U << pairs) - 1U;
            end_ += keep_pairs(row, near, at, one_.data() + end_, other_.data() + end_);
            if (pairs <= kLanes) break;
        }
    }
    tile.begin = static_cast<std::uint32_t>(begin);
    tile.pairs = static_cast<std::uint32_t>(end_ - begin);
    for (std::size_t k = begin; k < end_; ++k) tile.farthest = std::max(tile.farthest, other_[k]);
    // What the last eight hold behind the last pair is read, if not used: it must be slots.
    for (; end_ % kLanes != 0; ++end_) one_[end_] = other_[end_] = first;
    tiles_.push_back(tile);
}

}  // namespace carom
