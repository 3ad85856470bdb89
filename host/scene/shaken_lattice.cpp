#include "host/scene/shaken_lattice.hpp"

#include <algorithm>
#include <utility>

#include "host/scene/arrange.hpp"
#include "host/scene/insertion.hpp"
#include "host/scene/lattice.hpp"

namespace carom {
namespace {

constexpr int kSweeps = 60;        // melts a fluid, leaves a solid one
constexpr double kAccepted = 0.4;  // share of the moves of a sweep to aim at

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
std::vector<Point<Dim>> shaken_lattice(const Scene& scene, std::size_t number,
                                       const std::vector<PlacedBall<Dim>>& before) {
    const FillEntry& fill = scene.fills[number];
    Space<Dim> space(scene, fill, fill.count, before);
    const auto sites = lattice_sites(space, fill.count, false);
    if (sites.size() < fill.count) refuse_fill(fill, space, sites.size());
    for (const auto& site : random_subset(sites, fill.count, scene.seed, number)) space.insert(site);
    shake(space, 0.2 * space.radius(), scene.seed, number);
    return space.centers();
}

template std::vector<Point<2>> shaken_lattice<2>(const Scene&, std::size_t, const std::vector<PlacedBall<2>>&);
template std::vector<Point<3>> shaken_lattice<3>(const Scene&, std::size_t, const std::vector<PlacedBall<3>>&);

}  // namespace carom
