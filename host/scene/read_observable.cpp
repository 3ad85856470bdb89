#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "host/scene/entries.hpp"

namespace carom {

namespace {

/// What every run records under these names (host/observables/registry.cpp; a test holds the two together), so that no
/// [[observe]] can have them.
constexpr std::array<std::string_view, 15> kTaken{
    "kinetic_energy", "rotational_energy", "spring_energy",   "gravitational_energy", "total_energy",
    "momentum",       "angular_momentum",  "temperature",     "virial_pressure",      "wall_pressure",
    "contacts",       "wall_contacts",     "largest_overlap", "largest_speed",        "balls"};

}  // namespace

ObserveEntry read_observable(const Section& section, const Scene& scene, const SpeciesIndex& index) {
    ObserveEntry observe;
    observe.name = section.text("name");
    const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; };
    if (observe.name.empty() || !std::all_of(observe.name.begin(), observe.name.end(), plain)) {
        section.fail("name", fmt::format("must be of letters, digits, _ and -, not \"{}\"", observe.name));
    }
    if (std::ranges::find(kTaken, observe.name) != kTaken.end()) {
        section.fail("name", fmt::format("\"{}\" is what every run records already; take another name", observe.name));
    }
    for (const ObserveEntry& other : scene.observables) {
        if (other.name == observe.name)
            section.fail("name", fmt::format("there are two observables \"{}\"", observe.name));
    }
    observe.kind = choices_of(*find_key("observe", "kind"))[section.choice("kind")];
    if (section.has("species")) {
        observe.species = section.text("species");
        species_index(section, scene, index, observe.species);
    }
    observe.threshold = section.number("threshold");
    return observe;
}

}  // namespace carom
