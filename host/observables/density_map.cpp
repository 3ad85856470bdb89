#include <cmath>

#include "host/observables/averager_base.hpp"
#include "host/observables/averagers.hpp"

namespace carom {

namespace {

/// Maps are large: fewer batches.
constexpr std::size_t kMapBatches = 16;

/// The two axes of the picture: in 3D those across `axis`, in their order.
std::array<int, 2> plane_of(const ObserveRequest& request, const Box& box) {
    if (box.dimension == 2 || request.axis == 2) return {0, 1};
    return request.axis == 0 ? std::array{1, 2} : std::array{0, 2};
}

/// So many cells along the longer side, and as many along the other as make them nearly square.
std::array<std::size_t, 2> cells_of(const ObserveRequest& request, const Box& box) {
    const auto [first, second] = plane_of(request, box);
    const std::size_t most = request.bins == 0 ? 50 : request.bins;
    const double longest = std::max(box.size[first], box.size[second]);
    const auto cells = [&](int axis) {
        return std::max<std::size_t>(
            1, static_cast<std::size_t>(std::lround(static_cast<double>(most) * box.size[axis] / longest)));
    };
    return {cells(first), cells(second)};
}

class DensityMap final : public SumAverager {
public:
    DensityMap(const ObserveRequest& request, const AverageContext& context)
        : SumAverager(request, context, cells_of(request, context.box)[0] * cells_of(request, context.box)[1],
                      kMapBatches),
          plane_(plane_of(request, context.box)),
          x_(context.box, plane_[0], cells_of(request, context.box)[0]),
          y_(context.box, plane_[1], cells_of(request, context.box)[1]) {}

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
