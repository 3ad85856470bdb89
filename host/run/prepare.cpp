#include "host/run/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "host/io/checkpoint.hpp"
#include "host/io/trajectory_header.hpp"
#include "host/observables/average.hpp"
#include "host/run/driving_text.hpp"
#include "host/run/memory.hpp"
#include "host/run/number_words.hpp"
#include "host/run/observe.hpp"
#include "host/run/room.hpp"
#include "host/run/schedule.hpp"
#include "host/scene/load.hpp"
#include "host/scene/place.hpp"
#include "host/state/errors.hpp"
#include "host/state/text_file.hpp"

namespace carom {

SceneText read_scene_text(const std::string& path_or_name) {
    const std::string path = find_scene(path_or_name);
    return {.path = path, .text = read_text_file(path)};
}

namespace {

/// Where the interval of the rows follows from the end of the run, and that has been moved, rows go on at the interval
/// that they began with: the means over them would else begin anew.
void keep_row_interval(PreparedScene& run, const Checkpoint& checkpoint, std::vector<std::string> overrides) {
    const std::optional<double> began_with = saved_row_interval(run.state);
    if (!began_with || *began_with == run.scene.output.observables_every) return;
    overrides.push_back(fmt::format("run.until={}", 2.0 * run.scene.run.until));
    const Scene later = parse_scene(checkpoint.scene_source, checkpoint.scene_path, overrides);
    const bool follows = later.output.observables_every != run.scene.output.observables_every;
    if (follows) run.scene.output.observables_every = *began_with;
}

/// The balls are measured here, for all of the run.
void plan_run(PreparedScene& run, int threads) {
    const MeasuredBalls balls = measure_balls(run.scene, run.state.balls);
    run.figures = balls;
    run.threads = threads;
    run.plan = make_plan(run.scene, run.state, balls, threads);
}

/// All that follows from scene and state.
void derive(PreparedScene& run) {
    const Balls& balls = run.state.balls;
    const SolverPlan& plan = *run.plan;
    run.steps = plan.steps_to(run.scene.run.until);
    const auto due = [&](double every) {
        return count_due(
            every, run.state.time, run.scene.run.until, [&plan](double time) { return plan.reachable_time(time); },
            plan.least_interval());
    };
    run.frames = due(run.scene.output.every);
    run.rows = due(run.scene.output.observables_every);

    const RunAverages averages(run, {});
    run.memory_bytes = plan.memory_bytes();
    run.host_memory_bytes =
        memory_beside_solver(run.scene.dimension(), balls.size(), run.frames) + averages.most_bytes();
    if (plan.processor() == "cpu") run.memory_bytes = run.host_memory_bytes += run.memory_bytes;

    SolverDescription description;
    description.precision = plan.precision();
    TrajectoryHeader header = make_trajectory_header(run.scene, balls, description, observable_infos(run.scene));
    header.averages = averages.infos();
    run.output_bytes = estimate_trajectory_bytes(header, run.frames, run.rows);
    run.warnings = plan.warnings();
    std::ranges::move(stage_warnings(run.scene), std::back_inserter(run.warnings));
    const double volume = run.figures.packing_fraction * run.scene.box.volume();
    if (plan.name() == "events") require_room(run.scene, volume, run.state.time);
    std::ranges::move(room_warnings(run.scene, volume, run.state.time), std::back_inserter(run.warnings));
    const std::vector<double> expected = averages.expected_samples(run.scene.run.until);
    if (const std::string why = why_nothing_is_measured(run.scene); !why.empty() && !expected.empty()) {
        run.warnings.push_back("averages take no sample: " + why);
        return;
    }
    for (std::size_t k = 0; k < expected.size(); ++k) {
        const AverageInfo& info = header.averages[k];
        if (expected[k] >= kLeastSamplesForError || run.scene.run.until <= 0.0) continue;
        if (expected[k] > 0.0) {
            run.warnings.push_back(
                fmt::format("{} takes {} only, too few for an error: shorten its observe.every, {:.6g}", info.name,
                            plural(static_cast<std::uint64_t>(expected[k]), "sample"), info.every));
        } else if (info.from > run.scene.run.until) {
            run.warnings.push_back(fmt::format("{} takes no sample: it begins at t = {}, and the run ends at {}",
                                               info.name, info.from, run.scene.run.until));
        } else {
            run.warnings.push_back(fmt::format("{} takes no sample: its observe.every is {}, and the run ends at {}",
                                               info.name, info.every, run.scene.run.until));
        }
    }
}

}  // namespace

PreparedScene prepare_scene(const SceneRequest& request) {
    const SceneText scene = request.text ? *request.text : read_scene_text(request.scene);
    PreparedScene run;
    run.scene = parse_scene(scene.text, scene.path, request.overrides);
    run.state.balls = make_balls(run.scene);
    plan_run(run, request.threads);
    if (request.steps) {
        // The step is known only now; what has its default from run.until must see the new one.
        auto overrides = request.overrides;
        overrides.push_back(fmt::format("run.until={}", run.plan->time_of_step(*request.steps)));
        run.scene = parse_scene(scene.text, scene.path, overrides);
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
    run.resumed = true;
    run.state = std::move(checkpoint.state);
    run.scene = parse_scene(checkpoint.scene_source, checkpoint.scene_path, request.overrides);
    plan_run(run, request.threads);
    if (request.steps) {
        auto overrides = request.overrides;
        overrides.push_back(fmt::format("run.until={}", run.plan->time_of_step(*request.steps)));
        run.scene = parse_scene(checkpoint.scene_source, checkpoint.scene_path, overrides);
    }
    keep_row_interval(run, checkpoint, request.overrides);
    derive(run);
    if (run.plan->reachable_time(run.scene.run.until) <= run.state.time) {
        throw InputError(
            fmt::format("--resume {}: the run is at time {} already, and is to end at {}; --until T goes on",
                        checkpoint_path, run.state.time, run.scene.run.until));
    }
    return run;
}

}  // namespace carom
