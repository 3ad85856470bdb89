#pragma once

#include <string>

#include "host/plot/key_place.hpp"

namespace carom {

/// Labels of a logarithmic axis and, between them, small tics: gnuplot itself labels decades alone, of which an axis
/// may show one or none. Nothing for axes on which even all digits are too few; gnuplot's own tics stay there.
std::string logarithmic_tics(char axis, const AxisLimits& limits);

}  // namespace carom
