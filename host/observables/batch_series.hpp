#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace carom {

/// Numbers taken back in the order in which they were put away.
class SavedNumbers {
public:
    explicit SavedNumbers(std::span<const double> numbers) : numbers_(numbers) {}
    /// \throws std::invalid_argument  there are fewer
    double next();
    std::span<const double> next(std::size_t count);
    [[nodiscard]] bool empty() const { return at_ == numbers_.size(); }

private:
    std::span<const double> numbers_;
    std::size_t at_ = 0;
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

    /// Lets `change` have the sums of each batch, to sort them into other columns.
    void rearrange(const std::function<void(std::span<double>)>& change);

    /// Numbers that are kept, at most.
    [[nodiscard]] std::size_t most_numbers() const { return width_ * capacity_; }
    void save(std::vector<double>& out) const;
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
};

}  // namespace carom
