#include "host/plot/unit_text.hpp"

#include <fmt/format.h>

#include <array>

namespace carom {

namespace {

/// H5MD writes units as "kg m s-1"; a figure may use exponents.
std::string unit_text(const std::string& unit) {
    std::string text;
    for (std::size_t k = 0; k < unit.size(); ++k) {
        if (unit[k] == ' ') {
            text += "\u00b7";
        } else if (unit[k] == '-') {
            text += "\u207b";
        } else if (unit[k] >= '1' && unit[k] <= '3') {
            static constexpr std::array kRaised{"\u00b9", "\u00b2", "\u00b3"};
            text += kRaised[static_cast<std::size_t>(unit[k] - '1')];
        } else {
            text += unit[k];
        }
    }
    return text;
}

}  // namespace

std::string axis_label(const std::string& label, const std::string& unit) {
    return unit.empty() ? label : fmt::format("{} [{}]", label, unit_text(unit));
}

}  // namespace carom
