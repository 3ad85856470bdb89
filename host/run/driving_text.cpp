#include "host/run/driving_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "host/state/text.hpp"

namespace carom {

namespace {

/// Something of each wall.
using OfWalls = std::vector<std::pair<WallNumber, double>>;

OfWalls temperatures(const Box& box, const Stage& stage) {
    OfWalls all;
    for (int axis = 0; axis < box.dimension; ++axis) {
        for (int end = 0; end < 2; ++end) {
            if (box.faces[axis][end] != Face::kWall) continue;
            all.emplace_back(WallNumber::face(axis, end), stage.wall_temperature[axis][end]);
        }
    }
    for (std::size_t wall = 0; wall < stage.wall_entry_temperature.size(); ++wall)
        all.emplace_back(WallNumber::entry(wall), stage.wall_entry_temperature[wall]);
    return all;
}

OfWalls velocities(const Stage& stage) {
    OfWalls all;
    for (std::size_t wall = 0; wall < stage.wall_velocity.size(); ++wall)
        all.emplace_back(WallNumber::entry(wall), stage.wall_velocity[wall]);
    return all;
}

/// The scene itself, as a stage without an end.
Stage whole(const Scene& scene) {
    Stage stage;
    stage.gravity = scene.physics.gravity;
    stage.wall_temperature = scene.box.temperature;
    stage.thermostat = scene.thermostat;
    for (const Wall& wall : scene.walls) {
        stage.wall_entry_temperature.push_back(wall.temperature);
        stage.wall_velocity.push_back(wall.velocity);
    }
    return stage;
}

OfWalls without_zeros(OfWalls all) {
    std::erase_if(all, [](const auto& one) { return one.second == 0.0; });
    return all;
}

/// What is not as before.
OfWalls different(const OfWalls& before, const OfWalls& now) {
    OfWalls changed;
    std::ranges::set_difference(now, before, std::back_inserter(changed));  // both are in the order of walls
    return changed;
}

/// x-min 2 J, wall[0] 1.5 J
std::string text_of(const OfWalls& walls, const std::string& unit, const char* zero) {
    std::string text;
    for (const auto& [number, value] : walls) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number.name(),
                            value == 0.0 ? zero : fmt::format("{:.6g}{}", value, unit));
    }
    return text;
}

std::string temperatures_text(const UnitNames& units, const OfWalls& walls) {
    return text_of(walls, units.behind("J"), "reflects");
}
std::string velocities_text(const UnitNames& units, const OfWalls& walls) {
    return text_of(walls, units.behind("m/s"), "at rest");
}

std::string kind_text(Thermostat::Kind kind) {
    switch (kind) {
        case Thermostat::Kind::kAndersen:
            return "andersen";
        case Thermostat::Kind::kRescale:
            return "rescale";
        case Thermostat::Kind::kNone:
            break;
    }
    return "none";
}

std::string thermostat_text(const UnitNames& units, const Thermostat& thermostat) {
    std::string text = kind_text(thermostat.kind);
    if (thermostat.kind == Thermostat::Kind::kNone) return text;
    text += fmt::format(" to {:.6g}{}", thermostat.temperature, units.behind("J"));
    if (thermostat.kind == Thermostat::Kind::kRescale) {
        return text + fmt::format(", every {:.6g}{}", thermostat.every, units.behind("s"));
    }
    const std::string unit = units.behind("s");
    return text + fmt::format(", each ball {:.6g} times {}", thermostat.rate,
                              unit == " s" ? "a second" : "in a" + (unit.empty() ? " unit of time" : unit));
}

bool same(const Thermostat& a, const Thermostat& b) {
    return a.kind == b.kind && a.temperature == b.temperature && a.rate == b.rate && a.every == b.every;
}

double begin_of(const Scene& scene, std::size_t stage) { return stage == 0 ? 0.0 : scene.stages[stage - 1].until; }

/// The last stage goes on to the end of the run.
double end_of(const Scene& scene, std::size_t stage) {
    const bool last = stage + 1 == scene.stages.size();
    return last ? std::max(scene.stages[stage].until, scene.run.until) : scene.stages[stage].until;
}

/// Of the stages, those that begin before the run ends.
std::size_t reached(const Scene& scene) {
    std::size_t count = 0;
    while (count < scene.stages.size() && begin_of(scene, count) < scene.run.until) ++count;
    return count;
}

/// stage[1] "compress"
std::string called(const Scene& scene, std::size_t stage) {
    const std::string& name = scene.stages[stage].name;
    return fmt::format("stage[{}]{}", stage, name.empty() ? "" : fmt::format(" \"{}\"", visible(name)));
}

std::string stage_text(const Scene& scene, std::size_t number) {
    const Stage& stage = scene.stages[number];
    const Stage usual = whole(scene);
    std::string text = stage.name.empty() ? "" : visible(stage.name) + ", ";
    text += fmt::format("to t = {:.6g}{}", end_of(scene, number), scene.units.behind("s"));
    std::vector<std::string> parts;
    if (stage.gravity != usual.gravity) {
        parts.push_back(fmt::format("gravity [{:.6g}, {:.6g}", stage.gravity[0], stage.gravity[1]));
        if (scene.dimension() == 3) parts.back() += fmt::format(", {:.6g}", stage.gravity[2]);
        parts.back() += "]" + scene.units.behind("m/s^2");
    }
    if (!same(stage.thermostat, usual.thermostat))
        parts.push_back("thermostat " + thermostat_text(scene.units, stage.thermostat));
    const OfWalls warm = different(temperatures(scene.box, usual), temperatures(scene.box, stage));
    if (!warm.empty()) parts.push_back("walls " + temperatures_text(scene.units, warm));
    const OfWalls moving = different(velocities(usual), velocities(stage));
    if (!moving.empty()) parts.push_back("moving " + velocities_text(scene.units, moving));
    parts.emplace_back(stage.measure ? "measures" : "does not measure");
    return fmt::format("{}: {}", text, fmt::join(parts, "; "));
}

nlohmann::ordered_json object_of(const OfWalls& walls) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    for (const auto& [number, value] : walls) json[number.plain_name()] = value;
    return json;
}

nlohmann::ordered_json json_of(const Thermostat& thermostat) {
    nlohmann::ordered_json json{{"kind", kind_text(thermostat.kind)}};
    if (thermostat.kind != Thermostat::Kind::kNone) json["temperature"] = thermostat.temperature;
    if (thermostat.kind == Thermostat::Kind::kAndersen) json["rate"] = thermostat.rate;
    if (thermostat.kind == Thermostat::Kind::kRescale) json["every"] = thermostat.every;
    return json;
}

/// What is in force in a stage, or in the scene.
void add_forces(const Scene& scene, const Stage& stage, nlohmann::ordered_json& json) {
    if (stage.thermostat.kind != Thermostat::Kind::kNone) json["thermostat"] = json_of(stage.thermostat);
    const OfWalls warm = without_zeros(temperatures(scene.box, stage));
    if (!warm.empty()) json["thermal_walls"] = object_of(warm);
    const OfWalls moving = without_zeros(velocities(stage));
    if (!moving.empty()) json["moving_walls"] = object_of(moving);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> driving_lines(const Scene& scene) {
    std::vector<std::pair<std::string, std::string>> lines;
    const Stage usual = whole(scene);
    if (usual.thermostat.kind != Thermostat::Kind::kNone) {
        lines.emplace_back("thermostat", thermostat_text(scene.units, usual.thermostat));
    }
    const OfWalls warm = without_zeros(temperatures(scene.box, usual));
    if (!warm.empty()) lines.emplace_back("thermal walls", temperatures_text(scene.units, warm));
    const OfWalls moving = without_zeros(velocities(usual));
    if (!moving.empty()) lines.emplace_back("moving walls", velocities_text(scene.units, moving));
    for (std::size_t number = 0; number < scene.stages.size(); ++number) {
        lines.emplace_back(fmt::format("stage {}", number), stage_text(scene, number));
    }
    return lines;
}

void add_driving(const Scene& scene, nlohmann::ordered_json& json) {
    add_forces(scene, whole(scene), json);
    for (std::size_t number = 0; number < scene.stages.size(); ++number) {
        const Stage& stage = scene.stages[number];
        nlohmann::ordered_json one{{"name", stage.name},
                                   {"from", begin_of(scene, number)},
                                   {"until", end_of(scene, number)},
                                   {"measure", stage.measure}};
        one["gravity"] = std::vector<double>(stage.gravity.begin(), stage.gravity.begin() + scene.dimension());
        add_forces(scene, stage, one);
        json["stages"].push_back(std::move(one));
    }
}

std::vector<WallNumber> thermal_walls(const Scene& scene) {
    std::set<WallNumber> numbers;
    const auto add = [&](const Stage& stage) {
        for (const auto& [number, value] : without_zeros(temperatures(scene.box, stage))) numbers.insert(number);
    };
    if (scene.stages.empty()) add(whole(scene));
    for (const Stage& stage : scene.stages) add(stage);
    return {numbers.begin(), numbers.end()};
}

std::vector<std::string> stage_warnings(const Scene& scene) {
    const std::size_t all = scene.stages.size();
    const std::size_t begun = reached(scene);
    const double end = scene.run.until;
    if (all == 0 || begun == 0) return {};  // a run of no length
    std::string text = fmt::format("the run ends at t = {:.6g}", end);
    const bool cut = scene.stages[begun - 1].until > end;
    if (cut) {
        text += fmt::format(", within {}, which would last until {:.6g}", called(scene, begun - 1),
                            scene.stages[begun - 1].until);
    }
    if (begun + 1 == all) text += fmt::format("; {} never begins", called(scene, begun));
    if (begun + 1 < all) {
        text += fmt::format("; {} to {} never begin", called(scene, begun), called(scene, all - 1));
    }
    if (!cut && begun == all) return {};
    return {text};
}

std::string why_nothing_is_measured(const Scene& scene) {
    const auto measures = std::ranges::find(scene.stages, true, &Stage::measure);
    if (scene.stages.empty()) return {};
    if (measures == scene.stages.end()) return "no stage has measure = true";
    const auto number = static_cast<std::size_t>(measures - scene.stages.begin());
    if (number < reached(scene)) return {};
    return fmt::format("the first stage that measures, {}, would begin at t = {:.6g}, and the run ends at {:.6g}",
                       called(scene, number), begin_of(scene, number), scene.run.until);
}

double measured_from(const Scene& scene, double from) {
    for (std::size_t number = 0; number < scene.stages.size(); ++number) {
        if (scene.stages[number].measure && end_of(scene, number) > from) {
            return std::max(from, begin_of(scene, number));
        }
    }
    return from;
}

}  // namespace carom
