#include "host/plot/stored_means.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "host/observables/time_average.hpp"

namespace carom {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double number_or_nan(const nlohmann::ordered_json& value) { return value.is_number() ? value.get<double>() : kNan; }

/// What the run's summary holds of means; null if there is none.
nlohmann::ordered_json summary_means(const TrajectoryReader& trajectory) {
    const nlohmann::ordered_json json = nlohmann::ordered_json::parse(trajectory.summary(), nullptr, false);
    return json.is_object() && json.contains("means") ? json["means"] : nlohmann::ordered_json();
}

std::vector<StoredMean> means_of_rows(const TrajectoryReader& trajectory) {
    const ObservableTable table = trajectory.observables();
    std::vector<StoredMean> means;
    const std::size_t first = table.rows() / 2 + 1;  // the first row holds nothing that is counted since the one before
    std::size_t column = 0;
    for (const ObservableInfo& info : table.observables) {
        for (std::size_t k = 0; k < info.width(); ++k, ++column) {
            BatchSeries series(1, BatchSeries::kMostBatches);
            for (std::size_t row = first; row < table.rows(); ++row) {
                const double value = table.at(row, column);
                series.add(std::span(&value, 1));
            }
            if (series.samples() == 0 || !std::isfinite(series.mean(0))) continue;
            const MeanWithError mean = mean_of(series, 0);
            means.push_back({info.components.empty() ? info.name : info.name + "." + info.components[k], mean.value,
                             mean.error, kNan});
        }
    }
    return means;
}

}  // namespace

std::vector<StoredMean> stored_means(const TrajectoryReader& trajectory) {
    const nlohmann::ordered_json json = summary_means(trajectory);
    if (!json.contains("values")) return means_of_rows(trajectory);
    std::vector<StoredMean> means;
    for (const auto& [name, value] : json["values"].items()) {
        means.push_back({name, number_or_nan(value["mean"]), number_or_nan(value["error"]),
                         number_or_nan(value["correlation_time"])});
    }
    return means;
}

double means_since(const TrajectoryReader& trajectory) {
    const nlohmann::ordered_json json = summary_means(trajectory);
    if (json.contains("since")) return number_or_nan(json["since"]);
    const auto times = trajectory.times();
    return times.empty() ? 0.0 : 0.5 * (times.front() + times.back());
}

std::optional<double> equilibrated_since(const TrajectoryReader& trajectory) {
    const nlohmann::ordered_json json = summary_means(trajectory);
    const bool known = json.contains("equilibrated") && json["equilibrated"].is_boolean() && json.contains("since");
    if (!known || !json["equilibrated"].get<bool>() || !trajectory.changes().empty()) return std::nullopt;
    return number_or_nan(json["since"]);
}

}  // namespace carom
