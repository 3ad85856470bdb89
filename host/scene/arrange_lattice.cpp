#include <algorithm>
#include <memory>
#include <utility>

#include "host/scene/arrange.hpp"
#include "kernels/physics/touching.hpp"

namespace carom {

namespace {

constexpr double kFits = 1.0 + kLengthSlack;  // of a diameter: rounding of a length that was meant to hold whole balls
constexpr double kTighter = 0.98;             // each try's distance between sites over that of the try before
constexpr double kMostSites = 8.0e9;          // guards the conversion to whole numbers

/// Sites along each axis: site i at first + i * step.
template <int Dim>
struct Rows {
    Vec<std::int64_t, Dim> number;
    Point<Dim> first;
    Point<Dim> step;
    bool even_only;  ///< only sites whose indices add up to an even number: hexagonal, fcc

    [[nodiscard]] double count() const {
        double all = 1.0;
        for (int axis = 0; axis < Dim; ++axis) all *= static_cast<double>(number[axis]);
        return even_only ? std::ceil(0.5 * all) : all;
    }
};

double whole_fits(double length, double step) { return smaller(kMostSites, std::floor(length / step * kFits)); }

/// Square or cubic: every ball has a cell of its own, at least `distance` wide, stretched to fill the region.
template <int Dim>
Rows<Dim> square_rows(const Space<Dim>& space, double distance) {
    Rows<Dim> rows{.even_only = false};
    for (int axis = 0; axis < Dim; ++axis) {
        const double number = larger(1.0, whole_fits(space.length(axis), distance));
        rows.number[axis] = static_cast<std::int64_t>(number);
        rows.step[axis] = space.length(axis) / number;
        rows.first[axis] = space.low(axis) + 0.5 * rows.step[axis];
    }
    return rows;
}

/// Hexagonal or fcc as a centred rectangular lattice: steps half as long as the rectangle's edges, every second site.
/// \param wide  2D: the axis along which a rectangle is sqrt(3) times as long
template <int Dim>
Rows<Dim> centred_rows(const Space<Dim>& space, double distance, int wide) {
    Rows<Dim> rows{.even_only = true};
    for (int axis = 0; axis < Dim; ++axis) {
        const double share = Dim == 3 ? std::sqrt(0.5) : (axis == wide ? 0.5 * std::sqrt(3.0) : 0.5);
        const double step = share * distance;
        if (space.wraps(axis)) {
            const double pairs = larger(1.0, whole_fits(space.length(axis), 2.0 * step));
            rows.number[axis] = 2 * static_cast<std::int64_t>(pairs);
            rows.step[axis] = space.length(axis) / (2.0 * pairs);
            rows.first[axis] = space.low(axis) + 0.5 * rows.step[axis];
        } else {
            const double span = larger(0.0, space.last_center(axis) - space.first_center(axis));
            const double steps = whole_fits(span, step);
            rows.number[axis] = static_cast<std::int64_t>(steps) + 1;
            rows.step[axis] = steps > 0.0 ? span / steps : 0.0;
            rows.first[axis] = space.first_center(axis) + (steps > 0.0 ? 0.0 : 0.5 * span);
        }
    }
    return rows;
}

template <int Dim>
Rows<Dim> rows_at(const Space<Dim>& space, double distance, bool square) {
    if (square) return square_rows(space, distance);
    Rows<Dim> best = centred_rows(space, distance, 0);
    if (Dim == 2) {
        const Rows<Dim> other = centred_rows(space, distance, 1);
        if (other.count() > best.count()) best = other;
    }
    return best;
}

/// Calls take(site) for the sites that are free, and inside the region's walls.
template <int Dim, class Take>
void for_each_free_site(const Space<Dim>& space, const Rows<Dim>& rows, const Take& take) {
    Vec<std::int64_t, Dim> index = Vec<std::int64_t, Dim>::filled(0);
    while (true) {
        std::int64_t sum = 0;
        Point<Dim> site;
        for (int axis = 0; axis < Dim; ++axis) {
            sum += index[axis];
            site[axis] = rows.first[axis] + static_cast<double>(index[axis]) * rows.step[axis];
        }
        if ((!rows.even_only || sum % 2 == 0) && space.free_of_obstacles(site)) take(site);
        int axis = 0;
        while (axis < Dim && ++index[axis] == rows.number[axis]) {
            index[axis] = 0;
            ++axis;
        }
        if (axis == Dim) return;
    }
}

/// A lattice, and how many of its sites are free.
template <int Dim>
struct Lattice {
    Rows<Dim> rows{};
    std::uint64_t free = 0;
};

/// One with at least `count` sites that keep clear of walls and of the balls placed before, as far apart from each
/// other as fits: square or cubic if `square`, else hexagonal or fcc; row by row, x fastest. With fewer than `count`
/// where no more fit even with touching balls: then as many as fit.
template <int Dim>
Lattice<Dim> lattice_of(const Space<Dim>& space, std::uint64_t count, bool square) {
    const double touching = 2.0 * space.radius();
    const double wanted = static_cast<double>(count);
    // The widest lattice with enough sites, by bisection; obstacles may then ask for a tighter one.
    double wide = touching;
    for (int axis = 0; axis < Dim; ++axis) wide = larger(wide, space.length(axis));
    double low = touching;
    double high = wide;
    if (rows_at(space, high, square).count() >= wanted) low = high;
    for (int halving = 0; halving < 60 && low < high; ++halving) {
        const double middle = 0.5 * (low + high);
        if (rows_at(space, middle, square).count() >= wanted) {
            low = middle;
        } else {
            high = middle;
        }
    }
    // Where hardly any of a wide region is free, sites would be gone through for ever.
    const double worth_a_look = 1.0e7 + 100.0 * wanted;
    Lattice<Dim> most;
    for (double distance = low; true; distance = larger(touching, distance * kTighter)) {
        Lattice<Dim> lattice{rows_at(space, distance, square)};
        if (lattice.rows.count() > worth_a_look) return most;
        for_each_free_site(space, lattice.rows, [&](const Point<Dim>&) { ++lattice.free; });
        if (lattice.free >= count) return lattice;
        if (lattice.free > most.free) most = lattice;
        if (distance == touching) return most;
    }
}

/// The lattice of a fill: square or cubic where that fits, else hexagonal or fcc. Every so-many-th site is taken, so
/// that the empty ones are spread evenly.
template <int Dim>
class LatticeFill {
public:
    LatticeFill(const Scene& scene, std::size_t number, const std::vector<PlacedBall<Dim>>& before)
        : count_(scene.fills[number].count),
          // Cells serve only to find what was placed before.
          space_(scene, scene.fills[number], before.size(), before) {
        std::uint64_t reached = 0;
        for (const bool square : {true, false}) {
            lattice_ = lattice_of(space_, count_, square);
            if (lattice_.free >= count_) return;
            reached = std::max(reached, lattice_.free);
        }
        refuse_fill(
            scene, number,
            Space<Dim>(scene, scene.fills[number], 0, std::vector<Obstacle<Dim>>{}, 1.0, radii_of(scene, number)),
            reached);
    }

    template <class Take>
    void for_each_center(const Take& take) const {
        std::uint64_t owed = 0;  // lattice_.free-ths of a ball
        for_each_free_site(space_, lattice_.rows, [&](const Point<Dim>& site) {
            owed += count_;
            if (owed < lattice_.free) return;
            owed -= lattice_.free;
            take(site);
        });
    }

private:
    std::uint64_t count_;
    Space<Dim> space_;
    Lattice<Dim> lattice_;
};

template <int Dim>
std::vector<Point<Dim>> arrange_on_lattice(const Scene& scene, std::size_t number,
                                           const std::vector<PlacedBall<Dim>>& before) {
    std::vector<Point<Dim>> centers;
    centers.reserve(scene.fills[number].count);
    LatticeFill<Dim>(scene, number, before).for_each_center([&](const Point<Dim>& center) {
        centers.push_back(center);
    });
    return centers;
}

template <int Dim>
CenterWalk<Dim> walk_on_lattice(const Scene& scene, std::size_t number, const std::vector<PlacedBall<Dim>>& before) {
    const auto fill = std::make_shared<const LatticeFill<Dim>>(scene, number, before);
    return [fill](const std::function<void(const Point<Dim>&)>& take) { fill->for_each_center(take); };
}

}  // namespace

ArrangementEntry lattice_arrangement() {
    return {.kind = {"lattice", {}, "square or cubic where that fits, else hexagonal or fcc"},
            .disks = arrange_on_lattice<2>,
            .spheres = arrange_on_lattice<3>,
            .walk_disks = walk_on_lattice<2>,
            .walk_spheres = walk_on_lattice<3>};
}

namespace {

constexpr int kSweeps = 60;        // melts a fluid, leaves a solid one
constexpr double kAccepted = 0.4;  // share of the moves of a sweep to aim at

/// Hard-core Monte Carlo: every ball in turn tries a small random move, sweep after sweep.
template <int Dim>
void shake(Space<Dim>& space, double reach, const Scene& scene, std::uint64_t stream) {
    const std::uint64_t count = space.size();
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
        scene.while_placing();
        std::uint64_t accepted = 0;
        for (std::uint64_t ball = 0; ball < count; ++ball) {
            const std::uint64_t index = static_cast<std::uint64_t>(sweep) * count + ball;
            const Point<Dim> unit = uniform_point<Dim>(random_words(scene.seed, stream, RandomPurpose::kShake, index));
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
                    inside = inside && to[axis] >= space.first_center(axis, space.radius(ball)) &&
                             to[axis] <= space.last_center(axis, space.radius(ball));
                }
            }
            const double radius = space.radius(ball);
            if (!inside || !space.free_of_balls(to, radius, static_cast<std::int32_t>(ball)) ||
                !space.free_of_obstacles(to, radius)) {
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
    Space<Dim> space(scene, fill, fill.count, obstacles_for(largest_radius(scene, fill.species), before), 1.0,
                     radii_of(scene, number));
    const Lattice<Dim> lattice = lattice_of(space, fill.count, false);
    std::vector<Point<Dim>> sites;
    sites.reserve(lattice.free);
    if (lattice.free > 0) {
        for_each_free_site(space, lattice.rows, [&](const Point<Dim>& site) { sites.push_back(site); });
    }
    if (sites.size() < fill.count) refuse_fill(scene, number, space, sites.size());
    for (const auto& site : random_subset(sites, fill.count, scene.seed, number)) space.insert(site);
    shake(space, 0.2 * space.radius(), scene, number);
    return space.centers();
}

template std::vector<Point<2>> shaken_lattice<2>(const Scene&, std::size_t, const std::vector<PlacedBall<2>>&);
template std::vector<Point<3>> shaken_lattice<3>(const Scene&, std::size_t, const std::vector<PlacedBall<3>>&);

}  // namespace carom
