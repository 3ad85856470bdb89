#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "host/state/box.hpp"
#include "host/theory/gas_facts.hpp"

namespace carom {

/// Fourier's law with Enskog's conductivity for a gas of one pressure. Its two constants are fitted to the slices whose
/// middle is farther from each wall than two mean free paths at that wall's temperature.
struct ConductionLaw {
    TheoryCurve curve;       ///< temperature, drawn on to the walls
    double from = 0.0;       ///< where the law holds [length]
    double to = 0.0;         ///< [length]
    std::size_t slices = 0;  ///< that it is fitted to

    [[nodiscard]] bool holds_at(double at) const { return at >= from && at <= to; }
};

/// Of a temperature profile along facts.heat_axis; none for another average, for a gas that loses energy or balls or
/// has several kinds of them, and where fewer than four slices lie far enough from the walls.
std::optional<ConductionLaw> conduction_law(const GasFacts& facts, const Box& box, const RunAverage& profile);

/// What is drawn beside a temperature profile between a hot and a cold wall: the law, where there is one, and the
/// temperatures of the walls. None for another average, or where facts.heat_axis is another axis.
std::vector<TheoryCurve> conduction_curves(const GasFacts& facts, const Box& box, const RunAverage& profile);

}  // namespace carom
