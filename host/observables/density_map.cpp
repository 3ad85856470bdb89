#include "host/observables/averager_base.hpp"
#include "host/observables/averagers.hpp"
#include "host/state/map_cells.hpp"

namespace carom {

namespace {

/// Maps are large: fewer batches.
constexpr std::size_t kMapBatches = 16;

class DensityMap final : public SumAverager {
public:
    DensityMap(const ObserveRequest& request, const AverageContext& context)
        : DensityMap(request, context, map_cells(context.box, request.axis, request.bins)) {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = number_density_unit(dimension());
        info.label = "number density";
        info.normalisation = dimension() == 2
                                 ? "mean number of centres in a cell / area of the cell"
                                 : "mean number of centres in a column / volume of the column, which goes all through";
        info.x = {axis_names(3)[static_cast<std::size_t>(plane_[0])], "m", x_.count};
        info.y = {axis_names(3)[static_cast<std::size_t>(plane_[1])], "m", y_.count};
        return info;
    }
    [[nodiscard]] AverageTable table() const override {
        AverageTable table = base_table();
        table.x = middles(x_);
        table.y = middles(y_);
        const std::size_t cells = series().width();
        const double cell_volume = box().volume() / static_cast<double>(cells);
        for (std::size_t cell = 0; cell < cells; ++cell) {
            append(table, mean_of(series(), cell, 1.0 / cell_volume));
        }
        return table;
    }

private:
    DensityMap(const ObserveRequest& request, const AverageContext& context, const MapCells& map)
        : SumAverager(request, context, map.all(), kMapBatches),
          plane_(map.plane),
          x_(bins_along(context.box, plane_[0], map.cells[0])),
          y_(bins_along(context.box, plane_[1], map.cells[1])) {}

    void sum(BallSampler& balls, std::span<double> sums) override {
        BallSums what{.by = BallSums::By::kCell};
        for (std::size_t side = 0; side < plane_.size(); ++side) {
            what.axis[side] = static_cast<std::uint8_t>(plane_[side]);
            what.bins[side] = side == 0 ? x_ : y_;
        }
        add_up(balls, what, sums);
    }

    std::array<int, 2> plane_;
    LineBins x_;
    LineBins y_;
};

}  // namespace

std::unique_ptr<Averager> make_density_map(const ObserveRequest& request, const AverageContext& context) {
    return std::make_unique<DensityMap>(request, context);
}

}  // namespace carom
