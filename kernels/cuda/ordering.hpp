#pragma once

#include <cstdint>

#include "kernels/cuda/queue.hpp"

// The sort, the search and the sum, in a source of their own: they depend on neither precision nor dimension, and
// Thrust's kernels take long to compile.

namespace carom::CAROM_PROCESSOR {

/// What is sorted: the cells, and with each where it came from.
struct CellOrder {
    std::uint32_t* cell;
    std::uint32_t* from;

    CAROM_HD void put(std::uint32_t place, std::uint32_t in_cell) const {
        cell[place] = in_cell;
        from[place] = place;
    }
};

/// Sorts by cell; those of one cell stay in the order in which they were.
void sort_by_cell(Queue& queue, Scratch& scratch, const CellOrder& order, std::uint32_t count);

/// Finds the first place of each cell in [0, cells] among sorted ones.
void find_cells(Queue& queue, Scratch& scratch, const CellOrder& order, std::uint32_t count, std::uint32_t cells,
                std::uint32_t* cell_start);

/// Replaces each of `count` numbers by the sum of those before it; a sum of 2^32 and more stays at 2^32 - 1.
void sum_before(Queue& queue, Scratch& scratch, std::uint32_t* numbers, std::uint32_t count);

}  // namespace carom::CAROM_PROCESSOR
