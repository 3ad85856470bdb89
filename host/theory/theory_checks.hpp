#pragma once

#include <span>
#include <string>
#include <vector>

#include "host/observables/average.hpp"
#include "host/observables/time_series.hpp"
#include "host/theory/measured_run.hpp"

namespace carom {

/// Samples that a verdict needs. Of fewer, blocked_error takes neighbours for independent, and may be far too small. A
/// summary tells it all the same, from kLeastSamplesForError on.
inline constexpr double kLeastSamplesForVerdict = static_cast<double>(kLeastBlocksForCorrelation);

/// Theory's words on a number, for a line of text: "theory 2.9985 (fixed energy, 3 D / (D + 2)), -0.2 sigma: agrees,
/// 1.2 % would show".
std::string theory_words(const TheoryCheck& check);

/// "1.2 %" of 0.012.
std::string share_text(double share);

/// What theory has a number or a curve for, of a run's averages; those that are single numbers by "name" or
/// "name.component".
std::vector<TheoryCheck> average_checks(const MeasuredRun& run, std::span<const RunAverage> averages);

/// All that a run measured and theory has a number or a curve for.
std::vector<TheoryCheck> theory_checks(const MeasuredRun& run, std::span<const RunAverage> averages);

/// A warning for each axis along which a bath lets density spread too slowly for errors of what is measured: pressures
/// on walls across it, and densities. \param averages  of the run
std::vector<std::string> spreading_warnings(const MeasuredRun& run, std::span<const AverageInfo> averages);

/// Theory's curves beside a quantity of a run's rows, or a group of them ("pressure"): what slow walls make of a gas,
/// sound between walls at rest, and for the second half p = Z n T at the temperature that the run had then. None where
/// there is no theory.
std::vector<TheoryCurve> theory_over_time(const MeasuredRun& run, const std::string& quantity);

/// For a gas that slow walls compress, whose pressure theory_over_time has: by what its virial pressure, which is of
/// the whole box, is that of the room that walls leave to centres; one per row. Empty for other runs.
std::vector<double> box_over_room(const MeasuredRun& run);

/// Leaves out slices of a density that a wall keeps centres out of in part: their density is that of another volume.
void leave_out_walls(RunAverage& average, double radius, const Box& box);

}  // namespace carom
