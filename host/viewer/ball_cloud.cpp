#include "host/viewer/ball_cloud.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace carom {

Vector3 cloud_origin(const Box& box) {
    Vector3 origin{};
    for (int axis = 0; axis < box.dimension; ++axis) origin[axis] = box.min[axis] + 0.5 * box.size[axis];
    return origin;
}

BallCloud CloudMaker::make(const Scene& scene, const Balls& balls, const Frame& frame, std::span<const float> values) {
    const Box& box = scene.box;
    const Vector3 origin = cloud_origin(box);
    places_.clear();
    values_.clear();
    float largest = 0.0f;
    for (std::size_t id = 0; id < frame.size(); ++id) {
        if (frame.gone[id] != 0) continue;
        const double radius = balls.species_of(id).radius;
        Vector3 x{};
        bool finite = true;
        for (int axis = 0; axis < frame.dimension; ++axis) {
            x[axis] = frame.position[axis][id] - origin[axis];
            finite = finite && std::isfinite(x[axis]);
        }
        if (!finite) continue;
        const auto add = [&](double shift_x, double shift_y) {
            places_.push_back({static_cast<float>(x[0] + shift_x), static_cast<float>(x[1] + shift_y),
                               static_cast<float>(x[2]), static_cast<float>(radius)});
            values_.push_back(values[id]);
        };
        add(0.0, 0.0);
        largest = std::max(largest, static_cast<float>(radius));
        if (box.dimension != 2) continue;
        std::array<double, 2> around{};  // the way to the opposite face, where the ball hangs over
        for (int axis = 0; axis < 2; ++axis) {
            if (box.periodic(axis) && std::abs(x[axis]) > 0.5 * box.size[axis] - radius) {
                around[axis] = x[axis] > 0.0 ? -box.size[axis] : box.size[axis];
            }
        }
        if (around[0] != 0.0) add(around[0], 0.0);
        if (around[1] != 0.0) add(0.0, around[1]);
        if (around[0] != 0.0 && around[1] != 0.0) add(around[0], around[1]);
    }
    return {places_, values_, origin, largest};
}

}  // namespace carom
