#include "host/scene/stages.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "kernels/physics/boundaries.hpp"

namespace carom {

namespace {

double end_of(const Stage& stage, const ReachableTime& reachable) {
    return reachable ? reachable(stage.until) : stage.until;
}

}  // namespace

std::vector<StageScene> scenes_of_stages(const Scene& scene, const std::function<double(double)>& reachable) {
    Scene base;
    base.path = scene.path;
    base.seed = scene.seed;
    base.box = scene.box;
    base.physics = scene.physics;
    base.spring = scene.spring;
    base.events = scene.events;
    base.run = scene.run;
    base.walls = scene.walls;
    base.thermostat = scene.thermostat;
    constexpr double kForever = std::numeric_limits<double>::infinity();
    if (scene.stages.empty()) return {{kForever, 0.0, base}};
    std::vector<StageScene> all;
    double from = 0.0;
    for (const Stage& stage : scene.stages) {
        StageScene one{reachable(stage.until), from, base};
        one.scene.physics.gravity = stage.gravity;
        one.scene.box.temperature = stage.wall_temperature;
        one.scene.thermostat = stage.thermostat;
        for (std::size_t wall = 0; wall < base.walls.size(); ++wall) {
            one.scene.walls[wall].velocity = stage.wall_velocity[wall];
            one.scene.walls[wall].temperature = stage.wall_entry_temperature[wall];
            // Where the next stage finds it.
            move_wall(base.walls[wall], stage.wall_velocity[wall] * (one.until - from));
        }
        from = one.until;
        all.push_back(std::move(one));
    }
    all.back().until = kForever;
    return all;
}

std::vector<Wall> walls_at(const Scene& scene, double time, const ReachableTime& reachable) {
    std::vector<Wall> walls = scene.walls;
    double from = 0.0;
    for (std::size_t stage = 0; stage < std::max<std::size_t>(1, scene.stages.size()); ++stage) {
        const bool last = stage + 1 >= scene.stages.size();
        const double until = last ? time : std::min(time, end_of(scene.stages[stage], reachable));
        for (std::size_t wall = 0; wall < walls.size(); ++wall) {
            const double speed =
                scene.stages.empty() ? scene.walls[wall].velocity : scene.stages[stage].wall_velocity[wall];
            move_wall(walls[wall], speed * std::max(0.0, until - from));
        }
        from = until;
    }
    return walls;
}

std::size_t stage_at(const Scene& scene, double time, const ReachableTime& reachable) {
    std::size_t stage = 0;
    while (stage + 1 < scene.stages.size() && end_of(scene.stages[stage], reachable) <= time) ++stage;
    return stage;
}

Scene scene_at(const Scene& scene, double time) {
    auto all = scenes_of_stages(scene, [](double asked) { return asked; });
    return std::move(all[stage_at(scene, time)].scene);
}

}  // namespace carom
