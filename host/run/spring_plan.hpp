#pragma once

#include <memory>

#include "host/backends/spring_backends.hpp"
#include "host/run/solver_plan.hpp"
#include "host/scene/design.hpp"

namespace carom {

/// The plain numbers of a spring run from a scene and its design.
SpringSetup spring_setup(const Scene& scene, const SpringDesign& design, int threads);

/// What the plan of a spring run must know of the balls.
BallSizes ball_sizes(const Balls& balls);

/// Parameters and errors as make_plan.
std::shared_ptr<const SolverPlan> make_spring_plan(const Scene& scene, const SolverState& state, int threads);

}  // namespace carom
