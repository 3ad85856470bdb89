#pragma once

#include <cmath>

#include "kernels/core/arithmetic.hpp"

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

template <class Real>
struct LinearSpring {
    Real k_n;              ///< stiffness [force/length]
    Real gamma;            ///< damping, the same for all pairs [mass/time]
    Real two_zeta_sqrt_k;  ///< 2 zeta sqrt(k_n): times sqrt(m_e) it is the pair's damping

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

    /// \param damping_ratio  zeta; 0 where `damping`, gamma, is given
    static LinearSpring make(double stiffness, double damping, double damping_ratio) {
        return {static_cast<Real>(stiffness), static_cast<Real>(damping),
                static_cast<Real>(2.0 * damping_ratio * std::sqrt(stiffness))};
    }
};

/// Reduced mass from inverse masses, 0 where both are infinite.
template <class Real>
CAROM_HD Real reduced_mass(Real inverse_mass_i, Real inverse_mass_j) {
    const Real sum = inverse_mass_i + inverse_mass_j;
    return sum > Real(0) ? Real(1) / sum : Real(0);
}

}  // namespace carom
