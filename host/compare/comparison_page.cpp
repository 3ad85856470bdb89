#include "host/compare/comparison_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>
#include <vector>

#include "host/plot/figure.hpp"
#include "kernels/physics/kinetic_theory.hpp"

namespace carom {

namespace {

constexpr std::size_t kBins = 40;  // of the histogram of speeds
constexpr double kFastest = 4.5;   // sqrt(T / m)

Curve marked(std::string label) {
    Curve curve{.label = std::move(label), .x = {}, .y = {}};
    curve.marked = true;
    return curve;
}

void add(Curve& curve, double x, double y) {
    curve.x.push_back(x);
    curve.y.push_back(y);
}

/// Deviation over time, in the window.
Figure over_time(const Convergence& convergence) {
    const StiffnessSteps& steps = convergence.steps;
    Figure figure{
        .title = "springs against the event-driven run",
        .x_label = "time",
        .y_label = "median distance of positions",
        .curves = {marked(steps.name(0)), marked(steps.name(1)), marked(steps.name(2)), marked("extrapolated")},
        .log_y = true};
    for (const ConvergenceRow& row : convergence.rows) {
        for (std::size_t k = 0; k < 3; ++k) add(figure.curves[k], row.time, row.from_hard[k].median_x);
        add(figure.curves[3], row.time, row.limit.median_x);
    }
    return figure;
}

/// Deviation over stiffness at the end of the window.
Figure over_stiffness(const Convergence& convergence) {
    const ConvergenceRow& last = convergence.rows.back();
    const StiffnessSteps& steps = convergence.steps;
    Figure figure{.title = fmt::format("at t = {:.4g}", last.time),
                  .x_label = "stiffness",
                  .y_label = "distance of positions",
                  .curves = {{.label = "median"}, {.label = "rms"}, {.label = "largest"}, {.label = steps.fall_name()}},
                  .log_x = true,
                  .log_y = true};
    for (std::size_t k = 0; k < 3; ++k) {
        const double stiffness = convergence.stiffness * steps.times(k);
        add(figure.curves[0], stiffness, last.from_hard[k].median_x);
        add(figure.curves[1], stiffness, last.from_hard[k].rms_x);
        add(figure.curves[2], stiffness, last.from_hard[k].max_x);
        figure.curves[k].points = true;
    }
    Curve& fall = figure.curves.back();  // of the median, from the first stiffness on
    fall.dashed = true;
    fall.color = 6;
    const double least = 1.0 / std::sqrt(steps.times(1));
    for (const double factor : {least, steps.times(2) / least}) {
        add(fall, convergence.stiffness * factor, last.from_hard[0].median_x * steps.fall(factor));
    }
    return figure;
}

Figure speeds(const GasStatistics& gas) {
    Figure figure{.title = "speeds",
                  .x_label = "v / sqrt(T / m)",
                  .y_label = "density",
                  .curves = {{.label = "springs"}, {.label = "Maxwell-Boltzmann"}},
                  .x_from = 0.0};
    figure.curves[0].boxes = true;
    figure.curves[1].thick = true;
    const double width = kFastest / static_cast<double>(kBins);
    const std::vector<double>& all = gas.spring.speeds;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
        const double from = width * static_cast<double>(bin);
        const auto begin = std::ranges::lower_bound(all, from);
        const auto end = std::ranges::lower_bound(all, from + width);
        const double middle = from + 0.5 * width;
        add(figure.curves[0], middle, static_cast<double>(end - begin) / (static_cast<double>(all.size()) * width));
        add(figure.curves[1], middle, maxwell_speed_density(gas.dimension, middle));
    }
    return figure;
}

Figure displacements(const GasStatistics& gas) {
    Figure figure{.title = "mean square displacement",
                  .x_label = "time",
                  .curves = {{.label = "springs"}, {.label = "event-driven"}},
                  .log_x = true,
                  .log_y = true};
    figure.curves[0].points = true;
    for (std::size_t k = 0; k < std::min(gas.spring.lags.size(), gas.hard.lags.size()); ++k) {
        const double time = static_cast<double>(gas.spring.lags[k]) * gas.plan.block;
        add(figure.curves[0], time, gas.spring.lag_displacement[k]);
        add(figure.curves[1], time, gas.hard.lag_displacement[k]);
    }
    return figure;
}

/// About `wanted` round places for numbers along an axis: of so small a panel's gnuplot would let them touch.
Script tics(double low, double high, double wanted) {
    if (!(low < high)) return Script("set xtics auto\n");
    double step = std::pow(10.0, std::floor(std::log10((high - low) / wanted)));
    for (const double times : {2.0, 2.5, 2.0}) {
        if ((high - low) / step > 1.6 * wanted) step *= times;
    }
    return Script("set xtics {:.3g}\n", step);
}

void add_panel(Script& script, const Figure& figure) {
    script.add("set title {} offset 0,-0.4\n", Text{figure.title});
    const std::vector<double>& x = figure.curves.front().x;
    if (figure.log_x || x.empty()) {
        script.add("set xtics auto\n");
    } else {
        script.add(tics(x.front(), x.back(), 3.0));
    }
    add_figure(script, figure);
}

/// Each figure that has an expected value, over it, with four standard errors and the bound on theory.
void add_figures(Script& script, const Findings& section) {
    std::vector<std::vector<double>> rows;
    std::vector<Script> names;
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
        names.emplace_back("{} {}", TicText{check.name}, at);
    }
    script.add("set title {} offset 0,-0.4\nset xlabel {}\nset ylabel {}\n", Text{"measured / expected"}, Text{""},
               Text{""});
    script.add("unset logscale\nset xrange [*:*] extend\nset format x \"%.6g\"\nset yrange [{}:-0.6]\n{}",
               static_cast<double>(rows.size()) - 0.4, tics(low, high, 1.5));
    script.add("set ytics ({})\nset ytics noenhanced\nunset key\n", joined(names));
    script.block(Script("figures"), rows);
    script.plot(
        {Script("$figures using 1:2:3 with xerrorbars pointtype 0 linewidth 1 linecolor rgb \"#909090\""),
         Script("$figures using 1:2:4 with xerrorbars pointtype 7 linewidth 3 linecolor rgb \"{}\"", kCurveColors[0])});
    script.add("set ytics auto\n");
}

/// The verdicts as text, where there is little to draw.
void add_verdicts(Script& script, const Comparison& comparison) {
    script.add("unset border\nunset tics\nunset title\nunset xlabel\nunset ylabel\nunset logscale\n");
    script.add("set xrange [0:1]\nset yrange [0:1]\nunset key\n");
    double y = 0.97;
    for (const Findings& section : comparison.sections) {
        for (const Check& check : section.checks) {
            const bool bad = check.verdict == Verdict::kBad;
            const char* word = bad ? "BAD" : (check.verdict == Verdict::kGood ? "good" : "-");
            script.add("set label {} at graph 0,{:.3f} textcolor rgb \"{}\"\n",
                       Text{fmt::format("{}  {}: {}", word, section.name, check.name)}, y,
                       bad ? kCurveColors[3] : Word("#202020"));
            y -= 0.065;
        }
    }
    script.add("plot NaN notitle\nunset label\nset border 3\nset tics nomirror font \",11\"\n");
}

}  // namespace

Script comparison_page_script(const Comparison& comparison, const Scene& scene, const Canvas& canvas) {
    const auto statistics = std::ranges::find(comparison.sections, "statistics", &Findings::name);
    const bool converged = !comparison.convergence.rows.empty();
    const std::size_t panels = 1 + (converged ? 2 : 0) +
                               (!comparison.gas                           ? 0
                                : statistics == comparison.sections.end() ? 2
                                                                          : 3);
    const std::size_t columns = std::min<std::size_t>(3, panels);
    Script script = figure_head("", canvas);
    script.add("set tics font \",11\"\nset key font \",11\"\nset title font \",13\"\n");
    script.add("set multiplot layout {},{} title {}\n", (panels + columns - 1) / columns, columns,
               Text{fmt::format("{}: {}", std::filesystem::path(scene.path).filename().string(),
                                comparison.good() ? "all verdicts good" : "a verdict is BAD")});
    if (converged) {
        add_panel(script, over_time(comparison.convergence));
        add_panel(script, over_stiffness(comparison.convergence));
    }
    add_verdicts(script, comparison);
    if (comparison.gas) {
        add_panel(script, speeds(*comparison.gas));
        add_panel(script, displacements(*comparison.gas));
        if (statistics != comparison.sections.end()) add_figures(script, *statistics);
    }
    return script.add("unset multiplot\n");
}

void draw_comparison(const Comparison& comparison, const Scene& scene, const std::string& path, bool replace) {
    run_gnuplot(comparison_page_script(comparison, scene, path), path, replace);
}

}  // namespace carom
