#pragma once

#include "kernels/core/key.hpp"
#include "kernels/core/transcendental.hpp"

// Restitution and duration of a damped linear spring contact that never pulls, and the inverse.
//
//   m_e x'' + gamma_n x' + k_n x = 0,  w0 = sqrt(k_n / m_e),  zeta = gamma_n / (2 sqrt(k_n m_e))
//
// The contact ends when F = k_n x + gamma_n x' reaches zero (x the overlap), before the overlap does:
//
//   zeta < 1:  e = exp(-2 zeta acos(zeta) / sqrt(1 - zeta^2)),   duration = 2 acos(zeta) / (w0 sqrt(1 - zeta^2))
//   zeta = 1:  e = exp(-2),                                      duration = 2 / w0
//   zeta > 1:  e = exp(-2 zeta acosh(zeta) / sqrt(zeta^2 - 1)),  duration = 2 acosh(zeta) / (w0 sqrt(zeta^2 - 1))
//
// e falls from 1 at zeta = 0 to 0 only as 1 / (4 zeta^2), so small restitutions need large zeta.
// Source: Schwager & Poeschel, Granular Matter 9 (2007) 465, re-derived. Valid for an isolated pair; independent of
// the speed. Doubles, and only operations that are the same on every machine: the results reach the state.

namespace carom {

/// The numbers of a contact from which its law is made, in the law's own units.
struct ContactTerms {
    double stiffness = 0.0;
    double damping = 0.0;        ///< the same for all contacts; 0 where restitution is
    double damping_ratio = 0.0;  ///< zeta, the same for all contacts; 0 where `damping` is
    KindValues own{};            ///< what the scene says under the keys that are the law's own
};

/// Reduced mass from inverse masses, 0 where both are infinite.
template <class Real>
CAROM_HD Real reduced_mass(Real inverse_mass_i, Real inverse_mass_j) {
    const Real sum = inverse_mass_i + inverse_mass_j;
    return sum > Real(0) ? Real(1) / sum : Real(0);
}

/// acos(zeta) / sqrt(1 - zeta^2), continued through zeta = 1 (1 there) as acosh(zeta) / sqrt(zeta^2 - 1).
CAROM_HD double damped_half_phase(double zeta) {
    // Near 1 both forms are 0 / 0, and both are asin(sqrt(s)) / sqrt(s), s = 1 - zeta^2: its series, whose first
    // term left out is below 2e-20 for |s| < 1e-3.
    const double s = (1.0 - zeta) * (1.0 + zeta);
    if (s < 1.0e-3 && s > -1.0e-3) {
        return 1.0 +
               s * (1.0 / 6.0 + s * (3.0 / 40.0 + s * (15.0 / 336.0 + s * (105.0 / 3456.0 + s * 945.0 / 42240.0))));
    }
    if (s > 0.0) return arc_cosine(zeta) / square_root(s);
    return area_cosine(zeta) / square_root(-s);
}

/// Restitution of a contact with damping ratio zeta >= 0.
CAROM_HD double restitution_of_damping_ratio(double zeta) { return exponential(-2.0 * zeta * damped_half_phase(zeta)); }

/// The damping ratio that gives restitution e, 0 < e <= 1; by bisection, exact to the last bits. Infinite at e = 0.
CAROM_HD double damping_ratio_of_restitution(double e) {
    if (e >= 1.0) return 0.0;
    if (!(e > 0.0)) return transcendental::kInfinity;
    double low = 0.0;
    double high = 1.0;
    while (restitution_of_damping_ratio(high) > e) high *= 2.0;
    for (int halving = 0; halving < 200; ++halving) {
        const double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high) break;
        if (restitution_of_damping_ratio(middle) > e) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return 0.5 * (low + high);
}

/// Duration of a contact [time]: stiffness k_n [force/length], reduced mass m_e [mass], damping ratio zeta.
CAROM_HD double contact_duration(double k_n, double m_e, double zeta) {
    return 2.0 * damped_half_phase(zeta) * square_root(m_e / k_n);
}

}  // namespace carom
