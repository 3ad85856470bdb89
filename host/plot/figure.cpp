#include "host/plot/figure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace carom {

namespace {

/// The colours of curves, half as bright.
constexpr std::array<Word, 7> kShades{"#003959", "#734F00", "#004F39", "#6A2F00", "#663C53", "#2B5A74", "#222222"};

/// What a linear axis shows. Equal values everywhere would give gnuplot a range of nothing, and rounding noise on a
/// conserved quantity a range of its own; so the range is at least a little of the largest value.
std::pair<double, double> y_limits(const Figure& figure) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    bool any_negative = false;
    bool from_zero = false;
    for (const Curve& curve : figure.curves) {
        from_zero = from_zero || curve.points || curve.boxes;
        if (curve.dashed && !curve.thick) continue;  // for comparison only: may be cut off
        for (std::size_t k = 0; k < curve.y.size(); ++k) {
            const double error = k < curve.error.size() && std::isfinite(curve.error[k]) ? curve.error[k] : 0.0;
            if (!std::isfinite(curve.y[k])) continue;
            any_negative = any_negative || curve.y[k] < 0.0;
            low = std::min(low, curve.y[k] - error);
            high = std::max(high, curve.y[k] + error);
        }
    }
    if (!any_negative) {
        low = std::max(low, 0.0);                      // bars may reach below what there can be
        if (from_zero && low < 0.1 * high) low = 0.0;  // densities and the like begin at 0, when they nearly do
    }
    if (!(low <= high)) return {-1.0, 1.0};
    constexpr double kLeast = 1e-3;
    const double size = std::max(std::abs(low), std::abs(high));
    double margin = 0.06 * (high - low);
    if (high - low < kLeast * size) margin = kLeast * size;
    if (size == 0.0) margin = 1.0;
    return {low == 0.0 ? low : low - margin, high + margin};
}

/// What a logarithmic axis shows: whole decades. Where nothing has a place on it gnuplot finds none, and gives up.
Word log_range(const Figure& figure, bool of_x) {
    for (const Curve& curve : figure.curves) {
        for (std::size_t k = 0; k < curve.x.size(); ++k) {
            if (std::isfinite(curve.y[k]) && (of_x ? curve.x[k] : curve.y[k]) > 0.0) return "[*:*] extend";
        }
    }
    return "[0.1:10]";
}

std::vector<std::vector<double>> rows_of(const Curve& curve) {
    std::vector<std::vector<double>> rows;
    for (std::size_t k = 0; k < curve.x.size(); ++k) {
        rows.push_back({curve.x[k], curve.y[k]});
        // Without an error it is still a point.
        if (!curve.error.empty()) rows.back().push_back(std::isfinite(curve.error[k]) ? curve.error[k] : 0.0);
    }
    return rows;
}

Word style_of(const Curve& curve) {
    const bool one = curve.x.size() < 2;  // is no line
    if (curve.boxes) return "boxes fillstyle solid 0.35 noborder";
    if (curve.band) return one ? Word("yerrorbars pointtype 7") : Word("lines");
    if (!curve.error.empty()) return "yerrorbars pointtype 7 pointsize 0.6";
    if (curve.points) return "points pointtype 7 pointsize 0.6";
    if (curve.marked) return "linespoints pointtype 7 pointsize 0.6";
    if (one && curve.thick) return "points pointtype 2 pointsize 2";
    return one ? Word("points pointtype 7") : Word("lines");
}

/// \param place  of the curve in its figure; its data are in a block of that number
void add_plots(std::vector<Script>& plots, const Curve& curve, std::size_t place) {
    const std::size_t own = curve.color >= 0 ? static_cast<std::size_t>(curve.color) : place;
    const bool mean = curve.mean_of >= 0;
    const std::size_t color = (mean ? static_cast<std::size_t>(curve.mean_of) : own) % kCurveColors.size();
    const Word rgb = mean ? kShades[color] : curve.thick ? Word("#101010") : kCurveColors[color];
    const bool band = curve.band && curve.x.size() >= 2;
    if (band) {
        plots.emplace_back(
            "$curve{} using 1:($2-$3):($2+$3) with filledcurves fillcolor rgb \"{}\" fillstyle transparent solid 0.25 "
            "noborder notitle",
            place, rgb);
    }
    plots.emplace_back("$curve{} using 1:2{} with {} linecolor rgb \"{}\" linewidth {}{} {}", place,
                       curve.error.empty() || band ? Word("") : Word(":3"), style_of(curve), rgb,
                       curve.thick ? 2.2 : (curve.error.empty() ? 1.8 : 1.2),
                       curve.dashed ? Word(" dashtype 2") : Word(""),
                       curve.label.empty() ? Script("notitle") : Script("title {}", Text{curve.label}));
}

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

Curve drawn(TheoryCurve curve) {
    Curve result{.label = std::move(curve.label), .x = std::move(curve.x), .y = std::move(curve.y)};
    result.dashed = curve.dashed;
    result.thick = !curve.rough && !curve.points;
    result.points = curve.points;
    if (curve.points) result.color = 3;
    return result;
}

std::vector<Curve> drawn(std::vector<TheoryCurve> curves) {
    std::vector<Curve> result;
    for (TheoryCurve& curve : curves) result.push_back(drawn(std::move(curve)));
    return result;
}

void add_figure(Script& script, const Figure& figure) {
    // Nearer to its axis than gnuplot has it, or the labels below would touch it.
    script.add("set xlabel {} offset 0,0.6\nset ylabel {}\n", Text{figure.x_label}, Text{figure.y_label});
    script.add("set grid back linecolor rgb \"#c8c8c8\" linewidth 1 dashtype 3\nunset logscale\n");
    if (figure.curves.size() > 1) {
        script.add("set key {}\n", kKeyBelow);
    } else {
        script.add("unset key\n");
    }
    if (figure.log_x) {
        script.add("set logscale x\nset format x \"%h\"\nset xrange {}\n", log_range(figure, true));
    } else {
        script.add("set format x \"%.6g\"\nset xrange [{}:*] noextend\n",
                   figure.x_from ? Script("{}", *figure.x_from) : Script("*"));
    }
    if (figure.log_y) {
        script.add("set logscale y\nset format y \"%h\"\nset yrange {}\n", log_range(figure, false));
    } else {
        const auto [low, high] = y_limits(figure);
        script.add("set format y \"%.6g\"\nset yrange [{:.9g}:{:.9g}]\n", low, high);
    }
    std::vector<Script> plots;
    for (std::size_t k = 0; k < figure.curves.size(); ++k) {
        script.block(Script("curve{}", k), rows_of(figure.curves[k]));
        add_plots(plots, figure.curves[k], k);
    }
    script.plot(plots);
}

Script figure_script(const Figure& figure, const Canvas& canvas) {
    Script script = figure_head(figure.title, canvas);
    add_figure(script, figure);
    return script;
}

std::string axis_label(const std::string& label, const std::string& unit) {
    return unit.empty() ? label : fmt::format("{} [{}]", label, unit_text(unit));
}

}  // namespace carom
