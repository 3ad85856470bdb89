#pragma once

#include <string>

namespace carom {

/// What changed between two files of `carom bench`: a line for each measurement that both hold, the second's rate over
/// the first's, and whether that exceeds the noise: the sum of both spreads (the range of the repeats over their
/// median), so that the ranges lie apart. Then what only one of them holds. \throws InputError   a file is not one of
/// carom bench \throws SystemError  it cannot be read
std::string bench_diff(const std::string& before, const std::string& after);

}  // namespace carom
