#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "host/scene/entries.hpp"
#include "host/state/map_cells.hpp"

namespace carom {

namespace {

/// What every run records under these names (host/observables/registry.cpp; a test holds the two together), so that no
/// [[observe]] can have them.
constexpr std::array<std::string_view, 18> kTaken{"kinetic_energy",
                                                  "rotational_energy",
                                                  "spring_energy",
                                                  "gravitational_energy",
                                                  "total_energy",
                                                  "momentum",
                                                  "angular_momentum",
                                                  "temperature",
                                                  "virial_pressure",
                                                  "wall_pressure",
                                                  "contacts",
                                                  "wall_contacts",
                                                  "largest_overlap",
                                                  "largest_speed",
                                                  "balls",
                                                  "heat",
                                                  "wall_heat",
                                                  "work"};

/// Which keys mean something for which kinds, beside name, kind and species. Kinds that take `every` are averages
/// (host/observables/averager.cpp; a test holds the two together).
struct KindKeys {
    std::string_view kind;
    std::vector<std::string_view> keys;
};

const std::vector<KindKeys>& kind_keys() {
    static const std::vector<KindKeys> kKeys{
        {"displaced", {"threshold"}},
        {"displaced_each", {"threshold"}},
        {"speed", {"every", "from", "bins", "max"}},
        {"velocity", {"every", "from", "bins", "max"}},
        {"density", {"every", "from", "bins", "axis"}},
        {"temperature_profile", {"every", "from", "bins", "axis"}},
        {"velocity_profile", {"every", "from", "bins", "axis"}},
        {"density_map", {"every", "from", "bins", "axis"}},
        {"temperature_map", {"every", "from", "bins", "axis"}},
        {"velocity_map", {"every", "from", "bins", "axis"}},
        {"gr", {"every", "from", "bins", "max", "with"}},
        {"msd", {"every", "from"}},
        {"self_diffusion", {"every", "from"}},
        {"vacf", {"every", "from"}},
        {"temperature", {"every", "from", "region"}},
        {"kurtosis", {"every", "from"}},
        {"stress", {"every", "from"}},
        {"kinetic_stress", {"every", "from"}},
        {"collisional_stress", {"every", "from"}},
        {"pressure", {"every", "from"}},
        {"compressibility", {"every", "from"}},
        {"free_path", {"every", "from", "bins", "max"}},
        {"mean_free_path", {"every", "from"}},
        {"collision_rate", {"every", "from"}},
    };
    return kKeys;
}

/// A key that would be read by no one is an error, like one that is misspelt.
void refuse_other_keys(const Section& section, const std::string& kind) {
    const auto takes = [](const KindKeys& entry, std::string_view key) {
        return std::ranges::find(entry.keys, key) != entry.keys.end();
    };
    const auto own = std::ranges::find(kind_keys(), std::string_view(kind), &KindKeys::kind);
    for (const std::string_view key : {"threshold", "every", "from", "bins", "max", "axis", "with", "region"}) {
        if (!section.has(key) || takes(*own, key)) continue;
        std::vector<std::string_view> others;
        for (const KindKeys& entry : kind_keys()) {
            if (takes(entry, key)) others.push_back(entry.kind);
        }
        section.fail(key, fmt::format("means nothing for kind \"{}\"; it is for {}", kind, fmt::join(others, ", ")));
    }
}

bool is_map(const std::string& kind) { return kind.ends_with("_map"); }

int default_axis(const Scene& scene, const std::string& kind) {
    if (is_map(kind)) return scene.dimension() - 1;
    for (int axis = 0; axis < scene.dimension(); ++axis) {
        if (scene.physics.gravity[axis] != 0.0) return axis;
    }
    return 0;
}

/// A shell must lie in the box: around the way to the nearest image on a periodic axis, between the walls on another.
void check_distance(const Section& section, const Scene& scene, double distance) {
    double most = std::numeric_limits<double>::infinity();
    for (int axis = 0; axis < scene.dimension(); ++axis) most = std::min(most, 0.5 * scene.box.size[axis]);
    bool walls = false;
    for (int axis = 0; axis < scene.dimension(); ++axis) walls = walls || !scene.box.periodic(axis);
    if (distance > most || (walls && distance >= most)) {
        section.fail("max", fmt::format("must be {} half the shortest side of the box, {}, not {}",
                                        walls ? "below" : "at most", most, distance));
    }
}

/// Each cell is counted in many batches, written with each frame and kept in each checkpoint.
void check_cells(const Section& section, const Scene& scene, const ObserveEntry& observe) {
    constexpr std::size_t kMostCells = 1'000'000;
    const MapCells map = map_cells(scene.box, observe.axis, static_cast<std::size_t>(observe.bins));
    if (map.all() > kMostCells) {
        section.fail("bins", fmt::format("makes a map of {} by {} cells; there may be {} in all", map.cells[0],
                                         map.cells[1], kMostCells));
    }
}

void read_average(const Section& section, const Scene& scene, const SpeciesIndex& index, ObserveEntry& observe) {
    if (section.has("every")) observe.every = section.number("every");
    observe.from = section.number("from");
    if (section.has("bins")) {
        observe.bins = section.whole("bins");
        const bool histogram = observe.kind == "speed" || observe.kind == "velocity" || observe.kind == "free_path";
        if (histogram && observe.bins % 4 != 0) {
            section.fail("bins",
                         fmt::format("must be a multiple of 4 for kind \"{}\", not {}", observe.kind, observe.bins));
        }
    }
    if (section.has("max")) observe.max = section.number("max");
    if (observe.kind == "gr" && observe.max > 0.0) check_distance(section, scene, observe.max);
    observe.axis = section.has("axis") ? static_cast<int>(section.choice("axis")) : default_axis(scene, observe.kind);
    if (observe.axis >= scene.dimension()) section.fail("axis", "must be \"x\" or \"y\" in 2D, not \"z\"");
    if (is_map(observe.kind)) check_cells(section, scene, observe);
    if (section.has("with")) {
        observe.with = section.text("with");
        if (observe.species.empty()) section.fail("with", "needs species beside it");
        const auto other = index.find(observe.with);
        if (other < 0) section.fail("with", fmt::format("there is no species \"{}\"", observe.with));
    }
    const BoxPart region = read_region(section, scene.box);
    observe.region_min = region.min;
    observe.region_max = region.max;
    // What contacts pass on belongs to both of their balls.
    const bool of_all = observe.kind == "stress" || observe.kind == "pressure" || observe.kind == "compressibility";
    if (of_all && !observe.species.empty()) {
        section.fail("species", fmt::format("means nothing for kind \"{}\", which is of all balls", observe.kind));
    }
    const bool of_paths =
        observe.kind == "free_path" || observe.kind == "mean_free_path" || observe.kind == "collision_rate";
    if (of_paths && scene.run.solver != SolverKind::kEvents) {
        section.fail(
            "kind",
            fmt::format("\"{}\" needs run.solver = \"events\": soft contacts last, and are not counted", observe.kind));
    }
    const bool thermal =
        observe.kind.starts_with("temperature") || observe.kind == "kurtosis" || observe.kind == "velocity_profile";
    if (thermal && !observe.species.empty()) {
        const Species& species = scene.species[species_index(section, scene, index, observe.species)];
        if (!std::isfinite(species.mass)) {
            section.fail("species", fmt::format("\"{}\" has infinite mass, and so no temperature", observe.species));
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
    refuse_other_keys(section, observe.kind);
    if (!observe.kind.starts_with("displaced")) read_average(section, scene, index, observe);
    return observe;
}

}  // namespace carom
