#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/engine_bodies.hpp"
#include "kernels/ranks/brick_parts.hpp"

// What one thread does with one ball where ranks share a run: when balls are dealt out, and when copies of them are
// brought up to date. The step itself is that of a run of one process.

namespace carom::CAROM_PROCESSOR {

/// Thread i takes value i.
template <class T>
struct FillBody {
    T* values;
    T value;

    CAROM_HD void operator()(std::uint64_t index) const { values[index] = value; }
};

template <int Dim>
using Images = Vec<std::int32_t*, Dim>;  // by slot, at the last sort

template <class Real, int Dim>
CAROM_HD BrickRecord<Real, Dim> record_of(const BallsView<Real, Dim>& balls, const Images<Dim>& image,
                                          std::uint32_t slot) {
    BrickRecord<Real, Dim> record{};
    for (int axis = 0; axis < Dim; ++axis) {
        record.x[axis] = balls.x[axis][slot];
        record.v[axis] = balls.v[axis][slot];
        record.image[axis] = image[axis][slot];
    }
    if (balls.radius != nullptr) {
        record.radius = balls.radius[slot];
        record.inverse_mass = balls.inverse_mass[slot];
    }
    record.id = balls.id[slot];
    record.cell = balls.cell[slot];
    return record;
}

template <class Real, int Dim>
CAROM_HD void put_record(const OrderedView<Real, Dim>& to, const Images<Dim>& image, std::uint32_t slot,
                         const BrickRecord<Real, Dim>& record) {
    for (int axis = 0; axis < Dim; ++axis) {
        to.x[axis][slot] = record.x[axis];
        to.v[axis][slot] = record.v[axis];
        image[axis][slot] = record.image[axis];
    }
    if (to.radius != nullptr) {
        to.radius[slot] = record.radius;
        to.inverse_mass[slot] = record.inverse_mass;
    }
    to.id[slot] = record.id;
    to.cell[slot] = record.cell;
}

/// A rank's brick, and its window's cells.
template <int Dim>
struct BrickView {
    Vec<std::int32_t, Dim> first;  // cells of the box
    Vec<std::int32_t, Dim> end;
    Vec<std::int32_t, Dim> offset;  // what makes cells of the window of them
    Vec<std::int32_t, Dim> cells;   // of the window, along each axis

    CAROM_HD bool has(const Vec<std::int32_t, Dim>& cell) const {
        bool inside = true;
        for (int axis = 0; axis < Dim; ++axis) {
            inside = inside && cell[axis] >= first[axis] && cell[axis] < end[axis];
        }
        return inside;
    }
    /// Whether a cell of the brick lies beside one of another rank's: whether the window goes on there.
    [[nodiscard]] CAROM_HD bool at_border(const Vec<std::int32_t, Dim>& cell) const {
        bool beside = false;
        for (int axis = 0; axis < Dim; ++axis) {
            const std::int32_t here = cell[axis] + offset[axis];
            beside = beside || (cell[axis] == first[axis] && here > 0) ||
                     (cell[axis] == end[axis] - 1 && here < cells[axis] - 1);
        }
        return beside;
    }
    [[nodiscard]] CAROM_HD std::uint32_t number(const Vec<std::int32_t, Dim>& cell) const {
        Grid<Dim> window{};
        window.cells = cells;
        return window.number(cell + offset);
    }
    [[nodiscard]] CAROM_HD std::uint32_t nowhere() const {
        Grid<Dim> window{};
        window.cells = cells;
        return window.count();
    }
};

/// Thread i takes slot i: the ball's new cell, how often it has crossed a periodic face since the last sort, and
/// whether it is another rank's from now on.
template <class Real, int Dim>
struct DealBody {
    SpringParams<Real, Dim> params;
    StateView<Real, Dim> state;
    Images<Dim> image;
    std::uint32_t* cell;  // of the box
    BrickView<Dim> brick;
    CellOrder order;        // by cells of the window
    std::uint32_t* moving;  // slots of those that are another rank's, in any order
    std::uint32_t* count;   // of them

    CAROM_HD void operator()(std::uint64_t index) const {
        const auto slot = static_cast<std::uint32_t>(index);
        if (state.gone[state.balls.id[slot]] != 0) {
            order.put(slot, brick.nowhere());
            return;
        }
        Vec<typename Phase<Real>::Stored, Dim> x;
        for (int axis = 0; axis < Dim; ++axis) x[axis] = state.balls.x[axis][slot];
        auto wide = wide_position(params, x, params.grid.cell(state.balls.cell[slot]));
        for (int axis = 0; axis < Dim; ++axis) image[axis][slot] += params.coordinates.wrap(axis, wide[axis]);
        const auto now = params.grid.cell_of(wide);
        cell[slot] = params.grid.number(now);
        if (brick.has(now)) {
            order.put(slot, brick.number(now));
        } else {
            order.put(slot, brick.nowhere());
            moving[next_shared(count)] = slot;
        }
    }
};

/// Thread i takes ball i of those that go.
template <class Real, int Dim>
struct LeaveBrickBody {
    BallsView<Real, Dim> balls;
    Images<Dim> image;
    const std::uint32_t* moving;
    BrickRecord<Real, Dim>* records;

    CAROM_HD void operator()(std::uint64_t index) const { records[index] = record_of(balls, image, moving[index]); }
};

/// Thread i takes ball i of those that come, into slots behind those that are there.
template <class Real, int Dim>
struct JoinBrickBody {
    Grid<Dim> grid;
    BrickView<Dim> brick;
    const BrickRecord<Real, Dim>* records;
    std::uint32_t first;
    OrderedView<Real, Dim> to;
    Images<Dim> image;
    CellOrder order;

    CAROM_HD void operator()(std::uint64_t index) const {
        const auto slot = first + static_cast<std::uint32_t>(index);
        put_record(to, image, slot, records[index]);
        order.put(slot, brick.number(grid.cell(records[index].cell)));
    }
};

/// As ReorderBody, where the order is of the window's cells and what is kept is of the box's.
template <class Real, int Dim>
struct ReorderBrickBody {
    ReorderBody<Real, Dim> reorder;
    Images<Dim> image_from;
    Images<Dim> image_to;

    CAROM_HD void operator()(std::uint64_t index) const {
        reorder(index);
        const std::uint32_t slot = reorder.order.slot(static_cast<std::uint32_t>(index));
        reorder.to.cell[slot] = reorder.from.cell[index];
        for (int axis = 0; axis < Dim; ++axis) image_to[axis][slot] = image_from[axis][index];
    }
};

/// A cell whose balls a neighbour has copies of.
struct BorderCell {
    std::uint32_t here;   // cell of the window
    std::uint32_t there;  // of the neighbour's
    std::uint32_t neighbour;
};

/// A ball in a message.
struct Passenger {
    std::uint32_t slot;
    std::uint32_t neighbour;
};

/// Thread i takes border cell i: how many balls it has. None are behind the last.
struct CountBorderBody {
    const BorderCell* cells;
    std::uint32_t count;
    const std::uint32_t* start;
    std::uint32_t* balls;

    CAROM_HD void operator()(std::uint64_t index) const {
        balls[index] = index < count ? start[cells[index].here + 1] - start[cells[index].here] : 0;
    }
};

/// Thread i takes border cell i: lists its balls, and what becomes copies of them.
template <class Real, int Dim>
struct CopyBorderBody {
    const BorderCell* cells;
    const std::uint32_t* start;
    const std::uint32_t* balls_before;  // in the cells before
    BallsView<Real, Dim> balls;
    Images<Dim> image;
    Passenger* sent;
    BrickRecord<Real, Dim>* records;

    CAROM_HD void operator()(std::uint64_t index) const {
        const BorderCell cell = cells[index];
        std::uint32_t at = balls_before[index];
        for (std::uint32_t slot = start[cell.here]; slot < start[cell.here + 1]; ++slot, ++at) {
            sent[at] = {slot, cell.neighbour};
            records[at] = record_of(balls, image, slot);
            records[at].cell = cell.there;
        }
    }
};

/// Thread i takes copy i, in the order in which they came.
template <class Real, int Dim>
struct CellOfCopyBody {
    const BrickRecord<Real, Dim>* records;
    CellOrder order;

    CAROM_HD void operator()(std::uint64_t index) const {
        order.put(static_cast<std::uint32_t>(index), records[index].cell);
    }
};

/// The same, when they are in order.
template <class Real, int Dim>
struct PlaceCopyBody {
    CellOrder order;
    const BrickRecord<Real, Dim>* records;
    std::uint32_t first_copy;
    OrderedView<Real, Dim> to;
    Images<Dim> image;
    Passenger* received;

    CAROM_HD void operator()(std::uint64_t index) const {
        const std::uint32_t slot = first_copy + order.slot(static_cast<std::uint32_t>(index));
        put_record(to, image, slot, records[index]);
        received[index].slot = slot;
    }
};

/// Thread i takes group i of slots, behind ListGroupBody: those that may reach a copy have a step apart, too.
template <class Real, int Dim>
struct BorderGroupBody {
    Grid<Dim> grid;
    BrickView<Dim> brick;
    const std::uint32_t* cell;  // of the box
    ControlRecord<Real, Dim>* record;
    NearLists lists;

    CAROM_HD void operator()(std::uint64_t index) const {
        const auto group = static_cast<std::uint32_t>(index);
        std::uint32_t at_borders = 0;
        for (std::uint32_t lane = 0; lane < kGroup && group * kGroup + lane < record->active; ++lane) {
            if (brick.at_border(grid.cell(cell[group * kGroup + lane]))) at_borders |= 1U << lane;
        }
        lists.add_faces(group, at_borders & ~lists.at_faces[group], &record->face_balls);
    }
};

/// Where balls lie in the messages to, or from, all neighbours: one message behind another, each with a header.
struct MessageView {
    const Passenger* balls;
    std::byte* bytes;
    std::uint32_t bytes_a_ball;
    bool places;
    bool velocities;

    CAROM_HD std::byte* of(std::uint64_t index) const {
        return bytes + (balls[index].neighbour + 1) * sizeof(BrickHeader) + index * bytes_a_ball;
    }
};

/// Thread i takes ball i of the messages: reads 8 bytes and what is sent, and writes that.
template <class Real, int Dim>
struct PackBody {
    MessageView message;
    BallsView<Real, Dim> from;

    CAROM_HD void operator()(std::uint64_t index) const {
        const std::uint32_t slot = message.balls[index].slot;
        std::byte* to = message.of(index);
        if (message.places) {
            auto* const x = reinterpret_cast<typename Phase<Real>::Stored*>(to);
            for (int axis = 0; axis < Dim; ++axis) x[axis] = from.x[axis][slot];
            to += Dim * sizeof(x[0]);
        }
        if (message.velocities) {
            auto* const v = reinterpret_cast<Real*>(to);
            for (int axis = 0; axis < Dim; ++axis) v[axis] = from.v[axis][slot];
        }
    }
};

/// The same the other way.
template <class Real, int Dim>
struct UnpackBody {
    MessageView message;
    OrderedView<Real, Dim> to;

    CAROM_HD void operator()(std::uint64_t index) const {
        const std::uint32_t slot = message.balls[index].slot;
        const std::byte* from = message.of(index);
        if (message.places) {
            const auto* const x = reinterpret_cast<const typename Phase<Real>::Stored*>(from);
            for (int axis = 0; axis < Dim; ++axis) to.x[axis][slot] = x[axis];
            from += Dim * sizeof(x[0]);
        }
        if (message.velocities) {
            const auto* const v = reinterpret_cast<const Real*>(from);
            for (int axis = 0; axis < Dim; ++axis) to.v[axis][slot] = v[axis];
        }
    }
};

/// Thread i takes slot i: from one place to another, and by its id whether the ball is gone, to or from its slot.
template <class Real, int Dim>
struct KeepBody {
    BallsView<Real, Dim> from;
    MovedView<Real, Dim> to;  // gone: by id
    std::uint8_t* kept_gone;  // by slot; null: none can go
    bool back;

    CAROM_HD void operator()(std::uint64_t index) const {
        for (int axis = 0; axis < Dim; ++axis) {
            to.x[axis][index] = from.x[axis][index];
            to.v[axis][index] = from.v[axis][index];
        }
        if (kept_gone == nullptr) return;
        std::uint8_t& gone = to.gone[from.id[index]];
        if (back) {
            gone = kept_gone[index];
        } else {
            kept_gone[index] = gone;
        }
    }
};

/// Thread i takes slot i: the ball as rank 0 wants it; with no ball's id, where it is gone.
template <class Kind>
struct BrickFrameBody {
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;

    SpringParams<Real, kDim> params;
    StateView<Real, kDim> state;
    const ControlRecord<Real, kDim>* record;
    Images<kDim> image;
    FrameBall* balls;
    bool raw;

    CAROM_HD void operator()(std::uint64_t index) const {
        const auto slot = static_cast<std::uint32_t>(index);
        FrameBall ball{};
        ball.id = ~std::uint32_t{0};
        if (state.gone[state.balls.id[slot]] == 0) {
            const BallNow<Kind> now = BallNow<Kind>::of(params, state, record->step, slot, raw);
            ball.id = state.balls.id[slot];
            for (int axis = 0; axis < kDim; ++axis) {
                ball.position[axis] = now.place.position[axis];
                ball.velocity[axis] = static_cast<double>(now.v[axis]);
                ball.image[axis] = image[axis][slot] + now.place.crossings[axis];
            }
        }
        balls[index] = ball;
    }
};

/// Thread i takes slot i: adds the work that the ball is to that of its cells along each axis, in halves of a pair.
template <class Kind>
struct WorkBody {
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;

    SpringParams<Real, kDim> params;
    StateView<Real, kDim> state;
    std::uint64_t* work;  // of the cells along the first axis, then along the second, ...

    CAROM_HD void operator()(std::uint64_t index) const {
        const auto slot = static_cast<std::uint32_t>(index);
        const std::uint64_t of_ball = 2 * kWorkOfBall + count_near<Kind, true>(params, state, slot);
        const Vec<std::int32_t, kDim> place = params.grid.cell(state.balls.cell[slot]);
        std::uint64_t* along = work;
        for (int axis = 0; axis < kDim; ++axis) {
            add_shared(&along[place[axis]], of_ball);
            along += params.grid.cells[axis];
        }
    }
};

}  // namespace carom::CAROM_PROCESSOR
