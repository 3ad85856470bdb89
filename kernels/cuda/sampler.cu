#include <algorithm>
#include <cstdint>

#include "kernels/cuda/ordering.hpp"
#include "kernels/cuda/queue.hpp"
#include "kernels/cuda/sampler.hpp"
#include "kernels/sampling/ball_sampler.hpp"

// What one thread does of looking at balls for averages. Tables of sums are there several times, so that threads that
// add to the same place seldom meet; a last launch adds them up.

namespace carom::CAROM_PROCESSOR {

/// Thread i clears word i.
struct ClearBody {
    std::int64_t* words;

    CAROM_HD void operator()(std::uint64_t index) const { words[index] = 0; }
};

/// Thread i takes ball i. Reads Dim values a ball, and its mass.
template <class Real>
struct LargestEnergyBody {
    SampledBalls<Real> balls;
    const std::uint8_t* chosen;
    int dimension;
    std::uint64_t* largest;  // bits of m v^2

    CAROM_HD void operator()(std::uint64_t id) const {
        if (balls.has(id, chosen)) raise_shared(largest, to_bits(balls.energy(id, dimension)));
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

/// Thread i takes ball i: its cell, and how it counts. Balls that are not among the others lie in a cell behind the
/// last.
template <class Real>
struct PairKeyBody {
    SampledBalls<Real> balls;
    PairOrder order;
    PairCells cells;
    const std::uint8_t* references;
    const std::uint8_t* others;
    CellOrder in_cells;
    PairTally* tally;

    CAROM_HD void operator()(std::uint64_t id) const {
        const bool other = balls.has(id, others);
        const bool first = balls.has(id, references);
        const bool inside = (other || first) && order.inside(balls, id);
        const auto cell = other ? cells.cell_of(balls, id) : static_cast<std::uint32_t>(cells.count());
        in_cells.put(static_cast<std::uint32_t>(id), cell);
        if (other) add_shared(&tally->others, std::int64_t{1});
        if (other && inside) add_shared(&tally->others_inside, std::int64_t{1});
        if (first && inside) add_shared(&tally->inner_references, std::int64_t{1});
    }
};

/// Thread i takes ball i: into its slot, with where it is.
template <class Real>
struct PairSlotBody {
    SampledBalls<Real> balls;
    int dimension;
    CellOrder in_cells;
    std::uint32_t* id_of_slot;
    double* position[3];

    CAROM_HD void operator()(std::uint64_t id) const {
        const std::uint32_t slot = in_cells.slot(static_cast<std::uint32_t>(id));
        id_of_slot[slot] = static_cast<std::uint32_t>(id);
        for (int axis = 0; axis < dimension; ++axis) position[axis][slot] = balls.position[axis][id];
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

namespace {

/// Words of all tables of a kind of sums, about.
constexpr std::size_t kTableWords = 1U << 16;
constexpr std::uint32_t kMostTables = 256;

template <class T>
void need(DeviceArray<T>& array, std::size_t size) {
    if (array.size() < size || array.size() == 0) array = DeviceArray<T>(size);
}

/// Copies aside and waits: pageable memory of the caller must not be read later.
template <class T>
void upload_now(Queue& queue, std::span<const T> from, DeviceArray<T>& to) {
    need(to, from.size());
    queue.upload(from.data(), to.data(), from.size());
    queue.wait();
}

}  // namespace

template <class Real>
std::uint32_t DeviceSampler<Real>::tables_of(std::size_t width) {
    return static_cast<std::uint32_t>(
        std::clamp<std::size_t>(kTableWords / std::max<std::size_t>(width, 1), 1, kMostTables));
}

template <class Real>
void DeviceSampler<Real>::look_at(SampledBalls<Real> balls, int dimension, const BallKinds& kinds) {
    if (peak_.size() == 0) {
        upload_now(queue_, kinds.species, species_);
        upload_now(queue_, kinds.mass, mass_);
        need(peak_, 1);
    }
    balls_ = balls;
    balls_.species = species_.data();
    balls_.mass = mass_.data();
    dimension_ = dimension;
    this->forget();
}

template <class Real>
double DeviceSampler<Real>::find_largest_energy(std::span<const std::uint8_t> chosen) {
    upload_now(queue_, chosen, chosen_);
    std::uint64_t peak = 0;
    queue_.upload(&peak, peak_.data(), 1);
    queue_.launch(balls_.count, LargestEnergyBody<Real>{balls_, chosen_.data(), dimension_, peak_.data()});
    queue_.download(peak_.data(), &peak, 1);
    queue_.wait();
    return from_bits(peak);
}

template <class Real>
double DeviceSampler<Real>::sums(const BallSums& what, std::span<const std::uint8_t> chosen,
                                 std::span<std::int64_t> sums) {
    const std::uint32_t tables = tables_of(sums.size());
    need(sums_, tables * sums.size());
    upload_now(queue_, chosen, chosen_);
    std::uint64_t peak = 0;
    queue_.upload(&peak, peak_.data(), 1);
    queue_.launch(tables * sums.size(), ClearBody{sums_.data()});
    const SumBallsBody<Real> body{balls_, what, chosen_.data(), what.width(), tables, sums_.data(), peak_.data()};
    queue_.launch(balls_.count, body);
    queue_.launch(sums.size(), MergeTablesBody{sums_.data(), sums.size(), tables});
    queue_.download(sums_.data(), sums.data(), sums.size());
    queue_.download(peak_.data(), &peak, 1);
    queue_.wait();
    return from_bits(peak);
}

template <class Real>
PairSample DeviceSampler<Real>::pairs(const PairOrder& order, std::span<const std::uint8_t> references,
                                      std::span<const std::uint8_t> others, std::span<std::int64_t> pairs) {
    const PairCells cells(order, balls_.count);
    const auto cell_count = static_cast<std::uint32_t>(cells.count());
    const std::uint32_t tables = tables_of(pairs.size());
    for (auto* const array : {&cell_, &place_, &id_of_slot_}) need(*array, balls_.count);
    for (int axis = 0; axis < dimension_; ++axis) need(position_[axis], balls_.count);
    need(cell_start_, std::size_t{cell_count} + 1);
    need(sums_, tables * pairs.size());
    need(tally_, sizeof(PairTally));
    upload_now(queue_, references, chosen_);
    upload_now(queue_, others, others_);

    PairTally here{};
    const CellOrder in_cells{cell_.data(), place_.data(), cell_start_.data()};
    auto* const tally = reinterpret_cast<PairTally*>(tally_.data());
    queue_.upload(&here, tally, 1);
    queue_.launch(balls_.count,
                  PairKeyBody<Real>{balls_, order, cells, chosen_.data(), others_.data(), in_cells, tally});
    order_by_cell(queue_, scratch_, in_cells, static_cast<std::uint32_t>(balls_.count), cell_count);
    PairSlotBody<Real> slots{balls_, dimension_, in_cells, id_of_slot_.data(), {}};
    SortedPlaces places{cell_start_.data(), id_of_slot_.data(), {}};
    for (int axis = 0; axis < dimension_; ++axis) {
        slots.position[axis] = position_[axis].data();
        places.position[axis] = position_[axis].data();
    }
    queue_.launch(balls_.count, slots);
    queue_.launch(cell_count, CellSquareBody{cell_start_.data(), tally});
    queue_.download(tally, &here, 1);
    queue_.wait();

    const std::uint64_t stride =
        cells.stride(order, static_cast<double>(here.squares), static_cast<double>(here.others),
                     static_cast<double>(here.inner_references), static_cast<double>(balls_.count));
    queue_.launch(tables * pairs.size(), ClearBody{sums_.data()});
    queue_.launch(balls_.count,
                  PairBody<Real>{balls_, order, cells, places, chosen_.data(), stride, tables, sums_.data(), tally});
    queue_.launch(pairs.size(), MergeTablesBody{sums_.data(), pairs.size(), tables});
    queue_.download(sums_.data(), pairs.data(), pairs.size());
    queue_.download(tally, &here, 1);
    queue_.wait();
    return {.references = static_cast<std::uint64_t>(here.references),
            .stride = stride,
            .others_inside = static_cast<std::uint64_t>(here.others_inside)};
}

template <class Real>
void DeviceSampler<Real>::follow(std::span<const std::uint32_t> ids, Followed what, std::span<const double> size,
                                 std::span<double> values) {
    upload_now(queue_, ids, followed_);
    need(values_, values.size());
    FollowBody<Real> body{balls_, followed_.data(), ids.size(), what, {}, values_.data()};
    for (std::size_t axis = 0; axis < size.size(); ++axis) body.size[static_cast<int>(axis)] = size[axis];
    queue_.launch(values.size(), body);
    queue_.download(values_.data(), values.data(), values.size());
    queue_.wait();
}

template <class Real>
std::uint64_t DeviceSampler<Real>::memory_bytes() const {
    std::uint64_t total = species_.bytes() + mass_.bytes() + chosen_.bytes() + others_.bytes() + sums_.bytes() +
                          peak_.bytes() + tally_.bytes() + cell_.bytes() + place_.bytes() + cell_start_.bytes() +
                          id_of_slot_.bytes() + followed_.bytes() + values_.bytes();
    for (const auto& position : position_) total += position.bytes();
    return total;
}

std::uint64_t sampler_bytes(std::size_t count, int dimension, bool pairs) {
    // Cells are about as many as balls.
    const std::uint64_t per_pair_ball =
        4 * sizeof(std::uint32_t) + static_cast<std::uint64_t>(dimension) * sizeof(double);
    return count * (sizeof(std::uint32_t) + (pairs ? per_pair_ball : 0)) + kTableWords * sizeof(std::int64_t);
}

template class DeviceSampler<float>;
template class DeviceSampler<double>;

}  // namespace carom::CAROM_PROCESSOR
