#include "host/viewer/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "host/plot/image.hpp"
#include "host/plot/letters.hpp"
#include "host/viewer/painter.hpp"

namespace carom {

std::vector<std::pair<double, double>> outline_of(std::span<const double> x, std::span<const double> y,
                                                  std::size_t columns) {
    std::vector<std::pair<double, double>> points;
    if (x.empty()) return points;
    const double begin = x.front();
    const double length = x.back() - begin;
    const auto column_of = [&](std::size_t row) {
        const double share = length > 0.0 ? (x[row] - begin) / length : 0.0;
        return static_cast<std::size_t>(share * static_cast<double>(columns));
    };
    for (std::size_t k = 0; k < x.size();) {
        const std::size_t first = k;
        const std::size_t column = column_of(first);
        std::optional<std::size_t> least;
        std::optional<std::size_t> most;
        for (; k < x.size() && column_of(k) == column; ++k) {
            if (!std::isfinite(y[k])) continue;
            if (!least || y[k] < y[*least]) least = k;
            if (!most || y[k] > y[*most]) most = k;
        }
        if (!least) {
            if (!points.empty() && !std::isnan(points.back().second)) points.emplace_back(x[first], std::nan(""));
            continue;
        }
        points.emplace_back(x[std::min(*least, *most)], y[std::min(*least, *most)]);
        if (*least != *most) points.emplace_back(x[std::max(*least, *most)], y[std::max(*least, *most)]);
    }
    return points;
}

Ticks ticks_of(double low, double high, int most, bool logarithmic) {
    Ticks ticks;
    if (logarithmic) {
        const double every = std::max(1.0, std::ceil((high - low) / std::max(1, most)));
        for (double power = std::ceil(low - 1e-9); power <= high + 1e-9; power += every) {
            ticks.marks.emplace_back(power, fmt::format("1e{:.0f}", power + 0.0));
        }
        return ticks;
    }
    const std::vector<double> values = round_values(low, high, most);
    if (values.empty()) return ticks;
    const double step = values.size() > 1 ? values[1] - values[0] : std::abs(values[0]);
    const double largest = std::max(std::abs(values.front()), std::abs(values.back()));
    constexpr int kMostDigits = 7;
    constexpr int kLeastDigits = 6;  // fewer would write 12000 as 1.2e+04
    const int digits = largest > 0.0 && step > 0.0
                           ? static_cast<int>(std::floor(std::log10(largest)) - std::floor(std::log10(step))) + 1
                           : 1;
    const double from = digits > kMostDigits ? values.front() : 0.0;
    if (from != 0.0) ticks.from = fmt::format("{:.{}g}", from, std::min(digits, 15));
    for (const double value : values) {
        ticks.marks.emplace_back(
            value, fmt::format("{:.{}g}", value - from, from != 0.0 ? 3 : std::max(kLeastDigits, digits)));
    }
    return ticks;
}

std::string chart_label(const std::string& label, const std::string& unit, const UnitNames& names) {
    if (Letters::there()) return axis_label(label, unit, names);
    constexpr unsigned char kBeyondLatin = 0xC4;  // such bytes begin letters that there are none of
    const auto lacks = [](char c) { return static_cast<unsigned char>(c) >= kBeyondLatin; };
    std::string said = names.of(unit);
    if (std::ranges::any_of(said, lacks)) said = names.reduced ? "" : unit;
    return said.empty() ? label : fmt::format("{} [{}]", label, said);
}

double ChartAxes::on(double value, bool logarithmic) {
    constexpr double kLeast = 1e-300;
    return logarithmic ? std::log10(std::max(value, kLeast)) : value;
}

namespace {

/// Makes room for a value, if a logarithmic axis can show it.
void widen(double value, bool logarithmic, double& low, double& high) {
    if (!std::isfinite(value) || (logarithmic && value <= 0.0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
}

}  // namespace

std::optional<ChartAxes> ChartAxes::of(const Figure& figure) {
    constexpr double kFar = std::numeric_limits<double>::infinity();
    double x0 = kFar;
    double x1 = -kFar;
    double y0 = kFar;
    double y1 = -kFar;
    std::size_t points = 0;
    for (const Curve& curve : figure.curves) {
        points = std::max(points, curve.x.size());
        for (const double x : curve.x) widen(x, figure.log_x, x0, x1);
        for (const double y : curve.y) widen(y, figure.log_y, y0, y1);
        if (curve.boxes) y0 = std::min(y0, 0.0);
    }
    x0 = figure.x_from.value_or(x0);
    x1 = figure.x_to.value_or(x1);
    if (points < 2 || !(x1 > x0) || !(y1 >= y0)) return std::nullopt;
    if (figure.log_y) {
        constexpr double kMargin = 1.25;
        y0 /= kMargin;
        y1 *= kMargin;
    } else {
        // What is at 0, or near it beside its own size, is seen to be.
        if (y0 > 0.0 && y0 < 0.5 * y1) y0 = 0.0;
        if (y1 < 0.0 && y1 > 0.5 * y0) y1 = 0.0;
        const double least = 1e-12 * std::max(std::abs(y0), std::abs(y1));
        const double margin = y1 - y0 > least ? 0.06 * (y1 - y0) : std::max(0.5 * std::abs(y0), 1e-300);
        if (y0 != 0.0) y0 -= margin;
        y1 += margin;
    }
    ChartAxes axes;
    axes.log_x_ = figure.log_x;
    axes.log_y_ = figure.log_y;
    axes.x0_ = on(x0, figure.log_x);
    axes.x1_ = on(x1, figure.log_x);
    axes.y0_ = on(y0, figure.log_y);
    axes.y1_ = on(y1, figure.log_y);
    return axes;
}

Color chart_color(const Figure& figure, std::size_t curve, bool dark) {
    if (figure.curves[curve].theory) return dark ? Color{0.88f, 0.88f, 0.88f} : Color{0.25f, 0.25f, 0.25f};
    if (!dark) return parse_color(kCurveColors[curve % kCurveColors.size()].text, {});
    // Told apart on a dark ground, by the colour-blind too.
    static constexpr std::array<Color, 6> kColors{{{0.94f, 0.71f, 0.24f},
                                                   {0.43f, 0.78f, 0.51f},
                                                   {0.43f, 0.67f, 0.94f},
                                                   {0.90f, 0.47f, 0.35f},
                                                   {0.82f, 0.55f, 0.78f},
                                                   {0.51f, 0.84f, 0.88f}}};
    return kColors[curve % kColors.size()];
}

namespace {

/// Draws into a rectangle of a picture.
class ChartPen {
public:
    ChartPen(LineList& lines, const ChartPlace& place, float scale) : lines_(lines), place_(place), scale_(scale) {}

    [[nodiscard]] float x(double across) const {
        return place_.left + (place_.right - place_.left) * static_cast<float>(across);
    }
    [[nodiscard]] float y(double up) const {
        return place_.bottom - (place_.bottom - place_.top) * static_cast<float>(std::clamp(up, 0.0, 1.0));
    }
    void line(float x0, float y0, float x1, float y1, float width, const Color& color, float opacity = 1.0f) {
        lines_.add({x0, y0, 0.0f}, {x1, y1, 0.0f}, std::max(1.0f, width * scale_), color, opacity);
    }
    void curve(const Curve& curve, const ChartAxes& axes, const Color& color, const std::optional<double>& time) {
        constexpr float kFaint = 0.25f;
        const auto opacity = [&](double x) { return time && x > *time ? kFaint : 1.0f; };
        constexpr float kLine = 1.8f;
        if (curve.boxes) {
            const double width = curve.x.size() > 1 ? curve.x[1] - curve.x[0] : 0.0;
            for (std::size_t k = 0; k < curve.x.size(); ++k) {
                if (!std::isfinite(curve.y[k])) continue;
                lines_.add_rectangle(x(axes.across(curve.x[k] - 0.45 * width)), y(axes.up(curve.y[k])),
                                     x(axes.across(curve.x[k] + 0.45 * width)), place_.bottom, color);
            }
        } else if (curve.points) {
            for (std::size_t k = 0; k < curve.x.size(); ++k) {
                if (!std::isfinite(curve.y[k])) continue;
                const float at = x(axes.across(curve.x[k]));
                const float high = y(axes.up(curve.y[k]));
                line(at, high, at, high, 4.0f, color, opacity(curve.x[k]));
            }
        } else {
            const auto points = outline_of(curve.x, curve.y, static_cast<std::size_t>(place_.right - place_.left) + 1);
            for (std::size_t k = 1; k < points.size(); ++k) {
                if (std::isnan(points[k - 1].second) || std::isnan(points[k].second)) continue;
                line(x(axes.across(points[k - 1].first)), y(axes.up(points[k - 1].second)),
                     x(axes.across(points[k].first)), y(axes.up(points[k].second)), kLine, color,
                     opacity(points[k].first));
            }
        }
    }

private:
    LineList& lines_;
    const ChartPlace& place_;
    float scale_;
};

}  // namespace

void add_chart(LineList& lines, const Figure& figure, const ChartPlace& whole, const Theme& theme, float scale,
               const std::optional<double>& time) {
    constexpr float kText = 10.0f;
    constexpr float kRow = 17.0f;
    const float text = kText * scale;
    const float row = kRow * scale;
    const bool dark = theme.ink[1] > theme.paper[1];
    float y = whole.top + row;
    const auto write = [&](float x, const std::string& words, const Color& color) {
        lines.add_text(x, y, text, words, color);
        return x + text_width(text, words) + row;
    };
    const std::string label = chart_label(figure.y_label, figure.y_unit, figure.units);
    float x = write(whole.left, label, theme.ink);
    for (std::size_t k = 0; figure.curves.size() > 1 && k < figure.curves.size(); ++k) {
        const std::string& name = figure.curves[k].label;
        if (name.empty()) continue;
        if (x + text_width(text, name) > whole.right) {
            x = whole.left;
            y += row;
        }
        x = write(x, name, chart_color(figure, k, dark));
    }
    const auto axes = ChartAxes::of(figure);
    if (!axes) return;
    constexpr int kUp = 3;
    constexpr int kAcross = 4;
    const Ticks y_ticks = axes->y_ticks(kUp);
    float widest = 0.0f;
    for (const auto& [value, words] : y_ticks.marks) widest = std::max(widest, text_width(text, words));
    const ChartPlace place{.left = whole.left + widest + 0.5f * row,
                           .top = y + 0.6f * row,
                           .right = whole.right - 0.5f * row,
                           .bottom = whole.bottom - 2.2f * row};
    if (place.right <= place.left || place.bottom <= place.top) return;
    ChartPen pen(lines, place, scale);
    lines.add_rectangle(place.left, place.top, place.right, place.bottom, theme.inside);
    for (const auto& [value, words] : y_ticks.marks) {
        const float at = pen.y(axes->up_tick(value));
        pen.line(place.left, at, place.right, at, 1.0f, theme.faint, 0.3f);
        lines.add_text(place.left - 0.3f * row - text_width(text, words), at + 0.45f * text, text, words, theme.ink);
    }
    float free = whole.left;
    const Ticks x_ticks = axes->x_ticks(kAcross);
    for (const auto& [value, words] : x_ticks.marks) {
        const float at = pen.x(axes->across_tick(value));
        pen.line(at, place.top, at, place.bottom, 1.0f, theme.faint, 0.3f);
        const float from = at - 0.5f * text_width(text, words);
        if (from < free || from + text_width(text, words) > whole.right + 0.5f * row) continue;
        lines.add_text(from, place.bottom + 0.9f * row, text, words, theme.ink);
        free = from + text_width(text, words) + 0.5f * row;
    }
    pen.line(place.left, place.bottom, place.right, place.bottom, 1.2f, theme.ink);
    pen.line(place.left, place.top, place.left, place.bottom, 1.2f, theme.ink);
    y = place.bottom + 1.9f * row;
    std::string from = x_ticks.from.empty() ? "" : fmt::format(" from {} on", x_ticks.from);
    if (!y_ticks.from.empty()) from += fmt::format("; told from {} on", y_ticks.from);
    write(place.left, chart_label(figure.x_label, figure.x_unit, figure.units) + from, theme.ink);
    const bool above = std::ranges::any_of(figure.curves, [](const Curve& curve) { return curve.boxes; });
    for (const bool theory : {!above, above}) {  // below what was measured, but over bars
        for (std::size_t k = 0; k < figure.curves.size(); ++k) {
            if (figure.curves[k].theory != theory) continue;
            pen.curve(figure.curves[k], *axes, chart_color(figure, k, dark), theory ? std::nullopt : time);
        }
    }
    if (time) {
        const float at = pen.x(std::clamp(axes->across(*time), 0.0, 1.0));
        pen.line(at, place.top, at, place.bottom, 1.5f, theme.ink);
    }
}

}  // namespace carom
