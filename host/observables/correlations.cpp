#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/observables/correlator.hpp"
#include "host/observables/registry.hpp"
#include "kernels/physics/diffusion.hpp"

// What balls have to do with themselves some time later: how far they have come, and how much of their velocity is
// left.

namespace carom {

namespace {

/// Sums over balls, in SIMD lanes, what `of` makes of two numbers of each axis, added up over the axes; NaN, which
/// those that have left have, counts for nothing. \param early, late  axis after axis, all balls of each
template <std::size_t Dim, class Of>
BallSum sum_over_balls(std::span<const double> early, std::span<const double> late, const Of& of) {
    constexpr std::size_t kLanes = 8;
    const std::size_t balls = early.size() / Dim;
    std::array<double, kLanes> sums{};
    std::array<double, kLanes> counts{};
    const auto add = [&](std::size_t ball, std::size_t lane) {
        double value = 0.0;
        for (std::size_t axis = 0; axis < Dim; ++axis)
            value += of(early[axis * balls + ball], late[axis * balls + ball]);
        const bool in = value == value;
        sums[lane] += in ? value : 0.0;
        counts[lane] += in ? 1.0 : 0.0;
    };
    std::size_t ball = 0;
    for (; ball + kLanes <= balls; ball += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) add(ball + lane, lane);
    }
    for (; ball < balls; ++ball) add(ball, 0);
    BallSum result;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        result.sum += sums[lane];
        result.balls += counts[lane];
    }
    return result;
}

/// Balls that correlations in time follow, at most: evenly many of all that there are.
constexpr std::size_t kMostFollowed = 4096;

/// A correlation in time of what each ball has of its own, over many starts.
class CorrelationAverage : public Average {
public:
    /// \param what  that each ball has of its own
    CorrelationAverage(ObserveEntry request, const AverageContext& context, Followed what, Correlation correlation)
        : request_(std::move(request)),
          what_(what),
          size_(context.box.size),
          every_(context.every),
          dimension_(static_cast<std::size_t>(context.box.dimension)),
          ids_(picked(*context.population, Selection(context.population, request_.species))),
          correlator_(ids_.size() * dimension_, context.samples, std::move(correlation)),
          sample_(ids_.size() * dimension_) {}

    void add(BallSampler& balls, const Moment& now) final {
        balls.follow(ids_, what_, std::span(size_).first(dimension_), sample_);
        correlator_.add(now.index, sample_);
    }
    void skip() final { correlator_.begin_anew(); }
    void interrupt() final {}  // whoever kicks may be the thermostat
    [[nodiscard]] std::size_t most_numbers() const final { return correlator_.most_numbers() + sample_.size(); }
    void save(std::vector<double>& out) const final { correlator_.save(out); }
    void restore(SavedNumbers& saved) final { correlator_.restore(saved); }

protected:
    [[nodiscard]] AverageInfo base_info() const {
        AverageInfo info;
        info.name = request_.name;
        info.kind = request_.kind;
        info.species = request_.species;
        info.every = every_;
        info.from = request_.from;
        info.x = {"time t", "s", correlator_.lags()};
        return info;
    }
    /// x, and no values yet.
    [[nodiscard]] AverageTable base_table() const {
        AverageTable table;
        table.samples = static_cast<double>(correlator_.starts(0));
        for (std::size_t k = 0; k < correlator_.lags(); ++k) {
            table.x.push_back(every_ * static_cast<double>(correlator_.lag(k)));
        }
        return table;
    }
    /// What has been measured at each lag, and what variances have more than those of independent balls.
    struct Lags {
        std::vector<MeanWithError> at;  ///< with blocked errors
        std::vector<double> along;      ///< of displacements: that along an axis which nothing bounds [length^2]
        double shared = 0.0;
    };
    [[nodiscard]] Lags measured_lags() const {
        Lags lags;
        for (std::size_t k = 0; k < correlator_.lags(); ++k) {
            lags.at.push_back(correlator_.at(k));
            lags.along.push_back(along(lags.at.back().value));
        }
        lags.shared = shared_modes(lags);
        return lags;
    }
    /// Values with their blocked errors; where blocks are too few, with those of independent balls and starts, times
    /// what the blocked errors of shorter lags are of theirs.
    [[nodiscard]] AverageTable lag_table() const {
        AverageTable table = base_table();
        const Lags lags = measured_lags();
        for (std::size_t k = 0; k < lags.at.size(); ++k) {
            const MeanWithError& lag = lags.at[k];
            const bool blocked = in_blocks(k) && std::isfinite(lag.error);
            table.values.push_back(lag.value);
            table.errors.push_back(!std::isfinite(lag.value) ? std::nan("") : blocked ? lag.error : noise(lags, k));
            if (blocked) table.steadiness.add(lag);
        }
        return table;
    }
    /// Standard error of a lag whose starts are too few for blocks.
    [[nodiscard]] double noise(const Lags& lags, std::size_t k) const {
        return lone_noise(lags, k) * std::sqrt(shared(lags, k));
    }
    /// That of independent balls.
    [[nodiscard]] virtual double lone_noise(const Lags& lags, std::size_t k) const = 0;
    /// Of a mean square displacement, the part along an axis that nothing bounds.
    [[nodiscard]] virtual double along(double) const { return 0.0; }
    /// How much of what balls have in common over short times is left at a lag, from 1 to 0.
    [[nodiscard]] virtual double in_common(const Lags&, std::size_t) const { return 1.0; }
    /// How much larger variances are than those of independent balls.
    [[nodiscard]] double shared(const Lags& lags, std::size_t k) const {
        return std::max(0.0, 1.0 + lags.shared * in_common(lags, k));
    }
    [[nodiscard]] const Correlator& correlator() const { return correlator_; }
    [[nodiscard]] std::size_t dimension() const { return dimension_; }

private:
    /// By the longest lags that have blocks enough. Neighbours share the modes of the gas, disks most of all; what
    /// walls hold back is sooner forgotten.
    [[nodiscard]] double shared_modes(const Lags& lags) const {
        constexpr double kLongest = 0.25;  // of the longest such lag on
        std::size_t last = 0;
        for (std::size_t k = 1; k < lags.at.size() && in_blocks(k); ++k) last = k;
        double sum = 0.0;
        double common = 0.0;
        double count = 0.0;
        for (std::size_t k = last; k > 0; --k) {
            if (static_cast<double>(correlator_.lag(k)) < kLongest * static_cast<double>(correlator_.lag(last))) break;
            const double ratio = lags.at[k].error / lone_noise(lags, k);
            if (!(ratio > 0.0) || !std::isfinite(ratio)) continue;
            sum += 2.0 * std::log(ratio);
            common += in_common(lags, k);
            count += 1.0;
        }
        // Balls on their free paths share one energy, and are less off together than alone; that is forgotten behind.
        return common > 0.0 ? std::max(0.0, (std::exp(sum / count) - 1.0) * count / common) : 0.0;
    }
    /// Whether the run has spans of that length enough, one after the other, for errors by blocks: the values of two
    /// starts know of each other for a third of it, and that is what a blocked error stands.
    [[nodiscard]] bool in_blocks(std::size_t k) const {
        constexpr double kLeastSpans = 12.0;
        return static_cast<double>(correlator_.starts(0)) >= kLeastSpans * static_cast<double>(correlator_.lag(k));
    }
    static std::vector<std::uint32_t> picked(const Population& population, const Selection& selection) {
        const auto chosen = selection.by_species();
        std::size_t all = 0;
        population.species.for_each_stretch(
            [&](std::uint32_t row, std::size_t count) { all += chosen[row] != 0 ? count : 0; });
        const std::size_t followed = std::min(all, kMostFollowed);
        std::vector<std::uint32_t> some;
        const auto next = [&] { return some.size() * all / followed; };  // of those that are chosen
        std::size_t id = 0;
        std::size_t before = 0;  // of those that are chosen
        population.species.for_each_stretch([&](std::uint32_t row, std::size_t count) {
            if (chosen[row] != 0) {
                while (some.size() < followed && next() < before + count) {
                    some.push_back(static_cast<std::uint32_t>(id + next() - before));
                }
                before += count;
            }
            id += count;
        });
        return some;
    }

    ObserveEntry request_;
    Followed what_;
    Vector3 size_;  // of the box
    double every_;
    std::size_t dimension_;
    std::vector<std::uint32_t> ids_;
    Correlator correlator_;
    std::vector<double> sample_;
};

BallSum square_ways(std::size_t dimension, std::span<const double> early, std::span<const double> late) {
    const auto square = [](double from, double to) { return (to - from) * (to - from); };
    return dimension == 2 ? sum_over_balls<2>(early, late, square) : sum_over_balls<3>(early, late, square);
}

class Displacements : public CorrelationAverage {
public:
    Displacements(const ObserveEntry& request, const AverageContext& context)
        : CorrelationAverage(request, context, Followed::kPlace,
                             [dimension = static_cast<std::size_t>(context.box.dimension)](auto early, auto late) {
                                 return square_ways(dimension, early, late);
                             }),
          box_(context.box) {}

protected:
    [[nodiscard]] double lone_noise(const Lags& lags, std::size_t k) const final {
        return std::sqrt(covariance(lags, k, k) / std::max(1.0, correlator().balls(k)));
    }
    [[nodiscard]] double in_common(const Lags& lags, std::size_t k) const final {
        const double along = lags.at[k].value / static_cast<double>(dimension());
        return flow_in_common(box_.dimension, along, *std::ranges::max_element(box_.size)) *
               (1.0 - held(lags, k) * held(lags, k));
    }
    /// Of the means over all starts of two lags, a up to b, for one ball that moves at random and by itself.
    [[nodiscard]] double covariance(const Lags& lags, std::size_t a, std::size_t b) const {
        double sum = 0.0;
        for (int axis = 0; axis < box_.dimension; ++axis) {
            const auto way = [&](double time) { return across(displacement(lags, std::abs(time)), axis); };
            const double held = walled(axis) ? held_back(across(lags.along[b], axis), box_.size[axis]) : 0.0;
            sum += scatter_held_back(held, a == b) * covariance_along_axis(way, a, b);
        }
        return sum;
    }

private:
    /// Over all pairs of starts what their two ways have in common, by the displacements that have been measured.
    template <class Way>
    [[nodiscard]] double covariance_along_axis(const Way& way, std::size_t a, std::size_t b) const {
        const auto spacing = static_cast<double>(Correlator::spacing(b));
        const auto short_way = static_cast<double>(correlator().lag(a));
        const auto long_way = static_cast<double>(correlator().lag(b));
        const double begins = spacing * static_cast<double>(correlator().starts(b));
        const double short_begins = static_cast<double>(Correlator::spacing(a) * correlator().starts(a));
        double sum = 0.0;
        // From the shorter way in the middle of the longer one on, as far as they have something in common: where that
        // has once become none, the rest is noise.
        const double middle = -std::floor(0.5 * (long_way - short_way) / spacing) * spacing;
        const auto go = [&](double u, double step) {
            for (;; u += step) {
                const double pairs = std::min(short_begins, begins - u) - std::max(0.0, -u);
                const double common = common_way(way, short_way, long_way, u);
                if (!(pairs > 0.0) || !(common > 0.0)) return;
                sum += pairs * covariance_of_squares(common, 1);
            }
        };
        go(middle, -spacing);
        go(middle + spacing, spacing);
        return sum * spacing / (short_begins * begins);
    }

    [[nodiscard]] bool walled(int axis) const {
        return box_.faces[axis][0] == Face::kWall && box_.faces[axis][1] == Face::kWall;
    }
    /// The mean square displacement along an axis, of what it would be without walls.
    [[nodiscard]] double across(double along, int axis) const {
        return walled(axis) ? confined_way(along, box_.size[axis]) : along;
    }
    [[nodiscard]] double along(double squared_way) const final {
        if (!(squared_way > 0.0)) return squared_way;
        const auto all = [&](double along) {
            double sum = 0.0;
            for (int axis = 0; axis < box_.dimension; ++axis) sum += across(along, axis);
            return sum;
        };
        double low = squared_way / box_.dimension;
        double high = low;
        // Between walls everywhere nobody can tell beyond some way.
        const double farthest = 4.0 * *std::ranges::max_element(box_.size) * *std::ranges::max_element(box_.size);
        while (all(high) < squared_way && high < farthest) high *= 2.0;
        for (int halvings = 0; halvings < 40 && low < high; ++halvings) {
            const double middle = 0.5 * (low + high);
            (all(middle) < squared_way ? low : high) = middle;
        }
        return low;
    }
    /// By walls, in the mean over the axes.
    [[nodiscard]] double held(const Lags& lags, std::size_t k) const {
        double sum = 0.0;
        for (int axis = 0; axis < box_.dimension; ++axis) {
            if (walled(axis)) sum += held_back(across(lags.along[k], axis), box_.size[axis]);
        }
        return sum / box_.dimension;
    }
    /// Lags::along after so many samples, between lags and beyond the last one by straight lines.
    [[nodiscard]] double displacement(const Lags& lags, double time) const {
        const auto known = static_cast<std::size_t>(
            std::ranges::find_if(lags.at, [](const MeanWithError& lag) { return !std::isfinite(lag.value); }) -
            lags.at.begin());
        if (known < 2) return 0.0;
        std::size_t above = 1;
        while (above + 1 < known && static_cast<double>(correlator().lag(above)) < time) ++above;
        const auto low = static_cast<double>(correlator().lag(above - 1));
        const auto high = static_cast<double>(correlator().lag(above));
        const double slope = (lags.along[above] - lags.along[above - 1]) / (high - low);
        return lags.along[above - 1] + slope * (time - low);
    }

    Box box_;
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
    [[nodiscard]] AverageTable table() const override { return lag_table(); }
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
        const double per_time =
            1.0 / (2.0 * static_cast<double>(dimension()) *
                   (info().every * static_cast<double>(correlator().lag(late) - correlator().lag(early))));
        const Lags lags = measured_lags();
        const double late_alone = covariance(lags, late, late);
        // Whatever they have in common, they are not that alike.
        const double variance = std::max(
            0.1 * late_alone, late_alone - 2.0 * covariance(lags, early, late) + covariance(lags, early, early));
        const double error = std::sqrt(variance * shared(lags, late) / std::max(1.0, correlator().balls(late)));
        table.values.push_back((lags.at[late].value - lags.at[early].value) * per_time);
        table.errors.push_back(error * per_time);
        return table;
    }

private:
    static constexpr double kSpans = 4.0;
};

BallSum products(std::size_t dimension, std::span<const double> early, std::span<const double> late) {
    const auto product = [](double v, double w) { return v * w; };
    BallSum result = dimension == 2 ? sum_over_balls<2>(early, late, product) : sum_over_balls<3>(early, late, product);
    result.sum /= static_cast<double>(dimension);
    return result;
}

class VelocityAutocorrelation final : public CorrelationAverage {
public:
    VelocityAutocorrelation(const ObserveEntry& request, const AverageContext& context)
        : CorrelationAverage(request, context, Followed::kVelocity,
                             [dimension = static_cast<std::size_t>(context.box.dimension)](auto early, auto late) {
                                 return products(dimension, early, late);
                             }) {}

    [[nodiscard]] AverageInfo info() const override {
        AverageInfo info = base_info();
        info.unit = "m2 s-2";
        info.label = "velocity autocorrelation";
        info.normalisation = "mean of v(t0) . v(t0 + t) / dimension over balls and starts t0: T / m at t = 0";
        return info;
    }
    [[nodiscard]] AverageTable table() const override { return lag_table(); }

protected:
    /// The product of two independent velocities has the standard deviation T / (m sqrt(d)).
    [[nodiscard]] double lone_noise(const Lags& lags, std::size_t k) const override {
        return lags.at[0].value /
               std::sqrt(static_cast<double>(dimension()) * correlator().independent_values(k, memory(lags)));
    }

private:
    /// Products are alike as long as both velocities are: the integral of the square of C(t) / C(0).
    [[nodiscard]] double memory(const Lags& lags) const {
        double sum = 1.0;
        for (std::size_t k = 1; k < lags.at.size(); ++k) {
            const double left = lags.at[k].value / lags.at[0].value;
            if (!(left > 0.0)) break;  // what is left is noise
            sum += 2.0 * left * left * static_cast<double>(correlator().lag(k) - correlator().lag(k - 1));
        }
        return sum;
    }
};

constexpr ObservableKind kKinds[] = {
    {.name = "msd",
     .what = "mean square displacement over the time between, over many starts",
     .unit = "m^2",
     .keys = kAverageKeys,
     .looks = ObservableKind::Looks::kBetweenCollisions,
     .make = average<MeanSquareDisplacement>},
    {.name = "self_diffusion",
     .what =
         "self-diffusion coefficient: what the mean square displacement gains from a lag of an eighth of the run to "
         "one of a quarter, over 2 d times the time between; of 8 samples or more",
     .unit = "m^2/s",
     .keys = kAverageKeys,
     .make = average<SelfDiffusion>},
    {.name = "vacf",
     .what = "velocity autocorrelation v(0) . v(t) / d, over many starts",
     .unit = "m^2/s^2",
     .keys = kAverageKeys,
     .looks = ObservableKind::Looks::kInBursts,
     .make = average<VelocityAutocorrelation>},
};

}  // namespace

std::span<const ObservableKind> correlation_kinds() { return kKinds; }

}  // namespace carom
