#include "host/observables/averagers.hpp"
#include "host/observables/map_averager.hpp"

namespace carom {

namespace {

class DensityMap final : public MapAverager {
public:
    DensityMap(const ObserveRequest& request, const AverageContext& context)
        : MapAverager(request, context, BallSums::Terms::kCount) {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = map_info();
        info.unit = number_density_unit(dimension());
        info.label = "number density";
        info.normalisation = dimension() == 2
                                 ? "mean number of centres in a cell / area of the cell"
                                 : "mean number of centres in a column / volume of the column, which goes all through";
        return info;
    }
    [[nodiscard]] AverageTable table() const override {
        AverageTable table = map_table();
        const double per_volume = static_cast<double>(cells()) / box().volume();
        for (std::size_t cell = 0; cell < cells(); ++cell) append(table, mean_of(series(), cell, per_volume));
        return table;
    }
};

}  // namespace

std::unique_ptr<Averager> make_density_map(const ObserveRequest& request, const AverageContext& context) {
    return std::make_unique<DensityMap>(request, context);
}

}  // namespace carom
