#include "host/run/key_to_blame.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "host/run/spring_plan.hpp"
#include "host/scene/design.hpp"

namespace carom {

namespace {

void stop(Balls& balls, std::size_t first, std::size_t last) {
    for (auto& along : balls.velocity) {
        for (std::size_t id = first; id < std::min(last, along.size()); ++id) along[id] = 0.0;
    }
}

/// What a stage has from the rest of the scene is eased with it.
template <class Value>
void ease(const Value& usual, Value& of_stage) {
    if (of_stage == usual) of_stage = Value{};
}

void ease_walls(Scene& scene, double Wall::*of_wall, std::vector<double> Stage::*of_stage) {
    for (std::size_t wall = 0; wall < scene.walls.size(); ++wall) {
        for (Stage& stage : scene.stages) ease(scene.walls[wall].*of_wall, (stage.*of_stage)[wall]);
        scene.walls[wall].*of_wall = 0.0;
    }
}

void ease_stages(Scene& scene, std::vector<double> Stage::*of_stage) {
    for (Stage& stage : scene.stages) std::ranges::fill(stage.*of_stage, 0.0);
}

using Ease = void (*)(Scene&, Balls&);
constexpr std::array<std::pair<const char*, Ease>, 18> kKeys{{
    {"spring.stiffness", [](Scene& s, Balls&) { s.spring.stiffness.reset(); }},
    {"spring.wall_stiffness", [](Scene& s, Balls&) { s.spring.wall_stiffness.reset(); }},
    {"spring.damping", [](Scene& s, Balls&) { s.spring.damping.reset(); }},
    {"spring.dt", [](Scene& s, Balls&) { s.spring.dt.reset(); }},
    {"physics.gravity",
     [](Scene& s, Balls&) {
         for (Stage& stage : s.stages) ease(s.physics.gravity, stage.gravity);
         s.physics.gravity = {};
     }},
    {"stage.gravity",
     [](Scene& s, Balls&) {
         for (Stage& stage : s.stages) stage.gravity = {};
     }},
    {"ball.velocity", [](Scene& s, Balls& b) { stop(b, 0, s.balls.size()); }},
    {"fill.temperature",
     [](Scene& s, Balls& b) {
         for (auto& fill : s.fills) fill.temperature = fill.speed = std::nullopt;
         stop(b, s.balls.size(), b.size());
     }},
    {"wall.velocity", [](Scene& s, Balls&) { ease_walls(s, &Wall::velocity, &Stage::wall_velocity); }},
    {"stage.wall_velocity", [](Scene& s, Balls&) { ease_stages(s, &Stage::wall_velocity); }},
    {"box.wall_temperature",
     [](Scene& s, Balls&) {
         for (Stage& stage : s.stages) ease(s.box.temperature, stage.wall_temperature);
         s.box.temperature = {};
     }},
    {"stage.wall_temperature",
     [](Scene& s, Balls&) {
         for (Stage& stage : s.stages) stage.wall_temperature = {};
     }},
    {"wall.temperature", [](Scene& s, Balls&) { ease_walls(s, &Wall::temperature, &Stage::wall_entry_temperature); }},
    {"stage.wall_entry_temperature", [](Scene& s, Balls&) { ease_stages(s, &Stage::wall_entry_temperature); }},
    {"thermostat.temperature",
     [](Scene& s, Balls&) {
         for (Stage& stage : s.stages) ease(s.thermostat.temperature, stage.thermostat.temperature);
         s.thermostat = {};
     }},
    {"stage.thermostat.temperature",
     [](Scene& s, Balls&) {
         for (Stage& stage : s.stages) stage.thermostat = {};
     }},
    {"box.min", [](Scene& s, Balls&) { s.box.min = {}; }},
    {"box.size",
     [](Scene& s, Balls& b) {
         constexpr double kDiameters = 100.0;
         const double diameter = 2.0 * ball_sizes(b).largest_radius;
         for (double& size : s.box.size) size = std::min(size, kDiameters * diameter);
     }},
}};

std::string label_of(const Scene& scene, std::string_view key) {
    const Sources& sources = *scene.sources;
    if (key == "ball.velocity") return sources.label_of_largest({"ball.velocity", "ball.speed"});
    if (key == "fill.temperature") return sources.label_of_largest({"fill.temperature", "fill.speed"});
    return sources.label_of_largest({key});
}

}  // namespace

std::string key_to_blame(const Scene& scene, const Balls& balls) {
    for (const auto& [key, ease] : kKeys) {
        std::string label = label_of(scene, key);
        if (label.empty()) continue;
        Scene eased = scene;
        Balls eased_balls = balls;
        ease(eased, eased_balls);
        const SpringSetup setup = spring_setup(eased, design_spring(eased, eased_balls), 1);
        if (spring_refusal(setup, ball_sizes(eased_balls)).empty()) return label;
    }
    return {};
}

}  // namespace carom
