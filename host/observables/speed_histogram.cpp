#include <cmath>

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
        table.x = bins_.middles();
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

    void sum(const Frame& frame, std::uint64_t, std::span<double> sums) override {
        const std::size_t bins = bins_.size();
        for (std::size_t id = 0; id < frame.size(); ++id) {
            if (!selection().has(frame, id)) continue;
            double squared = 0.0;
            for (int axis = 0; axis < dimension(); ++axis) {
                squared += frame.velocity[axis][id] * frame.velocity[axis][id];
            }
            const double speed = std::sqrt(squared);
            const std::size_t bin = bins_.find(speed, [&](const auto& change) {
                change(sums.first(bins));
                series().rearrange([&](std::span<double> batch) { change(batch.first(bins)); });
            });
            if (bin < bins) sums[bin] += 1.0;
            sums[bins] += 1.0;
        }
    }

    GrowingBins bins_;
};

}  // namespace

std::unique_ptr<Averager> make_speed_histogram(const ObserveRequest& request, const AverageContext& context) {
    return std::make_unique<SpeedHistogram>(request, context);
}

}  // namespace carom
