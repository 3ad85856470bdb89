#include <algorithm>

#include "host/scene/arrange.hpp"
#include "host/scene/lattice.hpp"

namespace carom {
namespace {

/// Every so-many-th site, so that the empty ones are spread evenly.
template <int Dim>
std::vector<Point<Dim>> even_subset(const std::vector<Point<Dim>>& sites, std::uint64_t count) {
    std::vector<Point<Dim>> chosen;
    chosen.reserve(count);
    std::uint64_t owed = 0;  // sites.size()-ths of a ball
    for (const Point<Dim>& site : sites) {
        owed += count;
        if (owed < sites.size()) continue;
        owed -= sites.size();
        chosen.push_back(site);
    }
    return chosen;
}

}  // namespace

template <int Dim>
std::vector<Point<Dim>> arrange_on_lattice(const Scene& scene, std::size_t number,
                                           const std::vector<PlacedBall<Dim>>& before) {
    const FillEntry& fill = scene.fills[number];
    const Space<Dim> space(scene, fill, fill.count, before);
    std::uint64_t reached = 0;
    for (const bool square : {true, false}) {
        const auto sites = lattice_sites(space, fill.count, square);
        if (sites.size() >= fill.count) return even_subset(sites, fill.count);
        reached = std::max<std::uint64_t>(reached, sites.size());
    }
    refuse_fill(fill, space, reached);
}

template std::vector<Point<2>> arrange_on_lattice<2>(const Scene&, std::size_t, const std::vector<PlacedBall<2>>&);
template std::vector<Point<3>> arrange_on_lattice<3>(const Scene&, std::size_t, const std::vector<PlacedBall<3>>&);

}  // namespace carom
