#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

// A time series in bounded memory, and what it says: its mean, the standard error of that, how long it remembers, and
// from when on it is at equilibrium.

namespace carom {

/// Numbers taken back in the order in which they were put away.
class SavedNumbers {
public:
    explicit SavedNumbers(std::span<const double> numbers) : numbers_(numbers) {}
    /// \throws std::invalid_argument  there are fewer
    double next();
    std::span<const double> next(std::size_t count);
    /// A number of things. \throws std::invalid_argument  it is none
    std::uint64_t next_count();
    [[nodiscard]] bool empty() const { return at_ == numbers_.size(); }
    /// What next() would give; NaN at the end.
    [[nodiscard]] double peek() const { return empty() ? std::numeric_limits<double>::quiet_NaN() : numbers_[at_]; }

private:
    std::span<const double> numbers_;
    std::size_t at_ = 0;
};

/// One column of a series in a weighted sum.
struct Weight {
    std::size_t column = 0;
    double factor = 1.0;
};

/// A time series of vectors, kept as sums over equal batches of consecutive samples. When `capacity` batches are full,
/// neighbours are merged and the next ones are twice as long: between half and all of them exist, however long the run.
class BatchSeries {
public:
    static constexpr std::size_t kBatches = 64;
    static constexpr std::size_t kMostBatches = 256;

    /// \param width     numbers in a sample
    /// \param capacity  even, from 4 to kMostBatches
    explicit BatchSeries(std::size_t width, std::size_t capacity = kBatches);

    /// \param sample  width() numbers
    void add(std::span<const double> sample);

    [[nodiscard]] std::size_t width() const { return width_; }
    [[nodiscard]] std::uint64_t samples() const { return samples_; }
    /// Samples in each whole batch.
    [[nodiscard]] std::uint64_t batch_samples() const { return batch_samples_; }
    /// Whole batches.
    [[nodiscard]] std::size_t batches() const { return sums_.size() / width_ - (partial_ > 0 ? 1 : 0); }
    /// Mean of column k over one batch.
    [[nodiscard]] double batch_mean(std::size_t batch, std::size_t k) const {
        return sums_[batch * width_ + k] / static_cast<double>(batch_samples_);
    }
    /// Mean of column k over the samples from a whole batch on, those of the last, unfinished batch included.
    [[nodiscard]] double mean(std::size_t k, std::size_t from_batch = 0) const;

    /// From now on, before the first sample: keeps what the variance of single samples follows from.
    void keep_moments() { keeps_moments_ = true; }
    [[nodiscard]] bool keeps_moments() const { return keeps_moments_; }
    /// Variance over all samples of a weighted sum of columns; NaN if it is not known.
    [[nodiscard]] double variance(std::span<const Weight> weights) const;

    /// Lets `change` have the sums of each batch, to sort them into other columns.
    void rearrange(const std::function<void(std::span<double>)>& change);

    /// Numbers that are kept, at most.
    [[nodiscard]] std::size_t most_numbers() const {
        return width_ * capacity_ + (keeps_moments_ ? width_ + width_ * (width_ + 1) / 2 : 0);
    }
    void save(std::vector<double>& out) const;
    /// The moments, behind all else that is saved: versions of before had none.
    void save_moments(std::vector<double>& out) const;
    void restore_moments(SavedNumbers& saved);
    /// \throws std::invalid_argument  what was saved is of another width or capacity
    void restore(SavedNumbers& saved);

private:
    void merge();

    std::size_t width_;
    std::size_t capacity_;
    std::uint64_t samples_ = 0;
    std::uint64_t batch_samples_ = 1;
    std::uint64_t partial_ = 0;  // samples in the last batch, if it is not whole
    std::vector<double> sums_;   // batch after batch
    bool keeps_moments_ = false;
    std::vector<double> reference_;  // the first sample; none if moments are not kept, or were not from the first on
    std::vector<double>
        products_;  // sums over samples of products of columns less the reference, row by row to the diagonal
};

/// Of fewer blocks nobody can tell whether they know of each other.
inline constexpr std::size_t kLeastBlocksForCorrelation = 16;

/// Standard error of the mean of equal blocks, from how strongly they vary at the lowest frequencies, extrapolated to
/// frequency 0: whether neighbours are alike, as in what is slowly forgotten, or make up for each other, as in the
/// changes of something bounded. Of fewer than kLeastBlocksForCorrelation, as if they were independent; NaN for fewer
/// than two. It is itself off by a fifth, of independent blocks and of those a twentieth of whose number know of each
/// other alike; beyond, up to a third too small.
double blocked_error(std::span<const double> block_means);

/// A number and its standard error; NaN where there is none.
struct MeanWithError {
    double value = 0.0;
    double error = 0.0;
    /// Of how many independent samples it is, as far as blocks tell: at most so many as there are of these. NaN for
    /// fewer than kLeastBlocksForCorrelation, and for what does not vary.
    double independent = std::numeric_limits<double>::quiet_NaN();
    /// By how much the second half of the samples is above the first, in standard errors of that; NaN as before.
    double drift = std::numeric_limits<double>::quiet_NaN();
    /// Integrated correlation time, in samples: error^2 = 2 tau / samples * variance. NaN where the series keeps no
    /// second moments, or does not vary.
    double correlation = std::numeric_limits<double>::quiet_NaN();
};

/// Fewer independent samples than these, and their scatter tells nothing of the error: what hardly changes within the
/// run, or changes all along, has one or two, which blocks take for up to seven.
inline constexpr double kLeastIndependent = 10.0;
/// A number that has moved by more of its errors from one half to the other has not settled: by chance one in 16,000.
inline constexpr double kMostDrift = 4.0;

/// Of a mean of which nothing is known.
inline constexpr double kAnyChange = 0.027;

/// sum_k factor_k mean_k, or a function f of several means, whose error to first order is that of the sum with factor_k
/// = df / d mean_k.
/// \param value       of the function
/// \param from_batch  whole batches that are left out
/// \param change      how likely it is, before it is looked at, the change of something bounded (for each of three
///                    speeds at which that forgets)
MeanWithError blocked_mean(double value, const BatchSeries& series, std::span<const Weight> weights,
                           std::size_t from_batch = 0, double change = kAnyChange);

/// factor * mean of a column.
MeanWithError mean_of(const BatchSeries& series, std::size_t column, double factor = 1.0);

/// factor * mean of one column over the mean of another.
MeanWithError ratio_of(const BatchSeries& series, std::size_t numerator, std::size_t denominator, double factor = 1.0);

/// The first whole batch at equilibrium by the marginal standard error rule (White 1997): the d for which the sum of
/// (x - mean)^2 over the batches from d on, over their number squared, is smallest. None if that lies in the second
/// half of the series, which then has not been at equilibrium for long enough to tell, or if there are fewer than
/// eight.
std::optional<std::size_t> first_equilibrated(std::span<const double> batch_means);

}  // namespace carom
