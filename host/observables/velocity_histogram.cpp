#include "host/observables/averager_base.hpp"
#include "host/observables/averagers.hpp"
#include "host/observables/growing_bins.hpp"

namespace carom {

namespace {

class VelocityHistogram final : public SumAverager {
public:
    VelocityHistogram(const ObserveRequest& request, const AverageContext& context)
        : SumAverager(request, context, static_cast<std::size_t>(context.box.dimension) * bins_of(request) + 1),
          bins_(GrowingBins::Shape::kBothSides, bins_of(request), request.max),
          axes_(static_cast<std::size_t>(context.box.dimension)) {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "s m-1";
        info.label = "probability density";
        info.normalisation =
            "share of balls per velocity: count / (all balls * samples * width of a bin); integral 1 for each "
            "component";
        info.components = axis_names(dimension());
        info.x = {"velocity", "m s-1", bins_.size()};
        return info;
    }
    [[nodiscard]] AverageTable table() const override {
        AverageTable table = base_table();
        table.x = middles(bins_.line());
        for (std::size_t at = 0; at < axes_ * bins_.size(); ++at) {
            append(table, ratio_of(series(), at, axes_ * bins_.size(), 1.0 / bins_.width()));
        }
        return table;
    }
    void save(std::vector<double>& out) const override {
        bins_.save(out);
        SumAverager::save(out);
    }
    void restore(SavedNumbers& saved) override {
        bins_.restore(saved);
        SumAverager::restore(saved);
    }

private:
    static std::size_t bins_of(const ObserveRequest& request) { return request.bins == 0 ? 128 : request.bins; }

    void sum(BallSampler& balls, std::span<double> sums) override {
        BallSums what{.by = BallSums::By::kComponents};
        const std::size_t bins = bins_.size();
        double largest = 0.0;
        do {
            what.bins[0] = bins_.line();
            largest = add_up(balls, what, sums);
        } while (bins_.cover(largest, [&](const auto& change) {
            series().rearrange([&](std::span<double> batch) {
                for (std::size_t axis = 0; axis < axes_; ++axis) change(batch.subspan(axis * bins, bins));
            });
        }));
    }

    GrowingBins bins_;
    std::size_t axes_;
};

}  // namespace

std::unique_ptr<Averager> make_velocity_histogram(const ObserveRequest& request, const AverageContext& context) {
    return std::make_unique<VelocityHistogram>(request, context);
}

}  // namespace carom
