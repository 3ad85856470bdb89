#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "kernels/core/prefetch.hpp"
#include "kernels/cpu/near_pairs.hpp"
#include "kernels/cpu/tile_forces.hpp"
#include "kernels/spring_contact.hpp"

namespace carom {

/// What stepping balls and looking at them have in common: a thread's tiles one after the other, their touching pairs,
/// and the forces that these come to.
template <class Kind>
struct TileWork {
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;

    const SpringParams<Real, kDim>& params;
    const BallsView<Real, kDim> balls;
    const std::uint8_t* const gone;  // by id
    TileForces<Real, kDim>& forces;
    const SlotRange mine;
    const NearFilter<Real, kDim> filter{params, balls, 0.0};
    Real force[kDim][kTile] = {};  // on the tile's balls, once totalled; whoever uses them sets them to zero again

    /// Calls f(tile, first, end) for all tiles of the thread, of the balls in slots [first, end).
    /// \param find  finds the near pairs of a tile first, where that is due
    template <class Find, class F>
    void for_each_tile(const NearPairs& near, Find&& find, F&& f) {
        forces.restart((mine.end - mine.begin + kTile - 1) / kTile);
        std::uint32_t tile = 0;
        for (std::uint32_t first = mine.begin; first < mine.end; first += kTile, ++tile) {
            const std::uint32_t end = std::min(first + kTile, mine.end);
            find(first, end);
            if (near.has(tile + 2)) ask_for_positions(near.tile(tile + 1).farthest, near.tile(tile + 2).farthest);
            forces.begin(tile);
            f(near.tile(tile), first, end);
        }
    }

    /// Asks for the positions in slots [from, to). A tile's pairs reach about a layer of cells ahead, to where no tile
    /// before has been, so positions there come out of memory (measured in 3D at 10^6 balls: 1.13 times the speed).
    void ask_for_positions(std::uint32_t from, std::uint32_t to) const {
        constexpr std::uint32_t kLine = 64 / sizeof(balls.x[0][0]);
        to = std::min(to, from + 2 * kTile);
        for (; from < to; from += kLine) {
            for (int axis = 0; axis < kDim; ++axis) prefetch(balls.x[axis] + from);
        }
    }

    /// Calls f(i, j) for the pairs of a tile that may touch; ball i is of the tile. They are collected first, so that a
    /// processor has several under way at once: each would wait for the branch that found it otherwise.
    template <class F>
    void for_each_touching(const NearPairs& near, const NearPairs::Tile& tile, F&& f) const {
        constexpr std::uint32_t kMost = 256;  // at a time, however many the tile has
        std::uint32_t one[kMost + kLanes];
        std::uint32_t other[kMost + kLanes];
        std::uint32_t collected = 0;
        const auto give = [&] {
            for (std::uint32_t k = 0; k < collected; ++k) {
                // Balls that have left stand beyond the faces, perhaps within each other.
                if (params.open != 0 && (gone[balls.id[one[k]]] || gone[balls.id[other[k]]])) continue;
                f(one[k], other[k]);
            }
            collected = 0;
        };
        const NearFilter<Real, kDim> here = filter;  // a copy: the compiler knows that no store changes it
        const std::uint32_t* ones = near.one() + tile.begin;
        const std::uint32_t* others = near.other() + tile.begin;
        for (std::uint32_t at = 0; at < tile.pairs; at += kLanes) {
            unsigned touching = here.near(here.at(ones + at), here.at(others + at));
            if (tile.pairs - at < kLanes) touching &= (1U << (tile.pairs - at)) - 1U;
            keep_slots(ones + at, touching, one + collected);
            keep_slots(others + at, touching, other + collected);
            collected += static_cast<std::uint32_t>(std::popcount(touching));
            if (collected > kMost) give();
        }
        give();
    }

    /// Adds the force of a pair to both balls, as far as they are the thread's.
    void add_force(std::uint32_t first, std::uint32_t i, std::uint32_t j, const Vec<Real, kDim>& on_i) {
        forces.on(i - first).add(params.force_grid, on_i);
        if (mine.has(j)) forces.add(j - mine.begin, params.force_grid, Real(-1) * on_i);
    }

    /// Fills `force`. A loop of its own, well before the lanes read what it writes: a wide load of what was just
    /// written piece by piece has to wait.
    void total_forces() {
        for (std::uint64_t forced = forces.forced(); forced != 0; forced &= forced - 1) {
            const auto ball = static_cast<std::uint32_t>(std::countr_zero(forced));
            const Vec<Real, kDim> total = forces.sum(ball).total(params.force_grid);
            for (int axis = 0; axis < kDim; ++axis) force[axis][ball] = total[axis];
        }
    }
};

}  // namespace carom
