#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/compare/context.hpp"
#include "host/compare/convergence.hpp"
#include "host/compare/gas_statistics.hpp"
#include "host/run/prepare.hpp"

namespace carom {

/// All that a comparison found.
struct Comparison {
    std::vector<Findings> sections;
    Convergence convergence;           ///< no rows where there was none
    std::optional<GasStatistics> gas;  ///< none where the scene is no gas

    [[nodiscard]] bool good() const;
};

/// Why the two solvers cannot be compared on a scene, and what can; empty if they can.
std::string not_comparable(const Scene& scene);

/// Holds the spring run of a scene against itself on other processors, against the event-driven run, and, for a gas,
/// against theory.
/// \throws InputError   balls overlap at the start
/// \throws Interrupted  a signal has come
Comparison compare_solvers(const PreparedScene& run, const CompareContext& context);

}  // namespace carom
