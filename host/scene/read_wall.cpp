#include <algorithm>
#include <cmath>

#include "host/scene/entries.hpp"

namespace carom {

Wall read_wall(const Section& section, const Scene& scene) {
    Wall wall;
    wall.shape = static_cast<Wall::Shape>(section.choice("shape"));
    const bool plane = wall.shape == Wall::Shape::kPlane;
    wall.temperature = section.number("temperature");
    for (const char* name : {"normal", "offset", "velocity"}) {
        if (!plane && section.has(name)) section.fail(name, "is for shape = \"plane\"");
    }
    for (const char* name : {"center", "radius", "side"}) {
        if (plane && section.has(name)) section.fail(name, "is for shape = \"sphere\"");
    }
    if (!plane) {
        if (!section.has("center")) section.fail("center", "is required for a sphere");
        if (!section.has("radius")) section.fail("radius", "is required for a sphere");
        wall.center = section.vector("center");
        wall.radius = section.number("radius");
        wall.side = static_cast<Wall::Side>(section.choice("side"));
        return wall;
    }
    if (!section.has("normal")) section.fail("normal", "is required for a plane");
    wall.normal = unit_vector(section, "normal");
    wall.offset = section.number("offset");
    wall.velocity = section.number("velocity");
    for (int axis = 0; axis < scene.dimension(); ++axis) {
        if (wall.normal[axis] != 0.0 && scene.box.periodic(axis)) {
            section.fail_at("normal", axis,
                            "must be 0 along a periodic axis: the wall would not meet itself at the seam");
        }
    }
    return wall;
}

Vector3 unit_vector(const Section& section, std::string_view name) {
    Vector3 vector = section.vector(name);
    double largest = 0.0;
    for (const double component : vector) largest = std::max(largest, std::abs(component));
    if (largest == 0.0) section.fail(name, "must not be zero");
    double square = 0.0;
    for (double& component : vector) {
        component /= largest;  // so that the square neither overflows nor vanishes
        square += component * component;
    }
    for (double& component : vector) component /= std::sqrt(square);
    return vector;
}

}  // namespace carom
