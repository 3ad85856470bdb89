#pragma once

#include <cstdint>
#include <vector>

#include "host/state/balls.hpp"

namespace carom {

/// A species that has balls in the scene.
struct PresentSpecies {
    double radius = 0.0;   ///< [length]
    double mass = 0.0;     ///< [mass]; may be infinite
    double fastest = 0.0;  ///< of its initial balls [length/time]
    std::uint64_t count = 0;

    [[nodiscard]] bool mobile() const;
};

/// In the order of the species table.
std::vector<PresentSpecies> present_species(const Balls& balls);

/// Two kinds of balls that can touch, or a kind of ball and a wall.
struct PossibleContact {
    double reduced_mass = 0.0;    ///< [mass]
    double smaller_radius = 0.0;  ///< [length]
    double approach = 0.0;        ///< speed to design for [length/time]
    bool wall = false;
};

/// Of all contacts that at least one ball of finite mass takes part in, those that matter: the smallest reduced mass,
/// and for each smaller radius and approach the largest one, are among them. At most three for each species, found in
/// a time that grows as n log n: a scene may give every ball a mass of its own.
/// \param walls         whether there are any
/// \param design_speed  of balls of finite mass [length/time]; the others keep the speeds that they have
std::vector<PossibleContact> extreme_contacts(const std::vector<PresentSpecies>& species, bool walls,
                                              double design_speed);

}  // namespace carom
