#pragma once

#include "kernels/core/vec.hpp"

namespace carom {

/// Sums over all balls of finite mass, carried from event to event, and their integrals over time, exact between
/// impulses: with K the kinetic energy of translation, P the momentum, X = sum m x, M the mass and g gravity,
///
///   d(2K)/dt = 2 P . g,  dP/dt = M g,  dX/dt = P.
///
/// They make the virial identity of a run checkable at no cost.
template <int Dim>
struct Flow {
    double twice_kinetic = 0.0;
    Vec<double, Dim> momentum{};
    Vec<double, Dim> moment{};  ///< X, positions as they are in the box
    double mass = 0.0;
    double time = 0.0;  ///< of the epoch, that the sums stand for
    double twice_kinetic_time = 0.0;
    double gravity_virial_time = 0.0;

    void advance(double to, const Vec<double, Dim>& g) {
        const double s = to - time;
        time = to;
        const double pg = dot(momentum, g);
        const double mgg = mass * dot(g, g);
        twice_kinetic_time += s * (twice_kinetic + s * (pg + s * (mgg / 3.0)));
        gravity_virial_time += s * (dot(moment, g) + s * (0.5 * pg + s * (mgg / 6.0)));
        twice_kinetic += s * (2.0 * pg + s * mgg);
        moment = moment + s * (momentum + (0.5 * s * mass) * g);
        momentum = momentum + (s * mass) * g;
    }
};

}  // namespace carom
