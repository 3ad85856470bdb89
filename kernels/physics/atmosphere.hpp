#pragma once

#include <cmath>

#include "kernels/core/transcendental.hpp"
#include "kernels/physics/equation_of_state.hpp"

// Balls of one size at one temperature T under gravity g: how their density falls with the height z of centres above
// the lowest one possible. l = T / (m g) is the scale height. Host only. It reaches a state (arrangement "atmosphere"),
// so there is nothing of libm in it.
//
//   point particles:  n(z) = n(0) exp(-z / l)
//   hard balls:       ln phi + mu_ex(phi) + z / l = const, the density at a height being that of a fluid there
//                     (local-density approximation), with phi_0 Z(phi_0) = N v / (A l) at the floor, v the volume of a
//                     ball, A the area of the floor: the pressure there carries the weight.
//
// Within 2 % above some two diameters, for l of ten and more; the layer that lies on the floor is denser.

namespace carom {

/// Chemical potential beyond the ideal gas's, over T: Henderson's for disks, Carnahan and Starling's for spheres.
inline double excess_chemical_potential(int dimension, double phi) {
    const double free = 1.0 - phi;
    if (dimension == 2) {
        return -0.875 * natural_log(free) + 1.125 * phi / free + henderson_compressibility(phi) - 1.0;
    }
    return (8.0 * phi - 9.0 * phi * phi + 3.0 * phi * phi * phi) / (free * free * free);
}

/// The phi at which `function`, which grows with phi, is 0: by halving; right to the last digits.
template <class Function>
double packing_where(const Function& function) {
    double low = 0.0;
    double high = 0.9;
    for (int step = 0; step < 200 && high - low > 1e-16 * high; ++step) {
        const double middle = 0.5 * (low + high);
        (function(middle) < 0.0 ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

/// Pressure times v / T, phi Z(phi), by the equation of state that belongs to this chemical potential.
inline double local_pressure(int dimension, double phi) {
    return phi * (dimension == 2 ? henderson_compressibility(phi) : carnahan_starling_compressibility(phi));
}

/// Packing fraction at the floor, or wherever so much lies above. \param load  N v / (A l)
inline double bottom_packing(int dimension, double load) {
    return packing_where([&](double phi) { return local_pressure(dimension, phi) - load; });
}

/// Packing fraction at a height. \param height  in scale heights, above the lowest centre
inline double local_packing(int dimension, double bottom, double height) {
    const double constant = natural_log(bottom) + excess_chemical_potential(dimension, bottom) - height;
    return packing_where(
        [&](double phi) { return natural_log(phi) + excess_chemical_potential(dimension, phi) - constant; });
}

/// Height at which the packing fraction is phi, up to that at the floor: the inverse of local_packing. In scale
/// heights.
inline double height_of_packing(int dimension, double bottom, double phi) {
    return natural_log(bottom / phi) + excess_chemical_potential(dimension, bottom) -
           excess_chemical_potential(dimension, phi);
}

/// Packing fraction at the floor under a ceiling: by the same law, the pressure at the floor carries the weight and
/// what presses on the ceiling. \param top  height of the highest centre possible, in scale heights; infinity: no
/// ceiling
inline double bottom_packing_below(int dimension, double load, double top) {
    if (std::isinf(top)) return bottom_packing(dimension, load);
    // Beneath this the difference of pressures is lost in rounding, and the density is the same all over.
    constexpr double kThin = 1e-8;
    if (top < kThin) return load / top;
    return packing_where([&](double phi) {
        if (!(phi > 0.0)) return -load;
        return local_pressure(dimension, phi) - local_pressure(dimension, local_packing(dimension, phi, top)) - load;
    });
}

}  // namespace carom
