#pragma once

#include <string>
#include <vector>

#include "host/plot/gnuplot.hpp"

namespace carom {

/// What can be drawn of a file of `carom bench`: "speed", "double", "limit", "threads", "events".
const std::vector<std::string>& bench_quantities();

/// The commands that make gnuplot draw a quantity of a file of `carom bench` into `path`, a panel a dimension, both
/// axes logarithmic, bars where repeats differed:
///   speed    ball-steps/s over the number of balls in single precision: carom's step at each packing fraction; the
///            textbook algorithm and integration alone at the middle one; and what the memory's bandwidth allows
///   double   the same in double precision
///   limit    carom's step as a share of that limit
///   threads  carom's step over the CPU's threads, the largest gas of each packing fraction, and what would be ideal
///   events   events/s of the event-driven solver
/// Where a processor was measured with several counts of threads, the fastest counts (but for `threads`).
/// \throws InputError   the file is not one of carom bench, or holds nothing of this quantity; or another ending than
///                      .png, .svg, .pdf
/// \throws SystemError  it cannot be read
Script bench_figure_script(const std::string& file, const std::string& quantity, const Canvas& canvas);

/// The same for a text; `file` stands for it in messages.
Script bench_figure_script_of(const std::string& text, const std::string& file, const std::string& quantity,
                              const Canvas& canvas);

}  // namespace carom
