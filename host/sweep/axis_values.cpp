#include "host/sweep/axis_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "host/state/errors.hpp"

namespace carom {

namespace {

constexpr double kMostValues = 1e7;
constexpr double kHit = 1e-9;  // of a step; a person who means another number of steps is farther off
constexpr double kRounding = 8.0 * std::numeric_limits<double>::epsilon();  // of the ends and the step, all decimals
constexpr int kMostDecimals = 17;  // beyond these a double's own rounding shows

/// Digits after the point that the shortest decimal has: 3 for 0.025 and for 2.5e-2.
int decimals_of(double value) {
    const std::string shortest = fmt::format("{}", std::abs(value));
    int exponent = 0;
    std::string_view mantissa = shortest;
    if (const auto e = shortest.find('e'); e != std::string::npos) {
        exponent = std::stoi(shortest.substr(e + 1));
        mantissa = mantissa.substr(0, e);
    }
    const auto point = mantissa.find('.');
    const int after = point == std::string_view::npos ? 0 : static_cast<int>(mantissa.size() - point - 1);
    return std::max(0, after - exponent);
}

double rounded(double value, int decimals) {
    if (decimals > kMostDecimals) return value;
    const std::string text = fmt::format("{:.{}f}", value, decimals);
    double result = 0.0;
    std::from_chars(text.data(), text.data() + text.size(), result);
    return result + 0.0;  // no negative zero
}

}  // namespace

std::string decimal_text(double value) { return fmt::format("{}", value + 0.0); }

std::vector<double> stepped_values(double from, double to, double step) {
    if (step == 0.0) throw InputError("step must not be 0");
    const double steps = (to - from) / step;
    if (!(steps > -kHit)) throw InputError(fmt::format("step {} leads away from {} to {}", step, from, to));
    if (!(steps < kMostValues)) throw InputError(fmt::format("these are more than {} values", kMostValues));
    const double whole = std::round(steps);
    const int decimals = std::max(decimals_of(from), decimals_of(step));
    if (std::abs(steps - whole) > kHit + kRounding * (std::abs(from) + std::abs(to)) / std::abs(step)) {
        throw InputError(fmt::format("steps of {} from {} do not hit {}: the nearest is {}", step, from, to,
                                     rounded(from + whole * step, decimals)));
    }
    std::vector<double> values;
    for (double k = 0.0; k <= whole; k += 1.0) values.push_back(rounded(from + k * step, decimals));
    return values;
}

}  // namespace carom
