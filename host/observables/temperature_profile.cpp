#include "host/observables/averager_base.hpp"
#include "host/observables/averagers.hpp"
#include "host/observables/thermal_sums.hpp"

namespace carom {

namespace {

class TemperatureProfile final : public SumAverager {
public:
    TemperatureProfile(const ObserveRequest& request, const AverageContext& context)
        : SumAverager(request, context, bins_of(request) * ThermalSums{context.box.dimension}.width()),
          thermal_{context.box.dimension},
          bins_(bins_along(context.box, request.axis, bins_of(request))) {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "J";
        info.label = "temperature";
        info.normalisation =
            "(sum m v^2 - |sum m v|^2 / sum m) / (dimension * count) of the balls whose centres are in a slice";
        info.x = {axis_names(3)[static_cast<std::size_t>(request().axis)], "m", bins_.count};
        return info;
    }
    [[nodiscard]] AverageTable table() const override {
        AverageTable table = base_table();
        table.x = middles(bins_);
        for (std::size_t bin = 0; bin < bins_.count; ++bin) {
            append(table, thermal_.temperature(series(), bin * thermal_.width()));
        }
        return table;
    }

private:
    static std::size_t bins_of(const ObserveRequest& request) { return request.bins == 0 ? 50 : request.bins; }

    void sum(BallSampler& balls, std::span<double> sums) override {
        add_up(balls, sums_in_slices(bins_, request().axis, BallSums::Terms::kThermal), sums);
    }

    ThermalSums thermal_;
    LineBins bins_;
};

}  // namespace

std::unique_ptr<Averager> make_temperature_profile(const ObserveRequest& request, const AverageContext& context) {
    return std::make_unique<TemperatureProfile>(request, context);
}

}  // namespace carom
