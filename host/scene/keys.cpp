#include "host/scene/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "host/observables/registry.hpp"
#include "host/scene/arrange.hpp"
#include "host/scene/sizes.hpp"
#include "host/state/text.hpp"
#include "kernels/physics/boundaries.hpp"
#include "kernels/physics/contact_laws.hpp"

namespace carom {
namespace {

constexpr Bounds kAny = kAnyNumber;
constexpr Bounds kMass{.min = 0.0, .above_min = true, .infinity = true};
constexpr Bounds kCount{.min = 0.0, .max = 4294967294.0};  // ids are 32 bits wide

constexpr Table kTables[] = {
    {"scene", false, "What the scene is."},
    {"box", false, "Where the balls are."},
    {"physics", false, "What both solvers obey."},
    {"spring", false, "The time-stepped solver with soft contacts."},
    {"events", false, "The event-driven solver with hard contacts."},
    {"run", false, "How the scene is run; options of the command line stand for these keys."},
    {"output", false, "What is written to the trajectory."},
    {"units", false, "What the numbers are in, as figures and reports say it; nothing is converted."},
    {"look", false,
     "How `carom render` and `carom view` draw it, where their options say nothing else. No number of a run depends on "
     "it."},
    {"thermostat", false, "What keeps all balls at a temperature, wherever they are."},
    {"wall", true, "A wall beside the box's faces, for both solvers. Walls are numbered from 6 on, after the faces."},
    {"species", true,
     "Properties that balls share, by name. A mass, here and wherever one is given, is at least 1e-298."},
    {"ball", true, "One ball. Ids count from 0 in file order."},
    {"load", true,
     "Balls that another program, or a run of carom, has left in a file; ids follow on after those of each "
     "`[[ball]]`."},
    {"fill", true, "Many balls; ids follow on after those of the balls, loads and fills before."},
    {"observe", true, "An observable beyond the ones that every run has."},
    {"stage", true,
     "A part of the run, from the end of the one before to `until`; what a stage does not say is as in the rest of the "
     "scene. The last one goes on to the end of the run."},
};

/// Those that a table takes whatever kind it is of; the kinds' own follow.
constexpr Key kKeys[] = {
    {"scene", "title", KeyType::kText, kAny, "", "\"\"", "what the scene is called in figures and reports"},
    {"scene", "history", KeyType::kText, kAny, "", "\"\"",
     "written by `carom run --resume` with other values: what the balls of a stored run come from"},
    {"scene", "dimension", KeyType::kWhole, {.min = 2, .max = 3}, "", "required", "2 (disks) or 3 (spheres)"},
    {"scene", "seed", KeyType::kWhole, kNotNegative, "", "1", "all randomness in a run derives from this"},

    {"box", "min", KeyType::kVector, kAny, "", "zeros", "lower corner [length]"},
    {"box", "size", KeyType::kVector, kPositive, "", "required", "edge lengths [length]"},
    {"box", "boundary", KeyType::kBoundary, kAny, "wall|periodic|open", "\"wall\" everywhere",
     "per axis one word for both faces, or two for the lower and the upper face; periodic faces come in pairs; a word "
     "alone is for all axes"},
    {"box", "wall_temperature", KeyType::kPairs, kNotNegative, "", "zeros",
     "per axis a number for both faces, or two: the temperature [energy] at which a face that is a wall gives balls "
     "back; "
     "0: the wall reflects"},

    {"physics", "gravity", KeyType::kVector, kAny, "", "zeros",
     "acceleration of every ball [length/time^2]; none along a periodic axis; 0 or at least 1e-60"},
    {"physics", "restitution", KeyType::kNumber, kFraction, "", "1.0",
     "ball to ball: speed after over speed before a collision"},
    {"physics", "friction", KeyType::kNumber, kNotNegative, "", "0.0",
     "ball to ball: Coulomb's coefficient; `events` only, for now"},
    {"physics", "wall_restitution", KeyType::kNumber, kFraction, "", "restitution", "ball to wall"},
    {"physics", "wall_friction", KeyType::kNumber, kNotNegative, "", "friction", "ball to wall"},
    {"physics", "simultaneous", KeyType::kChoice, kAny, "reflect|sequential|newton",
     "\"reflect\"; with friction \"sequential\"",
     "how `events` resolves several contacts at one instant; friction needs \"sequential\""},

    {"spring", "law", KeyType::kKind, kAny, "", "\"linear\"", "the force law of contacts"},
    {"spring", "dt", KeyType::kNumberOrAuto, kPositive, "", "\"auto\"",
     "time step [time]; \"auto\": shortest contact duration / 50, and no ball moves more than a tenth of the smallest "
     "radius in a step; a little less, so that it divides output.every, where that is given"},
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
    {"output", "observables_every", KeyType::kNumber, kNotNegative, "", "until / 1000, or what costs little",
     "time between rows of scalar observables [time]; 0: only the first and the last"},

    {"units", "system", KeyType::kChoice, kAny, "si|reduced", "\"si\"",
     "si: the names below; reduced: numbers without units"},
    {"units", "length", KeyType::kText, kAny, "", "\"m\"", "what the unit of length is called: \"um\", \"d\""},
    {"units", "mass", KeyType::kText, kAny, "", "\"kg\"", "of mass"},
    {"units", "time", KeyType::kText, kAny, "", "\"s\"", "of time"},
    {"units", "energy", KeyType::kText, kAny, "", "by the other three",
     "of energy, if it has a name of its own: \"kT\"; SI's own is \"J\""},

    {"look", "background", KeyType::kText, kAny, "", "by `light`", "around the box, \"#RRGGBB\""},
    {"look", "floor", KeyType::kText, kAny, "", "by `light`",
     "in 2D the inside of the box, in 3D the floor, \"#RRGGBB\""},
    {"look", "walls", KeyType::kText, kAny, "", "by `light`", "walls, \"#RRGGBB\""},
    {"look", "cushion", KeyType::kNumber, kNotNegative, "", "0.0",
     "2D: how far the box's walls are drawn outwards; 0: as lines [length]"},
    {"look", "colors", KeyType::kText, kAny, "", "\"\"",
     "of balls by id, with blanks between: \"#FAFAFA #F9A825\"; from the last on again from the first"},
    {"look", "numbers_from", KeyType::kWhole, kNotNegative, "", "none",
     "balls with this id and higher ones have it written on them"},
    {"look", "pattern", KeyType::kChoice, kAny, "auto|none|stripe", "\"auto\"",
     "by which one sees balls turn; auto: where they do"},
    {"look", "camera", KeyType::kText, kAny, "", "\"\"", "as after `--camera`: \"perspective,azimuth=40\""},
    {"look", "color_by", KeyType::kText, kAny, "", "\"\"",
     "as after `--color-by`: \"species\", \"x + 2 * vy\"; with `colors`: \"id\""},
    {"look", "colormap", KeyType::kText, kAny, "", "\"\"", "as after `--colormap`: \"ember\""},
    {"look", "range", KeyType::kText, kAny, "", "\"\"", "as after `--range`: \"0:5\""},
    {"look", "clip", KeyType::kText, kAny, "", "\"\"", "3D, as after `--clip`: \"0:1:0:20\""},
    {"look", "select", KeyType::kText, kAny, "", "\"\"", "as after `--select`: \"radius > 0.5 and vx < 0\""},
    {"look", "copies", KeyType::kWhole, kNotNegative, "", "0", "as after `--copies`: 0 to 3"},
    {"look", "glow", KeyType::kFlag, kAny, "", "false", "balls as light, as by `--glow`"},
    {"look", "light", KeyType::kFlag, kAny, "", "false", "white around the box, as by `--light`"},
    {"look", "shadows", KeyType::kFlag, kAny, "", "true", "3D; false: as by `--plain`"},

    {"thermostat", "kind", KeyType::kKind, kAny, "none|andersen|rescale", "\"none\"",
     "andersen: velocities are drawn anew, ball by ball; rescale: all velocities are scaled to the temperature, for "
     "preparation"},
    {"thermostat", "temperature", KeyType::kNumber, kPositive, "", "required", "[energy]", "andersen|rescale"},
    {"thermostat", "rate", KeyType::kNumber, kPositive, "", "required",
     "andersen: how often a ball's velocity is drawn anew, in the mean [1/time]", "andersen"},
    {"thermostat", "every", KeyType::kNumber, kPositive, "", "required",
     "rescale: time from one scaling to the next [time]", "rescale"},

    {"wall", "shape", KeyType::kKind, kAny, "", "required", ""},
    {"wall", "temperature", KeyType::kNumber, kNotNegative, "", "0.0",
     "at which the wall gives balls back [energy]; 0: it reflects"},

    {"species", "name", KeyType::kText, kAny, "", "required", "by which balls, fills and observables refer to it"},
    {"species", "radius", KeyType::kNumber, kPositive, "", "required", "[length]"},
    {"species", "mass", KeyType::kNumber, kMass, "", "required",
     "[mass]; inf: a body that no contact and no gravity moves"},
    {"species", "radius_of_gyration", KeyType::kNumber, kPositive, "", "solid disk or sphere",
     "[length], at most the radius; the default is radius / sqrt(2) in 2D and radius * sqrt(2/5) in 3D"},
    {"species", "color", KeyType::kText, kAny, "", "\"\"", "\"#RRGGBB\""},
    {"species", "sizes", KeyType::kTable, kAny, "", "all alike", "how radii differ from ball to ball; see below"},

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
    {"ball", "direction", KeyType::kDirection, kAny, "", "none", "of the velocity; any length but 0"},
    {"ball", "spin", KeyType::kSpin, kAny, "", "zeros",
     "angular velocity [rad/time]: a number in 2D, counter-clockwise; three in 3D"},

    {"load", "file", KeyType::kText, kAny, "", "required",
     "its name from the scene file's folder on; below that, and no link"},
    {"load", "format", KeyType::kChoice, kAny, "csv|xyz|lammps|h5md|lammps-data", "by the file's ending",
     "csv: a table with a line of names; xyz: extended XYZ; lammps: a dump of LAMMPS; h5md: HDF5, of carom or others; "
     "lammps-data: a data file of LAMMPS"},
    {"load", "time", KeyType::kNumber, kAny, "", "the last", "of the frame: the nearest is taken [time]"},
    {"load", "group", KeyType::kText, kAny, "", "the only one, or \"all\"", "h5md: of the file's particles"},
    {"load", "species", KeyType::kText, kAny, "", "as the file says",
     "name of a [[species]], for all balls of the file"},
    {"load", "radius", KeyType::kNumber, kPositive, "", "that of the species", "where the file has none [length]"},
    {"load", "mass", KeyType::kNumber, kMass, "", "that of the species", "where the file has none [mass]; may be inf"},
    {"load", "columns", KeyType::kTable, kAny, "", "by their names", "what columns are called in the file; see below"},
    {"load.columns", "x", KeyType::kText, kAny, "", "\"x\"",
     "place [length]; `\"-\"`, here and below: the column is not read"},
    {"load.columns", "y", KeyType::kText, kAny, "", "\"y\"", "place [length]"},
    {"load.columns", "z", KeyType::kText, kAny, "", "\"z\"", "3D: place [length]"},
    {"load.columns", "vx", KeyType::kText, kAny, "", "\"vx\"", "velocity [length/time]"},
    {"load.columns", "vy", KeyType::kText, kAny, "", "\"vy\"", "velocity [length/time]"},
    {"load.columns", "vz", KeyType::kText, kAny, "", "\"vz\"", "3D: velocity [length/time]"},
    {"load.columns", "wx", KeyType::kText, kAny, "", "\"wx\"", "3D: spin [rad/time]"},
    {"load.columns", "wy", KeyType::kText, kAny, "", "\"wy\"", "3D: spin [rad/time]"},
    {"load.columns", "wz", KeyType::kText, kAny, "", "\"wz\"", "3D: spin [rad/time]"},
    {"load.columns", "spin", KeyType::kText, kAny, "", "\"spin\", \"w\" or \"wz\"", "2D: spin [rad/time]"},
    {"load.columns", "radius", KeyType::kText, kAny, "", "\"radius\"",
     "[length]; else half of the column \"diameter\""},
    {"load.columns", "mass", KeyType::kText, kAny, "", "\"mass\"", "[mass]"},
    {"load.columns", "species", KeyType::kText, kAny, "", "\"species\"", "what a ball's species is called"},
    {"load.columns", "time", KeyType::kText, kAny, "", "\"time\"", "of a CSV of several frames [time]"},

    {"fill", "species", KeyType::kText, kAny, "", "given inline", "name of a [[species]]; or the next four keys here"},
    {"fill", "radius", KeyType::kNumber, kPositive, "", "required without species", "[length]"},
    {"fill", "mass", KeyType::kNumber, kMass, "", "required without species", "[mass]; may be inf"},
    {"fill", "radius_of_gyration", KeyType::kNumber, kPositive, "", "solid disk or sphere", "[length]"},
    {"fill", "color", KeyType::kText, kAny, "", "\"\"", "\"#RRGGBB\""},
    {"fill", "sizes", KeyType::kTable, kAny, "", "all alike", "as in [[species]]"},
    {"fill", "count", KeyType::kWhole, kCount, "", "from packing_fraction", "number of balls"},
    {"fill", "packing_fraction", KeyType::kNumber, kFraction, "", "from count",
     "share of the region's volume that the balls take, rounded to the nearest count"},
    {"fill", "region", KeyType::kTable, kAny, "", "the box", "the balls lie wholly inside this part of the box"},
    {"fill.region", "min", KeyType::kVector, kAny, "", "box.min", "lower corner [length]"},
    {"fill.region", "max", KeyType::kVector, kAny, "", "box.min + box.size", "upper corner [length]"},
    {"fill", "arrangement", KeyType::kKind, kAny, "", "\"random\"", ""},
    {"fill", "temperature", KeyType::kNumber, kNotNegative, "", "none: at rest",
     "[energy], Maxwell-Boltzmann velocities, rescaled so that the mean of m v^2 / 2 is dimension * temperature / 2"},
    {"fill", "speed", KeyType::kNumber, kNotNegative, "", "none: at rest",
     "instead of temperature: equal speeds, directions in opposite pairs [length/time]"},
    {"fill", "zero_momentum", KeyType::kFlag, kAny, "", "true", "the fill's momentum is made zero"},

    {"observe", "name", KeyType::kText, kAny, "", "required", "in files, tables and sweeps: letters, digits, _ and -"},
    {"observe", "kind", KeyType::kKind, kAny, "", "required", "what it is: see \"Observables\" below"},
    {"observe", "species", KeyType::kText, kAny, "", "all balls",
     "only balls of this species; else all, for averages "
     "all of finite mass"},
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
    {"stage.thermostat", "kind", KeyType::kKind, kAny, "none|andersen|rescale", "\"none\"", "as [thermostat]"},
    {"stage.thermostat", "temperature", KeyType::kNumber, kPositive, "", "required", "as [thermostat]",
     "andersen|rescale"},
    {"stage.thermostat", "rate", KeyType::kNumber, kPositive, "", "required", "as [thermostat]", "andersen"},
    {"stage.thermostat", "every", KeyType::kNumber, kPositive, "", "required", "as [thermostat]", "rescale"},
    {"stage", "measure", KeyType::kFlag, kAny, "", "true for the last one",
     "whether averages and the means of the end summary take their samples from this stage"},
};

/// Another word for a name: as other programs and other people call it.
struct Synonym {
    std::string_view place;  ///< a table, or a key with choices
    std::string_view word;
    std::string_view name;
};
constexpr Synonym kSynonyms[] = {
    {"scene", "name", "title"},
    {"scene", "dim", "dimension"},
    {"scene", "dimensions", "dimension"},
    {"scene", "random_seed", "seed"},
    {"box", "length", "size"},
    {"box", "lengths", "size"},
    {"box", "origin", "min"},
    {"box", "corner", "min"},
    {"box", "periodic", "boundary"},
    {"box", "walls", "boundary"},
    {"box.boundary", "pbc", "periodic"},
    {"box.boundary", "reflecting", "wall"},
    {"box.boundary", "hard", "wall"},
    {"box.boundary", "free", "open"},
    {"physics", "g", "gravity"},
    {"physics", "e", "restitution"},
    {"physics", "mu", "friction"},
    {"spring", "k", "stiffness"},
    {"spring", "k_n", "stiffness"},
    {"spring", "gamma", "damping"},
    {"spring", "gamma_n", "damping"},
    {"spring", "timestep", "dt"},
    {"spring", "time_step", "dt"},
    {"spring", "step", "dt"},
    {"spring.law", "hooke", "linear"},
    {"run", "time", "until"},
    {"run", "end", "until"},
    {"run", "duration", "until"},
    {"run", "t_end", "until"},
    {"run", "device", "backend"},
    {"run", "processor", "backend"},
    {"run.backend", "gpu", "cuda"},
    {"run.solver", "soft", "spring"},
    {"run.solver", "hard", "events"},
    {"run.solver", "edmd", "events"},
    {"run.solver", "event_driven", "events"},
    {"run.precision", "float", "single"},
    {"output", "interval", "every"},
    {"output", "frames_every", "every"},
    {"output", "rows_every", "observables_every"},
    {"thermostat.kind", "velocity_rescaling", "rescale"},
    {"wall", "kind", "shape"},
    {"wall", "type", "shape"},
    {"wall.shape", "circle", "sphere"},
    {"wall.shape", "line", "plane"},
    {"ball", "x", "position"},
    {"ball", "v", "velocity"},
    {"ball", "omega", "spin"},
    {"ball", "angular_velocity", "spin"},
    {"load", "path", "file"},
    {"load", "name", "file"},
    {"load", "type", "format"},
    {"load", "frame", "time"},
    {"fill", "number", "count"},
    {"fill", "n", "count"},
    {"fill", "N", "count"},
    {"fill", "balls", "count"},
    {"fill", "density", "packing_fraction"},
    {"fill", "phi", "packing_fraction"},
    {"fill", "volume_fraction", "packing_fraction"},
    {"fill", "T", "temperature"},
    {"fill", "kind", "arrangement"},
    {"fill", "type", "arrangement"},
    {"observe", "type", "kind"},
    {"observe", "interval", "every"},
    {"observe", "start", "from"},
    {"observe.kind", "rdf", "gr"},
    {"observe.kind", "g(r)", "gr"},
    {"observe.kind", "radial_distribution", "gr"},
    {"observe.kind", "pair_correlation", "gr"},
    {"observe.kind", "mean_square_displacement", "msd"},
    {"observe.kind", "mean_squared_displacement", "msd"},
    {"observe.kind", "velocity_autocorrelation", "vacf"},
    {"observe.kind", "diffusion", "self_diffusion"},
    {"observe.kind", "virial", "pressure"},
    {"stage", "end", "until"},
};

std::vector<Kind> contact_laws() { return {ContactLaws::kKinds.begin(), ContactLaws::kKinds.end()}; }

std::vector<Kind> arrangement_kinds() {
    std::vector<Kind> kinds;
    for (const ArrangementEntry& entry : arrangements()) kinds.push_back(entry.kind);
    return kinds;
}

/// The tables whose kinds are registered, and say themselves which keys they take.
struct Registry {
    std::string_view table;
    std::vector<Kind> (*kinds)();
};
constexpr Registry kRegistries[] = {
    {"spring", contact_laws},
    {"wall", wall_shape_kinds},
    {"fill", arrangement_kinds},
    {"observe", observe_kinds},
};

/// Different texts of kinds about one thing, one after the other.
void append(std::vector<std::string_view>& texts, std::string_view more) {
    if (!more.empty() && std::ranges::find(texts, more) == texts.end()) texts.push_back(more);
}

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> result;
    while (!text.empty()) {
        const auto bar = text.find('|');
        result.push_back(text.substr(0, bar));
        text = bar == std::string_view::npos ? std::string_view{} : text.substr(bar + 1);
    }
    return result;
}

/// Every key, with the texts that are put together from those of kinds.
class KeyList {
public:
    KeyList() {
        for (const Key& key : kKeys) {
            keys_.push_back(key);
            if (key.name == "sizes") {
                for (Key of_sizes : size_keys()) {
                    of_sizes.table = kept(fmt::format("{}.sizes", key.table));
                    keys_.push_back(of_sizes);
                }
            }
            const auto* const registry = std::ranges::find(kRegistries, key.table, &Registry::table);
            if (registry == std::end(kRegistries)) continue;
            const std::vector<Kind> kinds = registry->kinds();
            if (key.type == KeyType::kKind) name_kinds(kinds);
            const bool last = std::ranges::none_of(&key + 1, std::end(kKeys),
                                                   [&](const Key& later) { return later.table == key.table; });
            if (last) add_keys(key.table, kinds);
        }
    }
    [[nodiscard]] std::span<const Key> keys() const { return keys_; }

private:
    std::string_view kept(std::string text) { return texts_.emplace_back(std::move(text)); }

    /// The last key takes one of them.
    void name_kinds(const std::vector<Kind>& kinds) {
        std::vector<std::string_view> names;
        std::string help(keys_.back().help);
        for (const Kind& kind : kinds) {
            names.push_back(kind.name);
            if (!kind.help.empty()) help += fmt::format("{}{}: {}", help.empty() ? "" : "; ", kind.name, kind.help);
        }
        keys_.back().choices = kept(fmt::format("{}", fmt::join(names, "|")));
        keys_.back().help = kept(std::move(help));
    }

    void add_keys(std::string_view table, const std::vector<Kind>& kinds) {
        struct Merged {
            Key key;
            std::vector<std::string_view> kinds, help;
        };
        std::vector<Merged> merged;
        for (const Kind& kind : kinds) {
            for (const Key& key : kind.keys) {
                auto same = std::ranges::find(merged, key.name, [](const Merged& one) { return one.key.name; });
                if (same == merged.end()) same = merged.insert(same, {.key = key});
                if (key.type != same->key.type || key.bounds != same->key.bounds || key.choices != same->key.choices ||
                    key.fallback != same->key.fallback) {
                    throw std::logic_error(fmt::format("kinds of {} differ over what {} is", table, key.name));
                }
                append(same->kinds, kind.name);
                append(same->help, key.help);
            }
        }
        for (const Merged& one : merged) {
            Key& key = keys_.emplace_back(one.key);
            key.table = table;
            key.kinds = kept(fmt::format("{}", fmt::join(one.kinds, "|")));
            key.help = kept(fmt::format("{}", fmt::join(one.help, "; ")));
        }
    }

    std::vector<Key> keys_;
    std::deque<std::string> texts_;
};

std::string quoted(std::span<const std::string_view> names) {
    std::string text;
    for (std::size_t at = 0; at < names.size(); ++at) {
        if (at > 0) text += at + 1 == names.size() ? " or " : ", ";
        text += fmt::format("\"{}\"", names[at]);
    }
    return text;
}

/// "a sphere", "law = "hertz"": what a key is required for.
std::string in_words(std::string_view table, std::string_view kind) {
    if (table == "wall") return fmt::format("{} {}", kind.find_first_of("aeiou") == 0 ? "an" : "a", kind);
    if (table.ends_with("thermostat")) return std::string(kind);
    return fmt::format("{} = \"{}\"", kind_key(table)->name, kind);
}

/// The default as the reference says it.
std::string fallback_text(const Key& key) {
    if (key.kinds.empty() || key.fallback != "required") return std::string(key.fallback);
    std::string text;
    for (const std::string_view kind : split(key.kinds)) {
        text += fmt::format("{}{}", text.empty() ? "required for " : " or ", in_words(key.table, kind));
    }
    return text;
}

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

}  // namespace

std::span<const Key> scene_keys() {
    static const KeyList kList;
    return kList.keys();
}
std::span<const Table> scene_tables() { return kTables; }

const Key* find_key(std::string_view table, std::string_view name) {
    for (const Key& key : scene_keys()) {
        if (key.table == table && key.name == name) return &key;
    }
    return nullptr;
}

const Key* kind_key(std::string_view table) {
    for (const Key& key : scene_keys()) {
        if (key.table == table && key.type == KeyType::kKind) return &key;
    }
    return nullptr;
}

bool takes(const Key& key, std::string_view kind) {
    const auto kinds = split(key.kinds);
    return kinds.empty() || std::ranges::find(kinds, kind) != kinds.end();
}

std::string other_kind_text(const Key& key, std::string_view kind) {
    const auto kinds = split(key.kinds);
    const std::string_view of = kind_key(key.table)->name;
    if (key.table == "observe") {
        return fmt::format("means nothing for {} \"{}\"; it is for {}", of, kind, fmt::join(kinds, ", "));
    }
    return fmt::format("{} {} = {}", kinds.size() == 1 ? "is for" : "needs", of, quoted(kinds));
}

std::string kind_requires_text(const Key& key, std::string_view kind) {
    const bool thermostat = key.table.ends_with("thermostat");
    return "is required for " + (thermostat ? "this kind of thermostat" : in_words(key.table, kind));
}

std::string_view meant_name(std::string_view place, std::string_view word, std::span<const std::string_view> names) {
    for (const Synonym& synonym : kSynonyms) {
        if (synonym.place == place && synonym.word == word) return synonym.name;
    }
    return nearest_name(word, names);
}

std::vector<std::string> meant_keys(std::string_view word) {
    std::vector<std::string> keys;
    for (const Key& key : scene_keys()) {
        const bool meant = key.name == word || std::ranges::any_of(kSynonyms, [&](const Synonym& synonym) {
                               return synonym.place == key.table && synonym.word == word && synonym.name == key.name;
                           });
        if (meant) keys.push_back(fmt::format("{}.{}", key.table, key.name));
    }
    return keys;
}

std::vector<std::string_view> choices_of(const Key& key) { return split(key.choices); }

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
        case KeyType::kDirection:
            if (dimension == 0) return "an array of numbers, one per axis" + bounds_text(key.bounds);
            return fmt::format("an array of {} numbers", dimension);
        case KeyType::kSpin:
            if (dimension == 0) return "a number in 2D, an array of 3 numbers in 3D";
            return dimension == 2 ? "a number" : "an array of 3 numbers";
        case KeyType::kChoice:
        case KeyType::kKind:
            return quoted(choices_of(key));
        case KeyType::kChoices:
            return "an array of " + quoted(choices_of(key));
        case KeyType::kBoundary:
            if (dimension == 0) return "an array, per axis " + quoted(choices_of(key)) + ", or a pair of these";
            return fmt::format("an array of {}, each {}, or a pair of these", dimension, quoted(choices_of(key)));
        case KeyType::kPairs:
            if (dimension == 0) return "an array, per axis a number" + bounds_text(key.bounds) + ", or a pair of these";
            return fmt::format("an array of {}, each a number{}, or a pair of these", dimension,
                               bounds_text(key.bounds));
        case KeyType::kNumbers:
            return "an array, for each a number" + bounds_text(key.bounds) + ", or \"same\"";
        case KeyType::kList:
            return "an array of numbers" + bounds_text(key.bounds);
        case KeyType::kTable:
            return "a table";
    }
    return "";
}

std::string key_reference() {
    std::string text;
    for (const Table& table : kTables) {
        text += table.repeated ? fmt::format("### `[[{}]]`\n\n{}\n\n", table.name, table.help)
                               : fmt::format("### `[{}]`\n\n{}\n\n", table.name, table.help);
        text += "| key | takes | default | what it is |\n| --- | --- | --- | --- |\n";
        for (const Key& key : scene_keys()) {
            const bool inside =
                key.table.starts_with(table.name) && key.table.substr(table.name.size()).starts_with(".");
            if (key.table != table.name && !inside) continue;
            const std::string name = inside ? fmt::format("{}.{}", key.table.substr(table.name.size() + 1), key.name)
                                            : std::string(key.name);
            text += fmt::format("| `{}` | {} | {} | {} |\n", name, allowed_text(key, 0), fallback_text(key), key.help);
        }
        text += "\n";
    }
    return text;
}

}  // namespace carom
