#include <algorithm>
#include <cmath>

#include "host/observables/averagers.hpp"
#include "host/observables/correlation_averager.hpp"
#include "kernels/physics/diffusion.hpp"

namespace carom {

namespace {

BallSum square_ways(std::size_t dimension, std::span<const double> early, std::span<const double> late) {
    const auto square = [](double from, double to) { return (to - from) * (to - from); };
    return dimension == 2 ? sum_over_balls<2>(early, late, square) : sum_over_balls<3>(early, late, square);
}

class Displacements : public CorrelationAverager {
public:
    Displacements(const ObserveRequest& request, const AverageContext& context)
        : CorrelationAverager(request, context, Followed::kPlace,
                              [dimension = static_cast<std::size_t>(context.box.dimension)](auto early, auto late) {
                                  return square_ways(dimension, early, late);
                              }) {}

protected:
    [[nodiscard]] MeanWithError squared_way(std::size_t lag) const {
        return lag_value(lag, displacement_noise(static_cast<int>(dimension())) * correlator().at(lag).value);
    }
};

class MeanSquareDisplacement final : public Displacements {
public:
    using Displacements::Displacements;

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "m2";
        info.label = "mean square displacement";
        info.normalisation =
            "mean of |x(t0 + t) - x(t0)|^2 over balls and starts t0, unwrapped positions; with the flow, if there is "
            "one";
        return info;
    }
    [[nodiscard]] AverageTable table() const override {
        AverageTable table = base_table();
        for (std::size_t k = 0; k < correlator().lags(); ++k) {
            const MeanWithError measured = squared_way(k);
            table.values.push_back(measured.value);
            table.errors.push_back(measured.error);
        }
        return table;
    }
};

/// D = (W(b) - W(a)) / (2 d (b - a)), W the mean square displacement, b the longest lag of which the run has kSpans one
/// after the other, a about half of it, but not 0, since a ball has not yet forgotten its velocity then: both far
/// beyond the time that this takes, if the run and the time between samples are.
class SelfDiffusion final : public Displacements {
public:
    using Displacements::Displacements;

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "m2 s-1";
        info.label = "self-diffusion coefficient";
        info.normalisation =
            "growth of the mean square displacement from a lag to twice that / (2 dimension * time between them); lags "
            "of up to a quarter of the run";
        info.x = {};
        return info;
    }
    [[nodiscard]] AverageTable table() const override {
        AverageTable table = base_table();
        table.x.clear();
        std::size_t late = 0;
        for (std::size_t k = 1; k < correlator().lags(); ++k) {
            if (static_cast<double>(correlator().starts(0)) >= kSpans * static_cast<double>(correlator().lag(k)))
                late = k;
        }
        if (late < 2) {
            table.values.push_back(std::nan(""));
            table.errors.push_back(std::nan(""));
            return table;
        }
        std::size_t early = 1;
        while (2 * correlator().lag(early + 1) <= correlator().lag(late)) ++early;
        const MeanWithError at_late = squared_way(late);
        const MeanWithError at_early = squared_way(early);
        const double per_time =
            1.0 / (2.0 * static_cast<double>(dimension()) *
                   (info().every * static_cast<double>(correlator().lag(late) - correlator().lag(early))));
        const double ratio = static_cast<double>(correlator().lag(early)) / static_cast<double>(correlator().lag(late));
        const double error = at_late.error * std::sqrt(growth_variance(ratio));
        table.values.push_back((at_late.value - at_early.value) * per_time);
        table.errors.push_back(error * per_time);
        return table;
    }

private:
    static constexpr double kSpans = 4.0;
};

}  // namespace

std::unique_ptr<Averager> make_self_diffusion(const ObserveRequest& request, const AverageContext& context) {
    return std::make_unique<SelfDiffusion>(request, context);
}

std::unique_ptr<Averager> make_mean_square_displacement(const ObserveRequest& request, const AverageContext& context) {
    return std::make_unique<MeanSquareDisplacement>(request, context);
}

}  // namespace carom
