#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "kernels/cpu/near_pairs.hpp"
#include "kernels/cpu/tile_forces.hpp"
#include "kernels/spring_control.hpp"
#include "kernels/spring_step.hpp"

// A thread's share of a step, tile by tile: the faces that a tile's balls may touch, their pairs, then kick and drift
// in SIMD lanes. A pair stands with its lower slot, so when a tile's own pairs are done, all forces on its balls are.
// The contacts of a tile are first collected and then computed one after the other, so that a processor has several
// under way at once; computed where they are found, each would wait for the branch that found it.

namespace carom {

/// What one thread counts during one step.
struct ThreadTally {
    const std::uint32_t* id = nullptr;
    std::uint64_t fault_key = FaultKey::kNone;
    double max_overlap = 0.0;
    double max_speed_squared = 0.0;
    std::vector<std::uint32_t> left_by_id;  // balls that left, to be marked when no thread looks at marks any more
    std::array<std::int64_t, kWallNumbers> impulse{};

    void fault(SpringFault::Kind kind, std::uint32_t slot, std::uint32_t other) {
        fault_key = std::min(fault_key, FaultKey::pack(kind, id[slot], other));
    }
    template <class Real>
    void overlap(Real fraction) {
        max_overlap = larger(static_cast<double>(fraction), max_overlap);
    }
    void wall_impulse(std::int32_t wall, std::int64_t steps) { impulse[static_cast<std::size_t>(wall)] += steps; }
    void left(std::uint8_t*, std::uint32_t ball) { left_by_id.push_back(ball); }

    void merge(const ThreadTally& other) {
        fault_key = std::min(fault_key, other.fault_key);
        max_overlap = larger(other.max_overlap, max_overlap);
        max_speed_squared = larger(other.max_speed_squared, max_speed_squared);
        left_by_id.insert(left_by_id.end(), other.left_by_id.begin(), other.left_by_id.end());
        for (std::size_t wall = 0; wall < kWallNumbers; ++wall) impulse[wall] += other.impulse[wall];
    }
};

/// Where a tile's moves are noted, in a form that the compiler can keep in lanes.
template <class Real>
struct TileTally {
    Real speed_squared[kTile];
    std::uint32_t sane[kTile];

    void moved(std::uint32_t ball, Real speed_squared_, bool sane_) {
        speed_squared[ball] = speed_squared_;
        sane[ball] = sane_;
    }
};

template <class Real, int Dim>
BallsView<Real, Dim> shifted(BallsView<Real, Dim> view, std::uint32_t first) {
    for (int axis = 0; axis < Dim; ++axis) {
        view.x[axis] += first;
        view.v[axis] += first;
    }
    if (view.radius != nullptr) view.radius += first;
    if (view.inverse_mass != nullptr) view.inverse_mass += first;
    view.id += first;
    view.cell += first;
    return view;
}

template <class Real, int Dim>
MovedView<Real, Dim> shifted(MovedView<Real, Dim> view, std::uint32_t first) {
    for (int axis = 0; axis < Dim; ++axis) {
        view.x[axis] += first;
        view.v[axis] += first;
    }
    return view;
}

template <class Kind>
class TileStep {
public:
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;

    TileStep(const SpringParams<Real, kDim>& params, const StepNow<Real, kDim>& now, const BallsView<Real, kDim>& balls,
             const MovedView<Real, kDim>& moved, TileForces<Real, kDim>& forces, SlotRange mine, ThreadTally& tally)
        : params_(params),
          now_(now),
          balls_(balls),
          moved_(moved),
          forces_(forces),
          mine_(mine),
          filter_(params, balls, 0.0),
          tally_(tally) {}

    /// Steps all balls of the thread.
    /// \param find  finds the near pairs of the tile of slots [first, end) first, where that is due
    template <class Find>
    void run(NearPairs& near, Find&& find) {
        std::fill_n(fastest_, kLanes, Real(0));
        forces_.restart(tiles());
        std::uint32_t tile = 0;
        for (std::uint32_t first = mine_.begin; first < mine_.end; first += kTile, ++tile) {
            const std::uint32_t end = std::min(first + kTile, mine_.end);
            find(first, end);
            forces_.begin(tile);
            step(near, near.tile(tile), first, end);
        }
        for (const Real speed_squared : fastest_) {
            tally_.max_speed_squared = larger(static_cast<double>(speed_squared), tally_.max_speed_squared);
        }
    }

private:
    static constexpr std::uint32_t kCollected = 256;  // contacts at a time, however many the tile has

    [[nodiscard]] std::uint32_t tiles() const { return (mine_.end - mine_.begin + kTile - 1) / kTile; }
    void step(const NearPairs& near, const NearPairs::Tile& tile, std::uint32_t first, std::uint32_t end);
    std::uint64_t meet_faces_of(const NearPairs::Tile& tile, std::uint32_t first);
    void meet_pairs(const NearPairs& near, const NearPairs::Tile& tile, std::uint32_t first);
    void meet_collected(std::uint32_t first, std::uint32_t count);
    void total_forces();
    void move(std::uint32_t first, std::uint32_t end, std::uint64_t leaving);

    const SpringParams<Real, kDim>& params_;
    const StepNow<Real, kDim> now_;
    const BallsView<Real, kDim> balls_;
    const MovedView<Real, kDim> moved_;
    TileForces<Real, kDim>& forces_;
    const SlotRange mine_;
    const NearFilter<Real, kDim> filter_;
    ThreadTally& tally_;
    Real fastest_[kLanes];  // squared speeds
    std::uint32_t one_[kCollected + kLanes];
    std::uint32_t other_[kCollected + kLanes];
    int left_by_[kTile];            // the face, of those that leave
    Real force_[kDim][kTile] = {};  // zero between tiles
};

template <class Kind>
void TileStep<Kind>::meet_collected(std::uint32_t first, std::uint32_t count) {
    for (std::uint32_t k = 0; k < count; ++k) {
        const std::uint32_t i = one_[k];
        const std::uint32_t j = other_[k];
        // Balls that have left stand beyond the faces, perhaps within each other.
        if (params_.open != 0 && (moved_.gone[balls_.id[i]] || moved_.gone[balls_.id[j]])) continue;
        Vec<Real, kDim> force;
        if (!meet_ball<Kind>(params_, balls_, load_ball<Kind>(params_, balls_, i), i, j, force, tally_)) continue;
        forces_.on(i - first).add(params_.force_grid, force);
        if (mine_.has(j)) forces_.add(j - mine_.begin, params_.force_grid, Real(-1) * force);
    }
}

template <class Kind>
void TileStep<Kind>::meet_pairs(const NearPairs& near, const NearPairs::Tile& tile, std::uint32_t first) {
    // Copies, so that the compiler knows that no store changes them.
    const NearFilter<Real, kDim> filter = filter_;
    const std::uint32_t* one = near.one() + tile.begin;
    const std::uint32_t* other = near.other() + tile.begin;
    std::uint32_t collected = 0;
    for (std::uint32_t at = 0; at < tile.pairs; at += kLanes) {
        unsigned touching = filter.near(filter.at(one + at), filter.at(other + at));
        if (tile.pairs - at < kLanes) touching &= (1U << (tile.pairs - at)) - 1U;
        keep_slots(one + at, touching, one_ + collected);
        keep_slots(other + at, touching, other_ + collected);
        collected += static_cast<std::uint32_t>(std::popcount(touching));
        if (collected > kCollected) {
            meet_collected(first, collected);
            collected = 0;
        }
    }
    meet_collected(first, collected);
}

/// A loop of its own, well before the lanes read what it writes: a wide load of what was just written piece by piece
/// has to wait.
template <class Kind>
void TileStep<Kind>::total_forces() {
    for (std::uint64_t balls = forces_.forced(); balls != 0; balls &= balls - 1) {
        const auto ball = static_cast<std::uint32_t>(std::countr_zero(balls));
        const Vec<Real, kDim> total = forces_.sum(ball).total(params_.force_grid);
        for (int axis = 0; axis < kDim; ++axis) force_[axis][ball] = total[axis];
    }
}

/// Kick and drift. Whole eights, also behind the last ball: those slots exist and are read by nobody.
template <class Kind>
void TileStep<Kind>::move(std::uint32_t first, std::uint32_t end, std::uint64_t leaving) {
    // The views are shifted so that the loop's index has no offset, without which the compiler would not use its lanes.
    const BallsView<Real, kDim> own_balls = shifted(balls_, first);
    const MovedView<Real, kDim> own_moved = shifted(moved_, first);
    const StepNow<Real, kDim> now = now_;
    const std::uint32_t count = end - first;
    const std::uint32_t lanes = (count + kLanes - 1) / kLanes * kLanes;
    TileTally<Real> tally;
#pragma GCC ivdep
    for (std::uint32_t ball = 0; ball < lanes; ++ball) {
        Vec<Real, kDim> force;
        for (int axis = 0; axis < kDim; ++axis) {
            force[axis] = force_[axis][ball];
            force_[axis][ball] = Real(0);
        }
        kick_and_drift<Kind>(now, load_ball<Kind>(params_, own_balls, ball), force, own_moved, ball, tally);
    }
    std::uint32_t all_sane = 1;
    for (std::uint32_t ball = 0; ball < lanes; ++ball) all_sane &= tally.sane[ball];
    if (all_sane != 0 && leaving == 0 && count == lanes) {
        for (std::uint32_t at = 0; at < lanes; at += kLanes) {
            for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
                fastest_[lane] = larger(tally.speed_squared[at + lane], fastest_[lane]);
            }
        }
        return;
    }
    for (std::uint32_t ball = 0; ball < count; ++ball) {
        if ((leaving >> ball & 1U) != 0) continue;
        const Real speed_squared = tally.speed_squared[ball];
        fastest_[ball % kLanes] = larger(speed_squared, fastest_[ball % kLanes]);
        if (tally.sane[ball] != 0) continue;
        const bool number = speed_squared == speed_squared;
        tally_.fault(number ? SpringFault::Kind::kTooFast : SpringFault::Kind::kNotANumber, first + ball, 0);
    }
}

/// Bit l of the result is set where ball l of the tile leaves, or has left, by left_by_[l].
template <class Kind>
std::uint64_t TileStep<Kind>::meet_faces_of(const NearPairs::Tile& tile, std::uint32_t first) {
    std::uint64_t leaving = 0;
    for (std::uint64_t balls = tile.near_faces; balls != 0; balls &= balls - 1) {
        const auto ball = static_cast<std::uint32_t>(std::countr_zero(balls));
        const std::uint32_t slot = first + ball;
        const int face = meet_faces<Kind>(params_, now_, balls_, moved_.gone, load_ball<Kind>(params_, balls_, slot),
                                          slot, forces_.on(ball), tally_);
        if (face == kStays) continue;
        left_by_[ball] = face;
        leaving |= std::uint64_t{1} << ball;
    }
    return leaving;
}

template <class Kind>
void TileStep<Kind>::step(const NearPairs& near, const NearPairs::Tile& tile, std::uint32_t first, std::uint32_t end) {
    std::uint64_t leaving = meet_faces_of(tile, first);
    meet_pairs(near, tile, first);
    total_forces();
    move(first, end, leaving);
    for (; leaving != 0; leaving &= leaving - 1) {
        const auto ball = static_cast<std::uint32_t>(std::countr_zero(leaving));
        const std::uint32_t slot = first + ball;
        leave<Kind>(params_, load_ball<Kind>(params_, balls_, slot), left_by_[ball], moved_, slot, balls_.id[slot],
                    tally_);
    }
}

}  // namespace carom
