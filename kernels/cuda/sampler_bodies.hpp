#pragma once

#include <cstdint>

#include "kernels/cuda/atomics.hpp"
#include "kernels/cuda/ordering.hpp"
#include "kernels/sampling/ball_sampler.hpp"

// What one thread does of looking at balls for averages. Tables of sums are there several times, so that threads that
// add to the same place seldom meet; a last launch adds them up.

namespace carom::CAROM_PROCESSOR {

/// Thread i clears word i.
struct ClearBody {
    std::int64_t* words;

    CAROM_HD void operator()(std::uint64_t index) const { words[index] = 0; }
};

/// Thread i takes ball i. Reads Dim values a ball.
template <class Real>
struct FastestBody {
    SampledBalls<Real> balls;
    int dimension;
    std::uint64_t* fastest;  // bits of a square of a speed

    CAROM_HD void operator()(std::uint64_t id) const {
        if (balls.gone[id] == 0) raise_shared(fastest, to_bits(balls.speed_squared(id, dimension)));
    }
};

/// Thread i takes ball i, and table i modulo `tables`.
template <class Real>
struct SumBallsBody {
    SampledBalls<Real> balls;
    BallSums what;
    const std::uint8_t* chosen;
    std::uint32_t width;  // of a table
    std::uint32_t tables;
    std::int64_t* sums;      // table after table
    std::uint64_t* largest;  // bits of what BallSums::look returns

    CAROM_HD void operator()(std::uint64_t id) const {
        if (!balls.has(id, chosen)) return;
        std::int64_t* const table = sums + id % tables * width;
        add_shared(table + width - 1, std::int64_t{1});
        const double reach = what.look(
            balls, id, [table](std::uint32_t place, std::int64_t steps) { add_shared(table + place, steps); });
        raise_shared(largest, to_bits(reach));
    }
};

/// Thread i adds up place i of all tables, in the first one.
struct MergeTablesBody {
    std::int64_t* sums;
    std::uint64_t width;
    std::uint32_t tables;

    CAROM_HD void operator()(std::uint64_t place) const {
        std::int64_t sum = 0;
        for (std::uint32_t table = 0; table < tables; ++table) sum += sums[table * width + place];
        sums[place] = sum;
    }
};

/// What is counted before pairs are.
struct PairTally {
    std::int64_t others;
    std::int64_t others_inside;
    std::int64_t inner_references;
    std::int64_t squares;  ///< of how many balls are in a cell, over all cells
    std::int64_t references;
};

/// Thread i takes ball i: its key, and how it counts. Balls that are not among the others lie in a cell behind the
/// last.
template <class Real>
struct PairKeyBody {
    SampledBalls<Real> balls;
    PairOrder order;
    PairCells cells;
    const std::uint8_t* references;
    const std::uint8_t* others;
    std::uint64_t* key;
    PairTally* tally;

    CAROM_HD void operator()(std::uint64_t id) const {
        const bool other = balls.has(id, others);
        const bool first = balls.has(id, references);
        const bool inside = (other || first) && order.inside(balls, id);
        const auto cell = other ? cells.cell_of(balls, id) : static_cast<std::uint32_t>(cells.count());
        key[id] = sort_key(cell, static_cast<std::uint32_t>(id));
        if (other) add_shared(&tally->others, std::int64_t{1});
        if (other && inside) add_shared(&tally->others_inside, std::int64_t{1});
        if (first && inside) add_shared(&tally->inner_references, std::int64_t{1});
    }
};

/// Thread i takes slot i: whose it is, and where that ball is.
template <class Real>
struct PairSlotBody {
    SampledBalls<Real> balls;
    int dimension;
    const std::uint64_t* key;
    std::uint32_t* id;
    double* position[3];

    CAROM_HD void operator()(std::uint64_t slot) const {
        id[slot] = static_cast<std::uint32_t>(key[slot]);
        for (int axis = 0; axis < dimension; ++axis) position[axis][slot] = balls.position[axis][id[slot]];
    }
};

/// Thread i takes cell i.
struct CellSquareBody {
    const std::uint32_t* cell_start;
    PairTally* tally;

    CAROM_HD void operator()(std::uint64_t cell) const {
        const std::int64_t count = cell_start[cell + 1] - cell_start[cell];
        if (count > 0) add_shared(&tally->squares, count * count);
    }
};

/// Thread i takes the ball in slot i, so that threads beside each other look at the same balls.
template <class Real>
struct PairBody {
    SampledBalls<Real> balls;
    PairOrder order;
    PairCells cells;
    SortedPlaces places;
    const std::uint8_t* references;
    std::uint64_t stride;
    std::uint32_t tables;
    std::int64_t* pairs;
    PairTally* tally;

    CAROM_HD void operator()(std::uint64_t slot) const {
        const std::uint32_t id = places.id[slot];
        if (!order.has_turn(id, stride) || !balls.has(id, references) || !order.inside(balls, id)) return;
        add_shared(&tally->references, std::int64_t{1});
        Vec<double, 3> at = Vec<double, 3>::filled(0.0);
        for (int axis = 0; axis < order.dimension; ++axis) at[axis] = balls.position[axis][id];
        std::int64_t* const table = pairs + slot % tables * order.bins;
        look_around(order, cells, places, at, id,
                    [table](std::uint32_t bin) { add_shared(table + bin, std::int64_t{1}); });
    }
};

/// Thread i takes value i: a component of a followed ball.
template <class Real>
struct FollowBody {
    SampledBalls<Real> balls;
    const std::uint32_t* ids;
    std::uint64_t count;
    Followed what;
    Vec<double, 3> size;
    double* values;

    CAROM_HD void operator()(std::uint64_t index) const {
        const int axis = static_cast<int>(index / count);
        values[index] = balls.followed(ids[index % count], axis, what, size[axis]);
    }
};

}  // namespace carom::CAROM_PROCESSOR
