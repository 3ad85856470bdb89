#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "host/scene/covered.hpp"
#include "host/scene/obstacle_cells.hpp"
#include "host/scene/placement_grid.hpp"
#include "host/scene/scene.hpp"
#include "host/scene/start.hpp"
#include "kernels/core/arithmetic.hpp"
#include "kernels/core/transcendental.hpp"
#include "kernels/core/vec.hpp"

namespace carom {

/// The part of the box that a fill is in.
template <int Dim>
struct Region {
    Point<Dim> low;
    Point<Dim> length;
    Vec<bool, Dim> wraps;  ///< across a whole periodic axis: no ends there

    Region(const Scene& scene, const FillEntry& fill) {
        for (int axis = 0; axis < Dim; ++axis) {
            low[axis] = fill.region_min[axis];
            length[axis] = fill.region_max[axis] - fill.region_min[axis];
            wraps[axis] = scene.box.periodic(axis) && length[axis] >= scene.box.size[axis];
        }
    }
    [[nodiscard]] double volume() const {
        double product = 1.0;
        for (int axis = 0; axis < Dim; ++axis) product *= length[axis];
        return product;
    }
};

/// Where the centres of one fill's balls may be, and what has been placed: a grid of cells at least one diameter
/// wide over the fill's region, with the fill's own balls and the balls placed before it.
template <int Dim>
class Space {
public:
    /// \param expected  number of balls to come; bounds the number of cells
    /// \param before  all balls placed before, anywhere in the box
    Space(const Scene& scene, const FillEntry& fill, std::uint64_t expected, const std::vector<PlacedBall<Dim>>& before)
        : Space(scene, fill, expected, obstacles_for(scene.species[fill.species].radius, before), 1.0) {}

    /// \param before  the same as obstacles
    /// \param scale  of the distance that the fill's balls keep from each other: 1 their diameter
    Space(const Scene& scene, const FillEntry& fill, std::uint64_t expected, const std::vector<Obstacle<Dim>>& before,
          double scale)
        : scene_(&scene), radius_(scene.species[fill.species].radius) {
        constexpr double kCellsPerBall = 4.0;  // more would only cost memory
        const Region<Dim> region(scene, fill);
        const double apart = 2.0 * scale * radius_;
        apart_square_ = apart * apart;
        const double room = region.volume() / (kCellsPerBall * (static_cast<double>(expected) + 16.0));
        const double width = larger(apart, Dim == 2 ? std::sqrt(room) : std::cbrt(room));
        grid_ = PlacementGrid<Dim>(region.low, region.length, region.wraps, width);
        first_.assign(grid_.count(), -1);
        reach_ = apart;
        covered_ = CoveredCells<Dim>(region.low, region.length, region.wraps, apart, static_cast<double>(expected));
        obstacles_ = ObstacleCells<Dim>(grid_, scene.box, before);
        for (const Obstacle<Dim>& obstacle : obstacles_.all()) covered_.cover(obstacle.center, obstacle.reach);
    }

    [[nodiscard]] double radius() const { return radius_; }
    [[nodiscard]] double low(int axis) const { return grid_.low(axis); }
    [[nodiscard]] double length(int axis) const { return grid_.length(axis); }
    [[nodiscard]] bool wraps(int axis) const { return grid_.wraps(axis); }
    [[nodiscard]] std::size_t size() const { return balls_.size(); }
    [[nodiscard]] const Point<Dim>& ball(std::size_t number) const { return balls_[number].center; }
    [[nodiscard]] std::vector<Point<Dim>> centers() const {
        std::vector<Point<Dim>> all;
        all.reserve(balls_.size());
        for (const Ball& ball : balls_) all.push_back(ball.center);
        return all;
    }

    /// Share of the region's volume that so many balls of this fill take.
    [[nodiscard]] double fraction(std::uint64_t balls) const {
        double room = 1.0;
        for (int axis = 0; axis < Dim; ++axis) room *= length(axis);
        const double square = kPi * radius_ * radius_;
        return static_cast<double>(balls) * (Dim == 2 ? square : 4.0 / 3.0 * square * radius_) / room;
    }

    /// Bounds of the centres along an axis: whole balls lie inside the region.
    [[nodiscard]] double first_center(int axis) const { return wraps(axis) ? low(axis) : low(axis) + radius_; }
    [[nodiscard]] double last_center(int axis) const {
        return wraps(axis) ? low(axis) + length(axis) : low(axis) + length(axis) - radius_;
    }

    /// The region in tiles of 4096 cells, whose data fit a processor's cache.
    [[nodiscard]] std::size_t tiles() const {
        std::size_t count = 1;
        for (int axis = 0; axis < Dim; ++axis) count *= static_cast<std::size_t>(tiles_along(axis));
        return count;
    }
    [[nodiscard]] std::size_t tile_of(const Point<Dim>& center) const {
        const auto cell = grid_.cell_of(center);
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
        const auto cell = grid_.cell_of(center);
        if (!cell_is_free(grid_.number(cell), center, self)) return false;  // the likeliest place first
        return grid_.all_neighbours(cell, [&](std::size_t number) { return cell_is_free(number, center, self); });
    }

    /// Neither a ball placed before nor a [[wall]] would overlap one at `center`.
    [[nodiscard]] bool free_of_obstacles(const Point<Dim>& center) const {
        if (!obstacles_.all().empty()) {
            const std::size_t number = grid_.number(grid_.cell_of(center));
            const bool free = obstacles_.all_in(number, [&](std::uint32_t at) {
                const Obstacle<Dim>& other = obstacles_.all()[at];
                const Point<Dim> apart = center - other.center;
                return dot(apart, apart) >= other.reach * other.reach;
            });
            if (!free) return false;
        }
        if (scene_->walls.empty()) return true;
        Vector3 point{};
        for (int axis = 0; axis < Dim; ++axis) point[axis] = center[axis];
        for (int wall = 6; wall < wall_end(*scene_); ++wall) {
            if (wall_distance(*scene_, wall, point) < radius_) return false;
        }
        return true;
    }

    /// All of these.
    [[nodiscard]] bool free(const Point<Dim>& center) const {
        return !surely_taken(center) && free_of_balls(center) && free_of_obstacles(center);
    }

    void insert(const Point<Dim>& center) {
        std::int32_t& first = first_[grid_.number(grid_.cell_of(center))];
        balls_.push_back({center, first});
        first = static_cast<std::int32_t>(balls_.size() - 1);
        covered_.cover(center, reach_);
    }

    void move(std::size_t number, const Point<Dim>& center) {
        const std::size_t from = grid_.number(grid_.cell_of(balls_[number].center));
        const std::size_t to = grid_.number(grid_.cell_of(center));
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
    static constexpr std::int32_t kTile = Dim == 2 ? 64 : 16;  // cells along a tile

    [[nodiscard]] std::int32_t tiles_along(int axis) const { return (grid_.cells(axis) + kTile - 1) / kTile; }

    [[nodiscard]] bool cell_is_free(std::size_t number, const Point<Dim>& center, std::int32_t self) const {
        for (std::int32_t at = first_[number]; at >= 0; at = balls_[static_cast<std::size_t>(at)].next) {
            if (at == self) continue;
            double square = 0.0;
            for (int axis = 0; axis < Dim; ++axis) {
                double along = center[axis] - balls_[static_cast<std::size_t>(at)].center[axis];
                if (wraps(axis)) {
                    if (along < 0.0) along = -along;
                    along = smaller(along, length(axis) - along);
                }
                square += along * along;
            }
            if (square < apart_square_) return false;
        }
        return true;
    }

    const Scene* scene_;
    double radius_;
    double reach_ = 0.0;         // distance that the fill's balls keep
    double apart_square_ = 0.0;  // its square
    PlacementGrid<Dim> grid_;
    CoveredCells<Dim> covered_;
    std::vector<std::int32_t> first_;  // of the balls in a cell; -1: none
    std::vector<Ball> balls_;
    ObstacleCells<Dim> obstacles_;
};

}  // namespace carom
