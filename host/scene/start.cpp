#include "host/scene/start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

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

}  // namespace

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
