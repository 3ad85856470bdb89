#include <fmt/format.h>

#include "host/observables/growing_bins.hpp"
#include "host/observables/registry.hpp"
#include "host/observables/sum_average.hpp"

// How often balls have a speed, and a velocity.

namespace carom {

namespace {

class SpeedHistogram final : public SumAverage {
public:
    SpeedHistogram(const ObserveEntry& request, const AverageContext& context)
        : SumAverage(request, context, request.bins + 1),
          bins_(GrowingBins::Shape::kFromZero, request.bins, request.max) {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "s m-1";
        info.label = "probability density";
        info.normalisation = "share of balls per speed: count / (all balls * samples * width of a bin); integral 1";
        info.x = {"speed", "m s-1", bins_.size()};
        return info;
    }
    [[nodiscard]] AverageTable measured() const override {
        AverageTable table = base_table();
        table.x = middles(bins_.line());
        for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
            append(table, ratio_of(series(), bin, bins_.size(), 1.0 / bins_.width()));
        }
        return table;
    }
    void save(std::vector<double>& out) const override {
        bins_.save(out);
        SumAverage::save(out);
    }
    void restore(SavedNumbers& saved) override {
        bins_.restore(saved);
        SumAverage::restore(saved);
    }

private:
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

class VelocityHistogram final : public SumAverage {
public:
    VelocityHistogram(const ObserveEntry& request, const AverageContext& context)
        : SumAverage(request, context, static_cast<std::size_t>(context.box.dimension) * request.bins + 1),
          bins_(GrowingBins::Shape::kBothSides, request.bins, request.max),
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
    [[nodiscard]] AverageTable measured() const override {
        AverageTable table = base_table();
        table.x = middles(bins_.line());
        for (std::size_t at = 0; at < axes_ * bins_.size(); ++at) {
            append(table, ratio_of(series(), at, axes_ * bins_.size(), 1.0 / bins_.width()));
        }
        return table;
    }
    void save(std::vector<double>& out) const override {
        bins_.save(out);
        SumAverage::save(out);
    }
    void restore(SavedNumbers& saved) override {
        bins_.restore(saved);
        SumAverage::restore(saved);
    }

private:
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

constexpr ObservableKind kKinds[] = {
    {.name = "speed",
     .what = "density of the speeds, integral 1",
     .unit = "s/m",
     .keys = kHistogramKeys,
     .bins = 128,
     .bins_rule = "a multiple of 4",
     .check = check_growing_bins,
     .make = average<SpeedHistogram>},
    {.name = "velocity",
     .what = "density of each velocity component, integral 1",
     .unit = "s/m",
     .keys = kHistogramKeys,
     .bins = 128,
     .bins_rule = "a multiple of 4",
     .check = check_growing_bins,
     .make = average<VelocityHistogram>},
};

}  // namespace

std::span<const ObservableKind> histogram_kinds() { return kKinds; }

}  // namespace carom
