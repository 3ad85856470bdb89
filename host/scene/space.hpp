#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "host/scene/placement_grid.hpp"
#include "host/scene/scene.hpp"
#include "host/scene/walls.hpp"
#include "host/state/box.hpp"
#include "kernels/core/arithmetic.hpp"
#include "kernels/core/vec.hpp"
#include "kernels/physics/boundaries.hpp"
#include "kernels/physics/collision_time.hpp"
#include "kernels/physics/impulse.hpp"
#include "kernels/physics/pair_distribution.hpp"

// What is around the balls of a fill while they are placed: balls placed before, walls, and each other.

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
            // By its ends: their distance may round to less than the size that the upper one was made of.
            const double high = scene.box.min[axis] + scene.box.size[axis];
            const bool whole = low[axis] <= scene.box.min[axis] && fill.region_max[axis] >= high;
            wraps[axis] = scene.box.periodic(axis) && whole;
        }
    }
    [[nodiscard]] double volume() const {
        double product = 1.0;
        for (int axis = 0; axis < Dim; ++axis) product *= length[axis];
        return product;
    }
};

/// Where the centres of one fill's balls may be, and what has been placed: a grid of cells at least one diameter
/// wide over the fill's region, with the fill's own balls and the balls placed before it. Where their radii differ,
/// what is said of a ball without its radius holds for the largest.
template <int Dim>
class Space {
public:
    /// \param expected  number of balls to come; bounds the number of cells
    /// \param before  all balls placed before, anywhere in the box
    Space(const Scene& scene, const FillEntry& fill, std::uint64_t expected, const std::vector<PlacedBall<Dim>>& before)
        : Space(scene, fill, expected, obstacles_for(largest_radius(scene, fill.species), before), 1.0) {}

    /// \param before  the same as obstacles, for the largest ball
    /// \param scale  of the distance that the fill's balls keep from each other: 1 their diameter
    /// \param radii  of the balls in the order in which they are inserted; empty: all have that of the species
    Space(const Scene& scene, const FillEntry& fill, std::uint64_t expected, const std::vector<Obstacle<Dim>>& before,
          double scale, std::vector<double> radii = {})
        : radius_(largest_radius(scene, fill.species)),
          smallest_(smallest_radius(scene, fill.species)),
          scale_(scale),
          radii_(std::move(radii)),
          walls_(entry_boundaries<Dim>(scene)) {
        constexpr double kCellsPerBall = 4.0;  // more would only cost memory
        const Region<Dim> region(scene, fill);
        const double apart = 2.0 * scale * radius_;
        const double room = region.volume() / (kCellsPerBall * (static_cast<double>(expected) + 16.0));
        double width = larger(apart, Dim == 2 ? std::sqrt(room) : std::cbrt(room));
        // Along a region that is as narrow as a ball there would be more, without end.
        const double most = larger(4.0e6, 4.0 * kCellsPerBall * (static_cast<double>(expected) + 16.0));
        while (cells_of(region, width) > most) width *= 1.25;
        grid_ = PlacementGrid<Dim>(region.low, region.length, region.wraps, width);
        first_.assign(grid_.count(), -1);
        covered_ = CoveredCells<Dim>(region.low, region.length, region.wraps, apart, static_cast<double>(expected));
        obstacles_ = ObstacleCells<Dim>(grid_, scene.box, before);
        for (const Obstacle<Dim>& obstacle : obstacles_.all()) {
            covered_.cover(obstacle.center, obstacle.reach - nearer(smallest_));
        }
    }

    [[nodiscard]] double radius() const { return radius_; }
    /// Of the ball that is inserted as that one.
    [[nodiscard]] double radius(std::size_t number) const { return radii_.empty() ? radius_ : radii_[number]; }
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
        if (radii_.empty()) return static_cast<double>(balls) * ball_volume(Dim, radius_) / room;
        double filled = 0.0;
        for (const double radius : radii_) filled += ball_volume(Dim, radius);
        return static_cast<double>(balls) * (filled / static_cast<double>(radii_.size())) / room;
    }

    /// Bounds of the centres along an axis: whole balls lie inside the region.
    [[nodiscard]] double first_center(int axis) const { return first_center(axis, radius_); }
    [[nodiscard]] double last_center(int axis) const { return last_center(axis, radius_); }
    [[nodiscard]] double first_center(int axis, double radius) const {
        return wraps(axis) ? low(axis) : low(axis) + radius;
    }
    [[nodiscard]] double last_center(int axis, double radius) const {
        return wraps(axis) ? low(axis) + length(axis) : low(axis) + length(axis) - radius;
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
    [[nodiscard]] bool free_of_balls(const Point<Dim>& center, double radius, std::int32_t self = -1) const {
        const auto cell = grid_.cell_of(center);
        if (!cell_is_free(grid_.number(cell), center, radius, self)) return false;  // the likeliest place first
        return grid_.all_neighbours(cell,
                                    [&](std::size_t number) { return cell_is_free(number, center, radius, self); });
    }

    /// Neither a ball placed before nor a [[wall]] would overlap one at `center`.
    [[nodiscard]] bool free_of_obstacles(const Point<Dim>& center) const { return free_of_obstacles(center, radius_); }
    [[nodiscard]] bool free_of_obstacles(const Point<Dim>& center, double radius) const {
        if (!obstacles_.all().empty()) {
            const std::size_t number = grid_.number(grid_.cell_of(center));
            const bool free = obstacles_.all_in(number, [&](std::uint32_t at) {
                const Obstacle<Dim>& other = obstacles_.all()[at];
                const Point<Dim> apart = center - other.center;
                const double reach = other.reach - nearer(radius);
                return dot(apart, apart) >= reach * reach;
            });
            if (!free) return false;
        }
        for (const Boundary<Dim>& wall : walls_) {
            if (wall.gap(center - wall.reference, 0.0).distance < radius) return false;
        }
        return true;
    }

    /// A ball of the fill at `center` lies wholly inside the region.
    [[nodiscard]] bool holds(const Point<Dim>& center, double radius) const {
        if (radius <= smallest_) return true;
        for (int axis = 0; axis < Dim; ++axis) {
            if (center[axis] < first_center(axis, radius) || center[axis] > last_center(axis, radius)) return false;
        }
        return true;
    }

    /// All of these.
    [[nodiscard]] bool free(const Point<Dim>& center) const { return free(center, radius_); }
    [[nodiscard]] bool free(const Point<Dim>& center, double radius) const {
        return !surely_taken(center) && free_of_balls(center, radius) && free_of_obstacles(center, radius);
    }

    void insert(const Point<Dim>& center) {
        std::int32_t& first = first_[grid_.number(grid_.cell_of(center))];
        covered_.cover(center, scale_ * (radius(balls_.size()) + smallest_));
        balls_.push_back({center, first});
        first = static_cast<std::int32_t>(balls_.size() - 1);
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

    static double cells_of(const Region<Dim>& region, double width) {
        double cells = 1.0;
        for (int axis = 0; axis < Dim; ++axis) cells *= larger(1.0, region.length[axis] / width);
        return cells;
    }

    [[nodiscard]] std::int32_t tiles_along(int axis) const { return (grid_.cells(axis) + kTile - 1) / kTile; }

    /// By how much a ball may come nearer to an obstacle than the largest.
    [[nodiscard]] double nearer(double radius) const { return scale_ * (radius_ - radius); }

    [[nodiscard]] bool cell_is_free(std::size_t number, const Point<Dim>& center, double radius,
                                    std::int32_t self) const {
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
            const double apart = scale_ * (radius + this->radius(static_cast<std::size_t>(at)));
            if (square < apart * apart) return false;
        }
        return true;
    }

    double radius_;    // of the largest ball
    double smallest_;  // radius
    double scale_;     // of the distances that the fill's balls keep
    std::vector<double> radii_;
    std::vector<Boundary<Dim>> walls_;  // the [[wall]]s
    PlacementGrid<Dim> grid_;
    CoveredCells<Dim> covered_;
    std::vector<std::int32_t> first_;  // of the balls in a cell; -1: none
    std::vector<Ball> balls_;
    ObstacleCells<Dim> obstacles_;
};

/// What stands around balls that fly in a part of the box: the balls placed before, and the scene's [[wall]]s.
template <int Dim>
class Surroundings {
public:
    struct Encounter {
        double time = kNeverTouch;  ///< from now
        std::uint32_t number = 0;   ///< of what is met
    };

    Surroundings() = default;
    /// \param largest  radius of the balls that fly
    Surroundings(const Scene& scene, const PlacementGrid<Dim>& grid, const std::vector<PlacedBall<Dim>>& placed,
                 double largest)
        : largest_(largest),
          obstacles_(grid, scene.box, obstacles_for(largest, placed)),
          boundaries_(entry_boundaries<Dim>(scene)) {
        for (Boundary<Dim>& wall : boundaries_) wall.speed = 0.0;  // they move when the run begins
    }

    /// What a ball meets first while it is in a cell.
    [[nodiscard]] Encounter next(const Point<Dim>& center, const Point<Dim>& velocity, double radius,
                                 std::size_t cell) const {
        Encounter first;
        const auto note = [&first](double time, std::size_t number) {
            if (time < first.time) first = {time, static_cast<std::uint32_t>(number)};
        };
        obstacles_.all_in(cell, [&](std::uint32_t number) {
            const Obstacle<Dim>& other = obstacles_.all()[number];
            const double reach = other.reach - largest_ + radius;
            note(pair_time<double, Dim>(other.center - center, -1.0 * velocity, reach, 0.0, kNeverTouch).time, number);
            return true;
        });
        for (std::size_t wall = 0; wall < boundaries_.size(); ++wall) {
            const Point<Dim> straight = Point<Dim>::filled(0.0);
            note(boundaries_[wall].template touch_time<false>(center, velocity, straight, radius, 0.0, false),
                 obstacles_.all().size() + wall);
        }
        return first;
    }

    /// The velocity of a ball that touches what has this number, once it has bounced off.
    [[nodiscard]] Point<Dim> bounced(std::uint32_t number, const Point<Dim>& center, const Point<Dim>& velocity) const {
        if (number < obstacles_.all().size()) {
            const Point<Dim> apart = obstacles_.all()[number].center - center;
            const double closing = -dot(apart, velocity);
            if (closing >= 0.0) return velocity;
            return velocity - impulse_factor(closing, dot(apart, apart), 1.0, 1.0) * apart;
        }
        const Boundary<Dim>& boundary = boundaries_[number - obstacles_.all().size()];
        const Point<Dim> normal = boundary.gap(center - boundary.reference, 0.0).normal;
        return velocity + normal_impulse(dot(velocity, normal), 1.0, 1.0) * normal;
    }

private:
    double largest_ = 0.0;
    ObstacleCells<Dim> obstacles_;  // numbered first
    std::vector<Boundary<Dim>> boundaries_;
};

}  // namespace carom
