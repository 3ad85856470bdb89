#pragma once

#include <span>
#include <string>
#include <vector>

#include "host/observables/averager.hpp"

namespace carom {

/// Of fewer samples a standard error is itself a guess: none is told.
inline constexpr double kLeastSamplesForError = 8.0;

/// An average that is a single number, or one component of it, as summaries and tables tell it.
struct AveragedNumber {
    std::string name;  ///< "name" or "name.component"
    std::string kind;  ///< "kurtosis", "stress", ...
    std::string unit;  ///< SI, as H5MD writes units; empty: a pure number
    double mean = 0.0;
    double error = 0.0;    ///< standard error; NaN if there are fewer samples than kLeastSamplesForError
    double samples = 0.0;  ///< how many were taken
};

/// The names of the numbers that an average is: its own, or "name.component"; none for curves and maps.
std::vector<std::string> number_names(const AverageInfo& average);

/// The numbers among averages. \param tables  one of each of `infos`
std::vector<AveragedNumber> averaged_numbers(std::span<const AverageInfo> infos, std::span<const AverageTable> tables);

}  // namespace carom
