#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "host/observables/averager.hpp"
#include "host/observables/time_average.hpp"

namespace carom {

/// The sums over some balls from which their temperature and their flow follow (BallSums::Terms::kThermal).
struct ThermalSums {
    int dimension = 2;

    [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(dimension) + 3; }

    /// T = (<sum m v^2> - |<sum m v>|^2 / <sum m>) / (d <N>), over time: kinetic temperature without the mean
    /// flow of the run. What the flow fluctuates by, or changes by during the run, counts as heat.
    /// \param first  column of these sums in the series
    [[nodiscard]] MeanWithError temperature(const BatchSeries& series, std::size_t first) const {
        const auto axes = static_cast<std::size_t>(dimension);
        const double count = series.mean(first + axes + 2);
        const double mass = series.mean(first + axes + 1);
        // The flow of few balls is mostly their own heat, and blocks without any say nothing of an error.
        constexpr double kLeastBalls = 30.0;
        if (!(count * static_cast<double>(series.samples()) >= kLeastBalls)) return {std::nan(""), std::nan("")};
        const double scale = 1.0 / (dimension * count);
        double flow_energy = 0.0;
        std::vector<Weight> weights{{first, scale}};
        double flow_squared = 0.0;
        for (std::size_t axis = 0; axis < axes; ++axis) {
            const double flow = series.mean(first + 1 + axis) / mass;
            flow_energy += flow * flow * mass;
            flow_squared += flow * flow;
            weights.push_back({first + 1 + axis, -2.0 * flow * scale});
        }
        const double temperature = (series.mean(first) - flow_energy) * scale;
        weights.push_back({first + axes + 1, flow_squared * scale});
        weights.push_back({first + axes + 2, -temperature / count});
        return {temperature, error_of(series, weights)};
    }
};

}  // namespace carom
