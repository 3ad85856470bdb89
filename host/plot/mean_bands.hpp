#pragma once

#include <map>
#include <string>

#include "host/io/trajectory_reader.hpp"
#include "host/plot/gnuplot.hpp"

namespace carom {

/// Adds to a figure over time the means of a run at equilibrium, each with a band of one standard error to either side
/// of it and in the words of its curve. \param names  of the stored means, by the curves' labels
void add_means(Figure& figure, const TrajectoryReader& trajectory, const std::map<std::string, std::string>& names);

}  // namespace carom
