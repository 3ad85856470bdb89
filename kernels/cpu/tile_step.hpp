#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "kernels/cpu/stream.hpp"
#include "kernels/cpu/tile_work.hpp"
#include "kernels/spring_control.hpp"
#include "kernels/spring_step.hpp"

// A thread's share of a step, tile by tile: the faces that a tile's balls may touch, their pairs, then kick and drift
// in SIMD lanes. A pair stands with its lower slot, so when a tile's own pairs are done, all forces on its balls are.

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

/// What one thread counts while velocities are drawn anew.
struct RefreshTally : ThreadTally {
    std::array<std::int64_t, kHeatSources> heat_of{};

    void heat(int source, std::int64_t steps) { heat_of[static_cast<std::size_t>(source)] += steps; }
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

/// A tile's new state on its way past the caches.
template <class Real, int Dim>
struct MovedTile {
    using Stored = typename Phase<Real>::Stored;
    alignas(64) Stored x[Dim][kTile];
    alignas(64) Real v[Dim][kTile];

    /// \param moved  what else it refers to
    MovedView<Real, Dim> view(MovedView<Real, Dim> moved) {
        for (int axis = 0; axis < Dim; ++axis) {
            moved.x[axis] = x[axis];
            moved.v[axis] = v[axis];
        }
        return moved;
    }
    void stream_to(const MovedView<Real, Dim>& moved) const {
        for (int axis = 0; axis < Dim; ++axis) {
            stream(x[axis], moved.x[axis], kTile);
            stream(v[axis], moved.v[axis], kTile);
        }
    }
};

template <class Kind>
class TileStep {
public:
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;

    /// \param past_caches  how the new state is written (stream.hpp)
    TileStep(const SpringParams<Real, kDim>& params, const StepNow<Real, kDim>& now, const BallsView<Real, kDim>& balls,
             const MovedView<Real, kDim>& moved, bool past_caches, TileForces<Real, kDim>& forces, SlotRange mine,
             ThreadTally& tally)
        : work_{params, balls, moved.gone, forces, mine},
          now_(now),
          moved_(moved),
          past_caches_(past_caches),
          tally_(tally) {}

    /// Steps all balls of the thread. \param find  as TileWork::for_each_tile
    template <class Find>
    void run(const NearPairs& near, Find&& find) {
        std::fill_n(fastest_, kLanes, Real(0));
        work_.for_each_tile(near, find, [&](const NearPairs::Tile& tile, std::uint32_t first, std::uint32_t end) {
            step(near, tile, first, end);
        });
        if (past_caches_) end_of_stream();
        for (const Real speed_squared : fastest_) {
            tally_.max_speed_squared = larger(static_cast<double>(speed_squared), tally_.max_speed_squared);
        }
    }

private:
    void step(const NearPairs& near, const NearPairs::Tile& tile, std::uint32_t first, std::uint32_t end);
    std::uint64_t meet_faces_of(const NearPairs::Tile& tile, std::uint32_t first);
    void move(std::uint32_t first, std::uint32_t end, std::uint64_t leaving);

    TileWork<Kind> work_;
    const StepNow<Real, kDim> now_;
    const MovedView<Real, kDim> moved_;
    const bool past_caches_;
    ThreadTally& tally_;
    Real fastest_[kLanes];  // squared speeds
    int left_by_[kTile];    // the face, of those that leave
};

/// Kick and drift. Whole eights, also behind the last ball: those slots exist and are read by nobody.
template <class Kind>
void TileStep<Kind>::move(std::uint32_t first, std::uint32_t end, std::uint64_t leaving) {
    // The views are shifted so that the loop's index has no offset, without which the compiler would not use its lanes.
    const BallsView<Real, kDim> own_balls = shifted(work_.balls, first);
    MovedTile<Real, kDim> tile;
    const bool past_caches = past_caches_ && end - first == kTile;
    const MovedView<Real, kDim> own_moved = past_caches ? tile.view(moved_) : shifted(moved_, first);
    const StepNow<Real, kDim> now = now_;
    const std::uint32_t count = end - first;
    const std::uint32_t lanes = (count + kLanes - 1) / kLanes * kLanes;
    TileTally<Real> tally;
#pragma GCC ivdep
    for (std::uint32_t ball = 0; ball < lanes; ++ball) {
        Vec<Real, kDim> force;
        for (int axis = 0; axis < kDim; ++axis) {
            force[axis] = work_.force[axis][ball];
            work_.force[axis][ball] = Real(0);
        }
        kick_and_drift<Kind>(now, load_ball<Kind>(work_.params, own_balls, ball), force, own_moved, ball, tally);
    }
    if (past_caches) tile.stream_to(shifted(moved_, first));
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
        const int face =
            meet_faces<Kind>(work_.params, now_, work_.balls, moved_.gone,
                             load_ball<Kind>(work_.params, work_.balls, slot), slot, work_.forces.on(ball), tally_);
        if (face == kStays) continue;
        left_by_[ball] = face;
        leaving |= std::uint64_t{1} << ball;
    }
    return leaving;
}

template <class Kind>
void TileStep<Kind>::step(const NearPairs& near, const NearPairs::Tile& tile, std::uint32_t first, std::uint32_t end) {
    std::uint64_t leaving = meet_faces_of(tile, first);
    work_.for_each_touching(near, tile, [&](std::uint32_t i, std::uint32_t j) {
        Vec<Real, kDim> force;
        const OwnBall<Kind> own = load_ball<Kind>(work_.params, work_.balls, i);
        if (meet_ball<Kind>(work_.params, work_.balls, own, i, j, force, tally_)) work_.add_force(first, i, j, force);
    });
    work_.total_forces();
    move(first, end, leaving);
    for (; leaving != 0; leaving &= leaving - 1) {
        const auto ball = static_cast<std::uint32_t>(std::countr_zero(leaving));
        const std::uint32_t slot = first + ball;
        leave<Kind>(work_.params, load_ball<Kind>(work_.params, work_.balls, slot), left_by_[ball], moved_, slot,
                    work_.balls.id[slot], tally_);
    }
}

}  // namespace carom
