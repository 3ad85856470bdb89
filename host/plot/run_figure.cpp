#include "host/plot/run_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/plot/figure.hpp"
#include "host/run/say.hpp"
#include "host/scene/keys.hpp"
#include "host/state/errors.hpp"
#include "host/theory/measured_run.hpp"
#include "host/theory/theory_checks.hpp"

namespace carom {

std::string row_unit(const ObservableInfo& info, int dimension) {
    return info.unit == "Pa" && dimension == 2 ? "N m-1" : info.unit;
}

namespace {

constexpr double kConserved = 1e-9;  // of the mean

/// A mean over part of a run: a line from `since` on wherever rows are measured, two points to each stretch of them.
Curve mean_curve(const MeasuredMean& mean, double since, const Scene& scene, const std::vector<double>& time) {
    Curve curve{.band = true};
    const auto counts = [&](std::size_t row) {
        return row < time.size() && time[row] > since && scene.measures(time[row]);
    };
    for (std::size_t row = 0; row < time.size(); ++row) {
        const bool begins = counts(row) && (row == 0 || !counts(row - 1));
        const bool ends = counts(row) && !counts(row + 1);
        if (begins && !curve.x.empty()) {  // what is not measured is a gap
            curve.x.push_back(time[row]);
            curve.y.push_back(std::nan(""));
            curve.error.push_back(std::nan(""));
        }
        if (!begins && !ends) continue;
        curve.x.push_back(time[row]);
        curve.y.push_back(mean.mean);
        curve.error.push_back(mean.error);
    }
    return curve;
}

/// Adds to a figure over time the means of a run at equilibrium, each with a band of one standard error to either side
/// of it and in the words of its curve. \param names  of the stored means, by the curves' labels
void add_means(Figure& figure, const MeasuredRun& run, const std::map<std::string, std::string>& names) {
    const std::optional<double>& since = run.equilibrated_since;
    if (!since) return;
    const std::size_t measured = figure.curves.size();
    for (std::size_t k = 0; k < measured; ++k) {
        const auto name = names.find(figure.curves[k].label);
        if (name == names.end() || figure.curves[k].thick) continue;
        const auto mean = std::ranges::find(run.means, name->second, &MeasuredMean::name);
        // Of what is conserved the error is rounding.
        if (mean == run.means.end() || !(mean->error > kConserved * std::abs(mean->mean))) continue;
        Curve band = mean_curve(*mean, *since, run.scene, figure.curves[k].x);
        if (band.x.size() < 2) continue;
        band.mean_of = static_cast<int>(k);
        figure.curves[k].label += ", mean " + with_error(mean->mean, mean->error);
        figure.curves.push_back(std::move(band));
    }
}

constexpr const char* kVirial = "virial_pressure";

/// Several observables in one figure.
struct Group {
    const char* name;
    const char* label;
    std::vector<const char*> members;  ///< the first that exists gives the unit
    bool sum = false;                  ///< the first is the sum of the others
};

const std::vector<Group>& groups() {
    static const std::vector<Group> kGroups{
        {"energy", "energy", {"total_energy", "kinetic_energy", "spring_energy", "gravitational_energy"}, true},
        {"pressure", "pressure", {kVirial, "wall_pressure"}},
    };
    return kGroups;
}

bool all_zero(const Curve& curve) {
    return std::ranges::all_of(curve.y, [](double y) { return y == 0.0; });
}

bool any_finite(const Curve& curve) {
    return std::ranges::any_of(curve.y, [](double y) { return std::isfinite(y); });
}

std::vector<Curve> curves_of(const ObservableTable& table, const ObservableInfo& info, bool alone) {
    std::vector<Curve> curves;
    const std::size_t first = table.column(info.name);
    for (std::size_t component = 0; component < info.width(); ++component) {
        Curve curve;
        std::string name = info.components.empty() ? "" : info.components[component];
        std::ranges::replace(name, '_', '-');
        curve.label = name.empty() ? info.label : (alone ? name : info.label + ", " + name);
        curve.x = table.time;
        for (std::size_t row = 0; row < table.rows(); ++row) curve.y.push_back(table.at(row, first + component));
        curves.push_back(std::move(curve));
    }
    return curves;
}

const ObservableInfo* find(const ObservableTable& table, const std::string& name) {
    const auto found = std::ranges::find(table.observables, name, &ObservableInfo::name);
    return found == table.observables.end() ? nullptr : &*found;
}

/// The pressure of a gas that walls compress is that of the room between them. What presses on the box's own faces,
/// some of them behind these walls, would hide it: that has a figure of its own.
void show_pressure_in_room(std::vector<const ObservableInfo*>& members, ObservableTable& table,
                           const std::vector<double>& box_over_room) {
    std::erase_if(members, [](const ObservableInfo* info) { return info->name != kVirial; });
    const std::size_t column = table.column(kVirial);
    for (std::size_t row = 0; row < table.rows(); ++row) table.values[row * table.width + column] *= box_over_room[row];
}

/// Says what was meant, or else what there is.
[[noreturn]] void refuse_quantity(const TrajectoryReader& trajectory, const std::string& quantity) {
    std::vector<std::string> known = figure_quantities(trajectory);
    std::ranges::move(known_averages(trajectory), std::back_inserter(known));
    // By that name there is a picture; --rows draws the row.
    std::erase(known, "balls");
    known.insert(known.begin(), "balls");
    const std::vector<std::string_view> views(known.begin(), known.end());
    std::string_view meant = meant_name("observe.kind", quantity, views);  // as in a scene: "gr" by "rdf"
    if (std::ranges::find(views, meant) == views.end()) meant = {};
    throw InputError(fmt::format(
        "{}: holds no quantity '{}'; {}", trajectory.path(), quantity,
        meant.empty() ? fmt::format("allowed: {}", fmt::join(known, ", ")) : fmt::format("did you mean '{}'?", meant)));
}

/// Leaves out the points of other times; a line of theory goes on to the ends of the window.
void keep_within(Curve& curve, const TimeWindow& window) {
    for (const std::optional<double>& end : {window.from, window.to}) {
        if (!end || !curve.theory || curve.points || curve.x.size() < 2) continue;
        const auto next = std::ranges::lower_bound(curve.x, *end) - curve.x.begin();
        if (next == 0 || next == std::ssize(curve.x)) continue;
        curve.y.insert(curve.y.begin() + next, interpolated(curve.x, curve.y, *end));
        curve.x.insert(curve.x.begin() + next, *end);
    }
    std::size_t kept = 0;
    for (std::size_t k = 0; k < curve.x.size(); ++k) {
        if (!window.holds(curve.x[k])) continue;
        curve.x[kept] = curve.x[k];
        curve.y[kept] = curve.y[k];
        if (!curve.error.empty()) curve.error[kept] = curve.error[k];
        ++kept;
    }
    curve.x.resize(kept);
    curve.y.resize(kept);
    if (!curve.error.empty()) curve.error.resize(kept);
}

/// \param alone  of one run: with its means
Figure rows_figure(const TrajectoryReader& trajectory, const std::string& quantity, bool alone,
                   const TimeWindow& asked) {
    const TimeWindow window = asked.of(trajectory);
    ObservableTable table = trajectory.observables();
    const TrajectoryHeader& header = trajectory.header();
    std::vector<const ObservableInfo*> members;
    std::string label;
    const ObservableInfo* const own = find(table, quantity);
    const auto group = own != nullptr
                           ? groups().end()
                           : std::ranges::find_if(groups(), [&](const Group& g) { return g.name == quantity; });
    const bool sums = group != groups().end() && group->sum;
    if (group != groups().end()) {
        label = group->label;
        for (const char* name : group->members) {
            if (const ObservableInfo* info = find(table, name)) members.push_back(info);
        }
    } else if (own != nullptr) {
        label = own->label;
        members.push_back(own);
    }
    if (members.empty()) {
        refuse_quantity(trajectory, quantity);
    }
    if (table.rows() == 0) throw InputError(trajectory.path() + ": holds no rows of observables");

    const bool of_virial = std::ranges::find(members, kVirial, &ObservableInfo::name) != members.end();
    MeasuredRun run = stored_run(trajectory);
    const std::vector<double> of_room = of_virial ? box_over_room(run) : std::vector<double>{};
    if (!of_room.empty()) show_pressure_in_room(members, table, of_room);

    Figure figure;
    const std::string name =
        header.title.empty() ? std::filesystem::path(trajectory.path()).filename().string() : header.title;
    figure.title = fmt::format("{}: {}", name, label);
    figure.x_label = "time";
    figure.x_unit = "s";
    figure.y_label = label;
    figure.y_unit = row_unit(*members.front(), header.dimension());
    figure.units = run.scene.units;
    std::map<std::string, std::string> names;  // as means are stored, by labels
    const bool has_means = alone && run.equilibrated_since.has_value();
    const std::vector<std::string> swinging =
        has_means ? quantities_with_theory(trajectory) : std::vector<std::string>{};
    for (const ObservableInfo* info : members) {
        const bool rests = std::ranges::find(swinging, info->name) == swinging.end();
        std::size_t component = 0;
        for (Curve& curve : curves_of(table, *info, members.size() == 1)) {
            const std::string part = info->components.empty() ? "" : "." + info->components[component++];
            if (rests) names[curve.label] = info->name + part;
            // What does not exist here - the third axis in 2D, faces that are no wall, gravity - has no line.
            const bool essential = info->width() == 1 && info == members.front();
            if (!essential && (!any_finite(curve) || (members.size() > 1 && all_zero(curve)))) continue;
            if (header.dimension() == 2 && curve.label == "z" && all_zero(curve)) continue;
            curve.thick = sums && members.size() > 1 && info == members.front();
            figure.curves.push_back(std::move(curve));
        }
    }
    // In 2D angular momentum has its z component alone.
    if (header.dimension() == 2 && quantity == "angular_momentum") std::erase_if(figure.curves, all_zero);
    if (figure.curves.size() == 1) figure.curves.front().thick = false;
    // The sum comes last, dashed over its parts: without that, equal curves would hide each other.
    const auto sum = std::ranges::find_if(figure.curves, &Curve::thick);
    if (sum != figure.curves.end()) {
        sum->dashed = true;
        std::rotate(sum, sum + 1, figure.curves.end());
    }
    if (figure.curves.empty()) {
        throw InputError(fmt::format("{}: '{}' has no value in this run", trajectory.path(), quantity));
    }
    if (!of_room.empty()) figure.curves.front().label += ", between the walls";
    const bool is_others_name = own != nullptr && std::ranges::find(groups(), quantity, &Group::name) != groups().end();
    std::vector<Curve> theory;
    if (!is_others_name && !keys_changed(trajectory)) theory = drawn(theory_over_time(run, quantity));
    if (window.given()) {
        if (run.equilibrated_since) {
            run.equilibrated_since = std::max(*run.equilibrated_since, window.from.value_or(0.0));
            const TimeWindow measured{run.equilibrated_since, window.to};
            const auto rows = std::ranges::count_if(table.time, [&](double time) { return measured.holds(time); });
            run.means.clear();
            if (static_cast<double>(rows) > kLeastSamplesForVerdict)
                run.means = means_of_rows(table, run.scene, measured);
        }
        for (std::vector<Curve>* curves : {&figure.curves, &theory}) {
            for (Curve& curve : *curves) keep_within(curve, window);
        }
        if (std::ranges::all_of(figure.curves, [](const Curve& curve) { return curve.x.empty(); })) {
            throw InputError(fmt::format("{}: holds no rows{}", trajectory.path(), window.words()));
        }
        figure.title += window.words();
    }
    if (has_means) add_means(figure, run, names);
    std::ranges::move(theory, std::back_inserter(figure.curves));
    return figure;
}

}  // namespace

std::vector<std::string> figure_quantities(const TrajectoryReader& trajectory) {
    std::vector<std::string> names;
    for (const Group& group : groups()) names.emplace_back(group.name);
    for (const ObservableInfo& info : trajectory.header().observables) names.push_back(info.name);
    return names;
}

std::vector<std::string> quantities_with_theory(const TrajectoryReader& trajectory) {
    const MeasuredRun run = stored_run(trajectory);
    std::vector<std::string> names;
    for (const ObservableInfo& info : trajectory.header().observables) {
        std::vector<TheoryCurve> theory = theory_over_time(run, info.name);
        for (const Group& group : groups()) {
            if (std::ranges::find(group.members, std::string_view(info.name)) == group.members.end()) continue;
            for (const TheoryCurve& known : theory_over_time(run, group.name)) {
                std::erase_if(theory, [&](const TheoryCurve& curve) { return curve.label == known.label; });
            }
        }
        if (!theory.empty()) names.push_back(info.name);
    }
    return names;
}

std::vector<std::string> rows_of_interest(const TrajectoryReader& trajectory) {
    constexpr std::size_t kMostCurves = 20;
    const ObservableTable table = trajectory.observables();
    const Scene scene = trajectory.scene();
    std::vector<std::string> names;
    for (const ObservableInfo& info : table.observables) {
        const bool asked_for =
            std::ranges::find(scene.observables, info.name, &ObserveEntry::name) != scene.observables.end();
        const bool driving = info.name == "wall_heat" || info.name == "work";
        const std::vector<Curve> curves = asked_for || driving ? curves_of(table, info, true) : std::vector<Curve>();
        const bool nothing = std::ranges::all_of(curves, [](const Curve& curve) {
            return std::ranges::all_of(curve.y, [](double y) { return y == 0.0 || !std::isfinite(y); });
        });
        if (info.width() <= kMostCurves && (asked_for || !nothing)) names.push_back(info.name);
    }
    return names;
}

void require_same_axes(const Figure& first, const Figure& other, const TrajectoryReader& run,
                       const std::string& quantity) {
    const auto axes = [](const Figure& figure) {
        return fmt::format("{} over {}", axis_label(figure.y_label, figure.y_unit, figure.units),
                           axis_label(figure.x_label, figure.x_unit, figure.units));
    };
    if (axes(first) == axes(other)) return;
    throw InputError(fmt::format("{}: '{}' is {} here, and {} in the first run: no figure has both", run.path(),
                                 quantity, axes(other), axes(first)));
}

Figure run_figure(const TrajectoryReader& trajectory, const std::string& quantity, const TimeWindow& window) {
    return rows_figure(trajectory, quantity, true, window);
}

Figure runs_figure(const std::vector<const TrajectoryReader*>& runs, const std::string& quantity,
                   const TimeWindow& window) {
    if (runs.size() == 1) return run_figure(*runs.front(), quantity, window);
    Figure figure = rows_figure(*runs.front(), quantity, false, window);
    std::vector<Curve> curves;
    const std::vector<std::string> names = run_names(runs);
    for (std::size_t k = 0; k < runs.size(); ++k) {
        Figure one = rows_figure(*runs[k], quantity, false, window);
        require_same_axes(figure, one, *runs[k], quantity);
        for (Curve& curve : one.curves) {
            curve.label = one.curves.size() > 1 ? names[k] + ", " + curve.label : names[k];
            curve.thick = false;
            curves.push_back(std::move(curve));
        }
    }
    figure.curves = std::move(curves);
    figure.title = figure.title.substr(figure.title.rfind(": ") + 2);
    return figure;
}

namespace {

/// The average so far at each frame, from the first sample on, a curve per component.
std::vector<Curve> averages_so_far(const NumberCourse& course) {
    const std::size_t components = number_names(course.info).size();
    std::vector<Curve> all(components);
    for (std::size_t frame = 0; frame < course.time.size(); ++frame) {
        const AverageTable& table = course.tables[frame];
        for (std::size_t k = 0; k < components; ++k) {
            if (!std::isfinite(table.values[k])) continue;
            all[k].x.push_back(course.time[frame]);
            all[k].y.push_back(table.values[k]);
            all[k].error.push_back(table.errors[k]);
        }
    }
    return all;
}

/// From end to end of the run, or of the window, however late the averages begin.
Curve level(const TrajectoryReader& run, const TimeWindow& window, const TheoryCheck& check) {
    Curve curve;
    curve.label = check.theory;
    curve.theory = true;
    curve.x = {window.from.value_or(run.times().front()), window.to.value_or(run.times().back())};
    curve.y = {check.expected, check.expected};
    curve.thick = true;
    return curve;
}

}  // namespace

bool is_number_quantity(const TrajectoryReader& trajectory, const std::string& quantity) {
    const AverageInfo* info = find_average(trajectory, quantity);
    if (info == nullptr || !info->x.label.empty()) return false;
    const std::vector<std::string> rows = figure_quantities(trajectory);
    return info->name == quantity || std::ranges::find(rows, quantity) == rows.end();
}

Figure number_figure(const std::vector<const TrajectoryReader*>& runs, const std::string& quantity,
                     const TimeWindow& asked) {
    Figure figure;
    const std::vector<std::string> run_labels = run_names(runs);
    for (std::size_t k = 0; k < runs.size(); ++k) {
        const TrajectoryReader& run = *runs[k];
        const AverageInfo* info = find_average(run, quantity);
        if (info == nullptr || !info->x.label.empty()) {
            throw InputError(fmt::format("{}: holds no average '{}' that is a number", run.path(), quantity));
        }
        const TimeWindow window = asked.of(run);
        figure.x_from = window.from.value_or(0.0);
        const std::vector<std::string> names = number_names(*info);
        const MeasuredRun measured = stored_run(run);
        const NumberCourse course = number_course(run, measured.scene, *info, window);
        std::vector<Curve> curves = averages_so_far(course);
        if (std::ranges::all_of(curves, [](const Curve& curve) { return curve.x.empty(); })) {
            throw InputError(fmt::format("{}: '{}' has no value in this run", run.path(), quantity));
        }
        const RunAverage average{course.info, course.tables.back()};
        std::vector<TheoryCheck> checks;
        if (!keys_changed(run)) checks = average_checks(measured, {&average, 1});
        Figure one;
        one.x_label = "time";
        one.x_unit = "s";
        one.y_label = info->label;
        one.y_unit = info->unit;
        one.units = measured.scene.units;
        if (k > 0) require_same_axes(figure, one, run, quantity);
        if (k == 0) {
            one.x_from = figure.x_from;
            figure = one;
            figure.title =
                fmt::format("{}{}{}, average so far with standard error", runs.size() == 1 ? run_name(run) + ": " : "",
                            info->name, info->species.empty() ? "" : " of " + info->species);
            figure.title += window.words();
        }
        std::vector<Curve> theory;
        for (std::size_t component = 0; component < curves.size(); ++component) {
            Curve& curve = curves[component];
            const std::string part = info->components.empty() ? "" : info->components[component];
            curve.label = runs.size() > 1 ? run_labels[k] + (part.empty() ? "" : ", " + part)
                                          : (part.empty() ? "measured" : part);
            curve.band = true;
            curve.color = static_cast<int>(k * curves.size() + component);
            const auto check = std::ranges::find(checks, names[component], &TheoryCheck::what);
            if (check == checks.end() || !std::isfinite(check->expected)) continue;
            Curve line = level(run, window, *check);
            if (runs.size() > 1) {
                line.label += ", " + run_labels[k];
                line.color = curve.color;
                line.thick = false;
                line.dashed = true;
            }
            // The pressure is theory for each place on the diagonal.
            const bool known = std::ranges::any_of(
                theory, [&](const Curve& other) { return other.label == line.label && other.y == line.y; });
            if (!known) theory.push_back(std::move(line));
        }
        for (std::size_t at = 0; at < theory.size(); ++at) theory[at].dashed = theory[at].dashed || at > 0;
        std::ranges::move(curves, std::back_inserter(figure.curves));
        std::ranges::move(theory, std::back_inserter(figure.curves));
    }
    return figure;
}

}  // namespace carom
