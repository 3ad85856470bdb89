#include "host/scene/start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace carom {
namespace {

constexpr double kDeepest = 0.5;  // of the smaller radius: centres nearer than this stop a spring run

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

}  // namespace

int wall_end(const Scene& scene) { return 6 + static_cast<int>(scene.walls.size()); }

bool is_wall(const Scene& scene, int wall) {
    if (wall >= 6) return true;
    return wall / 2 < scene.dimension() && scene.box.faces[wall / 2][wall % 2] == Face::kWall;
}

std::string wall_name(int wall) {
    if (wall >= 6) return fmt::format("wall[{}]", wall - 6);
    return fmt::format("the {}-{} wall", "xyz"[wall / 2], wall % 2 == 0 ? "min" : "max");
}

double wall_distance(const Scene& scene, int wall, const Vector3& point) {
    if (wall < 6) {
        const int axis = wall / 2;
        return wall % 2 == 0 ? point[axis] - scene.box.min[axis]
                             : scene.box.min[axis] + scene.box.size[axis] - point[axis];
    }
    const Wall& shape = scene.walls[static_cast<std::size_t>(wall - 6)];
    double sum = 0.0;
    if (shape.shape == Wall::Shape::kPlane) {
        for (int axis = 0; axis < scene.dimension(); ++axis) sum += shape.normal[axis] * point[axis];
        return sum - shape.offset;
    }
    for (int axis = 0; axis < scene.dimension(); ++axis) {
        sum += (point[axis] - shape.center[axis]) * (point[axis] - shape.center[axis]);
    }
    const double outside = std::sqrt(sum) - shape.radius;
    return shape.side == Wall::Side::kOutside ? outside : -outside;
}

std::optional<StartOverlap> start_overlap(const Scene& scene) {
    const bool events = scene.run.solver == SolverKind::kEvents;
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
    std::optional<StartOverlap> first;
    std::vector<Span> open;
    for (const Span& span : spans) {
        std::erase_if(open, [&](const Span& other) { return other.end < span.begin; });
        for (const Span& other : open) {
            const std::uint32_t i = std::min(span.id, other.id);
            const std::uint32_t j = std::max(span.id, other.id);
            if (i == j) continue;
            const double sum = radius(i) + radius(j);
            const double distance = distance_between(scene.box, scene.balls[i].position, scene.balls[j].position);
            const bool bad =
                events ? sum - distance > kTouching * sum : distance < kDeepest * std::min(radius(i), radius(j));
            if (!bad) continue;
            if (!first || j < first->j || (j == first->j && i < first->i)) {
                first = StartOverlap{i, j, sum - distance, (sum - distance) / sum};
            }
        }
        open.push_back(span);
    }
    return first;
}

}  // namespace carom
