#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "host/compare/context.hpp"
#include "host/compare/gas_run.hpp"
#include "host/compare/verdict.hpp"
#include "host/run/prepare.hpp"

namespace carom {

/// The gas of a scene as both solvers have it.
struct GasStatistics {
    int dimension = 2;
    GasPlan plan;       ///< of the spring run
    double loss = 0.0;  ///< by which hard balls that behave like the springs are smaller in diameter [length]
    GasMeasured spring;
    GasMeasured hard;        ///< of balls with the soft diameter; its times are scaled to the spring's temperature
    double hard_rate = 0.0;  ///< collisions per ball and time, at the spring's temperature
};

/// Why a scene has no statistics of a gas; empty if it has.
std::string no_gas(const Scene& scene, const Balls& balls);

/// The part of `carom compare` on gases: the spring solver, in the scene's own precision, against theory and against
/// the event-driven run of hard balls of the soft diameter. `result` gets what was measured, for drawing.
Findings statistics_section(const PreparedScene& run, const CompareContext& context,
                            std::optional<GasStatistics>& result);

}  // namespace carom
