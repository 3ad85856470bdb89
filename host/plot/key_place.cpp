#include "host/plot/key_place.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>

namespace carom {

namespace {

constexpr double kWidest = 0.36;  // of the axes' width: what labels may take of it

double error_at(const Curve& curve, std::size_t k) {
    return k < curve.error.size() && std::isfinite(curve.error[k]) ? curve.error[k] : 0.0;
}

/// Where between the ends of an axis a value is drawn: 0 to 1.
double share_of(const AxisLimits& limits, double value, bool logarithmic) {
    if (!logarithmic) return (value - limits.low) / (limits.high - limits.low);
    return value > 0.0 ? std::log(value / limits.low) / std::log(limits.high / limits.low) : -1.0;
}

/// Whether anything is drawn in a part of the figure, all shares of its axes. A line is looked at in steps that are
/// smaller than any label.
bool is_free(const Figure& figure, const AxisLimits& x_axis, const AxisLimits& y_axis, const AxisLimits& x,
             const AxisLimits& y) {
    constexpr int kSteps = 32;
    const auto across = [&](const Curve& curve, std::size_t k) { return share_of(x_axis, curve.x[k], figure.log_x); };
    const auto up = [&](double value) { return share_of(y_axis, value, figure.log_y); };
    const auto within = [](const AxisLimits& part, double at) { return at >= part.low && at <= part.high; };
    for (const Curve& curve : figure.curves) {
        for (std::size_t k = 0; k < curve.x.size(); ++k) {
            if (!std::isfinite(curve.y[k])) continue;
            const double error = error_at(curve, k);
            const bool beside = up(curve.y[k] + error) < y.low || up(curve.y[k] - error) > y.high;
            if (within(x, across(curve, k)) && !beside) return false;
            const bool line = !curve.points && k > 0 && std::isfinite(curve.y[k - 1]);
            for (int step = 1; line && step < kSteps; ++step) {
                const double share = static_cast<double>(step) / kSteps;
                const double at = across(curve, k - 1) + share * (across(curve, k) - across(curve, k - 1));
                const double height = up(curve.y[k - 1]) + share * (up(curve.y[k]) - up(curve.y[k - 1]));
                if (within(x, at) && within(y, height)) return false;
            }
        }
    }
    return true;
}

}  // namespace

/// Equal values everywhere would give gnuplot a range of nothing, and rounding noise on a conserved quantity a range
/// of its own; so the range is at least a little of the largest value.
AxisLimits y_limits(const Figure& figure) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    bool any_negative = false;
    for (const Curve& curve : figure.curves) {
        if (curve.dashed && !curve.thick) continue;  // for comparison only: may be cut off
        for (std::size_t k = 0; k < curve.y.size(); ++k) {
            const double error = error_at(curve, k);
            if (!std::isfinite(curve.y[k]) || (figure.log_y && !(curve.y[k] > 0.0))) continue;
            any_negative = any_negative || curve.y[k] < 0.0;
            low = std::min(low, figure.log_y ? curve.y[k] : curve.y[k] - error);
            high = std::max(high, curve.y[k] + error);
        }
    }
    if (!any_negative) {
        low = std::max(low, 0.0);  // bars may reach below what there can be
        // Densities and the like begin at 0, when they nearly do.
        const bool measured = std::ranges::any_of(figure.curves, &Curve::points);
        if (measured && !figure.log_y && low < 0.1 * high) low = 0.0;
    }
    if (!(low <= high)) return figure.log_y ? AxisLimits{0.1, 10.0} : AxisLimits{-1.0, 1.0};
    if (figure.log_y) return {0.8 * low, 1.25 * high};
    constexpr double kLeast = 1e-3;
    const double size = std::max(std::abs(low), std::abs(high));
    double margin = 0.06 * (high - low);
    if (high - low < kLeast * size) margin = kLeast * size;
    if (size == 0.0) margin = 1.0;
    return {low == 0.0 ? low : low - margin, high + margin};
}

AxisLimits x_limits(const Figure& figure) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const Curve& curve : figure.curves) {
        for (const double x : curve.x) {
            if (figure.log_x && !(x > 0.0)) continue;
            low = std::min(low, x);
            high = std::max(high, x);
        }
    }
    return {figure.x_from.value_or(low), high};
}

std::string place_of_key(const Figure& figure, const AxisLimits& x_axis, const AxisLimits& y_axis,
                         const KeySize& size) {
    std::size_t letters = 0;
    for (const Curve& curve : figure.curves) letters = std::max(letters, curve.label.size());
    const auto lines = std::ranges::count_if(figure.curves, [](const Curve& curve) { return !curve.label.empty(); });
    const double width = size.sample + size.letter * static_cast<double>(letters);
    const double height = size.line * (static_cast<double>(lines) + 0.5);
    const AxisLimits bottom{0.0, height};
    const AxisLimits top{1.0 - height, 1.0};
    const AxisLimits middle{0.5 * (1.0 - height), 0.5 * (1.0 + height)};
    const AxisLimits left{0.0, width};
    const AxisLimits right{1.0 - width, 1.0};
    const std::array places{top, top, bottom, bottom, middle, middle};
    for (std::size_t k = 0; k < kKeysInside.size(); ++k) {
        const bool at_left = std::string_view(kKeysInside[k]).find("left") != std::string_view::npos;
        if (is_free(figure, x_axis, y_axis, at_left ? left : right, places[k])) return kKeysInside[k];
    }
    return width > kWidest ? kKeyBelow : kKeyOutside;
}

}  // namespace carom
