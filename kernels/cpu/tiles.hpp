#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/core/fixed_sum.hpp"
#include "kernels/core/hardware.hpp"
#include "kernels/cpu/pairs.hpp"
#include "kernels/spring_contact.hpp"
#include "kernels/spring_observe.hpp"
#include "kernels/spring_params.hpp"
#include "kernels/spring_step.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace carom {

/// Whether new values of this many bytes, and as many old ones, had better go past the caches into memory: what is
/// written in the usual way is read first, and by the next step the caches have lost it anyway. Measured in 3D with
/// single precision: 1.15 times the speed at 48 MB for both, 0.92 at 5 MB.
constexpr bool goes_past_caches([[maybe_unused]] std::size_t bytes) {
#if defined(__AVX2__)
    return bytes > (std::size_t{10} << 20);
#else
    return false;
#endif
}

/// Copies values past the caches. Other threads see them after end_of_stream().
/// \param to     on a multiple of 32 bytes, like `from`
/// \param count  of values that fill whole 32 bytes
template <class T>
void stream(const T* from, T* to, std::size_t count) {
#if defined(__AVX2__)
    const auto* source = reinterpret_cast<const __m256i*>(from);
    auto* target = reinterpret_cast<__m256i*>(to);
    for (std::size_t k = 0; k < count * sizeof(T) / sizeof(__m256i); ++k) {
        _mm256_stream_si256(target + k, _mm256_load_si256(source + k));
    }
#else
    for (std::size_t k = 0; k < count; ++k) to[k] = from[k];
#endif
}

inline void end_of_stream() {
#if defined(__AVX2__)
    _mm_sfence();
#endif
}

/// The forces on the balls of one tile, and those that pairs met so far exert on balls of later tiles: these wait in
/// lists, one a tile, of nodes that are used again and again. There are few at a time, so all of this stays in the
/// nearest cache, where an array of sums for all balls would be fetched and written back at every step.
template <class Real, int Dim>
class alignas(kThreadsApart) TileForces {
public:
    using Sum = FixedSum<Real, Dim>;

    /// A ball whose pairs with copies are still to be met, and what the others have come to.
    struct Held {
        Sum sum;
        std::uint32_t slot;
        bool stays;  // else it leaves, whatever the force
    };

    /// Before a step. \param tiles  of the thread
    void restart(std::uint32_t tiles) {
        if (head_.size() != tiles) head_.assign(tiles, kNone);
        held_.clear();
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

    /// Keeps the sum of a ball of the tile at hand. \param first  the tile's first slot
    void hold(std::uint32_t ball, std::uint32_t first, bool stays) { held_.push_back({on(ball), first + ball, stays}); }
    [[nodiscard]] std::span<Held> held() { return held_; }

    [[nodiscard]] std::uint64_t memory_bytes() const {
        return head_.capacity() * sizeof(std::uint32_t) + nodes_.capacity() * sizeof(Waiting) + sizeof(sums_) +
               held_.capacity() * sizeof(Held);
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
    std::vector<Held> held_;      // by slot
};

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
    std::span<const PairLists::CopyPair> with_copies;  // of the thread; used up tile by tile
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
                if (both_in(one[k], other[k])) f(one[k], other[k]);
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

    /// Calls f(i, j) for those of the thread's pairs with copies that come next, up to slot `end` of its own balls.
    template <class F>
    void for_each_copy(std::uint32_t end, F&& f) {
        for (; !with_copies.empty() && with_copies.front().own < end; with_copies = with_copies.subspan(1)) {
            f(with_copies.front().own, with_copies.front().copy);
        }
    }
    [[nodiscard]] bool both_in(std::uint32_t i, std::uint32_t j) const {
        return params.open == 0 || (gone[balls.id[i]] == 0 && gone[balls.id[j]] == 0);
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

// A thread's share of a step, tile by tile: the faces that a tile's balls may touch, their pairs, then kick and drift
// in SIMD lanes. A pair stands with its lower slot, so when a tile's own pairs are done, all forces on its balls are.
// But for balls near copies: these are moved one by one when the copies have come, whatever they were moved to before.

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
    void not_sane(Real speed_squared, std::uint32_t slot) {
        const bool number = speed_squared == speed_squared;
        fault(number ? SpringFault::Kind::kTooFast : SpringFault::Kind::kNotANumber, slot, 0);
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

    /// \param past_caches  how the new state is written (stream())
    TileStep(const SpringParams<Real, kDim>& params, const StepNow<Real, kDim>& now, const BallsView<Real, kDim>& balls,
             const MovedView<Real, kDim>& moved, bool past_caches, TileForces<Real, kDim>& forces, SlotRange mine,
             std::span<const PairLists::CopyPair> with_copies, ThreadTally& tally)
        : work_{params, balls, moved.gone, forces, mine, with_copies},
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

    /// Ends the step of the balls near copies. \param with_copies  as run() had them
    void meet_copies() {
        for (auto& held : work_.forces.held()) {
            const OwnBall<Kind> own = load_ball<Kind>(work_.params, work_.balls, held.slot);
            work_.for_each_copy(held.slot + 1, [&](std::uint32_t i, std::uint32_t j) {
                Vec<Real, kDim> force;
                if (work_.both_in(i, j) && meet_ball<Kind>(work_.params, work_.balls, own, i, j, force, tally_)) {
                    held.sum.add(work_.params.force_grid, force);
                }
            });
            if (!held.stays) continue;
            OneMoved moved{tally_};
            kick_and_drift<Kind>(now_, own, held.sum.total(work_.params.force_grid), moved_, held.slot, moved);
        }
    }

private:
    /// Where the move of one ball is noted.
    struct OneMoved {
        ThreadTally& tally;

        void moved(std::uint32_t slot, Real speed_squared, bool sane) {
            tally.max_speed_squared = larger(static_cast<double>(speed_squared), tally.max_speed_squared);
            if (!sane) tally.not_sane(speed_squared, slot);
        }
    };

    void step(const NearPairs& near, const NearPairs::Tile& tile, std::uint32_t first, std::uint32_t end);
    std::uint64_t meet_faces_of(const NearPairs::Tile& tile, std::uint32_t first);
    void move(std::uint32_t first, std::uint32_t end, std::uint64_t leaving, std::uint64_t held);

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
void TileStep<Kind>::move(std::uint32_t first, std::uint32_t end, std::uint64_t leaving, std::uint64_t held) {
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
    for (; held != 0; held &= held - 1) tally.moved(static_cast<std::uint32_t>(std::countr_zero(held)), Real(0), true);
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
        if (tally.sane[ball] == 0) tally_.not_sane(speed_squared, first + ball);
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
    std::uint64_t held = 0;
    work_.for_each_copy(end, [&](std::uint32_t i, std::uint32_t) { held |= std::uint64_t{1} << (i - first); });
    for (std::uint64_t balls = held; balls != 0; balls &= balls - 1) {
        const auto ball = static_cast<std::uint32_t>(std::countr_zero(balls));
        work_.forces.hold(ball, first, (leaving >> ball & 1U) == 0);
    }
    work_.total_forces();
    move(first, end, leaving, held);
    for (; leaving != 0; leaving &= leaving - 1) {
        const auto ball = static_cast<std::uint32_t>(std::countr_zero(leaving));
        const std::uint32_t slot = first + ball;
        leave<Kind>(work_.params, load_ball<Kind>(work_.params, work_.balls, slot), left_by_[ball], moved_, slot,
                    work_.balls.id[slot], tally_);
    }
}

// A thread's share of looking at the state between steps: the forces on the balls, tile by tile, since velocities are
// brought to the time of the positions by them, and sums over all balls, in SIMD lanes.

template <class Kind>
class TileLook {
public:
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;

    TileLook(const SpringParams<Real, kDim>& params, const BallsView<Real, kDim>& balls, const std::uint8_t* gone,
             std::uint64_t step, TileForces<Real, kDim>& forces, SlotRange mine,
             std::span<const PairLists::CopyPair> with_copies)
        : work_{params, balls, gone, forces, mine, with_copies},
          lag_(lag_at(params, step)),
          walls_time_(params.walls_time(step)) {}

    /// Adds all contacts of the thread's balls to `sums`, and calls f(slot, place, v) for each of its balls that is
    /// still in, v being its velocity now.
    template <class Find, class F>
    void run(const NearPairs& near, Find&& find, ContactSums& sums, F&& f) {
        work_.for_each_tile(near, find, [&](const NearPairs::Tile& tile, std::uint32_t first, std::uint32_t end) {
            feel_tile(near, tile, first, end, sums);
            for_each_ball(first, end, [&](std::uint32_t slot, const OwnBall<Kind>&, const Vec<Real, kDim>& v) {
                f(slot, place(slot), v);
            });
        });
    }

    /// Adds all that there is of the thread's balls to `sums`.
    template <class Find>
    void sum(const NearPairs& near, Find&& find, SpringSums& sums) {
        work_.for_each_tile(near, find, [&](const NearPairs::Tile& tile, std::uint32_t first, std::uint32_t end) {
            feel_tile(near, tile, first, end, sums.contact);
            sum_motion(first, end, sums.motion);
        });
    }

private:
    [[nodiscard]] OwnBall<Kind> load(std::uint32_t slot) const {
        return load_ball<Kind>(work_.params, work_.balls, slot);
    }
    [[nodiscard]] Place<Real, kDim> place(std::uint32_t slot) const {
        Vec<typename Phase<Real>::Stored, kDim> x;
        for (int axis = 0; axis < kDim; ++axis) x[axis] = work_.balls.x[axis][slot];
        return place_of(work_.params, x, work_.balls.cell[slot]);
    }

    /// Calls f(slot, ball, velocity now) for the balls that are still in, and takes the forces on them.
    template <class F>
    void for_each_ball(std::uint32_t first, std::uint32_t end, F&& f) {
        for (std::uint32_t slot = first; slot < end; ++slot) {
            Vec<Real, kDim> force;
            for (int axis = 0; axis < kDim; ++axis) {
                force[axis] = work_.force[axis][slot - first];
                work_.force[axis][slot - first] = Real(0);
            }
            if (work_.gone[work_.balls.id[slot]]) continue;
            const OwnBall<Kind> own = load(slot);
            f(slot, own, velocity_now<Kind>(lag_, own, force));
        }
    }

    void feel_tile(const NearPairs& near, const NearPairs::Tile& tile, std::uint32_t first, std::uint32_t end,
                   ContactSums& sums) {
        for (std::uint64_t balls = tile.near_faces; balls != 0; balls &= balls - 1) {
            const auto ball = static_cast<std::uint32_t>(std::countr_zero(balls));
            const std::uint32_t slot = first + ball;
            if (work_.gone[work_.balls.id[slot]]) continue;
            feel_walls<Kind>(work_.params, load(slot), place(slot).position, walls_time_, work_.forces.on(ball), sums);
        }
        const auto feel = [&](std::uint32_t i, std::uint32_t j) {
            const OwnBall<Kind> own = load(i);
            PairContact<Real, kDim> contact;
            Vec<Real, kDim> force;
            if (!touching<Kind>(work_.params, work_.balls, own, j, contact)) return;
            const bool fits = feel_ball<Kind>(work_.params, own, contact, force, sums);
            if (work_.mine.has(j)) feel_ball<Kind>(work_.params, own, contact, force, sums);  // the same from there
            if (fits) work_.add_force(first, i, j, force);
        };
        work_.for_each_touching(near, tile, feel);
        work_.for_each_copy(end, [&](std::uint32_t i, std::uint32_t j) {
            if (work_.both_in(i, j)) feel(i, j);
        });
        work_.total_forces();
    }

    void sum_motion(std::uint32_t first, std::uint32_t end, MotionSums& sums);

    TileWork<Kind> work_;
    const Lag<Real, kDim> lag_;
    const double walls_time_;
};

template <class Kind>
void TileLook<Kind>::sum_motion(std::uint32_t first, std::uint32_t end, MotionSums& sums) {
    const SpringParams<Real, kDim>& params = work_.params;
    std::uint32_t count = 0;  // of balls still in
    std::uint32_t mobile = 0;
    Real inverse_mass[kTile];
    Real v[kDim][kTile];
    double position[kDim][kTile];
    for_each_ball(first, end, [&](std::uint32_t slot, const OwnBall<Kind>& own, const Vec<Real, kDim>& velocity) {
        const Vec<double, kDim> where = place(slot).position;
        for (int axis = 0; axis < kDim; ++axis) {
            v[axis][count] = velocity[axis];
            position[axis][count] = where[axis];
        }
        inverse_mass[count] = own.inverse_mass;
        mobile += own.inverse_mass > Real(0) ? 1U : 0U;
        ++count;
    });
    double speed_squared[kTile];
    double kinetic[kTile];
    double gravitational[kTile];
    double momentum[3][kTile];
    double angular[3][kTile];
#pragma GCC ivdep
    for (std::uint32_t k = 0; k < count; ++k) {
        Vec<double, kDim> where;
        Vec<Real, kDim> velocity;
        for (int axis = 0; axis < kDim; ++axis) {
            where[axis] = position[axis][k];
            velocity[axis] = v[axis][k];
        }
        const MotionTerms terms = motion_terms(params, inverse_mass[k], where, velocity);
        speed_squared[k] = terms.speed_squared;
        kinetic[k] = terms.kinetic;
        gravitational[k] = terms.gravitational;
        for (int axis = 0; axis < 3; ++axis) {
            momentum[axis][k] = terms.momentum[axis];
            angular[axis][k] = terms.angular[axis];
        }
    }
    double fastest = 0.0;
    for (std::uint32_t k = 0; k < count; ++k) fastest = larger(speed_squared[k], fastest);
    sums.speed = larger(square_root(fastest), sums.speed);
    sums.balls += count;
    sums.mobile += mobile;
    sums.energies.add_all_clamped(params.observe.energy, 0, kinetic, count);
    sums.energies.add_all_clamped(params.observe.energy, 1, gravitational, count);
    for (int axis = 0; axis < kDim; ++axis) {
        sums.momentum.add_all_clamped(params.observe.momentum, axis, momentum[axis], count);
    }
    for (int axis = kDim == 2 ? 2 : 0; axis < 3; ++axis) {  // the others are zero
        sums.angular.add_all_clamped(params.observe.angular, axis, angular[axis], count);
    }
}

}  // namespace carom
