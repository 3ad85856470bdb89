#pragma once

#include <vector>

#include "host/scene/space.hpp"

namespace carom {

/// All balls of scene.fills[number] on random sites of a hexagonal or fcc lattice, shaken: for what is too dense to be
/// packed at random.
/// \throws InputError  when the lattice has too few sites; says how many
template <int Dim>
std::vector<Point<Dim>> shaken_lattice(const Scene& scene, std::size_t number,
                                       const std::vector<PlacedBall<Dim>>& before);

extern template std::vector<Point<2>> shaken_lattice<2>(const Scene&, std::size_t, const std::vector<PlacedBall<2>>&);
extern template std::vector<Point<3>> shaken_lattice<3>(const Scene&, std::size_t, const std::vector<PlacedBall<3>>&);

}  // namespace carom
