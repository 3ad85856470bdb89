#include "host/run/observe.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "host/observables/averager.hpp"
#include "host/observables/registry.hpp"
#include "host/scene/place.hpp"

namespace carom {

namespace {

std::vector<std::unique_ptr<Observable>> make_all(const Scene& scene, const ObservableContext& context) {
    auto all = default_observables(context);
    for (const ObserveEntry& entry : scene.observables) {
        if (is_average(entry.kind)) continue;
        all.push_back(make_observable(
            {.name = entry.name, .kind = entry.kind, .species = entry.species, .threshold = entry.threshold}, context));
    }
    return all;
}

double mean_radius(const Balls& balls) {
    std::vector<std::uint64_t> counts(balls.species_table.size());
    for (const auto index : balls.species) ++counts[index];
    double sum = 0.0;
    for (std::size_t k = 0; k < counts.size(); ++k)
        sum += static_cast<double>(counts[k]) * balls.species_table[k].radius;
    return balls.size() == 0 ? 0.0 : sum / static_cast<double>(balls.size());
}

/// The balls at time 0 as the solver holds them: rounded to its own coordinates, so that a ball that rests has not
/// moved.
Balls balls_at_start(const PreparedScene& run, Solver& solver) {
    Frame frame;
    if (!run.resumed) {
        solver.request_frame(frame);
        solver.finish_frame(frame);
        Balls balls = run.state.balls;
        balls.position = frame.position;
        return balls;
    }
    SolverState state;
    state.balls = make_balls(run.scene);
    const auto first = make_plan(run.scene, state, 1)->make_solver(state, "");
    first->request_frame(frame);
    first->finish_frame(frame);
    state.balls.position = frame.position;
    return std::move(state.balls);
}

}  // namespace

bool needs_start(const Scene& scene) {
    return std::ranges::any_of(scene.observables, [](const ObserveEntry& entry) { return !is_average(entry.kind); });
}

ObservableSet make_observables(const Scene& scene, const Balls& balls, const Balls* start) {
    return ObservableSet(make_all(scene, {.box = scene.box,
                                          .mean_radius = mean_radius(balls),
                                          .start = start,
                                          .driven = scene.driven(),
                                          .walls = scene.walls.size()}));
}

std::vector<ObservableInfo> observable_infos(const Scene& scene) {
    Balls nothing;
    nothing.dimension = scene.dimension();
    return make_observables(scene, nothing, &nothing).infos();
}

ObservableSet observables_of_run(const PreparedScene& run, Solver& solver) {
    if (!needs_start(run.scene)) return make_observables(run.scene, run.state.balls, nullptr);
    const Balls start = balls_at_start(run, solver);
    return make_observables(run.scene, run.state.balls, &start);
}

}  // namespace carom
