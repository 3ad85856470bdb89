#pragma once

#include <cstdint>

#include "kernels/cuda/control_record.hpp"
#include "kernels/spring_observe.hpp"
#include "kernels/spring_refresh.hpp"
#include "kernels/spring_step.hpp"

// What one thread does with one ball in a step, and when one looks at the state. Thread i takes slot i: neighbouring
// threads read neighbouring balls of one row of cells.

namespace carom::CAROM_PROCESSOR {

/// Calls f(j) with the slots of all balls in the cells around that of `slot` at the last sort, itself left out.
template <int Dim>
struct CellWalk {
    const Grid<Dim>& grid;
    const std::uint32_t* cell_start;
    Vec<std::int32_t, Dim> cell;
    std::uint32_t slot;

    template <class F>
    CAROM_HD void operator()(F&& f) const {
        grid.for_each_range(cell, [&](std::uint32_t first, std::uint32_t last) {
            const std::uint32_t end = cell_start[last];
            for (std::uint32_t j = cell_start[first]; j < end; ++j) {
                if (j != slot) f(j);
            }
        });
    }
};

/// The balls as all bodies read them.
template <class Real, int Dim>
struct StateView {
    BallsView<Real, Dim> balls;
    const std::uint32_t* cell_start;  // first slot of each cell, and of the limbo behind them
    const std::uint8_t* gone;         // by id

    CAROM_HD CellWalk<Dim> walk(const Grid<Dim>& grid, std::uint32_t slot) const {
        return {grid, cell_start, grid.cell(balls.cell[slot]), slot};
    }
};

/// One step of one ball. Reads its own state (2D single precision: 24 bytes; 3D: 32) and the neighbours' positions,
/// mostly from cache, and writes 16 (24): with the cell starts some 44 (62) bytes of memory traffic a ball.
template <class Kind>
struct StepBody {
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;
    using Word = typename Phase<Real>::Stored;
    static constexpr int kBlocks = sizeof(Real) == 4 ? 3 : 2;  // see kBlocksOfLaunch; enough registers for all kinds

    SpringParams<Real, kDim> params;
    StateView<Real, kDim> state;
    MovedView<Real, kDim> out;
    ControlRecord<Real, kDim>* record;
    int wall_numbers;

    CAROM_HD bool idle() const { return record->halted != 0; }
    CAROM_HD StepPeaks<Word> operator()(std::uint64_t index) const {
        if (index >= record->active) return {};
        const auto slot = static_cast<std::uint32_t>(index);
        const CellWalk<kDim> neighbours = state.walk(params.grid, slot);
        const bool near_faces = params.has_shapes || !params.grid.interior(neighbours.cell);
        DeviceTally<Real, kDim> tally{record, state.balls.id};
        // record->now is read where it is needed, not kept in registers through the search for contacts.
        spring_step<Kind>(params, record->now, state.balls, out, slot, near_faces, neighbours, tally);
        return tally.peaks();
    }
    CAROM_HD void offer(const StepPeaks<Word>& peaks) const {
        raise_shared(&record->largest_speed_squared, peaks.speed_squared);
        raise_shared(&record->max_overlap, peaks.overlap);
    }
    CAROM_HD std::uint32_t* tickets() const { return &record->tickets; }
    CAROM_HD void finish() const { end_step(params, *record, wall_numbers); }
};

/// Before a step, where velocities are drawn anew. Thread i takes slot i; few have anything to do.
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
        const auto slot = static_cast<std::uint32_t>(index);
        const CellWalk<kDim> neighbours = state.walk(params.grid, slot);
        const bool near_walls = params.has_shapes || !params.grid.interior(neighbours.cell);
        if (!near_walls && !thermostat_acts(params, record->step)) return;
        DeviceTally<Real, kDim> tally{record, state.balls.id};
        refresh_ball<Kind>(params, state.balls, state.gone, velocity, record->step, slot, near_walls, neighbours,
                           tally);
    }
};

/// Thread i of `parts` sums over the slots i, i + parts, i + 2 parts, ... Any partition gives the same sums.
/// (Not thrust::transform_reduce: it keeps many of these 200-byte sums a thread, in 8 kB of local memory.)
template <class Kind>
struct ObserveBody {
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;

    SpringParams<Real, kDim> params;
    StateView<Real, kDim> state;
    const ControlRecord<Real, kDim>* record;
    std::uint64_t parts;
    SpringSums* sums;  // one a thread

    CAROM_HD void operator()(std::uint64_t part) const {
        SpringSums total = SpringSums::zero();
        for (std::uint64_t index = part; index < record->active; index += parts) {
            const auto slot = static_cast<std::uint32_t>(index);
            if (state.gone[state.balls.id[slot]] != 0) continue;
            observe<Kind>(params, state.balls, slot, record->step, state.walk(params.grid, slot), total);
        }
        sums[part] = total;
    }
};

/// Thread i of `kept` adds the sums i + kept, i + 2 kept, ... to sum i.
struct MergeSumsBody {
    SpringSums* sums;
    std::uint64_t parts;
    std::uint64_t kept;

    CAROM_HD void operator()(std::uint64_t part) const {
        SpringSums total = sums[part];
        for (std::uint64_t other = part + kept; other < parts; other += kept) total.merge(sums[other]);
        sums[part] = total;
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
        const OwnBall<Kind> own = load_ball<Kind>(params, state.balls, slot);
        const auto place = place_of(params, own.x, state.balls.cell[slot]);
        Vec<Real, kDim> v = own.v;
        if (!raw && record->step > 0 && params.lag > Real(0)) {
            SpringSums unused = SpringSums::zero();
            const auto force = feel<Kind>(params, state.balls, own, place.position, params.walls_time(record->step),
                                          state.walk(params.grid, slot), unused);
            v = velocity_now<Kind>(lag_at(params, record->step), own, force);
        }
        for (int axis = 0; axis < kDim; ++axis) {
            frame.position[axis][id] = place.position[axis];
            frame.velocity[axis][id] = v[axis];
            frame.image[axis][id] += place.crossings[axis];
        }
    }
};

}  // namespace carom::CAROM_PROCESSOR
