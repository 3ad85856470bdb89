#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/scene/atmosphere.hpp"
#include "host/scene/entries.hpp"
#include "kernels/core/transcendental.hpp"

namespace carom {
namespace {

constexpr double kDensestDisks = 0.9069;     // hexagonal, pi / sqrt(12)
constexpr double kDensestSpheres = 0.74049;  // fcc, pi / sqrt(18)

void read_count(const Section& section, const Scene& scene, FillEntry& fill) {
    const bool by_count = section.has("count");
    if (by_count == section.has("packing_fraction")) {
        section.fail(by_count ? "packing_fraction" : "count",
                     by_count ? "must not stand beside count" : "is required, or packing_fraction");
    }
    const bool flat = scene.dimension() == 2;
    const double r = scene.species[fill.species].radius;
    const double ball_volume = flat ? kPi * r * r : 4.0 / 3.0 * kPi * r * r * r;
    double region_volume = 1.0;
    double smallest_side = std::numeric_limits<double>::infinity();
    for (int axis = 0; axis < scene.dimension(); ++axis) {
        region_volume *= fill.region_max[axis] - fill.region_min[axis];
        smallest_side = std::min(smallest_side, fill.region_max[axis] - fill.region_min[axis]);
    }
    const std::string_view name = by_count ? "count" : "packing_fraction";
    fill.label = section.label(name);
    const double densest = flat ? kDensestDisks : kDensestSpheres;
    double fraction = 0.0;
    if (by_count) {
        fill.count = section.whole("count");
        fraction = static_cast<double>(fill.count) * ball_volume / region_volume;
    } else {
        fraction = section.number("packing_fraction");
        const double count = std::round(fraction * region_volume / ball_volume);
        if (count > static_cast<double>(kMostBalls))
            section.fail(name, fmt::format("gives {:.3g} balls, more than there are ids ({})", count, kMostBalls));
        fill.count = static_cast<std::uint64_t>(count);
    }
    if (fraction > densest) {
        section.fail(name, fmt::format("would fill {:.4g} of the region; {} packed as densely as can be fill {}",
                                       fraction, flat ? "disks" : "spheres", densest));
    }
    if (fill.count > 0 && 2.0 * r > smallest_side * (1.0 + kLengthSlack)) {
        section.fail("region", fmt::format("is {} across, less than a ball ({})", smallest_side, 2.0 * r));
    }
    if (scene.ball_count() + fill.count > kMostBalls) {
        section.fail(name, fmt::format("gives more balls than there are ids ({})", kMostBalls));
    }
}

}  // namespace

FillEntry read_fill(const Section& section, Scene& scene, SpeciesIndex& index) {
    FillEntry fill;
    fill.species = species_of(section, scene, index);
    const Species& species = scene.species[fill.species];
    const BoxPart region = read_region(section, scene.box);
    fill.region_min = region.min;
    fill.region_max = region.max;
    read_count(section, scene, fill);
    fill.arrangement = static_cast<Arrangement>(section.choice("arrangement"));
    fill.zero_momentum = section.flag("zero_momentum");
    if (section.has("temperature")) fill.temperature = section.number("temperature");
    if (section.has("speed")) fill.speed = section.number("speed");
    if (fill.temperature && fill.speed) section.fail("speed", "must not stand beside temperature");
    if (fill.temperature > 0.0 && std::isinf(species.mass)) {
        section.fail("temperature", "must be 0 for balls of infinite mass; give them a speed instead");
    }
    if (fill.count == 1 && fill.zero_momentum && (fill.temperature > 0.0 || fill.speed > 0.0)) {
        section.fail(fill.speed ? "speed" : "temperature",
                     "one ball alone cannot move and have no momentum; set zero_momentum = false");
    }
    if (fill.arrangement == Arrangement::kAtmosphere && fill.count > 0) check_atmosphere(section, scene, fill);
    return fill;
}

}  // namespace carom
