#pragma once

#include <string>
#include <vector>

#include "host/io/trajectory_reader.hpp"
#include "host/plot/figure.hpp"
#include "host/plot/stored_run.hpp"

namespace carom {

/// Whether a quantity is an average, over a run, of a figure of its own: by the name or the kind of an [[observe]], or
/// a kind that can be computed from the stored frames.
[[nodiscard]] bool is_average_quantity(const TrajectoryReader& trajectory, const std::string& quantity);

/// The figure of an average: data with error bars, and theory's curve where there is one. What the run did not observe
/// is computed from the frames of its second half, or of the window.
/// \param runs      the first is the one that the figure is about; others are overlaid
/// \throws InputError  there is no such quantity in one of them, or nothing to show
Drawing average_figure(const std::vector<const TrajectoryReader*>& runs, const std::string& quantity,
                       const TimeWindow& window = {});

}  // namespace carom
