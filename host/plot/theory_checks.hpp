#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/io/trajectory_reader.hpp"
#include "host/run/averaged_number.hpp"

namespace carom {

/// How far what was measured is from what theory says, in standard errors: within 4, one in 16,000 falls outside by
/// chance.
enum class TheoryVerdict : std::uint8_t { kAgrees, kDiffers, kUnknown };

/// Samples that a verdict needs. Of fewer, blocked_error cannot join any two and keep its eight blocks: it takes
/// neighbours for independent, and may be far too small. A summary tells it all the same, from kLeastSamplesForError
/// on.
inline constexpr double kLeastSamplesForVerdict = 2.0 * kLeastSamplesForError;

/// One quantity of a run beside theory.
struct TheoryCheck {
    std::string what;          ///< "virial pressure"
    std::string unit;          ///< SI, as H5MD writes units
    std::string theory;        ///< whose: "equation of state"
    std::size_t points = 0;    ///< of a curve; 0: a number
    double measured = 0.0;     ///< a number alone; NaN for curves
    double error = 0.0;        ///< its standard error
    double expected = 0.0;     ///< theory's number
    double uncertainty = 0.0;  ///< what theory itself may be off by: a number, or for curves a share of each value
    /// (measured - expected) over error and uncertainty together; of a curve the root of the mean square of that.
    double sigmas = 0.0;
    TheoryVerdict verdict = TheoryVerdict::kUnknown;  ///< unknown: too few samples for an error
};

/// Theory's words on a number, for a line of text: "theory 2.9985 (fixed energy, 3 D / (D + 2)), -0.2 sigma".
std::string theory_words(const TheoryCheck& check);

/// The averages that are single numbers and theory has one for, by "name" or "name.component".
std::vector<TheoryCheck> number_checks(const TrajectoryReader& trajectory);

/// All that a run measured and theory has a number or a curve for.
std::vector<TheoryCheck> theory_checks(const TrajectoryReader& trajectory);

}  // namespace carom
