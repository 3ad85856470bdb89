#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "host/observables/time_series.hpp"

namespace carom {

/// Two samples of the same balls, arrays of `width` numbers: to `values` what each ball has to do with itself later,
/// NaN of one that has left meanwhile. \return  the same of all balls as if they were one, if anybody asks
using Correlation =
    std::function<double(std::span<const double> early, std::span<const double> late, std::span<double> values)>;

/// Balls in groups of like ones, by whose scatter one knows how much balls that know nothing of each other are off.
struct BallGroups {
    std::vector<std::uint8_t> of;          ///< by ball
    std::vector<std::uint8_t> kind_begin;  ///< the first group of each kind of balls, and the number of groups
    [[nodiscard]] std::size_t count() const { return kind_begin.empty() ? 0 : kind_begin.back(); }
};
/// Balls of a kind are dealt out in turns, to so many groups as is its share of kMostGroups. Kinds of few balls are
/// one. \param kinds  a number of its own for each kind, by ball
BallGroups deal_into_groups(std::span<const std::uint32_t> kinds);

/// Correlations over lags from one sample to the whole run in bounded memory, over many starts: a multiple-tau
/// correlator (Frenkel and Smit's order-n scheme, without averaging inside of levels). Level l keeps the last kSlots
/// samples whose index is a multiple of 2^l and looks at lags of kSlots / 2 + 1 to kSlots of these (level 0: from 0
/// on).
class Correlator {
public:
    static constexpr std::size_t kSlots = 16;

    /// \param width    numbers in a sample
    /// \param groups   of the balls in it
    /// \param samples  in a row, at most, as far as is known: up to which lag one tells. What is gathered does not
    /// depend
    ///     on it, for a run may be prolonged.
    Correlator(std::size_t width, BallGroups groups, std::uint64_t samples, Correlation correlation);

    /// Before anything is added: the balls in a sample are as many others.
    void regroup(BallGroups groups);

    /// \param index  of the sample; one that does not follow on the one before starts anew
    void add(std::uint64_t index, std::span<const double> sample);

    /// What has been added is no start of what comes.
    void begin_anew() { next_ = 0; }

    [[nodiscard]] std::size_t lags() const { return first_series(told_); }
    /// In samples, ascending.
    [[nodiscard]] std::uint64_t lag(std::size_t k) const;
    /// Mean over the balls of all starts, and its blocked error; NaN if the lag has not been reached, or by no ball.
    [[nodiscard]] MeanWithError at(std::size_t k) const;
    /// Covariance of the means of two lags, by the scatter of groups over the whole run: what is off by chance of
    /// single balls, not what all of them share. NaN if a lag has not been reached, or there are too few groups to
    /// tell.
    [[nodiscard]] double scatter(std::size_t j, std::size_t k) const;
    /// What Correlation returns over the sum of the values of the balls, over all starts; 1 where these are 0.
    [[nodiscard]] double together(std::size_t k) const;
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

    /// Sums over all starts of a lag.
    struct GroupSums {
        explicit GroupSums(std::size_t groups) : sum(groups), balls(groups) {}
        double together = 0.0;
        std::vector<double> sum;    // by group
        std::vector<double> balls;  // by group
    };

    /// Balls one after the other that are of groups one after the other.
    struct Stretch {
        std::size_t ball = 0;
        std::size_t group = 0;
        std::size_t count = 0;
    };

    [[nodiscard]] std::span<double> slot(Level& level, std::uint64_t k) const;
    void look(std::size_t k, std::span<const double> early, std::span<const double> late);
    /// How far groups are from the mean of their kind, of all balls of that lag.
    [[nodiscard]] std::vector<double> deviations(std::size_t k) const;
    [[nodiscard]] static std::size_t level_of(std::size_t k) {
        return k <= kSlots ? 0 : 1 + (k - kSlots - 1) / (kSlots / 2);
    }
    [[nodiscard]] static std::size_t first_series(std::size_t level) {
        return level == 0 ? 0 : kSlots + 1 + (level - 1) * (kSlots / 2);
    }

    std::size_t width_;
    BallGroups groups_;
    std::vector<Stretch> stretches_;
    Correlation correlation_;
    std::size_t told_ = 1;             // levels
    std::uint64_t next_ = 0;           // index that follows on the last one; 0: none does
    std::uint64_t start_ = 0;          // index of the first sample since the last gap
    std::vector<Level> levels_;        // as far as they have been reached
    std::vector<BatchSeries> series_;  // by lag: the sum over balls, and how many they are
    std::vector<GroupSums> sums_;      // by lag
    std::vector<double> values_;       // of a look
};

}  // namespace carom
