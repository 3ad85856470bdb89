#include "host/compare/compare.hpp"

#include <algorithm>

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

}  // namespace

bool Comparison::good() const { return std::ranges::all_of(sections, &Findings::good); }

std::string not_comparable(const Scene& scene) {
    if (scene.physics.friction > 0.0 || scene.physics.wall_friction > 0.0) {
        return scene.path +
               ": the spring solver has no friction yet, so there is nothing to hold the event-driven run against; "
               "--set physics.friction=0 --set physics.wall_friction=0 compares the rest";
    }
    if (scene.driven()) {
        return scene.path +
               ": thermal or moving walls, a thermostat or stages drive this scene, and what they do to a gas is not "
               "what the verdicts of a comparison are about; compare it without them";
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
