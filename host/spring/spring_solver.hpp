#pragma once

#include <functional>
#include <memory>
#include <string>

#include "host/backends/spring_backends.hpp"
#include "host/state/solver.hpp"

namespace carom {

/// The time-stepped solver over a processor.
/// \param state      balls as they start (step 0) or as Solver::save gave them (a restart)
/// \param processor  "cpu" or "cuda", see choose_processor
/// \throws SystemError  when the device cannot be used or has too little memory
std::unique_ptr<Solver> make_spring_solver(const SpringSetup& setup, const SolverState& state,
                                           const std::string& processor);

/// As above, over an engine of the caller's making.
/// \param engine_of  makes the engine from raw balls
std::unique_ptr<Solver> make_spring_solver(
    const SpringSetup& setup, const SolverState& state, const std::string& name,
    const std::function<std::unique_ptr<SpringEngine>(const RawBalls&, const SpringTallies&)>& engine_of);

/// One sentence on a fault: who, where, when, and what may help.
std::string explain_fault(const SpringFault& fault, const Balls& balls, double time, std::uint64_t step);

}  // namespace carom
