#pragma once

#include <string>

#include "host/compare/compare.hpp"
#include "host/plot/gnuplot.hpp"

namespace carom {

/// The commands that make gnuplot draw one page of a comparison's figures into `path`: the deviation over time and over
/// stiffness, and for a gas the speeds, the displacements and how far each figure is from what is expected.
/// \throws InputError  an ending that is not .png, .svg or .pdf
Script comparison_page_script(const Comparison& comparison, const Scene& scene, const Canvas& canvas);

/// Draws it.
/// \throws InputError, SystemError  as figure_head and run_gnuplot
void draw_comparison(const Comparison& comparison, const Scene& scene, const std::string& path, bool replace);

}  // namespace carom
