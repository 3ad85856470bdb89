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
    void sum(const Frame& frame, std::uint64_t, std::span<double> sums) override {
        for (std::size_t id = 0; id < frame.size(); ++id) {
            if (!selection().has(frame, id)) continue;
            const double mass = selection().mass(id);
            for (int axis = 0; axis < dimension(); ++axis) {
                const double w = mass * frame.velocity[axis][id] * frame.velocity[axis][id];
                sums[0] += w;
                sums[1] += w * w;
                sums[2] += 1.0;
            }
        }
    }
};

}  // namespace

std::unique_ptr<Averager> make_kurtosis(const ObserveRequest& request, const AverageContext& context) {
    return std::make_unique<Kurtosis>(request, context);
}

}  // namespace carom
