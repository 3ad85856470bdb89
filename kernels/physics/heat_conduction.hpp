#pragma once

#include <cmath>

#include "kernels/core/transcendental.hpp"

// Conduction of heat: Fourier's law, q = -lambda dT/dx, with the conductivity that Enskog's kinetic theory has for hard
// balls of one size. Units: T an energy (Boltzmann's constant is 1), so lambda in 1 / (length^(d - 2) time). Host only:
// nothing here reaches a state.
//
//   lambda = lambda_0 (1 / chi + c b + (c^2 / 4 + s) b^2 chi),   b = 2^(d - 1) phi,   chi the contact value
//
//   disks:   lambda_0 = 1.0292  2 / sigma sqrt(T / (pi m)),           c = 3/2, s = 1 / (1.0292 pi)         (Gass 1971)
//   spheres: lambda_0 = 1.02513 75 / (64 sigma^2) sqrt(T / (pi m)),   c = 6/5, s = 32 / (1.02513 25 pi)
//                                          (Chapman and Cowling, The Mathematical Theory of Non-uniform Gases, 16.4)
//
// The first factors are what higher Sonine orders add. A thin gas has lambda_0, which does not depend on its density:
// with a steady flow of heat T^(3/2) is then linear in the way. Where collisions pass on heat across a diameter, the
// last two terms grow with density. Off by a few per cent up to half the density of freezing.

namespace carom {

/// lambda [1 / (length^(d - 2) time)].
/// \param contact  chi, as contact_value
inline double enskog_conductivity(int dimension, double packing_fraction, double diameter, double contact,
                                  double temperature, double mass) {
    const double speed = std::sqrt(temperature / (kPi * mass));
    const bool disks = dimension == 2;
    const double higher_orders = disks ? 1.0292 : 1.02513;
    const double thin = higher_orders * (disks ? 2.0 / diameter : 75.0 / (64.0 * diameter * diameter)) * speed;
    const double b = (disks ? 2.0 : 4.0) * packing_fraction;
    const double c = disks ? 1.5 : 1.2;
    const double s = (disks ? 1.0 : 32.0 / 25.0) / (higher_orders * kPi);
    return thin * (1.0 / contact + c * b + (0.25 * c * c + s) * b * b * contact);
}

/// The rate at which the temperature of a gas, the same everywhere in it, comes to that of one diffuse wall across an
/// axis: n sqrt(T / (2 pi m)) balls an area and time bring (d + 1) T / 2 each, the wall's number takes away (d + 1) / 2
/// times its own T, and the gas holds d N T / 2. Of a thin gas; a dense one stands closer at the wall and is faster.
/// \param length  of the box across the wall, where centres are [length]
inline double wall_exchange_rate(int dimension, double temperature, double mass, double length) {
    return (dimension + 1.0) / dimension * std::sqrt(temperature / (2.0 * kPi * mass)) / length;
}

/// Under gravity, the height that the balls would fill if they stood as dense all over as at the floor [length]. There
/// n T is their weight, however dense they are. \param scale_height  T / (m g) [length] \param length        of the
/// box, where centres are [length]
inline double column_height(double scale_height, double length) {
    return -scale_height * std::expm1(-length / scale_height);
}

/// What `far` is of the slowest wave of heat, exp(-D t / far^2), D that at the floor, in a high column of gas on a
/// floor that keeps its temperature [length]. Its heat conducts as well above, of less to warm: J0(j exp(-z / (2
/// scale_height))), with the first zero j of J0.
inline double column_heat_wave(double scale_height) {
    constexpr double kFirstZero = 2.404825557695773;
    return 2.0 / kFirstZero * scale_height;
}

}  // namespace carom
