#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/core/arithmetic.hpp"
#include "kernels/core/vec.hpp"

namespace carom {

template <int Dim>
using Point = Vec<double, Dim>;

/// Equal cells over a part of the box, numbered row by row, x fastest; along an axis that wraps the last is next to the
/// first.
template <int Dim>
class PlacementGrid {
public:
    using Cell = Vec<std::int32_t, Dim>;

    PlacementGrid() = default;
    /// \param width  cells are at least so wide, or as wide as the region [length]
    PlacementGrid(const Point<Dim>& low, const Point<Dim>& length, const Vec<bool, Dim>& wraps, double width)
        : low_(low), length_(length), wraps_(wraps) {
        for (int axis = 0; axis < Dim; ++axis) {
            cells_[axis] =
                larger(1, static_cast<std::int32_t>(length_[axis] / width));  // truncation is floor: not negative
            per_length_[axis] = cells_[axis] / length_[axis];
        }
        std::size_t at = 0;
        for (int code = 0; code < (Dim == 2 ? 9 : 27); ++code) {
            const std::ptrdiff_t x = code % 3 - 1;
            const std::ptrdiff_t y = code / 3 % 3 - 1;
            const std::ptrdiff_t z = Dim == 2 ? 0 : code / 9 - 1;
            if (x != 0 || y != 0 || z != 0) around_[at++] = x + cells_[0] * (y + cells_[1] * z);
        }
    }

    [[nodiscard]] double low(int axis) const { return low_[axis]; }
    [[nodiscard]] double length(int axis) const { return length_[axis]; }
    [[nodiscard]] bool wraps(int axis) const { return wraps_[axis]; }
    [[nodiscard]] std::int32_t cells(int axis) const { return cells_[axis]; }
    /// [1 / length]
    [[nodiscard]] double per_length(int axis) const { return per_length_[axis]; }
    [[nodiscard]] std::size_t count() const {
        std::size_t product = 1;
        for (int axis = 0; axis < Dim; ++axis) product *= static_cast<std::size_t>(cells_[axis]);
        return product;
    }

    /// The cell of a point; of one outside, the nearest.
    [[nodiscard]] Cell cell_of(const Point<Dim>& point) const {
        Cell cell;
        for (int axis = 0; axis < Dim; ++axis) {
            const auto at = static_cast<std::int32_t>((point[axis] - low_[axis]) * per_length_[axis]);
            cell[axis] = std::clamp(at, 0, cells_[axis] - 1);
        }
        return cell;
    }

    [[nodiscard]] std::size_t number(const Cell& cell) const {
        std::size_t number = static_cast<std::size_t>(cell[Dim - 1]);
        for (int axis = Dim - 2; axis >= 0; --axis) {
            number = number * static_cast<std::size_t>(cells_[axis]) + static_cast<std::size_t>(cell[axis]);
        }
        return number;
    }

    /// Whether f(number) holds for all cells around `cell`, itself left out, none asked twice; stops where it does not.
    template <class F>
    bool all_neighbours(const Cell& cell, F&& f) const {
        bool inner = true;
        for (int axis = 0; axis < Dim; ++axis) inner = inner && cell[axis] > 0 && cell[axis] < cells_[axis] - 1;
        if (inner) {
            const auto middle = static_cast<std::ptrdiff_t>(number(cell));
            for (const std::ptrdiff_t offset : around_) {
                if (!f(static_cast<std::size_t>(middle + offset))) return false;
            }
            return true;
        }
        Cell begin;
        Cell end;
        for (int axis = 0; axis < Dim; ++axis) {
            begin[axis] = cell[axis] - 1;
            end[axis] = cell[axis] + 1;
            if (!wraps_[axis]) {
                begin[axis] = std::max(begin[axis], 0);
                end[axis] = std::min(end[axis], cells_[axis] - 1);
            } else if (cells_[axis] < 3) {
                begin[axis] = 0;
                end[axis] = cells_[axis] - 1;
            }
        }
        Cell at = begin;
        while (true) {
            Cell wrapped;
            bool self = true;
            for (int axis = 0; axis < Dim; ++axis) {
                wrapped[axis] = at[axis] < 0 ? at[axis] + cells_[axis]
                                             : (at[axis] >= cells_[axis] ? at[axis] - cells_[axis] : at[axis]);
                self = self && wrapped[axis] == cell[axis];
            }
            if (!self && !f(number(wrapped))) return false;
            int axis = 0;
            while (axis < Dim && ++at[axis] > end[axis]) {
                at[axis] = begin[axis];
                ++axis;
            }
            if (axis == Dim) return true;
        }
    }

private:
    Point<Dim> low_{};
    Point<Dim> length_{};
    Vec<bool, Dim> wraps_{};
    Cell cells_{};
    Point<Dim> per_length_{};
    std::array<std::ptrdiff_t, Dim == 2 ? 8 : 26> around_{};  // from an inner cell's number to its neighbours'
};

}  // namespace carom
