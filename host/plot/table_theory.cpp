#include "host/plot/table_theory.hpp"

#include <algorithm>
#include <cstddef>

#include "kernels/physics/equation_of_state.hpp"

namespace carom {

std::optional<Curve> table_theory(const std::string& axis, const std::string& quantity, double from, double to) {
    const bool disks = axis == "packing_fraction [disks]";
    if (quantity != "compressibility" || (!disks && axis != "packing_fraction [spheres]")) return std::nullopt;
    constexpr std::size_t kPoints = 200;
    const int dimension = disks ? 2 : 3;
    const double end = std::min(to, largest_fluid_fraction(dimension));
    if (!(from < end)) return std::nullopt;
    Curve curve;
    curve.label = disks ? "Kolafa and Rottner 2006" : "Carnahan and Starling, Kolafa";
    for (std::size_t k = 0; k <= kPoints; ++k) {
        curve.x.push_back(from + (end - from) * static_cast<double>(k) / kPoints);
        curve.y.push_back(hard_compressibility(dimension, curve.x.back()));
    }
    return curve;
}

}  // namespace carom
