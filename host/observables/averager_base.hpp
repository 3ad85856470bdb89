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
          series_(width, capacity) {}

    void add(const Frame& frame, std::uint64_t index) final {
        if (!counts(frame)) return;
        sums_.assign(series_.width(), 0.0);  // large ones cost nothing until they are used
        sum(frame, index, sums_);
        series_.add(sums_);
    }
    [[nodiscard]] std::size_t most_numbers() const override { return series_.most_numbers() + series_.width(); }
    void save(std::vector<double>& out) const override { series_.save(out); }
    void restore(SavedNumbers& saved) override { series_.restore(saved); }

protected:
    /// Adds up one sample; `sums` is zero before, and stays where it is.
    virtual void sum(const Frame& frame, std::uint64_t index, std::span<double> sums) = 0;

    /// Whether this sample is one; the first of those that look at what has changed since the one before is not.
    [[nodiscard]] virtual bool counts(const Frame& /*frame*/) { return true; }

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
    BatchSeries series_;
    std::vector<double> sums_;
};

/// Equal bins along an axis of the box.
class BoxBins {
public:
    BoxBins(const Box& box, int axis, std::size_t bins)
        : low_(box.min[axis]), width_(box.size[axis] / static_cast<double>(bins)), bins_(bins) {}
    /// The bin of a coordinate; `bins` outside of the box. A centre on the upper face is in the last bin.
    [[nodiscard]] std::size_t find(double at) const {
        const double bin = (at - low_) / width_;
        if (!(bin >= 0.0)) return bins_;
        if (bin >= static_cast<double>(bins_)) return bin > static_cast<double>(bins_) ? bins_ : bins_ - 1;
        return static_cast<std::size_t>(bin);
    }
    [[nodiscard]] std::vector<double> middles() const {
        std::vector<double> at;
        for (std::size_t bin = 0; bin < bins_; ++bin) at.push_back(low_ + (static_cast<double>(bin) + 0.5) * width_);
        return at;
    }
    [[nodiscard]] double width() const { return width_; }
    [[nodiscard]] std::size_t size() const { return bins_; }

private:
    double low_;
    double width_;
    std::size_t bins_;
};

}  // namespace carom
