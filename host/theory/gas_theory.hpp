#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/theory/gas_facts.hpp"

namespace carom {

/// The curve of theory for an average (of a temperature profile in equilibrium, the run's mean), in the same units,
/// over the range of its x; none where there is no theory. A profile under gravity has two: of point particles, and of
/// hard balls. \param x_from, x_to  where it is drawn
std::vector<TheoryCurve> theory_curves(const GasFacts& facts, const Scene& scene, const AverageInfo& info,
                                       double x_from, double x_to);

/// A number of theory, and what it may itself be off by.
struct ScalarTheory {
    std::string name;
    double value = 0.0;
    double uncertainty = 0.0;
};

/// What a gas without gravity has for an average that is a single number, by its kind; none where there is no theory.
/// \param component  of a stress: "xx", "xy", ...; else empty
std::optional<ScalarTheory> theory_scalar(const GasFacts& facts, const std::string& kind,
                                          const std::string& component = "");

/// Theory's curve for a column of a table over one axis, where their names say what they are: `compressibility` over
/// "packing_fraction [disks]" or "packing_fraction [spheres]"; none for all else. It ends where theory does.
std::optional<TheoryCurve> table_theory(const std::string& axis, const std::string& quantity, double from, double to);

}  // namespace carom
