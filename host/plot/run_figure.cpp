#include "host/plot/run_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <utility>

#include "host/plot/adiabatic.hpp"
#include "host/plot/run_average.hpp"
#include "host/plot/run_theory.hpp"
#include "host/plot/standing_wave.hpp"
#include "host/plot/unit_text.hpp"
#include "host/scene/load.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

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
        {"pressure", "pressure", {"virial_pressure", "wall_pressure"}},
    };
    return kGroups;
}

/// In 2D a pressure is a force per length, and not all components mean something.
std::string unit_of(const ObservableInfo& info, int dimension) {
    return info.unit == "Pa" && dimension == 2 ? "N m-1" : info.unit;
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

/// p = Z n T over the second half, at the temperature that the run had then.
void add_pressure_theory(Figure& figure, const TrajectoryReader& trajectory) {
    const TrajectoryHeader& header = trajectory.header();
    if (figure.curves.empty() || figure.curves.front().x.empty()) return;
    const std::vector<double>& time = figure.curves.front().x;
    const double middle = 0.5 * (time.front() + time.back());
    const Scene scene = parse_scene(header.scene_source, header.scene_path);
    const auto pressure = theory_pressure(gas_facts(trajectory, scene, "", middle));
    if (!pressure || time.size() < 2) return;
    Curve curve;
    curve.label = "equation of state";
    curve.x = {middle, time.back()};  // before, the gas need not fill its box, or be as warm
    curve.y = {*pressure, *pressure};
    curve.thick = true;
    curve.dashed = figure.curves.size() > 1;  // lines that it is about would be hidden
    figure.curves.push_back(std::move(curve));
}

/// The temperature that moving walls give to a gas, and the pressures of sound between walls at rest.
void add_course_theory(Figure& figure, const TrajectoryReader& trajectory, const std::string& quantity) {
    if (figure.curves.empty() || figure.curves.front().x.size() < 2) return;
    const Scene scene = parse_scene(trajectory.header().scene_source, trajectory.header().scene_path);
    if (quantity == "temperature") {
        if (auto course = adiabatic_course(trajectory, scene)) {
            Curve curve{.label = "adiabatic, equation of state",
                        .x = std::move(course->time),
                        .y = std::move(course->temperature)};
            curve.thick = true;
            curve.dashed = true;  // what is measured lies under it
            figure.curves.push_back(std::move(curve));
        }
    } else if (const auto wave = standing_wave(trajectory, scene)) {
        const std::vector<double> time = figure.curves.front().x;
        std::ranges::move(wave_curves(*wave, time.front(), time.back()), std::back_inserter(figure.curves));
    }
}

}  // namespace

std::vector<std::string> figure_quantities(const TrajectoryReader& trajectory) {
    std::vector<std::string> names;
    for (const Group& group : groups()) names.emplace_back(group.name);
    for (const ObservableInfo& info : trajectory.header().observables) names.push_back(info.name);
    return names;
}

Figure run_figure(const TrajectoryReader& trajectory, const std::string& quantity) {
    const ObservableTable table = trajectory.observables();
    const TrajectoryHeader& header = trajectory.header();
    std::vector<const ObservableInfo*> members;
    std::string label;
    const auto group = std::ranges::find_if(groups(), [&](const Group& g) { return g.name == quantity; });
    const bool sums = group != groups().end() && group->sum;
    if (group != groups().end()) {
        label = group->label;
        for (const char* name : group->members) {
            if (const ObservableInfo* info = find(table, name)) members.push_back(info);
        }
    } else if (const ObservableInfo* info = find(table, quantity)) {
        label = info->label;
        members.push_back(info);
    }
    if (members.empty()) {
        std::vector<std::string> known = figure_quantities(trajectory);
        for (const AverageInfo& average : header.averages) known.push_back(average.name);
        throw InputError(fmt::format("{}: holds no quantity '{}'; allowed: balls, {}", trajectory.path(), quantity,
                                     fmt::join(known, ", ")));
    }
    if (table.rows() == 0) throw InputError(trajectory.path() + ": holds no rows of observables");

    Figure figure;
    const std::string name =
        header.title.empty() ? std::filesystem::path(trajectory.path()).filename().string() : header.title;
    figure.title = fmt::format("{}: {}", name, label);
    figure.x_label = "time [s]";
    figure.y_label = axis_label(label, unit_of(*members.front(), header.dimension()));
    for (const ObservableInfo* info : members) {
        for (Curve& curve : curves_of(table, *info, members.size() == 1)) {
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
    if (quantity == "pressure" || quantity == "virial_pressure") add_pressure_theory(figure, trajectory);
    if (quantity == "temperature" || quantity == "wall_pressure") add_course_theory(figure, trajectory, quantity);
    if (figure.curves.empty()) {
        throw InputError(fmt::format("{}: '{}' has no value in this run", trajectory.path(), quantity));
    }
    return figure;
}

Figure runs_figure(const std::vector<const TrajectoryReader*>& runs, const std::string& quantity) {
    Figure figure = run_figure(*runs.front(), quantity);
    if (runs.size() == 1) return figure;
    std::vector<Curve> curves;
    const std::vector<std::string> names = run_names(runs);
    for (std::size_t k = 0; k < runs.size(); ++k) {
        Figure one = run_figure(*runs[k], quantity);
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

}  // namespace carom
