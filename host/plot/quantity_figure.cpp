#include "host/plot/quantity_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "host/plot/average_figure.hpp"
#include "host/plot/figure.hpp"
#include "host/plot/run_figure.hpp"
#include "host/state/errors.hpp"
#include "host/theory/measured_run.hpp"

namespace carom {

std::vector<std::string> all_quantities(const TrajectoryReader& trajectory) {
    std::vector<std::string> quantities{"energy", "pressure", "temperature"};
    for (const std::string& name : quantities_with_theory(trajectory)) {
        if (std::ranges::find(quantities, name) == quantities.end()) quantities.push_back(name);
    }
    for (const std::string& name : rows_of_interest(trajectory)) {
        if (std::ranges::find(quantities, name) == quantities.end()) quantities.push_back(name);
    }
    std::vector<std::string> averages = average_quantities(trajectory);
    for (const AverageInfo& info : trajectory.header().averages) {
        if (is_number_quantity(trajectory, info.name)) averages.push_back(info.name);
    }
    for (const std::string& name : averages) {
        std::erase(quantities, name);  // an average that is called "pressure" is drawn in the place of the rows
        quantities.push_back(name);
    }
    return quantities;
}

namespace {

/// The curve of theory that a measured one is held against: the one that is called so too, or of its colour, or the
/// first; none where theory has nothing but points and rough lines.
const Curve* theory_for(const Figure& figure, const Curve& measured) {
    const Curve* first = nullptr;
    const Curve* of_color = nullptr;
    for (const Curve& curve : figure.curves) {
        if (!curve.theory || curve.points || curve.x.size() < 2) continue;
        if (curve.label.ends_with(", " + measured.label)) return &curve;
        if (of_color == nullptr && curve.color >= 0 && curve.color == measured.color) of_color = &curve;
        if (first == nullptr && curve.color < 0) first = &curve;
    }
    return of_color != nullptr ? of_color : first;
}

/// What is measured less theory.
Figure residuals_of(const Figure& figure, bool absolute) {
    Figure result = figure;
    result.curves.clear();
    const auto has_errors = [](const Curve& curve) {
        return std::ranges::any_of(curve.error, [](double error) { return error > 0.0; });
    };
    const auto left_out = [&](const Curve& curve) {
        return curve.theory || curve.mean_of >= 0 || curve.hollow || theory_for(figure, curve) == nullptr;
    };
    // One axis has one unit: standard errors, or the quantity's own where a curve has none.
    const bool in_errors =
        std::ranges::all_of(figure.curves, [&](const Curve& curve) { return left_out(curve) || has_errors(curve); });
    std::string theory_label;
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const Curve& curve : figure.curves) {
        if (left_out(curve)) continue;
        const Curve* theory = theory_for(figure, curve);
        theory_label = theory->label;
        Curve rest = curve;
        rest.x.clear();
        rest.y.clear();
        rest.error.clear();
        rest.band = false;
        for (std::size_t k = 0; k < curve.x.size(); ++k) {
            if (curve.x[k] < theory->x.front() || curve.x[k] > theory->x.back()) continue;
            if (in_errors && !(curve.error[k] > 0.0)) continue;
            const double off =
                (curve.y[k] - interpolated(theory->x, theory->y, curve.x[k])) / (in_errors ? curve.error[k] : 1.0);
            rest.x.push_back(curve.x[k]);
            rest.y.push_back(absolute ? std::abs(off) : off);
            low = std::min(low, curve.x[k]);
            high = std::max(high, curve.x[k]);
        }
        if (!rest.x.empty()) result.curves.push_back(std::move(rest));
    }
    if (result.curves.empty())
        throw InputError(figure.title + ": there is no theory to take off, or no error to go by");
    result.title += ", less theory";
    result.y_label = (absolute ? "size of the difference from theory" : "difference from theory");
    if (in_errors) {
        result.y_label += " [standard errors]";
        result.y_unit.clear();
    }
    result.log_y = false;
    if (absolute) return result;
    Curve zero{.label = theory_label, .x = {low, high}, .y = {0.0, 0.0}, .thick = true};
    if (in_errors) {
        zero.label += ", and one standard error";
        zero.error = {1.0, 1.0};
        zero.band = true;
    }
    result.curves.push_back(std::move(zero));
    return result;
}

/// Lays a quantity's figure over those before it.
void lay_over(Figure& all, Figure one, const std::string& quantity, std::size_t& colors) {
    if (one.x_unit != all.x_unit) {
        throw InputError(fmt::format("'{}' is over {}, what is before it over {}: no figure has both", quantity,
                                     axis_label(one.x_label, one.x_unit, one.units),
                                     axis_label(all.x_label, all.x_unit, all.units)));
    }
    if (one.x_label != all.x_label) all.x_label += ", " + one.x_label;
    const bool right = one.y_unit != all.y_unit;
    if (right && !all.right_label.empty() && one.y_unit != all.right_unit) {
        throw InputError(fmt::format("'{}': a figure has two axes, and so two units at most: here [{}], [{}], [{}]",
                                     quantity, all.units.of(all.y_unit), all.units.of(all.right_unit),
                                     one.units.of(one.y_unit)));
    }
    std::string& label = right ? all.right_label : all.y_label;
    if (right) all.right_unit = one.y_unit;
    if (label != one.y_label) label += (label.empty() ? "" : ", ") + one.y_label;
    const int before = static_cast<int>(all.curves.size());
    int color = 0;
    const bool points =
        std::ranges::any_of(one.curves, [](const Curve& curve) { return !curve.theory && curve.points; });
    for (Curve& curve : one.curves) {
        if (curve.mean_of >= 0) {
            curve.mean_of += before;
        } else if (!curve.theory && !curve.hollow) {
            color = static_cast<int>(colors++);
            curve.color = color;
        } else if (curve.hollow) {  // of the points before
            curve.color = color;
            if (std::ranges::find(all.curves, curve.label, &Curve::label) != all.curves.end()) curve.label.clear();
        } else if (points) {  // theory in the colour of its points; over lines it would not be seen
            curve.color = color;
            curve.thick = false;
        }
        if (right) {
            curve.right = true;
            if (!curve.label.empty()) curve.label += " (right)";
        }
        all.curves.push_back(std::move(curve));
    }
    // What either shows.
    const auto farther = [](const std::optional<double>& a, const std::optional<double>& b, bool above) {
        return a && b ? std::optional(above ? std::max(*a, *b) : std::min(*a, *b)) : std::nullopt;
    };
    all.x_from = farther(all.x_from, one.x_from, false);
    all.x_to = farther(all.x_to, one.x_to, true);
    all.log_x = all.log_x && one.log_x;
    all.log_y = all.log_y && one.log_y;
}

/// With its quantity in each label, unless it says so already.
Figure told_apart(Figure figure, const std::string& quantity) {
    std::string name = quantity;
    std::ranges::replace(name, '_', ' ');
    for (Curve& curve : figure.curves) {
        if (curve.hollow || curve.label.empty() || curve.label.find(figure.y_label) != std::string::npos) continue;
        if (curve.label == "measured") {
            curve.label = name;
        } else {
            curve.label = fmt::format("{}, {}", name, curve.label);
        }
    }
    return figure;
}

}  // namespace

namespace {

double first_value(const Curve& curve) {
    const auto first = std::ranges::find_if(curve.y, [](double y) { return std::isfinite(y); });
    return first == curve.y.end() ? std::nan("") : *first;
}

constexpr double kRounding = 1e-15;  // of a sum of many numbers, relative

/// How far a curve goes from its first value.
double farthest(const Curve& curve) {
    double way = 0.0;
    for (const double y : curve.y) {
        if (std::isfinite(y)) way = std::max(way, std::abs(y - first_value(curve)));
    }
    return way;
}

/// The curves of what is conserved over a run, by what it did: energies alone would show flat lines. None where
/// something changes by so much that one sees it, or theory says how.
std::optional<Figure> conserved_in(const Figure& figure, const std::string& quantity) {
    constexpr double kConserved = 1e-3;  // of the first value
    constexpr double kSeen = 1e-2;       // parts that swing by less are flat lines beside their sum
    static constexpr std::array<std::string_view, 4> kKnown{"energy", "total_energy", "momentum", "angular_momentum"};
    if (std::ranges::find(kKnown, quantity) == kKnown.end()) return std::nullopt;
    Figure kept = figure;
    std::erase_if(kept.curves, [](const Curve& curve) { return curve.mean_of >= 0; });
    if (std::ranges::any_of(kept.curves, &Curve::theory)) return std::nullopt;
    const auto sum = std::ranges::find_if(kept.curves, &Curve::thick);
    if (sum != kept.curves.end()) {  // of parts
        const double all = std::abs(first_value(*sum));
        const bool swing =
            std::ranges::any_of(kept.curves, [&](const Curve& curve) { return !(farthest(curve) <= kSeen * all); });
        if (swing) return std::nullopt;
        kept.curves = {*sum};
        kept.y_label = kept.curves.front().label;
    }
    double size = 0.0;  // of all components
    for (const Curve& curve : kept.curves) size = std::hypot(size, first_value(curve));
    const bool conserved = std::ranges::all_of(
        kept.curves, [&](const Curve& curve) { return farthest(curve) <= kConserved * size && curve.x.size() > 1; });
    return conserved && size > 0.0 ? std::optional(std::move(kept)) : std::nullopt;
}

}  // namespace

Figure drift_of(Figure figure, bool absolute) {
    std::erase_if(figure.curves, [](const Curve& curve) { return curve.theory || curve.mean_of >= 0; });
    const bool relative = figure.curves.size() == 1 && first_value(figure.curves.front()) != 0.0;
    if (relative) figure.y_least = kRounding;
    double since = std::numeric_limits<double>::infinity();
    for (Curve& curve : figure.curves) {
        const double first = first_value(curve);
        for (std::size_t k = 0; k < curve.x.size(); ++k) {
            if (std::isfinite(curve.y[k])) since = std::min(since, curve.x[k]);
        }
        for (double& y : curve.y) {
            y = (y - first) / (relative ? std::abs(first) : 1.0);
            if (absolute) y = std::abs(y);
        }
        curve.thick = curve.dashed = false;
    }
    figure.y_label =
        fmt::format("{}{}change of {}", absolute ? "size of the " : "", relative ? "relative " : "", figure.y_label);
    if (relative) figure.y_unit.clear();
    figure.title += ", change since " + (std::isfinite(since) ? fmt::format("t = {:.6g}", since) : "the start");
    return figure;
}

namespace {

/// Whether axes can be laid over all that there is: differences of numbers, and a margin, must be numbers.
bool has_range(const Drawing& drawing) {
    constexpr double kMost = 1e300;
    const auto near = [](const std::vector<double>& values) {
        return std::ranges::none_of(values,
                                    [](double value) { return std::isfinite(value) && std::abs(value) > kMost; });
    };
    if (const auto* const map = std::get_if<MapFigure>(&drawing)) return std::ranges::all_of(map->cells, near);
    return std::ranges::all_of(std::get<Figure>(drawing).curves,
                               [&](const Curve& curve) { return near(curve.x) && near(curve.y) && near(curve.error); });
}

Drawing drawing_of(const std::vector<const TrajectoryReader*>& runs, const std::string& quantity,
                   const QuantityView& view) {
    const TrajectoryReader& first = *runs.front();
    const bool of_rows = view.rows || (!is_number_quantity(first, quantity) && !is_average_quantity(first, quantity));
    Drawing drawing = of_rows                               ? runs_figure(runs, quantity, view.window)
                      : is_number_quantity(first, quantity) ? number_figure(runs, quantity, view.window)
                                                            : average_figure(runs, quantity, view.window);
    const auto* const figure = std::get_if<Figure>(&drawing);
    // A row that the scene calls so is none that is conserved.
    const bool own = std::ranges::find(first.header().observables, "energy", &ObservableInfo::name) !=
                         first.header().observables.end() &&
                     quantity == "energy";
    if (!view.drift && !view.residuals && of_rows && !own && runs.size() == 1) {
        const std::optional<Figure> conserved = conserved_in(*figure, quantity);
        return conserved ? drift_of(*conserved) : drawing;
    }
    const bool drift = view.drift.value_or(false);
    if (!drift && !view.residuals) return drawing;
    if (drift && !of_rows) {
        throw InputError(fmt::format("--drift: '{}' is an average; it is for rows, over time", quantity));
    }
    if (figure == nullptr) throw InputError(fmt::format("--residuals: '{}' is a map", quantity));
    return drift ? drift_of(*figure, view.absolute) : residuals_of(*figure, view.absolute);
}

}  // namespace

Drawing quantity_figure(const std::vector<const TrajectoryReader*>& runs, const std::string& quantity,
                        const QuantityView& view) {
    Drawing drawing = drawing_of(runs, quantity, view);
    if (has_range(drawing)) return drawing;
    throw InputError(fmt::format("{}: '{}' has numbers beyond what a figure can show", runs.front()->path(), quantity));
}

Drawing quantities_figure(const std::vector<const TrajectoryReader*>& runs, const std::vector<std::string>& quantities,
                          const QuantityView& view) {
    if (quantities.size() == 1) return quantity_figure(runs, quantities.front(), view);
    QuantityView each = view;
    each.drift = view.drift.value_or(false);  // or what lies over it would have another unit
    std::optional<Figure> all;
    std::size_t colors = 0;
    for (const std::string& quantity : quantities) {
        Drawing drawing = quantity_figure(runs, quantity, each);
        const auto* const figure = std::get_if<Figure>(&drawing);
        if (figure == nullptr) throw InputError(fmt::format("'{}' is a map, which nothing can be laid over", quantity));
        Figure one = told_apart(*figure, quantity);
        if (!all) {
            all = one;
            all->curves.clear();
            all->title = runs.size() == 1 ? run_name(*runs.front()) + ": " : "";
        } else {
            all->title += ", ";
        }
        std::string name = quantity;
        std::ranges::replace(name, '_', ' ');
        all->title += name;
        lay_over(*all, std::move(one), quantity, colors);
    }
    return *all;
}

Image draw_frame(const TrajectoryReader& trajectory, std::size_t index, const PictureOptions& options) {
    trajectory.require_positions();
    const TrajectoryHeader& header = trajectory.header();
    const Scene scene = trajectory.scene();
    Balls balls;
    balls.dimension = header.dimension();
    balls.species_table = header.species_table;
    balls.species = header.species.rows();
    Frame frame;
    trajectory.read(index, frame);
    return draw_balls(scene, balls, frame, options);
}

}  // namespace carom
