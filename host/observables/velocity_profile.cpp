#include "host/observables/averager_base.hpp"
#include "host/observables/averagers.hpp"

namespace carom {

namespace {

class VelocityProfile final : public SumAverager {
public:
    VelocityProfile(const ObserveRequest& request, const AverageContext& context)
        : SumAverager(request, context, bins_of(request) * (static_cast<std::size_t>(context.box.dimension) + 1)),
          bins_(bins_along(context.box, request.axis, bins_of(request))),
          axes_(static_cast<std::size_t>(context.box.dimension)) {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "m s-1";
        info.label = "flow velocity";
        info.normalisation = "sum m v / sum m of the balls whose centres are in a slice";
        info.components = axis_names(dimension());
        info.x = {axis_names(3)[static_cast<std::size_t>(request().axis)], "m", bins_.count};
        return info;
    }
    [[nodiscard]] AverageTable table() const override {
        AverageTable table = base_table();
        table.x = middles(bins_);
        for (std::size_t axis = 0; axis < axes_; ++axis) {
            for (std::size_t bin = 0; bin < bins_.count; ++bin) {
                append(table, ratio_of(series(), bin * (axes_ + 1) + axis, bin * (axes_ + 1) + axes_));
            }
        }
        return table;
    }

private:
    static std::size_t bins_of(const ObserveRequest& request) { return request.bins == 0 ? 50 : request.bins; }

    void sum(BallSampler& balls, std::span<double> sums) override {
        add_up(balls, sums_in_slices(bins_, request().axis, BallSums::Terms::kFlow), sums);
    }

    LineBins bins_;
    std::size_t axes_;
};

}  // namespace

std::unique_ptr<Averager> make_velocity_profile(const ObserveRequest& request, const AverageContext& context) {
    return std::make_unique<VelocityProfile>(request, context);
}

}  // namespace carom
