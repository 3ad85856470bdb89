#include "host/plot/average_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "host/observables/average.hpp"
#include "host/plot/figure.hpp"
#include "host/plot/run_figure.hpp"
#include "host/plot/stored_run.hpp"
#include "host/state/errors.hpp"
#include "host/theory/conduction.hpp"
#include "host/theory/gas_theory.hpp"
#include "host/theory/theory_checks.hpp"

namespace carom {

namespace {

/// Bins that hold something, with a little beside; everything for what is no histogram.
std::pair<std::size_t, std::size_t> shown(const RunAverage& average) {
    const std::size_t points = average.info.x.points;
    const bool histogram =
        average.info.kind == "speed" || average.info.kind == "velocity" || average.info.kind == "free_path";
    const auto has_value = [&](std::size_t k) {
        bool any = false;
        for (std::size_t at = k; at < average.table.values.size(); at += points) {
            const double value = average.table.values[at];
            any = any || (std::isfinite(value) && (!histogram || value > 0.0));
        }
        return any;
    };
    std::size_t first = 0;
    std::size_t last = points;
    while (first < last && !has_value(first)) ++first;
    while (last > first && !has_value(last - 1)) --last;
    if (histogram && average.info.kind == "speed") first = 0;
    return {first, last};
}

Curve data_curve(const RunAverage& average, std::size_t component, std::pair<std::size_t, std::size_t> range) {
    Curve curve;
    curve.points = true;
    const std::size_t begin = component * average.info.x.points;
    for (std::size_t k = range.first; k < range.second; ++k) {
        const double value = average.table.values[begin + k];
        // A correlation over a lag of nothing says nothing on a logarithmic axis.
        if (average.info.kind == "msd" && average.table.x[k] == 0.0) continue;
        curve.x.push_back(average.table.x[k]);
        curve.y.push_back(value);
        curve.error.push_back(average.table.errors[begin + k]);
    }
    return curve;
}

std::string quantity_label(const AverageInfo& info) {
    return info.kind == "msd" ? "mean square displacement" : info.label;
}

std::string kind_in_words(const AverageInfo& info) {
    if (info.kind == "speed") return "speeds";
    if (info.kind == "velocity") return "velocity components";
    if (info.kind == "density") return "density profile";
    if (info.kind == "density_map") return "density map";
    if (info.kind == "temperature_map") return "temperature map";
    if (info.kind == "velocity_map") return "map of the flow";
    if (info.kind == "temperature_profile") return "temperature profile";
    if (info.kind == "velocity_profile") return "flow";
    if (info.kind == "free_path") return "free paths";
    if (info.kind == "gr") return "radial distribution function";
    return info.label;
}

/// With its name and its balls, for a run may hold several averages of a kind; a name that is one of these says nothing
/// more. Both kinds of balls of a g(r) are in the scene alone.
std::string what_it_is(const AverageInfo& info, const Scene& scene) {
    std::string text = info.name == info.kind || info.name == info.species ? "" : info.name + ", ";
    text += kind_in_words(info);
    if (info.species.empty()) return text;
    const auto entry = std::ranges::find(scene.observables, info.name, &ObserveEntry::name);
    const bool pair = entry != scene.observables.end() && !entry->with.empty() && entry->with != info.species;
    return text + (pair ? fmt::format(" of {} around {}", entry->with, info.species) : " of " + info.species);
}

/// Of a density, the slices that walls take a part of, in hollow points: their density is that of another volume. They
/// are gaps in the curve itself.
Curve at_walls(const RunAverage& average, Curve& curve, double radius, const Box& box) {
    RunAverage whole = average;
    leave_out_walls(whole, radius, box);
    Curve cut{.label = "slices that a wall takes a part of", .points = true, .hollow = true, .color = curve.color};
    for (std::size_t k = 0; k < curve.x.size(); ++k) {
        const auto slice = std::ranges::find(average.table.x, curve.x[k]) - average.table.x.begin();
        if (std::isfinite(whole.table.values[static_cast<std::size_t>(slice)]) || !std::isfinite(curve.y[k])) continue;
        cut.x.push_back(curve.x[k]);
        cut.y.push_back(curve.y[k]);
        cut.error.push_back(curve.error[k]);
        curve.y[k] = std::nan("");
    }
    return cut;
}

/// What the axis of a density shows: the box from end to end; of one that gravity makes up to the highest slice that
/// any ball was in, for a box may be many times as high.
AxisRange shown_of_box(const RunAverage& average, const Scene& scene) {
    const auto axis = static_cast<std::size_t>(average.info.x.of_box());
    AxisRange range{scene.box.min[axis], scene.box.min[axis] + scene.box.size[axis]};
    const auto& values = average.table.values;
    std::size_t top = values.size();
    while (top > 0 && !(values[top - 1] > 0.0)) --top;
    if (scene.physics.gravity[axis] < 0.0 && top > 0 && top + 1 < values.size()) range.high = average.table.x[top];
    return range;
}

Figure line_figure(const std::vector<const TrajectoryReader*>& runs, const std::string& quantity,
                   const TimeWindow& asked) {
    Figure figure;
    const std::vector<std::string> names = run_names(runs);
    for (std::size_t k = 0; k < runs.size(); ++k) {
        const TrajectoryReader& run = *runs[k];
        const MeasuredRun measured = stored_run(run);
        const Scene& scene = measured.scene;
        const TimeWindow window = asked.of(run);
        const RunAverage average = run_average(run, scene, quantity, window);
        const AverageInfo& info = average.info;
        const GasFacts facts = gas_facts(measured, info.species, info.from);
        if (info.x.label.empty()) {
            throw InputError(fmt::format("{}: '{}' is a single number, not a curve", run.path(), quantity));
        }
        const auto range = shown(average);
        const bool any = std::ranges::any_of(average.table.values, [](double value) { return std::isfinite(value); });
        if (range.first >= range.second || !any) {
            throw InputError(fmt::format("{}: '{}' has no value in this run", run.path(), quantity));
        }
        Figure one;
        one.x_label = info.x.label;
        one.x_unit = info.x.unit;
        one.y_label = quantity_label(info);
        one.y_unit = info.unit;
        one.units = scene.units;
        if (k > 0) require_same_axes(figure, one, run, quantity);
        if (k == 0) {
            figure = one;
            const std::string what = what_it_is(info, scene);
            figure.title = runs.size() == 1 ? fmt::format("{}: {}", run_name(run), what) : what;
            figure.title += window.words();
            figure.log_x = figure.log_y = info.kind == "msd";
        }
        if (info.kind == "density") {
            const AxisRange box = shown_of_box(average, scene);
            figure.x_from = std::min(*box.low, figure.x_from.value_or(*box.low));
            figure.x_to = std::max(*box.high, figure.x_to.value_or(*box.high));
        }
        const std::size_t components = std::max<std::size_t>(1, info.components.size());
        for (std::size_t component = 0; component < components; ++component) {
            Curve curve = data_curve(average, component, range);
            const std::string name = info.components.empty() ? "" : info.components[component];
            curve.label =
                runs.size() > 1 ? names[k] + (name.empty() ? "" : ", " + name) : (name.empty() ? "measured" : name);
            curve.color = static_cast<int>(k * components + component);
            Curve cut = info.kind == "density" ? at_walls(average, curve, facts.radius, scene.box) : Curve{};
            figure.curves.push_back(std::move(curve));
            if (!cut.x.empty()) figure.curves.push_back(std::move(cut));
        }
        const double low = info.kind == "msd" ? average.table.x[1] : average.table.x[range.first];
        const double x_from = info.kind == "speed" || info.kind == "vacf" || info.kind == "free_path" ? 0.0 : low;
        const bool has_theory = !keys_changed(run);
        std::vector<Curve> theory;
        if (has_theory) {
            theory = drawn(theory_curves(facts, scene, info, x_from, average.table.x[range.second - 1]));
        }
        for (Curve& curve : theory) {
            if (measured.off_equilibrium) curve.label += ", at equilibrium";  // which this run was not
        }
        if (runs.size() == 1 && has_theory)
            std::ranges::move(drawn(conduction_curves(facts, scene.box, average)), std::back_inserter(theory));
        for (Curve& curve : theory) {
            if (runs.size() > 1) {
                curve.label += ", " + names[k];
                curve.color = static_cast<int>(k * components);
                curve.thick = false;
            }
            figure.curves.push_back(std::move(curve));
        }
    }
    return figure;
}

MapFigure map_figure(const TrajectoryReader& run, const Scene& scene, const RunAverage& average) {
    const AverageInfo& info = average.info;
    const AverageTable& table = average.table;
    const Box& box = scene.box;
    const auto across = static_cast<std::size_t>(info.x.of_box());
    const auto up = static_cast<std::size_t>(info.y.of_box());
    const bool flow = !info.components.empty();
    MapFigure map{.title = run_name(run) + ": " + what_it_is(info, scene),
                  .x_label = info.x.label,
                  .y_label = info.y.label,
                  .label = flow ? "speed of the flow" : info.label,
                  .x_unit = info.x.unit,
                  .y_unit = info.y.unit,
                  .unit = info.unit,
                  .units = scene.units,
                  .x_range = {box.min[across], box.min[across] + box.size[across]},
                  .y_range = {box.min[up], box.min[up] + box.size[up]},
                  .colors = {.low = 0.0},
                  .ratio = box.size[up] / box.size[across],
                  .cell = {box.size[across] / static_cast<double>(info.x.points),
                           box.size[up] / static_cast<double>(info.y.points)}};
    const std::size_t cells = info.x.points * info.y.points;
    const auto component = [&](std::size_t axis, std::size_t cell) { return table.values[axis * cells + cell]; };
    double fastest = 0.0;  // in the plane
    for (std::size_t row = 0; row < info.y.points; ++row) {
        for (std::size_t column = 0; column < info.x.points; ++column) {
            const std::size_t cell = row * info.x.points + column;
            if (!flow) {
                map.cells.push_back({table.x[column], table.y[row], table.values[cell]});
                continue;
            }
            double squared = 0.0;
            for (std::size_t axis = 0; axis < info.components.size(); ++axis) {
                squared += component(axis, cell) * component(axis, cell);
            }
            const double along = component(across, cell);
            const double upwards = component(up, cell);
            if (std::isfinite(squared)) fastest = std::max(fastest, std::hypot(along, upwards));
            map.cells.push_back({table.x[column], table.y[row], std::sqrt(squared), along, upwards});
        }
    }
    // The fastest is as long as a cell is wide.
    if (flow && fastest > 0.0) map.arrow_scale = map.cell[0] / fastest;
    return map;
}

}  // namespace

bool is_average_quantity(const TrajectoryReader& trajectory, const std::string& quantity) {
    // Of a single number the figure is another one: see is_number_quantity.
    const AverageInfo* info = find_average(trajectory, quantity);
    return info != nullptr ? !info->x.label.empty() : follows_from_frames(quantity);
}

Drawing average_figure(const std::vector<const TrajectoryReader*>& runs, const std::string& quantity,
                       const TimeWindow& window) {
    const TrajectoryReader& first = *runs.front();
    const AverageInfo* info = find_average(first, quantity);
    if (info != nullptr ? !info->y.label.empty() : quantity.ends_with("_map")) {
        if (runs.size() > 1) throw InputError("maps cannot be laid over each other");
        const Scene scene = first.scene();
        const TimeWindow own = window.of(first);
        MapFigure map = map_figure(first, scene, run_average(first, scene, quantity, own));
        const auto has_value = [](const std::vector<double>& cell) { return std::isfinite(cell[2]); };
        if (std::ranges::none_of(map.cells, has_value)) {
            throw InputError(fmt::format("{}: '{}' has no value in this run", first.path(), quantity));
        }
        map.title += own.words();
        return map;
    }
    return line_figure(runs, quantity, window);
}

}  // namespace carom
