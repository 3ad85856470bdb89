#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "host/observables/registry.hpp"
#include "host/scene/space.hpp"
#include "kernels/core/key.hpp"
#include "kernels/core/random.hpp"

// How the balls of a fill are placed. A new arrangement is one file with a function that gives its row, which is
// declared and called in arrangements(), in place.cpp; the scene file then knows its name and its keys, of which an
// Arranger finds the values in FillEntry::values.

namespace carom {

/// Centres for all balls of scene.fills[number], without overlap with each other, with walls and with the balls
/// placed before. Only + - * / sqrt reach them, so they are the same on every machine.
/// \throws InputError  when they do not fit; says how many do
template <int Dim>
using Arranger = std::vector<Point<Dim>> (*)(const Scene& scene, std::size_t number,
                                             const std::vector<PlacedBall<Dim>>& before);

/// On random sites of a hexagonal or fcc lattice, shaken: for what is too dense to be packed at random.
template <int Dim>
std::vector<Point<Dim>> shaken_lattice(const Scene& scene, std::size_t number,
                                       const std::vector<PlacedBall<Dim>>& before);

/// Centres for the fills `first` to `end`, by fill: the same for several at once.
template <int Dim>
using JointArranger = std::vector<std::vector<Point<Dim>>> (*)(const Scene& scene, std::size_t first, std::size_t end,
                                                               const std::vector<PlacedBall<Dim>>& before);

/// Calls take(center) for the balls of a fill, one after the other, as often as it is asked: an Arranger's centres, for
/// those who have no room for all.
template <int Dim>
using CenterWalk = std::function<void(const std::function<void(const Point<Dim>&)>& take)>;
template <int Dim>
using CenterWalkMaker = CenterWalk<Dim> (*)(const Scene& scene, std::size_t number,
                                            const std::vector<PlacedBall<Dim>>& before);

/// One arrangement.
struct ArrangementEntry {
    Kind kind;  ///< what scenes call it, and the keys of [[fill]] that are its own
    Arranger<2> disks;
    Arranger<3> spheres;
    /// Where fills of the kind that follow each other are placed together; null: one after the other.
    JointArranger<2> disks_together = nullptr;
    JointArranger<3> spheres_together = nullptr;
    /// Null: all centres have to be there at once.
    CenterWalkMaker<2> walk_disks = nullptr;
    CenterWalkMaker<3> walk_spheres = nullptr;
    /// Of a fill that cannot be arranged so, whatever room there is; null: any can. The key "count" is packing_fraction
    /// where the scene says that.
    std::optional<Refusal> (*check)(const Scene& scene, const FillEntry& fill) = nullptr;
};

/// All arrangements; FillEntry::arrangement is an index into them.
std::span<const ArrangementEntry> arrangements();

/// Where the scene says how many balls a fill has, as messages begin.
std::string label_of_fill(const Scene& scene, std::size_t number);

/// Throws the InputError of a fill whose balls do not fit: `reached` of them would.
template <int Dim>
[[noreturn]] void refuse_fill(const Scene& scene, std::size_t number, const Space<Dim>& space, std::uint64_t reached);

/// Random insertion ends near 0.547 (disks) and 0.384 (spheres) and becomes slow before (Feder 1980; Meakin & Jullien
/// 1992); a try beyond these packing fractions is not worth its time.
template <int Dim>
constexpr double kInsertionReaches = Dim == 2 ? 0.50 : 0.32;

/// Three (or two) numbers in [0, 1) from one draw, of 42 bits each.
template <int Dim>
inline Point<Dim> uniform_point(const RandomWords& words) {
    const std::uint64_t low = words.wide(0);
    const std::uint64_t high = words.wide(1);
    const std::uint64_t parts[3] = {low >> 22, high >> 22, ((low & 0x1fffffU) << 21) | (high & 0x1fffffU)};
    constexpr double kUnit = 1.0 / 4398046511104.0;  // 2^-42
    Point<Dim> point;
    for (int axis = 0; axis < Dim; ++axis) point[axis] = (static_cast<double>(parts[axis]) + 0.5) * kUnit;
    return point;
}

/// The column of gas that a fill of arrangement "atmosphere" is, by the local-density theory of
/// kernels/physics/atmosphere.hpp, as if it were alone.
struct Atmosphere {
    int axis = 0;               ///< of gravity
    bool down = true;           ///< gravity points to the lower face
    double scale_height = 0.0;  ///< [length]
    double top = 0.0;           ///< of the highest centre above the lowest [scale heights]
    double load = 0.0;          ///< N v / (A l)
    double bottom = 0.0;        ///< packing fraction at the floor
};

/// Of a fill that check_atmosphere has passed.
Atmosphere atmosphere_of(const Scene& scene, const FillEntry& fill);

/// Why a fill cannot be an atmosphere: without gravity along one axis, a floor or a temperature, or too dense at the
/// floor for a fluid.
std::optional<Refusal> check_atmosphere(const Scene& scene, const FillEntry& fill);

}  // namespace carom
