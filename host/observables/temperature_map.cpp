#include "host/observables/averagers.hpp"
#include "host/observables/map_averager.hpp"
#include "host/observables/thermal_sums.hpp"

namespace carom {

namespace {

class TemperatureMap final : public MapAverager {
public:
    TemperatureMap(const ObserveRequest& request, const AverageContext& context)
        : MapAverager(request, context, BallSums::Terms::kThermal), thermal_{context.box.dimension} {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = map_info();
        info.unit = "J";
        info.label = "temperature";
        info.normalisation =
            "(sum m v^2 - |sum m v|^2 / sum m) / (dimension * count) of the balls whose centres are in a cell";
        return info;
    }
    [[nodiscard]] AverageTable table() const override {
        AverageTable table = map_table();
        for (std::size_t cell = 0; cell < cells(); ++cell) {
            append(table, thermal_.temperature(series(), cell * columns()));
        }
        return table;
    }

private:
    ThermalSums thermal_;
};

}  // namespace

std::unique_ptr<Averager> make_temperature_map(const ObserveRequest& request, const AverageContext& context) {
    return std::make_unique<TemperatureMap>(request, context);
}

}  // namespace carom
