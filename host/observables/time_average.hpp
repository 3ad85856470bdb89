#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "host/observables/batch_series.hpp"

// What a correlated time series says: its mean, the standard error of that, how long it remembers, and from when on it
// is at equilibrium.

namespace carom {

/// Standard error of the mean of equal blocks: Flyvbjerg and Petersen 1989. Blocks are joined in pairs as long as that
/// makes the error significantly larger, that is, as long as neighbours know of each other; at least `least` blocks
/// stay. NaN for fewer than two. \param least  an error from n blocks is itself off by 1 / sqrt(2 (n - 1)): a quarter
/// for eight, a third for five
double blocked_error(std::span<const double> block_means, std::size_t least = 8);

/// One column of a series in a weighted sum.
struct Weight {
    std::size_t column = 0;
    double factor = 1.0;
};

/// Standard error of sum_k factor_k mean_k. A function f of several means has, to first order, the error of that sum
/// with factor_k = df / d mean_k.
/// \param from_batch  whole batches that are left out
double error_of(const BatchSeries& series, std::span<const Weight> weights, std::size_t from_batch = 0);

/// A number and its standard error; NaN where there is none.
struct MeanWithError {
    double value = 0.0;
    double error = 0.0;
};

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
