#include "host/scene/start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "host/scene/placement_grid.hpp"
#include "host/scene/walls.hpp"
#include "kernels/physics/touching.hpp"

namespace carom {
namespace {

/// From b to a, the nearest image.
double distance_between(const Box& box, const Vector3& a, const Vector3& b) {
    double square = 0.0;
    for (int axis = 0; axis < box.dimension; ++axis) {
        double along = a[axis] - b[axis];
        if (box.periodic(axis)) {
            along = std::abs(along);
            along = std::min(along, box.size[axis] - along);
        }
        square += along * along;
    }
    return std::sqrt(square);
}

/// Calls f(i, j, distance of centres) for each pair of [[ball]]s that touch, i below j.
template <class F>
void for_each_touching(const Scene& scene, F&& f) {
    const auto radius = [&](std::uint32_t id) { return scene.species[scene.balls[id].species].radius; };
    // Sweep along x: only balls whose spans overlap are compared. On a periodic axis a ball near the lower face
    // appears a second time behind the upper one.
    struct Span {
        double begin;
        double end;
        std::uint32_t id;
    };
    std::vector<Span> spans;
    spans.reserve(scene.balls.size());
    double largest = 0.0;
    for (std::uint32_t id = 0; id < scene.balls.size(); ++id) largest = std::max(largest, radius(id));
    for (std::uint32_t id = 0; id < scene.balls.size(); ++id) {
        const double x = scene.balls[id].position[0];
        spans.push_back({x - radius(id), x + radius(id), id});
        if (scene.box.periodic(0) && x - scene.box.min[0] < 2.0 * largest) {
            spans.push_back({x + scene.box.size[0] - radius(id), x + scene.box.size[0] + radius(id), id});
        }
    }
    std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
    std::vector<Span> open;
    for (const Span& span : spans) {
        std::erase_if(open, [&](const Span& other) { return other.end < span.begin; });
        for (const Span& other : open) {
            const std::uint32_t i = std::min(span.id, other.id);
            const std::uint32_t j = std::max(span.id, other.id);
            if (i == j) continue;
            const double distance = distance_between(scene.box, scene.balls[i].position, scene.balls[j].position);
            if (distance < radius(i) + radius(j)) f(i, j, distance);
        }
        open.push_back(span);
    }
}

/// By more than this part of the sum of their radii no two hard balls ever overlap; rounding makes 1e-12 of it.
constexpr double kNeverDeeper = 1.0e-3;

template <int Dim>
std::optional<StartOverlap> find_overlap(const Scene& scene, const Balls& balls) {
    const Box& box = scene.box;
    const bool events = scene.run.solver == SolverKind::kEvents;
    Point<Dim> low;
    Point<Dim> length;
    Vec<bool, Dim> wraps;
    double longest = 0.0;
    for (int axis = 0; axis < Dim; ++axis) {
        low[axis] = box.min[axis];
        length[axis] = box.size[axis];
        wraps[axis] = box.periodic(axis);
        longest = std::max(longest, box.size[axis]);
    }
    double width = 0.0;
    for (const Species& species : balls.species_table) width = std::max(width, 2.0 * species.radius);
    const auto cells = [&] {
        double product = 1.0;
        for (int axis = 0; axis < Dim; ++axis) product *= std::max(1.0, std::floor(length[axis] / width));
        return product;
    };
    constexpr double kMostAlong = 1.0e9;  // cells of an axis are counted in 31 bits
    while (cells() > 4.0 * static_cast<double>(balls.size()) + 64.0 || longest / width > kMostAlong) width *= 1.25;
    const PlacementGrid<Dim> grid(low, length, wraps, width);

    // The balls of a cell are a list: `first` of the cell, then `next` of each; -1 ends it.
    std::vector<std::int64_t> first(grid.count(), -1);
    std::vector<std::int64_t> next(balls.size(), -1);
    for (std::size_t id = 0; id < balls.size(); ++id) {
        if (balls.gone[id] != 0) continue;
        Point<Dim> place;
        for (int axis = 0; axis < Dim; ++axis) place[axis] = balls.position[axis][id];
        const auto cell = grid.cell_of(place);
        std::optional<StartOverlap> found;
        const auto look = [&](std::size_t number) {
            for (std::int64_t other = first[number]; other >= 0; other = next[static_cast<std::size_t>(other)]) {
                const auto i = static_cast<std::size_t>(other);
                const Species& a = balls.species_of(i);
                const Species& b = balls.species_of(id);
                Vector3 of_a{};
                Vector3 of_b{};
                for (int axis = 0; axis < Dim; ++axis) {
                    of_a[axis] = balls.position[axis][i];
                    of_b[axis] = balls.position[axis][id];
                }
                const double sum = a.radius + b.radius;
                const double overlap = sum - distance_between(box, of_a, of_b);
                const bool bad =
                    events ? overlap > kNeverDeeper * sum : sum - overlap < kDeepest * std::min(a.radius, b.radius);
                if (!bad || (std::isinf(a.mass) && std::isinf(b.mass))) continue;
                found =
                    StartOverlap{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(id), overlap, overlap / sum};
                return false;
            }
            return true;
        };
        const std::size_t own = grid.number(cell);
        if (look(own)) grid.all_neighbours(cell, look);
        if (found) return found;
        next[id] = std::exchange(first[own], static_cast<std::int64_t>(id));
    }
    return std::nullopt;
}

}  // namespace

std::optional<StartOverlap> impossible_overlap(const Scene& scene, const Balls& balls) {
    if (balls.size() == 0) return std::nullopt;
    return balls.dimension == 2 ? find_overlap<2>(scene, balls) : find_overlap<3>(scene, balls);
}

std::optional<StartOverlap> start_overlap(const Scene& scene) {
    const bool events = scene.run.solver == SolverKind::kEvents;
    const auto radius = [&](std::uint32_t id) { return scene.species[scene.balls[id].species].radius; };
    std::optional<StartOverlap> first;
    for_each_touching(scene, [&](std::uint32_t i, std::uint32_t j, double distance) {
        const double sum = radius(i) + radius(j);
        const bool bad =
            events ? sum - distance > kTouching * sum : distance < kDeepest * std::min(radius(i), radius(j));
        if (!bad) return;
        if (!first || j < first->j || (j == first->j && i < first->i)) {
            first = StartOverlap{i, j, sum - distance, (sum - distance) / sum};
        }
    });
    return first;
}

std::vector<std::string> start_warnings(const Scene& scene) {
    const auto species = [&](std::uint32_t id) -> const Species& { return scene.species[scene.balls[id].species]; };
    const double limit = scene.spring.max_overlap;
    std::vector<std::string> warnings;

    std::uint64_t pairs = 0;
    StartOverlap deepest;
    for_each_touching(scene, [&](std::uint32_t i, std::uint32_t j, double distance) {
        if (std::isinf(species(i).mass) && std::isinf(species(j).mass)) return;
        const double overlap = species(i).radius + species(j).radius - distance;
        const double fraction = overlap / std::min(species(i).radius, species(j).radius);
        if (fraction <= limit) return;
        ++pairs;
        if (fraction > deepest.fraction) deepest = {i, j, overlap, fraction};
    });
    if (pairs > 0) {
        warnings.push_back(fmt::format(
            "{} of balls overlap{} at the start by more than spring.max_overlap = {}, and will fly apart: at most ball "
            "{} and ball {}, by {:.3g} of the smaller radius",
            pairs == 1 ? "a pair" : fmt::format("{} pairs", pairs), pairs == 1 ? "s" : "", limit, deepest.i, deepest.j,
            deepest.fraction));
    }

    const std::vector<Boundary<3>> walls = all_walls(scene);
    std::uint64_t balls = 0;
    double worst = 0.0;
    std::uint32_t worst_ball = 0;
    WallNumber worst_wall(0);
    for (std::uint32_t id = 0; id < scene.balls.size(); ++id) {
        if (std::isinf(species(id).mass)) continue;
        bool reaches = false;
        for (const Boundary<3>& wall : walls) {
            const double fraction = 1.0 - wall_gap(wall, scene.balls[id].position).distance / species(id).radius;
            if (fraction <= limit) continue;
            reaches = true;
            if (fraction <= worst) continue;
            worst = fraction;
            worst_ball = id;
            worst_wall = WallNumber(wall.number);
        }
        balls += reaches ? 1 : 0;
    }
    if (balls > 0) {
        warnings.push_back(fmt::format(
            "{} into a wall at the start by more than spring.max_overlap = {}, and will fly off: at most ball {} into "
            "{}, by {:.3g} of its radius",
            balls == 1 ? "a ball reaches" : fmt::format("{} balls reach", balls), limit, worst_ball,
            wall_name(worst_wall), worst));
    }
    return warnings;
}

}  // namespace carom
