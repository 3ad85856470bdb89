#include "host/observables/averager_base.hpp"
#include "host/observables/averagers.hpp"
#include "host/observables/thermal_sums.hpp"

namespace carom {

namespace {

class RegionTemperature final : public SumAverager {
public:
    RegionTemperature(const ObserveRequest& request, const AverageContext& context)
        : SumAverager(request, context, ThermalSums{context.box.dimension}.width()), thermal_{context.box.dimension} {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "J";
        info.label = "temperature";
        info.normalisation =
            "(sum m v^2 - |sum m v|^2 / sum m) / (dimension * count) of the balls whose centres are in the region";
        return info;
    }
    [[nodiscard]] AverageTable table() const override {
        AverageTable table = base_table();
        append(table, thermal_.temperature(series(), 0));
        return table;
    }

private:
    void sum(BallSampler& balls, std::span<double> sums) override {
        BallSums what{.by = BallSums::By::kRegion, .terms = BallSums::Terms::kThermal};
        for (int axis = 0; axis < dimension(); ++axis) {
            what.region_low[axis] = request().region_min[axis];
            what.region_high[axis] = request().region_max[axis];
        }
        add_up(balls, what, sums);
    }

    ThermalSums thermal_;
};

}  // namespace

std::unique_ptr<Averager> make_region_temperature(const ObserveRequest& request, const AverageContext& context) {
    return std::make_unique<RegionTemperature>(request, context);
}

}  // namespace carom
