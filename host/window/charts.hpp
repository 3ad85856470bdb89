#pragma once

#include <span>
#include <string>
#include <vector>

#include "host/window/panels.hpp"
#include "host/window/statistics.hpp"

namespace carom {

/// Bars for what was counted and a line for the theory, in the present panel.
void draw_distribution(const Distribution& distribution);

/// Kinetic and total energy over time, in the present panel.
void draw_energies(const EnergyHistory& history);

}  // namespace carom
