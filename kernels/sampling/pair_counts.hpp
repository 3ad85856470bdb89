#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/arithmetic.hpp"
#include "kernels/core/vec.hpp"
#include "kernels/sampling/ball_sums.hpp"

// Pairs of balls by their distance, at one time, counted: integers, so that the order does not matter.

namespace carom {

/// What pairs are counted: of a reference with each other ball nearer than `reach`, in equal bins of the distance.
/// References are balls in an inner part of the box.
struct PairOrder {
    int dimension = 2;
    Vec<double, 3> low{}, size{};  ///< of the box [length]
    bool periodic[3] = {};
    double reach = 0.0;  ///< [length]
    std::uint32_t bins = 1;
    Vec<double, 3> inner_low{}, inner_high{};
    double most_looks = 0.0;  ///< other balls looked at, per ball of the run: beyond that not every reference counts
    std::uint64_t turn = 0;   ///< which of them do, in this sample

    template <class Real>
    CAROM_HD bool inside(const SampledBalls<Real>& balls, std::uint64_t id) const {
        for (int axis = 0; axis < dimension; ++axis) {
            const double at = balls.position[axis][id];
            if (!(at >= inner_low[axis] && at <= inner_high[axis])) return false;
        }
        return true;
    }
    /// \param stride  of the references one in so many counts, told by its id
    CAROM_HD bool has_turn(std::uint64_t id, std::uint64_t stride) const { return (id + turn) % stride == 0; }
};

/// What was counted beside the pairs.
struct PairSample {
    std::uint64_t references = 0;     ///< whose pairs were counted
    std::uint64_t stride = 1;         ///< for how many each of them stands
    std::uint64_t others_inside = 0;  ///< other balls in the inner part of the box
};

/// Cells at least `reach` wide, so that all balls within reach of a point are in the cells around it. There are at most
/// about as many of them as balls.
struct PairCells {
    int dimension = 2;
    bool periodic[3] = {};
    Vec<double, 3> low{}, half{}, per_length{};
    std::uint32_t cells[3] = {1, 1, 1};

    PairCells() = default;
    PairCells(const PairOrder& order, std::uint64_t balls) : dimension(order.dimension) {
        constexpr double kMostCells = 1 << 20;  // along an axis, so that their product is a number
        for (int axis = 0; axis < dimension; ++axis) {
            periodic[axis] = order.periodic[axis];
            low[axis] = order.low[axis];
            half[axis] = 0.5 * order.size[axis];
            const double fit = std::floor(order.size[axis] / order.reach);
            cells[axis] = static_cast<std::uint32_t>(larger(1.0, smaller(fit, kMostCells)));
        }
        // Where balls are few the cells are wider than they must be, the more there are of them along an axis the
        // sooner.
        constexpr std::uint64_t kSpare = 64;
        while (count() > balls + kSpare) {
            std::uint32_t* longest = cells;
            for (std::uint32_t& along : cells) longest = along > *longest ? &along : longest;
            *longest = (*longest + 1) / 2;
        }
        for (int axis = 0; axis < dimension; ++axis) per_length[axis] = cells[axis] / order.size[axis];
    }

    CAROM_HD std::uint64_t count() const { return std::uint64_t{cells[0]} * cells[1] * cells[2]; }
    CAROM_HD std::uint32_t along(int axis, double at) const {
        const double cell = (at - low[axis]) * per_length[axis];
        if (!(cell > 0.0)) return 0;
        return cell < cells[axis] ? static_cast<std::uint32_t>(cell) : cells[axis] - 1;
    }
    template <class Real>
    CAROM_HD std::uint32_t cell_of(const SampledBalls<Real>& balls, std::uint64_t id) const {
        std::uint32_t cell = 0;
        for (int axis = dimension; axis-- > 0;) cell = cell * cells[axis] + along(axis, balls.position[axis][id]);
        return cell;
    }
    /// A cell on one axis and its neighbours, each once.
    CAROM_HD int around(int axis, std::uint32_t cell, std::uint32_t (&found)[3]) const {
        const std::uint32_t all = cells[axis];
        int size = 0;
        found[size++] = cell;
        const bool wraps = periodic[axis] && all > 2;  // of two cells the other one is the neighbour on both sides
        if (cell > 0) {
            found[size++] = cell - 1;
        } else if (wraps) {
            found[size++] = all - 1;
        }
        if (cell + 1 < all) {
            found[size++] = cell + 1;
        } else if (wraps) {
            found[size++] = 0;
        }
        return size;
    }

    /// Of how many references one counts, so that the cost stays bounded.
    /// \param squares  sum over the cells of the square of how many balls are in
    [[nodiscard]] std::uint64_t stride(const PairOrder& order, double squares, double others, double references,
                                       double balls) const {
        if (others == 0.0 || references == 0.0) return 1;
        double cells_around = 1.0;
        for (int axis = 0; axis < dimension; ++axis) cells_around *= cells[axis] < 3 ? cells[axis] : 3.0;
        const double candidates = smaller(others, cells_around * squares / others);
        return static_cast<std::uint64_t>(larger(1.0, std::ceil(candidates * references / (order.most_looks * balls))));
    }
};

/// Balls in the order of their cells.
struct SortedPlaces {
    const std::uint32_t* cell_start;  ///< first slot of each cell, and one more
    const std::uint32_t* id;          ///< by slot
    const double* position[3];        ///< by slot

    struct Slots {
        std::uint32_t begin;
        std::uint32_t end;
    };
    CAROM_HD Slots in(std::uint32_t cell) const { return {cell_start[cell], cell_start[cell + 1]}; }
    CAROM_HD double at(std::uint32_t slot, int axis) const { return position[axis][slot]; }
    CAROM_HD std::uint32_t id_of(std::uint32_t slot) const { return id[slot]; }
};

/// Calls add(bin) for each ball within reach of one.
/// \param places  SortedPlaces, or what has the same to say
template <class Places, class Add>
CAROM_HD void look_around(const PairOrder& order, const PairCells& cells, const Places& places,
                          const Vec<double, 3>& at, std::uint32_t id, const Add& add) {
    std::uint32_t found[3][3] = {};
    int near[3] = {1, 1, 1};
    for (int axis = 0; axis < order.dimension; ++axis) {
        near[axis] = cells.around(axis, cells.along(axis, at[axis]), found[axis]);
    }
    const double squared_reach = order.reach * order.reach;
    const double per_length = order.bins / order.reach;
    for (int k = 0; k < near[2]; ++k) {
        for (int j = 0; j < near[1]; ++j) {
            for (int i = 0; i < near[0]; ++i) {
                const std::uint32_t cell = (found[2][k] * cells.cells[1] + found[1][j]) * cells.cells[0] + found[0][i];
                const auto slots = places.in(cell);
                for (std::uint32_t slot = slots.begin; slot < slots.end; ++slot) {
                    double squared = 0.0;
                    for (int axis = 0; axis < order.dimension; ++axis) {
                        double way = places.at(slot, axis) - at[axis];
                        if (cells.periodic[axis]) {
                            if (way > cells.half[axis]) way -= 2.0 * cells.half[axis];
                            if (way < -cells.half[axis]) way += 2.0 * cells.half[axis];
                        }
                        squared = squared + way * way;
                    }
                    if (!(squared < squared_reach) || places.id_of(slot) == id) continue;
                    const auto bin = static_cast<std::uint32_t>(square_root(squared) * per_length);
                    add(bin < order.bins ? bin : order.bins - 1);
                }
            }
        }
    }
}

}  // namespace carom
