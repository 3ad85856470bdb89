#pragma once

#include <string>
#include <vector>

#include "host/compare/statistics.hpp"
#include "host/compare/verdict.hpp"
#include "host/scene/design.hpp"

namespace carom {

/// What the checks must know besides what was measured.
struct GasScene {
    const Scene& scene;       ///< as the spring solver ran it
    const Scene& hard_scene;  ///< with the soft diameter
    const Balls& balls;
    const SpringDesign& design;
};

/// Holds a gas against theory and the two solvers against each other. Adds to `notes` what could not be held.
std::vector<Check> gas_checks(const GasStatistics& gas, const GasScene& described, std::vector<std::string>& notes);

}  // namespace carom
