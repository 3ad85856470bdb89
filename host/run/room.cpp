#include "host/run/room.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>

#include "host/scene/stages.hpp"
#include "host/scene/walls.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

/// Denser no balls of like size are packed, disks in a triangular lattice: 0.907.
constexpr double kDensest = 0.9;

bool can_be_left(const Box& box) {
    for (int axis = 0; axis < box.dimension; ++axis) {
        if (std::ranges::count(box.faces[axis], Face::kOpen) > 0) return true;
    }
    return false;
}

/// Between two of these walls move at a steady speed.
std::vector<double> ends_of(const Scene& scene) {
    std::vector<double> ends;
    for (const Stage& stage : scene.stages) ends.push_back(std::min(stage.until, scene.run.until));
    ends.push_back(scene.run.until);
    return ends;
}

/// When the room ends, and that of ends_of by which it has.
struct Squeeze {
    double when = 0.0;
    double end = 0.0;
};

/// None where the balls have no room at the start: that is for whoever placed them to tell.
std::optional<Squeeze> find_squeeze(const Scene& scene, double balls, double from) {
    const auto fits = [&](double time) { return room_at(scene, time).volume() >= balls / kDensest; };
    if (can_be_left(scene.box) || !fits(from)) return std::nullopt;
    for (const double end : ends_of(scene)) {
        if (end <= from || fits(end)) {
            from = std::max(from, end);
            continue;
        }
        double late = end;
        // To the last bit: of a wall that is fast without measure the time is as short.
        for (double middle = 0.5 * (from + late); middle > from && middle < late; middle = 0.5 * (from + late)) {
            (fits(middle) ? from : late) = middle;
        }
        return Squeeze{late, end};
    }
    return std::nullopt;
}

/// A wall's speed as the scene has it: its own, which stages may have from it, or that of one stage.
struct SpeedKey {
    std::size_t wall = 0;
    std::optional<std::size_t> stage = {};
    double speed = 0.0;
};

/// Of the wall that moves in fastest at a time.
SpeedKey fastest_at(const Scene& scene, double time) {
    SpeedKey key;
    key.speed = -std::numeric_limits<double>::infinity();
    const std::size_t stage = stage_at(scene, time);
    for (std::size_t wall = 0; wall < scene.walls.size(); ++wall) {
        const double own = scene.walls[wall].velocity;
        const double now = scene.stages.empty() ? own : scene.stages[stage].wall_velocity[wall];
        if (!(now > key.speed)) continue;
        key = {wall, {}, now};
        if (now != own) key.stage = stage;
    }
    return key;
}

Scene with_speed(Scene scene, const SpeedKey& key, double speed) {
    if (key.stage) {
        scene.stages[*key.stage].wall_velocity[key.wall] = speed;
        return scene;
    }
    for (Stage& stage : scene.stages) {
        double& of_stage = stage.wall_velocity[key.wall];
        if (of_stage == key.speed) of_stage = speed;
    }
    scene.walls[key.wall].velocity = speed;
    return scene;
}

/// The fastest with which room is left until the end; 0 where other walls take it all the same.
double possible_speed(const Scene& scene, const SpeedKey& key, double balls, double from) {
    double possible = 0.0;
    double too_fast = key.speed;
    const auto fits = [&](double speed) { return !find_squeeze(with_speed(scene, key, speed), balls, from); };
    if (!fits(0.0)) return 0.0;
    // By factors first: what is possible may be a trillionth of what is asked for.
    double less = too_fast;
    while (less > std::numeric_limits<double>::min() && !fits(less)) {
        too_fast = less;
        less *= 0.5;
    }
    possible = less;
    constexpr int kDigits = 20;  // binary, of what is told with four
    for (int k = 0; k < kDigits; ++k) {
        const double middle = 0.5 * (possible + too_fast);
        (fits(middle) ? possible : too_fast) = middle;
    }
    return possible;
}

}  // namespace

std::vector<std::string> room_warnings(const Scene& scene, double balls, double from) {
    const auto squeeze = find_squeeze(scene, balls, from);
    if (!squeeze) return {};
    const std::vector<Wall> before = walls_at(scene, squeeze->when);
    const std::vector<Wall> after = walls_at(scene, squeeze->end);
    std::string who;
    for (std::size_t wall = 0; wall < after.size(); ++wall) {
        if (!(stands_at(after[wall]) > stands_at(before[wall]))) continue;
        who += fmt::format("{}wall[{}]", who.empty() ? "" : " and ", wall);
    }
    return {fmt::format("{} leaves the balls no room from t = {:.4g} on", who, squeeze->when)};
}

void require_room(const Scene& scene, double balls, double from) {
    const auto squeeze = find_squeeze(scene, balls, from);
    if (!squeeze) return;
    const SpeedKey key = fastest_at(scene, squeeze->when);
    const std::string name =
        key.stage ? fmt::format("stage[{}].wall_velocity", *key.stage) : fmt::format("wall[{}].velocity", key.wall);
    const double possible = possible_speed(scene, key, balls, from);
    throw InputError(fmt::format(
        "{}: wall[{}] moves in at {:.4g} m/s and leaves the hard balls no room from t = {:.4g} on, but the run ends at "
        "{:.6g}; possible: {}run.until below {:.4g}",
        scene.label(name), key.wall, key.speed, squeeze->when, scene.run.until,
        possible > 0.0 ? fmt::format("less than {:.4g} m/s, or ", possible) : "", squeeze->when));
}

}  // namespace carom
