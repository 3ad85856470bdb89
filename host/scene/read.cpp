#include "host/scene/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>

#include "host/scene/arrange.hpp"
#include "host/scene/look.hpp"
#include "host/scene/section.hpp"
#include "host/scene/start.hpp"
#include "host/scene/walls.hpp"
#include "host/state/errors.hpp"
#include "host/state/text.hpp"
#include "kernels/core/transcendental.hpp"
#include "kernels/physics/contact_laws.hpp"
#include "kernels/physics/pair_distribution.hpp"
#include "kernels/physics/touching.hpp"

namespace carom {

BoxPart read_region(const Section& section, const Box& box) {
    BoxPart result;
    Vector3 box_max{};
    for (int axis = 0; axis < 3; ++axis) box_max[axis] = box.min[axis] + box.size[axis];
    const Section region = section.table("region");
    result.min = region.vector("min", box.min);
    result.max = region.vector("max", box_max);
    for (int axis = 0; axis < box.dimension; ++axis) {
        const double slack = kLengthSlack * box.size[axis];
        if (result.min[axis] < box.min[axis] - slack) {
            region.fail_at("min", axis,
                           fmt::format("must be inside the box, {} or more, not {}", box.min[axis], result.min[axis]));
        }
        if (result.max[axis] > box_max[axis] + slack) {
            region.fail_at("max", axis,
                           fmt::format("must be inside the box, {} or less, not {}", box_max[axis], result.max[axis]));
        }
        // A corner that is the box's but for rounding is the box's: a region across a whole periodic axis wraps.
        if (result.min[axis] < box.min[axis] + slack) result.min[axis] = box.min[axis];
        if (result.max[axis] > box_max[axis] - slack) result.max[axis] = box_max[axis];
        if (!(result.min[axis] < result.max[axis])) {
            region.fail_at("max", axis,
                           fmt::format("must be above min, {}, not {}", result.min[axis], result.max[axis]));
        }
    }
    return result;
}

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

namespace {

/// Ids are 32 bits wide.
constexpr std::uint64_t kMostBalls = 4294967294ULL;

/// `sizes` of a [[species]] or [[fill]]; empty where all its balls have one radius.
std::optional<Sizes> read_sizes(const Section& of) {
    if (!of.has("sizes")) return std::nullopt;
    const Section section = of.table("sizes");
    Sizes sizes;
    sizes.kind = static_cast<Sizes::Kind>(section.choice("kind"));
    sizes.masses_by_volume = section.choice("mass") == 0;
    if (sizes.kind == Sizes::Kind::kTable) {
        sizes.values = section.list("values");
        const std::vector<double> weights =
            section.has("weights") ? section.list("weights") : std::vector<double>(sizes.values.size(), 1.0);
        if (weights.size() != sizes.values.size()) {
            section.fail("weights",
                         fmt::format("must be as many as values, {}, not {}", sizes.values.size(), weights.size()));
        }
        std::partial_sum(weights.begin(), weights.end(), std::back_inserter(sizes.shares));
        if (!(sizes.shares.back() > 0.0) || !std::isfinite(sizes.shares.back())) {
            section.fail("weights", "must have a sum above 0");
        }
        const auto [smallest, largest] = std::ranges::minmax_element(sizes.values);
        sizes.min = *smallest;
        sizes.max = *largest;
        return sizes;
    }
    const bool uniform = sizes.kind == Sizes::Kind::kUniform;
    for (const char* end : {"min", "max"}) {
        if (uniform && !section.has(end)) section.fail(end, "is required for a uniform distribution");
    }
    if (!uniform) {
        constexpr double kSpreads = 3.0;  // beyond are 0.3 % of a normal distribution
        sizes.spread = section.number("spread");
        const double way = kSpreads * sizes.spread;
        const bool normal = sizes.kind == Sizes::Kind::kNormal;
        if (normal && way >= 1.0 && !section.has("min")) {
            section.fail("min",
                         fmt::format("is required for a spread of {}: 3 spreads below 1 is no radius", sizes.spread));
        }
        sizes.min = normal ? 1.0 - way : exponential(-way);
        sizes.max = normal ? 1.0 + way : exponential(way);
    }
    sizes.min = section.number("min", sizes.min);
    sizes.max = section.number("max", sizes.max);
    // What is drawn beyond the ends is drawn anew, and must not be for ever.
    constexpr double kLeastPart = 0.1;
    if (!(sizes.max >= sizes.min + kLeastPart * sizes.spread) || !(sizes.max > sizes.min)) {
        section.fail("max", fmt::format("must be above min, {},{} not {}", sizes.min,
                                        uniform ? "" : " by a tenth of the spread or more,", sizes.max));
    }
    if (!uniform && (sizes.min > 1.0 || sizes.max < 1.0)) {
        section.fail(sizes.min > 1.0 ? "min" : "max",
                     fmt::format("must leave room for 1, not {}", sizes.min > 1.0 ? sizes.min : sizes.max));
    }
    return sizes;
}

void require_color(const Section& section, std::string_view key, const std::string& color) {
    const auto hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
    const bool good = color.size() == 7 && color[0] == '#' && std::all_of(color.begin() + 1, color.end(), hex);
    if (!color.empty() && !good) section.fail(key, fmt::format("must look like \"#E91E63\", not \"{}\"", color));
}

double read_mass(const Section& section) {
    const double mass = section.number("mass");
    if (const std::string why = too_light(mass); !why.empty()) section.fail("mass", why);
    return mass;
}

/// Radius, mass and the rest, as they stand in [[species]], [[ball]] and [[fill]].
Species properties(const Section& section, const Scene& scene, const std::optional<Sizes>& sizes = std::nullopt) {
    Species species;
    species.radius = section.number("radius");
    species.mass = read_mass(section);
    species.radius_of_gyration =
        section.number("radius_of_gyration", solid_gyration(scene.dimension(), species.radius));
    if (species.radius_of_gyration > species.radius) {
        section.fail("radius_of_gyration",
                     fmt::format("must be at most the radius, {}, not {}", species.radius, species.radius_of_gyration));
    }
    const double largest = species.radius * (sizes ? sizes->max : 1.0);
    if (const std::string why = too_wide(scene.box, largest); !why.empty()) section.fail("radius", why);
    species.color = section.text("color");
    require_color(section, "color", species.color);
    return species;
}

void read_species(const Section& section, Scene& scene, SpeciesIndex& index) {
    const std::string name = section.text("name");
    if (name.empty()) section.fail("name", "must not be empty");
    if (index.find(name) >= 0) section.fail("name", fmt::format("there are two species \"{}\"", name));
    std::optional<Sizes> sizes = read_sizes(section);
    Species species = properties(section, scene, sizes);
    species.name = name;
    if (sizes) scene.sizes.emplace(static_cast<std::uint32_t>(scene.species.size()), std::move(*sizes));
    index.add(species, scene);
}

/// The species that a ball or fill names, or describes inline; then a nameless one joins the scene.
std::uint32_t species_of(const Section& section, Scene& scene, SpeciesIndex& index) {
    constexpr const char* kInline[] = {"radius", "mass", "radius_of_gyration", "color", "sizes"};
    if (section.has("species")) {
        for (const char* name : kInline) {
            if (section.has(name)) section.fail(name, "is given by the species; write one or the other");
        }
        return species_index(section, scene, index, section.text("species"));
    }
    for (const char* name : {"radius", "mass"}) {
        if (!section.has(name)) section.fail(name, "is required without a species");
    }
    const std::optional<Sizes> sizes = read_sizes(section);
    const Species species = properties(section, scene, sizes);
    if (!sizes) return index.nameless(species, scene);
    const auto row = static_cast<std::uint32_t>(scene.species.size());
    scene.sizes.emplace(row, *sizes);
    scene.species.push_back(species);
    return row;
}

Vector3 read_velocity(const Section& section, int dimension) {
    const bool angle = section.has("angle");
    const bool direction = section.has("direction");
    if (!section.has("speed")) {
        if (angle) section.fail("angle", "needs speed beside it");
        if (direction) section.fail("direction", "needs speed beside it");
        return section.vector("velocity", Vector3{});
    }
    if (section.has("velocity")) section.fail("speed", "must not stand beside velocity");
    const double speed = section.number("speed");
    if (angle && direction) section.fail("angle", "must not stand beside direction");
    if (angle) {
        if (dimension == 3) section.fail("angle", "is for two dimensions; in three give a direction");
        const SineCosine turned = sine_cosine_of_turns(std::fmod(section.number("angle"), 360.0) / 360.0);
        return {speed * turned.cosine, speed * turned.sine, 0.0};
    }
    if (!direction)
        section.fail("speed",
                     dimension == 2 ? "needs an angle or a direction beside it" : "needs a direction beside it");
    Vector3 result = section.direction("direction");
    for (double& component : result) component *= speed;
    return result;
}

BallEntry read_ball(const Section& section, Scene& scene, SpeciesIndex& index) {
    BallEntry ball;
    ball.species = species_of(section, scene, index);
    if (sizes_of(scene, ball.species) != nullptr) {
        section.fail("species",
                     fmt::format("\"{}\" has sizes, which are for fills; give the ball its own radius and mass",
                                 scene.species[ball.species].name));
    }
    ball.position = section.vector("position");
    ball.velocity = read_velocity(section, scene.dimension());
    ball.spin = section.spin("spin");
    const auto outside = put_into_box(scene.box, scene.species[ball.species].radius, ball.position);
    if (outside) {
        section.fail_at("position", outside->axis, outside->text(ball.position));
    }
    return ball;
}

LoadEntry read_load(const Section& section, const Scene& scene, const SpeciesIndex& index) {
    LoadEntry load;
    load.file = section.text("file");
    if (load.file.empty()) section.fail("file", "must not be empty");
    load.overridden = section.overridden("file");
    if (section.has("format")) load.format = section.choice("format");
    if (section.has("time")) load.time = section.number("time");
    if (section.has("group")) load.group = section.text("group");
    if (section.has("species")) load.species = species_index(section, scene, index, section.text("species"));
    if (section.has("radius")) {
        load.radius = section.number("radius");
        if (const std::string why = too_wide(scene.box, *load.radius); !why.empty()) section.fail("radius", why);
    }
    if (section.has("mass")) load.mass = read_mass(section);
    const Section columns = section.table("columns");
    for (const Key& key : scene_keys()) {
        if (key.table != "load.columns" || !columns.has(key.name)) continue;
        std::string name = columns.text(key.name);
        if (name.empty()) columns.fail(key.name, "must not be empty; \"-\" leaves the column out");
        load.columns.emplace(key.name, std::move(name));
    }
    return load;
}

constexpr double kDensestDisks = 0.9069;     // hexagonal, pi / sqrt(12)
constexpr double kDensestSpheres = 0.74049;  // fcc, pi / sqrt(18)

void read_count(const Section& section, const Scene& scene, FillEntry& fill) {
    const bool by_count = section.has("count");
    if (by_count == section.has("packing_fraction")) {
        section.fail(by_count ? "packing_fraction" : "count",
                     by_count ? "must not stand beside count" : "is required, or packing_fraction");
    }
    const bool flat = scene.dimension() == 2;
    const double r = largest_radius(scene, fill.species);
    double region_volume = 1.0;
    double smallest_side = std::numeric_limits<double>::infinity();
    for (int axis = 0; axis < scene.dimension(); ++axis) {
        region_volume *= fill.region_max[axis] - fill.region_min[axis];
        smallest_side = std::min(smallest_side, fill.region_max[axis] - fill.region_min[axis]);
    }
    const std::string_view name = by_count ? "count" : "packing_fraction";
    const double densest = flat ? kDensestDisks : kDensestSpheres;
    double fraction = 0.0;
    if (by_count) {
        fill.count = section.whole("count");
        const double least = ball_volume(scene.dimension(), smallest_radius(scene, fill.species));
        fraction = static_cast<double>(fill.count) * least / region_volume;
    } else {
        fraction = section.number("packing_fraction");
        const double volume = fraction * region_volume;
        double count = volume / ball_volume(scene.dimension(), largest_radius(scene, fill.species));  // at least
        if (count <= static_cast<double>(kMostBalls)) {
            count = balls_filling(scene, fill.species, scene.ball_count(), volume);
        }
        if (count > static_cast<double>(kMostBalls))
            section.fail(name, fmt::format("gives {:.3g} balls, more than there are ids ({})", count, kMostBalls));
        fill.count = static_cast<std::uint64_t>(count);
    }
    if (fraction > densest) {
        section.fail(name, fmt::format("would fill {:.4g} of the region; {} packed as densely as can be fill {}",
                                       fraction, flat ? "disks" : "spheres", densest));
    }
    if (fill.count > 0 && 2.0 * r > smallest_side * (1.0 + kLengthSlack)) {
        section.fail("region", fmt::format("is {} across, less than a ball ({})", smallest_side, 2.0 * r));
    }
    if (scene.ball_count() + fill.count > kMostBalls) {
        section.fail(name, fmt::format("gives more balls than there are ids ({})", kMostBalls));
    }
}

FillEntry read_fill(const Section& section, Scene& scene, SpeciesIndex& index) {
    FillEntry fill;
    fill.species = species_of(section, scene, index);
    const Species& species = scene.species[fill.species];
    const BoxPart region = read_region(section, scene.box);
    fill.region_min = region.min;
    fill.region_max = region.max;
    read_count(section, scene, fill);
    fill.arrangement = section.choice("arrangement");
    const ArrangementEntry& arrangement = arrangements()[fill.arrangement];
    fill.values = section.values(arrangement.kind.keys);
    fill.zero_momentum = section.flag("zero_momentum");
    if (section.has("temperature")) fill.temperature = section.number("temperature");
    if (section.has("speed")) fill.speed = section.number("speed");
    if (fill.temperature && fill.speed) section.fail("speed", "must not stand beside temperature");
    if (fill.temperature > 0.0 && std::isinf(species.mass)) {
        section.fail("temperature", "must be 0 for balls of infinite mass; give them a speed instead");
    }
    const Sizes* sizes = sizes_of(scene, fill.species);
    if (fill.speed > 0.0 && fill.zero_momentum && sizes != nullptr && sizes->masses_by_volume) {
        section.fail("speed",
                     "equal speeds of balls of different mass have momentum; set zero_momentum = false, or give "
                     "a temperature");
    }
    if (fill.count == 1 && fill.zero_momentum && (fill.temperature > 0.0 || fill.speed > 0.0)) {
        section.fail(fill.speed ? "speed" : "temperature",
                     "one ball alone cannot move and have no momentum; set zero_momentum = false");
    }
    if (arrangement.check != nullptr && fill.count > 0) {
        if (const auto refusal = arrangement.check(scene, fill)) {
            const bool by_fraction = refusal->key == "count" && !section.has("count");
            section.fail(by_fraction ? "packing_fraction" : refusal->key, refusal->message);
        }
    }
    return fill;
}

/// Temperatures of the faces, of those that are walls.
std::array<std::array<double, 2>, 3> read_face_temperature(const Section& section, const Box& box) {
    const auto temperature = section.pairs("wall_temperature");
    for (int axis = 0; axis < box.dimension; ++axis) {
        for (int side = 0; side < 2; ++side) {
            if (temperature[axis][side] == 0.0 || box.faces[axis][side] == Face::kWall) continue;
            section.fail_at("wall_temperature", axis,
                            fmt::format("must be 0 for a face that is {}: only walls have a temperature",
                                        box.faces[axis][side] == Face::kOpen ? "open" : "periodic"));
        }
    }
    return temperature;
}

/// No gravity along a periodic axis, nor so little that what a quartic of it needs is no number.
void check_gravity(const Section& section, const Vector3& gravity, const Box& box) {
    constexpr double kLeast = 1.0e-60;
    for (int axis = 0; axis < box.dimension; ++axis) {
        if (gravity[axis] != 0.0 && std::abs(gravity[axis]) < kLeast) {
            section.fail_at("gravity", axis, fmt::format("must be 0 or at least {:g} either way", kLeast));
        }
        if (gravity[axis] != 0.0 && box.periodic(axis)) {
            section.fail_at("gravity", axis, "must be 0 along a periodic axis: a ball would fall for ever");
        }
    }
}

/// \param until  the end of the run [time]
Thermostat read_thermostat(const Section& section, double until) {
    constexpr double kMostVisits = 1.0e12;  // in a run; more often, time does not go on
    Thermostat thermostat;
    thermostat.kind = static_cast<Thermostat::Kind>(section.choice("kind"));
    const bool andersen = thermostat.kind == Thermostat::Kind::kAndersen;
    const bool rescale = thermostat.kind == Thermostat::Kind::kRescale;
    if (!andersen && !rescale) return thermostat;
    thermostat.temperature = section.number("temperature");
    (andersen ? thermostat.rate : thermostat.every) = section.number(andersen ? "rate" : "every");
    if (andersen && thermostat.rate * until > kMostVisits) {
        section.fail("rate", fmt::format("must be at most {:g} for a run of that length, not {:g}", kMostVisits / until,
                                         thermostat.rate));
    }
    if (rescale && thermostat.every < until / kMostVisits) {
        section.fail("every", fmt::format("must be at least {:g} for a run of that length, not {:g}",
                                          until / kMostVisits, thermostat.every));
    }
    return thermostat;
}

/// \param last  whether no stage follows
Stage read_stage(const Section& section, const Scene& scene, bool last) {
    Stage stage;
    stage.name = section.text("name");
    stage.until = section.number("until");
    const double before = scene.stages.empty() ? 0.0 : scene.stages.back().until;
    if (!(stage.until > before)) {
        section.fail("until",
                     fmt::format("must be later than the end of the stage before, {}, not {}", before, stage.until));
    }
    stage.gravity = section.vector("gravity", scene.physics.gravity);
    check_gravity(section, stage.gravity, scene.box);
    stage.wall_temperature =
        section.has("wall_temperature") ? read_face_temperature(section, scene.box) : scene.box.temperature;
    for (const Wall& wall : scene.walls) {
        stage.wall_velocity.push_back(wall.velocity);
        stage.wall_entry_temperature.push_back(wall.temperature);
    }
    stage.wall_velocity = section.numbers("wall_velocity", stage.wall_velocity);
    for (std::size_t at = 0; at < scene.walls.size(); ++at) {
        if (stage.wall_velocity[at] != 0.0 && !can_move(scene.walls[at])) {
            section.fail_at("wall_velocity", static_cast<int>(at),
                            fmt::format("must be 0 for a {}: only {} move",
                                        wall_shape_kinds()[scene.walls[at].shape].name, moving_shapes()));
        }
    }
    stage.wall_entry_temperature = section.numbers("wall_entry_temperature", stage.wall_entry_temperature);
    stage.thermostat =
        section.has("thermostat") ? read_thermostat(section.table("thermostat"), scene.run.until) : scene.thermostat;
    stage.measure = section.has("measure") ? section.flag("measure") : last;
    return stage;
}

class EntryReader {
public:
    EntryReader(const toml::table& root, const std::string& file, const BallReader& reader, Scene& scene,
                Faults& faults)
        : root_(root), file_(file), reader_(reader), scene_(scene), faults_(faults) {}

    /// The box and the physics of the scene have been read.
    void read() {
        for_each("wall", [&](const Section& section) { scene_.walls.push_back(read_wall(section, scene_)); });
        for_each("species", [&](const Section& section) { read_species(section, scene_, species_); });
        faults_.hold_against_read();
        for_each("ball", [&](const Section& section) { scene_.balls.push_back(read_ball(section, scene_, species_)); });
        for_each("load", [&](const Section& section) { scene_.loads.push_back(read_load(section, scene_, species_)); });
        // Ids of fills, and by them their radii, follow on. What is wrong with the scene is told before its files are
        // opened.
        if (faults_.none() && reader_) faults_.gather([&] { read_files(); });
        for_each("fill", [&](const Section& section) { scene_.fills.push_back(read_fill(section, scene_, species_)); });
        for_each("observe", [&](const Section& section) {
            scene_.observables.push_back(read_observable(section, scene_, species_));
        });
        std::size_t stage = 0;
        for_each("stage", [&](const Section& section) {
            scene_.stages.push_back(read_stage(section, scene_, ++stage == count("stage")));
        });
        if (faults_.none()) faults_.gather([&] { check(); });
    }

private:
    /// What no table says alone.
    void check() {
        check_periodic_axes();
        check_wall_shapes();
        walls_ = all_walls(scene_);
        StartDepths depths;
        for (std::uint32_t id = 0; id < scene_.balls.size(); ++id) check_place(id, depths.wall);
        for (const LoadEntry& load : scene_.loads) {
            if (load.loaded != nullptr && load.loaded->balls != nullptr) check_places(*load.loaded, depths.wall);
        }
        if (const auto overlap = start_overlap(scene_, &depths.pair)) report(*overlap);
        scene_.depths = depths;
    }

    [[nodiscard]] std::size_t count(std::string_view name) const {
        const toml::node* node = root_.get(name);
        return node == nullptr ? 0 : node->as_array()->size();
    }
    /// Calls f with the section of each [[name]].
    template <class F>
    void for_each(std::string_view name, F&& f) const {
        for (std::size_t at = 0; at < count(name); ++at) {
            faults_.gather([&] { f(entry(name, at)); });
        }
    }

    [[nodiscard]] Section entry(std::string_view name, std::size_t index) const {
        const toml::table* table = root_.get(name)->as_array()->get(index)->as_table();
        return Section(table, fmt::format("{}[{}]", name, index), name, file_, scene_.dimension(), faults_);
    }

    [[nodiscard]] double largest_radius() const {
        double largest = 0.0;
        for (const BallEntry& ball : scene_.balls) largest = std::max(largest, scene_.species[ball.species].radius);
        for (const LoadEntry& load : scene_.loads) {
            if (load.loaded != nullptr) largest = std::max(largest, load.loaded->largest_radius);
        }
        for (const FillEntry& fill : scene_.fills) {
            if (fill.count > 0) largest = std::max(largest, carom::largest_radius(scene_, fill.species));
        }
        return largest;
    }

    /// A ball must not touch two images of another, nor itself.
    void check_periodic_axes() const {
        const double diameter = 2.0 * largest_radius();
        for (int axis = 0; axis < scene_.dimension(); ++axis) {
            if (!scene_.box.periodic(axis) || scene_.box.size[axis] >= 2.0 * diameter * (1.0 - kLengthSlack)) continue;
            const Section box(root_.get("box")->as_table(), "box", "box", file_, scene_.dimension(), faults_);
            box.fail_at("size", axis,
                        fmt::format("must be at least twice the largest diameter ({}) along a periodic axis, not {}",
                                    diameter, scene_.box.size[axis]));
        }
    }

    static constexpr double kAnySize = std::numeric_limits<double>::infinity();
    /// Radius of the largest ball that has room inside of a wall.
    static double holds(const Boundary<3>& wall) {
        return wall.shape.visit([](const auto& shape) { return shape.largest_ball(); });
    }

    /// No ball may reach a round wall across a seam, where it would not be seen.
    void check_wall_shapes() const {
        const double radius = largest_radius();
        for (std::size_t at = 0; at < scene_.walls.size(); ++at) {
            const Boundary<3> wall = make_boundary<3>(scene_.walls[at], WallNumber::entry(at));
            for (int axis = 0; axis < scene_.dimension(); ++axis) {
                const AlongAxis along = wall.shape.visit([axis](const auto& shape) { return shape.along(axis); });
                if (!scene_.box.periodic(axis) || along.same) continue;
                const double reach = along.reach + (holds(wall) == kAnySize ? radius : 0.0);
                const double low = wall.reference[axis] - reach - scene_.box.min[axis];
                const double high = scene_.box.min[axis] + scene_.box.size[axis] - wall.reference[axis] - reach;
                if (low < 0.0 || high < 0.0) {
                    const auto key = wall.shape.visit([]<class Shape>(const Shape&) { return Shape::kSeam.place; });
                    entry("wall", at)
                        .fail_at(key, axis,
                                 fmt::format("must be {} or more from the periodic faces, so that no ball reaches the "
                                             "wall across the seam",
                                             reach));
                }
            }
        }
    }

    /// A ball that must be inside a wall is no larger; none starts behind one, and for `events`, nor in one.
    /// \param ball   gives "ball 3", "row 4"
    /// \param fail   takes the key that is to blame and what gives the words for what is wrong
    /// \param depth  is raised to how far a ball that moves is in a wall
    template <class Name, class Fail>
    void check_at_walls(const Species& species, const Vector3& position, const Name& ball, const Fail& fail,
                        double& depth) const {
        const bool events = scene_.run.solver == SolverKind::kEvents;
        const bool fixed = std::isinf(species.mass);
        for (const Boundary<3>& wall : walls_) {
            const auto name = [&wall] { return wall_name(WallNumber(wall.number)); };
            const double most = holds(wall);
            if (!fixed && species.radius > most * (1.0 + kLengthSlack)) {
                return fail("radius", [&] {
                    return fmt::format("{} has the radius {}, more than {} ({}), inside of which it must be", ball(),
                                       species.radius, name(), most);
                });
            }
            const double distance = wall_gap(wall, position).distance;
            if (distance < 0.0) {
                return fail("position",
                            [&] { return fmt::format("{} is behind {} by {:.6g}", ball(), name(), -distance); });
            }
            if (fixed) continue;  // a body that nothing moves may stand in a wall
            const double overlap = species.radius - distance;
            if (events && overlap > kTouching * species.radius) {
                return fail("position", [&] {
                    return fmt::format(
                        "{} overlaps {} by {:.6g}; for the events solver at most {:g} of the radius is allowed", ball(),
                        name(), overlap, kTouching);
                });
            }
            depth = std::max(depth, depth_in_wall(distance, species.radius));
        }
    }

    void check_place(std::uint32_t id, double& depth) const {
        const BallEntry& ball = scene_.balls[id];
        check_at_walls(
            scene_.species[ball.species], ball.position, [&] { return fmt::format("ball {}", id); },
            [&](std::string_view key, const auto& message) {
                const Section section = entry("ball", id);
                section.fail(key == "radius" && !section.has(key) ? "species" : key, message());
            },
            depth);
    }

    void check_places(const LoadedBalls& loaded, double& depth) const {
        if (walls_.empty()) return;
        const Balls& balls = *loaded.balls;
        const auto check = [&](std::uint64_t ball, const auto& fail, double& reached) {
            check_at_walls(
                balls.species_of(ball), place_of_ball(balls, ball), [&] { return loaded.name(ball); }, fail, reached);
        };
        const std::uint64_t count = balls.size();
        std::uint64_t bad = count;  // the first one
        double deepest = depth;
        constexpr std::uint64_t kWorthThreads = 10'000;
#pragma omp parallel for schedule(static) reduction(min : bad) reduction(max : deepest) if (count > kWorthThreads)
        for (std::uint64_t ball = 0; ball < count; ++ball) {
            check(
                ball, [&](std::string_view, const auto&) { bad = std::min(bad, ball); }, deepest);
        }
        depth = deepest;
        if (bad == count) return;
        check(
            bad,
            [&](std::string_view, const auto& message) {
                throw InputError(fmt::format("{}: {}", loaded.place(bad), message()));
            },
            depth);
    }

    /// Reads the files, in their order.
    void read_files() {
        for (std::size_t number = 0; number < scene_.loads.size(); ++number) {
            const auto loaded = reader_(scene_, number);
            scene_.loads[number].loaded = loaded;
            if (scene_.entry_count() > kMostBalls) {
                entry("load", number).fail("file", fmt::format("gives more balls than there are ids ({})", kMostBalls));
            }
        }
    }

    [[noreturn]] void report(const StartOverlap& overlap) const {
        const bool events = scene_.run.solver == SolverKind::kEvents;
        const EntryName of_j = entry_name(scene_, overlap.j);
        const EntryName of_i = entry_name(scene_, overlap.i);
        const std::string message = fmt::format(
            "{} overlaps {} by {:.6g}, {:.3g} of the sum of their radii; {}", of_j.name,
            of_i.source == of_j.source ? of_i.name : of_i.name + of_i.source, overlap.overlap, overlap.fraction,
            events ? fmt::format("for the events solver at most {:g} is allowed", kTouching)
                   : "their centres must be at least half the smaller radius apart");
        if (of_j.place.empty()) entry("ball", overlap.j).fail("position", message);
        throw InputError(fmt::format("{}: {}", of_j.place, message));
    }

    const toml::table& root_;
    const std::string& file_;
    const BallReader& reader_;
    Scene& scene_;
    Faults& faults_;
    SpeciesIndex species_;
    std::vector<Boundary<3>> walls_;
};

constexpr double kSmallestDampedRestitution = 0.01;  // below, the damping ratio exceeds 5 and dt shrinks without end

const toml::table* table_of(const toml::table& root, std::string_view name) {
    const toml::node* node = root.get(name);
    return node == nullptr ? nullptr : node->as_table();
}

/// The largest number in a value, without its sign.
double largest_number(const toml::node& node) {
    const double number = number_in(node);
    double largest = std::isnan(number) ? 0.0 : std::abs(number);
    if (const toml::array* array = node.as_array()) {
        for (const toml::node& element : *array) largest = std::max(largest, largest_number(element));
    }
    return largest;
}

/// Notes where the values of a table stand, and of those inside it.
void note_sources(const toml::table& values, const std::string& table, std::size_t entry, Sources& sources) {
    for (const auto& [name, node] : values) {
        const Key* key = find_key(table, name.str());
        if (key == nullptr) continue;  // its reader says so
        sources.add(*key, entry, source_place_of(node), largest_number(node));
        if (const toml::table* inside = node.as_table()) {
            note_sources(*inside, fmt::format("{}.{}", table, name.str()), entry, sources);
        }
    }
}

/// \param root  passed by check_tables
Sources sources_of(const toml::table& root, const std::string& file) {
    Sources sources(file);
    for (const auto& [name, node] : root) {
        const std::string table(name.str());
        if (std::ranges::find(scene_tables(), table, &Table::name) == scene_tables().end()) continue;
        if (const toml::table* one = node.as_table()) note_sources(*one, table, 0, sources);
        if (const toml::array* many = node.as_array()) {
            for (std::size_t at = 0; at < many->size(); ++at) {
                note_sources(*many->get(at)->as_table(), table, at, sources);
            }
        }
    }
    return sources;
}

constexpr std::size_t kMostEntries = 4096;

/// Notes tables that nobody knows, and those that are not in their form: [name] or [[name]].
/// \throws InputError, SceneErrors  one is not in its form, and so cannot be read
void check_tables(const toml::table& root, const std::string& file, Faults& faults) {
    if (root.contains("sweep") && !root.contains("scene")) {
        throw InputError(file + ": is a sweep, not a scene; carom sweep runs it");
    }
    bool in_form = true;
    for (const auto& [name, node] : root) {
        const Table* known = nullptr;
        std::vector<std::string_view> names;
        for (const Table& table : scene_tables()) {
            names.push_back(table.name);
            if (table.name == name.str()) known = &table;
        }
        const auto note = [&](const toml::node& at, const std::string& what, const std::string& message) {
            // An override may have put it there: then the place is that of the entry.
            faults.note(source_place_of(at), fmt::format("{}: {}: {}", place_of(at, file), what, message));
        };
        const std::string table(name.str());
        if (known == nullptr) {
            const auto nearest = nearest_name(table, names);
            const auto keys = meant_keys(table);
            note(node, table,
                 !nearest.empty() ? fmt::format("unknown table; did you mean \"{}\"?", nearest)
                 : !keys.empty()  ? fmt::format("unknown table; did you mean the key {}?", fmt::join(keys, " or "))
                                  : fmt::format("unknown table; allowed: {}", fmt::join(names, ", ")));
            continue;
        }
        const std::size_t before = faults.count();
        const toml::array* array = node.as_array();
        if (!known->repeated) {
            if (!node.is_table()) note(node, table, fmt::format("must be one table: [{}]", table));
        } else if (array == nullptr) {
            note(node, table, fmt::format("must be tables in a list: [[{}]]", table));
        } else if (table != "ball" && table != "species" && array->size() > kMostEntries) {
            // Of what is set beside each other, and not one by one, as balls are.
            note(node, table, fmt::format("{} entries; allowed: at most {}", array->size(), kMostEntries));
        } else {
            for (std::size_t at = 0; at < array->size(); ++at) {
                const toml::node& entry = *array->get(at);
                if (entry.is_table()) continue;
                note(entry, fmt::format("{}[{}]", table, at),
                     fmt::format("must be a table of a list, [[{}]], not {}", table, value_text(entry)));
            }
        }
        in_form = in_form && faults.count() == before;
    }
    if (!in_form) faults.tell();
}

void read_box(const Section& section, Scene& scene) {
    Box& box = scene.box;
    box.min = section.vector("min", Vector3{});
    box.size = section.vector("size");
    const auto boundary = section.boundary("boundary");
    for (int axis = 0; axis < box.dimension; ++axis) {
        const double max = box.min[axis] + box.size[axis];
        if (!std::isfinite(max) || !(max > box.min[axis])) {
            section.fail_at("size", axis, fmt::format("is out of proportion to box.min[{}]", axis));
        }
        for (int side = 0; side < 2; ++side) box.faces[axis][side] = static_cast<Face>(boundary[axis][side]);
        if ((box.faces[axis][0] == Face::kPeriodic) != (box.faces[axis][1] == Face::kPeriodic)) {
            section.fail_at("boundary", axis, "must be \"periodic\" on both faces or on neither");
        }
    }
    box.temperature = read_face_temperature(section, box);
}

void read_physics(const Section& section, Scene& scene) {
    Physics& physics = scene.physics;
    physics.gravity = section.vector("gravity", Vector3{});
    check_gravity(section, physics.gravity, scene.box);
    physics.restitution = section.number("restitution");
    physics.friction = section.number("friction");
    physics.wall_restitution = section.number("wall_restitution", physics.restitution);
    physics.wall_friction = section.number("wall_friction", physics.friction);
    physics.simultaneous = static_cast<Simultaneous>(section.choice("simultaneous"));
    if (physics.friction > 0.0 || physics.wall_friction > 0.0) {
        if (!section.has("simultaneous")) physics.simultaneous = Simultaneous::kSequential;
        if (physics.simultaneous != Simultaneous::kSequential) {
            section.fail("simultaneous", "must be \"sequential\" where there is friction, as it is by default");
        }
    }
}

void read_spring(const Section& section, Scene& scene) {
    SpringKeys& spring = scene.spring;
    const Kind& law = ContactLaws::kKinds[section.choice("law")];
    spring.law = law.name;
    spring.own = section.values(law.keys, kTermKeys);
    spring.stiffness = section.number_or_auto("stiffness");
    if (section.has("wall_stiffness")) spring.wall_stiffness = section.number("wall_stiffness");
    spring.damping = section.number_or_auto("damping");
    spring.dt = section.number_or_auto("dt");
    spring.integrator = static_cast<Integrator>(section.choice("integrator"));
    spring.distance_epsilon = section.number("distance_epsilon");
    spring.max_overlap = section.number("max_overlap");
}

/// 0 where there are no stages.
double end_of_stages(const toml::table& root, const std::string& file, int dimension) {
    const toml::node* node = root.get("stage");
    if (node == nullptr || node->as_array()->empty()) return 0.0;
    const std::size_t last = node->as_array()->size() - 1;
    const toml::table* table = node->as_array()->get(last)->as_table();
    Faults told_later;
    return Section(table, fmt::format("stage[{}]", last), "stage", file, dimension, told_later).number("until");
}

/// \param last_stage  where the last stage ends; 0: there are none
void read_run(const Section& section, double last_stage, Scene& scene) {
    scene.run.solver = static_cast<SolverKind>(section.choice("solver"));
    scene.run.backend = static_cast<BackendChoice>(section.choice("backend"));
    scene.run.precision = static_cast<Precision>(section.choice("precision"));
    scene.run.until = last_stage > 0.0 ? section.number("until", last_stage) : section.number("until");
}

void read_output(const Section& section, Scene& scene) {
    scene.output.every = section.number("every", scene.run.until / 100.0);
    scene.output.observables_every = section.number("observables_every", scene.run.until / 1000.0);
    scene.output.fields = section.choices("fields", scene.output.fields);
    if (scene.output.fields.empty()) section.fail("fields", "must not be empty; for few frames set output.every = 0");
}

void read_units(const Section& section, UnitNames& units) {
    units.reduced = section.choice("system") == 1;
    const auto read = [&](const char* key, std::string& name) {
        if (!section.has(key)) return;
        name = section.text(key);
        if (name.empty()) section.fail(key, "must not be empty; for numbers without units units.system = \"reduced\"");
        if (units.reduced) section.fail(key, "is for units.system = \"si\"; reduced numbers have no units");
    };
    read("length", units.length);
    read("mass", units.mass);
    read("time", units.time);
    read("energy", units.energy);
}

/// What the spring solver cannot do, or not yet.
void check_spring(const Section& physics_section, const Scene& scene) {
    const Physics& physics = scene.physics;
    for (const char* name : {"friction", "wall_friction"}) {
        const bool wall = std::string_view(name) == "wall_friction";
        const double value = wall ? physics.wall_friction : physics.friction;
        if (value > 0.0 && physics_section.has(name)) {
            physics_section.fail(name,
                                 fmt::format("must be 0 for the spring solver until it has contact history, not {}; "
                                             "run.solver = \"events\" has friction",
                                             value));
        }
    }
    if (scene.spring.damping) return;
    for (const char* name : {"restitution", "wall_restitution"}) {
        const bool wall = std::string_view(name) == "wall_restitution";
        const double value = wall ? physics.wall_restitution : physics.restitution;
        if (value < kSmallestDampedRestitution && physics_section.has(name)) {
            physics_section.fail(name, fmt::format("must be {} or more with spring.damping = \"auto\", not {}",
                                                   kSmallestDampedRestitution, value));
        }
    }
}

}  // namespace

Look read_look(const Section& section) {
    Look look;
    const auto color = [&](const char* key, std::string& to) {
        if (!section.has(key)) return;
        to = section.text(key);
        require_color(section, key, to);
    };
    color("background", look.background);
    color("floor", look.floor);
    color("walls", look.walls);
    std::istringstream colors(section.text("colors"));
    for (std::string one; colors >> one;) {
        require_color(section, "colors", one);
        look.colors.push_back(one);
    }
    look.cushion = section.number("cushion");
    if (section.has("numbers_from")) look.numbers_from = section.whole("numbers_from");
    look.pattern = static_cast<Look::Pattern>(section.choice("pattern"));
    look.camera = section.text("camera");
    look.range = section.text("range");
    look.clip = section.text("clip");
    look.select = section.text("select");
    look.copies = section.whole("copies");
    if (look.copies > kMostCopies) section.fail("copies", fmt::format("must be at most {}", kMostCopies));
    look.glow = section.flag("glow");
    look.color_by = section.text("color_by");
    look.colormap = section.text("colormap");
    look.light = section.flag("light");
    look.shadows = section.flag("shadows");
    return look;
}

Scene read_scene(const toml::table& root, const std::string& file, const BallReader& ball_reader) {
    Faults faults;
    check_tables(root, file, faults);
    Scene scene;
    scene.path = file;
    scene.sources = std::make_shared<Sources>(sources_of(root, file));
    int dimension = 0;
    const auto read = [&](std::string_view name, const auto& reader) {
        faults.gather([&] { reader(Section(table_of(root, name), std::string(name), name, file, dimension, faults)); });
    };
    read("scene", [&](const Section& head) {
        const std::size_t before = faults.count();
        scene.box.dimension = static_cast<int>(head.whole("dimension"));
        if (faults.count() == before) dimension = scene.box.dimension;
        scene.title = head.text("title");
        scene.history = head.text("history");
        scene.seed = head.whole("seed");
    });
    if (dimension == 0) faults.tell();  // vectors cannot be read

    read("box", [&](const Section& section) { read_box(section, scene); });
    std::optional<Section> physics;
    const std::size_t before_physics = faults.count();
    read("physics", [&](const Section& section) {
        physics = section;
        read_physics(section, scene);
    });
    const bool sound_physics = faults.count() == before_physics;
    read("spring", [&](const Section& section) { read_spring(section, scene); });
    read("events", [&](const Section& section) {
        scene.events = {.tc = section.number("tc"), .cutoff_speed = section.number("cutoff_speed")};
    });
    read("run", [&](const Section& section) { read_run(section, end_of_stages(root, file, dimension), scene); });
    read("thermostat", [&](const Section& section) { scene.thermostat = read_thermostat(section, scene.run.until); });
    read("output", [&](const Section& section) { read_output(section, scene); });
    read("units", [&](const Section& section) { read_units(section, scene.units); });
    // For its faults: look_of() gives it to those who draw.
    read("look", [&](const Section& section) { static_cast<void>(read_look(section)); });
    if (scene.run.solver == SolverKind::kSpring && sound_physics) faults.gather([&] { check_spring(*physics, scene); });
    EntryReader(root, file, ball_reader, scene, faults).read();
    faults.tell();
    return scene;
}

}  // namespace carom
