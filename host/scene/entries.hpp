#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "host/scene/scene.hpp"
#include "host/scene/section.hpp"

// One reader for each table that comes many times. All validate what they read against the scene so far and throw
// InputError.

namespace carom {

/// Share of the box by which a length worked out by hand may miss another one.
constexpr double kLengthSlack = 1.0e-12;
/// Ids are 32 bits wide.
constexpr std::uint64_t kMostBalls = 4294967294ULL;

/// What a `region` is: a part of the box between two of its corners.
struct BoxPart {
    Vector3 min{};
    Vector3 max{};
};

/// Finds species of a scene by name or by properties without looking at all of them: there may be one for each ball.
class SpeciesIndex {
public:
    /// Index of the named species; -1 if there is none.
    [[nodiscard]] std::int64_t find(const std::string& name) const;
    /// Appends a named species to the scene.
    void add(const Species& species, Scene& scene);
    /// Index of the nameless species with these properties, which joins the scene if it is new.
    std::uint32_t nameless(const Species& species, Scene& scene);

private:
    using Properties = std::tuple<double, double, double, std::string>;  // radius, mass, radius of gyration, color
    std::map<std::string, std::uint32_t, std::less<>> named_;
    std::map<Properties, std::uint32_t> nameless_;
};

Wall read_wall(const Section& section, const Scene& scene);
Species read_species(const Section& section, const Scene& scene, const SpeciesIndex& index);
/// \param until  the end of the run [time]
Thermostat read_thermostat(const Section& section, double until);
/// \param last  whether no stage follows
Stage read_stage(const Section& section, const Scene& scene, bool last);
/// Temperatures of the faces, of those that are walls.
std::array<std::array<double, 2>, 3> read_face_temperature(const Section& section, const Box& box);
/// No gravity along a periodic axis.
void check_gravity(const Section& section, const Vector3& gravity, const Box& box);
/// The table `region` of a section: the whole box where nothing else is said, and no part of it outside.
BoxPart read_region(const Section& section, const Box& box);
BallEntry read_ball(const Section& section, Scene& scene, SpeciesIndex& index);
FillEntry read_fill(const Section& section, Scene& scene, SpeciesIndex& index);
ObserveEntry read_observable(const Section& section, const Scene& scene, const SpeciesIndex& index);

/// Index of the species of that name, which the section's key `species` holds.
std::uint32_t species_index(const Section& section, const Scene& scene, const SpeciesIndex& index,
                            const std::string& name);
/// The species that a ball or fill names, or describes inline; then a nameless one joins the scene.
std::uint32_t species_of(const Section& section, Scene& scene, SpeciesIndex& index);
/// A vector of any length but 0, made a unit vector.
Vector3 unit_vector(const Section& section, std::string_view name);

}  // namespace carom
