#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "kernels/core/transcendental.hpp"

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

/// Temperature, in the mean over time, of balls of mass m among N of mass M together, whose momentum stays as it is
/// along c of d axes: what is left of T = 2 E / (d N), E the energy of all, without what their motion as a whole has,
/// is shared by d N - c components of velocities about that motion, of which those along the c axes have the variance
/// T (1 / m - 1 / M).
/// \param held        c / d
/// \param flow        2 / d of the energy of the motion as a whole
/// \param mass_share  m / M
inline double temperature_of_some(double temperature, double balls, double held, double flow, double mass_share) {
    return (temperature * balls - flow) * (1.0 - held * mass_share) / (balls - held);
}

/// Means over the d axes of w and w^2, w = m v^2 of a component of the velocity of one ball among those: along the c
/// axes along which momentum stays, the variance of sqrt(m) v is T (1 - m / M) about the motion of all as a whole, u,
/// along the others T.
struct EnergyMoments {
    double first = 0.0;   ///< [energy]
    double second = 0.0;  ///< [energy^2]
};
/// \param held         c
/// \param kurtosis     of a component of one ball about u, as finite_kurtosis
/// \param temperature  temperature_of_some for a mass share of 0
/// \param mass_share   m / M
/// \param flow         m |u|^2 [energy]
/// \param flow_evenly  sum of u_a^4 over |u|^4: 1 / c of a flow along all c axes alike, 1 along one of them
inline EnergyMoments energy_moments(int dimension, int held, double kurtosis, double temperature, double mass_share,
                                    double flow, double flow_evenly) {
    const double own = temperature * (1.0 - mass_share);
    const double free = dimension - held;
    return {(free * temperature + held * own + flow) / dimension,
            (kurtosis * (free * temperature * temperature + held * own * own) + 6.0 * own * flow +
             flow_evenly * flow * flow) /
                dimension};
}

/// Collisions per ball and time of hard balls of one size whose compressibility is Z [1/time]: Enskog,
/// nu = 2 d / sqrt(pi) (Z - 1) sqrt(T / m) / sigma.
inline double collision_rate(int dimension, double compressibility, double temperature, double mass, double diameter) {
    constexpr double kSqrtPi = 1.7724538509055159;
    return 2.0 * dimension / kSqrtPi * (compressibility - 1.0) * std::sqrt(temperature / mass) / diameter;
}

/// Mean free path of hard balls of one size between collisions with each other [length]: mean speed over
/// collision_rate, 1 / (2 sqrt(2) n sigma chi) for disks and 1 / (sqrt(2) pi n sigma^2 chi) for spheres.
inline double mean_free_path(int dimension, double compressibility, double diameter) {
    constexpr double kSqrtTwo = 1.4142135623730951;
    return (dimension == 2 ? kPi / (4.0 * kSqrtTwo) : kSqrtTwo / 3.0) * diameter / (compressibility - 1.0);
}

/// Energy that contacts hold in the mean, over that of motion, of soft balls of one size. There are
/// d (Z - 1) loss / sigma contacts per ball, half of what collision_rate makes in the mean duration of one,
/// loss sqrt(pi m / T), and each holds T times the softness.
/// \param softness  SoftContact::softness, 1/2 for linear springs
/// \param loss      of the diameter, SoftContact::soft_diameter_loss [length]
/// \param diameter  sigma, without that loss, of which Z is [length]
inline double contact_energy_share(double softness, double compressibility, double loss, double diameter) {
    return 2.0 * softness * (compressibility - 1.0) * loss / diameter;
}

/// How often a ball of speed v collides, over the mean of all balls: its mean speed relative to a Maxwellian gas, over
/// that of two balls of the gas. v in units of sqrt(T / m).
inline double collision_rate_at_speed(int dimension, double v) {
    constexpr double kSqrtPi = 1.7724538509055159;
    constexpr double kSqrtTwo = 1.4142135623730951;
    constexpr double kSqrtTwoOverPi = 0.7978845608028654;
    if (dimension == 2) {
        // Rice's mean, sqrt(pi / 2) L_1/2(-v^2 / 2), over sqrt(pi).
        const double x = 0.25 * v * v;
        return std::exp(-x) * ((1.0 + 2.0 * x) * std::cyl_bessel_i(0.0, x) + 2.0 * x * std::cyl_bessel_i(1.0, x)) /
               kSqrtTwo;
    }
    if (v < 1e-6) return kSqrtTwoOverPi * 2.0 / (4.0 / kSqrtPi);
    const double relative = kSqrtTwoOverPi * std::exp(-0.5 * v * v) + (v + 1.0 / v) * std::erf(v / kSqrtTwo);
    return relative / (4.0 / kSqrtPi);
}

/// Density of the free paths, length in units of the mean free path: no exponential, since slow balls are hit before
/// they get far. Balls of speed v have paths exp(-l / l(v)), l(v) = v / nu(v), and end so many of them as they collide
/// often: the integral of f(v) nu(v)^2 / v exp(-nu(v) l / v), over the mean of nu. Chapman and Cowling, The
/// Mathematical Theory of Non-uniform Gases, section 5.4; for thin gases: of spheres at packing
/// fraction 0.1 the shortest paths are 4 % rarer, since collisions know of each other.
inline double free_path_density(int dimension, double length) {
    constexpr int kIntervals = 400;  // of Simpson's rule, up to speeds that one ball in 10^13 has
    constexpr double kFastest = 8.0;
    // Mean free path = mean speed over mean rate: in these units rates are over their mean.
    const double mean_speed = dimension == 2 ? 1.2533141373155003 : 1.5957691216057308;  // sqrt(pi/2), sqrt(8/pi)
    double sum = 0.0;
    for (int k = 1; k <= kIntervals; ++k) {
        const double v = kFastest * k / kIntervals;
        const double rate = collision_rate_at_speed(dimension, v);
        const double per_length = rate * mean_speed / v;
        const double term = maxwell_speed_density(dimension, v) * rate * per_length * std::exp(-per_length * length);
        sum += (k == kIntervals ? 1.0 : (k % 2 == 1 ? 4.0 : 2.0)) * term;
    }
    if (dimension == 2 && length == 0.0) {  // the only case in which the term at v = 0 is not 0: v rate^2 / v
        const double rate = collision_rate_at_speed(2, 0.0);
        sum += rate * rate * mean_speed;
    }
    return sum * kFastest / kIntervals / 3.0;
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
