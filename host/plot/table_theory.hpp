#pragma once

#include <optional>
#include <string>

#include "host/plot/gnuplot.hpp"

namespace carom {

/// Theory's curve for a column of a table over one axis, where their names say what they are: `compressibility` over
/// "packing_fraction [disks]" or "packing_fraction [spheres]"; none for all else. It ends where theory does.
std::optional<Curve> table_theory(const std::string& axis, const std::string& quantity, double from, double to);

}  // namespace carom
