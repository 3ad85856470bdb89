#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/observables/averager_base.hpp"
#include "host/observables/correlator.hpp"

namespace carom {

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
class CorrelationAverager : public Averager {
public:
    /// \param what  that each ball has of its own
    CorrelationAverager(ObserveRequest request, const AverageContext& context, Followed what, Correlation correlation)
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
    /// The value of a lag with the larger of its blocked error and that of independent balls and starts.
    /// \param scale_of_noise  standard deviation of one ball's value
    [[nodiscard]] MeanWithError lag_value(std::size_t k, double scale_of_noise) const {
        MeanWithError measured = correlator_.at(k);
        const double least = scale_of_noise / std::sqrt(correlator_.independent_values(k));
        measured.error = std::isfinite(measured.error) ? std::max(measured.error, least) : least;
        if (!std::isfinite(measured.value)) measured.error = std::nan("");
        return measured;
    }
    [[nodiscard]] const Correlator& correlator() const { return correlator_; }
    [[nodiscard]] std::size_t dimension() const { return dimension_; }

private:
    static std::vector<std::uint32_t> picked(const Population& population, const Selection& selection) {
        std::vector<std::uint32_t> all;
        for (std::size_t id = 0; id < population.species.size(); ++id) {
            if (selection.chosen(id)) all.push_back(static_cast<std::uint32_t>(id));
        }
        if (all.size() <= kMostFollowed) return all;
        std::vector<std::uint32_t> some;
        for (std::size_t k = 0; k < kMostFollowed; ++k) some.push_back(all[k * all.size() / kMostFollowed]);
        return some;
    }

    ObserveRequest request_;
    Followed what_;
    Vector3 size_;  // of the box
    double every_;
    std::size_t dimension_;
    std::vector<std::uint32_t> ids_;
    Correlator correlator_;
    std::vector<double> sample_;
};

}  // namespace carom
