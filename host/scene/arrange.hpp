#pragma once

#include <span>
#include <vector>

#include "host/scene/space.hpp"
#include "kernels/core/key.hpp"

// How the balls of a fill are placed. A new arrangement is one file with a function like these, declared here, and
// one row in arrangements(), in place.cpp; the scene file then knows its name and its keys, of which the function finds
// the values in FillEntry::values.

namespace carom {

class Section;

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

/// On random sites of a hexagonal or fcc lattice, shaken: for what is too dense to be packed at random.
template <int Dim>
std::vector<Point<Dim>> shaken_lattice(const Scene& scene, std::size_t number,
                                       const std::vector<PlacedBall<Dim>>& before);

/// The local-density profile of a gas under gravity (arrange_atmosphere.hpp), at random within it: by insertion, or,
/// where that does not reach, by growth of balls that keep their heights.
template <int Dim>
std::vector<Point<Dim>> arrange_as_atmosphere(const Scene& scene, std::size_t number,
                                              const std::vector<PlacedBall<Dim>>& before);

/// Centres for the fills `first` to `end`, by fill: the same for several at once.
template <int Dim>
using JointArranger = std::vector<std::vector<Point<Dim>>> (*)(const Scene& scene, std::size_t first, std::size_t end,
                                                               const std::vector<PlacedBall<Dim>>& before);

/// One arrangement.
struct ArrangementEntry {
    Kind kind;  ///< what scenes call it, and the keys of [[fill]] that are its own
    Arranger<2> disks;
    Arranger<3> spheres;
    /// Where fills of the kind that follow each other are placed together; null: one after the other.
    JointArranger<2> disks_together = nullptr;
    JointArranger<3> spheres_together = nullptr;
    /// Throws an InputError for a fill that cannot be arranged so, whatever room there is; null: any can.
    void (*check)(const Section& section, const Scene& scene, const FillEntry& fill) = nullptr;
};

/// All arrangements; FillEntry::arrangement is an index into them.
std::span<const ArrangementEntry> arrangements();

/// Where the scene says how many balls a fill has, as messages begin.
std::string label_of_fill(const Scene& scene, std::size_t number);

/// Throws the InputError of a fill whose balls do not fit: `reached` of them would.
template <int Dim>
[[noreturn]] void refuse_fill(const Scene& scene, std::size_t number, const Space<Dim>& space, std::uint64_t reached);

}  // namespace carom
