#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "host/scene/covered.hpp"
#include "host/scene/scene.hpp"
#include "host/scene/start.hpp"
#include "kernels/core/arithmetic.hpp"
#include "kernels/core/transcendental.hpp"
#include "kernels/core/vec.hpp"

namespace carom {

template <int Dim>
using Point = Vec<double, Dim>;

/// Something that a new ball's centre must keep `reach` away from: a ball placed before.
template <int Dim>
struct Obstacle {
    Point<Dim> center;
    double reach;  ///< sum of both radii [length]
};

/// Where the centres of one fill's balls may be, and what has been placed: a grid of cells at least one diameter
/// wide over the fill's region, with the fill's own balls and the balls placed before it.
template <int Dim>
class Space {
public:
    /// \param expected  number of balls to come; bounds the number of cells
    /// \param before  all balls placed before, as obstacles, anywhere in the box
    Space(const Scene& scene, const FillEntry& fill, std::uint64_t expected, const std::vector<Obstacle<Dim>>& before)
        : scene_(&scene), radius_(scene.species[fill.species].radius), diameter_square_(4.0 * radius_ * radius_) {
        constexpr double kCellsPerBall = 4.0;  // more would only cost memory
        double volume = 1.0;
        for (int axis = 0; axis < Dim; ++axis) {
            low_[axis] = fill.region_min[axis];
            length_[axis] = fill.region_max[axis] - fill.region_min[axis];
            // A region across a whole periodic axis has no ends there.
            wraps_[axis] = scene.box.periodic(axis) && length_[axis] >= scene.box.size[axis];
            volume *= length_[axis];
        }
        const double room = volume / (kCellsPerBall * (static_cast<double>(expected) + 16.0));
        const double width = larger(2.0 * radius_, Dim == 2 ? std::sqrt(room) : std::cbrt(room));
        std::size_t count = 1;
        for (int axis = 0; axis < Dim; ++axis) {
            cells_[axis] = static_cast<std::int32_t>(larger(1.0, std::floor(length_[axis] / width)));
            per_length_[axis] = cells_[axis] / length_[axis];
            count *= static_cast<std::size_t>(cells_[axis]);
        }
        first_.assign(count, -1);
        list_offsets();
        covered_ = CoveredCells<Dim>(low_, length_, wraps_, 2.0 * radius_, static_cast<double>(expected));
        add_obstacles(before);
    }

    [[nodiscard]] double radius() const { return radius_; }
    [[nodiscard]] double low(int axis) const { return low_[axis]; }
    [[nodiscard]] double length(int axis) const { return length_[axis]; }
    [[nodiscard]] bool wraps(int axis) const { return wraps_[axis]; }
    [[nodiscard]] std::size_t size() const { return balls_.size(); }
    [[nodiscard]] const Point<Dim>& ball(std::size_t number) const { return balls_[number].center; }

    /// Share of the region's volume that so many balls of this fill take.
    [[nodiscard]] double fraction(std::uint64_t balls) const {
        double room = 1.0;
        for (int axis = 0; axis < Dim; ++axis) room *= length_[axis];
        const double square = kPi * radius_ * radius_;
        return static_cast<double>(balls) * (Dim == 2 ? square : 4.0 / 3.0 * square * radius_) / room;
    }

    /// Bounds of the centres along an axis: whole balls lie inside the region.
    [[nodiscard]] double first_center(int axis) const { return wraps_[axis] ? low_[axis] : low_[axis] + radius_; }
    [[nodiscard]] double last_center(int axis) const {
        return wraps_[axis] ? low_[axis] + length_[axis] : low_[axis] + length_[axis] - radius_;
    }

    /// The region in tiles of 4096 cells, whose data fit a processor's cache.
    [[nodiscard]] std::size_t tiles() const {
        std::size_t count = 1;
        for (int axis = 0; axis < Dim; ++axis) count *= static_cast<std::size_t>(tiles_along(axis));
        return count;
    }
    [[nodiscard]] std::size_t tile_of(const Point<Dim>& center) const {
        const Cell cell = cell_of(center);
        std::size_t tile = 0;
        for (int axis = Dim - 1; axis >= 0; --axis) {
            tile = tile * static_cast<std::size_t>(tiles_along(axis)) + static_cast<std::size_t>(cell[axis] / kTile);
        }
        return tile;
    }

    /// A quick test; where it says nothing, the exact ones below decide. Only while balls are inserted, not moved.
    [[nodiscard]] bool surely_taken(const Point<Dim>& center) const { return covered_.covered(center); }

    /// No ball of this fill but `self` would overlap one at `center`.
    [[nodiscard]] bool free_of_balls(const Point<Dim>& center, std::int32_t self = -1) const {
        const auto cell = cell_of(center);
        if (!cell_is_free(cell_number(cell), center, self)) return false;  // the likeliest place first
        return all_neighbours(cell, [&](std::size_t number) { return cell_is_free(number, center, self); });
    }

    /// Neither a ball placed before nor a [[wall]] would overlap one at `center`.
    [[nodiscard]] bool free_of_obstacles(const Point<Dim>& center) const {
        if (!obstacle_start_.empty()) {
            const std::size_t number = cell_number(cell_of(center));
            for (std::uint32_t at = obstacle_start_[number]; at < obstacle_start_[number + 1]; ++at) {
                const Obstacle<Dim>& other = obstacles_[obstacle_at_[at]];
                const Point<Dim> apart = center - other.center;
                if (dot(apart, apart) < other.reach * other.reach) return false;
            }
        }
        if (scene_->walls.empty()) return true;
        Vector3 point{};
        for (int axis = 0; axis < Dim; ++axis) point[axis] = center[axis];
        for (int wall = 6; wall < wall_end(*scene_); ++wall) {
            if (wall_distance(*scene_, wall, point) < radius_) return false;
        }
        return true;
    }

    void insert(const Point<Dim>& center) {
        std::int32_t& first = first_[cell_number(cell_of(center))];
        balls_.push_back({center, first});
        first = static_cast<std::int32_t>(balls_.size() - 1);
        covered_.cover(center, 2.0 * radius_);
    }

    void move(std::size_t number, const Point<Dim>& center) {
        const std::size_t from = cell_number(cell_of(balls_[number].center));
        const std::size_t to = cell_number(cell_of(center));
        balls_[number].center = center;
        if (from == to) return;
        std::int32_t* link = &first_[from];
        while (*link != static_cast<std::int32_t>(number)) link = &balls_[static_cast<std::size_t>(*link)].next;
        *link = balls_[number].next;
        balls_[number].next = first_[to];
        first_[to] = static_cast<std::int32_t>(number);
    }

private:
    struct Ball {
        Point<Dim> center;
        std::int32_t next;  // in the same cell; -1: none
    };
    using Cell = Vec<std::int32_t, Dim>;
    static constexpr std::int32_t kTile = Dim == 2 ? 64 : 16;  // cells along a tile

    [[nodiscard]] std::int32_t tiles_along(int axis) const { return (cells_[axis] + kTile - 1) / kTile; }

    [[nodiscard]] Cell cell_of(const Point<Dim>& center) const {
        Cell cell;
        for (int axis = 0; axis < Dim; ++axis) {
            const auto at = static_cast<std::int32_t>((center[axis] - low_[axis]) * per_length_[axis]);
            cell[axis] = std::clamp(at, 0, cells_[axis] - 1);
        }
        return cell;
    }

    [[nodiscard]] std::size_t cell_number(const Cell& cell) const {
        std::size_t number = static_cast<std::size_t>(cell[Dim - 1]);
        for (int axis = Dim - 2; axis >= 0; --axis) {
            number = number * static_cast<std::size_t>(cells_[axis]) + static_cast<std::size_t>(cell[axis]);
        }
        return number;
    }

    [[nodiscard]] bool cell_is_free(std::size_t number, const Point<Dim>& center, std::int32_t self) const {
        for (std::int32_t at = first_[number]; at >= 0; at = balls_[static_cast<std::size_t>(at)].next) {
            if (at == self) continue;
            double square = 0.0;
            for (int axis = 0; axis < Dim; ++axis) {
                double along = center[axis] - balls_[static_cast<std::size_t>(at)].center[axis];
                if (wraps_[axis]) {
                    if (along < 0.0) along = -along;
                    along = smaller(along, length_[axis] - along);
                }
                square += along * along;
            }
            if (square < diameter_square_) return false;
        }
        return true;
    }

    /// Whether f holds for all cells around `cell`, itself left out, none asked twice.
    template <class F>
    [[nodiscard]] bool all_neighbours(const Cell& cell, F&& f) const {
        bool inner = true;
        for (int axis = 0; axis < Dim; ++axis) inner = inner && cell[axis] > 0 && cell[axis] < cells_[axis] - 1;
        if (inner) {
            const auto number = static_cast<std::ptrdiff_t>(cell_number(cell));
            for (const std::ptrdiff_t offset : around_) {
                if (!f(static_cast<std::size_t>(number + offset))) return false;
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
            if (!self && !f(cell_number(wrapped))) return false;
            int axis = 0;
            while (axis < Dim && ++at[axis] > end[axis]) {
                at[axis] = begin[axis];
                ++axis;
            }
            if (axis == Dim) return true;
        }
    }

    /// From a cell's number to those of the 3^Dim - 1 cells around it, where none of them lies across a border.
    void list_offsets() {
        std::size_t at = 0;
        for (int code = 0; code < (Dim == 2 ? 9 : 27); ++code) {
            const std::ptrdiff_t x = code % 3 - 1;
            const std::ptrdiff_t y = code / 3 % 3 - 1;
            const std::ptrdiff_t z = Dim == 2 ? 0 : code / 9 - 1;
            if (x != 0 || y != 0 || z != 0) around_[at++] = x + cells_[0] * (y + cells_[1] * z);
        }
    }

    /// Lists each obstacle, or image of one, in all cells that its reach touches.
    void add_obstacles(const std::vector<Obstacle<Dim>>& before) {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> entries;  // (cell, obstacle)
        for (const Obstacle<Dim>& original : before) {
            Vec<std::int32_t, Dim> image;
            for (int axis = 0; axis < Dim; ++axis) image[axis] = scene_->box.periodic(axis) ? -1 : 0;
            const Vec<std::int32_t, Dim> lowest = image;
            while (true) {
                Obstacle<Dim> shifted = original;
                for (int axis = 0; axis < Dim; ++axis) shifted.center[axis] += image[axis] * scene_->box.size[axis];
                list_obstacle(shifted, entries);
                int axis = 0;
                while (axis < Dim && (lowest[axis] == 0 || ++image[axis] > 1)) {
                    image[axis] = lowest[axis];
                    ++axis;
                }
                if (axis == Dim) break;
            }
        }
        if (entries.empty()) return;
        obstacle_start_.assign(first_.size() + 1, 0);
        for (const auto& [cell, obstacle] : entries) ++obstacle_start_[cell + 1];
        for (std::size_t cell = 0; cell < first_.size(); ++cell) obstacle_start_[cell + 1] += obstacle_start_[cell];
        obstacle_at_.resize(entries.size());
        std::vector<std::uint32_t> next(obstacle_start_.begin(), obstacle_start_.end() - 1);
        for (const auto& [cell, obstacle] : entries) obstacle_at_[next[cell]++] = obstacle;
    }

    void list_obstacle(const Obstacle<Dim>& obstacle, std::vector<std::pair<std::uint32_t, std::uint32_t>>& entries) {
        Point<Dim> from;
        Point<Dim> to;
        for (int axis = 0; axis < Dim; ++axis) {
            from[axis] = obstacle.center[axis] - obstacle.reach;
            to[axis] = obstacle.center[axis] + obstacle.reach;
            if (to[axis] < low_[axis] || from[axis] > low_[axis] + length_[axis]) return;
        }
        const auto index = static_cast<std::uint32_t>(obstacles_.size());
        obstacles_.push_back(obstacle);
        covered_.cover(obstacle.center, obstacle.reach);
        const Cell begin = cell_of(from);
        const Cell end = cell_of(to);
        Cell at = begin;
        while (true) {
            double square = 0.0;  // from the obstacle to the nearest point of the cell
            for (int axis = 0; axis < Dim; ++axis) {
                const double cell_low = low_[axis] + at[axis] / per_length_[axis];
                const double below = cell_low - obstacle.center[axis];
                const double above = obstacle.center[axis] - cell_low - 1.0 / per_length_[axis];
                const double outside = larger(0.0, larger(below, above));
                square += outside * outside;
            }
            constexpr double kRounding = 1.0 + 1.0e-9;  // a cell's edge is computed, a ball's cell too
            if (square <= obstacle.reach * obstacle.reach * kRounding) {
                entries.emplace_back(static_cast<std::uint32_t>(cell_number(at)), index);
            }
            int axis = 0;
            while (axis < Dim && ++at[axis] > end[axis]) {
                at[axis] = begin[axis];
                ++axis;
            }
            if (axis == Dim) return;
        }
    }

    const Scene* scene_;
    double radius_;
    double diameter_square_;
    Point<Dim> low_;
    Point<Dim> length_;
    Vec<bool, Dim> wraps_;
    Cell cells_;
    Point<Dim> per_length_;  // cells per length
    std::array<std::ptrdiff_t, Dim == 2 ? 8 : 26> around_{};
    CoveredCells<Dim> covered_;
    std::vector<std::int32_t> first_;  // of the balls in a cell; -1: none
    std::vector<Ball> balls_;
    std::vector<Obstacle<Dim>> obstacles_;
    std::vector<std::uint32_t> obstacle_start_;  // per cell, into obstacle_at_
    std::vector<std::uint32_t> obstacle_at_;
};

}  // namespace carom
