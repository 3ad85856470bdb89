#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "host/observables/time_series.hpp"

namespace carom {

/// A sum over the balls that are in both of two samples, and how many these are: some may have left.
struct BallSum {
    double sum = 0.0;
    double balls = 0.0;
};

/// Two samples of the same balls, arrays of `width` numbers, and what they have to do with each other.
using Correlation = std::function<BallSum(std::span<const double> early, std::span<const double> late)>;

/// Correlations over lags from one sample to the whole run in bounded memory, over many starts: a multiple-tau
/// correlator (Frenkel and Smit's order-n scheme, without averaging inside of levels). Level l keeps the last kSlots
/// samples whose index is a multiple of 2^l and looks at lags of kSlots / 2 + 1 to kSlots of these (level 0: from 0
/// on).
class Correlator {
public:
    static constexpr std::size_t kSlots = 16;

    /// \param width    numbers in a sample
    /// \param samples  in a row, at most, as far as is known: up to which lag one tells. What is gathered does not
    /// depend
    ///     on it, for a run may be prolonged.
    Correlator(std::size_t width, std::uint64_t samples, Correlation correlation);

    /// \param index  of the sample; one that does not follow on the one before starts anew
    void add(std::uint64_t index, std::span<const double> sample);

    /// What has been added is no start of what comes.
    void begin_anew() { next_ = 0; }

    [[nodiscard]] std::size_t lags() const { return first_series(told_); }
    /// In samples, ascending.
    [[nodiscard]] std::uint64_t lag(std::size_t k) const;
    /// Mean over the balls of all starts, and its blocked error; NaN if the lag has not been reached, or by no ball.
    [[nodiscard]] MeanWithError at(std::size_t k) const;
    /// How many balls there are in the starts of that lag that are so many samples apart, about; at least one.
    [[nodiscard]] double independent_values(std::size_t k, double apart) const;
    [[nodiscard]] std::uint64_t starts(std::size_t k) const { return k < series_.size() ? series_[k].samples() : 0; }
    /// Samples from one start of that lag to the next.
    [[nodiscard]] static std::uint64_t spacing(std::size_t k) { return std::uint64_t{1} << level_of(k); }
    /// Balls of a start of that lag, in the mean.
    [[nodiscard]] double balls(std::size_t k) const { return starts(k) > 0 ? series_[k].mean(1) : 0.0; }

    /// Numbers that are kept in a run of the length that is known.
    [[nodiscard]] std::size_t most_numbers() const;
    void save(std::vector<double>& out) const;
    void restore(SavedNumbers& saved);

private:
    struct Level {
        std::uint64_t filled = 0;     // samples since the last gap
        std::vector<double> samples;  // kSlots + 1 of them, by filled modulo that
    };

    [[nodiscard]] std::span<double> slot(Level& level, std::uint64_t k) const;
    [[nodiscard]] static std::size_t level_of(std::size_t k) {
        return k <= kSlots ? 0 : 1 + (k - kSlots - 1) / (kSlots / 2);
    }
    [[nodiscard]] static std::size_t first_series(std::size_t level) {
        return level == 0 ? 0 : kSlots + 1 + (level - 1) * (kSlots / 2);
    }

    std::size_t width_;
    Correlation correlation_;
    std::size_t told_ = 1;             // levels
    std::uint64_t next_ = 0;           // index that follows on the last one; 0: none does
    std::uint64_t start_ = 0;          // index of the first sample since the last gap
    std::vector<Level> levels_;        // as far as they have been reached
    std::vector<BatchSeries> series_;  // by lag, of these: BallSum
};

}  // namespace carom
