#include "host/observables/averagers.hpp"
#include "host/observables/correlation_averager.hpp"
#include "kernels/physics/diffusion.hpp"

namespace carom {

namespace {

BallSum square_ways(std::size_t dimension, std::span<const double> early, std::span<const double> late) {
    BallSum result;
    for (std::size_t at = 0; at < early.size(); at += dimension) {
        double squared = 0.0;
        for (std::size_t axis = 0; axis < dimension; ++axis) {
            const double way = late[at + axis] - early[at + axis];
            squared += way * way;
        }
        if (std::isnan(squared)) continue;  // one that has left
        result.sum += squared;
        result.balls += 1.0;
    }
    return result;
}

class MeanSquareDisplacement final : public CorrelationAverager {
public:
    MeanSquareDisplacement(const ObserveRequest& request, const AverageContext& context)
        : CorrelationAverager(request, context, Followed::kPlace,
                              [dimension = static_cast<std::size_t>(context.box.dimension)](auto early, auto late) {
                                  return square_ways(dimension, early, late);
                              }) {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "m2";
        info.label = "mean square displacement";
        info.normalisation =
            "mean of |x(t0 + t) - x(t0)|^2 over balls and starts t0, unwrapped positions; with the flow, if there is "
            "one";
        return info;
    }
    [[nodiscard]] AverageTable table() const override {
        AverageTable table = base_table();
        for (std::size_t k = 0; k < correlator().lags(); ++k) {
            const double noise = displacement_noise(static_cast<int>(dimension())) * correlator().at(k).value;
            const MeanWithError measured = lag_value(k, noise);
            table.values.push_back(measured.value);
            table.errors.push_back(measured.error);
        }
        return table;
    }
};

}  // namespace

std::unique_ptr<Averager> make_mean_square_displacement(const ObserveRequest& request, const AverageContext& context) {
    return std::make_unique<MeanSquareDisplacement>(request, context);
}

}  // namespace carom
