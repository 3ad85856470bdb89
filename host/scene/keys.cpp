#include "host/scene/keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/scene/arrange.hpp"

namespace carom {
namespace {

constexpr Bounds kAny{};
constexpr Bounds kPositive{.min = 0.0, .above_min = true};
constexpr Bounds kNotNegative{.min = 0.0};
constexpr Bounds kFraction{.min = 0.0, .max = 1.0};
constexpr Bounds kMass{.min = 0.0, .above_min = true, .infinity = true};
constexpr Bounds kBins{.min = 4.0, .max = 10'000.0};
constexpr Bounds kCount{.min = 0.0, .max = 4294967294.0};  // ids are 32 bits wide

constexpr Table kTables[] = {
    {"scene", false, "What the scene is."},
    {"box", false, "Where the balls are."},
    {"physics", false, "What both solvers obey."},
    {"spring", false, "The time-stepped solver with soft contacts."},
    {"events", false, "The event-driven solver with hard contacts."},
    {"run", false, "How the scene is run; options of the command line stand for these keys."},
    {"output", false, "What is written to the trajectory."},
    {"thermostat", false, "What keeps all balls at a temperature, wherever they are."},
    {"wall", true, "A wall beside the box's faces, for both solvers. Walls are numbered from 6 on, after the faces."},
    {"species", true, "Properties that balls share, by name."},
    {"ball", true, "One ball. Ids count from 0 in file order."},
    {"fill", true, "Many balls; ids follow on after those of the balls and fills before."},
    {"observe", true, "An observable beyond the ones that every run has."},
    {"stage", true,
     "A part of the run, from the end of the one before to `until`; what a stage does not say is as in the rest of the "
     "scene. The last one goes on to the end of the run."},
};

std::vector<std::string_view> arrangement_names() {
    std::vector<std::string_view> names;
    for (const ArrangementEntry& entry : arrangements()) names.push_back(entry.name);
    return names;
}

constexpr Key kKeys[] = {
    {"scene", "title", KeyType::kText, kAny, "", "\"\"", "what the scene is called in figures and reports"},
    {"scene", "dimension", KeyType::kWhole, {.min = 2, .max = 3}, "", "required", "2 (disks) or 3 (spheres)"},
    {"scene", "seed", KeyType::kWhole, kNotNegative, "", "1", "all randomness in a run derives from this"},

    {"box", "min", KeyType::kVector, kAny, "", "zeros", "lower corner [length]"},
    {"box", "size", KeyType::kVector, kPositive, "", "required", "edge lengths [length]"},
    {"box", "boundary", KeyType::kBoundary, kAny, "wall|periodic|open", "\"wall\" everywhere",
     "per axis one word for both faces, or two for the lower and the upper face; periodic faces come in pairs"},
    {"box", "wall_temperature", KeyType::kPairs, kNotNegative, "", "zeros",
     "per axis a number for both faces, or two: the temperature [energy] at which a face that is a wall gives balls "
     "back; "
     "0: the wall reflects"},

    {"physics", "gravity", KeyType::kVector, kAny, "", "zeros",
     "acceleration of every ball [length/time^2]; none along a periodic axis"},
    {"physics", "restitution", KeyType::kNumber, kFraction, "", "1.0",
     "ball to ball: speed after over speed before a collision"},
    {"physics", "friction", KeyType::kNumber, kNotNegative, "", "0.0",
     "ball to ball: Coulomb's coefficient; `events` only, for now"},
    {"physics", "wall_restitution", KeyType::kNumber, kFraction, "", "restitution", "ball to wall"},
    {"physics", "wall_friction", KeyType::kNumber, kNotNegative, "", "friction", "ball to wall"},
    {"physics", "simultaneous", KeyType::kChoice, kAny, "reflect|sequential|newton",
     "\"reflect\"; with friction \"sequential\"",
     "how `events` resolves several contacts at one instant; friction needs \"sequential\""},

    {"spring", "law", KeyType::kChoice, kAny, "linear", "\"linear\"", "the force law of contacts"},
    {"spring", "stiffness", KeyType::kNumberOrAuto, kPositive, "", "\"auto\"",
     "[force/length]; \"auto\" keeps overlaps under `max_overlap` when two balls meet head-on, each at the design "
     "speed"},
    {"spring", "wall_stiffness", KeyType::kNumber, kPositive, "", "stiffness", "[force/length]"},
    {"spring", "damping", KeyType::kNumberOrAuto, kNotNegative, "", "\"auto\"",
     "[mass/time], the same for all contacts; \"auto\" gives every contact its `restitution`, which must be 0.01 or "
     "more"},
    {"spring", "dt", KeyType::kNumberOrAuto, kPositive, "", "\"auto\"",
     "time step [time]; \"auto\": shortest contact duration / 50, and no ball moves more than a tenth of the smallest "
     "radius in a step"},
    {"spring", "integrator", KeyType::kChoice, kAny, "verlet|symplectic_euler", "\"verlet\"",
     "velocity Verlet is of order 2, symplectic Euler of order 1"},
    {"spring", "distance_epsilon", KeyType::kNumber, kNotNegative, "", "0.0",
     "added to each distance between balls [length]"},
    {"spring",
     "max_overlap",
     KeyType::kNumber,
     {.min = 0.0, .max = 0.5, .above_min = true},
     "",
     "0.01",
     "fraction of the smaller radius; for \"auto\" and for warnings"},

    {"events", "tc", KeyType::kNumber, kNotNegative, "", "0.0",
     "a ball that collides again within this time does so elastically [time]; 0: off"},
    {"events", "cutoff_speed", KeyType::kNumber, kNotNegative, "", "0.0",
     "approaches slower than this are elastic [length/time]; 0: off"},

    {"run", "solver", KeyType::kChoice, kAny, "spring|events", "\"spring\"", "which solver"},
    {"run", "backend", KeyType::kChoice, kAny, "auto|cpu|cuda", "\"auto\"", "which processor runs `spring`"},
    {"run", "precision", KeyType::kChoice, kAny, "single|double", "\"single\"",
     "of `spring`; `events` is always double"},
    {"run", "until", KeyType::kNumber, kNotNegative, "", "1.0", "simulated time [time]; with stages: that of the last"},

    {"output", "every", KeyType::kNumber, kNotNegative, "", "until / 100",
     "time between frames [time]; 0: only the first and the last"},
    {"output", "fields", KeyType::kChoices, kAny, "position|velocity|spin|species", "all four", "what a frame holds"},
    {"output", "observables_every", KeyType::kNumber, kNotNegative, "", "until / 1000",
     "time between rows of scalar observables [time]; 0: only the first and the last"},

    {"thermostat", "kind", KeyType::kChoice, kAny, "none|andersen|rescale", "\"none\"",
     "andersen: velocities are drawn anew, ball by ball; rescale: all velocities are scaled to the temperature, for "
     "preparation"},
    {"thermostat", "temperature", KeyType::kNumber, kPositive, "", "required for a thermostat", "[energy]"},
    {"thermostat", "rate", KeyType::kNumber, kPositive, "", "required for andersen",
     "andersen: how often a ball's velocity is drawn anew, in the mean [1/time]"},
    {"thermostat", "every", KeyType::kNumber, kPositive, "", "required for rescale",
     "rescale: time from one scaling to the next [time]"},

    {"wall", "shape", KeyType::kChoice, kAny, "plane|sphere", "required", "a sphere is a circle in 2D"},
    {"wall", "normal", KeyType::kVector, kAny, "", "required for a plane",
     "plane: points to where the balls may be; made a unit vector"},
    {"wall", "offset", KeyType::kNumber, kAny, "", "0.0",
     "plane: the points with normal . x = offset, normal of length 1 [length]"},
    {"wall", "center", KeyType::kVector, kAny, "", "required for a sphere", "sphere [length]"},
    {"wall", "radius", KeyType::kNumber, kPositive, "", "required for a sphere", "sphere [length]"},
    {"wall", "side", KeyType::kChoice, kAny, "inside|outside", "\"inside\"", "sphere: where the balls may be"},
    {"wall", "temperature", KeyType::kNumber, kNotNegative, "", "0.0",
     "at which the wall gives balls back [energy]; 0: it reflects"},
    {"wall", "velocity", KeyType::kNumber, kAny, "", "0.0",
     "plane: moves along its normal from its offset at time 0 [length/time]; negative: away from the balls"},

    {"species", "name", KeyType::kText, kAny, "", "required", "by which balls, fills and observables refer to it"},
    {"species", "radius", KeyType::kNumber, kPositive, "", "required", "[length]"},
    {"species", "mass", KeyType::kNumber, kMass, "", "required",
     "[mass]; inf: a body that no contact and no gravity moves"},
    {"species", "radius_of_gyration", KeyType::kNumber, kPositive, "", "solid disk or sphere",
     "[length], at most the radius; the default is radius / sqrt(2) in 2D and radius * sqrt(2/5) in 3D"},
    {"species", "color", KeyType::kText, kAny, "", "\"\"", "\"#RRGGBB\""},

    {"ball", "species", KeyType::kText, kAny, "", "given inline", "name of a [[species]]; or the next four keys here"},
    {"ball", "radius", KeyType::kNumber, kPositive, "", "required without species", "[length]"},
    {"ball", "mass", KeyType::kNumber, kMass, "", "required without species", "[mass]; may be inf"},
    {"ball", "radius_of_gyration", KeyType::kNumber, kPositive, "", "solid disk or sphere", "[length]"},
    {"ball", "color", KeyType::kText, kAny, "", "\"\"", "\"#RRGGBB\""},
    {"ball", "position", KeyType::kVector, kAny, "", "required", "of the centre [length]"},
    {"ball", "velocity", KeyType::kVector, kAny, "", "zeros", "[length/time]"},
    {"ball", "speed", KeyType::kNumber, kNotNegative, "", "none",
     "instead of velocity, with angle or direction [length/time]"},
    {"ball", "angle", KeyType::kNumber, kAny, "", "none", "of the velocity, degrees from +x towards +y; 2D only"},
    {"ball", "direction", KeyType::kVector, kAny, "", "none", "of the velocity; any length but 0"},
    {"ball", "spin", KeyType::kSpin, kAny, "", "zeros",
     "angular velocity [rad/time]: a number in 2D, counter-clockwise; three in 3D"},

    {"fill", "species", KeyType::kText, kAny, "", "given inline", "name of a [[species]]; or the next four keys here"},
    {"fill", "radius", KeyType::kNumber, kPositive, "", "required without species", "[length]"},
    {"fill", "mass", KeyType::kNumber, kMass, "", "required without species", "[mass]; may be inf"},
    {"fill", "radius_of_gyration", KeyType::kNumber, kPositive, "", "solid disk or sphere", "[length]"},
    {"fill", "color", KeyType::kText, kAny, "", "\"\"", "\"#RRGGBB\""},
    {"fill", "count", KeyType::kWhole, kCount, "", "from packing_fraction", "number of balls"},
    {"fill", "packing_fraction", KeyType::kNumber, kFraction, "", "from count",
     "share of the region's volume that the balls take, rounded to the nearest count"},
    {"fill", "region", KeyType::kTable, kAny, "", "the box", "the balls lie wholly inside this part of the box"},
    {"fill.region", "min", KeyType::kVector, kAny, "", "box.min", "lower corner [length]"},
    {"fill.region", "max", KeyType::kVector, kAny, "", "box.min + box.size", "upper corner [length]"},
    {"fill", "arrangement", KeyType::kChoice, kAny, "", "\"random\"",
     "random: without overlap, around all balls before; lattice: square or cubic where that fits, else hexagonal or "
     "fcc; atmosphere: as dense at each height as gravity, temperature and local-density theory make it",
     arrangement_names},
    {"fill", "temperature", KeyType::kNumber, kNotNegative, "", "none: at rest",
     "[energy], Maxwell-Boltzmann velocities, rescaled so that the mean of m v^2 / 2 is dimension * temperature / 2"},
    {"fill", "speed", KeyType::kNumber, kNotNegative, "", "none: at rest",
     "instead of temperature: equal speeds, directions in opposite pairs [length/time]"},
    {"fill", "zero_momentum", KeyType::kFlag, kAny, "", "true", "the fill's momentum is made zero"},

    {"observe", "name", KeyType::kText, kAny, "", "required", "in files, tables and sweeps: letters, digits, _ and -"},
    {"observe", "kind", KeyType::kChoice, kAny,
     "displaced|displaced_each|speed|velocity|density|temperature_profile|velocity_profile|density_map|"
     "temperature_map|velocity_map|gr|msd|self_diffusion|vacf|temperature|kurtosis|stress|kinetic_stress|collisional_"
     "stress|pressure|compressibility|"
     "free_path|mean_free_path|collision_rate",
     "required", "what it is: see \"Observables\" below"},
    {"observe", "species", KeyType::kText, kAny, "", "all balls",
     "only balls of this species; else all, for averages "
     "all of finite mass"},
    {"observe", "threshold", KeyType::kNumber, kNotNegative, "", "1.0e-9",
     "displaced, displaced_each: unwrapped distance [length]"},
    {"observe", "every", KeyType::kNumber, kPositive, "", "what costs little",
     "averages: time between samples [time]; see below"},
    {"observe", "from", KeyType::kNumber, kNotNegative, "", "0.0",
     "averages: samples are taken from this time on [time]"},
    {"observe", "bins", KeyType::kWhole, kBins, "", "by kind",
     "histograms, profiles, gr: how many; maps: along the longer side"},
    {"observe", "max", KeyType::kNumber, kPositive, "", "by kind",
     "speed, velocity: end of the range [length/time], by default wherever is needed; gr: largest distance [length]"},
    {"observe", "axis", KeyType::kChoice, kAny, "x|y|z", "along gravity, or x",
     "profiles: slices lie across it; maps in 3D: one looks along it, z by default"},
    {"observe", "with", KeyType::kText, kAny, "", "as species", "gr: the species of the other balls"},
    {"observe", "region", KeyType::kTable, kAny, "", "the box", "temperature: of the balls with centres in there"},
    {"observe.region", "min", KeyType::kVector, kAny, "", "box.min", "lower corner [length]"},
    {"observe.region", "max", KeyType::kVector, kAny, "", "box.min + box.size", "upper corner [length]"},

    {"stage", "name", KeyType::kText, kAny, "", "\"\"", "for messages and people"},
    {"stage", "until", KeyType::kNumber, kPositive, "", "required",
     "simulated time at which the stage ends [time]; `spring`: the nearest step"},
    {"stage", "gravity", KeyType::kVector, kAny, "", "physics.gravity", "as there"},
    {"stage", "wall_temperature", KeyType::kPairs, kNotNegative, "", "box.wall_temperature", "as there"},
    {"stage", "wall_velocity", KeyType::kNumbers, kAny, "", "wall.velocity",
     "of each [[wall]], in file order; \"same\": its own, wall.velocity"},
    {"stage", "wall_entry_temperature", KeyType::kNumbers, kNotNegative, "", "wall.temperature",
     "of each [[wall]], in file order [energy]; 0: it reflects; \"same\": its own, wall.temperature"},
    {"stage", "thermostat", KeyType::kTable, kAny, "", "[thermostat]", "as there"},
    {"stage.thermostat", "kind", KeyType::kChoice, kAny, "none|andersen|rescale", "\"none\"", "as [thermostat]"},
    {"stage.thermostat", "temperature", KeyType::kNumber, kPositive, "", "required for a thermostat",
     "as [thermostat]"},
    {"stage.thermostat", "rate", KeyType::kNumber, kPositive, "", "required for andersen", "as [thermostat]"},
    {"stage.thermostat", "every", KeyType::kNumber, kPositive, "", "required for rescale", "as [thermostat]"},
    {"stage", "measure", KeyType::kFlag, kAny, "", "true for the last one",
     "whether averages and the means of the end summary take their samples from this stage"},
};

/// "above 0", "of 0 or more", "from 0 to 1"; empty where any number will do.
std::string bounds_text(const Bounds& bounds, bool whole = false) {
    const bool from = bounds.min > Bounds{}.min;
    const bool to = bounds.max < Bounds{}.max;
    if (from && to && bounds.above_min) return fmt::format(" above {} and up to {}", bounds.min, bounds.max);
    if (from && to && whole && bounds.max == bounds.min + 1.0) return fmt::format(", {} or {}", bounds.min, bounds.max);
    if (from && to) return fmt::format(" from {} to {:.10g}", bounds.min, bounds.max);
    if (from && bounds.above_min) return fmt::format(" above {}", bounds.min);
    if (from) return fmt::format(", {} or more", bounds.min);
    return "";
}

std::string quoted_choices(const Key& key) {
    const auto choices = choices_of(key);
    std::string text;
    for (std::size_t at = 0; at < choices.size(); ++at) {
        if (at > 0) text += at + 1 == choices.size() ? " or " : ", ";
        text += fmt::format("\"{}\"", choices[at]);
    }
    return text;
}

/// Number of insertions, deletions, replacements and swaps of neighbours that turn a into b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                table[i][j] = i + j;
                continue;
            }
            const std::size_t replaced = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
            }
        }
    }
    return table[a.size()][b.size()];
}

}  // namespace

std::span<const Key> scene_keys() { return kKeys; }
std::span<const Table> scene_tables() { return kTables; }

const Key* find_key(std::string_view table, std::string_view name) {
    for (const Key& key : kKeys) {
        if (key.table == table && key.name == name) return &key;
    }
    return nullptr;
}

std::vector<std::string_view> choices_of(const Key& key) {
    if (key.registered != nullptr) return key.registered();
    std::vector<std::string_view> result;
    for (std::string_view rest = key.choices; !rest.empty();) {
        const auto bar = rest.find('|');
        result.push_back(rest.substr(0, bar));
        rest = bar == std::string_view::npos ? std::string_view{} : rest.substr(bar + 1);
    }
    return result;
}

std::string allowed_text(const Key& key, int dimension) {
    switch (key.type) {
        case KeyType::kText:
            return "text in quotes";
        case KeyType::kFlag:
            return "true or false";
        case KeyType::kWhole:
            return "a whole number" + bounds_text(key.bounds, true);
        case KeyType::kNumber:
            return "a number" + bounds_text(key.bounds) + (key.bounds.infinity ? ", or inf" : "");
        case KeyType::kNumberOrAuto:
            return "a number" + bounds_text(key.bounds) + ", or \"auto\"";
        case KeyType::kVector:
            if (dimension == 0) return "an array of numbers, one per axis" + bounds_text(key.bounds);
            return fmt::format("an array of {} numbers", dimension);
        case KeyType::kSpin:
            if (dimension == 0) return "a number in 2D, an array of 3 numbers in 3D";
            return dimension == 2 ? "a number" : "an array of 3 numbers";
        case KeyType::kChoice:
            return quoted_choices(key);
        case KeyType::kChoices:
            return "an array of " + quoted_choices(key);
        case KeyType::kBoundary:
            if (dimension == 0) return "an array, per axis " + quoted_choices(key) + ", or a pair of these";
            return fmt::format("an array of {}, each {}, or a pair of these", dimension, quoted_choices(key));
        case KeyType::kPairs:
            if (dimension == 0) return "an array, per axis a number" + bounds_text(key.bounds) + ", or a pair of these";
            return fmt::format("an array of {}, each a number{}, or a pair of these", dimension,
                               bounds_text(key.bounds));
        case KeyType::kNumbers:
            return "an array, for each a number" + bounds_text(key.bounds) + ", or \"same\"";
        case KeyType::kTable:
            return "a table";
    }
    return "";
}

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
    std::string_view nearest;
    std::size_t least = std::max<std::size_t>(2, name.size() / 3) + 1;  // farther than this is no misspelling
    for (const auto candidate : candidates) {
        const std::size_t distance = edit_distance(name, candidate);
        if (distance < least && distance < candidate.size()) {
            least = distance;
            nearest = candidate;
        }
    }
    return nearest;
}

std::string key_reference() {
    std::string text;
    for (const Table& table : kTables) {
        text += table.repeated ? fmt::format("### `[[{}]]`\n\n{}\n\n", table.name, table.help)
                               : fmt::format("### `[{}]`\n\n{}\n\n", table.name, table.help);
        text += "| key | takes | default | what it is |\n| --- | --- | --- | --- |\n";
        for (const Key& key : kKeys) {
            const bool inside =
                key.table.starts_with(table.name) && key.table.substr(table.name.size()).starts_with(".");
            if (key.table != table.name && !inside) continue;
            const std::string name = inside ? fmt::format("{}.{}", key.table.substr(table.name.size() + 1), key.name)
                                            : std::string(key.name);
            text += fmt::format("| `{}` | {} | {} | {} |\n", name, allowed_text(key, 0), key.fallback, key.help);
        }
        text += "\n";
    }
    return text;
}

}  // namespace carom
