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

Species read_species(const Section& section, const Scene& scene) {
    const std::string name = section.text("name");
    if (name.empty()) section.fail("name", "must not be empty");
    for (const Species& other : scene.species) {
        if (other.name == name) section.fail("name", fmt::format("there are two species \"{}\"", name));
    }
    Species species = properties(section, scene);
    species.name = name;
    return species;
}

std::uint32_t species_index(const Section& section, const Scene& scene, const std::string& name) {
    std::vector<std::string_view> names;
    for (std::uint32_t index = 0; index < scene.species.size(); ++index) {
        if (scene.species[index].name.empty()) continue;
        if (scene.species[index].name == name) return index;
        names.push_back(scene.species[index].name);
    }
    const auto nearest = nearest_name(name, names);
    if (!nearest.empty())
        section.fail("species", fmt::format("no species \"{}\"; did you mean \"{}\"?", name, nearest));
    section.fail("species", names.empty()
                                ? fmt::format("no species \"{}\": the scene has no [[species]]", name)
                                : fmt::format("no species \"{}\"; there are: {}", name, fmt::join(names, ", ")));
}

std::uint32_t species_of(const Section& section, Scene& scene) {
    constexpr const char* kInline[] = {"radius", "mass", "radius_of_gyration", "color"};
    if (section.has("species")) {
        for (const char* name : kInline) {
            if (section.has(name)) section.fail(name, "is given by the species; write one or the other");
        }
        return species_index(section, scene, section.text("species"));
    }
    for (const char* name : {"radius", "mass"}) {
        if (!section.has(name)) section.fail(name, "is required without a species");
    }
    const Species species = properties(section, scene);
    const auto found = std::find(scene.species.begin(), scene.species.end(), species);
    if (found == scene.species.end()) {
        scene.species.push_back(species);
        return static_cast<std::uint32_t>(scene.species.size() - 1);
    }
    return static_cast<std::uint32_t>(found - scene.species.begin());
}

}  // namespace carom
