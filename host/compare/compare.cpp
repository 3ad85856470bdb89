#include "host/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "host/compare/bits.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

/// A run that cannot go on is a finding like any other.
template <class Body>
Findings section_or_fault(const char* name, Body body) {
    try {
        return body();
    } catch (const SimulationError& error) {
        return {.name = name,
                .checks = {{.name = name,
                            .verdict = Verdict::kBad,
                            .words = std::string("a run could not go on: ") + error.what()}}};
    }
}

/// The keys of a scene by which balls get heat or work.
std::vector<std::string> driving_keys(const Scene& scene) {
    std::vector<std::string> keys;
    const auto warm = [](const std::array<double, 2>& faces) { return faces[0] > 0.0 || faces[1] > 0.0; };
    if (std::ranges::any_of(scene.box.temperature, warm)) keys.emplace_back("box.wall_temperature");
    for (std::size_t k = 0; k < scene.walls.size(); ++k) {
        if (scene.walls[k].temperature > 0.0) keys.push_back(fmt::format("wall[{}].temperature", k));
        if (scene.walls[k].velocity != 0.0) keys.push_back(fmt::format("wall[{}].velocity", k));
    }
    if (scene.thermostat.kind != Thermostat::Kind::kNone) keys.emplace_back("thermostat.kind");
    if (!scene.stages.empty()) keys.emplace_back("[[stage]]");
    return keys;
}

}  // namespace

bool Comparison::good() const { return std::ranges::all_of(sections, &Findings::good); }

std::string not_comparable(const Scene& scene) {
    if (scene.physics.friction > 0.0 || scene.physics.wall_friction > 0.0) {
        return scene.path +
               ": the spring solver has no friction yet, so there is nothing to hold the event-driven run against; "
               "--set physics.friction=0 --set physics.wall_friction=0 compares the rest";
    }
    if (const std::vector<std::string> keys = driving_keys(scene); !keys.empty()) {
        return fmt::format(
            "{}: {} {} the balls; compared are scenes that nothing drives, because two solvers draw velocities at "
            "other "
            "moments, and theory is that of equilibrium; leave out wall temperatures, wall velocities, [thermostat] "
            "and "
            "[[stage]]",
            scene.path, fmt::join(keys, ", "), keys.size() == 1 ? "drives" : "drive");
    }
    return "";
}

Comparison compare_solvers(const PreparedScene& run, const CompareContext& context) {
    Comparison result;
    result.sections.push_back(section_or_fault("bits", [&] { return bits_section(run, context); }));
    result.sections.push_back(
        section_or_fault("convergence", [&] { return convergence_section(run, context, result.convergence); }));
    result.sections.push_back(
        section_or_fault("statistics", [&] { return statistics_section(run, context, result.gas); }));
    return result;
}

}  // namespace carom
