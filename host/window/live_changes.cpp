#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "host/scene/load.hpp"
#include "host/scene/override_stage.hpp"
#include "host/scene/stages.hpp"
#include "host/state/errors.hpp"
#include "host/window/live_run.hpp"

// How a live run goes on as another one: from the state that it has, with another solver.

namespace carom {

namespace {

/// What a plan says of itself; 0 if nothing.
double fact(const SolverPlan& plan, std::string_view key) {
    for (const PlanFact& one : plan.facts()) {
        if (one.key == key) return one.value;
    }
    return 0.0;
}

/// Where a plan's time step is longer than its contacts allow, and not because it was so before: that, and what they
/// allow.
/// \param fewest  steps that a contact must take
std::string coarse_step(const SolverPlan& plan, const SolverPlan& before, double fewest) {
    const double dt = fact(plan, "dt");
    const double contact = fact(plan, "contact_duration");
    if (contact <= 0.0 || dt <= contact / fewest) return {};
    const double contact_before = fact(before, "contact_duration");
    if (contact_before > 0.0 && dt / contact <= fact(before, "dt") / contact_before) return {};
    return fmt::format("not changed: dt = {:.3g} s would be more than a tenth of the shortest contact ({:.3g} s)", dt,
                       contact);
}

/// What a user should know of a plan and did not have to know of the one before; empty if nothing.
std::string new_warning(const SolverPlan& plan, const SolverPlan& before) {
    const auto known = before.warnings();
    const auto all = plan.warnings();
    if (all.size() <= known.size()) return {};
    const auto news = std::ranges::find_if(all, [&](const auto& one) { return std::ranges::count(known, one) == 0; });
    return news == all.end() ? "" : "changed, but " + *news;
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
            tell(error.what());
        }
    });
}

void LiveRun::change(const std::vector<std::string>& asked) {
    // Judged here, so that the user hears of it; the state, and the stage that the run is in by then, are the thread's.
    scene_ = changed(scene_, asked, stage_at(scene_, any_ ? frames_[ring_.read_slot()].time : 0.0));
    {
        const std::scoped_lock lock(mutex_);
        ++changes_;
    }
    post([this, asked] { remake(asked); });
}

/// \param stage  from which on it is so
Scene LiveRun::changed(Scene scene, const std::vector<std::string>& asked, std::size_t stage) const {
    const double dt = description().dt;
    for (const std::string& one : asked) {
        auto overrides = overrides_from(scene, one, stage);
        // A scene that leaves it to the program would get another one.
        if (dt > 0.0 && !one.starts_with("spring.dt=")) overrides.push_back(fmt::format("spring.dt={}", dt));
        scene = parse_scene(scene.source, scene.path, overrides);
    }
    return scene;
}

/// What is left of a scene for a solver that counts time and steps from now on.
/// \param stage  of the scene, which the run is in
Scene LiveRun::rest_of(const Scene& scene, std::size_t stage) const {
    Scene rest = scene;
    rest.balls.clear();  // they stood there once
    const auto walls = walls_at(begun_, solver_->time(), [this](double time) { return solver_->reachable_time(time); });
    for (std::size_t wall = 0; wall < walls.size(); ++wall) rest.walls[wall].offset = walls[wall].offset;
    if (!rest.stages.empty()) {
        rest.stages.erase(rest.stages.begin(), rest.stages.begin() + static_cast<std::ptrdiff_t>(stage));
        for (Stage& one : rest.stages) one.until -= time();
    }
    // Thermal walls and thermostats draw by the number of the step, and a number shall not be drawn twice.
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    rest.seed = scene.seed + kOdd * step_number();
    return rest;
}

void LiveRun::remake(const std::vector<std::string>& asked) {
    std::string said;
    try {
        const std::uint64_t step = step_number();
        const double now = time();
        const std::size_t stage = stages_before_ + stage_at(begun_, solver_->time(), [this](double time) {
                                      return solver_->reachable_time(time);
                                  });
        const Scene scene = changed(prepared_.scene, asked, stage);
        SolverState state = present();
        Scene begun = scene;
        // Velocities of the spring solver belong to the forces and the step that were: it begins anew, and counts steps
        // and time from here. The event-driven one goes on in the time that it has.
        const bool anew = scene.run.solver == SolverKind::kSpring;
        if (anew) {
            if (state.step > 0) synchronise(state);
            state.step = 0;
            state.extra.clear();  // numbers of stages that are over
            begun = rest_of(scene, stage);
        }
        auto plan = make_plan(begun, state, threads_);
        said = coarse_step(*plan, *prepared_.plan, kFewestSteps);
        if (said.empty()) {
            rebuild(*plan, state, step, now);
            describe(*plan);
            said = new_warning(*plan, *prepared_.plan);
            prepared_.plan = std::move(plan);
            prepared_.scene = scene;
            begun_ = std::move(begun);
            if (anew) stages_before_ = stage;
            for (const std::string& one : asked) note(one);
        }
    } catch (const std::exception& error) {
        said = error.what();
    }
    if (!said.empty()) tell(said);
    const std::scoped_lock lock(mutex_);
    --changes_;
    standing_ = prepared_.scene;
}

void LiveRun::go_back() {
    const bool changed = prepared_.plan != start_plan_;
    prepared_.plan = start_plan_;
    prepared_.scene = begun_ = start_scene_;
    stages_before_ = 0;
    rebuild(*prepared_.plan, start_, 0, 0.0);
    describe(*prepared_.plan);
    std::string said = changed ? "at the start again, with the scene as it was" : "";
    if (record_) {
        record_->finish();  // time cannot go back in a file
        said = record_->path() + " ends here, before the run began anew";
        record_.reset();
    }
    if (!said.empty()) tell(said);
    const std::scoped_lock lock(mutex_);
    standing_ = prepared_.scene;
    error_.clear();
}

/// Into the file that is being recorded.
void LiveRun::note(const std::string& what) {
    if (record_) record_->note(time(), step_number(), what);
}

void LiveRun::tell(const std::string& what) {
    const std::scoped_lock lock(mutex_);
    message_ = what;
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
