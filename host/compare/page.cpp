#include "host/compare/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "host/plot/gnuplot.hpp"
#include "host/plot/key_place.hpp"
#include "kernels/physics/kinetic_theory.hpp"

namespace carom {

namespace {

constexpr std::array kColors{"#0072B2", "#E69F00", "#009E73", "#D55E00"};
constexpr std::size_t kBins = 40;  // of the histogram of speeds
constexpr double kFastest = 4.5;   // sqrt(T / m)
/// Of three parts side by side, of which letters take more than of a figure.
constexpr KeySize kKey{.letter = 0.032, .sample = 0.2, .line = 0.075};
constexpr double kStretch = 0.1;  // of an axis, for labels above its curves
constexpr int kStretches = 8;

std::string block(const std::string& name, const std::vector<std::vector<double>>& rows) {
    std::string text = "$" + name + " << END_OF_DATA\n";
    for (const std::vector<double>& row : rows) text += fmt::format("{}\n", fmt::join(row, " "));
    return text + "END_OF_DATA\n";
}

/// A part of the page whose curves have labels, as place_of_key wants it.
struct Panel {
    std::vector<std::string> names;         ///< of the curves
    std::vector<std::vector<double>> rows;  ///< x, then a value for each curve
    bool log = false;                       ///< both axes
    bool log_y = false;                     ///< that one alone
    std::optional<std::size_t> boxes = {};  ///< a curve that is drawn as boxes from 0 on
    std::optional<AxisLimits> x_axis = {};  ///< none: what the rows need

    /// The commands for its axes' ranges and its labels.
    [[nodiscard]] std::string ranges_and_key() const {
        Figure figure;
        figure.log_x = log;
        figure.log_y = log || log_y;
        for (std::size_t k = 0; k < names.size(); ++k) {
            Curve curve{.label = names[k]};
            for (const std::vector<double>& row : rows) {
                curve.x.push_back(row[0]);
                curve.y.push_back(boxes == k ? 0.5 * row[k + 1] : row[k + 1]);
                if (boxes == k) curve.error.push_back(0.5 * row[k + 1]);
            }
            curve.points = boxes == k;
            figure.curves.push_back(std::move(curve));
        }
        const AxisLimits x = x_axis.value_or(rounded(x_limits(figure), figure.log_x));
        AxisLimits y = y_limits(figure);
        if (figure.log_y) y = rounded(y, true);
        // Labels beside so small a panel would leave nothing of it: it gets room for them above its curves.
        std::string place = place_of_key(figure, x, y, kKey);
        for (int k = 0; k < kStretches && !place.starts_with("inside"); ++k) {
            y.high = figure.log_y ? y.high * std::pow(y.high / y.low, kStretch) : y.high + kStretch * (y.high - y.low);
            place = place_of_key(figure, x, y, kKey);
        }
        return fmt::format(
            "set xrange [{:.9g}:{:.9g}]\nset yrange [{:.9g}:{:.9g}]\nset key {} Left reverse samplen 2\n", x.low,
            x.high, y.low, y.high, place);
    }

    /// To whole decades, of which gnuplot labels each; or so that no point lies on the frame. Of a single place, around
    /// it.
    static AxisLimits rounded(const AxisLimits& axis, bool logarithmic) {
        constexpr double kAir = 0.04;  // of the axis
        if (!(axis.low <= axis.high)) return logarithmic ? AxisLimits{0.1, 10.0} : AxisLimits{};
        if (logarithmic) {
            const double low = std::floor(std::log10(axis.low));
            return {std::pow(10.0, low), std::pow(10.0, std::max(low + 1.0, std::ceil(std::log10(axis.high))))};
        }
        double air = kAir * (axis.high - axis.low);
        if (air == 0.0) air = axis.low == 0.0 ? 1.0 : kAir * std::abs(axis.low);
        return {axis.low - air, axis.high + air};
    }
};

/// What ranges_and_key has set, taken back.
constexpr const char* kFreeRanges = "set xrange [*:*]\nset yrange [*:*]\n";

std::string axes(const std::string& title, const std::string& x, const std::string& y) {
    return "set title " + gnuplot_literal(title) + " offset 0,-0.4\nset xlabel " + gnuplot_literal(x) +
           " offset 0,0.4\nset ylabel " + gnuplot_literal(y) + " offset 0.5,0\n";
}

/// About `wanted` round places for numbers along an axis.
std::string tics(const char* axis, double low, double high, double wanted = 3.0) {
    double step = std::pow(10.0, std::floor(std::log10((high - low) / wanted)));
    for (const double times : {2.0, 2.5, 2.0}) {
        if ((high - low) / step > 1.6 * wanted) step *= times;
    }
    return fmt::format("set {}tics {:.3g}\n", axis, step);
}

/// Deviation over time, in the window.
std::string over_time(const Convergence& convergence) {
    Panel panel{.names = {"k", "4k", "16k", "extrapolated"}, .log_y = true};
    std::vector<std::vector<double>>& rows = panel.rows;
    for (const ConvergenceRow& row : convergence.rows) {
        rows.push_back({row.time, row.from_hard[0].median_x, row.from_hard[1].median_x, row.from_hard[2].median_x,
                        row.limit.median_x});
    }
    std::string text = block("time", rows);
    text += axes("springs against the event-driven run", "time", "median distance of positions");
    if (rows.size() > 1) text += tics("x", rows.front()[0], rows.back()[0]);
    text += "set logscale y\nset format y \"10^{%L}\"\n" + panel.ranges_and_key() + "plot ";
    for (std::size_t k = 0; k < panel.names.size(); ++k) {
        text +=
            fmt::format("{}$time using 1:{} with linespoints pointtype 7 pointsize 0.6 linecolor rgb \"{}\" title {}",
                        k > 0 ? ", " : "", k + 2, kColors[k], gnuplot_literal(panel.names[k]));
    }
    return text + "\nunset logscale\n" + kFreeRanges + "set xtics auto\nset format y \"%.6g\"\n";
}

/// Deviation over stiffness at the end of the window.
std::string over_stiffness(const Convergence& convergence) {
    const ConvergenceRow& last = convergence.rows.back();
    Panel panel{.names = {"median", "rms", "largest", "1 / sqrt(k)"}, .log = true};
    panel.x_axis = {0.5 * convergence.stiffness, 32.0 * convergence.stiffness};
    const double fall = last.from_hard[0].median_x;  // of the median, from the first stiffness on
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    for (const double factor : {0.5, 32.0}) {
        panel.rows.push_back({convergence.stiffness * factor, kNone, kNone, kNone, fall / std::sqrt(factor)});
    }
    for (std::size_t k = 0; k < 3; ++k) {
        const double factor = std::pow(4.0, static_cast<double>(k));
        panel.rows.insert(panel.rows.end() - 1,
                          {convergence.stiffness * factor, last.from_hard[k].median_x, last.from_hard[k].rms_x,
                           last.from_hard[k].max_x, fall / std::sqrt(factor)});
    }
    std::string text = block("stiffness", panel.rows);
    text += axes(fmt::format("at t = {:.4g}", last.time), "stiffness", "distance of positions");
    text += "set logscale xy\nset format xy \"10^{%L}\"\nset xtics 10\n" + panel.ranges_and_key();
    text += fmt::format("plot {:.17g} / sqrt(x) with lines dashtype 2 linecolor rgb \"#404040\" title {}",
                        fall * std::sqrt(convergence.stiffness), gnuplot_literal(panel.names.back()));
    for (std::size_t k = 0; k + 1 < panel.names.size(); ++k) {
        text += fmt::format(", $stiffness using 1:{} with points pointtype 7 linecolor rgb \"{}\" title {}", k + 2,
                            kColors[k], gnuplot_literal(panel.names[k]));
    }
    return text + "\nunset logscale\n" + kFreeRanges + "set xtics auto\nset format xy \"%.6g\"\n";
}

std::string speeds(const GasStatistics& gas) {
    Panel panel{.names = {"springs", "Maxwell-Boltzmann"}, .boxes = 0, .x_axis = AxisLimits{0.0, kFastest}};
    std::vector<std::vector<double>>& rows = panel.rows;
    const double width = kFastest / static_cast<double>(kBins);
    const std::vector<double>& all = gas.spring.speeds;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        const double from = width * static_cast<double>(bin);
        const auto begin = std::ranges::lower_bound(all, from);
        const auto end = std::ranges::lower_bound(all, from + width);
        const double density = static_cast<double>(end - begin) / (static_cast<double>(all.size()) * width);
        rows.push_back({from + 0.5 * width, density, maxwell_speed_density(gas.dimension, from + 0.5 * width)});
    }
    return block("speeds", rows) + axes("speeds", "v / sqrt(T / m)", "density") + panel.ranges_and_key() +
           fmt::format(
               "plot $speeds using 1:2 with boxes fillstyle solid 0.35 noborder linecolor rgb \"{}\" title {}, "
               "$speeds using 1:3 with lines linewidth 2 linecolor rgb \"#202020\" title {}\n",
               kColors[0], gnuplot_literal(panel.names[0]), gnuplot_literal(panel.names[1])) +
           kFreeRanges;
}

std::string displacements(const GasStatistics& gas) {
    Panel panel{.names = {"springs", "event-driven"}, .log = true};
    std::vector<std::vector<double>>& rows = panel.rows;
    for (std::size_t k = 0; k < std::min(gas.spring.lags.size(), gas.hard.lags.size()); ++k) {
        rows.push_back({static_cast<double>(gas.spring.lags[k]) * gas.plan.block, gas.spring.lag_displacement[k],
                        gas.hard.lag_displacement[k]});
    }
    return block("msd", rows) + axes("mean square displacement", "time", "") +
           "set logscale xy\nset format xy \"%g\"\n" + panel.ranges_and_key() +
           fmt::format(
               "plot $msd using 1:3 with lines linewidth 2 linecolor rgb \"{}\" title {}, $msd using 1:2 with "
               "points pointtype 7 linecolor rgb \"{}\" title {}\nunset logscale\nset format xy \"%.6g\"\n",
               kColors[1], gnuplot_literal(panel.names[1]), kColors[0], gnuplot_literal(panel.names[0])) +
           kFreeRanges;
}

/// Each figure that has an expected value, over it, with four standard errors and the bound on theory.
std::string figures(const Findings& section) {
    std::vector<std::vector<double>> rows;
    std::string names;
    double low = 1.0;
    double high = 1.0;
    const auto figure_of = [](const Check& check, const std::string& key) {
        const auto at = std::ranges::find(check.figures, key, &std::pair<std::string, double>::first);
        return at == check.figures.end() ? std::nan("") : at->second;
    };
    for (const Check& check : section.checks) {
        const double expected = figure_of(check, "expected");
        if (!(std::abs(expected) > 0.0)) continue;
        const double at = static_cast<double>(rows.size());
        const double error = std::hypot(figure_of(check, "error"), figure_of(check, "expected_error"));
        rows.push_back({figure_of(check, "value") / expected, at,
                        (4.0 * error + figure_of(check, "bound")) / std::abs(expected), error / std::abs(expected)});
        low = std::min(low, rows.back()[0] - rows.back()[2]);
        high = std::max(high, rows.back()[0] + rows.back()[2]);
        names += fmt::format("{}\"{}\" {}", names.empty() ? "" : ", ", check.name, at);
    }
    return block("figures", rows) + axes("measured / expected", "", "") + tics("x", low, high, 1.5) +
           fmt::format("set yrange [{}:-0.6]\nset ytics ({})\nunset key\n", static_cast<double>(rows.size()) - 0.4,
                       names) +
           fmt::format(
               "plot $figures using 1:2:3 with xerrorbars pointtype 0 linewidth 1 linecolor rgb \"#909090\", "
               "$figures using 1:2:4 with xerrorbars pointtype 7 linewidth 3 linecolor rgb \"{}\"\n",
               kColors[0]) +
           "set yrange [*:*]\nset ytics auto\nset xtics auto\nset key\n";
}

/// The verdicts as text, where there is little to draw.
std::string verdicts(const Comparison& comparison) {
    std::string text =
        "unset border\nunset tics\nset title \"\"\nset xlabel \"\"\nset ylabel \"\"\nset xrange [0:1]\nset "
        "yrange [0:1]\nunset key\n";
    double y = 0.97;
    int label = 1;
    for (const Findings& section : comparison.sections) {
        for (const Check& check : section.checks) {
            const bool bad = check.verdict == Verdict::kBad;
            const char* word = bad ? "BAD" : (check.verdict == Verdict::kGood ? "good" : "-");
            text += fmt::format("set label {} {} at graph 0,{:.3f} textcolor rgb \"{}\"\n", label++,
                                gnuplot_literal(fmt::format("{}  {}: {}", word, section.name, check.name)), y,
                                bad ? kColors[3] : "#202020");
            y -= 0.065;
        }
    }
    text +=
        "plot NaN notitle\nunset label\nset xrange [*:*]\nset yrange [*:*]\nset border 3\nset tics nomirror font "
        "\",11\"\n";
    return text;
}

}  // namespace

std::string comparison_page_script(const Comparison& comparison, const Scene& scene, const std::string& path) {
    std::vector<std::string> parts;
    if (!comparison.convergence.rows.empty()) {
        parts.push_back(over_time(comparison.convergence));
        parts.push_back(over_stiffness(comparison.convergence));
    }
    parts.push_back(verdicts(comparison));
    if (comparison.gas) {
        parts.push_back(speeds(*comparison.gas));
        parts.push_back(displacements(*comparison.gas));
        const auto statistics = std::ranges::find(comparison.sections, "statistics", &Findings::name);
        if (statistics != comparison.sections.end()) parts.push_back(figures(*statistics));
    }
    const std::size_t columns = std::min<std::size_t>(3, parts.size());
    const std::size_t lines = (parts.size() + columns - 1) / columns;
    const std::string title = fmt::format("{}: {}", std::filesystem::path(scene.path).filename().string(),
                                          comparison.good() ? "all verdicts good" : "a verdict is BAD");
    std::string script = gnuplot_head("", path);
    script += "set tics font \",11\"\nset key font \",11\"\nset title font \",13\"\n";
    script += "set grid back linecolor rgb \"#d8d8d8\" linewidth 1 dashtype 3\n";
    script += fmt::format("set multiplot layout {},{} title {}\n", lines, columns, gnuplot_literal(title));
    for (const std::string& part : parts) script += part;
    return script + "unset multiplot\n";
}

void draw_comparison(const Comparison& comparison, const Scene& scene, const std::string& path) {
    run_gnuplot(comparison_page_script(comparison, scene, path), path);
}

}  // namespace carom
