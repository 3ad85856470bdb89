#pragma once

#include <memory>

#include "host/events/events_engine.hpp"
#include "host/run/solver_plan.hpp"

namespace carom {

/// The plain numbers of an event-driven run from a scene.
EventsSetup events_setup(const Scene& scene);

/// Parameters and errors as make_plan.
std::shared_ptr<const SolverPlan> make_events_plan(const Scene& scene, const SolverState& state);

}  // namespace carom
