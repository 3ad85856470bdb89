#pragma once

#include <cstdint>

#include "host/scene/space.hpp"
#include "kernels/core/random.hpp"

namespace carom {

/// Random insertion ends near 0.547 (disks) and 0.384 (spheres) and becomes slow before (Feder 1980; Meakin & Jullien
/// 1992); a try beyond these packing fractions is not worth its time.
template <int Dim>
constexpr double kInsertionReaches = Dim == 2 ? 0.50 : 0.32;

/// Three (or two) numbers in [0, 1) from one draw, of 42 bits each.
template <int Dim>
inline Point<Dim> uniform_point(const RandomWords& words) {
    const std::uint64_t low = words.wide(0);
    const std::uint64_t high = words.wide(1);
    const std::uint64_t parts[3] = {low >> 22, high >> 22, ((low & 0x1fffffU) << 21) | (high & 0x1fffffU)};
    constexpr double kUnit = 1.0 / 4398046511104.0;  // 2^-42
    Point<Dim> point;
    for (int axis = 0; axis < Dim; ++axis) point[axis] = (static_cast<double>(parts[axis]) + 0.5) * kUnit;
    return point;
}

/// Random sequential insertion of `count` balls; false when it gives up.
/// \param stream  of the random numbers: the fill's number
template <int Dim>
bool insert_randomly(Space<Dim>& space, std::uint64_t count, std::uint64_t seed, std::uint64_t stream);

extern template bool insert_randomly<2>(Space<2>&, std::uint64_t, std::uint64_t, std::uint64_t);
extern template bool insert_randomly<3>(Space<3>&, std::uint64_t, std::uint64_t, std::uint64_t);

}  // namespace carom
