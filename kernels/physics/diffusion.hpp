#pragma once

#include <cmath>

#include "kernels/core/transcendental.hpp"
#include "kernels/physics/pair_distribution.hpp"

// Self-diffusion: what the mean square displacement (Einstein 1905) and the velocity autocorrelation (Green 1954, Kubo
// 1957) have to do with it, and what Enskog's kinetic theory says of hard balls of one size. Units: T an energy. Host
// only: nothing here reaches a state.
//
//   <|x(t) - x(0)|^2> -> 2 d D t,     D = integral of C(t) from 0 to infinity,  C(t) = <v(0) . v(t)> / d
//
// For disks the integral of C does not converge, for C falls as 1 / t in the end; over times of up to a few dozen
// collisions Enskog's value holds to a few per cent.

namespace carom {

/// Relative standard deviation of one ball's squared displacement when its components are Gaussian: sqrt(2 / d).
inline double displacement_noise(int dimension) { return std::sqrt(2.0 / dimension); }

/// Variance of W(b) - W(r b), W the mean square displacement of a random walk taken over all starts of a long run, over
/// that of W(b) taken over starts b apart. The covariance of W(a) and W(b), a < b, is proportional to the integral over
/// the time between two starts of the square of the time that their ways share, a^2 b - a^3 / 3.
/// \param r  from 0 to 1
inline double growth_variance(double r) { return 2.0 / 3.0 + 4.0 / 3.0 * r * r * r - 2.0 * r * r; }

/// Enskog's self-diffusion coefficient of hard balls [length^2/time]: sqrt(T / (pi m)) / (2 n sigma chi) for disks,
/// 1.01895 * 3 sqrt(T / (pi m)) / (8 n sigma^2 chi) for spheres (first Sonine order, for spheres times what the higher
/// ones add).
/// \param number_density  [length^-d]
/// \param contact         chi, as contact_value
inline double enskog_diffusion(int dimension, double number_density, double diameter, double contact,
                               double temperature, double mass) {
    const double speed = std::sqrt(temperature / (kPi * mass));
    if (dimension == 2) return speed / (2.0 * number_density * diameter * contact);
    constexpr double kHigherOrders = 1.01895;
    return kHigherOrders * 3.0 * speed / (8.0 * number_density * diameter * diameter * contact);
}

/// What that is off by, as a share of it, for times of many collisions, which know of each other: dense spheres drag
/// others along (measured with 8,000: 16 % more at a packing fraction of 0.16, 26 % at 0.3, 8 % at 0.4), and disks have
/// a long-time tail (24 % more at 0.2, 56 % at 0.4, over some hundred collisions).
inline double enskog_diffusion_uncertainty(int dimension, double packing_fraction) {
    if (dimension == 2) return std::fmin(0.15 + packing_fraction, 0.6);
    return std::fmin(0.02 + packing_fraction, 0.27);
}
/// What C(t) with that coefficient is off by, over a few collisions.
inline double enskog_correlation_uncertainty(int dimension) { return dimension == 2 ? 0.15 : 0.05; }

/// C(t) as if every collision forgot the same share, which is right at the start and for times of a few collisions
/// nearly so: T / m exp(-t T / (m D)), whose integral is D.
inline double exponential_autocorrelation(double time, double temperature, double mass, double diffusion) {
    return temperature / mass * std::exp(-time * temperature / (mass * diffusion));
}

/// <|x(t) - x(0)|^2> for that C(t): T / m d t^2 at the start, 2 d D (t - tau) in the end, tau = m D / T.
inline double exponential_displacement(int dimension, double time, double temperature, double mass, double diffusion) {
    const double tau = mass * diffusion / temperature;
    return 2.0 * dimension * diffusion * (time + tau * std::expm1(-time / tau));
}

}  // namespace carom
