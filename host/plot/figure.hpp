#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "host/plot/gnuplot.hpp"
#include "host/theory/measured_run.hpp"

namespace carom {

/// Okabe and Ito 2008, black last: told apart by the colour-blind too.
inline constexpr std::array<Word, 7> kCurveColors{"#0072B2", "#E69F00", "#009E73", "#D55E00",
                                                  "#CC79A7", "#56B4E9", "#444444"};

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
    bool marked = false;             ///< a point at each value of the line
    bool boxes = false;              ///< no line, but a box from 0 to each value
    int color = -1;                  ///< which of the colours; -1: by the curve's place
    int mean_of = -1;                ///< of the curve at that place: in a darker shade of its colour; -1: no mean
};

/// A figure of curves over one axis. A logarithmic axis shows whole decades. Labels of several curves stand below.
struct Figure {
    std::string title;
    std::string x_label;
    std::string y_label;
    std::vector<Curve> curves;
    std::optional<double> x_from = std::nullopt;  ///< where the axis begins; none: at the first point
    bool log_x = false;
    bool log_y = false;
};

/// Theory's curves are black; one beside a better one is in colour and thin.
Curve drawn(TheoryCurve curve);
std::vector<Curve> drawn(std::vector<TheoryCurve> curves);

/// What several curves' labels stand below, in gnuplot's words.
inline constexpr Word kKeyBelow = "below Left reverse samplen 2.5 spacing 1.3";

/// Draws a figure without its title; of a figure that was drawn before on the same page nothing stays.
void add_figure(Script& script, const Figure& figure);

/// The commands that make gnuplot draw a figure. \throws InputError  as figure_head
Script figure_script(const Figure& figure, const Canvas& canvas);

/// "label [unit]" for the axis of a figure; units as H5MD writes them ("kg m s-1") with exponents and dots.
std::string axis_label(const std::string& label, const std::string& unit);

}  // namespace carom
