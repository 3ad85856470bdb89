#include "host/observables/averager_base.hpp"
#include "host/observables/averagers.hpp"

namespace carom {

namespace {

class DensityProfile final : public SumAverager {
public:
    DensityProfile(const ObserveRequest& request, const AverageContext& context)
        : SumAverager(request, context, bins_of(request)),
          bins_(bins_along(context.box, request.axis, bins_of(request))),
          bin_volume_(context.box.volume() / static_cast<double>(bins_of(request))) {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = number_density_unit(dimension());
        info.label = "number density";
        info.normalisation = dimension() == 2 ? "mean number of centres in a slice / area of the slice"
                                              : "mean number of centres in a slice / volume of the slice";
        info.x = {axis_names(3)[static_cast<std::size_t>(request().axis)], "m", bins_.count};
        return info;
    }
    [[nodiscard]] AverageTable table() const override {
        AverageTable table = base_table();
        table.x = middles(bins_);
        for (std::size_t bin = 0; bin < bins_.count; ++bin) append(table, mean_of(series(), bin, 1.0 / bin_volume_));
        return table;
    }

private:
    static std::size_t bins_of(const ObserveRequest& request) { return request.bins == 0 ? 100 : request.bins; }

    void sum(BallSampler& balls, std::span<double> sums) override {
        add_up(balls, sums_in_slices(bins_, request().axis, BallSums::Terms::kCount), sums);
    }

    LineBins bins_;
    double bin_volume_;
};

}  // namespace

std::unique_ptr<Averager> make_density_profile(const ObserveRequest& request, const AverageContext& context) {
    return std::make_unique<DensityProfile>(request, context);
}

}  // namespace carom
