#pragma once

#include <cmath>

#include "kernels/core/transcendental.hpp"
#include "kernels/physics/diffusion.hpp"
#include "kernels/physics/equation_of_state.hpp"
#include "kernels/physics/heat_conduction.hpp"
#include "kernels/physics/pair_distribution.hpp"

// Friction within a gas of hard balls of one size, by Enskog's kinetic theory, and how it damps sound. Units: T an
// energy (Boltzmann's constant is 1), viscosities in mass / (length^(d - 2) time). Host only: nothing here reaches a
// state.
//
//   eta  = eta_0 (1 + a b chi)^2 / chi + d / (d + 2) zeta,   zeta = k eta_0 b^2 chi,
//   a = 2 / (d + 2),   b = 2^(d - 1) phi,   chi the contact value;
//
//   disks:   eta_0 = 1.022 / (2 sigma) sqrt(m T / pi),       k = 1.246                                (Gass 1971)
//   spheres: eta_0 = 1.016 5 / (16 sigma^2) sqrt(m T / pi),  k = 1.002
//                                        (Chapman and Cowling, The Mathematical Theory of Non-uniform Gases, 16.41)
//
// A thin gas has eta_0, which does not depend on its density, and no bulk viscosity zeta. Off by a few per cent up to
// half the density of freezing, by more beyond; disks have no viscosity of a very large system, for their long-time
// tails make it grow with the logarithm of its size.

namespace carom {

/// eta_0 [mass / (length^(d - 2) time)].
inline double thin_viscosity(int dimension, double diameter, double temperature, double mass) {
    const double momentum = std::sqrt(mass * temperature / kPi);
    return dimension == 2 ? 1.022 / (2.0 * diameter) * momentum : 1.016 * 5.0 / (16.0 * diameter * diameter) * momentum;
}

/// zeta [mass / (length^(d - 2) time)]. \param contact  chi, as contact_value
inline double enskog_bulk_viscosity(int dimension, double packing_fraction, double diameter, double contact,
                                    double temperature, double mass) {
    const double thin = thin_viscosity(dimension, diameter, temperature, mass);
    const double b = (dimension == 2 ? 2.0 : 4.0) * packing_fraction;
    return (dimension == 2 ? 1.246 : 1.002) * thin * b * b * contact;
}

/// eta [mass / (length^(d - 2) time)]. \param contact  chi, as contact_value
inline double enskog_viscosity(int dimension, double packing_fraction, double diameter, double contact,
                               double temperature, double mass) {
    const double thin = thin_viscosity(dimension, diameter, temperature, mass);
    const double b = (dimension == 2 ? 2.0 : 4.0) * packing_fraction;
    const double passed_on = 1.0 + 2.0 / (dimension + 2.0) * b * contact;
    return thin * passed_on * passed_on / contact +
           dimension / (dimension + 2.0) *
               enskog_bulk_viscosity(dimension, packing_fraction, diameter, contact, temperature, mass);
}

/// What resists a compression along one axis, 2 (d - 1) / d eta + zeta: it takes this times (du/dx)^2 per volume and
/// time from the flow [mass / (length^(d - 2) time)].
inline double longitudinal_viscosity(int dimension, double packing_fraction, double diameter, double temperature,
                                     double mass) {
    const double chi = contact_value(dimension, hard_compressibility(dimension, packing_fraction), packing_fraction);
    return 2.0 * (dimension - 1.0) / dimension *
               enskog_viscosity(dimension, packing_fraction, diameter, chi, temperature, mass) +
           enskog_bulk_viscosity(dimension, packing_fraction, diameter, chi, temperature, mass);
}

/// Gamma of sound, whose waves of wave number k fade as exp(-Gamma k^2 t) [length^2/time]: half of the longitudinal
/// viscosity over the density of mass, and of lambda / n (1 / c_v - 1 / c_p), c_v = d / 2 and
/// c_p - c_v = Z^2 / (d(phi Z)/d(phi)) per ball. For waves much longer than a mean free path (Hansen and McDonald,
/// Theory of Simple Liquids, 8.5).
inline double sound_attenuation(int dimension, double packing_fraction, double diameter, double temperature,
                                double mass) {
    const double ball = shell_volume(dimension, 0.0, 0.5 * diameter);
    const double n = packing_fraction / ball;
    const double z = hard_compressibility(dimension, packing_fraction);
    const double chi = contact_value(dimension, z, packing_fraction);
    const double c_v = 0.5 * dimension;
    const double c_p = c_v + z * z / isothermal_stiffness(dimension, packing_fraction);
    const double friction =
        longitudinal_viscosity(dimension, packing_fraction, diameter, temperature, mass) / (n * mass);
    const double conduction = enskog_conductivity(dimension, packing_fraction, diameter, chi, temperature, mass) / n *
                              (1.0 / c_v - 1.0 / c_p);
    return 0.5 * (friction + conduction);
}

}  // namespace carom
