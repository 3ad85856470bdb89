#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/observables/averager.hpp"
#include "host/observables/time_average.hpp"

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
class SumAverager : public Averager {
public:
    /// \param width  of the vector
    SumAverager(ObserveRequest request, const AverageContext& context, std::size_t width,
                std::size_t capacity = BatchSeries::kBatches)
        : request_(std::move(request)),
          box_(context.box),
          every_(context.every),
          selection_(context.population, request_.species),
          heaviest_(selection_.heaviest()),
          series_(width, capacity) {}

    void add(BallSampler& balls, const Moment& now) final {
        if (!counts(balls, now)) return;
        sums_.assign(series_.width(), 0.0);  // large ones cost nothing until they are used
        sum(balls, sums_);
        series_.add(sums_);
    }
    [[nodiscard]] std::size_t most_numbers() const override { return series_.most_numbers() + series_.width(); }
    void save(std::vector<double>& out) const override { series_.save(out); }
    void restore(SavedNumbers& saved) override { series_.restore(saved); }

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
            what.choose_grids(selection_.population_size(), heaviest_, balls.fastest_squared());
        }
        steps_.resize(what.width());
        const double largest = balls.sums(what, selection_.by_species(), steps_);
        const std::size_t columns = what.columns();
        for (std::size_t k = 0; k < sums.size(); ++k) {
            const double grid = k + 1 < what.width() ? what.to_grid[static_cast<int>(k % columns)] : 1.0;
            sums[k] = static_cast<double>(steps_[k]) / grid;
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
    static void append(AverageTable& table, const MeanWithError& measured) {
        table.values.push_back(measured.value);
        table.errors.push_back(measured.error);
    }
    [[nodiscard]] int dimension() const { return box_.dimension; }
    [[nodiscard]] const ObserveRequest& request() const { return request_; }
    [[nodiscard]] const Box& box() const { return box_; }
    [[nodiscard]] const Selection& selection() const { return selection_; }
    [[nodiscard]] const BatchSeries& series() const { return series_; }
    [[nodiscard]] BatchSeries& series() { return series_; }

private:
    ObserveRequest request_;
    Box box_;
    double every_;
    Selection selection_;
    double heaviest_;
    BatchSeries series_;
    std::vector<double> sums_;
    std::vector<std::int64_t> steps_;
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
