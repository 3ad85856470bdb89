#include "host/plot/number_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/plot/run_average.hpp"
#include "host/plot/run_figure.hpp"
#include "host/plot/theory_checks.hpp"
#include "host/plot/unit_text.hpp"
#include "host/run/averaged_number.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

/// The average so far at each frame, from the first sample on, a curve per component.
std::vector<Curve> averages_so_far(const TrajectoryReader& run, const AverageInfo& info) {
    const std::size_t components = number_names(info).size();
    std::vector<Curve> all(components);
    for (std::size_t frame = 0; frame < run.frame_count(); ++frame) {
        const AverageTable table = run.average(info.name, frame);
        for (std::size_t k = 0; k < components; ++k) {
            if (!std::isfinite(table.values[k])) continue;
            all[k].x.push_back(run.times()[frame]);
            all[k].y.push_back(table.values[k]);
            all[k].error.push_back(table.samples < kLeastSamplesForError ? std::nan("") : table.errors[k]);
        }
    }
    return all;
}

/// From end to end of the run, however late the averages begin.
Curve level(const TrajectoryReader& run, const TheoryCheck& check) {
    Curve curve;
    curve.label = check.theory;
    curve.x = {run.times().front(), run.times().back()};
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

Figure number_figure(const std::vector<const TrajectoryReader*>& runs, const std::string& quantity) {
    Figure figure;
    figure.x_from = 0.0;
    const std::vector<std::string> run_labels = run_names(runs);
    for (std::size_t k = 0; k < runs.size(); ++k) {
        const TrajectoryReader& run = *runs[k];
        const AverageInfo* info = find_average(run, quantity);
        if (info == nullptr || !info->x.label.empty()) {
            throw InputError(fmt::format("{}: holds no average '{}' that is a number", run.path(), quantity));
        }
        const std::vector<TheoryCheck> checks = number_checks(run);
        const std::vector<std::string> names = number_names(*info);
        std::vector<Curve> curves = averages_so_far(run, *info);
        if (std::ranges::all_of(curves, [](const Curve& curve) { return curve.x.empty(); })) {
            throw InputError(fmt::format("{}: '{}' has no value in this run", run.path(), quantity));
        }
        if (k == 0) {
            figure.title =
                fmt::format("{}{}{}, average so far with standard error", runs.size() == 1 ? run_name(run) + ": " : "",
                            info->name, info->species.empty() ? "" : " of " + info->species);
            figure.x_label = "time [s]";
            figure.y_label = axis_label(info->label, info->unit);
        }
        std::vector<Curve> theory;
        for (std::size_t component = 0; component < curves.size(); ++component) {
            Curve& curve = curves[component];
            const std::string part = info->components.empty() ? "" : info->components[component];
            curve.label = runs.size() > 1 ? run_labels[k] + (part.empty() ? "" : ", " + part)
                                          : (part.empty() ? "measured" : part);
            curve.band = true;
            curve.color = static_cast<int>(runs.size() > 1 ? k : component);
            const auto check = std::ranges::find(checks, names[component], &TheoryCheck::what);
            if (check == checks.end() || !std::isfinite(check->expected)) continue;
            Curve line = level(run, *check);
            if (runs.size() > 1) {
                line.label += ", " + run_labels[k];
                line.color = static_cast<int>(k);
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
