#include "host/plot/figure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "host/state/errors.hpp"

namespace carom {

namespace {

/// The colours of curves, half as bright.
constexpr std::array<Word, 7> kShades{"#003959", "#734F00", "#004F39", "#6A2F00", "#663C53", "#2B5A74", "#222222"};

/// What a linear axis shows. Equal values everywhere would give gnuplot a range of nothing, and rounding noise on a
/// conserved quantity a range of its own; so the range is at least a little of the largest value.
std::pair<double, double> y_limits(const Figure& figure, bool right) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    bool any_negative = false;
    bool from_zero = false;
    for (const Curve& curve : figure.curves) {
        if (curve.right != right) continue;
        from_zero = from_zero || curve.points || curve.boxes;
        if (curve.theory && curve.dashed && !curve.thick) continue;  // for comparison only: may be cut off
        for (std::size_t k = 0; k < curve.y.size(); ++k) {
            const double error = k < curve.error.size() && std::isfinite(curve.error[k]) ? curve.error[k] : 0.0;
            if (!std::isfinite(curve.y[k]) || !figure.x_range.holds(curve.x[k])) continue;
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
    if (!right && size < figure.y_least) return {-figure.y_least, figure.y_least};
    if (size == 0.0) margin = 1.0;
    return {low == 0.0 ? low : low - margin, high + margin};
}

/// What there is along an axis; what a logarithmic one cannot show is left out. Of nothing the least is above.
std::pair<double, double> reach(const Figure& figure, bool of_x, bool right, bool logarithmic) {
    double least = std::numeric_limits<double>::infinity();
    double most = -least;
    for (const Curve& curve : figure.curves) {
        if (curve.right != right && !of_x) continue;
        for (std::size_t k = 0; k < curve.x.size(); ++k) {
            const double value = of_x ? curve.x[k] : curve.y[k];
            if (!std::isfinite(curve.y[k]) || (logarithmic && !(value > 0.0))) continue;
            least = std::min(least, value);
            most = std::max(most, value);
        }
    }
    return {least, most};
}

/// Whether a curve has a point that a logarithmic axis could show.
bool any_positive(const Figure& figure, bool of_x, bool right) { return reach(figure, of_x, right, true).second > 0.0; }

Script end_of(const std::optional<double>& value) { return value ? Script("{:.9g}", *value) : Script("*"); }

/// Where a logarithmic axis begins if theory goes on far below what was measured: an exponential, or small lags, would
/// leave no room for that.
std::optional<double> low_end_of_measured(const Figure& figure, bool of_x, bool right) {
    constexpr double kBelow = 0.1;
    double measured = std::numeric_limits<double>::infinity();
    double all = measured;
    for (const Curve& curve : figure.curves) {
        if (curve.right != right && !of_x) continue;
        for (const double value : of_x ? curve.x : curve.y) {
            if (!std::isfinite(value) || !(value > 0.0)) continue;
            all = std::min(all, value);
            if (!curve.thick) measured = std::min(measured, value);
        }
    }
    if (std::isinf(measured) || !(all < kBelow * measured)) return std::nullopt;
    return of_x ? measured : kBelow * measured;
}

/// What a logarithmic axis shows: whole decades. Where nothing has a place on it gnuplot finds none, and gives up.
Script log_range(const Figure& figure, bool of_x, bool right = false) {
    const AxisRange& asked = of_x ? figure.x_range : right ? AxisRange{} : figure.y_range;
    if (asked.low && asked.high) return Script("[{}:{}] noextend", end_of(asked.low), end_of(asked.high));
    if (!any_positive(figure, of_x, right)) return Script("[0.1:10]");
    std::optional<double> low = asked.low;
    if (!low && !asked.high) low = low_end_of_measured(figure, of_x, right);
    return Script("[{}:{}] extend", end_of(low), end_of(asked.high));
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
    if (curve.hollow) return curve.error.empty() ? Word("points pointtype 6") : Word("yerrorbars pointtype 6");
    constexpr std::size_t kMany = 100;  // that would be a band if they were as large as few
    const bool many = curve.x.size() > kMany;
    if (!curve.error.empty()) {
        return many ? Word("yerrorbars pointtype 7 pointsize 0.6") : Word("yerrorbars pointtype 7 pointsize 1");
    }
    if (curve.points) return many ? Word("points pointtype 7 pointsize 0.6") : Word("points pointtype 7 pointsize 1");
    if (curve.marked) return "linespoints pointtype 7 pointsize 0.6";
    if (one && curve.thick) return "points pointtype 2 pointsize 2";
    return one ? Word("points pointtype 7") : Word("lines");
}

/// \param place    of the curve in its figure; its data are in a block of that number
/// \param letters  that a line of the key has room for
void add_plots(std::vector<Script>& plots, const Figure& figure, std::size_t place, std::size_t letters) {
    const Curve& curve = figure.curves[place];
    const bool mean = curve.mean_of >= 0;
    const std::size_t of = mean ? static_cast<std::size_t>(curve.mean_of) : place;
    const int own = figure.curves[of].color;
    const std::size_t color = (own >= 0 ? static_cast<std::size_t>(own) : of) % kCurveColors.size();
    const Word rgb = mean ? kShades[color] : curve.thick ? Word("#101010") : kCurveColors[color];
    const bool band = curve.band && curve.x.size() >= 2;
    if (band) {
        plots.emplace_back(
            "$curve{} using 1:($2-$3):($2+$3){} with filledcurves fillcolor rgb \"{}\" fillstyle transparent solid "
            "0.25 "
            "noborder notitle",
            place, curve.right ? Word(" axes x1y2") : Word(""), rgb);
    }
    const std::vector<std::string> lines = broken_into_lines(curve.label, letters);
    plots.emplace_back("$curve{} using 1:2{}{} with {} linecolor rgb \"{}\" linewidth {}{} {}", place,
                       curve.error.empty() || band ? Word("") : Word(":3"), curve.right ? Word(" axes x1y2") : Word(""),
                       style_of(curve), rgb, curve.thick ? 2.2 : (curve.error.empty() ? 1.8 : 1.2),
                       curve.dashed ? Word(" dashtype 2") : Word(""),
                       lines.empty() ? Script("notitle") : Script("title {}", Text{lines.front()}));
    // A label of several lines overlaps with its neighbours in gnuplot 5.4.
    for (std::size_t k = 1; k < lines.size(); ++k) plots.emplace_back("keyentry title {}", Text{lines[k]});
}

constexpr double kFew = 5.5;
constexpr double kMany = 10.0;
constexpr double kHair = 1e-9;  // of a tic: rounding

/// 1, 2 or 5 times a power of ten, of which a range holds no more than so many; 0 where there is no range.
double tic_step(double low, double high, double most) {
    if (!(high > low) || !std::isfinite(high - low)) return 0.0;
    const double least = (high - low) / most;
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    const double digit = least / power;
    return power * (digit <= 1.0 ? 1.0 : digit <= 2.0 ? 2.0 : digit <= 5.0 ? 5.0 : 10.0);
}

/// gnuplot sets tics of a narrow figure so densely that their numbers touch.
Script few_tics(Word axis, double low, double high) {
    const double step = tic_step(low, high, kFew);
    return step > 0.0 ? Script("set {}tics {:.9g}\n", axis, step) : Script();
}

/// A linear axis that begins and ends at tics, but for ends that are asked for: what lies between the corner and the
/// first tic could be read off at none.
Script from_tic_to_tic(Word axis, std::pair<double, double> shown, const AxisRange& asked, bool narrow) {
    double low = asked.low.value_or(shown.first);
    double high = asked.high.value_or(shown.second);
    const double step = tic_step(low, high, narrow ? kFew : kMany);
    if (step > 0.0 && !asked.low) low = step * std::floor(low / step + kHair);
    if (step > 0.0 && !asked.high) high = step * std::ceil(high / step - kHair);
    // Far from 0 tics differ in late digits.
    constexpr int kDigits = 6;
    constexpr int kMostDigits = 15;
    const double size = std::max(std::abs(low), std::abs(high));
    const int digits = step > 0.0
                           ? std::clamp(static_cast<int>(std::ceil(std::log10(size / step))) + 1, kDigits, kMostDigits)
                           : kDigits;
    Script script("set {0}range [{1:.{3}g}:{2:.{3}g}]\n", axis, low, high, std::max(9, digits + 2));
    if (step > 0.0) script.add("set {}tics {:.9g}\n", axis, step);
    if (digits > kDigits) script.add("set format {} \"%.{}g\"\n", axis, digits);
    return script;
}

/// What an axis of x without a range shows.
std::pair<double, double> x_limits(const Figure& figure) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const Curve& curve : figure.curves) {
        for (const double x : curve.x) {
            low = std::min(low, x);
            high = std::max(high, x);
        }
    }
    return {figure.x_range.low.value_or(figure.x_from.value_or(low)),
            figure.x_range.high.value_or(figure.x_to.value_or(high))};
}

/// A linear axis of x: it begins at a tic, as those of y do, and ends where the data end, or at a tic not far behind.
Script from_tic_to_end(const Figure& figure, bool narrow) {
    const auto [low, high] = x_limits(figure);
    if (!(high > low) || !std::isfinite(high - low)) {
        const std::optional<double> from = figure.x_range.low ? figure.x_range.low : figure.x_from;
        const std::optional<double> to = figure.x_range.high ? figure.x_range.high : figure.x_to;
        return Script("set xrange [{}:{}] noextend\n", end_of(from), end_of(to));
    }
    constexpr double kNotFar = 0.03;  // of the axis
    const double step = tic_step(low, high, narrow ? kFew : kMany);
    const bool near_tic = step * std::ceil(high / step - kHair) - high < kNotFar * (high - low);
    return from_tic_to_tic("x", {low, high}, {.low = figure.x_range.low, .high = near_tic ? figure.x_range.high : high},
                           narrow);
}

/// Of more curves than these a key would leave no room for them.
bool has_key(const Figure& figure) {
    constexpr std::size_t kMost = 40;
    return figure.curves.size() > 1 && figure.curves.size() <= kMost;
}

/// A label beside an axis, in as many lines as it needs.
Script beside(const std::string& label, const LabelRoom& room) {
    Script lines;
    for (const std::string& line : broken_into_lines(label, room.up)) {
        if (!lines.empty()) lines.add(".\"\\n\".");
        lines.add("{}", LineText{line});
    }
    return lines.empty() ? Script("{}", Text{}) : Script("{} noenhanced", lines);
}

}  // namespace

Curve drawn(TheoryCurve curve) {
    Curve result{.label = std::move(curve.label), .x = std::move(curve.x), .y = std::move(curve.y)};
    result.dashed = curve.dashed;
    result.thick = !curve.rough && !curve.points;
    result.points = curve.points;
    result.theory = true;
    if (curve.points) result.color = 3;
    return result;
}

std::vector<Curve> drawn(std::vector<TheoryCurve> curves) {
    std::vector<Curve> result;
    for (TheoryCurve& curve : curves) result.push_back(drawn(std::move(curve)));
    return result;
}

void add_range(Script& script, Word axis, const AxisRange& range) {
    if (range.given()) script.add("set {}range [{}:{}]\n", axis, end_of(range.low), end_of(range.high));
}

void add_figure(Script& script, const Figure& figure, const LabelRoom& room) {
    const bool right = !figure.right_label.empty();
    // Nearer to its axis than gnuplot has it, or the labels below would touch it.
    script.add("set xlabel {} offset 0,0.6\nset ylabel {}\n",
               Text{axis_label(figure.x_label, figure.x_unit, figure.units)},
               beside(axis_label(figure.y_label, figure.y_unit, figure.units), room));
    script.add("set grid back linecolor rgb \"#c8c8c8\" linewidth 1 dashtype 3\nunset logscale\n");
    script.add("set xtics autofreq\nset ytics autofreq\n");  // as a panel before may not have had them
    if (has_key(figure)) {
        script.add("set key {}{}\n", kKeyBelow, room.narrow ? Word(" maxcols 1 samplen 1.5 spacing 1.1") : Word(""));
    } else {
        script.add("unset key\n");
    }
    if (figure.log_x) {
        script.add("set logscale x\nset format x \"%h\"\nset xrange {}\n", log_range(figure, true));
    } else {
        script.add("set format x \"%.6g\"\n");
        script.add(from_tic_to_end(figure, room.narrow));
    }
    if (figure.log_y) {
        script.add("set logscale y\nset format y \"%h\"\nset yrange {}\n", log_range(figure, false));
    } else {
        script.add("set format y \"%.6g\"\n");
        script.add(from_tic_to_tic("y", y_limits(figure, false), figure.y_range, room.narrow));
    }
    if (right) {
        script.add("set border 11\nset ytics nomirror\nset y2tics\nset y2label {}\n",
                   beside(axis_label(figure.right_label, figure.right_unit, figure.units), room));
        if (figure.log_y) {
            script.add("set logscale y2\nset format y2 \"%h\"\nset y2range {}\n", log_range(figure, false, true));
        } else {
            script.add("set format y2 \"%.6g\"\n");
            script.add(from_tic_to_tic("y2", y_limits(figure, true), {}, room.narrow));
        }
    }
    // Ends of error bars are no wider than what lies between points.
    constexpr std::size_t kWithEnds = 20;
    const bool crowded = std::ranges::any_of(figure.curves, [](const Curve& curve) {
        return !curve.error.empty() && !curve.band && curve.x.size() > kWithEnds;
    });
    if (crowded) script.add("set errorbars 0\n");
    // Points stand over lines, which would cover them where theory is right.
    std::vector<Script> plots;
    std::vector<Script> points;
    for (std::size_t k = 0; k < figure.curves.size(); ++k) {
        const Curve& curve = figure.curves[k];
        script.block(Script("curve{}", k), rows_of(curve));
        const bool single = curve.points || curve.hollow || (!curve.error.empty() && !curve.band);
        add_plots(single ? points : plots, figure, k, room.across);
    }
    plots.insert(plots.end(), points.begin(), points.end());
    script.plot(plots);
}

namespace {

/// The cells as points of an image, of which gnuplot wants two at least along either axis and else draws nothing: a row
/// by itself, or a column, is two of half its width.
std::vector<std::vector<double>> image_of(const MapFigure& map) {
    std::vector<std::vector<double>> points = map.cells;
    for (std::size_t axis = 0; axis < map.cell.size(); ++axis) {
        const auto in_first = [&](const std::vector<double>& cell) { return cell[axis] == map.cells.front()[axis]; };
        if (!std::ranges::all_of(map.cells, in_first)) continue;
        std::vector<std::vector<double>> others = points;
        for (std::vector<double>& point : points) point[axis] -= 0.25 * map.cell[axis];
        for (std::vector<double>& point : others) point[axis] += 0.25 * map.cell[axis];
        std::ranges::move(others, std::back_inserter(points));
    }
    return points;
}

void add_map(Script& script, const MapFigure& map, const LabelRoom& room) {
    script.add("set xlabel {}\nset ylabel {}\nset cblabel {}\n", Text{axis_label(map.x_label, map.x_unit, map.units)},
               Text{axis_label(map.y_label, map.y_unit, map.units)}, Text{axis_label(map.label, map.unit, map.units)});
    script.add("set size ratio {}\n", map.ratio);
    add_range(script, "x", map.x_range);
    add_range(script, "y", map.y_range);
    // Viridis, by a few of its colours.
    script.add(
        "set palette defined (0 \"#440154\", 1 \"#3b528b\", 2 \"#21918c\", 3 \"#5ec962\", 4 \"#fde725\")\n"
        "set border 15\nset tics out scale 0.5\nunset key\n");
    add_range(script, "cb", map.colors);
    if (room.narrow) {
        double most = 0.0;
        for (const std::vector<double>& cell : map.cells) most = std::max(most, std::isfinite(cell[2]) ? cell[2] : 0.0);
        script.add(few_tics("x", *map.x_range.low, *map.x_range.high));
        script.add(few_tics("y", *map.y_range.low, *map.y_range.high));
        script.add(few_tics("cb", map.colors.low.value_or(0.0), map.colors.high.value_or(most)));
    }
    script.block(Script("map"), image_of(map));
    std::vector<Script> plots{Script("$map using 1:2:3 with image")};
    if (map.arrow_scale > 0.0) {  // in the middles of cells
        script.block(Script("arrows"), map.cells);
        plots.emplace_back(
            "$arrows using ($1 - 0.5 * {0} * $4):($2 - 0.5 * {0} * $5):({0} * $4):({0} * $5) with vectors head filled "
            "size graph 0.006,25 linecolor rgb \"white\"",
            map.arrow_scale);
    }
    script.plot(plots);
}

std::string curves_csv(const Figure& figure) {
    const bool right = !figure.right_label.empty();
    const bool errors = std::ranges::any_of(figure.curves, [](const Curve& curve) { return !curve.error.empty(); });
    const auto head = [&](const std::string& label, const std::string& unit) {
        return csv_field(axis_label(label, unit, figure.units));
    };
    std::string table =
        fmt::format("curve,{},{}", head(figure.x_label, figure.x_unit), head(figure.y_label, figure.y_unit));
    if (right) table += "," + head(figure.right_label, figure.right_unit);
    table += errors ? ",standard error\n" : "\n";
    for (const Curve& curve : figure.curves) {
        const std::string name =
            csv_field(curve.mean_of < 0 ? curve.label
                                        : figure.curves[static_cast<std::size_t>(curve.mean_of)].label + ", the mean");
        for (std::size_t k = 0; k < curve.x.size(); ++k) {
            const std::string y = csv_number(curve.y[k]);
            table += fmt::format("{},{},{}", name, csv_number(curve.x[k]), curve.right ? "" : y);
            if (right) table += "," + (curve.right ? y : std::string());
            if (errors) table += "," + (curve.error.empty() ? std::string() : csv_number(curve.error[k]));
            table += '\n';
        }
    }
    return table;
}

std::string map_csv(const MapFigure& map) {
    std::string table =
        fmt::format("{},{},{}{}\n", csv_field(axis_label(map.x_label, map.x_unit, map.units)),
                    csv_field(axis_label(map.y_label, map.y_unit, map.units)),
                    csv_field(axis_label(map.label, map.unit, map.units)),
                    map.arrow_scale > 0.0 ? fmt::format(",along {},along {}", map.x_label, map.y_label) : "");
    for (const std::vector<double>& cell : map.cells) {
        const std::size_t columns = map.arrow_scale > 0.0 ? cell.size() : 3;
        for (std::size_t k = 0; k < columns; ++k) table += (k > 0 ? "," : "") + csv_number(cell[k]);
        table += '\n';
    }
    return table;
}

/// Of the labels below a figure, two of which stand beside each other where there is room.
std::size_t key_lines(const Figure& figure, const LabelRoom& room) {
    std::size_t lines = 0;
    std::size_t longest = 0;
    for (const Curve& curve : figure.curves) {
        lines += broken_into_lines(curve.label, room.across).size();
        longest = std::max(longest, curve.label.size());
    }
    return !has_key(figure) ? 0 : room.narrow || 2 * longest > room.across ? lines : (lines + 1) / 2;
}

AxisRange either(const AxisRange& asked, const AxisRange& own) {
    return {asked.low ? asked.low : own.low, asked.high ? asked.high : own.high};
}

void apply_to(const FigureWishes& wishes, Figure& figure) {
    if (wishes.colors.given()) throw InputError("--cbrange: only maps have colours");
    figure.x_range = wishes.x;
    figure.y_range = wishes.y;
    figure.log_x = wishes.log_x.value_or(figure.log_x);
    figure.log_y = wishes.log_y.value_or(figure.log_y);
    if (!wishes.units) figure.units.reduced = true;
    for (const bool of_x : {true, false}) {
        const std::optional<bool>& asked = of_x ? wishes.log_x : wishes.log_y;
        const char* axis = of_x ? "x" : "y";
        if (asked.value_or(false) && !any_positive(figure, of_x, false)) {
            throw InputError(fmt::format("--log: nothing of '{}' is above 0 along {}", figure.title, axis));
        }
        const AxisRange& range = of_x ? figure.x_range : figure.y_range;
        if ((of_x ? figure.log_x : figure.log_y) &&
            (range.low.value_or(1.0) <= 0.0 || range.high.value_or(1.0) <= 0.0)) {
            throw InputError(fmt::format("--{}range: a logarithmic axis shows only what is above 0", axis));
        }
        const auto [least, most] = reach(figure, of_x, false, of_x ? figure.log_x : figure.log_y);
        require_within(range, least, most, axis);
    }
}

void apply_to(const FigureWishes& wishes, MapFigure& map) {
    if (wishes.log_x || wishes.log_y) throw InputError("--log: the axes of a map are places in the box");
    const auto span = [](const AxisRange& range) { return *range.high - *range.low; };
    const double across = span(map.x_range);
    const double up = span(map.y_range);
    map.x_range = either(wishes.x, map.x_range);
    map.y_range = either(wishes.y, map.y_range);
    map.ratio *=
        std::abs(span(map.y_range) / up) / std::abs(span(map.x_range) / across);  // lengths are as long either way
    map.colors = either(wishes.colors, map.colors);
    if (!wishes.units) map.units.reduced = true;
}

}  // namespace

void require_within(const AxisRange& range, double least, double most, const char* axis) {
    if (least > most) return;  // nothing at all
    const bool from = range.low && !range.high && *range.low >= most;
    const bool to = range.high && !range.low && *range.high <= least;
    if (!from && !to) return;
    throw InputError(fmt::format("--{}range: {} {:g} there is nothing; what there is goes from {:g} to {:g}", axis,
                                 from ? "from" : "up to", from ? *range.low : *range.high, least, most));
}

void apply_wishes(const FigureWishes& wishes, Drawing& drawing) {
    std::visit([&](auto& figure) { apply_to(wishes, figure); }, drawing);
}

Script figure_script(const Drawing& drawing, const Canvas& canvas) {
    const auto* const figure = std::get_if<Figure>(&drawing);
    if (figure == nullptr) {
        const auto& map = std::get<MapFigure>(drawing);
        Script script = figure_head(map.title, canvas);
        add_map(script, map, room_on(canvas));
        return script;
    }
    const Canvas higher = with_key(canvas, key_lines(*figure, room_on(canvas)));
    Script script = figure_head(figure->title, higher);
    add_figure(script, *figure, room_on(canvas));
    return script;
}

std::string figure_words(const Drawing& drawing) {
    const auto over = [](const std::string& what, const std::string& unit, const auto& figure, double low,
                         double high) {
        const std::string label = axis_label(what, unit, figure.units);
        return low <= high ? fmt::format("{} from {:.4g} to {:.4g}", label, low, high) : label + " without a value";
    };
    if (const auto* const map = std::get_if<MapFigure>(&drawing)) {
        double low = std::numeric_limits<double>::infinity();
        double high = -low;
        for (const auto& cell : map->cells) {
            if (!std::isfinite(cell[2])) continue;
            low = std::min(low, cell[2]);
            high = std::max(high, cell[2]);
        }
        return fmt::format("map of {}, over {} and {}", over(map->label, map->unit, *map, low, high),
                           axis_label(map->x_label, map->x_unit, map->units),
                           axis_label(map->y_label, map->y_unit, map->units));
    }
    const auto& figure = std::get<Figure>(drawing);
    double from = std::numeric_limits<double>::infinity();
    double to = -from;
    std::string curves;
    for (const Curve& curve : figure.curves) {
        double low = std::numeric_limits<double>::infinity();
        double high = -low;
        for (std::size_t k = 0; k < curve.y.size(); ++k) {
            if (!std::isfinite(curve.y[k])) continue;
            low = std::min(low, curve.y[k]);
            high = std::max(high, curve.y[k]);
            from = std::min(from, curve.x[k]);
            to = std::max(to, curve.x[k]);
        }
        if (low > high || curve.mean_of >= 0) continue;
        curves += fmt::format("; {}{}: {:.4g} to {:.4g}", curve.label.empty() ? figure.y_label : curve.label,
                              curve.theory ? " (theory)" : "", low, high);
    }
    return fmt::format("{} over {}{}", axis_label(figure.y_label, figure.y_unit, figure.units),
                       over(figure.x_label, figure.x_unit, figure, from, to), curves);
}

std::string figure_csv(const Drawing& drawing) {
    if (const auto* const figure = std::get_if<Figure>(&drawing)) return curves_csv(*figure);
    return map_csv(std::get<MapFigure>(drawing));
}

std::string csv_field(const std::string& words) {
    std::string text = figure_text(words);
    if (text.find_first_of(",\"") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
    return quoted + '"';
}

std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string axis_label(const std::string& label, const std::string& unit, const UnitNames& names) {
    const std::string text = names.of(unit);
    return text.empty() ? label : fmt::format("{} [{}]", label, text);
}

}  // namespace carom
