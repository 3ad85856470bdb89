#include <fmt/format.h>

#include <cmath>

#include "host/scene/entries.hpp"
#include "kernels/core/transcendental.hpp"

namespace carom {
namespace {

Vector3 read_velocity(const Section& section, int dimension) {
    const bool angle = section.has("angle");
    const bool direction = section.has("direction");
    if (!section.has("speed")) {
        if (angle) section.fail("angle", "needs speed beside it");
        if (direction) section.fail("direction", "needs speed beside it");
        return section.vector("velocity", Vector3{});
    }
    if (section.has("velocity")) section.fail("speed", "must not stand beside velocity");
    const double speed = section.number("speed");
    if (angle && direction) section.fail("angle", "must not stand beside direction");
    if (angle) {
        if (dimension == 3) section.fail("angle", "is for two dimensions; in three give a direction");
        const SineCosine turned = sine_cosine_of_turns(std::fmod(section.number("angle"), 360.0) / 360.0);
        return {speed * turned.cosine, speed * turned.sine, 0.0};
    }
    if (!direction)
        section.fail("speed",
                     dimension == 2 ? "needs an angle or a direction beside it" : "needs a direction beside it");
    Vector3 result = unit_vector(section, "direction");
    for (double& component : result) component *= speed;
    return result;
}

}  // namespace

BallEntry read_ball(const Section& section, Scene& scene, SpeciesIndex& index) {
    BallEntry ball;
    ball.species = species_of(section, scene, index);
    ball.position = section.vector("position");
    ball.velocity = read_velocity(section, scene.dimension());
    ball.spin = section.spin("spin");
    const Box& box = scene.box;
    const double radius = scene.species[ball.species].radius;
    for (int axis = 0; axis < box.dimension; ++axis) {
        // A ball that enters through an open face may have its centre outside, but not its whole.
        const double low = box.min[axis] - (box.faces[axis][0] == Face::kOpen ? radius : 0.0);
        const double high = box.min[axis] + box.size[axis] + (box.faces[axis][1] == Face::kOpen ? radius : 0.0);
        if (ball.position[axis] < low || ball.position[axis] > high) {
            section.fail_at(
                "position", axis,
                fmt::format("must be inside the box, from {} to {}, not {}", low, high, ball.position[axis]));
        }
        if (box.periodic(axis) && ball.position[axis] >= high) ball.position[axis] = low;
    }
    return ball;
}

}  // namespace carom
