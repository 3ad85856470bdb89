#pragma once

#include <string>
#include <vector>

namespace carom {

/// The shortest decimal that reads back to the same number, as a person writes it: 0.35, 7, 1e-06.
std::string decimal_text(double value);

/// from, from + step, ..., to: both ends are in. Each value is the number nearest to the exact decimal, as many digits
/// after the point as `from` and `step` have, so that 0.35 + 3 * 0.025 is 0.425 and not 0.42499999999999999.
/// \throws InputError  the step does not lead from one end to the other; the words only, without a place
std::vector<double> stepped_values(double from, double to, double step);

}  // namespace carom
