#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/core/key.hpp"

// Radii that differ from ball to ball: `sizes` of a [[species]] or [[fill]], a distribution of radii over `radius`.
// What a ball's is follows from the seed and its id alone.

namespace carom {

struct Scene;
struct Species;

/// A distribution of radii over that of the species.
struct Sizes {
    enum class Kind : std::uint8_t { kNormal, kLognormal, kUniform, kTable };
    Kind kind = Kind::kNormal;
    double spread = 0.0;           ///< normal: standard deviation; lognormal: that of the logarithm
    double min = 1.0;              ///< none is smaller
    double max = 1.0;              ///< none is larger
    std::vector<double> values;    ///< table
    std::vector<double> shares;    ///< table: of balls up to each value, adding up to the sum of weights
    bool masses_by_volume = true;  ///< else all have that of the species

    /// A ball's radius over that of its species, of 12 binary digits but for the ends and values that the scene gives:
    /// so balls of some thousand radii at most share their properties.
    [[nodiscard]] double factor(std::uint64_t seed, std::uint64_t id) const;
};

/// The keys that [[species]] and [[fill]] have under `sizes`.
std::span<const Key> size_keys();

/// A species with all lengths times `factor`, and its mass as the distribution says.
/// \param of  its row in the table, which the result refers to
Species resized(const Species& species, std::uint32_t of, const Sizes& sizes, double factor, int dimension);

/// Null where all balls of the species have its radius.
const Sizes* sizes_of(const Scene& scene, std::uint32_t species);
/// That a ball of the species may have.
double largest_radius(const Scene& scene, std::uint32_t species);
double smallest_radius(const Scene& scene, std::uint32_t species);
double heaviest_mass(const Scene& scene, std::uint32_t species);
/// The first id of scene.fills[number].
std::uint64_t first_id(const Scene& scene, std::size_t number);
/// Of a fill's balls, by id; empty: all have that of the species.
std::vector<double> radii_of(const Scene& scene, std::size_t number);
/// How many balls of a species, ids from `first` on, come nearest to a volume in all.
double balls_filling(const Scene& scene, std::uint32_t species, std::uint64_t first, double volume);

}  // namespace carom
