#pragma once

#include <cstdint>

#include "kernels/cuda/queue.hpp"

// The sort, the search and the sum, in a source of their own: they depend on neither precision nor dimension, and
// Thrust's kernels take long to compile.

namespace carom::CAROM_PROCESSOR {

/// A ball's sort key: the cell above the id, so there are no ties and the order depends on nothing else.
CAROM_HD std::uint64_t sort_key(std::uint32_t cell, std::uint32_t id) {
    return static_cast<std::uint64_t>(cell) << 32 | id;
}

/// Sorts keys.
void sort_keys(Queue& queue, Scratch& scratch, std::uint64_t* key, std::uint32_t count);

/// Finds the first slot of each cell in [0, cells] among sorted keys.
void find_cells(Queue& queue, Scratch& scratch, const std::uint64_t* key, std::uint32_t count, std::uint32_t cells,
                std::uint32_t* cell_start);

/// Replaces each of `count` numbers by the sum of those before it; a sum of 2^32 and more stays at 2^32 - 1.
void sum_before(Queue& queue, Scratch& scratch, std::uint32_t* numbers, std::uint32_t count);

}  // namespace carom::CAROM_PROCESSOR
