#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "host/state/box.hpp"

namespace carom {

/// Cells of a map of a plane of the box.
struct MapCells {
    std::array<int, 2> plane{};        ///< axes, the lower one first
    std::array<std::size_t, 2> cells;  ///< along each
    [[nodiscard]] std::size_t all() const { return cells[0] * cells[1]; }
};

/// Cells that are nearly square.
/// \param axis  along which one looks, in 3D
/// \param bins  cells along the longer side; 0: 50
inline MapCells map_cells(const Box& box, int axis, std::size_t bins) {
    constexpr std::size_t kUsual = 50;
    MapCells map;
    map.plane = {0, 1};
    if (box.dimension == 3 && axis != 2) map.plane = axis == 0 ? std::array{1, 2} : std::array{0, 2};
    const auto most = static_cast<double>(bins == 0 ? kUsual : bins);
    const double longest = std::max(box.size[map.plane[0]], box.size[map.plane[1]]);
    for (std::size_t side = 0; side < 2; ++side) {
        const double cells = most * box.size[map.plane[side]] / longest;
        map.cells[side] = std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(cells)));
    }
    return map;
}

}  // namespace carom
