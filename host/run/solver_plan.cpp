#include "host/run/solver_plan.hpp"

#include "host/run/events_plan.hpp"
#include "host/run/spring_plan.hpp"

namespace carom {

std::shared_ptr<const SolverPlan> make_plan(const Scene& scene, const SolverState& state, int threads) {
    if (scene.run.solver == SolverKind::kEvents) return make_events_plan(scene, state);
    return make_spring_plan(scene, state, threads);
}

}  // namespace carom
