#pragma once

#include <array>
#include <cmath>
#include <cstddef>

// Equations of state of hard disks and hard spheres, and what of them soft balls keep.
//
//   Z = p V / (N T),  phi the packing fraction,  chi the pair distribution at contact:  Z = 1 + b phi chi,
//   b = 2 for disks, 4 for spheres
//
// Fluid only: phi below 0.70 for disks, 0.494 for spheres. For the infinite system: N balls in a periodic box are off
// by a few (Z - 1) / N. Balls of one size where no more is said. Host only: nothing here reaches a state.

namespace carom {

/// Disks of packing fraction phi: Kolafa and Rottner 2006, a series in phi / (1 - phi) that has the known virial
/// coefficients and follows simulations up to where disks freeze: within 5e-6 of Z - 1 from these at phi = 0.31, 0.47,
/// 0.63 and 0.67.
inline double disk_compressibility(double phi) {
    constexpr std::array kCoefficients{
        1.0,          2.0,           1.12801775,     0.00181895291, -0.0526134737,  0.0504960168,  -0.0325537792,
        0.0134578632, 0.00140888182, -0.00834273601, 0.00694127367, -0.00262254723, 0.000355746352};
    const double x = phi / (1.0 - phi);
    double sum = 0.0;
    for (std::size_t k = kCoefficients.size(); k-- > 0;) sum = sum * x + kCoefficients[k];
    // The bend before the disks freeze.
    return sum - 5.24672938e-9 * std::pow(x, 22) + 5.88054639e-23 * std::pow(x, 57);
}

/// Spheres of packing fraction phi: Kolafa's correction of Carnahan and Starling 1969; within 0.01 % up to phi = 0.45.
inline double sphere_compressibility(double phi) {
    const double free = 1.0 - phi;
    return (1.0 + phi + phi * phi - 2.0 / 3.0 * (phi * phi * phi + phi * phi * phi * phi)) / (free * free * free);
}

/// Disks: Henderson 1975, (1 + phi^2 / 8) / (1 - phi)^2. Less exact than disk_compressibility (0.5 % too high at 0.5),
/// but its excess chemical potential has a closed form.
inline double henderson_compressibility(double phi) { return (1.0 + 0.125 * phi * phi) / ((1.0 - phi) * (1.0 - phi)); }

/// Spheres: Carnahan and Starling 1969, (1 + phi + phi^2 - phi^3) / (1 - phi)^3; 0.3 % too low at 0.4.
inline double carnahan_starling_compressibility(double phi) {
    return (1.0 + phi + phi * phi - phi * phi * phi) / ((1.0 - phi) * (1.0 - phi) * (1.0 - phi));
}

/// Disks of several sizes: Santos, Yuste and Lopez de Haro 1999; good to about a percent at a size ratio of 2.
/// \param uniformity  <s>^2 / <s^2> of the diameters s: 1 for one size
inline double disk_mixture_compressibility(double phi, double uniformity) {
    return (1.0 - uniformity) / (1.0 - phi) + uniformity * disk_compressibility(phi);
}

/// Spheres of several sizes: Boublik 1970 and Mansoori, Carnahan, Starling and Leland 1971, whose last term is here
/// that of sphere_compressibility, so that one size is its Z. Exact for points among spheres, and in a thin gas. \param
/// pair, triple  <s> <s^2> / <s^3> and <s^2>^3 / <s^3>^2 of the diameters s: 1 for one size
inline double sphere_mixture_compressibility(double phi, double pair, double triple) {
    const double free = 1.0 - phi;
    return 1.0 / free + 3.0 * phi * pair / (free * free) +
           phi * phi * (3.0 - 2.0 / 3.0 * (phi + phi * phi)) * triple / (free * free * free);
}

/// Moments of the diameters of balls of several sizes, from which Z follows.
struct SizeMoments {
    std::array<double, 4> mean{1.0, 0.0, 0.0, 0.0};  ///< of s^0 to s^3 [length^k]

    /// \param share  of the balls that have this diameter
    void add(double diameter, double share) {
        double power = share;
        for (std::size_t k = 1; k < mean.size(); ++k) mean[k] += power *= diameter;
    }
    /// How alike the balls are: 1 for one size, 0 for endlessly many small ones among a few large ones.
    [[nodiscard]] double uniformity(int dimension) const {
        return dimension == 2 ? mean[1] * mean[1] / mean[2] : mean[2] * mean[2] * mean[2] / (mean[3] * mean[3]);
    }
    [[nodiscard]] double compressibility(int dimension, double phi) const {
        return dimension == 2 ? disk_mixture_compressibility(phi, uniformity(2))
                              : sphere_mixture_compressibility(phi, mean[1] * mean[2] / mean[3], uniformity(3));
    }
};

/// Z by dimension, 2 or 3.
inline double hard_compressibility(int dimension, double phi) {
    return dimension == 2 ? disk_compressibility(phi) : sphere_compressibility(phi);
}

/// Where hard_compressibility holds.
inline double largest_fluid_fraction(int dimension) { return dimension == 2 ? 0.69 : 0.49; }

/// What hard_compressibility may be off by, as a fraction of Z - 1.
inline double compressibility_uncertainty(int dimension) { return dimension == 2 ? 0.0005 : 0.0003; }

/// The same of so many balls in a box instead of endlessly many.
inline double finite_size_uncertainty(double balls) { return 3.0 / balls; }

/// Diameters: where a period of a box is less, balls feel their own images, and theories of the bulk do not hold.
inline constexpr double kNarrowestPeriod = 5.0;

/// As compressibility_uncertainty, of balls of several sizes: up to a size ratio of 3.
inline double mixture_uncertainty(int dimension, double uniformity) {
    return compressibility_uncertainty(dimension) + 0.02 * (1.0 - uniformity);
}

/// How hard balls resist a compression at constant temperature: d(phi Z)/d(phi) = (dp/dn) / T, 1 for a thin gas.
inline double isothermal_stiffness(int dimension, double phi) {
    const double step = 1e-5;  // a difference of this order is right to 1e-9
    return ((phi + step) * hard_compressibility(dimension, phi + step) -
            (phi - step) * hard_compressibility(dimension, phi - step)) /
           (2.0 * step);
}

/// Speed of sound of hard balls, in units of sqrt(T / m): c^2 = d(phi Z)/d(phi) + 2 Z^2 / d, the compressibility at
/// constant temperature and what a compression heats, with the heat capacity d / 2 of a ball; sqrt(gamma),
/// gamma = 1 + 2 / d, for a thin gas.
inline double sound_speed(int dimension, double phi) {
    const double z = hard_compressibility(dimension, phi);
    return std::sqrt(isothermal_stiffness(dimension, phi) + 2.0 * z * z / dimension);
}

/// T'/T of hard balls that are compressed from packing fraction phi to phi', slowly and without heat: d/2 N dT = -p dV
/// gives ln T'/T = 2/d times the integral of Z d(phi) / phi. (phi'/phi)^(gamma - 1), gamma = 1 + 2 / d, for a thin gas;
/// below 1 for an expansion.
inline double adiabatic_heating(int dimension, double phi, double compressed) {
    constexpr int kIntervals = 64;  // of Simpson's rule, over ln(phi): right to 1e-6 up to where hard balls freeze
    const double ratio = std::log(compressed / phi);
    double sum = 0.0;
    for (int k = 0; k <= kIntervals; ++k) {
        const double z = hard_compressibility(dimension, phi * std::exp(ratio * k / kIntervals));
        sum += (k == 0 || k == kIntervals ? 1.0 : (k % 2 == 1 ? 4.0 : 2.0)) * z;
    }
    return std::exp(2.0 / dimension * sum * ratio / kIntervals / 3.0);
}

/// What stands at a hard wall beyond what the bulk has, as a length of bulk over sigma, counted from where centres can
/// just be: d / 2 phi / (1 + (d - 1) phi), by scaled particle theory (Reiss, Frisch, Helfand and Lebowitz 1960: the
/// work of a large cavity has a term of its surface); exact to first order in phi for spheres, 15 % off for disks.
inline double wall_adsorption(int dimension, double phi) {
    return 0.5 * dimension * phi / (1.0 + (dimension - 1.0) * phi);
}

/// The packing fraction of the bulk where phi is that of all, walls' layers in it: phi_b (1 + a(phi_b) surface) = phi.
/// \param surface  S / V of all walls, of where the centres can be, times sigma
inline double fraction_between_walls(int dimension, double phi, double surface) {
    constexpr int kHalvings = 60;
    double low = 0.0;
    double high = phi;
    for (int k = 0; k < kHalvings; ++k) {
        const double middle = 0.5 * (low + high);
        (middle * (1.0 + wall_adsorption(dimension, middle) * surface) < phi ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

/// What a wall's surface takes of the free energy, over T sigma and the volume of a ball: Gibbs' d(gamma) = -Gamma
/// d(mu) with Gamma = a sigma n and n d(mu) = dp, so minus the integral of a d(phi Z).
inline double wall_tension(int dimension, double phi) {
    constexpr int kIntervals = 32;  // of the midpoint rule
    double sum = 0.0;
    for (int k = 0; k < kIntervals; ++k) {
        const double at = phi * (k + 0.5) / kIntervals;
        sum += wall_adsorption(dimension, at) * isothermal_stiffness(dimension, at);
    }
    return -sum * phi / kIntervals;
}

/// The share by which sound between two walls is slower than that of the bulk at the mean density, over the length of
/// where centres can be: what stands at walls is not in the bulk, and the layers take d(phi a)/d(phi) more in when the
/// pressure there rises, a = wall_adsorption, as if the box were longer.
/// \param surface  S / V of all walls, times sigma   \param length  between these two, over sigma
inline double sound_slowed_by_walls(int dimension, double phi, double surface, double length) {
    const double bulk = fraction_between_walls(dimension, phi, surface);
    const double more = 1.0 + (dimension - 1.0) * phi;
    const double layer = 0.5 * dimension * phi * (1.0 + more) / (more * more);
    return 1.0 - sound_speed(dimension, bulk) / sound_speed(dimension, phi) / (1.0 + 2.0 * layer / length);
}

}  // namespace carom
