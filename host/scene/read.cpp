#include "host/scene/read.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "host/scene/entries.hpp"
#include "host/scene/section.hpp"
#include "host/scene/start.hpp"
#include "host/state/errors.hpp"

namespace carom {
namespace {

constexpr double kSmallestDampedRestitution = 0.01;  // below, the damping ratio exceeds 5 and dt shrinks without end

/// Keys whose numbers only a solver can judge, which then says where they stand.
constexpr std::array<std::pair<const char*, const char*>, 10> kJudgedLater{{{"spring", "stiffness"},
                                                                            {"spring", "wall_stiffness"},
                                                                            {"spring", "damping"},
                                                                            {"spring", "dt"},
                                                                            {"physics", "gravity"},
                                                                            {"box", "min"},
                                                                            {"box", "size"},
                                                                            {"box", "wall_temperature"},
                                                                            {"thermostat", "temperature"},
                                                                            {"run", "until"}}};

const toml::table* table_of(const toml::table& root, std::string_view name) {
    const toml::node* node = root.get(name);
    return node == nullptr ? nullptr : node->as_table();
}

/// Only known tables, each in its form: [name] or [[name]].
void check_tables(const toml::table& root, const std::string& file) {
    for (const auto& [name, node] : root) {
        const Table* known = nullptr;
        std::vector<std::string_view> names;
        for (const Table& table : scene_tables()) {
            names.push_back(table.name);
            if (table.name == name.str()) known = &table;
        }
        const std::string begin = fmt::format("{}: {}: ", place_of(node, file), name.str());
        if (known == nullptr) {
            const auto nearest = nearest_name(name.str(), names);
            throw InputError(nearest.empty()
                                 ? fmt::format("{}unknown table; allowed: {}", begin, fmt::join(names, ", "))
                                 : fmt::format("{}unknown table; did you mean \"{}\"?", begin, nearest));
        }
        if (known->repeated) {
            const toml::array* array = node.as_array();
            if (array == nullptr)
                throw InputError(fmt::format("{}must be tables in a list: [[{}]]", begin, known->name));
            for (std::size_t at = 0; at < array->size(); ++at) {
                const toml::node& entry = *array->get(at);
                if (entry.is_table()) continue;
                // An override may have put it there, so the place is that of the entry.
                throw InputError(fmt::format("{}: {}[{}]: must be a table of a list, [[{}]], not {}",
                                             place_of(entry, file), name.str(), at, known->name, value_text(entry)));
            }
        } else if (!node.is_table()) {
            throw InputError(fmt::format("{0}must be one table: [{1}]", begin, known->name));
        }
    }
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
    spring.law = choices_of(*find_key("spring", "law"))[section.choice("law")];
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
    return Section(table, fmt::format("stage[{}]", last), "stage", file, dimension).number("until");
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

Scene read_scene(const toml::table& root, const std::string& file) {
    check_tables(root, file);
    Scene scene;
    const auto section = [&](std::string_view name, int dimension) {
        return Section(table_of(root, name), std::string(name), name, file, dimension);
    };
    const Section head = section("scene", 0);
    scene.title = head.text("title");
    scene.box.dimension = static_cast<int>(head.whole("dimension"));
    scene.seed = head.whole("seed");
    const int dimension = scene.box.dimension;

    const Section physics = section("physics", dimension);
    const Section events = section("events", dimension);
    read_box(section("box", dimension), scene);
    read_physics(physics, scene);
    read_spring(section("spring", dimension), scene);
    scene.events = {.tc = events.number("tc"), .cutoff_speed = events.number("cutoff_speed")};
    read_run(section("run", dimension), end_of_stages(root, file, dimension), scene);
    scene.thermostat = read_thermostat(section("thermostat", dimension), scene.run.until);
    read_output(section("output", dimension), scene);
    if (scene.run.solver == SolverKind::kSpring) check_spring(physics, scene);
    for (const auto& [table, name] : kJudgedLater) {
        const Section place = section(table, dimension);
        if (place.has(name)) scene.labels[fmt::format("{}.{}", table, name)] = place.label(name);
    }
    read_entries(root, file, scene);
    return scene;
}

}  // namespace carom
