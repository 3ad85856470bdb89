#include "host/observables/correlator.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace carom {

namespace {

constexpr std::size_t kLagBatches = 32;
constexpr std::size_t kMostLevels = 40;
/// Numbers of a BallSum.
constexpr std::size_t kColumns = 2;
/// Samples that a level keeps: the lags, and lag 0.
constexpr std::size_t kKept = Correlator::kSlots + 1;

}  // namespace

Correlator::Correlator(std::size_t width, std::uint64_t samples, Correlation correlation)
    : width_(width), correlation_(std::move(correlation)) {
    while (told_ < kMostLevels && (std::uint64_t{kSlots} << (told_ - 1)) + 1 < samples) ++told_;
}

std::uint64_t Correlator::lag(std::size_t k) const {
    if (k <= kSlots) return k;
    return (kSlots / 2 + 1 + (k - kSlots - 1) % (kSlots / 2)) * spacing(k);
}

double Correlator::independent_values(std::size_t k, double apart) const {
    const double spacings = std::max(1.0, apart / static_cast<double>(spacing(k)));
    return std::max(1.0, std::max(1.0, static_cast<double>(starts(k)) / spacings) * balls(k));
}

MeanWithError Correlator::at(std::size_t k) const {
    return k < series_.size() ? ratio_of(series_[k], 0, 1)
                              : MeanWithError{.value = std::nan(""), .error = std::nan("")};
}

void Correlator::add(std::uint64_t index, std::span<const double> sample) {
    if (index != next_) {
        for (Level& level : levels_) level.filled = 0;
        start_ = index;
    }
    next_ = index + 1;
    for (std::size_t l = 0; l < kMostLevels; ++l) {
        const std::uint64_t since = index - start_;
        if ((since & ((std::uint64_t{1} << l) - 1)) != 0) return;  // then no higher level is due either
        if (l > 0 && since == 0) return;  // a level begins when its second sample comes, with the first from below
        if (l == levels_.size()) {
            levels_.push_back({0, std::vector<double>(kKept * width_)});
            while (series_.size() < first_series(l + 1)) series_.emplace_back(kColumns, kLagBatches);
        }
        if (l > 0 && levels_[l].filled == 0) {
            std::ranges::copy(slot(levels_[l - 1], 0), slot(levels_[l], 0).begin());
            levels_[l].filled = 1;
        }
        Level& level = levels_[l];
        std::ranges::copy(sample, slot(level, level.filled).begin());
        const std::size_t least = l == 0 ? 0 : kSlots / 2 + 1;
        for (std::size_t k = least; k <= std::min<std::uint64_t>(kSlots, level.filled); ++k) {
            const BallSum found = correlation_(slot(level, level.filled - k), slot(level, level.filled));
            series_[first_series(l) + k - least].add(std::array<double, kColumns>{found.sum, found.balls});
        }
        ++level.filled;
    }
}

std::span<double> Correlator::slot(Level& level, std::uint64_t k) const {
    return std::span(level.samples).subspan((k % kKept) * width_, width_);
}

std::size_t Correlator::most_numbers() const {
    // A level begins long before its first lag, of kSlots / 2 + 1 to kSlots, is reached.
    constexpr std::size_t kBegun = 4;
    static_assert(std::size_t{1} << kBegun == kSlots);
    const std::size_t levels = std::min(kMostLevels, told_ + kBegun);
    return levels * kKept * width_ + first_series(levels) * BatchSeries(kColumns, kLagBatches).most_numbers();
}

void Correlator::save(std::vector<double>& out) const {
    out.push_back(static_cast<double>(width_));
    out.push_back(static_cast<double>(levels_.size()));
    out.push_back(static_cast<double>(next_));
    out.push_back(static_cast<double>(start_));
    for (const Level& level : levels_) {
        out.push_back(static_cast<double>(level.filled));
        out.insert(out.end(), level.samples.begin(), level.samples.end());
    }
    for (const BatchSeries& series : series_) series.save(out);
}

void Correlator::restore(SavedNumbers& saved) {
    if (saved.next() != static_cast<double>(width_)) throw std::invalid_argument("saved averages are of other balls");
    const std::uint64_t levels = saved.next_count();
    if (levels > kMostLevels) throw std::invalid_argument("saved averages make no sense");
    next_ = saved.next_count();
    start_ = saved.next_count();
    levels_.resize(levels);
    for (Level& level : levels_) {
        level.filled = saved.next_count();
        const auto samples = saved.next(kKept * width_);
        level.samples.assign(samples.begin(), samples.end());
    }
    series_.assign(levels == 0 ? 0 : first_series(levels), BatchSeries(kColumns, kLagBatches));
    for (std::size_t l = 0; l < levels; ++l) {
        for (std::size_t k = first_series(l); k < first_series(l + 1); ++k) {
            series_[k].restore(saved);
            if (series_[k].samples() > 0) told_ = std::max(told_, l + 1);
        }
    }
}

}  // namespace carom
