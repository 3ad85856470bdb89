#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "host/scene/space.hpp"

// How the balls of a fill are placed. A new arrangement is one file with a function like these, declared here, and
// one line in arrangements.cpp; the scene file then knows its name.

namespace carom {

/// Centres for all balls of scene.fills[number], without overlap with each other, with walls and with the balls
/// placed before. Only + - * / sqrt reach them, so they are the same on every machine.
/// \throws InputError  when they do not fit; says how many do
template <int Dim>
using Arranger = std::vector<Point<Dim>> (*)(const Scene& scene, std::size_t number,
                                             const std::vector<PlacedBall<Dim>>& before);

/// Centres for fills `first` to `end`, packed together at random: by sequential insertion, one fill after the other;
/// past what that reaches, by growth of all their balls in proportion; past what that reaches, on shaken lattices.
/// \throws InputError  when one of them does not fit; says how many of its balls do
template <int Dim>
std::vector<std::vector<Point<Dim>>> pack_randomly(const Scene& scene, std::size_t first, std::size_t end,
                                                   const std::vector<PlacedBall<Dim>>& before);

/// The same for one fill.
template <int Dim>
std::vector<Point<Dim>> arrange_randomly(const Scene& scene, std::size_t number,
                                         const std::vector<PlacedBall<Dim>>& before);

/// Square or cubic where that fits, else hexagonal or fcc.
template <int Dim>
std::vector<Point<Dim>> arrange_on_lattice(const Scene& scene, std::size_t number,
                                           const std::vector<PlacedBall<Dim>>& before);

/// The local-density profile of a gas under gravity (atmosphere.hpp), at random within it: by insertion, or, where that
/// does not reach, by growth of balls that keep their heights.
template <int Dim>
std::vector<Point<Dim>> arrange_as_atmosphere(const Scene& scene, std::size_t number,
                                              const std::vector<PlacedBall<Dim>>& before);

/// An arrangement by the name that scenes use.
struct ArrangementEntry {
    std::string_view name;
    Arranger<2> disks;
    Arranger<3> spheres;
};

/// All arrangements; FillEntry::arrangement is an index into them.
std::span<const ArrangementEntry> arrangements();

/// Throws the InputError of balls that do not fit: `reached` of them would.
template <int Dim>
[[noreturn]] void refuse_fill(const FillEntry& fill, const Space<Dim>& space, std::uint64_t reached);

}  // namespace carom
