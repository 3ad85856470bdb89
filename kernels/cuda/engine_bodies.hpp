#pragma once

#include <cstdint>

#include "kernels/core/fixed_sum.hpp"
#include "kernels/cuda/ordering.hpp"
#include "kernels/cuda/queue.hpp"
#include "kernels/spring_observe.hpp"
#include "kernels/spring_params.hpp"
#include "kernels/spring_refresh.hpp"
#include "kernels/spring_step.hpp"

namespace carom::CAROM_PROCESSOR {

/// What walls and sources of heat get in a step.
struct StepCounts {
    std::int64_t impulse[kWallNumbers];  ///< in units of impulse_grid
    std::int64_t heat[kHeatSources];     ///< in units of heat_grid
};

/// What steers a run from the device: the host puts many steps into the queue and looks at this afterwards. Once a
/// step shows a fault or makes a sort due, `halted` turns the steps still queued into nothing.
template <class Real, int Dim>
struct ControlRecord {
    using Word = typename Phase<Real>::Stored;  // bits of a Real

    std::uint64_t step;  ///< steps done since the start of the run
    std::uint32_t halted;
    std::uint32_t active;        ///< balls still in; their slots come first
    std::uint64_t rows;          ///< that the lists of this sort take; more than there is room for: they are not there
    std::uint32_t face_balls;    ///< how many NearLists::at_faces tells of
    std::uint32_t sorts;         ///< that crews have done; see small_system.hpp
    StepNow<Real, Dim> nows[2];  ///< of the next step, and while it is done of the one behind it, by step % 2
    double motion;               ///< bound on how far any ball has moved since the sort [length]
    double last_motion;          ///< the last step's share of it [length]

    // What many write while others read the above, which stays in their processors' caches only if it lies elsewhere.
    alignas(kCacheLine) std::uint64_t fault_key;
    std::uint64_t balls_left;    ///< since the start of this engine
    Word max_overlap;            ///< bits; since the start of this engine
    Word largest_speed_squared;  ///< bits; of this step
    Word crew_speed_squared[3];  ///< bits; of a step of a crew, by step % 3, and 0 for the one behind it
    std::uint32_t tickets;       ///< blocks that have ended this step
    StepCounts counts[2];        ///< of this step; those of a crew, of which it may still count the last, by step % 2
    WideCount impulse[kWallNumbers];  ///< since the start of this engine
    WideCount heat[kHeatSources];     ///< since the start of this engine

    [[nodiscard]] CAROM_HD const StepNow<Real, Dim>& now() const { return nows[step % 2]; }
};

/// More than the bits of any speed.
template <class Word>
constexpr Word kFaultySpeed = ~Word{0};

/// What one thread counts in a step.
/// \tparam kMarks  whether its peaks tell of a fault, for a crew; others can do without the register
template <class Real, int Dim, bool kMarks = false>
struct DeviceTally {
    using Word = typename Phase<Real>::Stored;

    ControlRecord<Real, Dim>* record;
    const std::uint32_t* id;
    StepCounts* counts;
    Real max_overlap = Real(0);
    Real speed_squared = Real(0);
    bool faulty = false;

    CAROM_HD void fault(SpringFault::Kind kind, std::uint32_t slot, std::uint32_t other) {
        lower_shared(&record->fault_key, FaultKey::pack(kind, id[slot], other));
        if constexpr (kMarks) faulty = true;
    }
    CAROM_HD void overlap(Real fraction) { max_overlap = larger(fraction, max_overlap); }
    CAROM_HD void wall_impulse(std::int32_t wall, std::int64_t steps) { add_shared(&counts->impulse[wall], steps); }
    CAROM_HD void heat(int source, std::int64_t steps) { add_shared(&counts->heat[source], steps); }
    CAROM_HD void moved(std::uint32_t slot, Real speed_squared_, bool sane) {
        if (sane) {
            speed_squared = speed_squared_;
            return;
        }
        const bool number = speed_squared_ == speed_squared_;
        fault(number ? SpringFault::Kind::kTooFast : SpringFault::Kind::kNotANumber, slot, 0);
    }
    CAROM_HD void left(std::uint8_t* gone, std::uint32_t ball) {
        gone[ball] = 1;
        add_shared(&record->balls_left, std::uint64_t{1});
    }

    /// With a fault, the speed is above all others: so those who see but the largest know of it.
    [[nodiscard]] CAROM_HD StepPeaks<Word> peaks() const {
        return {faulty ? kFaultySpeed<Word> : to_bits(speed_squared), to_bits(max_overlap)};
    }
};

template <class Real, int Dim>
CAROM_HD void offer_peaks(ControlRecord<Real, Dim>& record, const StepPeaks<typename Phase<Real>::Stored>& peaks) {
    raise_shared(&record.largest_speed_squared, peaks.speed_squared);
    raise_shared(&record.max_overlap, peaks.overlap);
}

/// Behind a step, what has been counted by walls and sources of heat: by those of the numbers `first`, `first + apart`,
/// ... \param fault  whether the step had one: then it does not count
template <class Real, int Dim>
CAROM_HD void count_step(const SpringParams<Real, Dim>& params, ControlRecord<Real, Dim>& record, StepCounts& counts,
                         bool fault, int wall_numbers, int first, int apart) {
    for (int wall = first; wall < wall_numbers; wall += apart) {
        const std::int64_t impulse = load_shared(&counts.impulse[wall]);
        if (impulse == 0) continue;
        counts.impulse[wall] = 0;
        if (!fault) record.impulse[wall].add(impulse);
    }
    for (int source = first; params.refreshes() && source < kHeatSources; source += apart) {
        const std::int64_t heat = load_shared(&counts.heat[source]);
        if (heat == 0) continue;
        counts.heat[source] = 0;
        if (!fault) record.heat[source].add(heat);
    }
}

/// While a step is done, by one thread: what the next will need.
template <class Real, int Dim>
CAROM_HD void prepare_step(const SpringParams<Real, Dim>& params, ControlRecord<Real, Dim>& record,
                           std::uint64_t next) {
    record.nows[next % 2] = step_now(params, next);
}

/// Ends a step, in one thread: counts it as done, or halts.
template <class Real, int Dim>
CAROM_HD void close_step(const SpringParams<Real, Dim>& params, ControlRecord<Real, Dim>& record, bool fault) {
    const Real fastest = from_bits(load_shared(&record.largest_speed_squared));
    const double before = record.motion;
    const std::uint64_t step = record.step;
    read_here(before, step);
    record.largest_speed_squared = 0;
    record.tickets = 0;
    if (fault) {
        record.halted = 1;
        return;
    }
    const double moved = motion_bound(params, static_cast<double>(square_root(fastest)));
    record.last_motion = moved;
    record.motion = before + moved;
    record.halted = sort_due(params, before + moved) ? 1 : 0;
    record.step = step + 1;
}

/// Ends a step, in `threads` of a warp: counts it, and closes it.
template <class Real, int Dim>
CAROM_HD void end_step(const SpringParams<Real, Dim>& params, ControlRecord<Real, Dim>& record, int wall_numbers,
                       int thread, int threads) {
    const bool fault = load_shared(&record.fault_key) != FaultKey::kNone;
    count_step(params, record, record.counts[0], fault, wall_numbers, thread, threads);
    if (thread == 0) close_step(params, record, fault);
}

// What one thread does with one ball in a step, and when one looks at the state. Thread i takes slot i: neighbouring
// threads read neighbouring balls of one row of cells.

/// Where balls are found by cell: in the cells of the box, or, where ranks share a run, of a brick's window.
template <int Dim>
struct SearchView {
    Vec<std::int32_t, Dim> cells;  // along each axis
    Vec<bool, Dim> periodic;
    Vec<std::int32_t, Dim> offset;      // what makes cells of the window of cells of the box
    std::uint32_t first_copy;           // slot of the first copy of a neighbour's ball
    const std::uint32_t* start;         // first slot of each cell, and of the limbo behind them
    const std::uint32_t* copies_start;  // the same for copies, counted from first_copy; null: there are none
};

/// Calls f(j) with the slots of all balls in the cells around that of `slot` at the last sort, itself left out.
/// \tparam kShared  false: there is but the whole box, which is known at once
template <int Dim, bool kShared = true>
struct CellWalk {
    Grid<Dim> window;
    SearchView<Dim> search;
    Vec<std::int32_t, Dim> cell;  // of the box
    std::uint32_t slot;

    template <class F>
    CAROM_HD void operator()(F&& f) const {
        window.for_each_range(kShared ? cell + search.offset : cell, [&](std::uint32_t first, std::uint32_t last) {
            std::uint32_t j = search.start[first];
            std::uint32_t end = search.start[last];
            // A loop, so that f, which is inlined and large, stands here once.
            for (bool copies = kShared && search.copies_start != nullptr;; copies = false) {
                for (; j < end; ++j) {
                    if (j != slot) f(j);
                }
                if (!copies) return;
                j = search.first_copy + search.copies_start[first];
                end = search.first_copy + search.copies_start[last];
            }
        });
    }
    template <class Own, class F>
    CAROM_HD void operator()(const Own&, F&& f) const {
        (*this)(f);
    }
};

/// The rows of a group's lists.
struct RowRange {
    std::uint32_t begin;
    std::uint32_t end;
};

/// For each slot the balls within the margin at the last sort: all that it can touch before the next. The lists of a
/// group of slots are as long as its longest, and lie side by side in rows, so that a warp reads a row at once.
struct NearLists {
    RowRange* rows;  ///< of each group
    /// Of each group a bit for each slot that may reach a face or a wall, or, where ranks share a run, what another
    /// rank has.
    std::uint32_t* at_faces;
    std::uint32_t* face_slot;  ///< those slots, in any order; see ControlRecord::face_balls
    std::uint32_t* entry;      ///< kGroup in a row: slots; beyond the end of a list, the one whose list it is
    std::uint32_t room;        ///< rows that `entry` has room for

    CAROM_HD std::uint32_t& at(std::uint32_t row, std::uint32_t slot) const {
        return entry[static_cast<std::size_t>(row) * kGroup + slot % kGroup];
    }
    /// Of a group, that these more of its slots may reach a face.
    CAROM_HD void add_faces(std::uint32_t group, std::uint32_t more, std::uint32_t* face_balls) const {
        at_faces[group] |= more;
        if (more == 0) return;
        std::uint32_t place = next_shared(face_balls, bits_set(more));
        for (; more != 0; more &= more - 1) face_slot[place++] = group * kGroup + lowest_bit(more);
    }
};

/// The list of a slot as it lies in its group's rows.
template <class Real, int Dim>
struct ListRows {
    const NearLists& lists;
    std::uint32_t slot;
    std::uint32_t begin;
    std::uint32_t end;

    static constexpr std::uint32_t kAtOnce = sizeof(Real) == 8 && Dim == 2 ? 3 : 4;
    static constexpr bool kEndless = false;

    CAROM_HD std::uint32_t at(std::uint32_t row) const { return lists.at(row, slot); }
};

/// Calls f(j) with what a slot touches. First it looks at the whole list, at which all threads of a warp stay together,
/// and then at what it found there, which is one ball or two: contacts take long, and few threads come upon theirs in
/// the same row.
/// \tparam Rows  at(k), from `begin` to `end`, are those of the list, and the slot itself beyond the end of the list;
///               kAtOnce: so many reads are under way together, which take far longer than the rest; kEndless: beyond
///               `end` there is the slot itself, too, else nothing to be read
template <class Kind, class Balls, class Rows>
struct ListWalk {
    using Real = typename Kind::Real;

    const SpringParams<Real, Kind::kDim>& params;
    const Balls& balls;
    Rows rows;
    std::uint32_t slot;

    template <class F>
    CAROM_HD void operator()(const OwnBall<Kind>& own, F&& f) const {
        constexpr std::uint32_t kAtOnce = Rows::kAtOnce;
        constexpr std::uint32_t kBits = 32 / kAtOnce * kAtOnce;
        for (std::uint32_t first = rows.begin; first < rows.end; first += kBits) {
            const std::uint32_t count = rows.end - first < kBits ? rows.end - first : kBits;
            std::uint32_t found = 0;
            for (std::uint32_t row = 0; row < count; row += kAtOnce) {
                std::uint32_t others[kAtOnce];
                for (std::uint32_t k = 0; k < kAtOnce; ++k) {
                    others[k] = rows.at(first + (Rows::kEndless || row + k < count ? row + k : row));
                }
                for (std::uint32_t k = 0; k < kAtOnce; ++k) {
                    // No branch, so that nothing waits for another's.
                    const bool touches = near<Kind>(params, balls, own, others[k], Real(0));
                    found |= static_cast<std::uint32_t>(touches & (others[k] != slot) & (row + k < count)) << (row + k);
                }
            }
            for (; found != 0; found &= found - 1) f(rows.at(first + lowest_bit(found)));
        }
    }
};

/// Reads at once where the list is, and the ball.
template <class Kind>
CAROM_HD ListWalk<Kind, BallsView<typename Kind::Real, Kind::kDim>, ListRows<typename Kind::Real, Kind::kDim>>
walk_list(const SpringParams<typename Kind::Real, Kind::kDim>& params,
          const BallsView<typename Kind::Real, Kind::kDim>& balls, const NearLists& lists, std::uint32_t slot) {
    const RowRange rows = lists.rows[slot / kGroup];
    const OwnBall<Kind> own = load_ball<Kind>(params, balls, slot);
    read_here(rows.begin, rows.end);
    for (int axis = 0; axis < Kind::kDim; ++axis) read_here(own.x[axis], own.v[axis]);
    return {params, balls, {lists, slot, rows.begin, rows.end}, slot};
}

/// Whether there is any face or wall that balls can reach, or leave by.
template <class Real, int Dim>
CAROM_HD bool has_faces(const SpringParams<Real, Dim>& params) {
    return params.boundary_count + params.thermal_count > 0 || params.open != 0;
}

/// Whether a ball that was sorted into this cell may reach a face or a wall before the next sort.
template <class Real, int Dim>
CAROM_HD bool near_faces(const SpringParams<Real, Dim>& params, const Vec<std::int32_t, Dim>& cell) {
    return has_faces(params) && (params.has_shapes || !params.grid.interior(cell));
}

/// The balls as all bodies read them.
template <class Real, int Dim>
struct StateView {
    BallsView<Real, Dim> balls;
    SearchView<Dim> search;
    const std::uint8_t* gone;  // by id

    /// \param grid  of the box
    template <bool kShared = true>
    CAROM_HD CellWalk<Dim, kShared> walk(const Grid<Dim>& grid, std::uint32_t slot) const {
        Grid<Dim> window = grid;
        if constexpr (kShared) {
            window.cells = search.cells;
            window.periodic = search.periodic;
        }
        return {window, search, grid.cell(balls.cell[slot]), slot};
    }
};

/// One step of the ball in `slot`. Reads its own state (2D single precision: 24 bytes; 3D: 32), its list, and the
/// positions of those in it, mostly from cache, and writes 16 (24).
/// \tparam kListed  whether there are lists; else it looks at all balls of the cells around its own
/// \tparam kFaces   false: balls that may reach a face are left to FaceStepBody, for whose sake all threads would
/// otherwise need a third more registers
/// \param now, counts  of this step, in the record
template <class Kind, bool kListed, bool kFaces>
CAROM_HD StepPeaks<typename Phase<typename Kind::Real>::Stored> step_slot(
    const SpringParams<typename Kind::Real, Kind::kDim>& params,
    const StateView<typename Kind::Real, Kind::kDim>& state, const NearLists& lists,
    const MovedView<typename Kind::Real, Kind::kDim>& out, ControlRecord<typename Kind::Real, Kind::kDim>* record,
    const StepNow<typename Kind::Real, Kind::kDim>& now, StepCounts& counts, std::uint32_t slot) {
    DeviceTally<typename Kind::Real, Kind::kDim, kListed && kFaces> tally{record, state.balls.id, &counts};
    // `now` is read where it is needed, not kept in registers through the search for contacts.
    if constexpr (kListed) {
        // What each thread waits for is memory, so everything whose place is known is asked for together.
        const std::uint32_t at_faces = lists.at_faces[slot / kGroup];
        read_here(at_faces);
        const auto neighbours = walk_list<Kind>(params, state.balls, lists, slot);
        const bool at_face = (at_faces >> slot % kGroup & 1U) != 0;
        if (!kFaces && at_face) return {};
        spring_step<Kind>(params, now, state.balls, out, slot, kFaces && at_face, neighbours, tally);
    } else {
        const CellWalk<Kind::kDim> neighbours = state.walk(params.grid, slot);
        spring_step<Kind>(params, now, state.balls, out, slot, near_faces(params, neighbours.cell), neighbours, tally);
    }
    return tally.peaks();
}

/// Thread i takes slot i.
template <class Kind, bool kListed, bool kFaces>
struct StepBody {
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;
    using Word = typename Phase<Real>::Stored;
    // See kBlocksOfLaunch; as many as need no spills (tests/unit/ptxas_report_test.cpp). Most balls have the kind
    // without faces.
    static constexpr bool kSingle = sizeof(Real) == 4;
    static constexpr bool kFlat = kDim == 2;
    static constexpr int kBlocks =
        kListed && !kFaces ? (kSingle ? (kFlat && !Kind::kDamped ? 5 : 4) : (kFlat && !Kind::kDamped ? 3 : 2))
        : kSingle && (kFlat || (kListed && !Kind::kDamped)) ? 3
                                                            : 2;

    SpringParams<Real, kDim> params;
    StateView<Real, kDim> state;
    NearLists lists;
    MovedView<Real, kDim> out;
    ControlRecord<Real, kDim>* record;
    int wall_numbers;
    bool ends;  // else EndStepBody ends the step

    CAROM_HD bool idle() const {
        const std::uint32_t active = record->active;
        read_here(active);  // beside the other, for operator()
        return record->halted != 0;
    }
    CAROM_HD void prepare() const { prepare_step(params, *record, record->step + 1); }
    CAROM_HD StepPeaks<Word> operator()(std::uint64_t index) const {
        if (index >= record->active) return {};
        return step_slot<Kind, kListed, kFaces>(params, state, lists, out, record, record->now(), record->counts[0],
                                                static_cast<std::uint32_t>(index));
    }
    CAROM_HD void offer(const StepPeaks<Word>& peaks) const { offer_peaks(*record, peaks); }
    CAROM_HD std::uint32_t* tickets() const { return &record->tickets; }
    CAROM_HD void finish(int thread, int threads) const {
        if (ends) end_step(params, *record, wall_numbers, thread, threads);
    }
};

/// Behind a step of several launches, of which none ends it.
template <class Real, int Dim>
struct EndStepBody {
    SpringParams<Real, Dim> params;
    ControlRecord<Real, Dim>* record;
    int wall_numbers;

    CAROM_HD void operator()(std::uint64_t) const {
        if (record->halted == 0) end_step(params, *record, wall_numbers, 0, 1);
    }
};

/// Beside a StepBody that leaves them out: the step of the balls that may reach a face or a wall, or what another rank
/// has. Each thread takes some, `threads` apart.
template <class Kind>
struct FaceStepBody {
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;
    using Word = typename Phase<Real>::Stored;

    SpringParams<Real, kDim> params;
    StateView<Real, kDim> state;
    NearLists lists;
    MovedView<Real, kDim> out;
    ControlRecord<Real, kDim>* record;
    int wall_numbers;
    bool ends;  // as there
    std::uint32_t threads;

    CAROM_HD bool idle() const {
        const std::uint32_t balls = record->face_balls;
        read_here(balls);  // beside the other, for operator()
        return record->halted != 0;
    }
    CAROM_HD void prepare() const {}  // the other does
    CAROM_HD StepPeaks<Word> operator()(std::uint64_t index) const {
        StepPeaks<Word> peaks;
        for (auto at = static_cast<std::uint32_t>(index); at < record->face_balls; at += threads) {
            const std::uint32_t slot = lists.face_slot[at];
            DeviceTally<Real, kDim> tally{record, state.balls.id, &record->counts[0]};
            const auto neighbours = walk_list<Kind>(params, state.balls, lists, slot);
            spring_step<Kind>(params, record->now(), state.balls, out, slot, true, neighbours, tally);
            peaks.raise(tally.peaks());
        }
        return peaks;
    }
    CAROM_HD void offer(const StepPeaks<Word>& peaks) const { offer_peaks(*record, peaks); }
    CAROM_HD std::uint32_t* tickets() const { return &record->tickets; }
    CAROM_HD void finish(int thread, int threads_) const {
        if (ends) end_step(params, *record, wall_numbers, thread, threads_);
    }
};

/// Before a step, where velocities are drawn anew: that of the ball in `slot`. Few have anything to do.
template <class Kind>
CAROM_HD StepPeaks<typename Phase<typename Kind::Real>::Stored> refresh_slot(
    const SpringParams<typename Kind::Real, Kind::kDim>& params,
    const StateView<typename Kind::Real, Kind::kDim>& state, const Vec<typename Kind::Real*, Kind::kDim>& velocity,
    ControlRecord<typename Kind::Real, Kind::kDim>* record, std::uint64_t step, StepCounts& counts,
    std::uint32_t slot) {
    const CellWalk<Kind::kDim> neighbours = state.walk(params.grid, slot);
    const bool near_walls = near_faces(params, neighbours.cell);
    if (!near_walls && !thermostat_acts(params, step)) return {};
    DeviceTally<typename Kind::Real, Kind::kDim, true> tally{record, state.balls.id, &counts};
    refresh_ball<Kind>(params, state.balls, state.gone, velocity, step, slot, near_walls, neighbours, tally);
    return tally.peaks();
}

/// Thread i takes slot i.
template <class Kind>
struct RefreshBody {
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;

    SpringParams<Real, kDim> params;
    StateView<Real, kDim> state;
    Vec<Real*, kDim> velocity;
    ControlRecord<Real, kDim>* record;

    CAROM_HD void operator()(std::uint64_t index) const {
        if (record->halted != 0 || index >= record->active) return;
        refresh_slot<Kind>(params, state, velocity, record, record->step, record->counts[0],
                           static_cast<std::uint32_t>(index));
    }
};

/// Thread i takes slot i: between two steps, other velocities. Reads and writes what a frame has of velocities.
template <class Kind>
struct ChangeVelocityBody {
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;

    SpringParams<Real, kDim> params;
    StateView<Real, kDim> state;
    Vec<Real*, kDim> velocity;
    VelocityChange change;

    CAROM_HD void operator()(std::uint64_t index) const {
        const auto slot = static_cast<std::uint32_t>(index);
        if (state.gone[state.balls.id[slot]] != 0) return;
        if (!(inverse_mass_of<Kind>(params, state.balls, slot) > Real(0))) return;
        for (int axis = 0; axis < kDim; ++axis) {
            velocity[axis][slot] = static_cast<Real>(change.of(axis, static_cast<double>(velocity[axis][slot])));
        }
    }
};

// Sums over all balls. Thread i of `parts` takes the slots i, i + parts, i + 2 parts, ...; any partition gives the same
// sums. In two launches, so that what each adds up stays in registers. (Not thrust::transform_reduce: it keeps many of
// these sums a thread, in 8 kB of local memory.)

/// What contacts add, and the balls' velocities at the time of their positions.
template <class Kind>
struct ObserveContactsBody {
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;
    static constexpr int kBlocks = sizeof(Real) == 8 && kDim == 3 ? 1 : kBlocksOfLaunch;  // needs more registers

    SpringParams<Real, kDim> params;
    StateView<Real, kDim> state;
    const ControlRecord<Real, kDim>* record;
    std::uint64_t parts;
    SpringSums* sums;  // one a thread
    Vec<Real*, kDim> velocity_now;

    CAROM_HD void operator()(std::uint64_t part) const {
        ContactSums total = ContactSums::zero();
        for (std::uint64_t index = part; index < record->active; index += parts) {
            const auto slot = static_cast<std::uint32_t>(index);
            if (state.gone[state.balls.id[slot]] != 0) continue;
            const auto v =
                observe_contacts<Kind>(params, state.balls, slot, record->step, state.walk(params.grid, slot), total);
            for (int axis = 0; axis < kDim; ++axis) velocity_now[axis][slot] = v[axis];
        }
        sums[part].contact = total;
    }
};

/// What places and velocities add, behind ObserveContactsBody.
template <class Kind>
struct ObserveMotionBody {
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;

    SpringParams<Real, kDim> params;
    StateView<Real, kDim> state;
    const ControlRecord<Real, kDim>* record;
    std::uint64_t parts;
    SpringSums* sums;
    Vec<Real*, kDim> velocity_now;

    CAROM_HD void operator()(std::uint64_t part) const {
        MotionSums total = MotionSums::zero();
        for (std::uint64_t index = part; index < record->active; index += parts) {
            const auto slot = static_cast<std::uint32_t>(index);
            if (state.gone[state.balls.id[slot]] != 0) continue;
            Vec<Real, kDim> v;
            for (int axis = 0; axis < kDim; ++axis) v[axis] = velocity_now[axis][slot];
            observe_motion<Kind>(params, state.balls, slot, v, total);
        }
        sums[part].motion = total;
    }
};

/// Threads i and kept + i of 2 `kept` add the sums i + kept, i + 2 kept, ... to sum i, each one part of them.
struct MergeSumsBody {
    SpringSums* sums;
    std::uint64_t parts;
    std::uint64_t kept;

    CAROM_HD void operator()(std::uint64_t index) const {
        if (index < kept) {
            merge(&SpringSums::contact, index);
        } else {
            merge(&SpringSums::motion, index - kept);
        }
    }

private:
    template <class Sums>
    CAROM_HD void merge(Sums SpringSums::*which, std::uint64_t part) const {
        Sums total = sums[part].*which;
        for (std::uint64_t other = part + kept; other < parts; other += kept) total.merge(sums[other].*which);
        sums[part].*which = total;
    }
};

/// A frame on its way to the host, in id order. One block of memory, so that it is one copy.
template <class Real, int Dim>
struct FrameView {
    Vec<double*, Dim> position;
    Vec<Real*, Dim> velocity;
    Vec<std::int32_t*, Dim> image;
    std::uint8_t* gone;

    static constexpr std::size_t kBytesPerBall = Dim * (sizeof(double) + sizeof(Real) + sizeof(std::int32_t)) + 1;

    FrameView() = default;
    FrameView(unsigned char* memory, std::size_t count) {
        for (int axis = 0; axis < Dim; ++axis) position[axis] = take<double>(memory, count);
        for (int axis = 0; axis < Dim; ++axis) velocity[axis] = take<Real>(memory, count);
        for (int axis = 0; axis < Dim; ++axis) image[axis] = take<std::int32_t>(memory, count);
        gone = memory;
    }

private:
    // Wider values come first, so each part is aligned for any count.
    template <class T>
    static T* take(unsigned char*& memory, std::size_t count) {
        T* place = reinterpret_cast<T*>(memory);
        memory += count * sizeof(T);
        return place;
    }
};

/// Thread i takes ball i: says whether it is gone and how often it had crossed by the last sort; none for one that is
/// gone, since when that was must not show.
template <class Real, int Dim>
struct FrameByIdBody {
    const std::uint8_t* gone;
    Vec<const std::int32_t*, Dim> image;
    FrameView<Real, Dim> frame;

    CAROM_HD void operator()(std::uint64_t id) const {
        frame.gone[id] = gone[id];
        for (int axis = 0; axis < Dim; ++axis) frame.image[axis][id] = gone[id] != 0 ? 0 : image[axis][id];
    }
};

/// Where a ball that is in stands, and its velocity, brought to that time unless the raw state is wanted.
template <class Kind>
struct BallNow {
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;

    Place<Real, kDim> place;
    Vec<Real, kDim> v;

    CAROM_HD static BallNow of(const SpringParams<Real, kDim>& params, const StateView<Real, kDim>& state,
                               std::uint64_t step, std::uint32_t slot, bool raw) {
        const OwnBall<Kind> own = load_ball<Kind>(params, state.balls, slot);
        BallNow now{place_of(params, own.x, state.balls.cell[slot]), own.v};
        if (!raw && step > 0 && params.lag > Real(0)) {
            ContactSums unused = ContactSums::zero();
            const auto force = feel<Kind>(params, state.balls, own, now.place.position, params.walls_time(step),
                                          state.walk(params.grid, slot), unused);
            now.v = velocity_now<Kind>(lag_at(params, step), own, force);
        }
        return now;
    }
};

/// Thread i takes slot i, behind FrameByIdBody: position and velocity of a ball that is in, the velocity brought to
/// the time of the position unless the raw state is wanted.
template <class Kind>
struct FrameBySlotBody {
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;

    SpringParams<Real, kDim> params;
    StateView<Real, kDim> state;
    FrameView<Real, kDim> frame;
    const ControlRecord<Real, kDim>* record;
    bool raw;

    CAROM_HD void operator()(std::uint64_t index) const {
        if (index >= record->active) return;
        const auto slot = static_cast<std::uint32_t>(index);
        const std::uint32_t id = state.balls.id[slot];
        if (state.gone[id] != 0) return;
        const BallNow<Kind> now = BallNow<Kind>::of(params, state, record->step, slot, raw);
        for (int axis = 0; axis < kDim; ++axis) {
            frame.position[axis][id] = now.place.position[axis];
            frame.velocity[axis][id] = now.v[axis];
            frame.image[axis][id] += now.place.crossings[axis];
        }
    }
};

// What one thread does with one ball when balls are brought into the order of their cells.

/// Where a sort writes: everything that is kept in cell order.
template <class Real, int Dim>
struct OrderedView {
    Vec<typename Phase<Real>::Stored*, Dim> x;
    Vec<Real*, Dim> v;
    Real* radius;  // null where uniform
    Real* inverse_mass;
    std::uint32_t* id;
    std::uint32_t* cell;
};

/// The same, to be read.
template <class Real, int Dim>
CAROM_HD BallsView<Real, Dim> read_only(const OrderedView<Real, Dim>& view) {
    BallsView<Real, Dim> balls;
    for (int axis = 0; axis < Dim; ++axis) {
        balls.x[axis] = view.x[axis];
        balls.v[axis] = view.v[axis];
    }
    balls.radius = view.radius;
    balls.inverse_mass = view.inverse_mass;
    balls.id = view.id;
    balls.cell = view.cell;
    return balls;
}

/// Thread i takes ball i of a state that comes from the host.
template <class Real, int Dim>
struct LoadBody {
    SpringParams<Real, Dim> params;
    FrameView<Real, Dim> given;
    OrderedView<Real, Dim> out;  // slot = id
    Vec<std::int32_t*, Dim> image;
    std::uint8_t* gone;
    CellOrder order;

    CAROM_HD void operator()(std::uint64_t index) const {
        const auto id = static_cast<std::uint32_t>(index);
        gone[id] = given.gone[id];
        Vec<std::int64_t, Dim> wide;
        for (int axis = 0; axis < Dim; ++axis) {
            const double position = gone[id] != 0 ? params.box_min[axis] : given.position[axis][id];
            wide[axis] = params.coordinates.from_position(axis, position);
            image[axis][id] = given.image[axis][id] + params.coordinates.wrap(axis, wide[axis]);
            out.x[axis][id] = Coordinates<Real, Dim>::narrow(wide[axis]);
            out.v[axis][id] = given.velocity[axis][id];
        }
        order.put(id, gone[id] != 0 ? params.grid.count() : params.grid.number(params.grid.cell_of(wide)));
        out.id[id] = id;
    }
};

/// The cell that the ball in `slot` is in now, or the number behind them all for one that is gone; and counts how often
/// it has crossed a periodic face since the last sort.
template <class Real, int Dim>
CAROM_HD std::uint32_t new_cell(const SpringParams<Real, Dim>& params, const StateView<Real, Dim>& state,
                                const Vec<std::int32_t*, Dim>& image, std::uint32_t slot) {
    const std::uint32_t id = state.balls.id[slot];
    if (state.gone[id] != 0) return params.grid.count();
    Vec<typename Phase<Real>::Stored, Dim> x;
    for (int axis = 0; axis < Dim; ++axis) x[axis] = state.balls.x[axis][slot];
    auto wide = wide_position(params, x, params.grid.cell(state.balls.cell[slot]));
    for (int axis = 0; axis < Dim; ++axis) {
        const std::int32_t crossings = params.coordinates.wrap(axis, wide[axis]);
        if (crossings != 0) image[axis][id] += crossings;
    }
    return params.grid.number(params.grid.cell_of(wide));
}

/// Thread i takes slot i.
template <class Real, int Dim>
struct NewCellBody {
    SpringParams<Real, Dim> params;
    StateView<Real, Dim> state;
    Vec<std::int32_t*, Dim> image;  // by id
    CellOrder order;

    CAROM_HD void operator()(std::uint64_t index) const {
        const auto slot = static_cast<std::uint32_t>(index);
        order.put(slot, new_cell(params, state, image, slot));
    }
};

/// Brings the ball of an old slot to a new one, in `cell`.
template <class Real, int Dim>
CAROM_HD void move_ball(const BallsView<Real, Dim>& from, std::uint32_t old, const OrderedView<Real, Dim>& to,
                        std::uint32_t slot, std::uint32_t cell) {
    for (int axis = 0; axis < Dim; ++axis) {
        to.x[axis][slot] = from.x[axis][old];
        to.v[axis][slot] = from.v[axis][old];
    }
    if (to.radius != nullptr) {
        to.radius[slot] = from.radius[old];
        to.inverse_mass[slot] = from.inverse_mass[old];
    }
    to.id[slot] = from.id[old];
    to.cell[slot] = cell;
}

/// Thread i brings the ball in slot i to its new one.
template <class Real, int Dim>
struct ReorderBody {
    CellOrder order;
    BallsView<Real, Dim> from;
    OrderedView<Real, Dim> to;

    CAROM_HD void operator()(std::uint64_t index) const {
        const auto old = static_cast<std::uint32_t>(index);
        move_ball(from, old, to, order.slot(old), order.cell[old]);
    }
};

/// One thread, behind a sort, before lists.
template <class Real, int Dim>
struct SortedBody {
    ControlRecord<Real, Dim>* record;
    const std::uint32_t* limbo_start;

    CAROM_HD void operator()(std::uint64_t) const {
        record->active = *limbo_start;
        record->rows = 0;
        record->face_balls = 0;
        record->motion = 0.0;
        record->halted = 0;
    }
};

/// How far beyond touching the balls are that a list holds [length]: with the rounding of their distance.
template <class Real, int Dim>
CAROM_HD Real list_skin(const SpringParams<Real, Dim>& params) {
    const auto diameter = static_cast<double>(params.largest_diameter);
    return static_cast<Real>((params.margin + diameter) * (1.0 + 1e-6)) - params.largest_diameter;
}

/// Calls visit() with the slot of each ball near that of `slot`, as the lists mean it.
/// \tparam kShared  as CellWalk
template <class Kind, bool kShared, class Visit>
CAROM_HD void visit_near(const SpringParams<typename Kind::Real, Kind::kDim>& params,
                         const StateView<typename Kind::Real, Kind::kDim>& state, std::uint32_t slot,
                         const Visit& visit) {
    const OwnBall<Kind> own = load_ball<Kind>(params, state.balls, slot);
    const auto skin = list_skin(params);
    state.template walk<kShared>(params.grid, slot)([&](std::uint32_t j) {
        if (near<Kind>(params, state.balls, own, j, skin)) visit(j);
    });
}

/// How many are near the ball in `slot`. \tparam kShared  as CellWalk
template <class Kind, bool kShared>
CAROM_HD std::uint32_t count_near(const SpringParams<typename Kind::Real, Kind::kDim>& params,
                                  const StateView<typename Kind::Real, Kind::kDim>& state, std::uint32_t slot) {
    std::uint32_t found = 0;
    visit_near<Kind, kShared>(params, state, slot, [&](std::uint32_t) { ++found; });
    return found;
}

/// What a group's threads find before they know where to write it: so many of each list.
class FoundNear {
public:
    static constexpr std::uint32_t kMost = 8;

#if defined(__CUDA_ARCH__)
    CAROM_HD std::uint32_t& at(std::uint32_t /*lane*/, std::uint32_t k) const {
        __shared__ std::uint32_t s_found[kMost][kBlockThreads];
        return s_found[k][threadIdx.x];
    }
#else
    CAROM_HD std::uint32_t& at(std::uint32_t lane, std::uint32_t k) { return found_[k][lane]; }

private:
    std::uint32_t found_[kMost][kGroup];
#endif
};

/// Behind a sort, for a group: writes its lists, and tells who may reach a face. Where there is not room for all lists,
/// the run halts until there is. Who is near is looked up once, but for lists of more than FoundNear has room for.
template <class Kind, bool kShared>
CAROM_HD void list_group(const SpringParams<typename Kind::Real, Kind::kDim>& params,
                         const StateView<typename Kind::Real, Kind::kDim>& state,
                         ControlRecord<typename Kind::Real, Kind::kDim>& record, const NearLists& lists,
                         std::uint32_t group) {
    const std::uint32_t first = group * kGroup;
    const std::uint32_t active = record.active;
    FoundNear nearby;
    Lanes<std::uint32_t> found;
    each_lane([&](std::uint32_t lane) {
        std::uint32_t count = 0;
        if (first + lane < active) {
            visit_near<Kind, kShared>(params, state, first + lane, [&](std::uint32_t j) {
                if (count < FoundNear::kMost) nearby.at(lane, count) = j;
                ++count;
            });
        }
        found[lane] = count;
    });
    const std::uint32_t rows = largest_of_lanes([&](std::uint32_t lane) { return found[lane]; });
    const std::uint32_t at_faces = lanes_where([&](std::uint32_t lane) {
        const std::uint32_t slot = first + lane;
        return slot < active && near_faces(params, params.grid.cell(state.balls.cell[slot])) &&
               (params.has_shapes || near_face(params, state.balls, slot, params.margin));
    });
    const std::uint64_t begin = once_for_lanes([&] {
        const std::uint64_t before = next_shared(&record.rows, std::uint64_t{rows});
        const bool fits = before + rows <= lists.room;
        if (!fits) raise_unread(&record.halted, std::uint32_t{1});  // others may say so, too
        const auto row = static_cast<std::uint32_t>(fits ? before : 0);
        lists.rows[group] = {row, fits ? row + rows : row};
        lists.at_faces[group] = 0;
        lists.add_faces(group, at_faces, &record.face_balls);
        return before;
    });
    if (begin + rows > lists.room) return;
    each_lane([&](std::uint32_t lane) {
        auto row = static_cast<std::uint32_t>(begin);
        const std::uint32_t end = row + rows;
        const auto write = [&](std::uint32_t j) { lists.at(row++, lane) = j; };
        if (found[lane] <= FoundNear::kMost) {
            for (std::uint32_t k = 0; k < found[lane]; ++k) write(nearby.at(lane, k));
        } else {
            visit_near<Kind, kShared>(params, state, first + lane, write);
        }
        while (row < end) write(first + lane);
    });
}

/// The threads of group i take that group.
template <class Kind, bool kShared>
struct ListGroupBody {
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;
    static constexpr int kBlocks = 4;  // see kBlocksOfLaunch

    SpringParams<Real, kDim> params;
    StateView<Real, kDim> state;
    ControlRecord<Real, kDim>* record;
    NearLists lists;

    CAROM_HD void operator()(std::uint64_t group) const {
        list_group<Kind, kShared>(params, state, *record, lists, static_cast<std::uint32_t>(group));
    }
};

/// One thread: lets a run that halted at a fault try again.
template <class Real, int Dim>
struct ClearFaultBody {
    ControlRecord<Real, Dim>* record;

    CAROM_HD void operator()(std::uint64_t) const {
        record->fault_key = FaultKey::kNone;
        record->halted = 0;
    }
};

// What one thread writes of one ball for a renderer.

/// Thread i takes ball i: hides it where it is gone. Reads one byte a ball.
struct HideGoneBody {
    const std::uint8_t* gone;
    PictureArrays to;

    CAROM_HD void operator()(std::uint64_t id) const {
        if (gone[id] != 0) hide_ball(to, id);
    }
};

/// Thread i takes cell i of those around balls.
struct ClearAroundBody {
    AroundWords* around;

    CAROM_HD void operator()(std::uint64_t cell) const { around[cell] = {}; }
};

/// Thread i takes slot i: reads what a step reads and adds 11 integers at most to those of its cell.
template <class Kind>
struct SumAroundBody {
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;

    SpringParams<Real, kDim> params;
    StateView<Real, kDim> state;
    const ControlRecord<Real, kDim>* record;
    PictureOrder order;
    AroundWords* around;

    CAROM_HD void operator()(std::uint64_t index) const {
        if (index >= record->active) return;
        const auto slot = static_cast<std::uint32_t>(index);
        if (state.gone[state.balls.id[slot]] != 0) return;
        sum_around<Kind>(params, state.balls, slot, record->step, state.walk(params.grid, slot), order, around,
                         [](std::int64_t* place, std::int64_t value) { add_shared(place, value); });
    }
};

/// Thread i takes cell i: what colours the balls about its middle.
struct AroundValueBody {
    PictureOrder order;
    ObserveGrids grids;
    const AroundWords* around;
    float* values;

    CAROM_HD void operator()(std::uint64_t cell) const {
        values[cell] = around_value(order, grids, around, static_cast<std::int64_t>(cell));
    }
};

/// Thread i takes slot i: reads what a step reads and writes 20 bytes a ball, at its id.
template <class Kind>
struct DrawBody {
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;

    SpringParams<Real, kDim> params;
    StateView<Real, kDim> state;
    const ControlRecord<Real, kDim>* record;
    PictureOrder order;
    const float* given;
    PictureArrays to;

    CAROM_HD void operator()(std::uint64_t index) const {
        if (index >= record->active) return;
        const auto slot = static_cast<std::uint32_t>(index);
        if (state.gone[state.balls.id[slot]] != 0) return;
        draw_ball<Kind>(params, state.balls, slot, record->step, state.walk(params.grid, slot), order, given, to);
    }
};

/// Thread i takes entry i of the sample.
struct SampleBody {
    const float* values;
    std::uint64_t balls;
    std::uint64_t entries;
    float* sample;

    CAROM_HD void operator()(std::uint64_t entry) const { sample[entry] = values[sampled_ball(entry, entries, balls)]; }
};

}  // namespace carom::CAROM_PROCESSOR
