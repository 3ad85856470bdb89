#include "host/plot/theory_over_time.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "host/plot/adiabatic.hpp"
#include "host/plot/run_theory.hpp"
#include "host/plot/standing_wave.hpp"
#include "host/plot/stored_means.hpp"
#include "host/scene/load.hpp"
#include "host/scene/room.hpp"

namespace carom {

namespace {

/// Dashed, for what is measured lies under it.
Curve course(std::string label, std::vector<double> x, std::vector<double> y) {
    Curve curve{.label = std::move(label), .x = std::move(x), .y = std::move(y)};
    curve.thick = true;
    curve.dashed = true;
    return curve;
}

}  // namespace

std::vector<Curve> theory_over_time(const TrajectoryReader& trajectory, const std::string& quantity) {
    static constexpr std::array<std::string_view, 4> kKnown{"temperature", "pressure", "virial_pressure",
                                                            "wall_pressure"};
    if (std::ranges::find(kKnown, quantity) == kKnown.end()) return {};
    const std::vector<double> time = trajectory.observables().time;
    if (time.size() < 2) return {};
    const Scene scene = parse_scene(trajectory.header().scene_source, trajectory.header().scene_path);
    const bool of_bulk = quantity == "pressure" || quantity == "virial_pressure";
    if (of_bulk || quantity == "temperature") {
        if (auto gas = adiabatic_course(trajectory, scene)) {
            return {course("adiabatic, equation of state", std::move(gas->time),
                           std::move(of_bulk ? gas->pressure : gas->temperature))};
        }
    }
    if (quantity == "wall_pressure") {
        if (const auto wave = standing_wave(trajectory, scene)) return wave_curves(*wave, time.front(), time.back());
    }
    if (of_bulk) {
        // Before, the gas need not fill its box; of a run that found no equilibrium the second half is looked at.
        const double from = equilibrated_since(trajectory).value_or(0.5 * (time.front() + time.back()));
        if (const auto pressure = theory_pressure(gas_facts(trajectory, scene, "", from))) {
            return {course("equation of state", {from, time.back()}, {*pressure, *pressure})};
        }
    }
    return {};
}

std::vector<double> box_over_room(const TrajectoryReader& trajectory) {
    const Scene scene = parse_scene(trajectory.header().scene_source, trajectory.header().scene_path);
    if (!adiabatic_course(trajectory, scene)) return {};
    const std::vector<double> time = trajectory.observables().time;
    const double radius = gas_facts(trajectory, scene, "", time.front()).radius;
    const double box = room_of(scene.box, radius).volume();
    std::vector<double> ratio;
    for (const double at : time) ratio.push_back(box / room_at(scene, at, radius).volume());
    return ratio;
}

}  // namespace carom
