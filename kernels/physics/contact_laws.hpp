#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/core/one_of.hpp"
#include "kernels/physics/hertz_spring.hpp"
#include "kernels/physics/linear_spring.hpp"

// The registry of contact laws. A law is a struct of its own file that both processors include, and a name in this
// list: everything else is made from the list. What a law has, besides the constants that its force needs (m_e is the
// reduced mass, overlap_rate is positive while bodies approach, speeds are those of approach):
//
//   kKind              what scenes call it, and the keys that it takes: stiffness and wall_stiffness, perhaps damping,
//                      and any of its own, whose values are terms.own.number("KEY")
//   kStiffnessUnit     of its stiffness, for people
//   kForceOfStiffness  what must fit the precision, in words
//
//   make(terms)                                  the law from its numbers
//   force(overlap)                               undamped [force]
//   force(overlap, overlap_rate, m_e)            damped, never negative [force]
//   energy(overlap, reach, epsilon)              stored by the undamped force, whose direction and size
//                                                distance_epsilon changes, see LinearSpring [energy]
//
// and, for the host alone, of the numbers in double (what follows from them reaches the state, so: only operations that
// are the same on every machine):
//
//   power(terms)                                 n: the undamped force goes as overlap^n
//   damping_ratio(terms, restitution)            that gives it to an isolated pair, whatever its speed and masses
//   stiffness_for(terms, overlap, speed, m_e)    at which an undamped contact is that deep; the terms have none yet
//   largest_overlap(terms, speed, m_e)           of an undamped contact [length]
//   duration(terms, speed, m_e)                  of a contact [time]
//   slope(terms, overlap, overlap_rate, m_e)     by how much the force changes with the overlap, at most [force/length]
//   strongest_force(terms, overlap, speed, m_e)  what no force exceeds: that at this overlap and ten times this speed
//   soft_diameter_loss(terms, temperature)       see below [length]
//
// The soft diameter loss is by how much the hard balls that behave like soft ones at a temperature are smaller in
// diameter: the integral of exp(-U / T) over overlaps, which is the diameter less Barker and Henderson's (1967),
// the integral of 1 - exp(-U / T) over distances. At a wall it is the same with the wall's numbers, as a distance.

namespace carom {

template <template <class> class... Laws>
struct ContactLawList {
    template <class Real>
    using AnyOf = OneOf<Laws<Real>...>;
    static constexpr std::array kKinds{Laws<double>::kKind...};
    template <template <class> class Law>
    using And = ContactLawList<Laws..., Law>;
};

/// All contact laws; a new one stands behind the others.
using ContactLaws = ContactLawList<LinearSpring, HertzSpring>;

/// What a scene chooses.
struct ContactLawChoice {
    std::uint8_t number = 0;  ///< the law's place in the list
    KindValues own{};         ///< what the scene says under the law's own keys
};

/// The keys of [spring] that stand for a contact's terms; the others of a law are its own.
inline constexpr std::array<std::string_view, 3> kTermKeys{"stiffness", "wall_stiffness", "damping"};

/// \throws std::invalid_argument  there is none of that name
template <class Laws = ContactLaws>
ContactLawChoice contact_law_called(std::string_view name, KindValues own = {}) {
    for (std::size_t number = 0; number < Laws::kKinds.size(); ++number) {
        if (Laws::kKinds[number].name == name) return {static_cast<std::uint8_t>(number), std::move(own)};
    }
    throw std::invalid_argument("no contact law is called " + std::string(name));
}

/// The law of a run's contacts. The choice is the same for all balls, so a GPU's threads never part over it.
template <class Real, class Laws = ContactLaws>
struct ContactLaw {
    typename Laws::template AnyOf<Real> law;

    CAROM_HD Real force(Real overlap) const {
        return law.visit([&](const auto& one) { return one.force(overlap); });
    }
    CAROM_HD Real force(Real overlap, Real overlap_rate, Real reduced_mass) const {
        return law.visit([&](const auto& one) { return one.force(overlap, overlap_rate, reduced_mass); });
    }
    CAROM_HD double energy(Real overlap, Real reach, Real epsilon) const {
        return law.visit([&](const auto& one) { return one.energy(overlap, reach, epsilon); });
    }
};

/// A law and the numbers of its contacts, and what follows from them: for the host.
template <class Laws>
struct SoftContactOf {
    std::uint8_t number;  ///< of the law in the list
    ContactTerms terms;

    SoftContactOf(const ContactLawChoice& law, double stiffness, double damping = 0.0, double damping_ratio = 0.0)
        : number(law.number), terms{stiffness, damping, damping_ratio, law.own} {}

    /// f.operator()<Law>().
    template <class Real = double, class F>
    auto with(F&& f) const {
        return Laws::template AnyOf<Real>::with_type(number, f);
    }
    template <class Real>
    [[nodiscard]] ContactLaw<Real, Laws> law() const {
        return with<Real>([&]<class Law>() { return ContactLaw<Real, Laws>{Law::make(terms)}; });
    }
    [[nodiscard]] std::string_view stiffness_unit() const {
        return with([&]<class Law>() { return Law::kStiffnessUnit; });
    }
    [[nodiscard]] std::string_view force_of_stiffness() const {
        return with([&]<class Law>() { return Law::kForceOfStiffness; });
    }
    /// Overlaps and durations go as stiffness to minus this, and the mean energy of a contact in a gas is T times this.
    [[nodiscard]] double softness() const {
        return with([&]<class Law>() { return 1.0 / (1.0 + Law::power(terms)); });
    }
    [[nodiscard]] double damping_ratio(double restitution) const {
        return with([&]<class Law>() { return Law::damping_ratio(terms, restitution); });
    }
    [[nodiscard]] double stiffness_for(double overlap, double speed, double m_e) const {
        return with([&]<class Law>() { return Law::stiffness_for(terms, overlap, speed, m_e); });
    }
    [[nodiscard]] double largest_overlap(double speed, double m_e) const {
        return with([&]<class Law>() { return Law::largest_overlap(terms, speed, m_e); });
    }
    [[nodiscard]] double duration(double speed, double m_e) const {
        return with([&]<class Law>() { return Law::duration(terms, speed, m_e); });
    }
    [[nodiscard]] double slope(double overlap, double overlap_rate, double m_e) const {
        return with([&]<class Law>() { return Law::slope(terms, overlap, overlap_rate, m_e); });
    }
    /// w0 where a contact is stiffest: steps of dt are stable while w0 dt < 2 [1/time].
    [[nodiscard]] double frequency(double speed, double m_e) const {
        return std::sqrt(slope(largest_overlap(speed, m_e), 0.0, m_e) / m_e);
    }
    [[nodiscard]] double strongest_force(double overlap, double speed, double m_e) const {
        return with([&]<class Law>() { return Law::strongest_force(terms, overlap, speed, m_e); });
    }
    [[nodiscard]] double soft_diameter_loss(double temperature) const {
        return with([&]<class Law>() { return Law::soft_diameter_loss(terms, temperature); });
    }
};
using SoftContact = SoftContactOf<ContactLaws>;

}  // namespace carom
