#include "host/plot/table_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "host/plot/colormap.hpp"
#include "host/plot/gnuplot.hpp"
#include "host/plot/key_place.hpp"
#include "host/plot/table_theory.hpp"
#include "host/plot/table_view.hpp"

namespace carom {

namespace {

constexpr std::size_t kMostLabels = 16;  // values along an axis that each get a tic, a number, a gap
constexpr std::size_t kMostBars = 200;   // more are drawn as a line
constexpr double kMostLevels = 12.0;     // whole numbers that get a colour each
constexpr int kPaletteColors = 64;
constexpr const char* kBlue = "#0072B2";
constexpr const char* kMeasured = "measured";

std::string hex(const Color& color) {
    const auto byte = [](float channel) { return static_cast<int>(std::lround(255.0f * channel)); };
    return fmt::format("#{:02x}{:02x}{:02x}", byte(color[0]), byte(color[1]), byte(color[2]));
}

/// How bright a colour looks, 0 to 1 (Rec. 709 weights).
float brightness(const Color& color) { return 0.2126f * color[0] + 0.7152f * color[1] + 0.0722f * color[2]; }

/// Tics at the values themselves where they are few, in their own words.
std::string tics(const char* axis, const Scale& scale) {
    std::string text;
    if (scale.logarithmic) text += fmt::format("set logscale {}\n", axis);
    if (!scale.words && scale.at.size() > kMostLabels) return text;
    text += fmt::format("set {}tics (", axis);
    for (std::size_t k = 0; k < scale.at.size(); ++k) {
        text += fmt::format("{}{} {}", k > 0 ? ", " : "", gnuplot_literal(scale.texts[k]), scale.at[k]);
    }
    text += ")\n";
    // Each place's own text may hold no markup, so it is switched off for all.
    for (std::size_t at = 0; (at = text.find(" noenhanced ", at)) != std::string::npos;) text.erase(at, 11);
    return text + fmt::format("set {}tics noenhanced\n", axis);
}

std::string range(const char* axis, const Scale& scale) {
    return fmt::format("set {}range [{}:{}]\n", axis, scale.edges.front(), scale.edges.back());
}

std::string title_of(const SweepTable& table, const std::string& quantity, const std::vector<Scale>& scales) {
    std::string by;
    for (const Scale& scale : scales) {
        by += (by.empty() ? "" : " and ") + column_without_unit(scale.label);
    }
    return fmt::format("{}: {} by {}", std::filesystem::path(table.path).filename().string(), quantity, by);
}

/// Colours for the values from `low` to `high`, one each if they are few whole numbers.
struct ColorScale {
    double low = 0.0;
    double high = 1.0;
    bool levels = false;

    explicit ColorScale(const std::vector<double>& values) {
        double least = std::numeric_limits<double>::infinity();
        double most = -least;
        bool whole = true;
        for (const double value : values) {
            if (!std::isfinite(value)) continue;
            least = std::min(least, value);
            most = std::max(most, value);
            whole = whole && value == std::floor(value);
        }
        if (!(least <= most)) least = most = 0.0;
        levels = whole && most - least < kMostLevels;
        const double margin = levels || least == most ? 0.5 : 0.0;
        low = least - margin;
        high = most + margin;
    }

    [[nodiscard]] Color color(double value) const {
        const double t =
            levels && high - low > 1.0 ? (value - low - 0.5) / (high - low - 1.0) : (value - low) / (high - low);
        return viridis(static_cast<float>(t));
    }

    [[nodiscard]] std::string script() const {
        const int colors = levels ? static_cast<int>(high - low) : kPaletteColors;
        std::string text = "set palette defined (";
        if (levels) {
            // Each level keeps its colour from edge to edge.
            for (int k = 0; k < colors; ++k) {
                const std::string name = hex(color(low + 0.5 + k));
                text += fmt::format("{0}{1} '{3}', {2} '{3}'", k > 0 ? ", " : "", k, k + 1, name);
            }
            text += fmt::format(") maxcolors {}\nset cbtics 1 scale 0\n", colors);
        } else {
            for (int k = 0; k <= colors; ++k) {
                text += fmt::format("{}{} '{}'", k > 0 ? ", " : "", k,
                                    hex(viridis(static_cast<float>(k) / static_cast<float>(colors))));
            }
            text += ")\nset cbtics scale 0.5 out\n";
        }
        return text + fmt::format("set cbrange [{}:{}]\nset format cb \"%.6g\"\n", low, high);
    }
};

/// A few values at odd distances get cells of one size: what they hold is to be read, and the tics name them.
Scale side_by_side(Scale scale) {
    if (scale.uniform || scale.logarithmic || scale.at.size() > kMostLabels) return scale;
    for (std::size_t k = 0; k < scale.at.size(); ++k) scale.at[k] = static_cast<double>(k);
    for (std::size_t k = 0; k < scale.edges.size(); ++k) scale.edges[k] = static_cast<double>(k) - 0.5;
    return scale;
}

std::string heat_map_script(const SweepTable& table, const Reduced& reduced, const std::string& quantity,
                            const std::string& path) {
    const Scale x = side_by_side(reduced.scales[0]);
    const Scale y = side_by_side(reduced.scales[1]);
    const ColorScale colors(reduced.values);
    const bool few = x.at.size() <= kMostLabels && y.at.size() <= kMostLabels;
    std::string script = gnuplot_head(title_of(table, quantity, reduced.scales), path);
    script += "set xlabel " + gnuplot_literal(x.label) + "\nset ylabel " + gnuplot_literal(y.label) + "\n";
    script += "set cblabel " + gnuplot_literal(reduced.label) + " offset 1,0\n";
    script += tics("x", x) + tics("y", y) + range("x", x) + range("y", y) + colors.script();
    script +=
        "set tics out scale 0.5\nset border 0\nset colorbox user origin graph 1.03, graph 0 size 0.022, graph 1 "
        "noborder\n";
    script += "set rmargin at screen 0.85\n";

    std::string cells;
    std::string missing;
    std::string texts;
    for (std::size_t i = 0; i < x.at.size(); ++i) {
        for (std::size_t j = 0; j < y.at.size(); ++j) {
            const double value = reduced.values[i * y.at.size() + j];
            const std::string box = fmt::format("{} {} {} {} {} {}", x.at[i], y.at[j], x.edges[i], x.edges[i + 1],
                                                y.edges[j], y.edges[j + 1]);
            if (!std::isfinite(value)) {
                missing += box + "\n";
                continue;
            }
            cells += fmt::format("{} {}\n", box, value);
            if (!few) continue;
            const bool bright = brightness(colors.color(value)) > 0.5f;
            texts += fmt::format("{} {} \"{:.3g}\" {}\n", x.at[i], y.at[j], value, bright ? 0x202020 : 0xffffff);
        }
    }
    // The border closes the seam that a smoothed edge leaves between neighbours; where cells are few it parts them.
    const char* border = few ? "linewidth 2 fillstyle solid 1.0 border linecolor rgb \"white\""
                             : "linewidth 1 fillstyle solid 1.0 border";
    script += "unset key\n";
    std::vector<std::string> plots;
    if (!missing.empty()) {
        script += "$missing << END_OF_DATA\n" + missing + "END_OF_DATA\n";
        script += "set key outside below right samplen 1.5\n";
        plots.emplace_back(
            "$missing using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1.0 border linecolor rgb \"white\" fillcolor "
            "rgb "
            "\"#d9d9d9\" title \"no value\"");
    }
    if (!cells.empty()) {
        script += "$cells << END_OF_DATA\n" + cells + "END_OF_DATA\n";
        plots.push_back(fmt::format("$cells using 1:2:3:4:5:6:7 with boxxyerror fillcolor palette {} notitle", border));
    }
    if (!texts.empty()) {
        script += "$texts << END_OF_DATA\n" + texts + "END_OF_DATA\n";
        plots.emplace_back("$texts using 1:2:3:4 with labels textcolor rgb variable notitle");
    }
    return script + fmt::format("plot {}\n", fmt::join(plots, ", "));
}

/// From 0 if all values are above and `zero`; with room for numbers on top.
AxisLimits value_limits(const Reduced& reduced, bool zero) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (std::size_t k = 0; k < reduced.values.size(); ++k) {
        const double error = reduced.errors.empty() || !std::isfinite(reduced.errors[k]) ? 0.0 : reduced.errors[k];
        if (!std::isfinite(reduced.values[k])) continue;
        low = std::min(low, reduced.values[k] - error);
        high = std::max(high, reduced.values[k] + error);
    }
    if (!(low <= high)) return {0.0, 1.0};
    if (zero) {
        low = std::min(low, 0.0);
        high = std::max(high, 0.0);
    }
    double margin = 0.07 * (high - low);
    if (margin == 0.0) margin = high == 0.0 ? 1.0 : 1e-3 * std::abs(high);
    return {zero && low == 0.0 ? 0.0 : low - margin, high + margin};
}

/// Where the labels of what is measured and of theory hide neither.
std::string key_beside(const Reduced& reduced, const Curve& theory, const AxisLimits& values) {
    const Scale& x = reduced.scales[0];
    Curve measured{.label = kMeasured, .x = x.at, .y = reduced.values, .error = reduced.errors};
    measured.points = true;
    Figure figure{.curves = {theory, std::move(measured)}};
    figure.log_x = x.logarithmic;
    return place_of_key(figure, x_limits(figure), values);
}

std::string curve_script(const SweepTable& table, const Reduced& reduced, const std::string& quantity, bool bars,
                         const std::string& path) {
    const Scale& x = reduced.scales[0];
    bars = bars && !x.logarithmic && x.uniform && x.at.size() <= kMostBars;
    std::string script = gnuplot_head(title_of(table, quantity, reduced.scales), path);
    script += "set xlabel " + gnuplot_literal(x.label) + "\nset ylabel " + gnuplot_literal(reduced.label) + "\n";
    script += tics("x", x);
    const AxisLimits values = value_limits(reduced, bars);
    script += fmt::format("set yrange [{}:{}]\n", values.low, values.high);
    script += bars || x.words ? range("x", x) : "set offsets graph 0.02, graph 0.02\nset autoscale xfix\n";
    script +=
        "set grid ytics back linecolor rgb \"#c8c8c8\" linewidth 1 dashtype 3\nset tics out scale 0.5\nunset key\n";
    script += "$data << END_OF_DATA\n";
    for (std::size_t k = 0; k < x.at.size(); ++k) {
        const double error = reduced.errors.empty() ? std::nan("") : reduced.errors[k];
        script += std::isfinite(reduced.values[k]) ? fmt::format("{} {}", x.at[k], reduced.values[k])
                                                   : fmt::format("{} NaN", x.at[k]);
        script += std::isfinite(error) ? fmt::format(" {}\n", error) : " NaN\n";
    }
    script += "END_OF_DATA\n";
    std::vector<std::string> plots;
    const auto theory =
        bars || x.words ? std::nullopt : table_theory(x.label, reduced.label, x.at.front(), x.at.back());
    if (theory) {
        script += "$theory << END_OF_DATA\n";
        for (std::size_t k = 0; k < theory->x.size(); ++k) script += fmt::format("{} {}\n", theory->x[k], theory->y[k]);
        script +=
            "END_OF_DATA\nset key " + key_beside(reduced, *theory, values) + " Left reverse samplen 2.5 spacing 1.3\n";
        plots.push_back("$theory using 1:2 with lines linecolor rgb \"#101010\" linewidth 2.2 title " +
                        gnuplot_literal(theory->label));
    }
    if (bars) {
        script +=
            fmt::format("set boxwidth {}\n", (x.at.size() <= kMostLabels ? 0.72 : 0.9) * (x.edges[1] - x.edges[0]));
        plots.push_back(
            fmt::format("$data using 1:2 with boxes fillstyle solid 1.0 noborder fillcolor rgb \"{}\"", kBlue));
        if (x.at.size() <= kMostLabels && reduced.errors.empty()) {
            plots.emplace_back(
                "$data using 1:2:(sprintf(\"%.4g\", $2)) with labels offset 0,0.7 textcolor rgb \"#202020\"");
        }
    } else {
        if (!x.words && !theory)
            plots.push_back(fmt::format("$data using 1:2 with lines linecolor rgb \"{}\" linewidth 1.8", kBlue));
        plots.push_back(fmt::format("$data using 1:2{} linecolor rgb \"{}\" linewidth 1.8 pointtype 7 pointsize {}{}",
                                    reduced.errors.empty() ? " with points" : ":3 with yerrorbars", kBlue,
                                    x.at.size() > 100 ? 0.4 : 1.0,
                                    theory ? fmt::format(" title \"{}\"", kMeasured) : ""));
    }
    if (bars && !reduced.errors.empty()) {
        plots.emplace_back("$data using 1:2:3 with yerrorbars linecolor rgb \"#202020\" linewidth 1.6 pointtype 0");
    }
    return script + fmt::format("plot {}\n", fmt::join(plots, ", "));
}

}  // namespace

std::string table_figure_script(const SweepTable& table, const TableView& view, const std::string& path) {
    const ChosenColumns chosen = choose_columns(table, view);
    const Reduced reduced = reduce_table(table, chosen, view.mean);
    const std::string& quantity = table.names[chosen.quantity];
    if (reduced.scales.size() == 2) return heat_map_script(table, reduced, quantity, path);
    const bool sums = table.axes > 1 && !view.mean;
    return curve_script(table, reduced, quantity, sums, path);
}

}  // namespace carom
