#pragma once

#include "kernels/core/arithmetic.hpp"
#include "kernels/core/random.hpp"
#include "kernels/core/vec.hpp"

// Velocities that a heat bath of temperature T gives a ball of mass m.
//
// A thermal (diffuse) wall takes the ball in and lets another out. How many balls of a gas at rest cross a plane per
// time grows with their normal speed, so the velocities of those that leave the wall are Maxwell's, weighted by the
// flux:
//
//   P(v_n) = (m / T) v_n exp(-m v_n^2 / (2 T)),  v_n > 0 (Rayleigh):   v_n = sqrt(-2 (T / m) ln u),  u uniform in (0,
//   1) P(v_t) = sqrt(m / (2 pi T)) exp(-m v_t^2 / (2 T))    along each tangent
//
// so that <m v_n^2 / 2> = T, twice the T / 2 of a ball of the gas. Without the weight the gas would come to another
// temperature than the wall's. A wall that moves adds its own velocity. Source: e.g. Tehver, Toigo, Koplik & Banavar,
// "Thermal walls in computer simulations", Phys. Rev. E 57 (1998) R17. Units: any consistent ones, k_B = 1; T an
// energy. Limits: T -> 0, a ball that stays at the wall. Spins are left alone: the wall is smooth.
//
// A heat bath without a place (Andersen's thermostat, J. Chem. Phys. 72 (1980) 2384) gives all components the Gaussian.

namespace carom {

/// Random numbers of one draw are those of counters 4 number to 4 number + 3.
constexpr std::uint64_t kCountersPerDraw = 4;

/// Ids of different walls differ above the balls' 32 bits, so that a ball in a corner gets two draws.
CAROM_HD std::uint64_t draw_id(std::uint32_t ball, std::uint32_t wall) {
    return ball | static_cast<std::uint64_t>(wall) << 32;
}

/// Independent Gaussians of variance T / m along all axes.
/// \param spread  sqrt(T / m) [velocity]
template <int Dim>
CAROM_HD Vec<double, Dim> maxwell_velocity(double spread, std::uint64_t seed, std::uint64_t id, RandomPurpose purpose,
                                           std::uint64_t number) {
    Vec<double, Dim> velocity;
    const NormalPair first = normal_pair(random_words(seed, id, purpose, kCountersPerDraw * number + 1));
    velocity[0] = spread * first.first;
    velocity[1] = spread * first.second;
    if constexpr (Dim == 3) {
        const NormalPair last = normal_pair(random_words(seed, id, purpose, kCountersPerDraw * number + 2));
        velocity[2] = spread * last.first;
    }
    return velocity;
}

/// The velocity, relative to the wall, of a ball that leaves it.
/// \param normal  unit vector from the wall to where the balls are
/// \param spread  sqrt(T / m) [velocity]
/// \param id      draw_id of the ball and the wall
/// \param number  of the draw: the step, or a count
template <int Dim>
CAROM_HD Vec<double, Dim> thermal_wall_velocity(const Vec<double, Dim>& normal, double spread, std::uint64_t seed,
                                                std::uint64_t id, std::uint64_t number) {
    constexpr RandomPurpose kPurpose = RandomPurpose::kThermalWall;
    const double u = random_words(seed, id, kPurpose, kCountersPerDraw * number).uniform(0);
    const double along = spread * square_root(-2.0 * natural_log(u));
    const Vec<double, Dim> velocity = maxwell_velocity<Dim>(spread, seed, id, kPurpose, number);
    return velocity + (along - dot(velocity, normal)) * normal;
}

}  // namespace carom
