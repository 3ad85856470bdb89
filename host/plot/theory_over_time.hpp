#pragma once

#include <string>
#include <vector>

#include "host/io/trajectory_reader.hpp"
#include "host/plot/gnuplot.hpp"

namespace carom {

/// Theory's curves beside a quantity of a run's rows, or a group of them ("pressure"): what slow walls make of a gas,
/// sound between walls at rest, and for the second half p = Z n T at the temperature that the run had then. None where
/// there is no theory.
std::vector<Curve> theory_over_time(const TrajectoryReader& trajectory, const std::string& quantity);

/// For a gas that slow walls compress, whose pressure theory_over_time has: by what its virial pressure, which is of
/// the whole box, is that of the room that walls leave to centres; one per row. Empty for other runs.
std::vector<double> box_over_room(const TrajectoryReader& trajectory);

}  // namespace carom
