#include <algorithm>
#include <optional>

#include "host/scene/arrange.hpp"
#include "host/scene/lattice.hpp"
#include "kernels/core/random.hpp"

namespace carom {
namespace {

// Random insertion ends near 0.547 (disks) and 0.384 (spheres) and becomes slow before (Feder 1980; Meakin & Jullien
// 1992); a try beyond these costs less on a lattice.
constexpr double kInsertionDisks = 0.50;
constexpr double kInsertionSpheres = 0.32;
constexpr std::uint64_t kTriesPerBall = 200;  // on average about 10 at 0.45 in 2D
constexpr std::uint64_t kTriesAtLeast = 20000;
constexpr std::uint64_t kSmallestBatch = 1024;  // tries
constexpr std::uint64_t kLargestBatch = 1 << 20;
constexpr int kSweeps = 60;        // of the shaken lattice: melts a fluid, leaves a solid one
constexpr double kAccepted = 0.4;  // share of the moves of a sweep to aim at

/// Three (or two) numbers in [0, 1) from one draw, of 42 bits each.
template <int Dim>
Point<Dim> uniform_point(const RandomWords& words) {
    const std::uint64_t low = words.wide(0);
    const std::uint64_t high = words.wide(1);
    const std::uint64_t parts[3] = {low >> 22, high >> 22, ((low & 0x1fffffU) << 21) | (high & 0x1fffffU)};
    constexpr double kUnit = 1.0 / 4398046511104.0;  // 2^-42
    Point<Dim> point;
    for (int axis = 0; axis < Dim; ++axis) point[axis] = (static_cast<double>(parts[axis]) + 0.5) * kUnit;
    return point;
}

/// Random sequential insertion; false when it gives up.
template <int Dim>
bool insert_randomly(Space<Dim>& space, std::uint64_t count, std::uint64_t seed, std::uint64_t stream) {
    const std::uint64_t most = std::max(kTriesAtLeast, kTriesPerBall * count);
    Point<Dim> first;
    Point<Dim> span;
    for (int axis = 0; axis < Dim; ++axis) {
        first[axis] = space.first_center(axis);
        span[axis] = space.last_center(axis) - first[axis];
        if (span[axis] < 0.0) span[axis] = 0.0;
    }
    // The tries come in batches, tile by tile, so that memory stays near at hand; no batch is larger than what is still
    // to be placed, so that the end of the last one leaves no tile behind the others.
    // What the balls already there rule out is found by all threads at once; the few that are left go one by one, in
    // the same order, so that threads change nothing.
    std::vector<Point<Dim>> tries;
    std::vector<Point<Dim>> sorted;
    std::vector<std::uint32_t> tile;
    std::vector<std::uint32_t> next;
    std::vector<std::uint8_t> hopeful;
    const auto fits = [&space](const Point<Dim>& at) {
        return !space.surely_taken(at) && space.free_of_balls(at) && space.free_of_obstacles(at);
    };
    for (std::uint64_t drawn = 0; space.size() < count;) {
        if (drawn >= most) return false;
        const std::uint64_t batch = std::clamp<std::uint64_t>(count - space.size(), kSmallestBatch, kLargestBatch);
        tries.resize(batch);
        sorted.resize(batch);
        tile.resize(batch);
        hopeful.resize(batch);
        const auto end = static_cast<std::int64_t>(batch);
        next.assign(space.tiles() + 1, 0);
#pragma omp parallel for schedule(static) if (batch > kSmallestBatch)
        for (std::int64_t k = 0; k < end; ++k) {
            const auto at = static_cast<std::uint64_t>(k);
            const RandomWords words = random_words(seed, stream, RandomPurpose::kInsertion, drawn + at);
            const Point<Dim> unit = uniform_point<Dim>(words);
            for (int axis = 0; axis < Dim; ++axis) tries[at][axis] = first[axis] + unit[axis] * span[axis];
            tile[at] = static_cast<std::uint32_t>(space.tile_of(tries[at]));
        }
        drawn += batch;
        for (std::uint64_t at = 0; at < batch; ++at) ++next[tile[at] + 1];
        for (std::size_t at = 1; at < next.size(); ++at) next[at] += next[at - 1];
        for (std::uint64_t at = 0; at < batch; ++at) sorted[next[tile[at]]++] = tries[at];
#pragma omp parallel for schedule(dynamic, 256) if (batch > kSmallestBatch)
        for (std::int64_t k = 0; k < end; ++k) {
            hopeful[static_cast<std::size_t>(k)] = fits(sorted[static_cast<std::size_t>(k)]);
        }
        for (std::uint64_t at = 0; at < batch; ++at) {
            if (!hopeful[at] || !fits(sorted[at])) continue;
            space.insert(sorted[at]);
            if (space.size() == count) return true;
        }
    }
    return true;
}

/// Hard-core Monte Carlo: every ball in turn tries a small random move, sweep after sweep.
template <int Dim>
void shake(Space<Dim>& space, double reach, std::uint64_t seed, std::uint64_t stream) {
    const std::uint64_t count = space.size();
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
        std::uint64_t accepted = 0;
        for (std::uint64_t ball = 0; ball < count; ++ball) {
            const std::uint64_t index = static_cast<std::uint64_t>(sweep) * count + ball;
            const Point<Dim> unit = uniform_point<Dim>(random_words(seed, stream, RandomPurpose::kShake, index));
            Point<Dim> to = space.ball(ball);
            bool inside = true;
            for (int axis = 0; axis < Dim; ++axis) {
                to[axis] += (2.0 * unit[axis] - 1.0) * reach;
                if (space.wraps(axis)) {
                    const double low = space.low(axis);
                    if (to[axis] < low) to[axis] += space.length(axis);
                    if (to[axis] >= low + space.length(axis)) to[axis] -= space.length(axis);
                    inside = inside && to[axis] >= low;
                } else {
                    inside = inside && to[axis] >= space.first_center(axis) && to[axis] <= space.last_center(axis);
                }
            }
            if (!inside || !space.free_of_balls(to, static_cast<std::int32_t>(ball)) || !space.free_of_obstacles(to)) {
                continue;
            }
            space.move(ball, to);
            ++accepted;
        }
        reach *= static_cast<double>(accepted) > kAccepted * static_cast<double>(count) ? 1.1 : 0.9;
        reach = smaller(reach, space.radius());
    }
}

/// Which `count` of `sites` are taken: random ones, in their order.
template <int Dim>
std::vector<Point<Dim>> random_subset(const std::vector<Point<Dim>>& sites, std::uint64_t count, std::uint64_t seed,
                                      std::uint64_t stream) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> keys(sites.size());
    for (std::uint64_t site = 0; site < sites.size(); ++site) {
        keys[site] = {random_words(seed, stream, RandomPurpose::kVacancy, site).wide(0), site};
    }
    const auto end = keys.begin() + static_cast<std::ptrdiff_t>(count);
    std::nth_element(keys.begin(), end, keys.end());
    std::sort(keys.begin(), end, [](const auto& a, const auto& b) { return a.second < b.second; });
    std::vector<Point<Dim>> chosen;
    chosen.reserve(count);
    for (auto key = keys.begin(); key != end; ++key) chosen.push_back(sites[key->second]);
    return chosen;
}

}  // namespace

template <int Dim>
std::vector<Point<Dim>> arrange_randomly(const Scene& scene, std::size_t number,
                                         const std::vector<Obstacle<Dim>>& before) {
    const FillEntry& fill = scene.fills[number];
    Space<Dim> space(scene, fill, fill.count, before);
    std::optional<Space<Dim>> shaken;
    Space<Dim>* result = &space;
    if (space.fraction(fill.count) > (Dim == 2 ? kInsertionDisks : kInsertionSpheres) ||
        !insert_randomly(space, fill.count, scene.seed, number)) {
        shaken.emplace(scene, fill, fill.count, before);
        result = &*shaken;
        const auto sites = lattice_sites(*shaken, fill.count, false);
        if (sites.size() < fill.count) refuse_fill(fill, space, sites.size());
        for (const auto& site : random_subset(sites, fill.count, scene.seed, number)) shaken->insert(site);
        shake(*shaken, 0.2 * space.radius(), scene.seed, number);
    }
    std::vector<Point<Dim>> centers;
    centers.reserve(result->size());
    for (std::size_t ball = 0; ball < result->size(); ++ball) centers.push_back(result->ball(ball));
    return centers;
}

template std::vector<Point<2>> arrange_randomly<2>(const Scene&, std::size_t, const std::vector<Obstacle<2>>&);
template std::vector<Point<3>> arrange_randomly<3>(const Scene&, std::size_t, const std::vector<Obstacle<3>>&);

}  // namespace carom
