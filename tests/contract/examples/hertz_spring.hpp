#pragma once

#include "kernels/core/arithmetic.hpp"

namespace carom::examples {

/// Hertz's contact of elastic spheres: F = k_n delta^(3/2), with viscous damping that never pulls (Hertz 1881).
/// k_n [force/length^(3/2)], gamma [mass/time]. Energy 2/5 k_n delta^(5/2).
template <class Real>
struct HertzSpring {
    Real k_n;
    Real gamma;

    CAROM_HD Real force(Real overlap) const { return k_n * overlap * square_root(overlap); }
    CAROM_HD Real force(Real overlap, Real overlap_rate, Real /*reduced_mass*/) const {
        return larger(fused(gamma, overlap_rate, force(overlap)), Real(0));
    }
    /// Without the correction for distance_epsilon, which exists for one old program's linear law.
    CAROM_HD double energy(Real overlap, Real /*reach*/, Real /*epsilon*/) const {
        const auto s = static_cast<double>(overlap);
        return 0.4 * static_cast<double>(k_n) * s * s * square_root(s);
    }
};

}  // namespace carom::examples
