#include "host/observables/batch_series.hpp"

#include <limits>
#include <stdexcept>

namespace carom {

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

}  // namespace carom
