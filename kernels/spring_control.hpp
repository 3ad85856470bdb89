#pragma once

#include <cstdint>

#include "kernels/spring_params.hpp"

namespace carom {

/// A fault packed so that the smallest is the one to report: ball id, then kind, then the other's id, so that
/// every processor names the same one. No fault is the largest value.
struct FaultKey {
    static constexpr std::uint64_t kNone = ~std::uint64_t{0};

    CAROM_HD static std::uint64_t pack(SpringFault::Kind kind, std::uint32_t ball, std::uint32_t other) {
        return static_cast<std::uint64_t>(ball) << 34 | static_cast<std::uint64_t>(kind) << 30 | (other & 0x3fffffffU);
    }
    static SpringFault unpack(std::uint64_t key) {
        if (key == kNone) return {};
        return {static_cast<SpringFault::Kind>(key >> 30 & 0xf), static_cast<std::uint32_t>(key >> 34),
                static_cast<std::uint32_t>(key & 0x3fffffffU)};
    }
};

constexpr std::uint64_t kMaxBalls = 1U << 30;  ///< ids fit a fault's key

/// How far any ball can have moved in a step, from the largest squared speed [length]: the rounding of positions
/// and of the speed itself included.
template <class Real, int Dim>
CAROM_HD double motion_bound(const SpringParams<Real, Dim>& params, double largest_speed_squared) {
    double quanta = 0.0;
    for (int axis = 0; axis < Dim; ++axis) quanta = quanta + params.coordinates.resolution[axis];
    return square_root(largest_speed_squared) * params.dt * (1.0 + 1e-6) + quanta;
}

/// Whether balls may have moved so far since the sort that a contact could be missed.
template <class Real, int Dim>
CAROM_HD bool sort_due(const SpringParams<Real, Dim>& params, double motion) {
    return motion > 0.5 * params.margin;
}

}  // namespace carom
