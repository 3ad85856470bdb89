#include "host/scene/place.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <limits>
#include <new>
#include <vector>

#include "host/scene/arrange.hpp"
#include "host/scene/velocities.hpp"
#include "host/state/errors.hpp"

namespace carom {
namespace {

/// The first fill after `number` that is not placed together with it: random fills in a row make one packing.
std::size_t end_of_packing(const Scene& scene, std::size_t number) {
    std::size_t end = number + 1;
    if (scene.fills[number].arrangement != Arrangement::kRandom) return end;
    while (end < scene.fills.size() && scene.fills[end].arrangement == Arrangement::kRandom) ++end;
    return end;
}

template <int Dim>
std::vector<std::vector<Point<Dim>>> arrange(const Scene& scene, std::size_t number, std::size_t end,
                                             const std::vector<PlacedBall<Dim>>& before) {
    if (end > number + 1) return pack_randomly(scene, number, end, before);
    const ArrangementEntry& arrangement = arrangements()[static_cast<std::size_t>(scene.fills[number].arrangement)];
    if constexpr (Dim == 2) {
        return {arrangement.disks(scene, number, before)};
    } else {
        return {arrangement.spheres(scene, number, before)};
    }
}

template <int Dim>
void place_fills(const Scene& scene, Balls& balls) {
    std::uint64_t next = scene.balls.size();
    std::vector<PlacedBall<Dim>> before(next);
    for (std::uint64_t id = 0; id < next; ++id) {
        before[id].radius = balls.species_of(id).radius;
        for (int axis = 0; axis < Dim; ++axis) before[id].center[axis] = balls.position[axis][id];
    }
    for (std::size_t number = 0; number < scene.fills.size();) {
        const std::size_t end = end_of_packing(scene, number);
        const auto centers = arrange<Dim>(scene, number, end, before);
        for (const std::vector<Point<Dim>>& of_fill : centers) {
            const FillEntry& fill = scene.fills[number++];
            for (std::uint64_t index = 0; index < of_fill.size(); ++index) {
                balls.species[next + index] = fill.species;
                for (int axis = 0; axis < Dim; ++axis) balls.position[axis][next + index] = of_fill[index][axis];
                if (number < scene.fills.size()) {
                    before.push_back({of_fill[index], scene.species[fill.species].radius});
                }
            }
            set_velocities(scene, fill, next, balls);
            next += fill.count;
        }
    }
}

/// Memory that the balls of a scene take while they are placed, at least [bytes].
double placing_bytes(const Scene& scene) {
    const double numbers = scene.dimension() == 2 ? 2 + 2 + 1 : 3 + 3 + 3;  // position, velocity, spin
    const double ball = 8.0 * numbers + 4.0 * scene.dimension() + 4 + 1;    // image counts, species, whether gone
    double largest = 0.0;  // fill: sites of its balls, obstacles before it
    double before = static_cast<double>(scene.balls.size());
    for (const FillEntry& fill : scene.fills) {
        const auto count = static_cast<double>(fill.count);
        const double dimension = scene.dimension();
        largest = std::max(largest, 8.0 * dimension * count + 8.0 * (dimension + 1.0) * before);
        before += count;
    }
    return ball * before + largest;
}

/// Memory that this process may have: the machine's, with swap, or what a limit leaves [bytes].
double memory_limit() {
    double limit = std::numeric_limits<double>::infinity();
    struct sysinfo machine {};
    if (sysinfo(&machine) == 0) {
        limit = (static_cast<double>(machine.totalram) + static_cast<double>(machine.totalswap)) * machine.mem_unit;
    }
    struct rlimit most {};
    if (getrlimit(RLIMIT_AS, &most) == 0 && most.rlim_cur != RLIM_INFINITY) {
        limit = std::min(limit, static_cast<double>(most.rlim_cur));
    }
    return limit;
}

[[noreturn]] void too_large(const Scene& scene) {
    const FillEntry* largest = nullptr;
    for (const FillEntry& fill : scene.fills) {
        if (largest == nullptr || fill.count > largest->count) largest = &fill;
    }
    throw SystemError(
        fmt::format("{}: {} balls take {:.3g} GB while they are placed, and this process may have {:.3g} GB",
                    largest == nullptr ? scene.path : largest->label, scene.ball_count(), placing_bytes(scene) / 1e9,
                    memory_limit() / 1e9));
}

Balls placed_balls(const Scene& scene) {
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

}  // namespace

Balls make_balls(const Scene& scene) {
    // Memory is promised more freely than it is there: without a look first, the system would kill the process.
    if (placing_bytes(scene) > memory_limit()) too_large(scene);
    try {
        return placed_balls(scene);
    } catch (const std::bad_alloc&) {
        too_large(scene);
    }
}

}  // namespace carom
