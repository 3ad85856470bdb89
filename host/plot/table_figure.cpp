#include "host/plot/table_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "host/plot/figure.hpp"
#include "host/plot/image.hpp"
#include "host/plot/table_view.hpp"
#include "host/state/errors.hpp"
#include "host/state/text.hpp"
#include "host/theory/gas_theory.hpp"

namespace carom {

namespace {

constexpr std::size_t kMostLabels = 16;  // values along an axis that each get a tic, a number, a gap
constexpr std::size_t kMostBars = 200;   // more are drawn as a line
/// Through more than these a line would be a block of ink, over which gnuplot can be minutes.
constexpr std::size_t kMostInALine = 5000;
constexpr double kMostLevels = 12.0;  // whole numbers that get a colour each
constexpr int kPaletteColors = 64;
constexpr Word kBlue = kCurveColors[0];

Script hex(const Color& color) {
    const auto byte = [](float channel) { return static_cast<int>(std::lround(255.0f * channel)); };
    return Script("#{:02x}{:02x}{:02x}", byte(color[0]), byte(color[1]), byte(color[2]));
}

/// How bright a colour looks, 0 to 1 (Rec. 709 weights).
float brightness(const Color& color) { return 0.2126f * color[0] + 0.7152f * color[1] + 0.0722f * color[2]; }

/// Tics at the values themselves where they are few, in their own words.
/// Turned where they have no room beside each other.
void add_tics(Script& script, Word axis, const Scale& scale, std::size_t room) {
    if (scale.logarithmic) script.add("set logscale {}\n", axis);
    if (!scale.words && scale.at.size() > kMostLabels) return;
    std::vector<Script> labels;
    for (std::size_t k = 0; k < scale.at.size(); ++k)
        labels.emplace_back("{} {}", TicText{scale.texts[k]}, scale.at[k]);
    script.add("set {0}tics ({1})\nset {0}tics noenhanced\n", axis, joined(labels));
    std::size_t letters = 0;
    for (const std::string& text : scale.texts) letters += text.size() + 1;
    if (letters > room) script.add("set {}tics rotate by 45 right\n", axis);
}

void add_range(Script& script, Word axis, const Scale& scale) {
    script.add("set {}range [{}:{}]\n", axis, scale.edges.front(), scale.edges.back());
}

/// \param y  the least and largest value that there is
void add_wishes(Script& script, const FigureWishes& wishes, std::pair<double, double> x, std::pair<double, double> y) {
    for (const auto& [wish, range, of, axis] :
         {std::tuple{wishes.log_x, &wishes.x, x, "x"}, std::tuple{wishes.log_y, &wishes.y, y, "y"}}) {
        const bool below = range->low.value_or(1.0) <= 0.0 || range->high.value_or(1.0) <= 0.0;
        if (wish.value_or(false) && of.second <= 0.0) {
            throw InputError(fmt::format("--log: nothing is above 0 along {}", axis));
        }
        if (wish.value_or(false) && below) {
            throw InputError(fmt::format("--{}range: a logarithmic axis shows only what is above 0", axis));
        }
        require_within(*range, of.first, of.second, axis);
    }
    add_range(script, "x", wishes.x);
    add_range(script, "y", wishes.y);
    add_range(script, "cb", wishes.colors);
    if (wishes.log_x) script.add("{} logscale x\n", *wishes.log_x ? Word("set") : Word("unset"));
    if (wishes.log_y) script.add("{} logscale y\n", *wishes.log_y ? Word("set") : Word("unset"));
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

    ColorScale(const std::vector<double>& values, const AxisRange& wish) {
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
        require_within(wish, least, most, "cb");
        constexpr double kWithHalves = 1e15;  // from where on halves are lost in whole numbers
        levels = !wish.given() && whole && most - least < kMostLevels && std::max(-least, most) < kWithHalves;
        const double margin = levels ? 0.5 : least == most ? margin_around(least) : 0.0;
        low = wish.low.value_or(least - margin);
        high = wish.high.value_or(most + margin);
    }

    [[nodiscard]] Color color(double value) const {
        const double t =
            levels && high - low > 1.0 ? (value - low - 0.5) / (high - low - 1.0) : (value - low) / (high - low);
        return viridis(static_cast<float>(std::clamp(t, 0.0, 1.0)));
    }

    void add_to(Script& script) const {
        const int colors = levels ? static_cast<int>(high - low) : kPaletteColors;
        std::vector<Script> defined;
        for (int k = 0; k < colors + (levels ? 0 : 1); ++k) {
            if (levels) {
                // Each level keeps its colour from edge to edge.
                const Script name = hex(color(low + 0.5 + k));
                defined.emplace_back("{0} '{2}', {1} '{2}'", k, k + 1, name);
            } else {
                defined.emplace_back("{} '{}'", k, hex(viridis(static_cast<float>(k) / static_cast<float>(colors))));
            }
        }
        script.add("set palette defined ({})", joined(defined));
        if (levels) {
            script.add(" maxcolors {}\nset cbtics 1 scale 0\n", colors);
        } else {
            script.add("\nset cbtics scale 0.5 out\n");
        }
        script.add("set cbrange [{}:{}]\nset format cb \"%.6g\"\n", low, high);
    }
};

/// An axis as it is asked for. \throws InputError  it has values without a place on a logarithmic one
Scale as_wished(Scale scale, const std::optional<bool>& logarithmic) {
    if (!logarithmic.value_or(false)) return scale;
    if (scale.words || scale.at.front() <= 0.0) {
        throw InputError(fmt::format("--log: '{}' has '{}', and a logarithmic axis only numbers above 0", scale.label,
                                     scale.texts.front()));
    }
    make_logarithmic(scale);
    return scale;
}

/// A few values at odd distances get cells of one size: what they hold is to be read, and the tics name them.
Scale side_by_side(Scale scale) {
    if (scale.uniform || scale.logarithmic || scale.at.size() > kMostLabels) return scale;
    for (std::size_t k = 0; k < scale.at.size(); ++k) scale.at[k] = static_cast<double>(k);
    for (std::size_t k = 0; k < scale.edges.size(); ++k) scale.edges[k] = static_cast<double>(k) - 0.5;
    return scale;
}

Script heat_map_script(const SweepTable& table, const Reduced& reduced, const std::string& quantity,
                       const Canvas& canvas, const FigureWishes& wishes) {
    const auto scale_of = [](const Scale& scale, const std::optional<bool>& logarithmic, const AxisRange& range) {
        const Scale wished = as_wished(scale, logarithmic);
        return range.given() ? wished : side_by_side(wished);  // ranges are of values
    };
    const Scale x = scale_of(reduced.scales[0], wishes.log_x, wishes.x);
    const Scale y = scale_of(reduced.scales[1], wishes.log_y, wishes.y);
    const ColorScale colors(reduced.values, wishes.colors);
    const bool few = x.at.size() <= kMostLabels && y.at.size() <= kMostLabels;
    Script script = figure_head(title_of(table, quantity, reduced.scales), canvas);
    script.add("set xlabel {}\nset ylabel {}\nset cblabel {} offset 1,0\n", Text{x.label}, Text{y.label},
               Text{reduced.label});
    const LabelRoom room = room_on(canvas);
    add_tics(script, "x", x, room.across);
    add_tics(script, "y", y, std::string::npos);
    add_range(script, "x", x);
    add_range(script, "y", y);
    colors.add_to(script);
    add_wishes(script, wishes, {x.edges.front(), x.edges.back()}, {y.edges.front(), y.edges.back()});
    script.add(
        "set tics out scale 0.5\nset border 0\nset colorbox user origin graph 1.03, graph 0 size 0.022, graph 1 "
        "noborder\nset rmargin at screen {}\nunset key\n",
        room.narrow ? 0.78 : 0.85);

    std::vector<std::vector<double>> cells;
    std::vector<std::vector<double>> missing;
    std::vector<std::vector<double>> numbers;
    for (std::size_t i = 0; i < x.at.size(); ++i) {
        for (std::size_t j = 0; j < y.at.size(); ++j) {
            const double value = reduced.values[i * y.at.size() + j];
            std::vector<double> box{x.at[i], y.at[j], x.edges[i], x.edges[i + 1], y.edges[j], y.edges[j + 1]};
            if (!std::isfinite(value)) {
                missing.push_back(std::move(box));
                continue;
            }
            box.push_back(value);
            cells.push_back(std::move(box));
            const bool bright = brightness(colors.color(value)) > 0.5f;
            if (few) numbers.push_back({x.at[i], y.at[j], value, static_cast<double>(bright ? 0x202020 : 0xffffff)});
        }
    }
    std::vector<Script> plots;
    if (!missing.empty()) {
        script.block(Script("missing"), missing).add("set key outside below right samplen 1.5\n");
        plots.emplace_back(
            "$missing using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1.0 border linecolor rgb \"white\" fillcolor "
            "rgb \"#d9d9d9\" title \"no value\"");
    }
    if (!cells.empty()) {
        script.block(Script("cells"), cells);
        // The border closes the seam that a smoothed edge leaves between neighbours; where cells are few it parts them.
        plots.emplace_back("$cells using 1:2:3:4:5:6:7 with boxxyerror fillcolor palette {} notitle",
                           few ? Word("linewidth 2 fillstyle solid 1.0 border linecolor rgb \"white\"")
                               : Word("linewidth 1 fillstyle solid 1.0 border"));
    }
    if (!numbers.empty()) {
        script.block(Script("numbers"), numbers);
        plots.emplace_back("$numbers using 1:2:(sprintf(\"%.3g\", $3)):4 with labels textcolor rgb variable notitle");
    }
    return script.plot(plots);
}

/// From 0 if all values are above and `zero`; with room for numbers on top.
std::pair<double, double> value_limits(const Reduced& reduced, bool zero) {
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
    if (margin == 0.0) margin = high == 0.0 ? 1.0 : std::max(1e-3 * std::abs(high), std::numeric_limits<double>::min());
    return {zero && low == 0.0 ? 0.0 : low - margin, high + margin};
}

/// The least and largest number; of none, the least is above.
std::pair<double, double> reach_of(const std::vector<double>& values) {
    double least = std::numeric_limits<double>::infinity();
    double most = -least;
    for (const double value : values) {
        if (!std::isfinite(value)) continue;
        least = std::min(least, value);
        most = std::max(most, value);
    }
    return {least, most};
}

Script curve_script(const SweepTable& table, const Reduced& reduced, const std::string& quantity, bool bars,
                    const Canvas& canvas, const FigureWishes& wishes) {
    if (wishes.colors.given()) throw InputError("--cbrange: only maps have colours");
    const Scale x = as_wished(reduced.scales[0], wishes.log_x);
    bars = bars && !x.logarithmic && x.uniform && x.at.size() <= kMostBars;
    Script script = figure_head(title_of(table, quantity, reduced.scales), canvas);
    script.add("set xlabel {}\nset ylabel {}\n", Text{x.label}, Text{reduced.label});
    add_tics(script, "x", x, room_on(canvas).across);
    const auto [low, high] = value_limits(reduced, bars);
    script.add("set yrange [{}:{}]\n", low, high);
    if (bars || x.words) {
        add_range(script, "x", x);
    } else {
        script.add("set offsets graph 0.02, graph 0.02\nset autoscale xfix\n");
    }
    add_wishes(script, wishes, {x.at.front(), x.at.back()}, reach_of(reduced.values));
    if (wishes.log_y.value_or(false) && !wishes.y.given()) script.add("set yrange [*:*] extend\n");
    script.add(
        "set grid ytics back linecolor rgb \"#c8c8c8\" linewidth 1 dashtype 3\nset tics out scale 0.5\nunset key\n");
    std::vector<std::vector<double>> rows;
    for (std::size_t k = 0; k < x.at.size(); ++k) {
        rows.push_back({x.at[k], reduced.values[k], reduced.errors.empty() ? std::nan("") : reduced.errors[k]});
    }
    script.block(Script("data"), rows);
    std::vector<Script> plots;
    const auto theory =
        bars || x.words ? std::nullopt : table_theory(x.label, reduced.label, x.at.front(), x.at.back());
    if (theory) {
        rows.clear();
        for (std::size_t k = 0; k < theory->x.size(); ++k) rows.push_back({theory->x[k], theory->y[k]});
        script.block(Script("theory"), rows).add("set key {}\n", kKeyBelow);
        plots.emplace_back("$theory using 1:2 with lines linecolor rgb \"#101010\" linewidth 2.2 title {}",
                           Text{theory->label});
    }
    if (bars) {
        script.add("set boxwidth {}\n", (x.at.size() <= kMostLabels ? 0.72 : 0.9) * (x.edges[1] - x.edges[0]));
        plots.emplace_back("$data using 1:2 with boxes fillstyle solid 1.0 noborder fillcolor rgb \"{}\"", kBlue);
        if (x.at.size() <= kMostLabels && reduced.errors.empty()) {
            plots.emplace_back(
                "$data using 1:2:(sprintf(\"%.4g\", $2)) with labels offset 0,0.7 textcolor rgb \"#202020\"");
        }
    } else {
        if (!x.words && !theory && x.at.size() <= kMostInALine) {
            plots.emplace_back("$data using 1:2 with lines linecolor rgb \"{}\" linewidth 1.8", kBlue);
        }
        plots.emplace_back("$data using 1:2{} linecolor rgb \"{}\" linewidth 1.8 pointtype 7 pointsize {}{}",
                           reduced.errors.empty() ? Word(" with points") : Word(":3 with yerrorbars"), kBlue,
                           x.at.size() > 100 ? 0.4 : 1.0, theory ? Word(" title 'measured'") : Word(""));
    }
    if (bars && !reduced.errors.empty()) {
        plots.emplace_back("$data using 1:2:3 with yerrorbars linecolor rgb \"#202020\" linewidth 1.6 pointtype 0");
    }
    return script.plot(plots);
}

}  // namespace

Script table_figure_script(const SweepTable& table, const TableView& view, const Canvas& canvas,
                           const FigureWishes& wishes) {
    const ChosenColumns chosen = choose_columns(table, view);
    const Reduced reduced = reduce_table(table, chosen, view.mean);
    const std::string& quantity = table.names[chosen.quantity];
    const auto beyond = [](double value) { return std::isfinite(value) && !can_be_drawn(value); };
    if (std::ranges::any_of(reduced.values, beyond) || std::ranges::any_of(reduced.errors, beyond)) {
        throw InputError(fmt::format("{}: '{}' has numbers beyond what a figure can show", table.path, quantity));
    }
    if (reduced.scales.size() == 2) return heat_map_script(table, reduced, quantity, canvas, wishes);
    const bool sums = table.axes > 1 && !view.mean;
    return curve_script(table, reduced, quantity, sums, canvas, wishes);
}

std::string table_figure_csv(const SweepTable& table, const TableView& view) {
    const Reduced reduced = reduce_table(table, choose_columns(table, view), view.mean);
    std::string text;
    for (const Scale& scale : reduced.scales) text += csv_field(scale.label) + ",";
    text += csv_field(reduced.label) + (reduced.errors.empty() ? "\n" : ",standard error\n");
    const std::size_t inner = reduced.scales.size() == 2 ? reduced.scales[1].texts.size() : 1;
    for (std::size_t cell = 0; cell < reduced.values.size(); ++cell) {
        text += csv_field(reduced.scales[0].texts[cell / inner]) + ",";
        if (reduced.scales.size() == 2) text += csv_field(reduced.scales[1].texts[cell % inner]) + ",";
        text += csv_number(reduced.values[cell]);
        if (!reduced.errors.empty()) text += "," + csv_number(reduced.errors[cell]);
        text += '\n';
    }
    return text;
}

}  // namespace carom
