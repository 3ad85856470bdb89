#pragma once

#include <cstdint>

#include "kernels/core/arithmetic.hpp"
#include "kernels/core/vec.hpp"

// The uniform grid of the broadphase. Cells are at least as wide as the largest diameter plus the margin, so
// two balls that can touch before the next sort lie in the same or in adjacent cells. Cells are numbered row by
// row, x fastest: the neighbourhood of a cell is 3 contiguous ranges in 2D and 9 in 3D (a range that crosses a
// periodic seam falls in two).

namespace carom {

template <int Dim>
struct Grid {
    Vec<std::int32_t, Dim> cells;        ///< along each axis
    Vec<double, Dim> quanta_per_cell;    ///< width of a cell in quanta of position
    Vec<double, Dim> cells_per_quantum;  ///< 1 / quanta_per_cell
    Vec<bool, Dim> periodic;
    Vec<std::int32_t, Dim> interior_begin;  ///< balls sorted into cells in [begin, end) cannot reach a face
    Vec<std::int32_t, Dim> interior_end;    ///< of the box before the next sort

    CAROM_HD std::uint32_t count() const {
        std::uint32_t product = 1;
        for (int axis = 0; axis < Dim; ++axis) product *= static_cast<std::uint32_t>(cells[axis]);
        return product;
    }

    /// The cell of a wide position; positions outside the grid belong to the cell at its edge.
    CAROM_HD Vec<std::int32_t, Dim> cell_of(const Vec<std::int64_t, Dim>& wide) const {
        Vec<std::int32_t, Dim> cell;
        for (int axis = 0; axis < Dim; ++axis) {
            const double at = static_cast<double>(wide[axis]) * cells_per_quantum[axis];
            const double last = static_cast<double>(cells[axis] - 1);
            cell[axis] = static_cast<std::int32_t>(at < 0.0 ? 0.0 : (at > last ? last : at));
        }
        return cell;
    }

    CAROM_HD std::uint32_t number(const Vec<std::int32_t, Dim>& cell) const {
        std::uint32_t result = static_cast<std::uint32_t>(cell[Dim - 1]);
        for (int axis = Dim - 2; axis >= 0; --axis) {
            result = result * static_cast<std::uint32_t>(cells[axis]) + static_cast<std::uint32_t>(cell[axis]);
        }
        return result;
    }

    CAROM_HD Vec<std::int32_t, Dim> cell(std::uint32_t number) const {
        Vec<std::int32_t, Dim> result;
        for (int axis = 0; axis < Dim - 1; ++axis) {
            const auto along = static_cast<std::uint32_t>(cells[axis]);
            result[axis] = static_cast<std::int32_t>(number % along);
            number /= along;
        }
        result[Dim - 1] = static_cast<std::int32_t>(number);
        return result;
    }

    /// Wide position of the cell's middle: the anchor of the balls sorted into it.
    CAROM_HD Vec<std::int64_t, Dim> anchor(const Vec<std::int32_t, Dim>& cell) const {
        Vec<std::int64_t, Dim> result;
        for (int axis = 0; axis < Dim; ++axis) {
            result[axis] = static_cast<std::int64_t>((static_cast<double>(cell[axis]) + 0.5) * quanta_per_cell[axis]);
        }
        return result;
    }

    CAROM_HD bool interior(const Vec<std::int32_t, Dim>& cell) const {
        bool inside = true;
        for (int axis = 0; axis < Dim; ++axis) {
            inside = inside && cell[axis] >= interior_begin[axis] && cell[axis] < interior_end[axis];
        }
        return inside;
    }

    /// Calls f(first, last) with the numbers of the first cell and of the one behind the last of each
    /// contiguous range in the 3^Dim neighbourhood; no cell twice, however few cells an axis has.
    template <class F>
    CAROM_HD void for_each_range(const Vec<std::int32_t, Dim>& cell, F&& f) const {
        if constexpr (Dim == 2) {
            rows(cell, 1, [&](std::int32_t y) { row(cell[0], static_cast<std::uint32_t>(y), f); });
        } else {
            rows(cell, 2, [&](std::int32_t z) {
                rows(cell, 1, [&](std::int32_t y) {
                    row(cell[0],
                        static_cast<std::uint32_t>(z) * static_cast<std::uint32_t>(cells[1]) +
                            static_cast<std::uint32_t>(y),
                        f);
                });
            });
        }
    }

private:
    /// Calls f with each distinct neighbour coordinate along an axis.
    template <class F>
    CAROM_HD void rows(const Vec<std::int32_t, Dim>& cell, int axis, F&& f) const {
        const std::int32_t n = cells[axis];
        const std::int32_t reach = periodic[axis] && n < 3 ? (n == 1 ? 0 : 1) : 2;  // steps up from the lowest
        const std::int32_t lowest = periodic[axis] && n < 3 ? 0 : cell[axis] - 1;
        for (std::int32_t step = 0; step <= reach; ++step) {
            std::int32_t at = lowest + step;
            if (at < 0 || at >= n) {
                if (!periodic[axis]) continue;
                at = at < 0 ? at + n : at - n;
            }
            f(at);
        }
    }

    template <class F>
    CAROM_HD void row(std::int32_t x, std::uint32_t row_number, F&& f) const {
        const std::int32_t n = cells[0];
        const std::uint32_t base = row_number * static_cast<std::uint32_t>(n);
        std::int32_t first = x - 1;
        std::int32_t last = x + 2;
        std::int32_t seam_first = 0;  // what lies across a periodic seam
        std::int32_t seam_last = 0;
        if (periodic[0] && n <= 3) {
            first = 0;
            last = n;
        } else {
            if (first < 0) {
                first = 0;
                seam_first = n - 1;
                seam_last = periodic[0] ? n : seam_first;
            }
            if (last > n) {
                last = n;
                seam_first = 0;
                seam_last = periodic[0] ? 1 : 0;
            }
        }
        // A loop, so that f, which is inlined and large, stands here once.
        for (;;) {
            f(base + static_cast<std::uint32_t>(first), base + static_cast<std::uint32_t>(last));
            if (seam_first >= seam_last) return;
            first = seam_first;
            last = seam_last;
            seam_last = seam_first;
        }
    }
};

}  // namespace carom
