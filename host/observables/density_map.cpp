#include <cmath>

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
        info.x = {axis_names(3)[static_cast<std::size_t>(plane_[0])], "m", x_.size()};
        info.y = {axis_names(3)[static_cast<std::size_t>(plane_[1])], "m", y_.size()};
        return info;
    }
    [[nodiscard]] AverageTable table() const override {
        AverageTable table = base_table();
        table.x = x_.middles();
        table.y = y_.middles();
        const double cell_volume = box().volume() / static_cast<double>(x_.size() * y_.size());
        for (std::size_t cell = 0; cell < x_.size() * y_.size(); ++cell) {
            append(table, mean_of(series(), cell, 1.0 / cell_volume));
        }
        return table;
    }

private:
    DensityMap(const ObserveRequest& request, const AverageContext& context, const MapCells& map)
        : SumAverager(request, context, map.all(), kMapBatches),
          plane_(map.plane),
          x_(context.box, plane_[0], map.cells[0]),
          y_(context.box, plane_[1], map.cells[1]) {}

    void sum(const Frame& frame, std::uint64_t, std::span<double> sums) override {
        const std::vector<double>& first = frame.position[static_cast<std::size_t>(plane_[0])];
        const std::vector<double>& second = frame.position[static_cast<std::size_t>(plane_[1])];
        for (std::size_t id = 0; id < frame.size(); ++id) {
            if (!selection().has(frame, id)) continue;
            const std::size_t column = x_.find(first[id]);
            const std::size_t row = y_.find(second[id]);
            if (column < x_.size() && row < y_.size()) sums[row * x_.size() + column] += 1.0;
        }
    }

    std::array<int, 2> plane_;
    BoxBins x_;
    BoxBins y_;
};

}  // namespace

std::unique_ptr<Averager> make_density_map(const ObserveRequest& request, const AverageContext& context) {
    return std::make_unique<DensityMap>(request, context);
}

}  // namespace carom
