#pragma once

#include <functional>

#include "host/bench/results.hpp"

namespace carom {

/// A whole run three times over: the solver alone; as `carom run` without frames; and with 20 frames and rows into a
/// file in the folder for temporary files. The row's rate is that of the last, start and end of the program's work
/// included; `more` has the others.
/// \throws as prepare_scene and simulate
BenchRow output_case(const BenchCase& what, const BenchRequest& request, const std::function<int()>& interrupted);

}  // namespace carom
