#include "host/observables/averagers.hpp"
#include "host/observables/correlation_averager.hpp"

namespace carom {

namespace {

BallSum products(std::size_t dimension, std::span<const double> early, std::span<const double> late) {
    const auto product = [](double v, double w) { return v * w; };
    BallSum result = dimension == 2 ? sum_over_balls<2>(early, late, product) : sum_over_balls<3>(early, late, product);
    result.sum /= static_cast<double>(dimension);
    return result;
}

class VelocityAutocorrelation final : public CorrelationAverager {
public:
    VelocityAutocorrelation(const ObserveRequest& request, const AverageContext& context)
        : CorrelationAverager(request, context, Followed::kVelocity,
                              [dimension = static_cast<std::size_t>(context.box.dimension)](auto early, auto late) {
                                  return products(dimension, early, late);
                              }) {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "m2 s-2";
        info.label = "velocity autocorrelation";
        info.normalisation = "mean of v(t0) . v(t0 + t) / dimension over balls and starts t0: T / m at t = 0";
        return info;
    }
    [[nodiscard]] AverageTable table() const override {
        AverageTable table = base_table();
        // The product of two independent velocities has the standard deviation T / (m sqrt(d)).
        const double noise = correlator().at(0).value / std::sqrt(static_cast<double>(dimension()));
        for (std::size_t k = 0; k < correlator().lags(); ++k) {
            const MeanWithError measured = lag_value(k, noise);
            table.values.push_back(measured.value);
            table.errors.push_back(measured.error);
        }
        return table;
    }
};

}  // namespace

std::unique_ptr<Averager> make_velocity_autocorrelation(const ObserveRequest& request, const AverageContext& context) {
    return std::make_unique<VelocityAutocorrelation>(request, context);
}

}  // namespace carom
