#pragma once

#include <string>
#include <vector>

namespace carom {

/// One line of a figure.
struct Curve {
    std::string label;
    std::vector<double> x;
    std::vector<double> y;  ///< NaN leaves a gap
    bool dashed = false;
    bool thick = false;
};

/// A figure of curves over one axis.
struct Figure {
    std::string title;
    std::string x_label;
    std::string y_label;
    std::vector<Curve> curves;
};

/// The commands that make gnuplot draw `figure` into `path`; its ending chooses png, svg or pdf.
/// \throws InputError  another ending
std::string gnuplot_script(const Figure& figure, const std::string& path);

/// Draws with gnuplot.
/// \throws InputError   an ending that is not .png, .svg or .pdf
/// \throws SystemError  gnuplot is not installed, or fails; or the file cannot be written
void draw_figure(const Figure& figure, const std::string& path);

}  // namespace carom
