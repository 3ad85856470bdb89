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

void add_second_pictures(const Box& box, const BallPlace& place, float value, std::vector<BallPlace>& places,
                         std::vector<float>& values) {
    const std::array<float, 2> x{place.x, place.y};
    std::array<float, 2> around{};  // the way to the opposite face, where the ball hangs over
    for (int axis = 0; axis < 2; ++axis) {
        const auto k = static_cast<std::size_t>(axis);
        const auto size = static_cast<float>(box.size[k]);
        if (box.periodic(axis) && std::abs(x[k]) > 0.5f * size - place.radius) around[k] = x[k] > 0.0f ? -size : size;
    }
    const auto add = [&](float shift_x, float shift_y) {
        places.push_back({place.x + shift_x, place.y + shift_y, place.z, place.radius});
        values.push_back(value);
    };
    if (around[0] != 0.0f) add(around[0], 0.0f);
    if (around[1] != 0.0f) add(0.0f, around[1]);
    if (around[0] != 0.0f && around[1] != 0.0f) add(around[0], around[1]);
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
        const BallPlace place{static_cast<float>(x[0]), static_cast<float>(x[1]), static_cast<float>(x[2]),
                              static_cast<float>(radius)};
        places_.push_back(place);
        values_.push_back(values[id]);
        largest = std::max(largest, place.radius);
        if (box.dimension == 2) add_second_pictures(box, place, values[id], places_, values_);
    }
    return {places_, values_, origin, largest};
}

}  // namespace carom
