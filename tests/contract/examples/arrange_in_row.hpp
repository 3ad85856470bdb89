#pragma once

#include "host/scene/arrange.hpp"

namespace carom::examples {

/// Balls side by side along the first axis, in the middle of the region: a Newton's cradle.
template <int Dim>
std::vector<Point<Dim>> arrange_in_row(const Scene& scene, std::size_t number,
                                       const std::vector<PlacedBall<Dim>>& before) {
    const FillEntry& fill = scene.fills[number];
    const Space<Dim> space(scene, fill, fill.count, before);
    const double room = space.last_center(0) - space.first_center(0);
    const auto fitting = static_cast<std::uint64_t>(room / (2.0 * space.radius())) + 1;
    if (fill.count > fitting) refuse_fill(scene, number, space, fitting);
    std::vector<Point<Dim>> centers(fill.count);
    for (std::size_t k = 0; k < centers.size(); ++k) {
        for (int axis = 1; axis < Dim; ++axis) centers[k][axis] = space.low(axis) + 0.5 * space.length(axis);
        centers[k][0] = space.first_center(0) + 2.0 * space.radius() * static_cast<double>(k) * (1.0 + 1e-12);
    }
    return centers;
}

inline ArrangementEntry row_arrangement() {
    return {.kind = {"row", {}, "side by side along x"}, .disks = arrange_in_row<2>, .spheres = arrange_in_row<3>};
}

}  // namespace carom::examples
