#include "host/scene/walls.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

#include "host/scene/read.hpp"
#include "host/scene/stages.hpp"

namespace carom {

namespace {

Vec<double, 3> vector_of(const Vector3& point) { return {point[0], point[1], point[2]}; }

}  // namespace

std::vector<Boundary<3>> all_walls(const Scene& scene) {
    const Box& box = scene.box;
    std::vector<Boundary<3>> walls;
    for (int axis = 0; axis < box.dimension; ++axis) {
        for (int end = 0; end < 2; ++end) {
            if (box.faces[axis][end] != Face::kWall) continue;
            walls.push_back(face_boundary(WallNumber::face(axis, end), vector_of(box.min), vector_of(box.size),
                                          box.temperature[axis][end]));
        }
    }
    for (const Boundary<3>& wall : entry_boundaries<3>(scene)) walls.push_back(wall);
    return walls;
}

WallGap<3> wall_gap(const Boundary<3>& wall, const Vector3& point) {
    return wall.gap(vector_of(point) - wall.reference, 0.0);
}

std::string wall_name(WallNumber wall) { return wall.is_face() ? "the " + wall.name() + " wall" : wall.name(); }

std::string moving_shapes() {
    std::string text;
    for (std::uint8_t shape = 0; shape < WallShapes<3>::kCount; ++shape) {
        if (can_move({.shape = shape})) {
            text += fmt::format("{}{}s", text.empty() ? "" : " and ", wall_shape_kinds()[shape].name);
        }
    }
    return text;
}

double Room::volume() const {
    double volume = 1.0;
    for (int k = 0; k < dimension; ++k) volume *= axis[static_cast<std::size_t>(k)].length();
    return volume;
}

int axis_across(const Wall& wall, int dimension) {
    return make_boundary<3>(wall, WallNumber::entry(0)).shape.visit([dimension](const auto& shape) {
        return shape.across(dimension);
    });
}

WallBox wall_box(const Box& box) {
    return {box.dimension, vector_of(box.min), vector_of(box.min) + vector_of(box.size)};
}

Room room_of(const Box& box, double radius) {
    Room room{.dimension = box.dimension};
    for (int axis = 0; axis < box.dimension; ++axis) {
        room.axis[static_cast<std::size_t>(axis)] = {box.low(axis, radius), box.high(axis, radius)};
    }
    return room;
}

Room room_at(const Scene& scene, double time, double radius) {
    const WallBox box = wall_box(scene.box);
    Room room = room_of(scene.box, radius);
    WallBox left = box;
    for (int axis = 0; axis < box.dimension; ++axis) {
        left.low[axis] = room.axis[static_cast<std::size_t>(axis)].low;
        left.high[axis] = room.axis[static_cast<std::size_t>(axis)].high;
    }
    for (const Wall& wall : walls_at(scene, time)) {
        const Boundary<3> boundary = make_boundary<3>(wall, WallNumber::entry(0));
        const bool any =
            boundary.shape.visit([&](const auto& shape) { return shape.leave(boundary.reference, box, radius, left); });
        if (!any) return Room{.dimension = box.dimension};
    }
    for (int axis = 0; axis < box.dimension; ++axis) {
        room.axis[static_cast<std::size_t>(axis)] = {left.low[axis], left.high[axis]};
    }
    return room;
}

Wall read_wall(const Section& section, const Scene& scene) {
    Wall wall;
    wall.shape = static_cast<std::uint8_t>(section.choice("shape"));
    wall.temperature = section.number("temperature");
    WallShapes<3>::with_type(wall.shape, [&]<class Shape>() {
        if (scene.dimension() < Shape::kLeastDimension) {
            section.fail("shape",
                         fmt::format("\"{}\" needs scene.dimension = {}", Shape::kName, Shape::kLeastDimension));
        }
        wall.values = section.values(Shape::kKeys);
        if (!Shape::kMovingKey.empty()) wall.velocity = section.number("velocity");
        const Shape shape = Shape::make(wall.values);
        for (int axis = 0; axis < scene.dimension(); ++axis) {
            if (!scene.box.periodic(axis) || !shape.along(axis).jumps()) continue;
            section.fail_at(Shape::kSeam.direction, axis, std::string(Shape::kSeam.must));
        }
    });
    return wall;
}

}  // namespace carom
