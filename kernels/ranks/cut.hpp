#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/grid/grid.hpp"

namespace carom {

/// There are more ranks than a box can be shared by. All ranks find it at the same time.
struct CannotShare : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// How the cells of the grid are dealt out to ranks: each axis is cut into layers, the same all along the others, and a
/// rank has the brick where its layers meet.
struct Cut {
    int dimension = 2;
    std::array<std::vector<std::int32_t>, 3> faces;  ///< first cell of each layer, then the number of cells

    [[nodiscard]] int along(int axis) const { return static_cast<int>(faces[axis].size()) - 1; }
    [[nodiscard]] bool cuts(int axis) const { return along(axis) > 1; }
    [[nodiscard]] int ranks() const;
    /// The rank's place among the layers of each axis.
    [[nodiscard]] std::array<int, 3> place(int rank) const;
    [[nodiscard]] std::int32_t first(int rank, int axis) const { return faces[axis][place(rank)[axis]]; }
    [[nodiscard]] std::int32_t end(int rank, int axis) const { return faces[axis][place(rank)[axis] + 1]; }
    /// Of a cell.
    [[nodiscard]] int owner(std::span<const std::int32_t> cell) const;
    friend bool operator==(const Cut&, const Cut&) = default;
};

/// Cells of one rank that another has copies of the balls of.
struct Border {
    int peer = 0;
    std::array<std::int32_t, 3> first{};  ///< in the cells of the box
    std::array<std::int32_t, 3> end{};
    std::array<std::int32_t, 3> offset{};  ///< what makes of them cells of the peer's window
};

/// A rank's window: its brick and, on the axes that are cut, a layer of cells around. Cells of the window are counted
/// from its corner. Only what concerns cells is filled in.
template <int Dim>
Grid<Dim> window_of(const Cut& cut, const Grid<Dim>& grid, int rank) {
    Grid<Dim> window = grid;
    for (int axis = 0; axis < Dim; ++axis) {
        if (!cut.cuts(axis)) continue;
        window.cells[axis] = cut.end(rank, axis) - cut.first(rank, axis) + 2;
        window.periodic[axis] = false;
    }
    return window;
}

/// What turns a rank's own cells into those of its window.
std::array<std::int32_t, 3> window_offset(const Cut& cut, int rank);

/// All borders of a rank's cells, in the order of peers. Where one rank has a border with another, so has that one.
std::vector<Border> borders_of(const Cut& cut, std::span<const std::int32_t> cells, std::span<const bool> periodic,
                               int rank);

/// Where to cut one axis so that all layers have as equal a share of `weight` as whole cells allow.
/// \param weight  of each cell
std::vector<std::int32_t> balanced_faces(std::span<const std::uint64_t> weight, int layers);

/// How many layers each axis is cut into: as given, or so that the faces between bricks are small.
/// \param wanted  0: free
/// \throws CannotShare  the box has too few cells for so many ranks, or `wanted` are others
std::array<int, 3> layers_per_axis(int ranks, int dimension, std::span<const std::int32_t> cells,
                                   std::span<const bool> periodic, const std::array<int, 3>& wanted);

}  // namespace carom
