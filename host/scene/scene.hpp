#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "host/observables/observable.hpp"
#include "host/scene/sizes.hpp"
#include "host/scene/sources.hpp"
#include "host/scene/units.hpp"
#include "host/state/balls.hpp"
#include "host/state/box.hpp"
#include "kernels/physics/wall.hpp"

namespace carom {

enum class SolverKind : std::uint8_t { kSpring, kEvents };
enum class BackendChoice : std::uint8_t { kAuto, kCpu, kCuda };
enum class Precision : std::uint8_t { kSingle, kDouble };
enum class Integrator : std::uint8_t { kVerlet, kSymplecticEuler };
enum class Simultaneous : std::uint8_t { kReflect, kSequential, kNewton };

/// [physics]: what both solvers obey.
struct Physics {
    Vector3 gravity{};  ///< [length/time^2]
    double restitution = 1.0;
    double friction = 0.0;
    double wall_restitution = 1.0;  ///< already defaulted to restitution
    double wall_friction = 0.0;     ///< already defaulted to friction
    Simultaneous simultaneous = Simultaneous::kReflect;
};

/// [spring]; an empty optional stands for "auto".
struct SpringKeys {
    std::string law = "linear";
    KindValues own;                        ///< what it says under the law's own keys
    std::optional<double> stiffness;       ///< [force/length]
    std::optional<double> wall_stiffness;  ///< empty: as stiffness
    std::optional<double> damping;         ///< [mass/time]; empty: from restitution
    std::optional<double> dt;              ///< [time]
    Integrator integrator = Integrator::kVerlet;
    double distance_epsilon = 0.0;  ///< [length]
    double max_overlap = 0.01;      ///< fraction of the smaller radius
};

/// [events].
struct EventsKeys {
    double tc = 0.0;            ///< [time]
    double cutoff_speed = 0.0;  ///< [length/time]
};

/// [run].
struct RunKeys {
    SolverKind solver = SolverKind::kSpring;
    BackendChoice backend = BackendChoice::kAuto;
    Precision precision = Precision::kSingle;
    double until = 1.0;  ///< [time]
};

/// [output]; already defaulted (until / 100, until / 1000).
struct OutputKeys {
    double every = 0.01;  ///< [time]; 0: only the first and the last frame
    std::vector<std::string> fields{"position", "velocity", "spin", "species"};
    double observables_every = 0.001;  ///< [time]; 0: only the first and the last row
};

/// One [[ball]]: its species' index in Scene::species and its state.
struct BallEntry {
    std::uint32_t species = 0;
    Vector3 position{};
    Vector3 velocity{};
    Vector3 spin{};  ///< 2D: only component 2
};

/// One [[fill]].
struct FillEntry {
    std::uint32_t species = 0;
    std::uint64_t count = 0;  ///< already resolved from packing_fraction
    Vector3 region_min{};
    Vector3 region_max{};
    std::size_t arrangement = 0;        ///< index into arrangements()
    KindValues values;                  ///< of the keys that the arrangement takes
    std::optional<double> temperature;  ///< [energy]
    std::optional<double> speed;        ///< [length/time]; neither: at rest
    bool zero_momentum = true;
};

/// What was read for a [[load]].
struct LoadedBalls {
    /// Places in the box, and a table of species that begins with the scene's; null once they have been placed.
    std::shared_ptr<const Balls> balls;
    std::uint64_t count = 0;
    double largest_radius = 0.0;  ///< [length]
    double fastest = 0.0;         ///< speed [length/time]
    std::string path;             ///< of the file, as messages say it
    bool text = true;             ///< balls are rows, told by line; else they have ids
    std::optional<double> time;   ///< of the frame, where the file has times
    std::uint64_t bytes = 0;      ///< of the file
    std::uint64_t checksum = 0;   ///< of a text's bytes
    /// From which ball on which line: they follow each other until the next entry.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> lines;

    /// "balls.csv:7: row 3", as messages begin.
    [[nodiscard]] std::string place(std::uint64_t ball) const;
    /// "row 3", or "ball 2".
    [[nodiscard]] std::string name(std::uint64_t ball) const;
    /// "balls.csv, 3 balls, 120 bytes, checksum 0123456789abcdef".
    [[nodiscard]] std::string summary() const;
};

/// One [[load]].
struct LoadEntry {
    std::string file;
    bool overridden = false;               ///< it is not of the scene's text
    std::optional<std::size_t> format;     ///< of the key's choices; empty: by the file's ending
    std::optional<double> time;            ///< of the frame; empty: the last
    std::string group;                     ///< of particles; empty: the only one, or "all"
    std::optional<std::uint32_t> species;  ///< of all its balls; empty: as the file says
    std::optional<double> radius;          ///< where the file has none [length]
    std::optional<double> mass;            ///< where the file has none [mass]
    std::map<std::string, std::string, std::less<>>
        columns;                                ///< the file's names of x, vx and so on, where the scene says them
    std::shared_ptr<const LoadedBalls> loaded;  ///< null: nobody has read it, as of a stored run's scene
};

/// What keeps all balls at a temperature.
struct Thermostat {
    enum class Kind : std::uint8_t { kNone, kAndersen, kRescale };
    Kind kind = Kind::kNone;
    double temperature = 0.0;  ///< [energy]
    double rate = 0.0;         ///< andersen [1/time]
    double every = 0.0;        ///< rescale [time]
};

/// One [[stage]], every default filled in.
struct Stage {
    std::string name;
    double until = 0.0;  ///< [time]
    Vector3 gravity{};
    std::array<std::array<double, 2>, 3> wall_temperature{};  ///< of the faces [energy]
    std::vector<double> wall_entry_temperature;               ///< one per [[wall]] [energy]
    std::vector<double> wall_velocity;                        ///< one per [[wall]] [length/time]
    Thermostat thermostat;
    bool measure = true;
};

/// How deep balls that have places of their own reach into each other and into walls, at most: parts of the smaller
/// radius, without what nothing moves.
struct StartDepths {
    double pair = 0.0;
    double wall = 0.0;
};

/// A validated scene: every default is filled in, every number makes physical sense.
struct Scene {
    std::string path;    ///< as given by the user, for messages
    std::string source;  ///< the complete text that reproduces this scene, overrides applied
    std::string title;
    std::string history;  ///< where the balls are not those of the scene: what they come from
    std::uint64_t seed = 1;
    Box box;
    Physics physics;
    SpringKeys spring;
    EventsKeys events;
    RunKeys run;
    OutputKeys output;
    UnitNames units;
    std::vector<Wall> walls;
    Thermostat thermostat;
    std::vector<Stage> stages;     ///< empty: the run is one
    std::vector<Species> species;  ///< named ones first, in file order, then nameless ones of inline balls and fills
    std::map<std::uint32_t, Sizes> sizes;  ///< by species: of those whose balls differ in radius
    std::vector<BallEntry> balls;
    std::vector<LoadEntry> loads;
    std::optional<StartDepths> depths;  ///< of balls and loads, where somebody has looked
    std::vector<FillEntry> fills;
    std::vector<ObserveEntry> observables;
    std::shared_ptr<const Sources> sources = std::make_shared<Sources>("");
    /// Called now and then while its fills are placed, by the thread that does it; what it throws ends that.
    std::function<void()> while_placing = [] {};

    /// How a message about a key begins: "file:line:column: spring.dt", or "file: spring.dt" where the input has no
    /// such key. \param path  "spring.dt", "stage[0].gravity"
    [[nodiscard]] std::string label(std::string_view key) const {
        const std::string found = sources->label(key);
        return found.empty() ? path + ": " + std::string(key) : found;
    }
    [[nodiscard]] int dimension() const { return box.dimension; }
    /// Of all thermal walls and thermostats of any stage, or of those that are measured [energy].
    [[nodiscard]] std::vector<double> bath_temperatures(bool measured = false) const {
        std::vector<double> all;
        const auto add = [&](double temperature) {
            if (temperature > 0.0) all.push_back(temperature);
        };
        const auto add_faces = [&](const auto& faces) {
            for (const auto& axis : faces) std::ranges::for_each(axis, add);
        };
        if (!measured || stages.empty()) {  // else each stage has its own
            add(thermostat.temperature);
            add_faces(box.temperature);
            for (const Wall& wall : walls) add(wall.temperature);
        }
        for (const Stage& stage : stages) {
            if (measured && !stage.measure) continue;
            add(stage.thermostat.temperature);
            add_faces(stage.wall_temperature);
            std::ranges::for_each(stage.wall_entry_temperature, add);
        }
        return all;
    }
    /// 0: there is none [energy].
    [[nodiscard]] double hottest_bath() const {
        const std::vector<double> all = bath_temperatures();
        return all.empty() ? 0.0 : std::ranges::max(all);
    }
    /// Of the walls, in any stage [length/time].
    [[nodiscard]] double fastest_wall() const {
        double fastest = 0.0;
        for (const Wall& wall : walls) fastest = std::max(fastest, std::abs(wall.velocity));
        for (const Stage& stage : stages) {
            for (const double velocity : stage.wall_velocity) fastest = std::max(fastest, std::abs(velocity));
        }
        return fastest;
    }
    /// Whether something gives the balls energy, or takes it, in a way that is accounted for.
    [[nodiscard]] bool driven() const { return hottest_bath() > 0.0 || fastest_wall() > 0.0 || !stages.empty(); }
    /// Whether averages take samples at that time: it is of a stage that measures.
    [[nodiscard]] bool measures(double time) const {
        for (const Stage& stage : stages) {
            if (time <= stage.until) return stage.measure;
        }
        return stages.empty() || stages.back().measure;
    }
    /// Whether a row counts in means: all stages of the time since the row before measure.
    [[nodiscard]] bool measures(double since, double time) const {
        return measures(time) && std::ranges::none_of(stages, [&](const Stage& stage) {
                   return !stage.measure && stage.until > since && stage.until < time;
               });
    }
    [[nodiscard]] std::uint64_t ball_count() const {
        std::uint64_t count = entry_count();
        for (const auto& fill : fills) count += fill.count;
        return count;
    }
    /// The balls that have places of their own: each [[ball]], and then those of each [[load]] that has been read.
    [[nodiscard]] std::uint64_t entry_count() const {
        std::uint64_t count = balls.size();
        for (const auto& load : loads) count += load.loaded == nullptr ? 0 : load.loaded->count;
        return count;
    }
};

}  // namespace carom
