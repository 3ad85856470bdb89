#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "host/scene/entries.hpp"
#include "host/scene/read.hpp"
#include "host/scene/start.hpp"

namespace carom {
namespace {

class EntryReader {
public:
    EntryReader(const toml::table& root, const std::string& file, Scene& scene)
        : root_(root), file_(file), scene_(scene) {}

    void read() {
        for_each("wall", [&](const Section& section) { scene_.walls.push_back(read_wall(section, scene_)); });
        for_each("species",
                 [&](const Section& section) { species_.add(read_species(section, scene_, species_), scene_); });
        for_each("ball", [&](const Section& section) { scene_.balls.push_back(read_ball(section, scene_, species_)); });
        for_each("fill", [&](const Section& section) { scene_.fills.push_back(read_fill(section, scene_, species_)); });
        for_each("observe", [&](const Section& section) {
            scene_.observables.push_back(read_observable(section, scene_, species_));
        });
        const toml::node* stages = root_.get("stage");
        const std::size_t count = stages == nullptr ? 0 : stages->as_array()->size();
        for (std::size_t at = 0; at < count; ++at)
            scene_.stages.push_back(read_stage(entry("stage", at), scene_, at + 1 == count));
        check_periodic_axes();
        check_wall_shapes();
        for (std::uint32_t id = 0; id < scene_.balls.size(); ++id) check_place(id);
        if (const auto overlap = start_overlap(scene_)) report(*overlap);
        label_fastest();
        label_driving();
    }

private:
    /// Calls f with the section of each [[name]].
    template <class F>
    void for_each(std::string_view name, F&& f) const {
        const toml::node* node = root_.get(name);
        const std::size_t count = node == nullptr ? 0 : node->as_array()->size();
        for (std::size_t at = 0; at < count; ++at) f(entry(name, at));
    }

    [[nodiscard]] Section entry(std::string_view name, std::size_t index) const {
        const toml::table* table = root_.get(name)->as_array()->get(index)->as_table();
        return Section(table, fmt::format("{}[{}]", name, index), name, file_, scene_.dimension());
    }

    [[nodiscard]] double largest_radius() const {
        double largest = 0.0;
        for (const BallEntry& ball : scene_.balls) largest = std::max(largest, scene_.species[ball.species].radius);
        for (const FillEntry& fill : scene_.fills) {
            if (fill.count > 0) largest = std::max(largest, scene_.species[fill.species].radius);
        }
        return largest;
    }

    /// A ball must not touch two images of another, nor itself.
    void check_periodic_axes() const {
        const double diameter = 2.0 * largest_radius();
        for (int axis = 0; axis < scene_.dimension(); ++axis) {
            if (!scene_.box.periodic(axis) || scene_.box.size[axis] >= 2.0 * diameter * (1.0 - kLengthSlack)) continue;
            const Section box(root_.get("box")->as_table(), "box", "box", file_, scene_.dimension());
            box.fail_at("size", axis,
                        fmt::format("must be at least twice the largest diameter ({}) along a periodic axis, not {}",
                                    diameter, scene_.box.size[axis]));
        }
    }

    /// No ball may reach a sphere across a seam, where it would not be seen.
    void check_wall_shapes() const {
        const double radius = largest_radius();
        for (std::size_t at = 0; at < scene_.walls.size(); ++at) {
            const Wall& wall = scene_.walls[at];
            if (wall.shape != Wall::Shape::kSphere) continue;
            const double reach = wall.radius + (wall.side == Wall::Side::kOutside ? radius : 0.0);
            for (int axis = 0; axis < scene_.dimension(); ++axis) {
                if (!scene_.box.periodic(axis)) continue;
                const double low = wall.center[axis] - reach - scene_.box.min[axis];
                const double high = scene_.box.min[axis] + scene_.box.size[axis] - wall.center[axis] - reach;
                if (low < 0.0 || high < 0.0) {
                    entry("wall", at)
                        .fail_at("center", axis,
                                 fmt::format("must be {} or more from the periodic faces, so that no ball reaches the "
                                             "wall across the seam",
                                             reach));
                }
            }
        }
    }

    /// A ball that must be inside a sphere is no larger.
    void check_fits(std::uint32_t id, int wall) const {
        if (wall < 6) return;
        const Wall& shape = scene_.walls[static_cast<std::size_t>(wall - 6)];
        const Species& species = scene_.species[scene_.balls[id].species];
        if (shape.shape != Wall::Shape::kSphere || shape.side != Wall::Side::kInside || std::isinf(species.mass))
            return;
        if (species.radius <= shape.radius * (1.0 + kLengthSlack)) return;
        const Section section = entry("ball", id);
        section.fail(section.has("radius") ? "radius" : "species",
                     fmt::format("ball {} has the radius {}, more than {} ({}), inside of which it must be", id,
                                 species.radius, wall_name(wall), shape.radius));
    }

    /// No ball starts behind a wall; for `events`, nor in one.
    void check_place(std::uint32_t id) const {
        const BallEntry& ball = scene_.balls[id];
        const Species& species = scene_.species[ball.species];
        const bool events = scene_.run.solver == SolverKind::kEvents;
        for (int wall = 0; wall < wall_end(scene_); ++wall) {
            if (!is_wall(scene_, wall)) continue;
            check_fits(id, wall);
            const double distance = wall_distance(scene_, wall, ball.position);
            if (distance < 0.0) {
                entry("ball", id)
                    .fail("position", fmt::format("ball {} is behind {} by {:.6g}", id, wall_name(wall), -distance));
            }
            // A body that nothing moves may stand in a wall.
            const double overlap = species.radius - distance;
            if (events && overlap > kTouching * species.radius && !std::isinf(species.mass)) {
                entry("ball", id)
                    .fail("position", fmt::format("ball {} overlaps {} by {:.6g}; for the events solver at most {:g} "
                                                  "of the radius is allowed",
                                                  id, wall_name(wall), overlap, kTouching));
            }
        }
    }

    /// Where the speeds come from that a solver may find too high.
    void label_fastest() const {
        double fastest = 0.0;
        for (std::size_t id = 0; id < scene_.balls.size(); ++id) {
            for (const double component : scene_.balls[id].velocity) {
                if (std::abs(component) <= fastest) continue;
                fastest = std::abs(component);
                const Section section = entry("ball", id);
                scene_.labels["ball.velocity"] = section.label(section.has("speed") ? "speed" : "velocity");
            }
        }
        double hottest = 0.0;
        for (std::size_t at = 0; at < scene_.fills.size(); ++at) {
            const FillEntry& fill = scene_.fills[at];
            const double mass = scene_.species[fill.species].mass;
            const double heat = fill.speed ? mass * *fill.speed * *fill.speed : fill.temperature.value_or(0.0);
            if (fill.count == 0 || !(heat > hottest)) continue;
            hottest = heat;
            scene_.labels["fill.temperature"] = entry("fill", at).label(fill.speed ? "speed" : "temperature");
        }
    }

    /// Remembers where `name` stands, which is of so much in this section, if no other one that has it has more.
    /// \param most  of all so far, by key
    void label_largest(const Section& section, const char* key, const char* name, double much,
                       std::map<std::string, double>& most) const {
        if (!section.has(name) || !(much > most[key])) return;
        most[key] = much;
        scene_.labels[key] = section.label(name);
    }

    /// Where walls and stages say how fast and how hot they are.
    void label_driving() const {
        std::map<std::string, double> most;
        for (std::size_t at = 0; at < scene_.walls.size(); ++at) {
            const Wall& wall = scene_.walls[at];
            label_largest(entry("wall", at), "wall.velocity", "velocity", std::abs(wall.velocity), most);
            label_largest(entry("wall", at), "wall.temperature", "temperature", wall.temperature, most);
            if (wall.velocity != 0.0) {
                scene_.labels[fmt::format("wall[{}].velocity", at)] = entry("wall", at).label("velocity");
            }
        }
        const auto largest = [](const auto& values) {
            double found = 0.0;
            for (const double value : values) found = std::max(found, std::abs(value));
            return found;
        };
        for (std::size_t at = 0; at < scene_.stages.size(); ++at) {
            const Stage& stage = scene_.stages[at];
            const Section section = entry("stage", at);
            double hottest = 0.0;
            for (const auto& axis : stage.wall_temperature) hottest = std::max(hottest, largest(axis));
            label_largest(section, "stage.gravity", "gravity", largest(stage.gravity), most);
            label_largest(section, "stage.wall_velocity", "wall_velocity", largest(stage.wall_velocity), most);
            label_largest(section, "stage.wall_temperature", "wall_temperature", hottest, most);
            label_largest(section, "stage.wall_entry_temperature", "wall_entry_temperature",
                          largest(stage.wall_entry_temperature), most);
            if (section.has("thermostat")) {
                label_largest(section.table("thermostat"), "stage.thermostat.temperature", "temperature",
                              stage.thermostat.temperature, most);
            }
            for (const char* name : {"until", "wall_velocity"}) {
                if (section.has(name)) scene_.labels[fmt::format("stage[{}].{}", at, name)] = section.label(name);
            }
        }
    }

    [[noreturn]] void report(const StartOverlap& overlap) const {
        const bool events = scene_.run.solver == SolverKind::kEvents;
        entry("ball", overlap.j)
            .fail("position", fmt::format("ball {} overlaps ball {} by {:.6g}, {:.3g} of the sum of their radii; {}",
                                          overlap.j, overlap.i, overlap.overlap, overlap.fraction,
                                          events ? "for the events solver at most 1e-09 is allowed"
                                                 : "their centres must be at least half the smaller radius apart"));
    }

    const toml::table& root_;
    const std::string& file_;
    Scene& scene_;
    SpeciesIndex species_;
};

}  // namespace

void read_entries(const toml::table& root, const std::string& file, Scene& scene) {
    EntryReader(root, file, scene).read();
}

}  // namespace carom
