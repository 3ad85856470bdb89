#include "host/observables/time_series.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace carom::time_series_test {

/// x_{k+1} = a x_k + noise of variance 1 - a^2: variance 1, integrated correlation time (1 + a) / (1 - a) / 2 samples.
std::vector<double> correlated(std::size_t count, double a, unsigned seed) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    std::vector<double> values;
    double x = normal(generator);
    for (std::size_t k = 0; k < count; ++k) {
        values.push_back(x);
        x = a * x + std::sqrt(1.0 - a * a) * normal(generator);
    }
    return values;
}

BatchSeries series_of(const std::vector<double>& values, std::size_t capacity = BatchSeries::kBatches) {
    BatchSeries series(1, capacity);
    for (const double value : values) series.add(std::span(&value, 1));
    return series;
}

TEST(BatchSeries, KeepsTheSumOfAllSamplesInFewBatches) {
    for (const std::size_t count : {1u, 7u, 64u, 65u, 128u, 129u, 1000u}) {
        BatchSeries series(2, 8);
        double sum = 0.0;
        for (std::size_t k = 0; k < count; ++k) {
            const double sample[] = {static_cast<double>(k), 1.0};
            series.add(sample);
            sum += static_cast<double>(k);
        }
        EXPECT_EQ(series.samples(), count);
        EXPECT_LE(series.batches(), 8u);
        EXPECT_DOUBLE_EQ(series.mean(0), sum / static_cast<double>(count));
        EXPECT_EQ(series.mean(1), 1.0);
        EXPECT_LT(count - series.batches() * series.batch_samples(), series.batch_samples()) << "one unfinished batch";
        // Batches hold consecutive samples: the mean of the first b of them is known.
        const auto in_batch = static_cast<double>(series.batch_samples());
        for (std::size_t b = 0; b < series.batches(); ++b) {
            EXPECT_DOUBLE_EQ(series.batch_mean(b, 0), in_batch * static_cast<double>(b) + 0.5 * (in_batch - 1.0));
        }
    }
}

TEST(BatchSeries, MeansFromABatchOnLeaveOutWhatWasBefore) {
    BatchSeries series(1, 4);
    for (int k = 0; k < 11; ++k) {
        const double value = k;
        series.add(std::span(&value, 1));
    }
    ASSERT_EQ(series.batch_samples(), 4u);  // 0..3, 4..7, and 8..10 unfinished
    EXPECT_DOUBLE_EQ(series.mean(0, 1), (4 + 5 + 6 + 7 + 8 + 9 + 10) / 7.0);
    EXPECT_DOUBLE_EQ(series.mean(0, 2), 9.0);
}

TEST(BatchSeries, GoesOnFromWhatWasSavedToTheSameBits) {
    const std::vector<double> values = correlated(1000, 0.9, 3);
    const BatchSeries whole = series_of(values);
    for (const std::size_t cut : {0u, 1u, 63u, 64u, 65u, 500u, 999u}) {
        BatchSeries first(1);
        for (std::size_t k = 0; k < cut; ++k) first.add(std::span(&values[k], 1));
        std::vector<double> saved;
        first.save(saved);
        BatchSeries second(1);
        SavedNumbers numbers(saved);
        second.restore(numbers);
        EXPECT_TRUE(numbers.empty());
        for (std::size_t k = cut; k < values.size(); ++k) second.add(std::span(&values[k], 1));
        std::vector<double> a, b;
        whole.save(a);
        second.save(b);
        EXPECT_EQ(a, b) << cut;
    }
}

TEST(BatchSeries, RefusesWhatAnotherOneSaved) {
    std::vector<double> saved;
    series_of({1.0, 2.0}).save(saved);
    BatchSeries wider(2);
    SavedNumbers numbers(saved);
    EXPECT_THROW(wider.restore(numbers), std::invalid_argument);
    saved.pop_back();
    BatchSeries same(1);
    SavedNumbers cut(saved);
    EXPECT_THROW(same.restore(cut), std::invalid_argument);
}

/// What blocked_error claims of the mean of each of many series, over what these means scatter by, which should be 1.
/// \param make  a series of a seed
template <class Make>
double claimed_over_true(const Make& make, double scatter) {
    constexpr unsigned kSeries = 200;
    double claimed = 0.0;
    for (unsigned seed = 0; seed < kSeries; ++seed) claimed += mean_of(series_of(make(100 + seed)), 0).error / kSeries;
    return claimed / scatter;
}

/// The standard error of a mean of n samples with correlation time tau is sqrt(2 tau / n) up to tau / n. A claim is off
/// by a fifth to a third of itself, so the mean of 200 is within a tenth at 4 standard deviations, and what is left is
/// the bias that correlation times of a fiftieth of the series leave.
TEST(BlockedError, IsThatOfCorrelatedSamples) {
    constexpr std::size_t kCount = 5000;
    for (const double a : {0.0, 0.5, 0.9, 0.98}) {
        const double tau = 0.5 * (1.0 + a) / (1.0 - a);
        const auto make = [a](unsigned seed) { return correlated(kCount, a, seed); };
        EXPECT_NEAR(claimed_over_true(make, std::sqrt(2.0 * tau / kCount)), 1.0, 0.15) << "a = " << a;
    }
}

/// The mean of changes is the whole change over the time: sqrt(2) / n, far less than changes that make up for nothing
/// would give.
TEST(BlockedError, SeesThatChangesOfWhatIsBoundedMakeUpForEachOther) {
    constexpr std::size_t kCount = 5000;
    for (const double a : {0.0, 0.9}) {
        const auto make = [a](unsigned seed) {
            std::vector<double> values = correlated(kCount + 1, a, seed);
            for (std::size_t k = 0; k < kCount; ++k) values[k] = values[k + 1] - values[k];
            values.pop_back();
            return values;
        };
        const double ratio = claimed_over_true(make, std::sqrt(2.0) / kCount);
        EXPECT_GT(ratio, 0.9) << "a = " << a;
        EXPECT_LT(ratio, 1.7) << "a = " << a << "; as if independent, 30 and more";
    }
}

/// What rises all the time, or swings once, is known far less well than its scatter says.
TEST(BlockedError, IsLargeOfASeriesThatDrifts) {
    std::vector<double> rising, constant(100, 0.1);
    for (int k = 0; k < 100; ++k) rising.push_back(k);
    const double as_if_independent = 100.0 / std::sqrt(12.0) / 10.0;
    EXPECT_GT(mean_of(series_of(rising), 0).error, 2.5 * as_if_independent);
    EXPECT_LT(mean_of(series_of(constant), 0).error, 1e-15);
}

TEST(BlockedError, JoinsBlocksThatKnowOfEachOther) {
    // As above, but each sample is a block: without joining them the square would be 19 times too small.
    constexpr double kRemembers = 0.9;
    constexpr std::size_t kCount = 2048;
    double squares = 0.0;
    for (unsigned seed = 0; seed < 40; ++seed) {
        const double error = blocked_error(correlated(kCount, kRemembers, 300 + seed));
        squares += error * error / 40.0;
    }
    const double tau = 0.5 * (1.0 + kRemembers) / (1.0 - kRemembers);
    EXPECT_NEAR(squares / (2.0 * tau / kCount), 1.0, 0.4);
}

TEST(BlockedError, OfIndependentBlocksIsTheTextbooks) {
    const std::vector<double> blocks{1.0, 2.0, 4.0};
    EXPECT_DOUBLE_EQ(blocked_error(blocks), std::sqrt((16.0 + 1.0 + 25.0) / 9.0 / 6.0));
    EXPECT_TRUE(std::isnan(blocked_error(std::vector<double>{1.0})));
}

TEST(RatioOf, KnowsThatNumeratorAndDenominatorBelongTogether) {
    // Twice the denominator always: the ratio is exact, however much both vary.
    BatchSeries series(2);
    for (const double value : correlated(1000, 0.5, 5)) {
        const double sample[] = {2.0 * (3.0 + value), 3.0 + value};
        series.add(sample);
    }
    const MeanWithError ratio = ratio_of(series, 0, 1);
    EXPECT_NEAR(ratio.value, 2.0, 1e-14);
    EXPECT_NEAR(ratio.error, 0.0, 1e-14);
}

/// Of 64 white blocks about 64 are independent; of a ramp, or of half a swing, hardly any.
TEST(BlockedMean, TellsIndependentSamplesAndWhatDrifts) {
    double inflation = 0.0;
    for (unsigned seed = 0; seed < 100; ++seed) {
        const MeanWithError white = mean_of(series_of(correlated(64, 0.0, 500 + seed)), 0);
        EXPECT_LT(std::abs(white.drift), 4.5) << seed;
        EXPECT_GT(white.independent, kLeastIndependent) << seed;
        inflation += 1.0 / white.independent;
    }
    EXPECT_GT(100.0 / inflation, 45.0);
    for (const std::size_t count : {16u, 64u}) {
        std::vector<double> ramp, swing;
        for (std::size_t k = 0; k < count; ++k) {
            ramp.push_back(static_cast<double>(k));
            swing.push_back(std::cos(M_PI * static_cast<double>(k) / static_cast<double>(count)));
        }
        EXPECT_LT(mean_of(series_of(ramp), 0).independent, kLeastIndependent) << count;
        EXPECT_LT(mean_of(series_of(swing), 0).independent, kLeastIndependent) << count;
    }
    std::vector<double> stepping = correlated(64, 0.0, 9);
    for (std::size_t k = 0; k < 32; ++k) stepping[k] -= 10.0;
    const MeanWithError step = mean_of(series_of(stepping), 0);
    EXPECT_TRUE(step.drift > kMostDrift || step.independent < kLeastIndependent);
    EXPECT_TRUE(std::isnan(mean_of(series_of(std::vector<double>(15, 1.0)), 0).independent));
}

/// Of a sum of two columns: tau = (1 + a) / (2 (1 - a)), to what an error that is off by a fifth leaves of its square.
TEST(BlockedMean, TellsTheCorrelationTimeOfWhatItIsAsked) {
    for (const double a : {0.0, 0.9}) {
        double sum = 0.0;
        constexpr unsigned kSeries = 40;
        for (unsigned seed = 0; seed < kSeries; ++seed) {
            const std::vector<double> x = correlated(4000, a, 500 + seed);
            const std::vector<double> y = correlated(4000, a, 900 + seed);
            BatchSeries series(2);
            series.keep_moments();
            for (std::size_t k = 0; k < x.size(); ++k) series.add(std::array{1e6 + x[k], y[k] - 0.5 * x[k]});
            const std::array weights{Weight{0, 1.0}, Weight{1, 2.0}};  // 2 y + 1e6
            const MeanWithError mean = blocked_mean(1e6, series, weights);
            EXPECT_NEAR(series.variance(weights), 4.0, 4.0 * (a > 0.0 ? 0.35 : 0.1)) << seed;
            sum += mean.correlation;
            std::vector<double> saved;
            series.save(saved);
            series.save_moments(saved);
            BatchSeries restored(2);
            restored.keep_moments();
            SavedNumbers numbers(saved);
            restored.restore(numbers);
            restored.restore_moments(numbers);
            EXPECT_TRUE(numbers.empty());
            EXPECT_EQ(blocked_mean(1e6, restored, weights).correlation, mean.correlation);
        }
        const double tau = 0.5 * (1.0 + a) / (1.0 - a);
        EXPECT_NEAR(sum / kSeries, tau, 0.3 * tau) << "a = " << a;
    }
    BatchSeries without(1);
    for (int k = 0; k < 100; ++k) without.add(std::array{static_cast<double>(k % 7)});
    EXPECT_TRUE(std::isnan(mean_of(without, 0).correlation));
}

/// A checkpoint of before has no moments: what comes after it has none either.
TEST(BatchSeries, WithoutTheMomentsOfTheStartTellsNoVariance) {
    BatchSeries before(1);
    before.add(std::array{1.0});
    std::vector<double> saved;
    before.save(saved);
    BatchSeries after(1);
    after.keep_moments();
    SavedNumbers numbers(saved);
    after.restore(numbers);
    after.restore_moments(numbers);
    for (int k = 0; k < 100; ++k) after.add(std::array{static_cast<double>(k % 7)});
    EXPECT_TRUE(std::isnan(after.variance(std::array{Weight{0, 1.0}})));
}

TEST(FirstEquilibrated, FindsTheEndOfATransient) {
    std::vector<double> batches = correlated(100, 0.0, 7);
    for (std::size_t k = 0; k < 20; ++k) batches[k] += 30.0 * std::exp(-static_cast<double>(k) / 5.0);
    const auto first = first_equilibrated(batches);
    ASSERT_TRUE(first);
    EXPECT_GE(*first, 12u);
    EXPECT_LE(*first, 30u);
}

TEST(FirstEquilibrated, IsEarlyInASteadySeriesAndNeverInADriftingOne) {
    int late = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        const auto first = first_equilibrated(correlated(40, 0.3, 1000 + seed));
        late += !first || *first > 20 ? 1 : 0;
    }
    // Seen: 4 of 200. Were the rule to look at the last few values alone it would be a third.
    EXPECT_LE(late, 16);
    std::vector<double> drifting;
    for (int k = 0; k < 40; ++k) drifting.push_back(k);
    EXPECT_FALSE(first_equilibrated(drifting));
}

}  // namespace carom::time_series_test
