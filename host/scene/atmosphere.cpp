#include "host/scene/atmosphere.hpp"

#include <fmt/format.h>

#include <cmath>

#include "host/scene/start.hpp"
#include "kernels/core/transcendental.hpp"
#include "kernels/physics/atmosphere.hpp"

namespace carom {

Atmosphere atmosphere_of(const Scene& scene, const FillEntry& fill) {
    Atmosphere gas;
    const int dimension = scene.dimension();
    while (gas.axis < dimension - 1 && scene.physics.gravity[gas.axis] == 0.0) ++gas.axis;
    const double g = scene.physics.gravity[gas.axis];
    gas.down = g < 0.0;
    const Species& species = scene.species[fill.species];
    gas.scale_height = *fill.temperature / (species.mass * (gas.down ? -g : g));
    double area = 1.0;
    for (int axis = 0; axis < dimension; ++axis) {
        if (axis != gas.axis) area *= fill.region_max[axis] - fill.region_min[axis];
    }
    const double r = species.radius;
    const double volume = kPi * r * r * (dimension == 2 ? 1.0 : 4.0 / 3.0 * r);
    const double height = fill.region_max[gas.axis] - fill.region_min[gas.axis] - 2.0 * r;
    gas.top = (height > 0.0 ? height : 0.0) / gas.scale_height;
    gas.load = static_cast<double>(fill.count) * volume / (area * gas.scale_height);
    gas.bottom = bottom_packing_below(dimension, gas.load, gas.top);
    return gas;
}

void check_atmosphere(const Section& section, const Scene& scene, const FillEntry& fill) {
    int axes = 0;
    for (int axis = 0; axis < scene.dimension(); ++axis) axes += scene.physics.gravity[axis] != 0.0 ? 1 : 0;
    if (axes != 1) {
        section.fail("arrangement", fmt::format("\"atmosphere\" needs physics.gravity along one axis, not along {}",
                                                axes == 0 ? "none" : fmt::format("{}", axes)));
    }
    if (!fill.temperature || !(*fill.temperature > 0.0)) {
        section.fail("arrangement", "\"atmosphere\" needs a temperature above 0");
    }
    const Atmosphere gas = atmosphere_of(scene, fill);
    const int floor = 2 * gas.axis + (gas.down ? 0 : 1);
    if (!is_wall(scene, floor)) {
        section.fail("arrangement", fmt::format("\"atmosphere\" needs a floor: box.boundary must be \"wall\" at {}-{}, "
                                                "where gravity points to",
                                                "xyz"[gas.axis], gas.down ? "min" : "max"));
    }
    const double floor_at = scene.box.min[gas.axis] + (gas.down ? 0.0 : scene.box.size[gas.axis]);
    const double region_at = gas.down ? fill.region_min[gas.axis] : fill.region_max[gas.axis];
    if (region_at != floor_at) {
        section.fail("region", fmt::format("must reach down to the floor, {}-{} = {}, for an atmosphere; it ends at {}",
                                           "xyz"[gas.axis], gas.down ? "min" : "max", floor_at, region_at));
    }
    const int dimension = scene.dimension();
    const double most = largest_fluid_fraction(dimension);
    if (gas.bottom > most) {
        const double load =
            local_pressure(dimension, most) - local_pressure(dimension, local_packing(dimension, most, gas.top));
        section.fail(
            section.has("count") ? "count" : "packing_fraction",
            fmt::format("would press the gas to a packing fraction of {:.3g} at the floor, and it is a fluid up "
                        "to {} only, which {:.0f} balls reach at this temperature and gravity",
                        gas.bottom, most, std::floor(static_cast<double>(fill.count) * load / gas.load)));
    }
}

}  // namespace carom
