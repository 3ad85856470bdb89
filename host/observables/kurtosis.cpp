#include "host/observables/averager_base.hpp"
#include "host/observables/averagers.hpp"

namespace carom {

namespace {

/// K = <w^2> / <w>^2 with w = m v_x^2, over all components, balls and samples: the same for every mass in a mixture.
class Kurtosis final : public SumAverager {
public:
    Kurtosis(const ObserveRequest& request, const AverageContext& context) : SumAverager(request, context, 3) {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "";
        info.label = "kurtosis of a velocity component";
        info.normalisation =
            "<w^2> / <w>^2, w = m v^2 of a component, means over components, balls and samples; "
            "3 for Maxwell and Boltzmann's law";
        return info;
    }
    [[nodiscard]] AverageTable table() const override {
        AverageTable table = base_table();
        const double count = series().mean(2);
        const double second = series().mean(0) / count;
        const double fourth = series().mean(1) / count;
        const double kurtosis = fourth / (second * second);
        const double scale = 1.0 / (count * second * second);
        const std::array weights{Weight{1, scale}, Weight{0, -2.0 * kurtosis * second * scale},
                                 Weight{2, kurtosis / count}};
        append(table, {kurtosis, error_of(series(), weights)});
        return table;
    }

private:
    void sum(BallSampler& balls, std::span<double> sums) override {
        add_up(balls, BallSums{.terms = BallSums::Terms::kMoments}, sums);
    }
};

}  // namespace

std::unique_ptr<Averager> make_kurtosis(const ObserveRequest& request, const AverageContext& context) {
    return std::make_unique<Kurtosis>(request, context);
}

}  // namespace carom
