#pragma once

#include <cstdint>
#include <vector>

#include "host/scene/space.hpp"

// Random packings by growth: small balls fly about and grow at a steady rate, all in proportion, colliding as hard
// balls do, until they have their full size (Lubachevsky & Stillinger, J. Stat. Phys. 60, 561, 1990). They then fly on
// for a while, so that what growth has pressed together spreads. Fast growth stays random; what is too dense jams.

namespace carom {

/// Packing fraction at which growth begins: soon reached by insertion.
template <int Dim>
constexpr double kGrowthStarts = Dim == 2 ? 0.40 : 0.25;
/// Scale below which a start is not looked for.
constexpr double kSmallestStart = 0.2;

/// A ball that is to grow.
template <int Dim>
struct GrowingBall {
    Point<Dim> center;
    Point<Dim> low;  ///< bounds of the centre, from the start on; infinite where its region wraps
    Point<Dim> high;
    double radius;  ///< full size
};

/// Grows balls from `scale` of their size to the whole of it, among what lies there already and the scene's walls,
/// from which they keep the distance of their full size all the time. Takes some 1e-4 s per disk, 3e-4 s per sphere.
/// \param region  that holds all of them
/// \param balls  apart from each other by the sums of their radii times `scale`
/// \return the scale reached: below 1 where they jam, the centres then being of no use
template <int Dim>
double grow(const Scene& scene, const Region<Dim>& region, const std::vector<PlacedBall<Dim>>& placed, double scale,
            std::vector<GrowingBall<Dim>>& balls);

extern template double grow<2>(const Scene&, const Region<2>&, const std::vector<PlacedBall<2>>&, double,
                               std::vector<GrowingBall<2>>&);
extern template double grow<3>(const Scene&, const Region<3>&, const std::vector<PlacedBall<3>>&, double,
                               std::vector<GrowingBall<3>>&);

}  // namespace carom
