#pragma once

#include <array>
#include <string>

#include "host/plot/gnuplot.hpp"

namespace carom {

/// What an axis shows.
struct AxisLimits {
    double low = 0.0;
    double high = 1.0;
};

/// What a label takes of the axes that it stands in: of their width a letter and what is beside the text, of their
/// height a line.
struct KeySize {
    double letter = 0.012;  // of a .pdf, whose letters are the largest, and with a little air
    double sample = 0.08;
    double line = 0.068;
};

/// Where labels may stand, in gnuplot's words, the best first; beside the axes; and below, if they are long.
inline constexpr std::array kKeysInside{"inside right top",    "inside left top",     "inside left bottom",
                                        "inside right bottom", "inside right center", "inside left center"};
inline constexpr const char* kKeyOutside = "outside right top";
inline constexpr const char* kKeyBelow = "below";

AxisLimits x_limits(const Figure& figure);

/// Equal values everywhere would give gnuplot a range of nothing, and rounding noise on a conserved quantity a range of
/// its own; so the range is at least a little of the largest value.
AxisLimits y_limits(const Figure& figure);

/// Where at an edge the labels of a figure's curves hide nothing, for gnuplot's `set key`; if nowhere, outside the
/// axes.
std::string place_of_key(const Figure& figure, const AxisLimits& x_axis, const AxisLimits& y_axis,
                         const KeySize& size = {});

}  // namespace carom
