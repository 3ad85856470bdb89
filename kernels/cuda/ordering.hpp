#pragma once

#include <cstdint>

#include "kernels/cuda/queue.hpp"

// The order of what lies in cells, and the sum that it takes, in a source of its own: Thrust's kernels take long to
// compile.

namespace carom::CAROM_PROCESSOR {

/// What is brought into the order of cells, each into a place of its own. Those of one cell lie in any order.
struct CellOrder {
    std::uint32_t* cell;   ///< of each
    std::uint32_t* place;  ///< of each, in its cell
    std::uint32_t* start;  ///< of each cell, and of the one behind them all: its first place

    CAROM_HD void put(std::uint32_t index, std::uint32_t in_cell) const { cell[index] = in_cell; }
    /// Takes the next place of its cell, while `start` still counts.
    CAROM_HD void take_place(std::uint32_t index) const { place[index] = next_shared(&start[cell[index]]); }
    /// Where it comes to lie.
    [[nodiscard]] CAROM_HD std::uint32_t slot(std::uint32_t index) const { return start[cell[index]] + place[index]; }
};

/// Gives each of `count` that are put into cells in [0, cells] its place, and finds the first place of each cell.
void order_by_cell(Queue& queue, Scratch& scratch, const CellOrder& order, std::uint32_t count, std::uint32_t cells);

/// Replaces each of `count` numbers by the sum of those before it.
void sum_before(Queue& queue, Scratch& scratch, std::uint32_t* numbers, std::uint32_t count);

}  // namespace carom::CAROM_PROCESSOR
