#include "host/plot/mean_bands.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "host/plot/stored_means.hpp"
#include "host/run/text.hpp"
#include "host/scene/load.hpp"

namespace carom {

namespace {

constexpr double kConserved = 1e-9;  // of the mean

/// A mean over part of a run: a line from `since` on wherever rows are measured, two points to each stretch of them.
Curve mean_curve(const StoredMean& mean, double since, const Scene& scene, const std::vector<double>& time) {
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

}  // namespace

void add_means(Figure& figure, const TrajectoryReader& trajectory, const std::map<std::string, std::string>& names) {
    const std::optional<double> since = equilibrated_since(trajectory);
    if (!since) return;
    const Scene scene = parse_scene(trajectory.header().scene_source, trajectory.header().scene_path);
    const std::vector<StoredMean> means = stored_means(trajectory);
    const std::size_t measured = figure.curves.size();
    for (std::size_t k = 0; k < measured; ++k) {
        const auto name = names.find(figure.curves[k].label);
        if (name == names.end() || figure.curves[k].thick) continue;
        const auto mean = std::ranges::find(means, name->second, &StoredMean::name);
        // Of what is conserved the error is rounding.
        if (mean == means.end() || !(mean->error > kConserved * std::abs(mean->mean))) continue;
        Curve band = mean_curve(*mean, *since, scene, figure.curves[k].x);
        if (band.x.size() < 2) continue;
        band.mean_of = static_cast<int>(k);
        figure.curves[k].label += ", mean " + with_error(mean->mean, mean->error);
        figure.curves.push_back(std::move(band));
    }
}

}  // namespace carom
