#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "host/io/trajectory_reader.hpp"
#include "host/plot/ball_picture.hpp"
#include "host/plot/figure.hpp"
#include "host/plot/gnuplot.hpp"
#include "host/plot/image.hpp"
#include "host/plot/stored_run.hpp"

namespace carom {

/// Every quantity that there is a figure of: what all runs have over time, what theory has a curve for, the averages of
/// this one, and what its frames give besides.
std::vector<std::string> all_quantities(const TrajectoryReader& trajectory);

/// What of a quantity is drawn.
struct QuantityView {
    TimeWindow window = {};
    bool rows = false;       ///< over time, also where an average has that name
    bool residuals = false;  ///< less theory, in standard errors where there are any
    /// Less the first value, and over it where that is one number and not 0. None: where the energy or a momentum of
    /// one run is conserved, whose curve would be a flat line.
    std::optional<bool> drift = std::nullopt;
    bool absolute = false;  ///< the size of a residual or a drift, for a logarithmic axis
};

/// The figure of a quantity, over time or averaged, of one run or of several laid over each other.
/// \throws InputError  there is no such quantity, or it has no value, or no theory if that is to be taken off
Drawing quantity_figure(const std::vector<const TrajectoryReader*>& runs, const std::string& quantity,
                        const QuantityView& view = {});

/// Several quantities over one axis, that of a second unit to the right.
/// \throws InputError  also if they are not over the same axis, or of three units
Drawing quantities_figure(const std::vector<const TrajectoryReader*>& runs, const std::vector<std::string>& quantities,
                          const QuantityView& view = {});

/// How far rows went from their start: relative where there is one curve and it does not start at 0.
/// \param absolute  the size of it
Figure drift_of(Figure figure, bool absolute = false);

/// A picture of a stored frame.
/// \throws InputError  there is no such frame, or it holds no positions
Image draw_frame(const TrajectoryReader& trajectory, std::size_t index, const PictureOptions& options);

}  // namespace carom
