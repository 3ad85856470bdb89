#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace carom {

/// One line of a figure.
struct Curve {
    std::string label;  ///< empty: none
    std::vector<double> x;
    std::vector<double> y;  ///< NaN leaves a gap
    bool dashed = false;
    bool thick = false;
    std::vector<double> error = {};  ///< standard errors, drawn as bars; NaN where there is none; empty: none at all
    bool band = false;               ///< the errors as a band around a line, not as bars
    bool points = false;             ///< no line
    int color = -1;                  ///< which of the colours; -1: by the curve's place
    int mean_of = -1;                ///< of the curve at that place: in a darker shade of its colour; -1: no mean
};

/// A figure of curves over one axis.
struct Figure {
    std::string title;
    std::string x_label;
    std::string y_label;
    std::vector<Curve> curves;
    std::optional<double> x_from = std::nullopt;  ///< where the axis begins; none: at the first point
    bool log_x = false;
    bool log_y = false;
    /// Labels of several curves stand where they hide nothing, if there is room; else outside the axes.
    bool key_inside = false;
};

/// The commands that make gnuplot draw `figure` into `path`; its ending chooses png, svg or pdf.
/// \throws InputError  another ending
std::string gnuplot_script(const Figure& figure, const std::string& path);

/// The commands that every figure begins with: the file, the title, in as many lines as it needs, lines and letters.
/// \throws InputError  an ending that is not .png, .svg or .pdf
std::string gnuplot_head(const std::string& title, const std::string& path);

/// Text as gnuplot's commands take it, shown as it is, without gnuplot's markup in it.
std::string gnuplot_literal(std::string_view text);

/// The same figure, of the commands for an .svg, for a page that is read on small screens too: fewer units wide, so
/// that letters are larger, with its title in more lines and its labels below the curves.
std::string for_small_screens(std::string script);

/// Runs gnuplot on a script that draws `path`.
/// \throws SystemError  gnuplot is not installed, or fails; or the file cannot be written
void run_gnuplot(const std::string& script, const std::string& path);

/// Draws with gnuplot.
/// \throws InputError   an ending that is not .png, .svg or .pdf
/// \throws SystemError  gnuplot is not installed, or fails; or the file cannot be written
void draw_figure(const Figure& figure, const std::string& path);

}  // namespace carom
