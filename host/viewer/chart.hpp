#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/plot/figure.hpp"
#include "host/viewer/color_map.hpp"
#include "host/viewer/renderer.hpp"

namespace carom {

/// The least and the most of each of so many columns of an axis, in its order: a line through them looks as one through
/// all points does, however many there are. What is not finite is left out; where a column has nothing else, a NaN
/// breaks the line. \pre x grows
std::vector<std::pair<double, double>> outline_of(std::span<const double> x, std::span<const double> y,
                                                  std::size_t columns);

/// The texts of an axis' ticks, and where they are. Where the numbers are long and differ in their last digits alone,
/// they are told from a common one.
struct Ticks {
    std::vector<std::pair<double, std::string>> marks;
    std::string from;  ///< that common one; empty: none
};
/// \param most         of them, about
/// \param logarithmic  then low and high are powers of ten
Ticks ticks_of(double low, double high, int most, bool logarithmic);

/// "speed [m·s⁻¹]", as axis_label; without a font, where letters have no superscripts, as H5MD writes it.
std::string chart_label(const std::string& label, const std::string& unit, const UnitNames& names);

/// What a figure's axes span. Where one is logarithmic, powers of ten.
class ChartAxes {
public:
    /// None where there is nothing to show.
    static std::optional<ChartAxes> of(const Figure& figure);

    /// From 0 to 1 along the axes; x is not limited to that.
    [[nodiscard]] double across(double x) const { return (on(x, log_x_) - x0_) / (x1_ - x0_); }
    [[nodiscard]] double up(double y) const { return (on(y, log_y_) - y0_) / (y1_ - y0_); }
    [[nodiscard]] Ticks x_ticks(int most) const { return ticks_of(x0_, x1_, most, log_x_); }
    [[nodiscard]] Ticks y_ticks(int most) const { return ticks_of(y0_, y1_, most, log_y_); }
    /// The same of a tick.
    [[nodiscard]] double across_tick(double value) const { return (value - x0_) / (x1_ - x0_); }
    [[nodiscard]] double up_tick(double value) const { return (value - y0_) / (y1_ - y0_); }

private:
    [[nodiscard]] static double on(double value, bool logarithmic);

    bool log_x_ = false;
    bool log_y_ = false;
    double x0_ = 0.0;
    double x1_ = 1.0;
    double y0_ = 0.0;
    double y1_ = 1.0;
};

/// Of a figure's curve; theory's is grey. \param dark  the ground is
Color chart_color(const Figure& figure, std::size_t curve, bool dark);

/// A rectangle of a picture [pixels].
struct ChartPlace {
    float left = 0.0f;
    float top = 0.0f;
    float right = 0.0f;
    float bottom = 0.0f;
};

/// A figure as part of a picture. \param scale  as overlay_scale
/// \param time  a place of the x axis: what comes behind it is faint; none: all is shown
void add_chart(LineList& lines, const Figure& figure, const ChartPlace& place, const Theme& theme, float scale,
               const std::optional<double>& time);

}  // namespace carom
