#pragma once

#include <vector>

#include "host/plot/gnuplot.hpp"
#include "host/plot/run_average.hpp"
#include "host/plot/run_theory.hpp"
#include "host/state/box.hpp"

namespace carom {

/// A temperature profile between a hot and a cold wall beside Fourier's law with Enskog's conductivity at one pressure:
/// the curve, whose two constants are fitted to the slices farther than two mean free paths from the walls, and drawn
/// on to the walls; and the temperatures of these. None for another average, or where facts.heat_axis is another axis.
std::vector<Curve> conduction_curves(const GasFacts& facts, const Box& box, const RunAverage& profile);

}  // namespace carom
