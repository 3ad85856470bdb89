#pragma once

#include <cstdint>

#include "kernels/physics/linear_spring.hpp"

// The registry of contact laws. A new law is one file with force(overlap), force(overlap, overlap_rate,
// reduced_mass) and energy(overlap, reach, epsilon), and here one enumerator, one union member and one case.

namespace carom {

enum class ContactLawKind : std::uint8_t { kLinear };

/// The law of a run's contacts. The choice is the same for all balls, so a GPU's threads never part over it.
template <class Real>
struct ContactLaw {
    ContactLawKind kind;
    union {
        LinearSpring<Real> linear;
    };

    /// f(law) with the law that is in force.
    template <class F>
    CAROM_HD auto visit(F&& f) const {
        switch (kind) {
            case ContactLawKind::kLinear:
                break;
        }
        return f(linear);
    }

    CAROM_HD Real force(Real overlap) const {
        return visit([&](const auto& law) { return law.force(overlap); });
    }
    CAROM_HD Real force(Real overlap, Real overlap_rate, Real reduced_mass) const {
        return visit([&](const auto& law) { return law.force(overlap, overlap_rate, reduced_mass); });
    }
    CAROM_HD double energy(Real overlap, Real reach, Real epsilon) const {
        return visit([&](const auto& law) { return law.energy(overlap, reach, epsilon); });
    }
};

/// The law called `kind` from a scene's numbers.
/// \param stiffness      [force/length]
/// \param damping        gamma, the same for all pairs [mass/time]
/// \param damping_ratio  zeta of each pair; 0 where `damping` is given
template <class Real>
ContactLaw<Real> make_contact_law(ContactLawKind kind, double stiffness, double damping, double damping_ratio) {
    ContactLaw<Real> law{kind, {}};
    switch (kind) {
        case ContactLawKind::kLinear:
            law.linear = LinearSpring<Real>::make(stiffness, damping, damping_ratio);
            break;
    }
    return law;
}

}  // namespace carom
