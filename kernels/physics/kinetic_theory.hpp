#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

// What the kinetic theory of gases says of speeds, collisions and diffusion, and the test that holds speeds against it.
// Units: T an energy (Boltzmann's constant is 1). Host only: nothing here reaches a state.

namespace carom {

/// Maxwell-Boltzmann: the share of balls slower than v, v in units of sqrt(T / m).
inline double maxwell_speed_share(int dimension, double v) {
    constexpr double kSqrtTwo = 1.4142135623730951;
    constexpr double kSqrtTwoOverPi = 0.7978845608028654;
    if (v <= 0.0) return 0.0;
    if (dimension == 2) return -std::expm1(-0.5 * v * v);
    return std::erf(v / kSqrtTwo) - kSqrtTwoOverPi * v * std::exp(-0.5 * v * v);
}

/// Its density, v in units of sqrt(T / m).
inline double maxwell_speed_density(int dimension, double v) {
    constexpr double kSqrtTwoOverPi = 0.7978845608028654;
    const double weight = std::exp(-0.5 * v * v);
    return dimension == 2 ? v * weight : kSqrtTwoOverPi * v * v * weight;
}

/// The barometric formula, as the density of one ideal ball's height between a floor and a ceiling `top` above it: both
/// in units of T / (m g). Tends to a uniform one as g does to 0.
inline double barometric_density(double height, double top) {
    if (height < 0.0 || height > top) return 0.0;
    return std::exp(-height) / -std::expm1(-top);
}

/// Density of one component of the velocity, v in units of sqrt(T / m): a Gaussian.
inline double maxwell_component_density(double v) {
    constexpr double kOneOverSqrtTwoPi = 0.3989422804014327;
    return kOneOverSqrtTwoPi * std::exp(-0.5 * v * v);
}

/// Kurtosis of a velocity component of N balls whose energy is fixed, over time: 3 D / (D + 2), with the D = d N
/// velocity degrees of freedom, d (N - 1) where the momentum is zero and conserved; 3 for many (microcanonical
/// ensemble).
inline double finite_kurtosis(double degrees_of_freedom) {
    return 3.0 * degrees_of_freedom / (degrees_of_freedom + 2.0);
}

/// Collisions per ball and time of hard balls of one size whose compressibility is Z [1/time]: Enskog,
/// nu = 2 d / sqrt(pi) (Z - 1) sqrt(T / m) / sigma.
inline double collision_rate(int dimension, double compressibility, double temperature, double mass, double diameter) {
    constexpr double kSqrtPi = 1.7724538509055159;
    return 2.0 * dimension / kSqrtPi * (compressibility - 1.0) * std::sqrt(temperature / mass) / diameter;
}

/// Kolmogorov and Smirnov's distance of speeds, sorted upwards in units of sqrt(T / m), from Maxwell-Boltzmann's law.
inline double kolmogorov_distance(int dimension, std::span<const double> sorted) {
    double distance = 0.0;
    const auto count = static_cast<double>(sorted.size());
    for (std::size_t k = 0; k < sorted.size(); ++k) {
        const double share = maxwell_speed_share(dimension, sorted[k]);
        distance =
            std::max({distance, share - static_cast<double>(k) / count, static_cast<double>(k + 1) / count - share});
    }
    return distance;
}

/// The distance that `count` independent speeds exceed once in 1000 times (alpha = 1e-3, count above some 100). With
/// the temperature taken from the speeds themselves it is exceeded less often still.
inline double kolmogorov_limit(std::size_t count) { return 1.95 / std::sqrt(static_cast<double>(count)); }

}  // namespace carom
