#include "host/observables/time_series.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace carom {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kLeastBlocks = 8;

double standard_error(std::span<const double> means) {
    const auto count = static_cast<double>(means.size());
    double mean = 0.0;
    for (const double value : means) mean += value;
    mean /= count;
    double squares = 0.0;
    for (const double value : means) squares += (value - mean) * (value - mean);
    return std::sqrt(squares / (count * (count - 1.0)));
}

/// blocked_error in the place of the means: tables of thousands of cells are made for each frame.
double error_in_place(std::span<double> means, std::size_t least = kLeastBlocks) {
    if (means.size() < 2) return kNan;
    double error = standard_error(means);
    while (means.size() / 2 >= least) {
        // Of an odd number the first, which is the least likely to be at equilibrium, is left out.
        const std::size_t odd = means.size() % 2;
        for (std::size_t k = 0; 2 * k + 1 + odd < means.size(); ++k) {
            means[k] = 0.5 * (means[2 * k + odd] + means[2 * k + 1 + odd]);
        }
        means = means.first(means.size() / 2);
        const double joined = standard_error(means);
        const double chance = 1.0 / std::sqrt(2.0 * (static_cast<double>(means.size()) - 1.0));
        if (!(joined > error * (1.0 + chance))) return std::max(error, joined);
        error = joined;
    }
    return error;
}

}  // namespace

double SavedNumbers::next() { return next(1)[0]; }

std::span<const double> SavedNumbers::next(std::size_t count) {
    if (count > numbers_.size() - at_) throw std::invalid_argument("saved averages end too early");
    at_ += count;
    return numbers_.subspan(at_ - count, count);
}

BatchSeries::BatchSeries(std::size_t width, std::size_t capacity) : width_(width), capacity_(capacity) {
    if (width == 0 || capacity < 4 || capacity > kMostBatches || capacity % 2 != 0) {
        throw std::invalid_argument("a series needs columns, and an even number of batches from 4 to 256");
    }
}

void BatchSeries::add(std::span<const double> sample) {
    if (partial_ == 0) {
        if (batches() == capacity_) merge();
        sums_.insert(sums_.end(), sample.begin(), sample.end());
    } else {
        double* const last = sums_.data() + (sums_.size() - width_);
        for (std::size_t k = 0; k < width_; ++k) last[k] += sample[k];
    }
    partial_ = partial_ + 1 == batch_samples_ ? 0 : partial_ + 1;
    ++samples_;
}

void BatchSeries::merge() {
    const std::size_t pairs = capacity_ / 2;
    for (std::size_t pair = 0; pair < pairs; ++pair) {
        for (std::size_t k = 0; k < width_; ++k) {
            sums_[pair * width_ + k] = sums_[2 * pair * width_ + k] + sums_[(2 * pair + 1) * width_ + k];
        }
    }
    sums_.resize(pairs * width_);
    batch_samples_ *= 2;
}

double BatchSeries::mean(std::size_t k, std::size_t from_batch) const {
    double sum = 0.0;
    for (std::size_t at = from_batch * width_ + k; at < sums_.size(); at += width_) sum += sums_[at];
    const std::uint64_t before = from_batch * batch_samples_;
    if (samples_ <= before) return std::numeric_limits<double>::quiet_NaN();
    return sum / static_cast<double>(samples_ - before);
}

void BatchSeries::rearrange(const std::function<void(std::span<double>)>& change) {
    for (std::size_t at = 0; at < sums_.size(); at += width_) change(std::span(sums_).subspan(at, width_));
}

void BatchSeries::save(std::vector<double>& out) const {
    for (const std::size_t number : {width_, capacity_, sums_.size()}) out.push_back(static_cast<double>(number));
    for (const std::uint64_t number : {samples_, batch_samples_, partial_}) out.push_back(static_cast<double>(number));
    out.insert(out.end(), sums_.begin(), sums_.end());
}

void BatchSeries::restore(SavedNumbers& saved) {
    if (saved.next() != static_cast<double>(width_) || saved.next() != static_cast<double>(capacity_)) {
        throw std::invalid_argument("saved averages have another shape");
    }
    const auto count = static_cast<std::size_t>(saved.next());
    samples_ = static_cast<std::uint64_t>(saved.next());
    batch_samples_ = static_cast<std::uint64_t>(saved.next());
    partial_ = static_cast<std::uint64_t>(saved.next());
    const auto sums = saved.next(count);
    sums_.assign(sums.begin(), sums.end());
}

double blocked_error(std::span<const double> block_means, std::size_t least) {
    std::vector<double> means(block_means.begin(), block_means.end());
    return error_in_place(means, least);
}

double error_of(const BatchSeries& series, std::span<const Weight> weights, std::size_t from_batch) {
    std::array<double, BatchSeries::kMostBatches> blocks{};
    std::size_t count = 0;
    for (std::size_t batch = from_batch; batch < series.batches(); ++batch) {
        double value = 0.0;
        for (const Weight& weight : weights) value += weight.factor * series.batch_mean(batch, weight.column);
        blocks[count++] = value;
    }
    return error_in_place(std::span(blocks).first(count));
}

MeanWithError mean_of(const BatchSeries& series, std::size_t column, double factor) {
    const std::array weights{Weight{column, factor}};
    return {factor * series.mean(column), error_of(series, weights)};
}

MeanWithError ratio_of(const BatchSeries& series, std::size_t numerator, std::size_t denominator, double factor) {
    const double below = series.mean(denominator);
    if (!(below > 0.0)) return {kNan, kNan};
    const double ratio = factor * series.mean(numerator) / below;
    const std::array weights{Weight{numerator, factor / below}, Weight{denominator, -ratio / below}};
    return {ratio, error_of(series, weights)};
}

std::optional<std::size_t> first_equilibrated(std::span<const double> batch_means) {
    const std::size_t count = batch_means.size();
    if (count < kLeastBlocks) return std::nullopt;
    const std::size_t least_left = count / 4;  // the sum over very few is small by chance
    // Backwards, with Welford's running sum of squares: no difference of large numbers.
    double mean = 0.0;
    double squares = 0.0;
    double least = std::numeric_limits<double>::infinity();
    std::size_t best = 0;
    for (std::size_t left = 1; left <= count; ++left) {
        const double value = batch_means[count - left];
        const double off = value - mean;
        mean += off / static_cast<double>(left);
        squares += off * (value - mean);
        const double marginal = squares / (static_cast<double>(left) * static_cast<double>(left));
        if (left >= least_left && marginal <= least) {
            least = marginal;
            best = count - left;
        }
    }
    if (2 * best > count) return std::nullopt;
    return best;
}

}  // namespace carom
