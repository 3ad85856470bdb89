#pragma once

#include "kernels/core/lanes.hpp"
#include "kernels/core/vec.hpp"
#include "kernels/physics/first_root.hpp"

// When two balls, or a ball and a wall, touch. All times count from now; kNeverTouch where it never happens. Distances
// between surfaces that are zero or, by rounding, just below while the two close give time 0.
//
// Pair (uniform gravity cancels): with d from i to j, dv its rate, s = r_i + r_j,
//
//   b = d . dv,  c = d . d - s^2,  D = b^2 - dv^2 c:   t = c / (sqrt(D) - b)   where b < 0 and D > 0
//
// the form without cancellation (e.g. Alder & Wainwright 1959 has the root; the form: any text on quadratics).
//
// Far away b^2 and dv^2 c are so large that their roundings, d / s times those of d, move the contact; there it is
// D = s^2 dv^2 - |d x dv|^2.
//
// Pair that grows, s at the rate g (Lubachevsky & Stillinger 1990), with b - s g for b and a = dv^2 - g^2 for dv^2:
//
//   b < 0 and b^2 > a c:  t = c / (sqrt(b^2 - a c) - b);   b >= 0 and a < 0, caught up with:  t = (b + sqrt(...)) / -a
//
// Plane, height h of the lowest point, speed v and acceleration a along the normal: h + v t + a t^2 / 2 = 0.
// Two that have just met do not approach, and only what bends their ways brings them together again; where nothing of
// their speed is left, rounding would have them meet endlessly (`met`).
//
// Sphere as a wall: the pair's formula outside, its other root inside; under gravity, and for a pair of which gravity
// moves only one, a quartic (first_root.hpp).

namespace carom {

constexpr double kNeverTouch = 1.0e300;

/// What a prediction for a pair, or for four pairs at once, gives.
template <class Real>
struct PairTime {
    Real time;  ///< kNeverTouch where they do not meet
    Real c;     ///< d . d - s^2: near 0 where they touch now
};

constexpr double kFarSquared = 65536.0;  // (d / s)^2 - 1

/// |d x dv|^2.
template <class Real, int Dim>
CAROM_HD Real crossing_squared(const Vec<Real, Dim>& d, const Vec<Real, Dim>& dv) {
    const Real turn = fused_away(d[1], dv[0], d[0] * dv[1]);
    Real squared = turn * turn;
    if constexpr (Dim == 3) {
        for (int axis = 0; axis < 2; ++axis) {
            const Real other = fused_away(d[2], dv[axis], d[axis] * dv[2]);
            squared = fused(other, other, squared);
        }
    }
    return squared;
}

/// \param closing  b must be below this: 0, or minus the noise of b, so that rounding alone makes no collision
template <class Real, int Dim>
CAROM_HD PairTime<Real> pair_time(const Vec<Real, Dim>& d, const Vec<Real, Dim>& dv, Real s, Real closing, Real never) {
    Real b = d[Dim - 1] * dv[Dim - 1];
    Real v2 = dv[Dim - 1] * dv[Dim - 1];
    Real c = fused_away(s, s, d[Dim - 1] * d[Dim - 1]);
    for (int axis = Dim - 2; axis >= 0; --axis) {
        b = fused(d[axis], dv[axis], b);
        v2 = fused(dv[axis], dv[axis], v2);
        c = fused(d[axis], d[axis], c);
    }
    Real discriminant = fused_away(v2, c, b * b);
    const auto far = less(as(s, kFarSquared) * (s * s), c);
    if (any(far)) [[unlikely]] {
        discriminant = choose(far, (s * s) * v2 - crossing_squared(d, dv), discriminant);
    }
    const Real zero = b - b;  // NaN stays NaN: such lanes never meet
    const Real time = larger(c / (square_root(discriminant) - b), zero);
    return {choose(less(b, closing) & less(zero, discriminant), time, never), c};
}

/// Two balls whose sum of radii is s now and grows at the rate `growth`, 0 or more.
template <int Dim>
CAROM_HD double growing_pair_time(const Vec<double, Dim>& d, const Vec<double, Dim>& dv, double s, double growth) {
    const double a = dot(dv, dv) - growth * growth;
    const double b = dot(d, dv) - s * growth;
    if (b >= 0.0 && a >= 0.0) return kNeverTouch;
    const double c = larger(dot(d, d) - s * s, 0.0);
    const double discriminant = b * b - a * c;
    if (!(discriminant > 0.0)) return kNeverTouch;
    const double root = square_root(discriminant);
    return b < 0.0 ? c / (root - b) : (b + root) / -a;
}

/// \param height        of the ball's lowest point above the plane [length]
/// \param speed         along the normal, negative towards the plane
/// \param acceleration  along the normal
CAROM_HD double plane_time(double height, double speed, double acceleration) {
    const double h = larger(height, 0.0);
    if (acceleration < 0.0) {  // falls back in any case
        const double root = square_root(speed * speed - 2.0 * acceleration * h);
        return speed < 0.0 ? 2.0 * h / (root - speed) : (speed + root) / -acceleration;
    }
    if (!(speed < 0.0)) return kNeverTouch;
    if (acceleration == 0.0) return h / -speed;
    const double discriminant = speed * speed - 2.0 * acceleration * h;
    return discriminant > 0.0 ? 2.0 * h / (square_root(discriminant) - speed) : kNeverTouch;
}

/// Time at which |d + v t| reaches `reach` from inside.
template <int Dim>
CAROM_HD double inside_sphere_time(const Vec<double, Dim>& d, const Vec<double, Dim>& v, double reach) {
    const double b = dot(d, v);
    const double v2 = dot(v, v);
    const double c = smaller(dot(d, d) - reach * reach, 0.0);
    if (!(v2 > 0.0)) return kNeverTouch;
    const double root = square_root(b * b - v2 * c);
    return b > 0.0 ? -c / (b + root) : (root - b) / v2;
}

/// Time at which |d + v t + a t^2 / 2| reaches `reach`, from outside or from inside.
template <int Dim>
CAROM_HD double curved_sphere_time(const Vec<double, Dim>& d, const Vec<double, Dim>& v, const Vec<double, Dim>& a,
                                   double reach, bool inside, bool met) {
    const double side = inside ? -1.0 : 1.0;
    const double rate = side * 2.0 * dot(d, v);
    const double quartic[5] = {side * (dot(d, d) - reach * reach), met ? larger(rate, 0.0) : rate,
                               side * (dot(v, v) + dot(d, a)), side * dot(v, a), side * 0.25 * dot(a, a)};
    return first_fall_below_zero(quartic, kNeverTouch);
}

/// A ball meets a wall that is round about a point, or in the plane across an axis.
/// \param d      from there to the ball's centre, v its rate, a that of v: 0 unless Curved
/// \param reach  of d when they touch [length]
template <bool Curved, int Dim>
CAROM_HD double round_wall_time(const Vec<double, Dim>& d, const Vec<double, Dim>& v, const Vec<double, Dim>& a,
                                double reach, bool inside, bool met) {
    if constexpr (Curved) return curved_sphere_time(d, v, a, reach, inside, met);
    if (inside) return inside_sphere_time(d, v, reach);
    return met ? kNeverTouch : pair_time<double, Dim>(d, v, reach, 0.0, kNeverTouch).time;
}

}  // namespace carom
