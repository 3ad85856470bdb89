#pragma once

#include "kernels/core/arithmetic.hpp"
#include "kernels/core/vec.hpp"

// The impact of two bodies, or of a body and a wall, with restitution, Coulomb friction and spin.
//
//   n   unit normal from body 1 to body 2;  vn = (v_2 - v_1) . n < 0 while they close
//   A_n = 1/m_1 + 1/m_2                     A_t = (1/m_1)(1 + 1/k_1) + (1/m_2)(1 + 1/k_2),  k = (radius of gyration /
//   r)^2 g_t = tangential part of (v_2 + w_2 x (-r_2 n)) - (v_1 + w_1 x (r_1 n)),  s = |g_t| p_n = -(1 + e) vn / A_n
//   |p_t| = mu p_n (slip)  where s / (mu A_t) > p_n,  else s / A_t (stick) J = p_n n - |p_t| g_t / s  acts on 2, -J on
//   1;  w_1 -= (r_1 n x J) / I_1,  w_2 += (-r_2 n x J) / I_2
//
// Source: Coulomb's law integrated over a central impact, whose slip keeps its direction (Stronge, Impact Mechanics,
// 2000, chapter 3; Walton & Braun 1986 for stick and slip). SI or any consistent units. Valid for disks and spheres,
// for which the contact lies on the line of centres. A wall or a body of infinite mass has inverse mass 0. Limits: e =
// 1, mu = 0 conserves energy; e = 1 with friction does not. w . n never changes in 3D.

namespace carom {

/// Angular velocity: one component (counter-clockwise) in 2D, three in 3D [rad/time].
template <int Dim>
using Spin = Vec<double, Dim == 2 ? 1 : 3>;

/// One of the two sides of an impact.
template <int Dim>
struct ImpactBody {
    Vec<double, Dim> velocity;
    Spin<Dim> spin;
    double inverse_mass;  ///< 0: infinite
    double radius;        ///< [length]; 0 for a wall
    double inverse_kr2;   ///< (r / radius of gyration)^2: 2 for a solid disk, 5/2 for a solid sphere
};

/// The impulse on body 2; body 1 gets the opposite.
template <int Dim>
struct Impact {
    double normal;                ///< p_n, along n
    Vec<double, Dim> tangential;  ///< p_t, across n
};

/// w x (r n).
CAROM_HD Vec<double, 2> surface_velocity(const Vec<double, 1>& w, double r, const Vec<double, 2>& n) {
    return {{-w[0] * r * n[1], w[0] * r * n[0]}};
}
CAROM_HD Vec<double, 3> surface_velocity(const Vec<double, 3>& w, double r, const Vec<double, 3>& n) {
    return {{r * (w[1] * n[2] - w[2] * n[1]), r * (w[2] * n[0] - w[0] * n[2]), r * (w[0] * n[1] - w[1] * n[0])}};
}

/// n x J.
CAROM_HD Vec<double, 1> turning(const Vec<double, 2>& n, const Vec<double, 2>& impulse) {
    return {{n[0] * impulse[1] - n[1] * impulse[0]}};
}
CAROM_HD Vec<double, 3> turning(const Vec<double, 3>& n, const Vec<double, 3>& impulse) {
    return {{n[1] * impulse[2] - n[2] * impulse[1], n[2] * impulse[0] - n[0] * impulse[2],
             n[0] * impulse[1] - n[1] * impulse[0]}};
}

/// p_n of a frictionless impact.
CAROM_HD double normal_impulse(double vn, double inverse_mass_sum, double e) {
    return vn < 0.0 && inverse_mass_sum > 0.0 ? -(1.0 + e) * vn / inverse_mass_sum : 0.0;
}

/// The frictionless impact without a unit normal: p_n n = factor * d, d from body 1 to body 2 and b = d . (v_2 - v_1).
CAROM_HD double impulse_factor(double b, double squared_distance, double inverse_mass_sum, double e) {
    return -(1.0 + e) * b / (squared_distance * inverse_mass_sum);
}

/// Tangential part of the relative velocity of the two surfaces at the contact.
template <int Dim>
CAROM_HD Vec<double, Dim> slip_velocity(const ImpactBody<Dim>& one, const ImpactBody<Dim>& two,
                                        const Vec<double, Dim>& n) {
    const Vec<double, Dim> relative = two.velocity - one.velocity;
    const Vec<double, Dim> turned =
        surface_velocity(two.spin, two.radius, n) + surface_velocity(one.spin, one.radius, n);
    return (relative - dot(relative, n) * n) - turned;
}

/// \param e   restitution, 0 to 1
/// \param mu  Coulomb's coefficient, 0 or more
template <int Dim>
CAROM_HD Impact<Dim> impact(const ImpactBody<Dim>& one, const ImpactBody<Dim>& two, const Vec<double, Dim>& n, double e,
                            double mu) {
    const double vn = dot(two.velocity - one.velocity, n);
    Impact<Dim> result = {normal_impulse(vn, one.inverse_mass + two.inverse_mass, e), Vec<double, Dim>::filled(0.0)};
    if (!(mu > 0.0) || !(result.normal > 0.0)) return result;
    const Vec<double, Dim> slip = slip_velocity(one, two, n);
    const double s = square_root(dot(slip, slip));
    const double a_t = one.inverse_mass * (1.0 + one.inverse_kr2) + two.inverse_mass * (1.0 + two.inverse_kr2);
    if (!(s > 0.0)) return result;
    const double most = mu * result.normal;
    const double sticking = s / a_t;
    result.tangential = (-smaller(most, sticking) / s) * slip;
    return result;
}

/// Gives both bodies the impulse.
template <int Dim>
CAROM_HD void apply_impact(ImpactBody<Dim>& one, ImpactBody<Dim>& two, const Vec<double, Dim>& n,
                           const Impact<Dim>& hit) {
    const Vec<double, Dim> along = hit.normal * n;
    one.velocity = one.velocity - one.inverse_mass * (along + hit.tangential);
    two.velocity = two.velocity + two.inverse_mass * (along + hit.tangential);
    if (one.inverse_mass > 0.0) {
        one.spin = one.spin - (one.inverse_mass * one.inverse_kr2 / one.radius) * turning(n, hit.tangential);
    }
    if (two.inverse_mass > 0.0) {
        two.spin = two.spin - (two.inverse_mass * two.inverse_kr2 / two.radius) * turning(n, hit.tangential);
    }
}

/// Change of energy of the impact, translation and spin: zero or less.
template <int Dim>
CAROM_HD double impact_energy_change(const ImpactBody<Dim>& one, const ImpactBody<Dim>& two, const Vec<double, Dim>& n,
                                     const Impact<Dim>& hit) {
    // J . (mean of the relative contact velocity before and after)
    const double a_n = one.inverse_mass + two.inverse_mass;
    const double a_t = one.inverse_mass * (1.0 + one.inverse_kr2) + two.inverse_mass * (1.0 + two.inverse_kr2);
    const double vn = dot(two.velocity - one.velocity, n);
    const Vec<double, Dim> slip = slip_velocity(one, two, n);
    return hit.normal * (vn + 0.5 * a_n * hit.normal) + dot(hit.tangential, slip + (0.5 * a_t) * hit.tangential);
}

}  // namespace carom
