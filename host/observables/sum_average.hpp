#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/observables/average.hpp"

namespace carom {

/// "x", "y", "z", as many as there are axes.
inline std::vector<std::string> axis_names(int dimension) {
    std::vector<std::string> names{"x", "y", "z"};
    names.resize(static_cast<std::size_t>(dimension));
    return names;
}

/// Per area in 2D, per volume in 3D.
inline std::string number_density_unit(int dimension) { return dimension == 2 ? "m-2" : "m-3"; }

/// What most averages are: each sample is a vector of sums over balls, and the averages follow from the means of these.
class SumAverage : public Average {
public:
    /// \param width  of the vector
    SumAverage(ObserveEntry request, const AverageContext& context, std::size_t width,
               std::size_t capacity = BatchSeries::kBatches)
        : request_(std::move(request)),
          box_(context.box),
          every_(context.every),
          selection_(context.population, request_.species),
          heaviest_(selection_.heaviest()),
          lightest_(selection_.lightest()),
          series_(width, capacity) {
        if (request_.bins == 0) series_.keep_moments();  // single numbers
    }

    void add(BallSampler& balls, const Moment& now) final {
        if (!counts(balls, now)) return;
        sums_.assign(series_.width(), 0.0);  // large ones cost nothing until they are used
        sum(balls, sums_);
        series_.add(sums_);
    }
    [[nodiscard]] std::size_t most_numbers() const override { return series_.most_numbers() + series_.width(); }
    /// Last of what is saved.
    void save(std::vector<double>& out) const override {
        series_.save(out);
        series_.save_moments(out);
    }
    void restore(SavedNumbers& saved) override {
        series_.restore(saved);
        series_.restore_moments(saved);
    }

protected:
    /// Adds up one sample; `sums` is zero before, and stays where it is.
    virtual void sum(BallSampler& balls, std::span<double> sums) = 0;

    /// Whether this sample is one; the first of those that look at what has changed since the one before is not.
    [[nodiscard]] virtual bool counts(BallSampler& /*balls*/, const Moment& /*now*/) { return true; }

    /// Sums over the selection's balls, in their units, grids chosen.
    /// \param sums  what.width() numbers, or one less: without the number of balls that were looked at
    /// \return      BallSampler::sums
    double add_up(BallSampler& balls, BallSums what, std::span<double> sums) {
        what.dimension = static_cast<std::uint8_t>(dimension());
        if (what.terms != BallSums::Terms::kCount) {
            what.choose_grids(selection_.population_size(), heaviest_, balls.largest_energy(selection_.by_species()));
        }
        steps_.resize(what.width());
        const double largest = balls.sums(what, selection_.by_species(), steps_);
        const std::size_t columns = what.columns();
        for (std::size_t k = 0; k < sums.size(); ++k) {
            const double grid = k + 1 < what.width() ? what.to_grid[static_cast<int>(k % columns)] : 1.0;
            sums[k] = static_cast<double>(steps_[k]) / grid;
        }
        if (has_few_steps(what)) {
            what.sum_the_rest(selection_.population_size());
            balls.sums(what, selection_.by_species(), steps_);
            for (std::size_t k = 0; k < sums.size() && k + 1 < what.width(); ++k) {
                const std::size_t column = k % columns;
                if (column >= what.measured) continue;
                sums[k] += static_cast<double>(steps_[k]) / (what.to_grid[static_cast<int>(column)] * what.finer);
            }
        }
        return largest;
    }

    /// What all have in common.
    [[nodiscard]] AverageInfo base_info() const {
        AverageInfo info;
        info.name = request_.name;
        info.kind = request_.kind;
        info.species = request_.species;
        info.every = every_;
        info.from = request_.from;
        return info;
    }
    [[nodiscard]] AverageTable base_table() const {
        AverageTable table;
        table.samples = static_cast<double>(series_.samples());
        return table;
    }
    void append(AverageTable& table, const MeanWithError& measured) const {
        table.values.push_back(measured.value);
        table.errors.push_back(measured.error);
        if (series_.keeps_moments()) table.correlation_times.push_back(measured.correlation * every_);
        table.steadiness.add(measured);
    }
    [[nodiscard]] int dimension() const { return box_.dimension; }
    [[nodiscard]] const ObserveEntry& request() const { return request_; }
    [[nodiscard]] const Box& box() const { return box_; }
    [[nodiscard]] const Selection& selection() const { return selection_; }
    [[nodiscard]] const BatchSeries& series() const { return series_; }
    [[nodiscard]] BatchSeries& series() { return series_; }

private:
    /// Whether what was added up are terms of few steps somewhere, beside balls that are much heavier or faster.
    [[nodiscard]] bool has_few_steps(const BallSums& what) const {
        constexpr double kFew = 0x1p20;
        if (const int mass = what.mass_column(); mass >= 0 && lightest_ * what.to_grid[mass] < kFew) return true;
        using Terms = BallSums::Terms;
        if (what.terms != Terms::kThermal && what.terms != Terms::kStress && what.terms != Terms::kMoments)
            return false;
        const std::size_t columns = what.columns();
        const std::size_t positive = what.terms == Terms::kMoments ? 2 : 1;  // of those that no sign makes small
        for (std::size_t place = 0; place < what.places(); ++place) {
            const std::int64_t* const row = steps_.data() + place * columns;
            for (std::size_t k = 0; k < positive; ++k) {
                if (static_cast<double>(row[k]) < kFew * static_cast<double>(row[columns - 1])) return true;
            }
        }
        return false;
    }

    ObserveEntry request_;
    Box box_;
    double every_;
    Selection selection_;
    double heaviest_;
    double lightest_;
    BatchSeries series_;
    std::vector<double> sums_;
    std::vector<std::int64_t> steps_;
};

/// What some of a solver's counters have gained from one sample of an average to the next: so nothing between samples
/// is left out of it.
template <std::size_t N>
class CountedSince {
public:
    using Counters = std::array<double, N>;

    /// \return  whether there was a sample before this one, at an earlier time, since which `gained` is known
    bool look(double time, const Counters& now) {
        const bool known = has_before_ && time > before_time_;
        if (known) {
            elapsed_ = time - before_time_;
            for (std::size_t k = 0; k < N; ++k) gained_[k] = now[k] - before_[k];
        }
        has_before_ = true;
        before_time_ = time;
        before_ = now;
        return known;
    }
    /// The next sample is a first one.
    void forget() { has_before_ = false; }
    [[nodiscard]] const Counters& gained() const { return gained_; }
    [[nodiscard]] double elapsed() const { return elapsed_; }  ///< [time]

    void save(std::vector<double>& out) const {
        out.push_back(has_before_ ? 1.0 : 0.0);
        if (!has_before_) return;
        out.push_back(before_time_);
        out.insert(out.end(), before_.begin(), before_.end());
    }
    void restore(SavedNumbers& saved) {
        has_before_ = saved.next() != 0.0;
        if (!has_before_) return;
        before_time_ = saved.next();
        for (double& value : before_) value = saved.next();
    }

private:
    bool has_before_ = false;
    double before_time_ = 0.0;
    double elapsed_ = 0.0;
    Counters before_{};
    Counters gained_{};
};

/// Equal bins along an axis of the box.
inline LineBins bins_along(const Box& box, int axis, std::size_t bins) {
    return {.low = box.min[axis], .length = box.size[axis], .count = static_cast<std::uint32_t>(bins)};
}

inline std::vector<double> middles(const LineBins& bins) {
    std::vector<double> at;
    for (std::uint32_t bin = 0; bin < bins.count; ++bin) at.push_back(bins.middle(bin));
    return at;
}

/// Slices across an axis of the box, and what is summed in each.
inline BallSums sums_in_slices(const LineBins& bins, int axis, BallSums::Terms terms) {
    BallSums what{.by = BallSums::By::kSlice, .terms = terms};
    what.axis[0] = static_cast<std::uint8_t>(axis);
    what.bins[0] = bins;
    return what;
}

}  // namespace carom
