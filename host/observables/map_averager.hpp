#pragma once

#include <array>
#include <string>
#include <utility>

#include "host/observables/averager_base.hpp"
#include "host/state/map_cells.hpp"

namespace carom {

/// What all maps over a plane of the box are: sums in its nearly square cells, which in 3D go all through.
class MapAverager : public SumAverager {
public:
    /// \param terms  that a ball adds in its cell
    MapAverager(const ObserveRequest& request, const AverageContext& context, BallSums::Terms terms)
        : MapAverager(request, context, sums(context.box, request, terms)) {}

protected:
    /// With both axes.
    [[nodiscard]] AverageInfo map_info() const {
        AverageInfo info = base_info();
        info.x = axis_of(0);
        info.y = axis_of(1);
        return info;
    }
    /// With both axes, and no values yet.
    [[nodiscard]] AverageTable map_table() const {
        AverageTable table = base_table();
        table.x = middles(what_.bins[0]);
        table.y = middles(what_.bins[1]);
        return table;
    }
    [[nodiscard]] std::size_t cells() const { return what_.places(); }
    /// Of the series, for each cell.
    [[nodiscard]] std::size_t columns() const { return what_.columns(); }

private:
    static constexpr std::size_t kMapBatches = 16;  // maps are large

    MapAverager(const ObserveRequest& request, const AverageContext& context, const BallSums& what)
        : SumAverager(request, context, std::size_t{what.places()} * what.columns(), kMapBatches), what_(what) {}

    static BallSums sums(const Box& box, const ObserveRequest& request, BallSums::Terms terms) {
        const MapCells map = map_cells(box, request.axis, request.bins);
        BallSums what{.by = BallSums::By::kCell, .terms = terms, .dimension = static_cast<std::uint8_t>(box.dimension)};
        for (std::size_t side = 0; side < map.plane.size(); ++side) {
            what.axis[side] = static_cast<std::uint8_t>(map.plane[side]);
            what.bins[side] = bins_along(box, map.plane[side], map.cells[side]);
        }
        return what;
    }
    [[nodiscard]] AverageAxis axis_of(std::size_t side) const {
        return {axis_names(3)[what_.axis[side]], "m", what_.bins[side].count};
    }
    void sum(BallSampler& balls, std::span<double> sums) final { add_up(balls, what_, sums); }

    BallSums what_;
};

}  // namespace carom
