#pragma once

#include <cmath>

#include "kernels/core/portability.hpp"
#include "kernels/core/transcendental.hpp"

// The radial distribution function: g(r) = mean number of other balls between r and r + dr from a ball, over what it
// would be if places were independent, n V_shell. n is the number density of the other balls; with N / V for that of
// the N - 1 others among N like balls, g tends to 1 - 1/N.

namespace carom {

/// Area of a disk (2D) or volume of a ball (3D) [length^d].
CAROM_HD double ball_volume(int dimension, double r) {
    return dimension == 2 ? kPi * r * r : 4.0 / 3.0 * kPi * r * r * r;
}

/// Radius of gyration of a uniform disk (2D, r sqrt(1/2)) or sphere (3D, r sqrt(2/5)) [length].
inline double solid_gyration(int dimension, double r) { return r * std::sqrt(dimension == 2 ? 0.5 : 0.4); }

/// Area (2D) or volume (3D) between two radii [length^d]: pi (b^2 - a^2), 4/3 pi (b^3 - a^3).
inline double shell_volume(int dimension, double inner, double outer) {
    return dimension == 2 ? kPi * (outer * outer - inner * inner)
                          : 4.0 / 3.0 * kPi * (outer * outer * outer - inner * inner * inner);
}

/// g at contact of hard balls of one size whose compressibility is Z at packing fraction phi: chi = (Z - 1) / (b phi),
/// b = 2 for disks, 4 for spheres; the pressure equation.
inline double contact_value(int dimension, double compressibility, double packing_fraction) {
    return (compressibility - 1.0) / ((dimension == 2 ? 2.0 : 4.0) * packing_fraction);
}

}  // namespace carom
