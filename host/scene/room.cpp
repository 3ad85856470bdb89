#include "host/scene/room.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include "host/scene/stages.hpp"

namespace carom {

namespace {

/// The place in the box that is farthest along a direction, as a plane's offset.
double farthest_along(const Box& box, const Vector3& normal) {
    double farthest = 0.0;
    for (int axis = 0; axis < box.dimension; ++axis) {
        farthest += normal[axis] * (box.min[axis] + (normal[axis] > 0.0 ? box.size[axis] : 0.0));
    }
    return farthest;
}

}  // namespace

double Room::volume() const {
    double volume = 1.0;
    for (int k = 0; k < dimension; ++k) volume *= axis[static_cast<std::size_t>(k)].length();
    return volume;
}

int axis_across(const Wall& wall, int dimension) {
    constexpr double kStraight = 1.0 - 1e-12;  // of a unit vector's component
    for (int axis = 0; wall.shape == Wall::Shape::kPlane && axis < dimension; ++axis) {
        if (std::abs(wall.normal[axis]) >= kStraight) return axis;
    }
    return -1;
}

Room room_of(const Box& box, double radius) {
    Room room{.dimension = box.dimension};
    for (int axis = 0; axis < box.dimension; ++axis) {
        const double kept = box.periodic(axis) ? 0.0 : radius;
        room.axis[static_cast<std::size_t>(axis)] = {box.min[axis] + kept, box.min[axis] + box.size[axis] - kept};
    }
    return room;
}

Room room_at(const Scene& scene, double time, double radius) {
    const Box& box = scene.box;
    Room room = room_of(box, radius);
    for (const Wall& wall : walls_at(scene, time)) {
        if (wall.shape != Wall::Shape::kPlane) continue;
        if (wall.offset >= farthest_along(box, wall.normal)) return Room{.dimension = box.dimension};
        const int axis = axis_across(wall, box.dimension);
        if (axis < 0) continue;  // and no wall lies across a periodic axis
        Extent& extent = room.axis[static_cast<std::size_t>(axis)];
        if (wall.normal[axis] > 0.0) {
            extent.low = std::max(extent.low, wall.offset + radius);
        } else {
            extent.high = std::min(extent.high, -wall.offset - radius);
        }
    }
    return room;
}

}  // namespace carom
