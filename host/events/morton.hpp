#pragma once

#include <cstdint>

namespace carom {

/// The bits of `x` with `gap` zeros between them.
inline std::uint64_t spread_bits(std::uint64_t x, int gap) {
    std::uint64_t result = 0;
    for (int bit = 0; bit < 16; ++bit) result |= (x >> bit & 1U) << (bit * (gap + 1));
    return result;
}

/// Place of a cell on Morton's curve: cells close on it are close in space (Morton 1966).
inline std::uint64_t morton_code(const std::uint16_t* cell, int dimension) {
    std::uint64_t code = 0;
    for (int axis = 0; axis < dimension; ++axis) code |= spread_bits(cell[axis], dimension - 1) << axis;
    return code;
}

}  // namespace carom
