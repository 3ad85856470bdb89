#pragma once

#include <string>

namespace carom {

/// "label [unit]" for the axis of a figure; units as H5MD writes them ("kg m s-1") with exponents and dots.
std::string axis_label(const std::string& label, const std::string& unit);

}  // namespace carom
