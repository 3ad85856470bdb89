#pragma once

#include <cstdint>
#include <vector>

#include "kernels/core/arithmetic.hpp"
#include "kernels/core/vec.hpp"

namespace carom {

/// Small cells over a region, each marked once it lies wholly within the reach of something: a point in a marked cell
/// is taken, and random insertion sees that at the cost of one bit. It never rejects what an exact test would accept,
/// so results do not depend on it. Bounded in memory: in a sparse region it stays empty and says nothing.
template <int Dim>
class CoveredCells {
public:
    using Point = Vec<double, Dim>;

    CoveredCells() = default;
    /// \param reach  the usual one; cells are a fraction of it
    /// \param balls  expected number; bounds the number of cells
    CoveredCells(const Point& low, const Point& length, const Vec<bool, Dim>& wraps, double reach, double balls)
        : low_(low), length_(length), wraps_(wraps) {
        constexpr double kCellsPerReach = 4.0;
        constexpr double kCellsPerBall = Dim == 2 ? 256.0 : 1024.0;  // one bit each
        double cells = 1.0;
        for (int axis = 0; axis < Dim; ++axis) {
            const double along = larger(
                1.0,
                static_cast<double>(static_cast<std::int64_t>(smaller(1.0e9, length[axis] / reach * kCellsPerReach))));
            cells_[axis] = static_cast<std::int64_t>(along);
            per_length_[axis] = along / length[axis];
            cells *= along;
        }
        if (cells > kCellsPerBall * (balls + 64.0)) return;
        bits_.assign(static_cast<std::size_t>(cells) / 64 + 1, 0);
    }

    [[nodiscard]] bool used() const { return !bits_.empty(); }

    [[nodiscard]] bool covered(const Point& point) const {
        if (!used()) return false;
        const std::size_t number = number_of(point);
        return ((bits_[number / 64] >> (number % 64)) & 1U) != 0;
    }

    /// Marks the cells that lie wholly within `reach` of `center`. Where the region wraps, only a centre inside counts:
    /// its images are seen from there.
    void cover(const Point& center, double reach) {
        if (!used()) return;
        for (int axis = 0; axis < Dim; ++axis) {
            if (wraps_[axis] && (center[axis] < low_[axis] || center[axis] >= low_[axis] + length_[axis])) return;
        }
        constexpr double kSafe = 1.0 - 1.0e-6;  // a cell's edges are rounded, a point's cell too
        mark(center, Dim - 1, reach * reach * kSafe, 0);
    }

private:
    [[nodiscard]] std::int64_t index(int axis, double at) const {
        const auto cell = static_cast<std::int64_t>((at - low_[axis]) * per_length_[axis]);
        return cell < 0 ? 0 : (cell >= cells_[axis] ? cells_[axis] - 1 : cell);
    }

    [[nodiscard]] std::size_t number_of(const Point& point) const {
        std::int64_t number = index(Dim - 1, point[Dim - 1]);
        for (int axis = Dim - 2; axis >= 0; --axis) number = number * cells_[axis] + index(axis, point[axis]);
        return static_cast<std::size_t>(number);
    }

    /// Row by row along `axis`: `square` is what is left of the squared reach for this and the axes below it.
    void mark(const Point& center, int axis, double square, std::int64_t row) {
        const double left = square_root(square) * per_length_[axis];
        const double middle = (center[axis] - low_[axis]) * per_length_[axis];  // in cells
        const std::int64_t all = cells_[axis];
        if (axis == 0) {
            // The cells between, wholly inside: from the first edge at or above middle - left.
            const std::int64_t first = floor_of(middle - left) + 1;
            const std::int64_t end = floor_of(middle + left);
            mark_run(row * all, first, end);
            return;
        }
        const double width = 1.0 / per_length_[axis];
        std::int64_t first = floor_of(middle - left) + 1;
        std::int64_t end = floor_of(middle + left);
        if (!wraps_[axis]) {
            first = first < 0 ? 0 : first;
            end = end > all ? all : end;
        } else if (end - first >= all) {
            return;  // would meet itself; too small a region to care
        }
        for (std::int64_t cell = first; cell < end; ++cell) {
            const double below = (middle - static_cast<double>(cell)) * width;
            const double farthest = larger(below, width - below);
            const double rest = square - farthest * farthest;
            if (rest <= 0.0) continue;
            mark(center, axis - 1, rest, row * all + (cell < 0 ? cell + all : (cell >= all ? cell - all : cell)));
        }
    }

    /// Marks [first, end) of a row of cells along x, wrapped or cut off at its ends.
    void mark_run(std::int64_t row, std::int64_t first, std::int64_t end) {
        const std::int64_t all = cells_[0];
        if (!wraps_[0]) {
            first = first < 0 ? 0 : first;
            end = end > all ? all : end;
        } else if (end - first >= all) {
            return;
        } else if (first < 0) {
            set_bits(row + first + all, row + all);
            first = 0;
        } else if (end > all) {
            set_bits(row, row + end - all);
            end = all;
        }
        set_bits(row + first, row + end);
    }

    void set_bits(std::int64_t first, std::int64_t end) {
        while (first < end) {
            const std::int64_t word_end = smaller((first | 63) + 1, end);
            const std::int64_t count = word_end - first;
            const std::uint64_t ones = count == 64 ? ~0ULL : (1ULL << count) - 1;
            bits_[static_cast<std::size_t>(first) / 64] |= ones << (first % 64);
            first = word_end;
        }
    }

    static std::int64_t floor_of(double x) {
        const auto whole = static_cast<std::int64_t>(x);
        return static_cast<double>(whole) > x ? whole - 1 : whole;
    }

    Point low_{};
    Point length_{};
    Vec<bool, Dim> wraps_{};
    Vec<std::int64_t, Dim> cells_{};
    Point per_length_{};
    std::vector<std::uint64_t> bits_;
};

}  // namespace carom
