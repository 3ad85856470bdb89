#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "host/scene/load.hpp"
#include "host/scene/scene.hpp"
#include "host/scene/section.hpp"
#include "host/scene/toml.hpp"

namespace carom {

/// The scene that a parsed file describes, validated; its source is left to the caller.
/// \param file    as in messages
/// \param ball_reader  of the files of each [[load]]; empty: they are not opened
/// \throws InputError, SceneErrors  all that is wrong with it
Scene read_scene(const toml::table& root, const std::string& file, const BallReader& ball_reader);

// What the readers of single tables share. All validate what they read against the scene so far and throw InputError;
// those of [[wall]] and [[observe]] stand in files of their own.

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
/// The table `region` of a section: the whole box where nothing else is said, and no part of it outside.
BoxPart read_region(const Section& section, const Box& box);
ObserveEntry read_observable(const Section& section, const Scene& scene, const SpeciesIndex& index);

/// Index of the species of that name, which the section's key `species` holds.
std::uint32_t species_index(const Section& section, const Scene& scene, const SpeciesIndex& index,
                            const std::string& name);

}  // namespace carom
