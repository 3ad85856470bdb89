#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "host/io/trajectory_reader.hpp"
#include "host/plot/ball_picture.hpp"
#include "host/plot/gnuplot.hpp"
#include "host/plot/image.hpp"

namespace carom {

/// Every quantity that there is a figure of: what all runs have over time, what theory has a curve for, the averages of
/// this one, and what its frames give besides.
std::vector<std::string> all_quantities(const TrajectoryReader& trajectory);

/// The commands for the figure of a quantity, over time or averaged, of one run or of several laid over each other.
/// \throws InputError  there is no such quantity, or it has no value; or an ending that is not .png, .svg, .pdf
Script quantity_script(const std::vector<const TrajectoryReader*>& runs, const std::string& quantity,
                       const Canvas& canvas);

/// A picture of a stored frame.
/// \throws InputError  there is no such frame
Image draw_frame(const TrajectoryReader& trajectory, std::size_t index, const PictureOptions& options);

}  // namespace carom
