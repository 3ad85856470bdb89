#include "host/observables/averagers.hpp"
#include "host/observables/map_averager.hpp"

namespace carom {

namespace {

class VelocityMap final : public MapAverager {
public:
    VelocityMap(const ObserveRequest& request, const AverageContext& context)
        : MapAverager(request, context, BallSums::Terms::kFlow) {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = map_info();
        info.unit = "m s-1";
        info.label = "flow velocity";
        info.normalisation = "sum m v / sum m of the balls whose centres are in a cell";
        info.components = axis_names(dimension());
        return info;
    }
    [[nodiscard]] AverageTable table() const override {
        AverageTable table = map_table();
        const auto mass = static_cast<std::size_t>(dimension());  // the column behind those of the momentum
        for (std::size_t axis = 0; axis < mass; ++axis) {
            for (std::size_t cell = 0; cell < cells(); ++cell) {
                append(table, ratio_of(series(), cell * columns() + axis, cell * columns() + mass));
            }
        }
        return table;
    }
};

}  // namespace

std::unique_ptr<Averager> make_velocity_map(const ObserveRequest& request, const AverageContext& context) {
    return std::make_unique<VelocityMap>(request, context);
}

}  // namespace carom
