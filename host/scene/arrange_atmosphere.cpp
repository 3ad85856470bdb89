#include <fmt/format.h>

#include <cmath>

#include "host/scene/arrange.hpp"
#include "host/scene/growth.hpp"
#include "kernels/core/random.hpp"
#include "kernels/core/transcendental.hpp"
#include "kernels/core/wall_number.hpp"
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

std::optional<Refusal> check_atmosphere(const Scene& scene, const FillEntry& fill) {
    if (sizes_of(scene, fill.species) != nullptr) {
        return Refusal{"arrangement", "\"atmosphere\" is for balls of one radius, and these have sizes"};
    }
    int axes = 0;
    for (int axis = 0; axis < scene.dimension(); ++axis) axes += scene.physics.gravity[axis] != 0.0 ? 1 : 0;
    if (axes != 1) {
        return Refusal{"arrangement", fmt::format("\"atmosphere\" needs physics.gravity along one axis, not along {}",
                                                  axes == 0 ? "none" : fmt::format("{}", axes))};
    }
    if (!fill.temperature || !(*fill.temperature > 0.0)) {
        return Refusal{"arrangement", "\"atmosphere\" needs a temperature above 0"};
    }
    const Atmosphere gas = atmosphere_of(scene, fill);
    const WallNumber floor = WallNumber::face(gas.axis, gas.down ? 0 : 1);
    if (scene.box.faces[gas.axis][floor.end()] != Face::kWall) {
        return Refusal{"arrangement", fmt::format("\"atmosphere\" needs a floor: box.boundary must be \"wall\" at {}, "
                                                  "where gravity points to",
                                                  floor.name())};
    }
    const double floor_at = scene.box.min[gas.axis] + (gas.down ? 0.0 : scene.box.size[gas.axis]);
    const double region_at = gas.down ? fill.region_min[gas.axis] : fill.region_max[gas.axis];
    if (region_at != floor_at) {
        return Refusal{"region", fmt::format("must reach down to the floor, {} = {}, for an atmosphere; it ends at {}",
                                             floor.name(), floor_at, region_at)};
    }
    const int dimension = scene.dimension();
    const double most = largest_fluid_fraction(dimension);
    if (gas.bottom > most) {
        const double load =
            local_pressure(dimension, most) - local_pressure(dimension, local_packing(dimension, most, gas.top));
        return Refusal{
            "count",
            fmt::format("would press the gas to a packing fraction of {:.3g} at the floor, and it is a fluid up "
                        "to {} only, which {:.0f} balls reach at this temperature and gravity",
                        gas.bottom, most, std::floor(static_cast<double>(fill.count) * load / gas.load))};
    }
    return std::nullopt;
}

namespace {

constexpr std::uint64_t kTries = 4096;   // for a place at a given height
constexpr std::uint64_t kFewTries = 64;  // to count what would fit
constexpr double kGiveWay = 0.25;        // of a scale height, at most: how far growth may move a ball up or down

/// Heights of the centres, in scale heights above the lowest: the share of the weight that lies above each goes through
/// the golden-ratio sequence, so that every part of the column has the number of balls that theory gives it.
std::vector<double> heights_of(const Atmosphere& gas, int dimension, std::uint64_t count, std::uint64_t seed,
                               std::uint64_t stream) {
    const double above_all = local_pressure(dimension, gas.bottom) - gas.load;  // pressure on a ceiling
    std::uint64_t turn = random_words(seed, stream, RandomPurpose::kAtmosphere, ~0ULL).wide(0);
    std::vector<double> heights(count);
    for (double& height : heights) {
        turn += 0x9e3779b97f4a7c15ULL;  // 2^64 over the golden ratio
        const double share = (static_cast<double>(turn >> 12) + 0.5) * 0x1p-52;
        const double phi = bottom_packing(dimension, larger(above_all, 0.0) + share * gas.load);
        height = smaller(larger(height_of_packing(dimension, gas.bottom, phi), 0.0), gas.top);
    }
    return heights;
}

/// Inserts balls at the given coordinates along `axis`, at random places otherwise.
/// \param all  end with the first that finds no place; else leave it out
template <int Dim>
void insert_at(Space<Dim>& space, int axis, const std::vector<double>& along, std::uint64_t seed, std::uint64_t stream,
               bool all) {
    for (std::uint64_t ball = 0; ball < along.size(); ++ball) {
        const std::uint64_t most = all ? kTries : kFewTries;
        std::uint64_t tried = 0;
        for (; tried < most; ++tried) {
            const Point<Dim> unit =
                uniform_point<Dim>(random_words(seed, stream, RandomPurpose::kAtmosphere, ball * kTries + tried));
            Point<Dim> at;
            for (int other = 0; other < Dim; ++other) {
                const double first = space.first_center(other);
                at[other] = other == axis ? along[ball] : first + unit[other] * (space.last_center(other) - first);
            }
            if (!space.free(at)) continue;
            space.insert(at);
            break;
        }
        if (all && tried == most) return;
    }
}

/// Each ball may leave its height by so little that the profile stays.
template <int Dim>
std::vector<GrowingBall<Dim>> growing(const Space<Dim>& space, const Atmosphere& gas) {
    const double radius = space.radius();
    const double way = smaller(radius, kGiveWay * gas.scale_height);
    std::vector<GrowingBall<Dim>> balls;
    balls.reserve(space.size());
    for (std::size_t k = 0; k < space.size(); ++k) {
        GrowingBall<Dim> ball{space.ball(k), {}, {}, radius};
        for (int axis = 0; axis < Dim; ++axis) {
            ball.low[axis] = space.first_center(axis);
            ball.high[axis] = space.last_center(axis);
        }
        ball.low[gas.axis] = larger(ball.low[gas.axis], ball.center[gas.axis] - way);
        ball.high[gas.axis] = smaller(ball.high[gas.axis], ball.center[gas.axis] + way);
        balls.push_back(ball);
    }
    return balls;
}

/// The local-density profile of a gas under gravity (Atmosphere), at random within it: by insertion, or,
/// where that does not reach, by growth of balls that keep their heights.
template <int Dim>
std::vector<Point<Dim>> arrange_as_atmosphere(const Scene& scene, std::size_t number,
                                              const std::vector<PlacedBall<Dim>>& before) {
    const FillEntry& fill = scene.fills[number];
    if (fill.count == 0) return {};
    const Atmosphere gas = atmosphere_of(scene, fill);
    std::vector<double> along = heights_of(gas, Dim, fill.count, scene.seed, number);
    const double radius = scene.species[fill.species].radius;
    const double low = fill.region_min[gas.axis] + radius;
    const double high = fill.region_max[gas.axis] - radius;
    for (double& at : along) {
        const double height = at * gas.scale_height;
        at = gas.down ? smaller(low + height, high) : larger(high - height, low);
    }
    const std::vector<Obstacle<Dim>> obstacles = obstacles_for(radius, before);
    const auto inserted = [&](double scale, bool all) {
        Space<Dim> space(scene, fill, fill.count, obstacles, scale);
        insert_at(space, gas.axis, along, scene.seed, number, all);
        return space;
    };
    if (gas.bottom <= kInsertionReaches<Dim>) {
        const Space<Dim> space = inserted(1.0, true);
        if (space.size() == fill.count) return space.centers();
    }
    for (double scale = 0.95; scale > kSmallestStart; scale *= 0.95) {
        if ((Dim == 2 ? 1.0 : scale) * scale * scale * gas.bottom > kGrowthStarts<Dim>) continue;
        const Space<Dim> space = inserted(scale, true);
        if (space.size() < fill.count) continue;
        std::vector<GrowingBall<Dim>> balls = growing(space, gas);
        if (grow(scene, Region<Dim>(scene, fill), before, scale, balls) < 1.0) break;
        std::vector<Point<Dim>> centers;
        centers.reserve(balls.size());
        for (const auto& ball : balls) centers.push_back(ball.center);
        return centers;
    }
    const Space<Dim> most = inserted(1.0, false);
    refuse_fill(scene, number, most, most.size());
}

}  // namespace

ArrangementEntry atmosphere_arrangement() {
    return {
        .kind = {"atmosphere", {}, "as dense at each height as gravity, temperature and local-density theory make it"},
        .disks = arrange_as_atmosphere<2>,
        .spheres = arrange_as_atmosphere<3>,
        .check = check_atmosphere};
}

}  // namespace carom
