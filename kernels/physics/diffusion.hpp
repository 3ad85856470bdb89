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

/// What a motion of all balls as one adds to the variance of the sum of their ways' squares, as a share of that of
/// independent balls: of n Gaussian ways of mean square W along an axis, each two of which have c in common, that is
/// 2 n W^2 + 2 n (n - 1) c^2. A bath, or a wall, that takes momentum and gives it moves them so.
/// \param together  mean square of the sum of all ways over the sum of their mean squares, 1 + (n - 1) c / W
inline double variance_as_one(double together, double balls) {
    return balls > 1.0 ? (together - 1.0) * (together - 1.0) / (balls - 1.0) : 0.0;
}

/// In which a ball whose velocity a bath redraws at a rate, D = T / (m rate), comes a diameter far along some axis:
/// where that is long beside the time between collisions, the same two meet again and again [time].
inline double redrawn_way_time(double diameter, double mass, double temperature, double rate) {
    return 0.25 * diameter * diameter * mass * rate / temperature;
}

/// In which a wave of density is forgotten where a bath redraws velocities at a rate, the integral of its correlation
/// [time]. A wave that friction -rate v damps obeys x'' + rate x' + c^2 k^2 x = 0, c^2 = (dp/dn) / m, so this is
/// rate / (c^2 k^2), whether it swings or, at rates above 2 c k, spreads by diffusion.
/// \param squared_wave_vector  k^2 [1/length^2]
/// \param stiffness            (dp/dn) / T, as isothermal_stiffness
inline double redrawn_spreading_time(double squared_wave_vector, double stiffness, double mass, double temperature,
                                     double rate) {
    return rate * mass / (stiffness * temperature * squared_wave_vector);
}

/// Enskog's self-diffusion coefficient of hard balls [length^2/time]: sqrt(T / (pi m)) / (2 n sigma chi) for disks,
/// 3 sqrt(T / (pi m)) / (8 n sigma^2 chi) for spheres (first Sonine order), times what the higher orders add: 1.02704
/// and 1.01895. \param number_density  [length^-d] \param contact         chi, as contact_value
inline double enskog_diffusion(int dimension, double number_density, double diameter, double contact,
                               double temperature, double mass) {
    const double speed = std::sqrt(temperature / (kPi * mass));
    if (dimension == 2) return 1.02704 * speed / (2.0 * number_density * diameter * contact);
    return 1.01895 * 3.0 * speed / (8.0 * number_density * diameter * diameter * contact);
}

/// What that is off by, as a share of it, for times of many collisions, which know of each other: dense spheres drag
/// others along (measured with 8,000: 16 % more at a packing fraction of 0.16, 26 % at 0.3, 8 % at 0.4), and disks have
/// a long-time tail (24 % more at 0.2, 56 % at 0.4, over some hundred collisions).
inline double enskog_diffusion_uncertainty(int dimension, double packing_fraction) {
    if (dimension == 2) return std::fmin(0.15 + packing_fraction, 0.6);
    return std::fmin(0.02 + packing_fraction, 0.27);
}

/// What many collisions that know of each other make of Enskog's coefficient of spheres, in a large system: the share
/// that Erpenbeck and Wood (1991) fitted to molecular dynamics. Disks have no large system.
inline double dense_diffusion_factor(double packing_fraction) {
    constexpr double kClosest = 0.7404804896930610;  // packing fraction
    const double x = packing_fraction / kClosest;
    return 1.0 + x * (0.05403 + x * (6.3656 - x * 10.9425));
}

/// Self-diffusion in a periodic square or cube, whose flows of long wavelength are not there to drag balls along, over
/// times in which momentum spreads over all of it. From mode coupling, with one flow for each wave vector of the box:
///
///   spheres:  D - 2.837 T / (6 pi (eta + m n D) L)                         (Duenweg and Kremer 1993, for dense fluids)
///   disks:    D + T / (8 pi^2 (eta + m n D)) (2 pi ln R + 2.585),   R = 0.25 L / (2 pi l)
///
/// where for spheres D is that of a large system and for disks Enskog's, and l is the mean free path: waves shorter
/// than some of these are no flows. How many is fitted to runs of 64 to 1,024 disks at packing fractions 0.2 and 0.4.
/// \param side          L [length]
/// \param viscosity     eta [mass / (length^(d - 2) time)]
/// \param mass_density  m n
/// \param path          l [length]; of disks alone
inline double diffusion_in_box(int dimension, double diffusion, double side, double temperature, double viscosity,
                               double mass_density, double path) {
    const double spreading = viscosity + mass_density * diffusion;
    if (dimension == 3) return diffusion - 2.837297 * temperature / (6.0 * kPi * spreading * side);
    constexpr double kSquareLattice = 2.5849817;  // sum of 1 / n^2 up to R, less 2 pi ln R
    const double waves = 2.0 * kPi * std::log(0.25 * side / (2.0 * kPi * path)) + kSquareLattice;
    return diffusion + std::fmax(0.0, waves) * temperature / (8.0 * kPi * kPi * spreading);
}
/// What that is off by, as a share of it: measured with 64 to 512 spheres, and disks as above.
inline double diffusion_in_box_uncertainty(int dimension, double packing_fraction) {
    return dimension == 2 ? 0.04 + 0.3 * packing_fraction : 0.02 + 0.1 * packing_fraction;
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

/// What a motion of all balls as one at a speed V, which nothing changes, adds to these: V^2 / d to C(t), and to D as a
/// mean square displacement has it that grows by (V t)^2 between two lags, V^2 (t1 + t2) / (2 d).
/// \param energy  of that motion, M V^2 / 2, M the mass of all
inline double drift_squared(double energy, double mass) { return 2.0 * energy / mass; }
inline double drift_autocorrelation(int dimension, double speed_squared) { return speed_squared / dimension; }
inline double drift_displacement(double time, double speed_squared) { return speed_squared * time * time; }
inline double drift_diffusion(int dimension, double speed_squared, double sum_of_lags) {
    return speed_squared * sum_of_lags / (2.0 * dimension);
}

}  // namespace carom
