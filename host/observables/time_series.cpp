#include "host/observables/time_series.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace carom {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kLeastBlocks = 8;  // to look for equilibrium in

/// Joins neighbours.
std::span<double> joined(std::span<double> means) {
    // Of an odd number the first, which is the least likely to be at equilibrium, is left out.
    const std::size_t odd = means.size() % 2;
    for (std::size_t k = 0; 2 * k + 1 + odd < means.size(); ++k) {
        means[k] = 0.5 * (means[2 * k + odd] + means[2 * k + 1 + odd]);
    }
    return means.first(means.size() / 2);
}

/// The variance of a mean is the spectrum of the series at frequency 0, which a look at low frequencies j / T tells of
/// (Heidelberger and Welch 1981): here at 1 to kFrequencies of them, as periodogram of the block means.
class LowFrequencies {
public:
    /// \param off  block means less their mean
    explicit LowFrequencies(std::span<const double> off) : count_(std::min(kFrequencies, (off.size() - 1) / 2)) {
        // Goertzel's recurrence, all frequencies side by side.
        std::array<double, kFrequencies> twice_cosine{}, now{}, before{};
        const auto blocks = static_cast<double>(off.size());
        for (std::size_t j = 0; j < kFrequencies; ++j) {
            twice_cosine[j] = 2.0 * std::cos(2.0 * kPi * static_cast<double>(j + 1) / blocks);
        }
        for (const double value : off) {
            for (std::size_t j = 0; j < kFrequencies; ++j) {
                const double next = value + twice_cosine[j] * now[j] - before[j];
                before[j] = now[j];
                now[j] = next;
            }
        }
        for (std::size_t j = 0; j < count_; ++j) {
            const double power = now[j] * now[j] + before[j] * before[j] - twice_cosine[j] * now[j] * before[j];
            power_[j] = power / (blocks * blocks);
        }
    }

    /// The spectrum at 0, a standard deviation. Which of some shapes it has is not known: each is extrapolated by its
    /// likelihood's maximum (Whittle 1953), and the mean of their logarithms is taken, weighed by likelihood and prior.
    /// The shapes are white; that of a series that forgets as exp(-t / tau), 1 / (1 + c j^2), c = (2 pi tau / T)^2; and
    /// that of the changes of such a one, which a mean of nearly conserved things is (the impulse that a wall gets),
    /// 1 + c j^2 / (1 + c t j^2), c = 4 pi^2 t, t = tau / T.
    /// \param change  prior of each shape of the last kind
    [[nodiscard]] double at_zero(double change) const {
        constexpr std::array kRemembering{0.004, 0.012, 0.036, 0.108, 0.324, 0.972};
        constexpr std::array kConserved{0.15, 0.45, 1.35};
        // Chosen on synthetic series, so that none is taken for granted, nor seen in the noise of white ones.
        constexpr double kWhitePrior = 0.6;
        constexpr double kRememberingPrior = 0.06;
        constexpr double kLongestPrior = 0.02;
        Mixture mixture;
        add(mixture, kWhitePrior, [](double) { return 1.0; });
        for (const double c : kRemembering) {
            const double prior = c < kRemembering.back() ? kRememberingPrior : kLongestPrior;
            add(mixture, prior, [c](double square) { return 1.0 / (1.0 + c * square); });
        }
        for (const double c : kConserved) {
            const double end = c * c / (4.0 * kPi * kPi);
            add(mixture, change, [c, end](double square) { return 1.0 + c * square / (1.0 + end * square); });
        }
        return std::exp(0.5 * mixture.logarithm());
    }

private:
    static constexpr std::size_t kFrequencies = 16;
    static constexpr double kPi = 3.14159265358979323846;

    /// Weighed mean of logarithms, of weights that are known by their own.
    class Mixture {
    public:
        void add(double log_weight, double logarithm) {
            if (log_weight > most_) {
                const double less = std::exp(most_ - log_weight);
                weight_ *= less;
                sum_ *= less;
                most_ = log_weight;
            }
            const double weight = std::exp(log_weight - most_);
            weight_ += weight;
            sum_ += weight * logarithm;
        }
        [[nodiscard]] double logarithm() const { return sum_ / weight_; }

    private:
        double most_ = -std::numeric_limits<double>::infinity();
        double weight_ = 0.0;
        double sum_ = 0.0;
    };

    /// \param shape  of the square of j, 1 at 0
    template <class Shape>
    void add(Mixture& mixture, double prior, const Shape& shape) const {
        double sum = std::numeric_limits<double>::min();  // of a pure oscillation there may be nothing
        double product = prior;
        for (std::size_t j = 0; j < count_; ++j) {
            const double relative = shape(static_cast<double>((j + 1) * (j + 1)));
            sum += power_[j] / relative;
            product /= relative;
        }
        const auto count = static_cast<double>(count_);
        const double logarithm = std::log(sum / count);
        mixture.add(std::log(product) - count * logarithm, logarithm);
    }

    std::size_t count_;
    std::array<double, kFrequencies> power_{};
};

/// blocked_error and what else blocks tell, in the place of the means: tables of thousands of cells are made for each
/// frame.
/// \param change  as blocked_mean
MeanWithError blocked_in_place(double value, std::span<double> means, double change = kAnyChange) {
    constexpr std::size_t kMostBlocks = 64;
    MeanWithError result{.value = value, .error = kNan};
    if (means.size() < 2) return result;
    while (means.size() > kMostBlocks) means = joined(means);
    double mean = 0.0;
    for (const double one : means) mean += one / static_cast<double>(means.size());
    double squares = 0.0;
    for (double& one : means) {
        one -= mean;
        squares += one * one;
    }
    const auto count = static_cast<double>(means.size());
    const double independent = std::sqrt(squares / (count * (count - 1.0)));
    // What varies by nothing but rounding has no spectrum.
    const bool varies = independent > std::numeric_limits<double>::epsilon() * std::abs(mean);
    result.error = independent;
    if (means.size() < kLeastBlocksForCorrelation || !varies) return result;
    result.error = LowFrequencies(means).at_zero(change);
    const double inflation = result.error / independent;
    result.independent = std::min(count, count / (inflation * inflation));
    const std::size_t half = means.size() / 2;  // of an odd number the one in the middle is in neither
    const double difference = std::accumulate(means.end() - static_cast<std::ptrdiff_t>(half), means.end(), 0.0) -
                              std::accumulate(means.begin(), means.begin() + static_cast<std::ptrdiff_t>(half), 0.0);
    result.drift = difference / (static_cast<double>(half) * 2.0 * result.error);
    return result;
}

}  // namespace

double SavedNumbers::next() { return next(1)[0]; }

std::span<const double> SavedNumbers::next(std::size_t count) {
    if (count > numbers_.size() - at_) throw std::invalid_argument("saved averages end too early");
    at_ += count;
    return numbers_.subspan(at_ - count, count);
}

std::uint64_t SavedNumbers::next_count() {
    constexpr double kMost = 1.8e19;  // of 64 bits
    const double number = next();
    if (!(number >= 0.0 && number < kMost && number == std::floor(number))) {
        throw std::invalid_argument("saved averages make no sense");
    }
    return static_cast<std::uint64_t>(number);
}

BatchSeries::BatchSeries(std::size_t width, std::size_t capacity) : width_(width), capacity_(capacity) {
    if (width == 0 || capacity < 4 || capacity > kMostBatches || capacity % 2 != 0) {
        throw std::invalid_argument("a series needs columns, and an even number of batches from 4 to 256");
    }
}

void BatchSeries::add(std::span<const double> sample) {
    if (keeps_moments_ && samples_ == 0) {
        reference_.assign(sample.begin(), sample.end());
        products_.assign(width_ * (width_ + 1) / 2, 0.0);
    }
    for (std::size_t row = 0, at = 0; row < reference_.size(); ++row) {
        const double off = sample[row] - reference_[row];
        for (std::size_t k = 0; k <= row; ++k) products_[at++] += off * (sample[k] - reference_[k]);
    }
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

double BatchSeries::variance(std::span<const Weight> weights) const {
    if (reference_.empty()) return std::numeric_limits<double>::quiet_NaN();
    const auto covariance = [&](std::size_t a, std::size_t b) {
        const std::size_t row = std::max(a, b);
        const double product = products_[row * (row + 1) / 2 + std::min(a, b)] / static_cast<double>(samples_);
        return product - (mean(a) - reference_[a]) * (mean(b) - reference_[b]);
    };
    double sum = 0.0;
    for (const Weight& one : weights) {
        for (const Weight& other : weights) sum += one.factor * other.factor * covariance(one.column, other.column);
    }
    return sum;
}

void BatchSeries::save_moments(std::vector<double>& out) const {
    out.insert(out.end(), reference_.begin(), reference_.end());
    out.insert(out.end(), products_.begin(), products_.end());
}

void BatchSeries::restore_moments(SavedNumbers& saved) {
    reference_.clear();
    products_.clear();
    if (!keeps_moments_ || saved.empty()) return;
    const auto reference = saved.next(width_);
    const auto products = saved.next(width_ * (width_ + 1) / 2);
    reference_.assign(reference.begin(), reference.end());
    products_.assign(products.begin(), products.end());
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
    const std::uint64_t count = saved.next_count();
    samples_ = saved.next_count();
    batch_samples_ = saved.next_count();
    partial_ = saved.next_count();
    const auto sums = saved.next(count);
    const std::uint64_t batches = count / width_;
    const std::uint64_t whole = partial_ > 0 && batches > 0 ? batches - 1 : batches;
    if (count != batches * width_ || batches > capacity_ || batch_samples_ == 0 || partial_ >= batch_samples_ ||
        (partial_ > 0 && batches == 0) || samples_ != whole * batch_samples_ + partial_) {
        throw std::invalid_argument("saved averages make no sense");
    }
    sums_.assign(sums.begin(), sums.end());
}

double blocked_error(std::span<const double> block_means) {
    std::vector<double> means(block_means.begin(), block_means.end());
    return blocked_in_place(kNan, means).error;
}

MeanWithError blocked_mean(double value, const BatchSeries& series, std::span<const Weight> weights,
                           std::size_t from_batch, double change) {
    std::array<double, BatchSeries::kMostBatches> blocks{};
    std::size_t count = 0;
    for (std::size_t batch = from_batch; batch < series.batches(); ++batch) {
        double sum = 0.0;
        for (const Weight& weight : weights) sum += weight.factor * series.batch_mean(batch, weight.column);
        blocks[count++] = sum;
    }
    MeanWithError result = blocked_in_place(value, std::span(blocks).first(count), change);
    if (from_batch > 0 || !series.keeps_moments()) return result;
    // What varies by nothing but rounding has no correlation time.
    constexpr double kRounding = 1e-9;
    const double variance = series.variance(weights);
    if (variance > kRounding * kRounding * value * value) {
        result.correlation = 0.5 * static_cast<double>(series.samples()) * result.error * result.error / variance;
    }
    return result;
}

MeanWithError mean_of(const BatchSeries& series, std::size_t column, double factor) {
    const std::array weights{Weight{column, factor}};
    return blocked_mean(factor * series.mean(column), series, weights);
}

MeanWithError ratio_of(const BatchSeries& series, std::size_t numerator, std::size_t denominator, double factor) {
    const double below = series.mean(denominator);
    if (!(below > 0.0)) return {.value = kNan, .error = kNan};
    const double ratio = factor * series.mean(numerator) / below;
    const std::array weights{Weight{numerator, factor / below}, Weight{denominator, -ratio / below}};
    return blocked_mean(ratio, series, weights);
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
