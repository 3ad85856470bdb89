#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "host/observables/registry.hpp"
#include "kernels/sampling/ball_sums.hpp"

namespace carom {

/// Equal bins whose range doubles whenever something falls beyond it, two bins becoming one: so nobody needs to know
/// beforehand how fast balls will be, and how many bins there are never changes. The number of bins is a multiple of 4.
class GrowingBins {
public:
    enum class Shape : std::uint8_t { kFromZero, kBothSides };

    /// \param max  where the bins end, for good; 0: wherever is needed
    GrowingBins(Shape shape, std::size_t bins, double max) : shape_(shape), bins_(bins), fixed_(max > 0.0), max_(max) {}

    /// The bin of a value; size() if it lies beyond a range that is fixed.
    /// \param rearranged  is called, each time that the range doubles, with a function to be applied to all counts
    template <class Rearranged>
    std::size_t find(double value, const Rearranged& rearranged) {
        cover(value, rearranged);
        return line().find(value);
    }

    /// Makes the range so large that a value falls into it, unless it is fixed.
    /// \param rearranged  as for find
    /// \return  whether the range has changed
    template <class Rearranged>
    bool cover(double value, const Rearranged& rearranged) {
        const double beyond = std::abs(value);
        if (fixed_ || beyond < max_ || !std::isfinite(value)) return false;
        if (max_ == 0.0) max_ = first_range(beyond);
        while (!(beyond < max_)) {
            max_ *= 2.0;
            rearranged([this](std::span<double> counts) { halve(counts); });
        }
        return true;
    }

    /// As they are now.
    [[nodiscard]] LineBins line() const {
        return {.low = low(), .length = max_ - low(), .count = static_cast<std::uint32_t>(bins_)};
    }

    [[nodiscard]] std::size_t size() const { return bins_; }
    [[nodiscard]] double width() const { return line().width(); }
    void save(std::vector<double>& out) const { out.push_back(max_); }
    void restore(SavedNumbers& saved) {
        const double max = saved.next();
        if (!(max >= 0.0 && std::isfinite(max)) || (fixed_ && max != max_)) {
            throw std::invalid_argument("saved averages make no sense");
        }
        max_ = max;
    }

private:
    [[nodiscard]] double low() const { return shape_ == Shape::kFromZero ? 0.0 : -max_; }
    /// A power of two, so that ranges do not depend on which ball came first.
    static double first_range(double value) {
        return value > 0.0 ? std::exp2(std::floor(std::log2(value)) + 1.0) : 0x1p-60;
    }

    void halve(std::span<double> counts) const {
        const std::vector<double> before(counts.begin(), counts.end());
        const std::size_t first = shape_ == Shape::kFromZero ? 0 : bins_ / 4;
        for (double& count : counts) count = 0.0;
        for (std::size_t bin = 0; bin < bins_ / 2; ++bin) counts[first + bin] = before[2 * bin] + before[2 * bin + 1];
    }

    Shape shape_;
    std::size_t bins_;
    bool fixed_;
    double max_;
};

/// For ObservableKind::check.
inline std::optional<Refusal> check_growing_bins(const ObserveEntry& request, const Box&) {
    if (request.bins % 4 == 0) return std::nullopt;
    return Refusal{"bins",
                   "must be a multiple of 4 for kind \"" + request.kind + "\", not " + std::to_string(request.bins)};
}

}  // namespace carom
