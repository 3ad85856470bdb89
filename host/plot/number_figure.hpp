#pragma once

#include <string>
#include <vector>

#include "host/io/trajectory_reader.hpp"
#include "host/plot/gnuplot.hpp"

namespace carom {

/// Whether the run has an average of that name, or else of that kind, which is a single number and has a figure of its
/// own: names of rows and of groups of them, such as temperature and pressure, mean these unless an average is called
/// so.
[[nodiscard]] bool is_number_quantity(const TrajectoryReader& trajectory, const std::string& quantity);

/// How an average that is a single number settles: the average so far at each frame with its standard error as a band,
/// a curve per component, beside theory's number.
/// \throws InputError  it has no value in a run
Figure number_figure(const std::vector<const TrajectoryReader*>& runs, const std::string& quantity);

}  // namespace carom
