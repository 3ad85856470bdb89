#include "host/observables/averager_base.hpp"
#include "host/observables/averagers.hpp"
#include "host/observables/growing_bins.hpp"

namespace carom {

namespace {

class SpeedHistogram final : public SumAverager {
public:
    SpeedHistogram(const ObserveRequest& request, const AverageContext& context)
        : SumAverager(request, context, bins_of(request) + 1),
          bins_(GrowingBins::Shape::kFromZero, bins_of(request), request.max) {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "s m-1";
        info.label = "probability density";
        info.normalisation = "share of balls per speed: count / (all balls * samples * width of a bin); integral 1";
        info.x = {"speed", "m s-1", bins_.size()};
        return info;
    }
    [[nodiscard]] AverageTable table() const override {
        AverageTable table = base_table();
        table.x = middles(bins_.line());
        for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
            append(table, ratio_of(series(), bin, bins_.size(), 1.0 / bins_.width()));
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
        BallSums what{.by = BallSums::By::kSpeed};
        double fastest = 0.0;
        do {
            what.bins[0] = bins_.line();
            fastest = add_up(balls, what, sums);
        } while (bins_.cover(fastest, [this](const auto& change) {
            series().rearrange([&](std::span<double> batch) { change(batch.first(bins_.size())); });
        }));
    }

    GrowingBins bins_;
};

}  // namespace

std::unique_ptr<Averager> make_speed_histogram(const ObserveRequest& request, const AverageContext& context) {
    return std::make_unique<SpeedHistogram>(request, context);
}

}  // namespace carom
