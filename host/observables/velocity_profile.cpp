#include "host/observables/averager_base.hpp"
#include "host/observables/averagers.hpp"

namespace carom {

namespace {

class VelocityProfile final : public SumAverager {
public:
    VelocityProfile(const ObserveRequest& request, const AverageContext& context)
        : SumAverager(request, context, bins_of(request) * (static_cast<std::size_t>(context.box.dimension) + 1)),
          bins_(context.box, request.axis, bins_of(request)),
          axes_(static_cast<std::size_t>(context.box.dimension)) {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "m s-1";
        info.label = "flow velocity";
        info.normalisation = "sum m v / sum m of the balls whose centres are in a slice";
        info.components = axis_names(dimension());
        info.x = {axis_names(3)[static_cast<std::size_t>(request().axis)], "m", bins_.size()};
        return info;
    }
    [[nodiscard]] AverageTable table() const override {
        AverageTable table = base_table();
        table.x = bins_.middles();
        for (std::size_t axis = 0; axis < axes_; ++axis) {
            for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
                append(table, ratio_of(series(), bin * (axes_ + 1) + axis, bin * (axes_ + 1) + axes_));
            }
        }
        return table;
    }

private:
    static std::size_t bins_of(const ObserveRequest& request) { return request.bins == 0 ? 50 : request.bins; }

    void sum(const Frame& frame, std::uint64_t, std::span<double> sums) override {
        const std::vector<double>& at = frame.position[static_cast<std::size_t>(request().axis)];
        for (std::size_t id = 0; id < frame.size(); ++id) {
            if (!selection().has(frame, id)) continue;
            const std::size_t bin = bins_.find(at[id]);
            if (bin == bins_.size()) continue;
            const double mass = selection().mass(id);
            for (std::size_t axis = 0; axis < axes_; ++axis) {
                sums[bin * (axes_ + 1) + axis] += mass * frame.velocity[axis][id];
            }
            sums[bin * (axes_ + 1) + axes_] += mass;
        }
    }

    BoxBins bins_;
    std::size_t axes_;
};

}  // namespace

std::unique_ptr<Averager> make_velocity_profile(const ObserveRequest& request, const AverageContext& context) {
    return std::make_unique<VelocityProfile>(request, context);
}

}  // namespace carom
