#pragma once

#include <string>
#include <vector>

#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"
#include "host/state/frame.hpp"

namespace carom {

/// A histogram and the theory's curve, both as densities over the same axis.
struct Distribution {
    std::string label;
    double most = 0.0;            ///< end of the axis, which begins at 0
    std::vector<double> counted;  ///< one a bin of equal width
    std::vector<double> theory;   ///< at the middles of the bins; empty if it says nothing here
};

/// Speeds of the balls of finite mass, and Maxwell and Boltzmann's law for the temperature that they have: each ball's
/// own mass counts.
Distribution speed_distribution(const Balls& balls, const Frame& frame);

/// Density of balls over the height above the lower face, and the barometric curve of an ideal gas between floor and
/// ceiling at the temperature that the balls have; each ball's own mass counts. Without gravity there is none.
Distribution height_distribution(const Scene& scene, const Balls& balls, const Frame& frame);

}  // namespace carom
