#pragma once

#include <functional>
#include <string>

#include "host/bench/results.hpp"

namespace carom {

/// Measures all that the request means, as far as time and memory allow; what is left out is in the results, with why.
/// \param tell         is given a line about each measurement before it begins
/// \param interrupted  gives a signal's number; then what has been measured is returned
/// \throws SystemError  "cuda" is asked for and there is none
BenchResults run_bench(const BenchRequest& request, const std::function<void(const std::string&)>& tell,
                       const std::function<int()>& interrupted);

}  // namespace carom
