#pragma once

#include <vector>

#include "host/observables/observable_set.hpp"
#include "host/run/prepare.hpp"
#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"

namespace carom {

/// The observables of a scene: the default ones, then those of its [[observe]] entries.
/// \param balls  any state of the run; for the mean radius
/// \param start  the balls as the solver holds them at time 0; used only while this runs, and only if needs_start
ObservableSet make_observables(const Scene& scene, const Balls& balls, const Balls* start);

/// The same for a run that is about to start or to go on.
ObservableSet observables_of_run(const PreparedScene& run, Solver& solver);

/// Whether make_observables wants to know where the balls were at time 0.
bool needs_start(const Scene& scene);

/// What a row of that scene holds, without making anything.
std::vector<ObservableInfo> observable_infos(const Scene& scene);

}  // namespace carom
