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
    void sum(const Frame& frame, std::uint64_t, std::span<double> sums) override {
        const ObserveRequest& wanted = request();
        for (std::size_t id = 0; id < frame.size(); ++id) {
            if (!selection().has(frame, id)) continue;
            bool inside = true;
            for (int axis = 0; axis < dimension(); ++axis) {
                const double at = frame.position[axis][id];
                inside = inside && at >= wanted.region_min[axis] && at <= wanted.region_max[axis];
            }
            if (inside) thermal_.add(frame, id, selection().mass(id), sums);
        }
    }

    ThermalSums thermal_;
};

}  // namespace

std::unique_ptr<Averager> make_region_temperature(const ObserveRequest& request, const AverageContext& context) {
    return std::make_unique<RegionTemperature>(request, context);
}

}  // namespace carom
