#pragma once

#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "host/plot/gnuplot.hpp"
#include "host/scene/units.hpp"
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
    bool hollow = false;             ///< points, not filled
    bool marked = false;             ///< a point at each value of the line
    bool boxes = false;              ///< no line, but a box from 0 to each value
    int color = -1;                  ///< which of the colours; -1: by the curve's place
    int mean_of = -1;                ///< of the curve at that place: in a darker shade of its colour; -1: no mean
    bool theory = false;             ///< not measured
    bool right = false;              ///< read off the axis to the right
};

/// What an axis shows, where it is not to be found from the data.
struct AxisRange {
    std::optional<double> low = std::nullopt;
    std::optional<double> high = std::nullopt;

    [[nodiscard]] bool given() const { return low || high; }
    [[nodiscard]] bool holds(double value) const { return !(low && value < *low) && !(high && value > *high); }
};

/// \throws InputError  a range that the user asked for is open at one end, and holds nothing
void require_within(const AxisRange& range, double least, double most, const char* axis);

/// A figure of curves over one axis. A logarithmic axis shows whole decades. Labels of several curves stand below.
struct Figure {
    std::string title;
    std::string x_label;
    std::string y_label;
    std::vector<Curve> curves;
    std::optional<double> x_from = std::nullopt;  ///< where the axis begins; none: at the first point
    std::optional<double> x_to = std::nullopt;    ///< where it ends; none: at the last point
    bool log_x = false;
    bool log_y = false;
    std::string x_unit = {};  ///< as H5MD writes it; shown behind the label as `units` says
    std::string y_unit = {};
    std::string right_label = {};  ///< of the axis to the right, if a curve needs one
    std::string right_unit = {};
    UnitNames units = {};
    AxisRange x_range = {};
    AxisRange y_range = {};
    double y_least = 0.0;  ///< that the axis shows to either side of 0, however little the curves differ from it
};

/// A quantity over two axes, in colours, and arrows over it.
struct MapFigure {
    std::string title;
    std::string x_label;
    std::string y_label;
    std::string label;  ///< of the colours
    std::string x_unit = {};
    std::string y_unit = {};
    std::string unit = {};
    UnitNames units = {};
    AxisRange x_range = {};
    AxisRange y_range = {};
    AxisRange colors = {};
    double ratio = 1.0;                           ///< of the height to the width
    std::array<double, 2> cell = {1.0, 1.0};      ///< how wide and how high each is
    std::vector<std::vector<double>> cells = {};  ///< x, y, the value, and along x and y the arrow, if there are any
    double arrow_scale = 0.0;                     ///< lengths of x per value of an arrow; 0: no arrows
};

using Drawing = std::variant<Figure, MapFigure>;

/// What a user asks of a figure, beside what it shows.
struct FigureWishes {
    AxisRange x = {};
    AxisRange y = {};
    AxisRange colors = {};
    std::optional<bool> log_x = std::nullopt;
    std::optional<bool> log_y = std::nullopt;
    bool units = true;
};

/// \throws InputError  the figure has no such axis, or nothing that a logarithmic one could show
void apply_wishes(const FigureWishes& wishes, Drawing& drawing);
/// The same of a range alone, for figures that gnuplot is told of otherwise. \param axis  "x"
void add_range(Script& script, Word axis, const AxisRange& range);

/// Theory's curves are black; one beside a better one is in colour and thin.
Curve drawn(TheoryCurve curve);
std::vector<Curve> drawn(std::vector<TheoryCurve> curves);

/// What several curves' labels stand below, in gnuplot's words.
inline constexpr Word kKeyBelow = "below Left reverse samplen 2.5 spacing 1.3";

/// Draws a figure without its title; of a figure that was drawn before on the same page nothing stays.
/// \param room  for labels; longer ones take several lines
void add_figure(Script& script, const Figure& figure, const LabelRoom& room = {});

/// The commands that make gnuplot draw a figure. \throws InputError  as figure_head
Script figure_script(const Drawing& drawing, const Canvas& canvas);

/// What a figure shows, for who does not see it: what over what, and each curve with the least and the most of it.
std::string figure_words(const Drawing& drawing);

/// The numbers of a figure as a table: a line for each point, of a curve by its label.
std::string figure_csv(const Drawing& drawing);

/// A field of such a table; a number that is none is empty. \throws InputError  as figure_text
std::string csv_field(const std::string& words);
std::string csv_number(double value);

/// "label [unit]" for the axis of a figure; units as H5MD writes them ("kg m s-1") with exponents and dots, in the
/// names that the scene gives them.
std::string axis_label(const std::string& label, const std::string& unit, const UnitNames& names = {});

}  // namespace carom
