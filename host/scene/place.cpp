#include "host/scene/place.hpp"

#include <algorithm>
#include <vector>

#include "host/scene/arrange.hpp"
#include "host/scene/velocities.hpp"

namespace carom {
namespace {

template <int Dim>
void place_fills(const Scene& scene, Balls& balls) {
    std::uint64_t next = scene.balls.size();
    for (std::size_t number = 0; number < scene.fills.size(); ++number) {
        const FillEntry& fill = scene.fills[number];
        const double radius = scene.species[fill.species].radius;
        std::vector<Obstacle<Dim>> before(next);
        for (std::uint64_t id = 0; id < next; ++id) {
            before[id].reach = radius + balls.species_of(id).radius;
            for (int axis = 0; axis < Dim; ++axis) before[id].center[axis] = balls.position[axis][id];
        }
        const ArrangementEntry& arrangement = arrangements()[static_cast<std::size_t>(fill.arrangement)];
        std::vector<Point<Dim>> centers;
        if constexpr (Dim == 2) {
            centers = arrangement.disks(scene, number, before);
        } else {
            centers = arrangement.spheres(scene, number, before);
        }
        for (std::uint64_t index = 0; index < centers.size(); ++index) {
            balls.species[next + index] = fill.species;
            for (int axis = 0; axis < Dim; ++axis) balls.position[axis][next + index] = centers[index][axis];
        }
        set_velocities(scene, fill, next, balls);
        next += fill.count;
    }
}

}  // namespace

Balls make_balls(const Scene& scene) {
    Balls balls;
    balls.dimension = scene.dimension();
    balls.species_table = scene.species;
    balls.resize(scene.ball_count());
    for (std::size_t id = 0; id < scene.balls.size(); ++id) {
        const BallEntry& entry = scene.balls[id];
        balls.species[id] = entry.species;
        for (int axis = 0; axis < balls.dimension; ++axis) {
            balls.position[axis][id] = entry.position[axis];
            balls.velocity[axis][id] = entry.velocity[axis];
        }
        for (int axis = 0; axis < 3; ++axis) {
            if (!balls.spin[axis].empty()) balls.spin[axis][id] = entry.spin[axis];
        }
    }
    if (balls.dimension == 2) {
        place_fills<2>(scene, balls);
    } else {
        place_fills<3>(scene, balls);
    }
    return balls;
}

}  // namespace carom
