#pragma once

#include <string>

#include "host/io/trajectory_reader.hpp"

namespace carom {

/// One HTML page about a stored run that needs nothing but itself: scene, machine, what the run came to, what was
/// measured beside theory, its first and last balls, and every figure. Pictures are inside, scripts there are none, and
/// a browser is told to fetch nothing.
/// \throws SystemError  gnuplot is not installed, or no temporary file can be written
std::string report_page(const TrajectoryReader& trajectory);

}  // namespace carom
