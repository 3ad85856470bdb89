#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>

#include "host/observables/registry.hpp"
#include "host/scene/read.hpp"

namespace carom {

namespace {

/// The keys that are members of an ObserveEntry; a kind's others are its own.
constexpr std::array<std::string_view, 8> kMembers{"threshold", "every", "from", "bins",
                                                   "max",       "axis",  "with", "region"};

int default_axis(const Scene& scene, const ObservableKind& kind) {
    if (kind.axis == ObservableKind::Axis::kLast) return scene.dimension() - 1;
    for (int axis = 0; axis < scene.dimension(); ++axis) {
        if (scene.physics.gravity[axis] != 0.0) return axis;
    }
    return 0;
}

/// What a kind takes, and whether the balls and the solver are such as it needs.
void read_values(const Section& section, const Scene& scene, const SpeciesIndex& index, const ObservableKind& kind,
                 ObserveEntry& observe) {
    observe.threshold = section.number("threshold");
    if (section.has("every")) observe.every = section.number("every");
    observe.from = section.number("from");
    observe.bins = section.has("bins") ? section.whole("bins") : kind.bins;
    if (section.has("max")) observe.max = section.number("max");
    observe.axis = section.has("axis") ? static_cast<int>(section.choice("axis")) : default_axis(scene, kind);
    if (observe.axis >= scene.dimension()) section.fail("axis", "must be \"x\" or \"y\" in 2D, not \"z\"");
    if (section.has("with")) {
        observe.with = section.text("with");
        if (observe.species.empty()) section.fail("with", "needs species beside it");
        const auto other = index.find(observe.with);
        if (other < 0) section.fail("with", fmt::format("there is no species \"{}\"", observe.with));
    }
    const BoxPart region = read_region(section, scene.box);
    observe.region_min = region.min;
    observe.region_max = region.max;
    observe.own = section.values(kind.keys, kMembers);
    if (kind.check != nullptr) {
        if (const auto refusal = kind.check(observe, scene.box)) {
            section.fail(refusal->key, refusal->message);
        }
    }
    if (kind.of == ObservableKind::Of::kAll && !observe.species.empty()) {
        section.fail("species", fmt::format("means nothing for kind \"{}\", which is of all balls", kind.name));
    }
    if (kind.events_only && scene.run.solver != SolverKind::kEvents) {
        section.fail(
            "kind",
            fmt::format("\"{}\" needs run.solver = \"events\": soft contacts last, and are not counted", kind.name));
    }
    if (kind.of == ObservableKind::Of::kFiniteMass && !observe.species.empty()) {
        const Species& species = scene.species[species_index(section, scene, index, observe.species)];
        if (!std::isfinite(species.mass)) {
            section.fail("species",
                         fmt::format("\"{}\" has infinite mass, of which this tells nothing", observe.species));
        }
    }
}

}  // namespace

ObserveEntry read_observable(const Section& section, const Scene& scene, const SpeciesIndex& index) {
    ObserveEntry observe;
    observe.name = section.text("name");
    const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; };
    if (observe.name.empty() || !std::all_of(observe.name.begin(), observe.name.end(), plain)) {
        section.fail("name", fmt::format("must be of letters, digits, _ and -, not \"{}\"", observe.name));
    }
    if (find_row_kind(observe.name) != nullptr) {
        section.fail("name", fmt::format("\"{}\" is what every run records already; take another name", observe.name));
    }
    for (const ObserveEntry& other : scene.observables) {
        if (other.name == observe.name)
            section.fail("name", fmt::format("there are two observables \"{}\"", observe.name));
    }
    const ObservableKind& kind = observable_kinds()[section.choice("kind")];
    observe.kind = kind.name;
    if (section.has("species")) {
        observe.species = section.text("species");
        species_index(section, scene, index, observe.species);
    }
    read_values(section, scene, index, kind, observe);
    return observe;
}

}  // namespace carom
