#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "host/scene/scene.hpp"
#include "kernels/core/wall_number.hpp"

namespace carom {

/// What drives the balls of a scene, for people: name and value, a line each; none where nothing does. Thermostat,
/// thermal and moving walls are those of the scene; then comes a line for each stage with what is different there.
std::vector<std::pair<std::string, std::string>> driving_lines(const Scene& scene);

/// The same for programs: adds "thermostat", "thermal_walls", "moving_walls" and "stages" to an object, each where the
/// scene has it. Walls are called as the components of wall_heat are.
void add_driving(const Scene& scene, nlohmann::ordered_json& json);

/// The walls that the scene or one of its stages gives a temperature.
std::vector<WallNumber> thermal_walls(const Scene& scene);

/// What a user should know of the stages before the run, one sentence each: those that do not end, or never begin,
/// before the run does.
std::vector<std::string> stage_warnings(const Scene& scene);

/// Why averages take no sample, whatever their intervals are: no stage that measures is reached. Empty where one is.
std::string why_nothing_is_measured(const Scene& scene);

/// From when on there are samples of what is asked for from a time on: stages that do not measure have none.
double measured_from(const Scene& scene, double from);

}  // namespace carom
