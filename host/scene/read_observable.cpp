#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "host/scene/entries.hpp"

namespace carom {

ObserveEntry read_observable(const Section& section, const Scene& scene) {
    ObserveEntry observe;
    observe.name = section.text("name");
    const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; };
    if (observe.name.empty() || !std::all_of(observe.name.begin(), observe.name.end(), plain)) {
        section.fail("name", fmt::format("must be of letters, digits, _ and -, not \"{}\"", observe.name));
    }
    for (const ObserveEntry& other : scene.observables) {
        if (other.name == observe.name)
            section.fail("name", fmt::format("there are two observables \"{}\"", observe.name));
    }
    observe.kind = choices_of(*find_key("observe", "kind"))[section.choice("kind")];
    if (section.has("species")) {
        observe.species = section.text("species");
        species_index(section, scene, observe.species);
    }
    observe.threshold = section.number("threshold");
    return observe;
}

}  // namespace carom
