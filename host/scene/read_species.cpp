#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "host/scene/entries.hpp"

namespace carom {
namespace {

/// Radius, mass and the rest, as they stand in [[species]], [[ball]] and [[fill]].
Species properties(const Section& section, const Scene& scene) {
    Species species;
    species.radius = section.number("radius");
    species.mass = section.number("mass");
    const bool flat = scene.dimension() == 2;
    species.radius_of_gyration = section.number("radius_of_gyration", species.radius * std::sqrt(flat ? 0.5 : 0.4));
    if (species.radius_of_gyration > species.radius) {
        section.fail("radius_of_gyration",
                     fmt::format("must be at most the radius, {}, not {}", species.radius, species.radius_of_gyration));
    }
    for (int axis = 0; axis < scene.dimension(); ++axis) {
        if (2.0 * species.radius > scene.box.size[axis] * (1.0 + kLengthSlack)) {
            section.fail("radius", fmt::format("must be at most half the box, which is {} along {}, not {}",
                                               scene.box.size[axis], "xyz"[axis], species.radius));
        }
    }
    species.color = section.text("color");
    const auto hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
    const bool color = species.color.size() == 7 && species.color[0] == '#' &&
                       std::all_of(species.color.begin() + 1, species.color.end(), hex);
    if (!species.color.empty() && !color) {
        section.fail("color", fmt::format("must look like \"#E91E63\", not \"{}\"", species.color));
    }
    return species;
}

}  // namespace

std::int64_t SpeciesIndex::find(const std::string& name) const {
    const auto found = named_.find(name);
    return found == named_.end() ? -1 : static_cast<std::int64_t>(found->second);
}

void SpeciesIndex::add(const Species& species, Scene& scene) {
    named_.emplace(species.name, static_cast<std::uint32_t>(scene.species.size()));
    scene.species.push_back(species);
}

std::uint32_t SpeciesIndex::nameless(const Species& species, Scene& scene) {
    const auto next = static_cast<std::uint32_t>(scene.species.size());
    const auto [found, is_new] = nameless_.try_emplace(
        Properties{species.radius, species.mass, species.radius_of_gyration, species.color}, next);
    if (is_new) scene.species.push_back(species);
    return found->second;
}

Species read_species(const Section& section, const Scene& scene, const SpeciesIndex& index) {
    const std::string name = section.text("name");
    if (name.empty()) section.fail("name", "must not be empty");
    if (index.find(name) >= 0) section.fail("name", fmt::format("there are two species \"{}\"", name));
    Species species = properties(section, scene);
    species.name = name;
    return species;
}

std::uint32_t species_index(const Section& section, const Scene& scene, const SpeciesIndex& index,
                            const std::string& name) {
    if (const std::int64_t found = name.empty() ? -1 : index.find(name); found >= 0) {
        return static_cast<std::uint32_t>(found);
    }
    std::vector<std::string_view> names;
    for (const Species& species : scene.species) {
        if (!species.name.empty()) names.push_back(species.name);
    }
    const auto nearest = nearest_name(name, names);
    if (!nearest.empty())
        section.fail("species", fmt::format("no species \"{}\"; did you mean \"{}\"?", name, nearest));
    section.fail("species", names.empty()
                                ? fmt::format("no species \"{}\": the scene has no [[species]]", name)
                                : fmt::format("no species \"{}\"; there are: {}", name, fmt::join(names, ", ")));
}

std::uint32_t species_of(const Section& section, Scene& scene, SpeciesIndex& index) {
    constexpr const char* kInline[] = {"radius", "mass", "radius_of_gyration", "color"};
    if (section.has("species")) {
        for (const char* name : kInline) {
            if (section.has(name)) section.fail(name, "is given by the species; write one or the other");
        }
        return species_index(section, scene, index, section.text("species"));
    }
    for (const char* name : {"radius", "mass"}) {
        if (!section.has(name)) section.fail(name, "is required without a species");
    }
    return index.nameless(properties(section, scene), scene);
}

}  // namespace carom
