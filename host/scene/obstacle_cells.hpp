#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "host/scene/placement_grid.hpp"
#include "host/state/box.hpp"

namespace carom {

/// A ball placed before.
template <int Dim>
struct PlacedBall {
    Point<Dim> center;
    double radius;
};

/// Something that a new ball's centre must keep `reach` away from.
template <int Dim>
struct Obstacle {
    Point<Dim> center;
    double reach;  ///< sum of both radii [length]
};

/// What balls placed before are to a ball of the given radius.
template <int Dim>
std::vector<Obstacle<Dim>> obstacles_for(double radius, const std::vector<PlacedBall<Dim>>& placed) {
    std::vector<Obstacle<Dim>> obstacles;
    obstacles.reserve(placed.size());
    for (const PlacedBall<Dim>& ball : placed) obstacles.push_back({ball.center, radius + ball.radius});
    return obstacles;
}

/// Obstacles and their periodic images, each listed in all cells that its reach touches.
template <int Dim>
class ObstacleCells {
public:
    ObstacleCells() = default;
    ObstacleCells(const PlacementGrid<Dim>& grid, const Box& box, const std::vector<Obstacle<Dim>>& before) {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> entries;  // (cell, obstacle)
        for (const Obstacle<Dim>& original : before) {
            Vec<std::int32_t, Dim> image;
            for (int axis = 0; axis < Dim; ++axis) image[axis] = box.periodic(axis) ? -1 : 0;
            const Vec<std::int32_t, Dim> lowest = image;
            while (true) {
                Obstacle<Dim> shifted = original;
                for (int axis = 0; axis < Dim; ++axis) shifted.center[axis] += image[axis] * box.size[axis];
                list(grid, shifted, entries);
                int axis = 0;
                while (axis < Dim && (lowest[axis] == 0 || ++image[axis] > 1)) {
                    image[axis] = lowest[axis];
                    ++axis;
                }
                if (axis == Dim) break;
            }
        }
        if (entries.empty()) return;
        start_.assign(grid.count() + 1, 0);
        for (const auto& [cell, obstacle] : entries) ++start_[cell + 1];
        for (std::size_t cell = 0; cell < grid.count(); ++cell) start_[cell + 1] += start_[cell];
        listed_.resize(entries.size());
        std::vector<std::uint32_t> next(start_.begin(), start_.end() - 1);
        for (const auto& [cell, obstacle] : entries) listed_[next[cell]++] = obstacle;
    }

    /// All that reach into the region, images among them.
    [[nodiscard]] const std::vector<Obstacle<Dim>>& all() const { return obstacles_; }

    /// Whether f(number) holds for all obstacles listed in a cell, numbers being those in all().
    template <class F>
    bool all_in(std::size_t cell, F&& f) const {
        if (start_.empty()) return true;
        for (std::uint32_t at = start_[cell]; at < start_[cell + 1]; ++at) {
            if (!f(listed_[at])) return false;
        }
        return true;
    }

private:
    void list(const PlacementGrid<Dim>& grid, const Obstacle<Dim>& obstacle,
              std::vector<std::pair<std::uint32_t, std::uint32_t>>& entries) {
        Point<Dim> from;
        Point<Dim> to;
        for (int axis = 0; axis < Dim; ++axis) {
            from[axis] = obstacle.center[axis] - obstacle.reach;
            to[axis] = obstacle.center[axis] + obstacle.reach;
            if (to[axis] < grid.low(axis) || from[axis] > grid.low(axis) + grid.length(axis)) return;
        }
        const auto index = static_cast<std::uint32_t>(obstacles_.size());
        obstacles_.push_back(obstacle);
        const auto begin = grid.cell_of(from);
        const auto end = grid.cell_of(to);
        auto at = begin;
        while (true) {
            double square = 0.0;  // from the obstacle to the nearest point of the cell
            for (int axis = 0; axis < Dim; ++axis) {
                const double cell_low = grid.low(axis) + at[axis] / grid.per_length(axis);
                const double below = cell_low - obstacle.center[axis];
                const double above = obstacle.center[axis] - cell_low - 1.0 / grid.per_length(axis);
                const double outside = larger(0.0, larger(below, above));
                square += outside * outside;
            }
            constexpr double kRounding = 1.0 + 1.0e-9;  // a cell's edge is computed, a ball's cell too
            if (square <= obstacle.reach * obstacle.reach * kRounding) {
                entries.emplace_back(static_cast<std::uint32_t>(grid.number(at)), index);
            }
            int axis = 0;
            while (axis < Dim && ++at[axis] > end[axis]) {
                at[axis] = begin[axis];
                ++axis;
            }
            if (axis == Dim) return;
        }
    }

    std::vector<Obstacle<Dim>> obstacles_;
    std::vector<std::uint32_t> start_;   // per cell, into listed_
    std::vector<std::uint32_t> listed_;  // numbers of obstacles
};

}  // namespace carom
