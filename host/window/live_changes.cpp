#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host/scene/load.hpp"
#include "host/state/errors.hpp"
#include "host/window/live_run.hpp"

// How a live run goes on as another one: from the state that it has, with another solver.

namespace carom {

namespace {

/// Where a plan's time step is longer than its contacts allow: that, and what they allow.
/// \param fewest  steps that a contact must take
std::string coarse_step(const SolverPlan& plan, double fewest) {
    double dt = 0.0;
    double contact = 0.0;
    for (const PlanFact& fact : plan.facts()) {
        if (fact.key == "dt") dt = fact.value;
        if (fact.key == "contact_duration") contact = fact.value;
    }
    if (contact <= 0.0 || dt <= contact / fewest) return {};
    return fmt::format("not changed: dt = {:.3g} s would be more than a tenth of the shortest contact ({:.3g} s)", dt,
                       contact);
}

}  // namespace

/// What was counted before and after.
Tallies LiveRun::sum(const Tallies& before, Tallies after) {
    after.wall_impulse.resize(std::max(before.wall_impulse.size(), after.wall_impulse.size()));
    for (std::size_t k = 0; k < before.wall_impulse.size(); ++k) after.wall_impulse[k] += before.wall_impulse[k];
    after.wall_heat.resize(std::max(before.wall_heat.size(), after.wall_heat.size()));
    for (std::size_t k = 0; k < before.wall_heat.size(); ++k) after.wall_heat[k] += before.wall_heat[k];
    after.thermostat_heat += before.thermostat_heat;
    after.work += before.work;
    if (after.lost) *after.lost += before.lost.value_or(0.0);
    for (std::size_t k = 0; k < before.collisional_stress.size(); ++k)
        after.collisional_stress[k] += before.collisional_stress[k];
    after.max_overlap = std::max(before.max_overlap, after.max_overlap);
    after.balls_left += before.balls_left;
    after.sorts += before.sorts;
    after.events += before.events;
    after.collisions += before.collisions;
    if (after.collisional_virial) *after.collisional_virial += before.collisional_virial.value_or(0.0);
    return after;
}

void LiveRun::kick(std::size_t id, const Vector3& change) {
    post([this, id, change] {
        SolverState state = present();
        if (id >= state.balls.size() || state.balls.gone[id] != 0) return;
        for (int axis = 0; axis < state.balls.dimension; ++axis) state.balls.velocity[axis][id] += change[axis];
        try {
            rebuild(*prepared_.plan, state, step_number(), time());
            std::string by;
            for (int axis = 0; axis < state.balls.dimension; ++axis) {
                by += fmt::format("{}{}", axis > 0 ? ", " : "", change[axis]);
            }
            note(fmt::format("ball {} kicked by [{}]", id, by));
        } catch (const std::exception& error) {
            refuse(error.what());
        }
    });
}

void LiveRun::change(const std::vector<std::string>& overrides) {
    auto all = overrides;
    // A scene that leaves it to the program would get another one.
    const double dt = description().dt;
    const bool given = std::ranges::any_of(all, [](const auto& one) { return one.starts_with("spring.dt="); });
    if (dt > 0.0 && !given) all.push_back(fmt::format("spring.dt={}", dt));
    // Judged here, so that the user hears of it; the state is the thread's.
    scene_ = parse_scene(scene_.source, scene_.path, all);
    {
        const std::scoped_lock lock(mutex_);
        ++changes_;
    }
    post([this, changed = scene_, overrides] { remake(changed, overrides); });
}

void LiveRun::remake(const Scene& changed, const std::vector<std::string>& overrides) {
    std::string why;
    try {
        // Steps are counted anew, and stages and the places of walls hang on their number.
        const bool moving = std::ranges::any_of(changed.walls, [](const Wall& wall) { return wall.velocity != 0.0; });
        if (!changed.stages.empty() || (moving && changed.run.solver == SolverKind::kSpring)) {
            throw InputError("not changed: a scene with stages or moving walls cannot be changed while it runs");
        }
        SolverState state = present();
        const std::uint64_t step = step_number();
        const double now = time();
        if (state.step > 0) synchronise(state);
        state.step = 0;  // designed, and begun, as a run that starts from here
        auto plan = make_plan(changed, state, threads_);
        const bool stiffer = std::ranges::any_of(overrides, [](const auto& one) { return one.starts_with("spring."); });
        if (stiffer) why = coarse_step(*plan, kFewestSteps);
        if (why.empty()) {
            rebuild(*plan, state, step, now);
            describe(*plan);
            prepared_.plan = std::move(plan);
            prepared_.scene = changed;
            for (const std::string& one : overrides) note(one);
        }
    } catch (const std::exception& error) {
        why = error.what();
    }
    if (!why.empty()) refuse(why);
    const std::scoped_lock lock(mutex_);
    --changes_;
    if (standing_ || !why.empty()) standing_ = prepared_.scene;
}

/// Into the file that is being recorded.
void LiveRun::note(const std::string& what) {
    if (record_) record_->note(time(), step_number(), what);
}

void LiveRun::refuse(const std::string& why) {
    const std::scoped_lock lock(mutex_);
    message_ = why;
}

/// Where another solver can go on from.
SolverState LiveRun::present() {
    SolverState state;
    solver_->save(state);
    state.tallies = sum(tallies_before_, solver_->tallies());  // more than the engine saves
    // The event-driven engine's own account of the balls and what it has foreseen for them: true no longer once a ball
    // or the scene is another. Without it the engine starts from the balls.
    std::erase_if(state.extra, [](const auto& extra) { return extra.first.starts_with("events"); });
    return state;
}

/// The spring solver's state holds velocities half a step behind positions, which only the same forces and the same
/// step bring to them. Whoever changes these needs both at one time, as at step 0.
void LiveRun::synchronise(SolverState& state) {
    Frame frame;
    solver_->request_frame(frame);
    solver_->finish_frame(frame);
    for (int axis = 0; axis < state.balls.dimension; ++axis) {
        for (std::size_t id = 0; id < state.balls.size(); ++id) {
            if (state.balls.gone[id] == 0) state.balls.velocity[axis][id] = frame.velocity[axis][id];
        }
    }
}

/// \param step, time  that the run has come to
void LiveRun::rebuild(const SolverPlan& plan, const SolverState& state, std::uint64_t step, double time) {
    auto solver = plan.make_solver(state, "");  // where it cannot be made, the old one stays
    steps_before_ = step - solver->step();
    time_before_ = time - solver->time();
    tallies_before_ = plan.name() == "events" ? state.tallies : Tallies{};  // the others count on from them
    solver_ = std::move(solver);
    feed_.forget();
    goal_ = solver_->time();
}

}  // namespace carom
