#pragma once

#include <algorithm>
#include <cmath>
#include <string_view>

#include "kernels/core/arithmetic.hpp"
#include "kernels/core/key.hpp"
#include "kernels/physics/restitution.hpp"

// The linear spring with viscous damping that never pulls.
//
//   F = max(0, k_n delta + gamma_n d(delta)/dt),   gamma_n = gamma + 2 zeta sqrt(k_n m_e)
//
// F [force] acts on both bodies along the line of centres, apart; delta > 0 [length] is the overlap,
// d(delta)/dt its rate (positive while the bodies approach), m_e [mass] the reduced mass (m_i at a wall).
// Either gamma (the same for all pairs, so that restitution depends on mass) or zeta (the same restitution for
// all pairs) is zero. Contact duration of an undamped pair: pi sqrt(m_e / k_n), whatever the speed.
// Energy stored in a contact: k_n delta^2 / 2.
//
// Source: Cundall & Strack 1979 (the normal law); Schwager & Poeschel 2007 (the cut at zero force, see
// restitution.hpp). Valid while delta is far below the radii. Limits: zeta = 0 conserves energy; k_n to
// infinity is the hard contact, with errors of order 1 / sqrt(k_n).

namespace carom {

inline constexpr Key kLinearSpringKeys[] = {
    {.name = "stiffness",
     .type = KeyType::kNumberOrAuto,
     .bounds = kPositive,
     .fallback = "\"auto\"",
     .help = "[force/length]; \"auto\" keeps overlaps under `max_overlap` when two balls meet head-on, each at the "
             "design speed"},
    {.name = "wall_stiffness", .bounds = kPositive, .fallback = "stiffness", .help = "[force/length]"},
    {.name = "damping",
     .type = KeyType::kNumberOrAuto,
     .bounds = kNotNegative,
     .fallback = "\"auto\"",
     .help = "[mass/time], the same for all contacts; \"auto\" gives every contact its `restitution`, which must be "
             "0.01 or more"},
};

/// A gas of soft balls in equilibrium that meet undamped, as far as velocity Verlet's errors depend on it.
struct SteppedGas {
    double dt = 0.0;             ///< [time]
    double phase = 0.0;          ///< h = w0 dt, w0 = sqrt(k_n / m_e)
    double thermal_speed = 0.0;  ///< sqrt(2 T / m_e) of two balls
    double distance = 0.0;       ///< of two centres where they meet [length]
    double time = 0.0;           ///< that has been stepped
    double contacts = 0.0;       ///< of two balls, meanwhile
    double balls = 0.0;
    int dimension = 2;
    bool alike = true;  ///< all contacts last as long: one kind of balls, no walls
};

/// Standard deviation of what the steps' errors add to the energy, as a share of it: a random walk from contact to
/// contact. While two balls touch, Verlet conserves v^2 + (w0 x)^2 (1 - h^2 / 4), not the energy: a contact that begins
/// at a part s of a step and ends at a part s' changes the energy of its approach by h^2 (s' (1 - s') - s (1 - s)) of
/// itself. Over s that has the variance f^2 (1 - f)^2 h^4 / 3 if the contact lasts a part f longer than whole steps:
/// nothing where it lasts a whole number of them, as with the default dt. But balls that pass each other turn, which
/// shortens their contact by 2 v_t^2 / (w0 R v_n h) steps, and a third ball that is met meanwhile leaves any f. The
/// energies of approach are exponential about T. Measured (bench/long_runs.py CAROM walk), packing
/// fractions 0.1 to 0.5, overlaps of 0.1 to 10 %, 10 to 50 steps a contact: 0.67 to 1.13 of it.
inline double energy_walk(const SteppedGas& gas) {
    constexpr int kTerms = 8;
    constexpr double kOfAnyLength = 1.0 / 45.0;
    const double h = gas.phase;
    const double in_steps = kPi / (2.0 * std::asin(std::fmin(0.5 * h, 1.0)));
    const double turn = 2.0 * gas.thermal_speed * gas.dt / (h * h * gas.distance);
    const double tangents = 0.5 * (gas.dimension - 1);
    const double square_turn = kPi * kPi * tangents * (tangents + 1.0) * turn * turn;
    // f^2 (1 - f)^2 as cosines of f, whose means over the balls' directions fall off about so.
    double variance = 0.0;
    for (int k = 1; k <= kTerms; ++k) {
        const double order = k * k;
        variance += (1.0 - std::cos(2.0 * kPi * k * in_steps) / (1.0 + order * square_turn)) / (order * order);
    }
    variance *= 2.0 / (kPi * kPi * kPi * kPi);
    const double per_ball = 2.0 * gas.contacts / gas.balls;
    const double met = gas.alike ? std::fmin(1.0, 4.0 * per_ball * in_steps * gas.dt / gas.time) : 1.0;  // by a third
    variance += met * (kOfAnyLength - variance);
    return h * h * std::sqrt(variance * gas.contacts) * 2.0 / (gas.balls * gas.dimension);
}

template <class Real>
struct LinearSpring {
    static constexpr Kind kKind{"linear", kLinearSpringKeys, "force goes as the overlap"};
    static constexpr std::string_view kStiffnessUnit = "N/m";
    static constexpr std::string_view kForceOfStiffness = "stiffness times diameter";

    Real k_n;              ///< stiffness [force/length]
    Real gamma;            ///< damping, the same for all pairs [mass/time]
    Real two_zeta_sqrt_k;  ///< 2 zeta sqrt(k_n): times sqrt(m_e) it is the pair's damping

    static LinearSpring make(const ContactTerms& terms) {
        return {static_cast<Real>(terms.stiffness), static_cast<Real>(terms.damping),
                static_cast<Real>(2.0 * terms.damping_ratio * std::sqrt(terms.stiffness))};
    }

    CAROM_HD Real force(Real overlap) const { return k_n * overlap; }

    CAROM_HD Real force(Real overlap, Real overlap_rate, Real reduced_mass) const {
        const Real gamma_n = fused(two_zeta_sqrt_k, square_root(reduced_mass), gamma);
        return larger(fused(gamma_n, overlap_rate, k_n * overlap), Real(0));
    }

    /// Energy stored in a contact whose force acts along the centres, scaled by distance / (distance + epsilon), and
    /// whose overlap s is reach - distance - epsilon:
    ///     U(s) = k_n (s^2 / 2 - epsilon (R ln(R / (R - s)) - s)),  R = reach.
    /// The logarithm is expanded, R ln(R / (R - s)) - s = s^2 / (2 R) + s^3 / (3 R^2) + ...: exact to rounding while
    /// s < R / 100, and irrelevant beyond, as epsilon is tiny.
    CAROM_HD double energy(Real overlap, Real reach, Real epsilon) const {
        const double s = static_cast<double>(overlap);
        double result = 0.5 * static_cast<double>(k_n) * s * s;
        if (epsilon > Real(0)) {
            const double ratio = s / static_cast<double>(reach);
            double series = 0.0;
            for (int power = 9; power >= 2; --power) series = (series + 1.0 / static_cast<double>(power)) * ratio;
            result = result - static_cast<double>(k_n) * static_cast<double>(epsilon) * s * series;
        }
        return result;
    }

    static double power(const ContactTerms& /*terms*/) { return 1.0; }
    static double damping_ratio(const ContactTerms& /*terms*/, double restitution) {
        return damping_ratio_of_restitution(restitution);
    }
    static double stiffness_for(const ContactTerms& /*terms*/, double overlap, double speed, double m_e) {
        const double per_length = speed / overlap;
        return m_e * per_length * per_length;
    }
    static double largest_overlap(const ContactTerms& terms, double speed, double m_e) {
        return speed * std::sqrt(m_e / terms.stiffness);
    }
    static double duration(const ContactTerms& terms, double /*speed*/, double m_e) {
        const double k = terms.stiffness;
        const double zeta = terms.damping > 0.0 ? terms.damping / (2.0 * std::sqrt(k * m_e)) : terms.damping_ratio;
        return contact_duration(k, m_e, zeta);
    }
    static double slope(const ContactTerms& terms, double /*overlap*/, double /*overlap_rate*/, double /*m_e*/) {
        return terms.stiffness;
    }
    static double strongest_force(const ContactTerms& terms, double overlap, double speed, double m_e) {
        const double gamma_n = std::max(terms.damping, 2.0 * terms.damping_ratio * std::sqrt(terms.stiffness * m_e));
        return terms.stiffness * overlap + 10.0 * gamma_n * speed;
    }
    static double soft_diameter_loss(const ContactTerms& terms, double temperature) {
        constexpr double kHalfPi = 1.5707963267948966;
        return std::sqrt(kHalfPi * temperature / terms.stiffness);
    }
};

}  // namespace carom
