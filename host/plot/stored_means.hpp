#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/io/trajectory_reader.hpp"

namespace carom {

/// A mean over a run's rows and its standard error.
struct StoredMean {
    std::string name;  ///< "name" or "name.component"
    double mean = 0.0;
    double error = 0.0;             ///< NaN if there were too few rows
    double correlation_time = 0.0;  ///< NaN if unknown [time]
};

/// The means that the run's summary holds; of a run without one those of the second half of its rows, by blocks.
std::vector<StoredMean> stored_means(const TrajectoryReader& trajectory);

/// From when on the run's rows count in these; without a summary, half way. [time]
double means_since(const TrajectoryReader& trajectory);

/// The same for a run that had reached equilibrium by then, and that nobody has changed; else none.
std::optional<double> equilibrated_since(const TrajectoryReader& trajectory);

}  // namespace carom
