#pragma once

#include <functional>
#include <optional>

#include "host/bench/gas.hpp"
#include "host/bench/results.hpp"

namespace carom {

/// Measures one case. Bandwidth, limit and what other rows are needed for is added by run_bench.
/// \param gas          that of the case; null for kCopy
/// \param interrupted  gives a signal's number
/// \throws InputError, SystemError, SimulationError, std::exception  it cannot be measured, and why
BenchRow run_case(const BenchCase& what, PlacedGas* gas, const BenchRequest& request,
                  const std::function<int()>& interrupted);

/// Steps that a repeat of this rung has at least, however long they take: enough that sorts come often.
std::uint64_t least_steps(BenchRung rung);

}  // namespace carom
