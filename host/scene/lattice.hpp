#pragma once

#include <vector>

#include "host/scene/space.hpp"

namespace carom {

/// At least `count` lattice sites that keep clear of walls and of the balls placed before, as far apart from each
/// other as fits: square or cubic if `square`, else hexagonal or fcc; row by row, x fastest. Fewer than `count` where
/// no more fit even with touching balls: then as many as fit.
template <int Dim>
std::vector<Point<Dim>> lattice_sites(const Space<Dim>& space, std::uint64_t count, bool square);

extern template std::vector<Point<2>> lattice_sites<2>(const Space<2>&, std::uint64_t, bool);
extern template std::vector<Point<3>> lattice_sites<3>(const Space<3>&, std::uint64_t, bool);

}  // namespace carom
