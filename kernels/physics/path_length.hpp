#pragma once

#include "kernels/core/transcendental.hpp"
#include "kernels/core/vec.hpp"

namespace carom {

/// Velocity of a ball in free flight [length/time]. \param v, g, dt  as for path_length
template <int Dim>
CAROM_HD Vec<double, Dim> velocity_after(const Vec<double, Dim>& v, const Vec<double, Dim>& g, double dt) {
    return v + dt * g;
}

/// Length of the way of a ball in free flight: straight, or a parabola under gravity [length].
///
/// Along the field, u = v . g / |g| grows by |g| dt, and across it the speed w stays, so that
///
///   L = int sqrt(u^2 + w^2) dt = [u s + w^2 asinh(u / w)] / (2 |g|),   s = sqrt(u^2 + w^2),
///
/// taken between the ends; where the speed hardly changes, which cancels in this form, Simpson's rule instead (relative
/// error below 1e-6). Source: elementary; the integral is in any table.
/// \param v   velocity at the start [length/time]
/// \param g   acceleration [length/time^2], zero allowed
/// \param dt  time of flight, 0 or more
template <int Dim>
CAROM_HD double path_length(const Vec<double, Dim>& v, const Vec<double, Dim>& g, double dt) {
    constexpr double kNearlyStraight = 0.01;
    const double start = dot(v, v);
    const double field = dot(g, g);
    const double gained = field * dt * dt;  // square of the velocity gained
    if (gained == 0.0) return dt * square_root(start);
    const double along = dot(v, g) * dt;
    const double middle = start + along + 0.25 * gained;
    const double end = start + 2.0 * along + gained;
    if (gained <= kNearlyStraight * smaller(start, smaller(middle, end))) {
        return dt / 6.0 * (square_root(start) + 4.0 * square_root(middle) + square_root(end));
    }
    const double strength = square_root(field);
    const double u[2] = {dot(v, g) / strength, dot(v, g) / strength + strength * dt};
    const double across = larger(start - u[0] * u[0], 0.0);
    double parts[2];
    for (int k = 0; k < 2; ++k) {
        const double speed = square_root(u[k] * u[k] + across);
        const double magnitude = u[k] < 0.0 ? -u[k] : u[k];
        const double area = across > 0.0 ? natural_log((magnitude + speed) / square_root(across)) : 0.0;
        parts[k] = u[k] * speed + (u[k] < 0.0 ? -across : across) * area;
    }
    return (parts[1] - parts[0]) / (2.0 * strength);
}

}  // namespace carom
