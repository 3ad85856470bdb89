#pragma once

#include <cstdint>
#include <string>

#include "host/scene/scene.hpp"
#include "host/scene/section.hpp"

// One reader for each table that comes many times. All validate what they read against the scene so far and throw
// InputError.

namespace carom {

/// Share of the box by which a length worked out by hand may miss another one.
constexpr double kLengthSlack = 1.0e-12;
/// Ids are 32 bits wide.
constexpr std::uint64_t kMostBalls = 4294967294ULL;

Wall read_wall(const Section& section, const Scene& scene);
Species read_species(const Section& section, const Scene& scene);
BallEntry read_ball(const Section& section, Scene& scene);
FillEntry read_fill(const Section& section, Scene& scene);
ObserveEntry read_observable(const Section& section, const Scene& scene);

/// Index of the species of that name, which the section's key `species` holds.
std::uint32_t species_index(const Section& section, const Scene& scene, const std::string& name);
/// The species that a ball or fill names, or describes inline; then a nameless one joins the scene.
std::uint32_t species_of(const Section& section, Scene& scene);
/// A vector of any length but 0, made a unit vector.
Vector3 unit_vector(const Section& section, std::string_view name);

}  // namespace carom
