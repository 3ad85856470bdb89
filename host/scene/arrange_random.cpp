#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "host/scene/arrange.hpp"
#include "host/scene/growth.hpp"
#include "host/state/errors.hpp"
#include "kernels/core/team.hpp"
#include "kernels/physics/pair_distribution.hpp"

namespace carom {
namespace {

constexpr std::uint64_t kTriesPerBall = 200;  // on average about 10 at 0.45 in 2D
constexpr std::uint64_t kTriesAtLeast = 20000;
constexpr std::uint64_t kSmallestBatch = 1024;  // tries
constexpr std::uint64_t kLargestBatch = 1 << 20;

// Where growth takes too long, for it ends near 0.84 (disks, which then stand in small crystals) and 0.64 (spheres).
template <int Dim>
constexpr double kGrowthReaches = Dim == 2 ? 0.82 : 0.62;

/// No more of a region than this was ever filled at random, by balls of whatever sizes; a try takes minutes.
template <int Dim>
constexpr double kNothingReaches = Dim == 2 ? 0.92 : 0.82;

/// Fills to be placed among what is there.
template <int Dim>
struct Packing {
    const Scene& scene;
    std::size_t first;  ///< fill
    std::size_t end;
    const std::vector<PlacedBall<Dim>>& before;
    std::vector<std::vector<double>> radii;  ///< by fill, by id; empty: all balls of the fill are alike

    Packing(const Scene& scene_, std::size_t first_, std::size_t end_, const std::vector<PlacedBall<Dim>>& before_)
        : scene(scene_), first(first_), end(end_), before(before_) {
        for (std::size_t number = first; number < end; ++number) radii.push_back(radii_of(scene, number));
    }

    using Centers = std::vector<std::vector<Point<Dim>>>;  ///< by fill

    [[nodiscard]] const FillEntry& fill(std::size_t number) const { return scene.fills[number]; }
    /// Of the largest ball of a fill, and of the one with that id among the fill's.
    [[nodiscard]] double radius(std::size_t number) const { return largest_radius(scene, fill(number).species); }
    [[nodiscard]] double radius(std::size_t number, std::size_t ball) const {
        const std::vector<double>& all = radii[number - first];
        return all.empty() ? radius(number) : all[ball];
    }
    [[nodiscard]] double volume(std::size_t number) const {
        const std::vector<double>& all = radii[number - first];
        if (all.empty()) return static_cast<double>(fill(number).count) * ball_volume(Dim, radius(number));
        double sum = 0.0;
        for (const double radius : all) sum += ball_volume(Dim, radius);
        return sum;
    }
    /// The ids of a fill's balls by their radii, counted within the fill; empty where all are alike.
    [[nodiscard]] std::vector<std::size_t> largest_first(std::size_t number) const {
        const std::vector<double>& all = radii[number - first];
        std::vector<std::size_t> order(all.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t ball) { return all[ball]; });
        return order;
    }
    /// Packing fraction of the densest fill alone.
    [[nodiscard]] double densest() const {
        double most = 0.0;
        for (std::size_t number = first; number < end; ++number) {
            most = larger(most, volume(number) / Region<Dim>(scene, fill(number)).volume());
        }
        return most;
    }
    /// Of all fills together, in a region that holds theirs.
    [[nodiscard]] double fraction() const {
        double filled = 0.0;
        for (std::size_t number = first; number < end; ++number) filled += volume(number);
        return filled / region().volume();
    }
    /// That holds all regions.
    [[nodiscard]] Region<Dim> region() const {
        FillEntry all = fill(first);
        for (std::size_t number = first; number < end; ++number) {
            for (int axis = 0; axis < Dim; ++axis) {
                all.region_min[axis] = smaller(all.region_min[axis], fill(number).region_min[axis]);
                all.region_max[axis] = larger(all.region_max[axis], fill(number).region_max[axis]);
            }
        }
        return Region<Dim>(scene, all);
    }
};

/// Random sequential insertion of `count` balls, the larger ones before the smaller; false when it gives up.
/// \param stream  of the random numbers: the fill's number
template <int Dim>
bool insert_randomly(Space<Dim>& space, std::uint64_t count, const Scene& scene, std::uint64_t stream) {
    const std::uint64_t most = std::max(kTriesAtLeast, kTriesPerBall * count);
    // Where the smallest may be; what is too large for a place there does not take it.
    const double smallest = count > 0 ? space.radius(count - 1) : space.radius();
    Point<Dim> first;
    Point<Dim> span;
    for (int axis = 0; axis < Dim; ++axis) {
        first[axis] = space.first_center(axis, smallest);
        span[axis] = space.last_center(axis, smallest) - first[axis];
        if (span[axis] < 0.0) span[axis] = 0.0;
    }
    // The tries come in batches, tile by tile, so that memory stays near at hand. Where a batch has more than are still
    // to be placed they come as they were drawn, or the last tiles would get none; and where radii differ, or the first
    // would get the largest balls.
    // What the balls already there rule out is found by all threads at once; the few that are left go one by one, in
    // the same order, so that threads change nothing.
    std::vector<Point<Dim>> tries;
    std::vector<Point<Dim>> sorted;
    std::vector<std::uint32_t> tile;
    std::vector<std::uint32_t> next;
    std::vector<std::uint8_t> hopeful;
    if (count - space.size() > kSmallestBatch) require_default_team();
    for (std::uint64_t drawn = 0; space.size() < count;) {
        if (drawn >= most) return false;
        scene.while_placing();
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
            const RandomWords words = random_words(scene.seed, stream, RandomPurpose::kInsertion, drawn + at);
            const Point<Dim> unit = uniform_point<Dim>(words);
            for (int axis = 0; axis < Dim; ++axis) tries[at][axis] = first[axis] + unit[axis] * span[axis];
            tile[at] = static_cast<std::uint32_t>(space.tile_of(tries[at]));
        }
        drawn += batch;
        const double least =
            space.radius(std::min(space.size() + batch, count) - 1);  // of those that this batch places
        if (batch > count - space.size() || smallest < space.radius(0)) {
            sorted.swap(tries);
        } else {
            for (std::uint64_t at = 0; at < batch; ++at) ++next[tile[at] + 1];
            for (std::size_t at = 1; at < next.size(); ++at) next[at] += next[at - 1];
            for (std::uint64_t at = 0; at < batch; ++at) sorted[next[tile[at]]++] = tries[at];
        }
#pragma omp parallel for schedule(dynamic, 256) if (batch > kSmallestBatch)
        for (std::int64_t k = 0; k < end; ++k) {
            hopeful[static_cast<std::size_t>(k)] = space.free(sorted[static_cast<std::size_t>(k)], least);
        }
        for (std::uint64_t at = 0; at < batch; ++at) {
            const double radius = space.radius(space.size());
            if (!hopeful[at] || !space.holds(sorted[at], radius) || !space.free(sorted[at], radius)) continue;
            space.insert(sorted[at]);
            if (space.size() == count) return true;
        }
    }
    return true;
}

/// By sequential insertion, the distances between the fills' own balls being `scale` times their sums of radii.
template <int Dim>
std::optional<typename Packing<Dim>::Centers> inserted(const Packing<Dim>& packing, double scale) {
    typename Packing<Dim>::Centers centers;
    for (std::size_t number = packing.first; number < packing.end; ++number) {
        const FillEntry& fill = packing.fill(number);
        const double radius = packing.radius(number);
        std::vector<Obstacle<Dim>> obstacles = obstacles_for(radius, packing.before);
        for (std::size_t other = 0; other < centers.size(); ++other) {
            for (std::size_t ball = 0; ball < centers[other].size(); ++ball) {
                const double reach = scale * (radius + packing.radius(packing.first + other, ball));
                obstacles.push_back({centers[other][ball], reach});
            }
        }
        const std::vector<std::size_t> order = packing.largest_first(number);
        std::vector<double> radii;
        for (const std::size_t ball : order) radii.push_back(packing.radius(number, ball));
        Space<Dim> space(packing.scene, fill, fill.count, obstacles, scale, std::move(radii));
        if (!insert_randomly(space, fill.count, packing.scene, number)) return std::nullopt;
        centers.push_back(space.centers());
        for (std::size_t k = 0; k < order.size(); ++k) centers.back()[order[k]] = space.ball(k);
    }
    return centers;
}

template <int Dim>
std::optional<typename Packing<Dim>::Centers> grown(const Packing<Dim>& packing) {
    const Region<Dim> region = packing.region();
    const double fraction = larger(packing.fraction(), packing.densest());
    // Smaller where balls or walls in the way leave less room than the region has.
    std::optional<typename Packing<Dim>::Centers> centers;
    double scale = 0.98;
    for (; scale > kSmallestStart && !centers; scale *= 0.98) {
        if ((Dim == 2 ? 1.0 : scale) * scale * scale * fraction > kGrowthStarts<Dim>) continue;
        centers = inserted(packing, scale);
        if (centers) break;
        scale *= 0.9;
    }
    if (!centers) return std::nullopt;
    std::vector<GrowingBall<Dim>> balls;
    for (std::size_t number = packing.first; number < packing.end; ++number) {
        const Region<Dim> own(packing.scene, packing.fill(number));
        const auto& of_fill = (*centers)[number - packing.first];
        for (std::size_t ball = 0; ball < of_fill.size(); ++ball) {
            const double radius = packing.radius(number, ball);
            const Point<Dim> margin = Point<Dim>::filled(radius);
            balls.push_back({of_fill[ball], own.low + margin, own.low + own.length - margin, radius});
            for (int axis = 0; axis < Dim; ++axis) {  // of the region of all fills, what one may cross another may not
                if (!own.wraps[axis]) continue;
                balls.back().low[axis] = -std::numeric_limits<double>::infinity();
                balls.back().high[axis] = std::numeric_limits<double>::infinity();
            }
        }
    }
    if (grow(packing.scene, region, packing.before, scale, balls) < 1.0) return std::nullopt;
    std::size_t next = 0;
    for (auto& fill : *centers) {
        for (Point<Dim>& center : fill) center = balls[next++].center;
    }
    return centers;
}

/// One fill after the other, on lattices where insertion fails.
template <int Dim>
typename Packing<Dim>::Centers one_by_one(const Packing<Dim>& packing) {
    typename Packing<Dim>::Centers centers;
    std::vector<PlacedBall<Dim>> before = packing.before;
    for (std::size_t number = packing.first; number < packing.end; ++number) {
        const Packing<Dim> one{packing.scene, number, number + 1, before};
        auto found = one.densest() > kInsertionReaches<Dim> ? std::nullopt : inserted(one, 1.0);
        centers.push_back(found ? std::move((*found)[0]) : shaken_lattice(packing.scene, number, before));
        for (std::size_t ball = 0; ball < centers.back().size(); ++ball) {
            before.push_back({centers.back()[ball], packing.radius(number, ball)});
        }
    }
    return centers;
}

/// Centres for fills `first` to `end`, packed together at random: by sequential insertion, one fill after the other;
/// past what that reaches, by growth of all their balls in proportion; past what that reaches, on shaken lattices.
/// \throws InputError  when one of them does not fit; says how many of its balls do
template <int Dim>
std::vector<std::vector<Point<Dim>>> pack_randomly(const Scene& scene, std::size_t first, std::size_t end,
                                                   const std::vector<PlacedBall<Dim>>& before) {
    const Packing<Dim> packing{scene, first, end, before};
    const double densest = packing.densest();
    if (packing.fraction() > kNothingReaches<Dim>) {
        throw InputError(
            fmt::format("{}: the balls of fill[{}] to fill[{}] would fill {:.4g} of their region together; "
                        "allowed: up to {}, and as much as can be reached",
                        label_of_fill(scene, end - 1), first, end - 1, packing.fraction(), kNothingReaches<Dim>));
    }
    if (densest <= kInsertionReaches<Dim>) {
        if (auto centers = inserted(packing, 1.0)) return std::move(*centers);
    }
    if (densest <= kGrowthReaches<Dim>) {
        if (auto centers = grown(packing)) return std::move(*centers);
    }
    return one_by_one(packing);
}

/// The same for one fill.
template <int Dim>
std::vector<Point<Dim>> arrange_randomly(const Scene& scene, std::size_t number,
                                         const std::vector<PlacedBall<Dim>>& before) {
    return std::move(pack_randomly(scene, number, number + 1, before)[0]);
}

}  // namespace

ArrangementEntry random_arrangement() {
    return {.kind = {"random", {}, "without overlap, around all balls before"},
            .disks = arrange_randomly<2>,
            .spheres = arrange_randomly<3>,
            .disks_together = pack_randomly<2>,
            .spheres_together = pack_randomly<3>};
}

}  // namespace carom
