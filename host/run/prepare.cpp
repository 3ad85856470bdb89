#include "host/run/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "host/io/checkpoint.hpp"
#include "host/io/trajectory_header.hpp"
#include "host/observables/registry.hpp"
#include "host/run/memory.hpp"
#include "host/run/observe.hpp"
#include "host/run/schedule.hpp"
#include "host/run/solver_factory.hpp"
#include "host/scene/load.hpp"
#include "host/scene/place.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

constexpr const char* kDesign = "spring_design";

/// The numbers of a design that reach the state, in the order in which a checkpoint holds them.
std::array<double SpringDesign::*, 8> design_fields() {
    return {&SpringDesign::stiffness,     &SpringDesign::wall_stiffness,     &SpringDesign::damping,
            &SpringDesign::damping_ratio, &SpringDesign::wall_damping_ratio, &SpringDesign::dt,
            &SpringDesign::design_speed,  &SpringDesign::contact_duration};
}

void load_design(const SolverState& state, SpringDesign& design) {
    for (const auto& [name, values] : state.extra) {
        if (name != kDesign || values.size() != design_fields().size()) continue;
        for (std::size_t k = 0; k < values.size(); ++k) design.*design_fields()[k] = values[k];
        return;
    }
    throw InputError("the checkpoint holds no spring_design; it is of another version of carom");
}

void refuse_what_is_not_there(const Scene& scene) {
    if (scene.run.solver == SolverKind::kEvents) {
        throw InputError(scene.path + ": run.solver: this version has no \"events\" solver; allowed: \"spring\"");
    }
    if (scene.physics.friction > 0.0 || scene.physics.wall_friction > 0.0) {
        const char* key = scene.physics.friction > 0.0 ? "physics.friction" : "physics.wall_friction";
        throw InputError(fmt::format("{}: {}: the spring solver has no friction yet; allowed: 0", scene.path, key));
    }
}

std::uint64_t steps_to(double time, double dt) {
    return static_cast<std::uint64_t>(std::llround(std::max(0.0, time) / dt));
}

/// How many times are due after `from`, both ends included.
std::uint64_t count_due(double every, double from, double until, double dt) {
    const auto reachable = [dt](double time) { return static_cast<double>(steps_to(time, dt)) * dt; };
    const double end = reachable(until);
    if (end <= from) return 1;
    if (every <= 0.0) return 2;
    // At most one a step; the exact count where it is small, else a good guess.
    const double most = std::min((end - from) / every, (end - from) / dt);
    if (most > 1e6) return static_cast<std::uint64_t>(most) + 1;
    Schedule schedule(every, from, reachable);
    std::uint64_t count = 2;
    while (schedule.next() < end) {
        schedule.take(schedule.next());
        ++count;
    }
    return count;
}

/// All that follows from scene, design and state.
void derive(PreparedScene& run) {
    const Balls& balls = run.state.balls;
    run.processor = processor_for(run.scene, balls.size());
    const std::uint64_t end = steps_to(run.scene.run.until, run.design.dt);
    run.steps = end > run.state.step ? end - run.state.step : 0;
    run.frames = count_due(run.scene.output.every, run.state.time, run.scene.run.until, run.design.dt);
    run.rows = count_due(run.scene.output.observables_every, run.state.time, run.scene.run.until, run.design.dt);

    const SpringSetup setup = spring_setup(run.scene, run.design, run.threads);
    const BallSizes sizes = ball_sizes(balls);
    if (const std::string why = spring_refusal(setup, sizes); !why.empty()) {
        throw InputError(fmt::format("{}: the spring solver cannot run this: {}", run.scene.path, why));
    }
    run.memory_bytes = spring_memory_bytes(run.processor, setup, sizes, run.design.packing_fraction);
    run.host_memory_bytes = memory_beside_solver(run.scene.dimension(), balls.size(), run.frames);
    if (run.processor == "cpu") run.memory_bytes = run.host_memory_bytes += run.memory_bytes;

    SolverDescription description;
    description.precision = run.scene.run.precision == Precision::kDouble ? "double" : "single";
    const TrajectoryHeader header = make_trajectory_header(run.scene, balls, description, observable_infos(run.scene));
    run.output_bytes = estimate_trajectory_bytes(header, run.frames, run.rows);
    run.warnings = design_warnings(run.scene, balls, run.design, spring_position_quantum(setup, sizes));
}

}  // namespace

void store_design(const SpringDesign& design, SolverState& state) {
    std::vector<double> values;
    for (const auto field : design_fields()) values.push_back(design.*field);
    state.extra.emplace_back(kDesign, std::move(values));
}

PreparedScene prepare_scene(const SceneRequest& request) {
    PreparedScene run;
    run.threads = request.threads;
    run.scene = load_scene(request.scene, request.overrides);
    refuse_what_is_not_there(run.scene);
    run.state.balls = make_balls(run.scene);
    run.design = design_spring(run.scene, run.state.balls);
    if (request.steps) {
        // The step is known only now; what has its default from run.until must see the new one.
        auto overrides = request.overrides;
        overrides.push_back(fmt::format("run.until={}", static_cast<double>(*request.steps) * run.design.dt));
        run.scene = load_scene(request.scene, overrides);
    }
    derive(run);
    return run;
}

PreparedScene prepare_resume(const std::string& checkpoint_path, const SceneRequest& request) {
    static constexpr std::array<std::string_view, 4> kHarmless{"run.until", "run.backend", "output.every",
                                                               "output.observables_every"};
    for (const std::string& override : request.overrides) {
        const std::string key = override.substr(0, override.find('='));
        if (std::ranges::find(kHarmless, key) == kHarmless.end()) {
            throw InputError(fmt::format("--resume: {} cannot be changed in the middle of a run; allowed: {}", key,
                                         fmt::join(kHarmless, ", ")));
        }
    }
    Checkpoint checkpoint = load_checkpoint(checkpoint_path);
    PreparedScene run;
    run.threads = request.threads;
    run.resumed = true;
    run.state = std::move(checkpoint.state);
    run.scene = parse_scene(checkpoint.scene_source, checkpoint.scene_path, request.overrides);
    refuse_what_is_not_there(run.scene);
    run.design = design_spring(run.scene, run.state.balls);
    load_design(run.state, run.design);
    if (request.steps) {
        auto overrides = request.overrides;
        overrides.push_back(fmt::format("run.until={}", static_cast<double>(*request.steps) * run.design.dt));
        run.scene = parse_scene(checkpoint.scene_source, checkpoint.scene_path, overrides);
    }
    derive(run);
    if (run.steps == 0) {
        throw InputError(
            fmt::format("--resume {}: the run is at time {} already, and is to end at {}; --until T goes on",
                        checkpoint_path, run.state.time, run.scene.run.until));
    }
    return run;
}

}  // namespace carom
