#include "host/run/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "host/io/ball_files.hpp"
#include "host/io/checkpoint.hpp"
#include "host/io/trajectory_header.hpp"
#include "host/observables/average.hpp"
#include "host/run/driving_text.hpp"
#include "host/run/memory.hpp"
#include "host/run/observe.hpp"
#include "host/run/say.hpp"
#include "host/run/schedule.hpp"
#include "host/scene/load.hpp"
#include "host/scene/place.hpp"
#include "host/scene/stages.hpp"
#include "host/scene/walls.hpp"
#include "host/state/errors.hpp"
#include "host/state/text.hpp"

namespace carom {

SceneText read_scene_text(const std::string& path_or_name) {
    const std::string path = find_scene(path_or_name);
    return {.path = path, .text = read_text_file(path)};
}

namespace {

/// Denser no balls of like size are packed, disks in a triangular lattice: 0.907.
constexpr double kDensest = 0.9;

bool can_be_left(const Box& box) {
    for (int axis = 0; axis < box.dimension; ++axis) {
        if (std::ranges::count(box.faces[axis], Face::kOpen) > 0) return true;
    }
    return false;
}

/// Between two of these walls move at a steady speed.
std::vector<double> ends_of(const Scene& scene) {
    std::vector<double> ends;
    for (const Stage& stage : scene.stages) ends.push_back(std::min(stage.until, scene.run.until));
    ends.push_back(scene.run.until);
    return ends;
}

/// When the room ends, and that of ends_of by which it has.
struct Squeeze {
    double when = 0.0;
    double end = 0.0;
};

/// None where the balls have no room at the start: that is for whoever placed them to tell.
std::optional<Squeeze> find_squeeze(const Scene& scene, double balls, double from) {
    const auto fits = [&](double time) { return room_at(scene, time).volume() >= balls / kDensest; };
    if (can_be_left(scene.box) || !fits(from)) return std::nullopt;
    for (const double end : ends_of(scene)) {
        if (end <= from || fits(end)) {
            from = std::max(from, end);
            continue;
        }
        double late = end;
        // To the last bit: of a wall that is fast without measure the time is as short.
        for (double middle = 0.5 * (from + late); middle > from && middle < late; middle = 0.5 * (from + late)) {
            (fits(middle) ? from : late) = middle;
        }
        return Squeeze{late, end};
    }
    return std::nullopt;
}

/// A wall's speed as the scene has it: its own, which stages may have from it, or that of one stage.
struct SpeedKey {
    std::size_t wall = 0;
    std::optional<std::size_t> stage = {};
    double speed = 0.0;
};

/// Of the wall that moves in fastest at a time.
SpeedKey fastest_at(const Scene& scene, double time) {
    SpeedKey key;
    key.speed = -std::numeric_limits<double>::infinity();
    const std::size_t stage = stage_at(scene, time);
    for (std::size_t wall = 0; wall < scene.walls.size(); ++wall) {
        const double own = scene.walls[wall].velocity;
        const double now = scene.stages.empty() ? own : scene.stages[stage].wall_velocity[wall];
        if (!(now > key.speed)) continue;
        key = {wall, {}, now};
        if (now != own) key.stage = stage;
    }
    return key;
}

Scene with_speed(Scene scene, const SpeedKey& key, double speed) {
    if (key.stage) {
        scene.stages[*key.stage].wall_velocity[key.wall] = speed;
        return scene;
    }
    for (Stage& stage : scene.stages) {
        double& of_stage = stage.wall_velocity[key.wall];
        if (of_stage == key.speed) of_stage = speed;
    }
    scene.walls[key.wall].velocity = speed;
    return scene;
}

/// The fastest with which room is left until the end; 0 where other walls take it all the same.
double possible_speed(const Scene& scene, const SpeedKey& key, double balls, double from) {
    double possible = 0.0;
    double too_fast = key.speed;
    const auto fits = [&](double speed) { return !find_squeeze(with_speed(scene, key, speed), balls, from); };
    if (!fits(0.0)) return 0.0;
    // By factors first: what is possible may be a trillionth of what is asked for.
    double less = too_fast;
    while (less > std::numeric_limits<double>::min() && !fits(less)) {
        too_fast = less;
        less *= 0.5;
    }
    possible = less;
    constexpr int kDigits = 20;  // binary, of what is told with four
    for (int k = 0; k < kDigits; ++k) {
        const double middle = 0.5 * (possible + too_fast);
        (fits(middle) ? possible : too_fast) = middle;
    }
    return possible;
}

/// Where moving planes leave the balls no room before the run ends: which, and from when on; one sentence. Nothing is
/// told of boxes that balls can leave.
/// \param balls  their volume (area in 2D) together [length^d]
/// \param from   time at which the run begins
std::vector<std::string> room_warnings(const Scene& scene, double balls, double from) {
    const auto squeeze = find_squeeze(scene, balls, from);
    if (!squeeze) return {};
    const std::vector<Wall> before = walls_at(scene, squeeze->when);
    const std::vector<Wall> after = walls_at(scene, squeeze->end);
    std::string who;
    for (std::size_t wall = 0; wall < after.size(); ++wall) {
        if (!(stands_at(after[wall]) > stands_at(before[wall]))) continue;
        who += fmt::format("{}wall[{}]", who.empty() ? "" : " and ", wall);
    }
    return {fmt::format("{} leaves the balls no room from t = {:.4g} on", who, squeeze->when)};
}

/// The same for balls that no wall can press into each other: such a run would go on through ever more collisions, and
/// never come to its end. Parameters as room_warnings.
/// \throws InputError  with the key, the speed, and what is possible
void require_room(const Scene& scene, double balls, double from) {
    const auto squeeze = find_squeeze(scene, balls, from);
    if (!squeeze) return;
    const SpeedKey key = fastest_at(scene, squeeze->when);
    const std::string name =
        key.stage ? fmt::format("stage[{}].wall_velocity", *key.stage) : fmt::format("wall[{}].velocity", key.wall);
    const double possible = possible_speed(scene, key, balls, from);
    const std::string unit = scene.units.behind("m/s");
    throw InputError(fmt::format(
        "{}: wall[{}] moves in at {:.4g}{} and leaves the hard balls no room from t = {:.4g} on, but the run ends at "
        "{:.6g}; possible: {}run.until below {:.4g}",
        scene.label(name), key.wall, key.speed, unit, squeeze->when, scene.run.until,
        possible > 0.0 ? fmt::format("less than {:.4g}{}, or ", possible, unit) : "", squeeze->when));
}

/// The balls are measured here, for all of the run.
void plan_run(PreparedScene& run, int threads) {
    MeasuredBalls balls = measure_balls(run.scene, run.state);
    run.species = std::make_shared<const SpeciesById>(std::move(balls.species_of));
    run.figures = balls;
    run.threads = threads;
    run.plan = make_plan(run.scene, run.state, balls, threads);
}

/// Rows of many balls cost more than the steps between them: where the scene does not say how often, so seldom that
/// they are a twentieth of the run, or a second of it, but ten rows. Wholes of run.until / 1000, as people count.
void space_rows(PreparedScene& run) {
    constexpr double kSecondsPerBall = 60e-9;  // of a row, where many balls are in no cache
    constexpr double kSeconds = 1.0;           // of all rows, that nobody minds
    constexpr double kSteps = 80.0;            // of `spring`, of which a row costs a twentieth
    constexpr double kMeanFreeTimes = 2.0;     // of `events`, likewise
    constexpr double kThinned[] = {1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0};
    if (run.scene.sources->has("output.observables_every") || run.scene.run.until <= 0.0) return;
    const double until = run.scene.run.until;
    const double dt = run.plan->least_interval();
    const double interval = dt > 0.0 ? kSteps * dt : kMeanFreeTimes * mean_free_time(run);
    const double few = kSeconds / (kSecondsPerBall * static_cast<double>(run.state.ball_count()));
    const double rows = interval > 0.0 ? std::max(few, until / interval) : std::numeric_limits<double>::infinity();
    for (const double thinned : kThinned) {
        run.scene.output.observables_every = thinned * until / 1000.0;
        if (1000.0 / thinned <= rows) return;
    }
}

/// Where the interval of the rows follows from the end of the run, and that has been moved, rows go on at the interval
/// that they began with: the means over them would else begin anew.
void keep_row_interval(PreparedScene& run, const Checkpoint& checkpoint, std::vector<std::string> overrides) {
    const std::optional<double> began_with = saved_row_interval(run.state);
    if (!began_with) return space_rows(run);
    if (*began_with == run.scene.output.observables_every) return;
    constexpr double kMostRows = 1e15;  // beyond, the next whole number is none of a double's
    const bool usable = std::isfinite(*began_with) && *began_with >= 0.0 &&
                        (*began_with == 0.0 || run.scene.run.until <= kMostRows * *began_with);
    if (!usable) throw DamagedState(fmt::format("its rows have an interval of {}", *began_with));
    overrides.push_back(fmt::format("run.until={}", 2.0 * run.scene.run.until));
    const Scene later = parse_scene(checkpoint.scene_source, checkpoint.scene_path, overrides);
    const bool follows = later.output.observables_every != run.scene.output.observables_every;
    if (follows) run.scene.output.observables_every = *began_with;
}

void require_hope(const PreparedScene& run, const SceneRequest& request) {
    const std::string hopeless = run.plan->hopeless();
    if (!hopeless.empty() && !request.force) throw InputError(hopeless + "; carom run --force insists");
}

/// All that follows from scene and state.
void derive(PreparedScene& run) {
    const std::size_t balls = run.state.ball_count();
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
    run.host_memory_bytes = memory_beside_solver(run.scene.dimension(), balls, run.frames) + averages.most_bytes();
    if (plan.processor() == "cpu") {
        run.memory_bytes = run.host_memory_bytes += run.memory_bytes;
    } else {
        run.host_memory_bytes += memory_of_copies(run.scene.dimension(), balls);
    }

    SolverDescription description;
    description.precision = plan.precision();
    TrajectoryHeader header = make_trajectory_header(run.scene, run.state.balls.species_table, *run.species,
                                                     description, observable_infos(run.scene, run.figures));
    header.averages = averages.infos();
    run.output_bytes = estimate_trajectory_bytes(header, run.frames, run.rows);
    if (balls == 0) run.warnings.emplace_back("the scene has no balls: a [[ball]] or a [[fill]] would be some");
    std::ranges::move(plan.warnings(), std::back_inserter(run.warnings));
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
    run.scene = parse_scene(scene.text, scene.path, request.overrides, ball_reader(request.typed, request.inputs));
    if (request.in_parts && !needs_all_balls(run.scene)) run.state.parts = balls_in_parts(run.scene);
    if (run.state.parts != nullptr) {
        run.state.balls.dimension = run.scene.dimension();
        run.state.balls.species_table = run.state.parts->species_table();
    } else {
        if (request.while_placing) run.scene.while_placing = request.while_placing;
        run.state.balls = make_balls(run.scene);
        run.scene.while_placing = [] {};
    }
    plan_run(run, request.threads);
    require_hope(run, request);
    // What the run needs of them it has; the scene keeps what they were read from.
    for (LoadEntry& load : run.scene.loads) {
        auto placed = std::make_shared<LoadedBalls>(*load.loaded);
        placed->balls.reset();
        load.loaded = std::move(placed);
    }
    if (request.steps) {
        // The step is known only now; what has its default from run.until must see the new one.
        auto overrides = request.overrides;
        overrides.push_back(fmt::format("run.until={}", run.plan->time_of_step(*request.steps)));
        const Scene before = std::move(run.scene);
        run.scene = parse_scene(scene.text, scene.path, overrides,
                                [&before](const Scene&, std::size_t load) { return before.loads[load].loaded; });
    }
    space_rows(run);
    derive(run);
    return run;
}

namespace {

/// What may be another from the checkpoint on, to the same bits of all else.
constexpr std::array<std::string_view, 4> kHarmless{"run.until", "run.backend", "output.every",
                                                    "output.observables_every"};

/// A new run from the balls of a checkpoint, from time 0 on, in a scene of which something is another.
PreparedScene begin_from(const std::string& path, Checkpoint& checkpoint, const SceneRequest& request) {
    constexpr std::array<std::string_view, 9> kTables{"physics.", "spring.",     "events.", "run.", "output.",
                                                      "wall[",    "thermostat.", "observe", "stage"};
    constexpr std::array<std::string_view, 3> kKeys{"scene.title", "scene.seed", "box.wall_temperature"};
    std::vector<std::string> changes;
    for (const std::string& override : request.overrides) {
        const std::string key = key_of_override(override);
        const bool possible =
            std::ranges::any_of(kTables, [&](std::string_view table) { return key.starts_with(table); }) ||
            std::ranges::any_of(kKeys, [&](std::string_view one) { return key.starts_with(one); });
        if (!possible) {
            throw InputError(
                fmt::format("--resume: {} cannot be changed, for the balls are those of {}; allowed: keys of "
                            "physics, spring, events, run, output, thermostat, wall, observe, stage, and {}",
                            key, path, fmt::join(kKeys, ", ")));
        }
        if (std::ranges::find(kHarmless, key) == kHarmless.end()) changes.push_back(override);
    }
    const Scene old = parse_scene(checkpoint.scene_source, checkpoint.scene_path);
    const auto moves = [](double velocity) { return velocity != 0.0; };
    const bool moved = std::ranges::any_of(old.walls, moves, &Wall::velocity) ||
                       std::ranges::any_of(old.stages, [&](const Stage& stage) {
                           return std::ranges::any_of(stage.wall_velocity, moves);
                       });
    if (moved) {
        throw InputError(
            fmt::format("--resume: {} cannot be changed, for walls have moved since the run began; allowed: {}",
                        key_of_override(changes[0]), fmt::join(kHarmless, ", ")));
    }
    std::vector<std::string> overrides = request.overrides;
    overrides.push_back("scene.history=" + visible(fmt::format("{}{}balls of {} at t = {:.10g}, with {}", old.history,
                                                               old.history.empty() ? "" : "; then ", path,
                                                               checkpoint.state.time, fmt::join(changes, " "))));
    PreparedScene run;
    run.scene = parse_scene(checkpoint.scene_source, checkpoint.scene_path, overrides);
    // Velocities of the spring solver belong half a step behind places, for the forces that were: here they are those
    // of one time.
    Frame frame;
    const auto solver = of_checkpoint(
        path, [&] { return make_plan(old, checkpoint.state, request.threads)->make_solver(checkpoint.state, ""); });
    solver->request_frame(frame);
    solver->finish_frame(frame);
    run.state.balls = std::move(checkpoint.state.balls);
    run.state.records.flown = true;
    Balls& balls = run.state.balls;
    for (int axis = 0; axis < balls.dimension; ++axis) {
        for (std::size_t id = 0; id < balls.size(); ++id) {
            const bool gone = balls.gone[id] != 0;  // and so nowhere
            balls.velocity[axis][id] = gone ? 0.0 : frame.velocity[axis][id];
            balls.position[axis][id] = gone ? 0.0 : balls.position[axis][id];
        }
    }
    plan_run(run, request.threads);
    require_hope(run, request);
    if (request.steps) {
        overrides.push_back(fmt::format("run.until={}", run.plan->time_of_step(*request.steps)));
        run.scene = parse_scene(checkpoint.scene_source, checkpoint.scene_path, overrides);
    }
    space_rows(run);
    derive(run);
    return run;
}

}  // namespace

PreparedScene prepare_resume(const std::string& checkpoint_path, const SceneRequest& request) {
    Checkpoint checkpoint = load_checkpoint(checkpoint_path, request.in_parts);
    const bool changed = std::ranges::any_of(request.overrides, [](const std::string& override) {
        return std::ranges::find(kHarmless, key_of_override(override)) == kHarmless.end();
    });
    const auto parse = [&checkpoint](const std::vector<std::string>& overrides) {
        return parse_scene(checkpoint.scene_source, checkpoint.scene_path, overrides);
    };
    if (request.in_parts && (changed || of_checkpoint(checkpoint_path, [&] { return needs_all_balls(parse({})); }))) {
        checkpoint = load_checkpoint(checkpoint_path);
    }
    of_checkpoint(checkpoint_path, [&] {
        try {
            require_possible(checkpoint.state, parse({}));
        } catch (const DamagedState&) {
            throw;
        } catch (const InputError& error) {
            throw DamagedState(fmt::format("its scene is wrong: {}", error.what()));
        }
    });
    if (changed) return begin_from(checkpoint_path, checkpoint, request);
    PreparedScene run;
    run.resumed_from = checkpoint_path;
    run.state = std::move(checkpoint.state);
    of_checkpoint(checkpoint_path, [&] {
        run.scene = parse(request.overrides);
        plan_run(run, request.threads);
        if (request.steps) {
            auto overrides = request.overrides;
            overrides.push_back(fmt::format("run.until={}", run.plan->time_of_step(*request.steps)));
            run.scene = parse(overrides);
        }
        keep_row_interval(run, checkpoint, request.overrides);
        derive(run);
    });
    if (run.plan->reachable_time(run.scene.run.until) <= run.state.time) {
        throw RunIsOver(
            fmt::format("--resume {}: the run is at time {} already, and is to end at {}; --until T goes on",
                        checkpoint_path, run.state.time, run.scene.run.until));
    }
    return run;
}

RankMemory memory_of_ranks(const PreparedScene& run, int ranks, const std::array<int, 3>& layers) {
    const SolverPlan::RankShare share = run.plan->share(ranks, layers);
    const int dimension = run.scene.dimension();
    const std::size_t balls = run.state.ball_count();
    const std::uint64_t each = kMemoryOfProgram + kMpiMemory + share.bytes +
                               memory_of_looking(run.scene, balls / static_cast<std::size_t>(ranks));
    const std::uint64_t alone = memory_of_parts(dimension, balls) + RunAverages(run, {}).most_bytes();
    RankMemory memory{ranks, share.layers, each + alone, each, ""};
    const auto takes = [&](std::uint64_t bytes, const char* why) {
        memory.rank_0 = std::max(memory.rank_0, each + bytes);
        memory.has_all = why;
    };
    if (run.state.parts == nullptr) takes(memory_of_dealing(dimension, balls), "they cannot be placed in parts");
    if (needs_all_balls(run.scene)) {
        takes(alone + observables_memory(run.scene, run.state), "values of rows by [[observe]] look at them");
    }
    return memory;
}

}  // namespace carom
