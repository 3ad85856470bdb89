#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/physics/restitution.hpp"

// What steps of a length make of the restitution of a damped linear spring.
//
// In units of the contact, m_e = 1, k_n = 1: w0 = 1, overlap x, its rate v. As the solver steps,
//
//   F = max(0, x_n + 2 zeta v_(n-1/2)),   v_(n+1/2) = v_(n-1/2) - h F,   x_(n+1) = x_n + h v_(n+1/2)
//
// the dashpot sees the rate of half a step ago, and contact begins somewhere within a step. So the restitution is off
// by O(h), by more or less with the phase: +-0.5 % at e = 0.75 and +-1.8 % at e = 0.4 with 50 steps a contact, of which
// the mean over phases is -0.07 % and -0.7 %. A dashpot that saw the rate of its own time would need a second force a
// step. Host only: nothing here reaches a state.

namespace carom {

/// Largest share by which the restitution of contacts that begin anywhere within a step is off.
/// \param zeta   damping ratio, above 0
/// \param steps  in a contact's duration, 3 or more; of many the share goes as 1 / steps, and is taken from fewer
inline double restitution_scatter(double zeta, double steps) {
    constexpr int kPhases = 64;
    constexpr double kMany = 10000.0;
    if (steps > kMany) return restitution_scatter(zeta, kMany) * (kMany / steps);
    const double h = contact_duration(1.0, 1.0, zeta) / steps;
    const double wanted = restitution_of_damping_ratio(zeta);
    double worst = 0.0;
    for (int phase = 0; phase < kPhases; ++phase) {
        double x = h * (1.0 - (phase + 0.5) / kPhases);  // the first overlap that a step sees
        double v = 1.0;
        while (x > 0.0) {
            const double force = std::max(0.0, x + 2.0 * zeta * v);
            if (force == 0.0) break;  // it never pulls: what is left of the overlap does nothing more
            v -= h * force;
            x += h * v;
        }
        worst = std::max(worst, std::abs(-v / wanted - 1.0));
    }
    return worst;
}

}  // namespace carom
