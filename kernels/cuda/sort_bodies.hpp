#pragma once

#include <cstdint>

#include "kernels/cuda/ordering.hpp"
#include "kernels/cuda/step_bodies.hpp"

// What one thread does with one ball when balls are brought into the order of their cells.

namespace carom::CAROM_PROCESSOR {

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

/// Thread i takes ball i of a state that comes from the host.
template <class Real, int Dim>
struct LoadBody {
    SpringParams<Real, Dim> params;
    FrameView<Real, Dim> given;
    OrderedView<Real, Dim> out;  // slot = id
    Vec<std::int32_t*, Dim> image;
    std::uint8_t* gone;
    std::uint32_t* slot_of_id;
    std::uint64_t* key;

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
        slot_of_id[id] = id;
        key[id] = sort_key(gone[id] != 0 ? params.grid.count() : params.grid.number(params.grid.cell_of(wide)), id);
    }
};

/// Thread i takes slot i: the ball's new cell, and how often it has crossed a periodic face since the last sort.
template <class Real, int Dim>
struct NewCellBody {
    SpringParams<Real, Dim> params;
    StateView<Real, Dim> state;
    Vec<std::int32_t*, Dim> image;  // by id
    std::uint64_t* key;

    CAROM_HD void operator()(std::uint64_t index) const {
        const auto slot = static_cast<std::uint32_t>(index);
        const std::uint32_t id = state.balls.id[slot];
        if (state.gone[id] != 0) {
            key[slot] = sort_key(params.grid.count(), id);
            return;
        }
        Vec<typename Phase<Real>::Stored, Dim> x;
        for (int axis = 0; axis < Dim; ++axis) x[axis] = state.balls.x[axis][slot];
        auto wide = wide_position(params, x, params.grid.cell(state.balls.cell[slot]));
        for (int axis = 0; axis < Dim; ++axis) {
            const std::int32_t crossings = params.coordinates.wrap(axis, wide[axis]);
            if (crossings != 0) image[axis][id] += crossings;
        }
        key[slot] = sort_key(params.grid.number(params.grid.cell_of(wide)), id);
    }
};

/// Thread i takes new slot i and fetches its ball from the old one.
template <class Real, int Dim>
struct ReorderBody {
    const std::uint64_t* key;  // sorted
    BallsView<Real, Dim> from;
    OrderedView<Real, Dim> to;
    std::uint32_t* slot_of_id;

    CAROM_HD void operator()(std::uint64_t index) const {
        const auto slot = static_cast<std::uint32_t>(index);
        const auto id = static_cast<std::uint32_t>(key[slot]);
        const std::uint32_t old = slot_of_id[id];
        slot_of_id[id] = slot;
        for (int axis = 0; axis < Dim; ++axis) {
            to.x[axis][slot] = from.x[axis][old];
            to.v[axis][slot] = from.v[axis][old];
        }
        if (to.radius != nullptr) {
            to.radius[slot] = from.radius[old];
            to.inverse_mass[slot] = from.inverse_mass[old];
        }
        to.id[slot] = id;
        to.cell[slot] = static_cast<std::uint32_t>(key[slot] >> 32);
    }
};

/// One thread, behind a sort.
template <class Real, int Dim>
struct SortedBody {
    ControlRecord<Real, Dim>* record;
    const std::uint32_t* limbo_start;

    CAROM_HD void operator()(std::uint64_t) const {
        record->active = *limbo_start;
        record->motion = 0.0;
        record->halted = 0;
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

}  // namespace carom::CAROM_PROCESSOR
