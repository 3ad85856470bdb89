#pragma once

#include <memory>
#include <string>

#include "host/backends/spring_backends.hpp"
#include "host/scene/design.hpp"
#include "host/scene/scene.hpp"
#include "host/state/solver.hpp"

namespace carom {

/// The plain numbers of a spring run from a scene and its design.
SpringSetup spring_setup(const Scene& scene, const SpringDesign& design, int threads);

/// What the plan of a spring run must know of the balls.
BallSizes ball_sizes(const Balls& balls);

/// The processor, "cpu" or "cuda", that the scene's choice means here.
/// \throws SystemError  for "cuda" without a device
std::string processor_for(const Scene& scene, std::size_t balls);

/// The solver that the scene asks for.
/// \param state    the initial balls at step 0, or what Solver::save gave
/// \param threads  0: all
std::unique_ptr<Solver> make_solver(const Scene& scene, const SpringDesign& design, const SolverState& state,
                                    int threads);

}  // namespace carom
