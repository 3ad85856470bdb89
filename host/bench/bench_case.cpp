#include "host/bench/bench_case.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "host/backends/spring_backends.hpp"
#include "host/bench/machine.hpp"
#include "host/io/replacement.hpp"
#include "host/run/run_loop.hpp"
#include "host/run/say.hpp"
#include "host/run/simulate.hpp"
#include "host/run/solver_plan.hpp"
#include "host/scene/load.hpp"
#include "host/scene/place.hpp"
#include "host/spring/spring_solver.hpp"
#include "host/state/errors.hpp"
#include "kernels/core/random.hpp"
#include "kernels/physics/pair_distribution.hpp"

namespace carom {

namespace {

constexpr double kRadius = 0.5;
constexpr double kCollisionsPerBall = 3.0;
constexpr double kLeastTime = 0.5;    // a dense lattice's balls collide often before they have gone anywhere
constexpr double kMeltingTime = 4.0;  // a dilute gas has forgotten its lattice once balls have flown a few spacings

/// The smallest distance to another ball, of a few balls: on a lattice it is that of all.
double lattice_distance(const Balls& balls) {
    constexpr std::size_t kSamples = 16;
    double least = std::numeric_limits<double>::infinity();
    const std::size_t count = balls.size();
    for (std::size_t k = 0; k < kSamples; ++k) {
        const std::size_t i = k * count / kSamples;
        for (std::size_t j = 0; j < count; ++j) {
            double squared = 0.0;
            for (int axis = 0; axis < balls.dimension; ++axis) {
                const double d = balls.position[axis][j] - balls.position[axis][i];
                squared += d * d;
            }
            if (j != i) least = std::min(least, squared);
        }
    }
    return std::sqrt(least);
}

/// A point uniform in the unit ball.
std::array<double, 3> in_unit_ball(std::uint64_t seed, std::uint64_t id, int dimension) {
    for (std::uint64_t attempt = 0;; attempt += 2) {
        const RandomWords first = random_words(seed, id, RandomPurpose::kShake, attempt);
        const RandomWords second = random_words(seed, id, RandomPurpose::kShake, attempt + 1);
        std::array<double, 3> point{2.0 * first.uniform(0) - 1.0, 2.0 * first.uniform(1) - 1.0, 0.0};
        if (dimension == 3) point[2] = 2.0 * second.uniform(0) - 1.0;
        if (point[0] * point[0] + point[1] * point[1] + point[2] * point[2] <= 1.0) return point;
    }
}

/// Two neighbours that each move by less than half of what is free between them do not meet; and back into the box is
/// never farther from a ball's site, since the site is in it and the box is convex.
void shake(Balls& balls, const Box& box, std::uint64_t seed) {
    constexpr double kShare = 0.98;
    if (balls.size() < 2) return;
    const double reach = 0.5 * kShare * std::max(0.0, lattice_distance(balls) - 2.0 * kRadius);
    for (std::size_t id = 0; id < balls.size(); ++id) {
        const auto move = in_unit_ball(seed, id, balls.dimension);
        for (int axis = 0; axis < balls.dimension; ++axis) {
            double& x = balls.position[axis][id];
            // A site may stand a rounding outside, against the wall.
            const double low = std::min(x, box.min[axis] + kRadius);
            const double high = std::max(x, box.min[axis] + box.size[axis] - kRadius);
            x = std::clamp(x + reach * move[axis], low, high);
        }
    }
}

/// Gives the balls other ids, so that neighbours' are far apart, as in most scenes; a lattice numbers them row by row,
/// and what goes by id would find its neighbour's beside it. Strides near the golden ratio of all scatter best (Knuth,
/// The Art of Computer Programming 3, 6.4), and one coprime to their number misses none.
void scatter_ids(Balls& balls) {
    constexpr double kGolden = 0.618033988749895;
    const std::size_t count = balls.size();
    auto stride = static_cast<std::size_t>(kGolden * static_cast<double>(count)) | 1U;
    while (std::gcd(stride, count) != 1) ++stride;
    std::vector<double> scattered(count);
    for (int axis = 0; axis < balls.dimension; ++axis) {
        for (auto* values : {&balls.position[axis], &balls.velocity[axis]}) {
            for (std::size_t k = 0, id = 0; k < count; ++k, id = (id + stride) % count) scattered[id] = (*values)[k];
            values->swap(scattered);
        }
    }
}

/// \returns whether it came to its end
bool melt(PlacedGas& gas, double seconds, const std::function<int()>& interrupted) {
    const auto start = std::chrono::steady_clock::now();
    Scene scene = gas.scene;
    scene.run.solver = SolverKind::kEvents;
    const auto solver = make_plan(scene, gas.state, 1)->make_solver(gas.state, "");
    const double wanted = 0.5 * kCollisionsPerBall * static_cast<double>(gas.state.balls.size());
    constexpr int kLooks = 100;
    bool melted = false;
    for (int k = 1; k <= kLooks && !melted; ++k) {
        while (!solver->advance_to(kMeltingTime * k / kLooks, 0.1)) {
            if (interrupted() != 0 || seconds_since(start) > seconds) return false;
        }
        const bool moved = solver->time() >= kLeastTime;
        melted = k == kLooks || (moved && static_cast<double>(solver->tallies().collisions) >= wanted);
    }
    Frame frame;
    solver->request_frame(frame);
    solver->finish_frame(frame);
    for (int axis = 0; axis < frame.dimension; ++axis) {
        gas.state.balls.position[axis] = frame.position[axis];
        gas.state.balls.velocity[axis] = frame.velocity[axis];
    }
    return true;
}

}  // namespace

std::string bench_scene_text(const BenchGas& gas) {
    const double n = static_cast<double>(gas.balls);
    const double ball = ball_volume(gas.dimension, kRadius);
    const double edge = std::pow(n * ball / gas.fraction, 1.0 / gas.dimension);
    // A temperature of 1 / dimension makes the root-mean-square speed 1. Balls touch the walls of a crystal otherwise.
    return fmt::format(
        "[scene]\ndimension = {}\nseed = 1\n[box]\nsize = [{}]\n[spring]\nstiffness = {}\n"
        "[[fill]]\ncount = {}\nradius = {}\nmass = 1.0\narrangement = \"lattice\"\ntemperature = {}\n",
        gas.dimension,
        gas.dimension == 2 ? fmt::format("{0:.17g}, {0:.17g}", edge)
                           : fmt::format("{0:.17g}, {0:.17g}, {0:.17g}", edge),
        kBenchStiffness, gas.balls, kRadius, 1.0 / gas.dimension);
}

PlacedGas place_gas(const BenchGas& gas, double seconds, const std::function<int()>& interrupted) {
    PlacedGas placed;
    auto start = std::chrono::steady_clock::now();
    placed.scene = parse_scene(bench_scene_text(gas), "bench");
    placed.state.balls = make_balls(placed.scene);
    shake(placed.state.balls, placed.scene.box, placed.scene.seed);
    scatter_ids(placed.state.balls);
    placed.lattice_seconds = seconds_since(start);
    start = std::chrono::steady_clock::now();
    const bool melted = gas.balls <= kMostMelted && melt(placed, seconds, interrupted);
    placed.melting_seconds = seconds_since(start);
    placed.start = melted ? "melted" : "shaken lattice";
    return placed;
}

namespace {

double seconds_of(const std::function<void(std::uint64_t)>& advance, std::uint64_t steps) {
    const auto start = std::chrono::steady_clock::now();
    advance(steps);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Rate rate_of(std::vector<double> per_second) {
    std::ranges::sort(per_second);
    const std::size_t n = per_second.size();
    Rate rate;
    rate.median = n % 2 == 1 ? per_second[n / 2] : 0.5 * (per_second[n / 2 - 1] + per_second[n / 2]);
    rate.least = per_second.front();
    rate.most = per_second.back();
    rate.repeats = static_cast<int>(n);
    return rate;
}

Rate scaled(Rate rate, double factor) {
    rate.median *= factor;
    rate.least *= factor;
    rate.most *= factor;
    return rate;
}

Measured measure(const std::function<void(std::uint64_t)>& advance, const MeasureOptions& options) {
    Measured measured;
    // Twice as many steps each time: the last stretch is a quarter of a repeat or more, and as much came before it.
    double pace = 0.0;
    std::uint64_t warmed = 0;
    for (std::uint64_t steps = 1;; steps *= 2) {
        if (options.interrupted() != 0) throw SystemError("interrupted");
        const double took = seconds_of(advance, steps);
        warmed += steps;
        measured.seconds += took;
        pace = took / static_cast<double>(steps);
        if (took >= 0.25 * options.repeat_seconds) break;
    }
    if (warmed < options.warm_steps) measured.seconds += seconds_of(advance, options.warm_steps - warmed);

    measured.steps =
        std::max(options.least_steps, static_cast<std::uint64_t>(std::ceil(options.repeat_seconds / pace)));
    if (options.interrupted() != 0) throw SystemError("interrupted");
    std::vector<double> rates;
    const auto goes_on = [&] { return measured.seconds < options.most_seconds && options.interrupted() == 0; };
    for (int repeat = 0; repeat < options.repeats && (repeat == 0 || goes_on()); ++repeat) {
        const double took = seconds_of(advance, measured.steps);
        measured.seconds += took;
        rates.push_back(static_cast<double>(measured.steps) / took);
    }
    measured.steps_per_second = rate_of(std::move(rates));
    return measured;
}

namespace {

namespace fs = std::filesystem;

constexpr double kFrames = 20.0;
constexpr int kMostRepeats = 3;  // each is a whole run, three times

std::string make_temporary_folder() {
    std::string path = (fs::temp_directory_path() / "carom-bench-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) throw SystemError("cannot make a folder like " + path);
    return path;
}

/// A folder that goes away with all that is in it.
class TemporaryFolder {
public:
    TemporaryFolder() = default;
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] std::string scene() const { return path_ + "/gas.toml"; }
    [[nodiscard]] OutputFiles outputs() const { return {path_ + "/gas.h5", path_ + "/gas.checkpoint.h5"}; }

private:
    const std::string path_ = make_temporary_folder();
    // However the bench ends.
    const PassingName folder_{path_};
    const PassingName scene_{scene()};
    const PassingName trajectory_{outputs().trajectory};
    const PassingName checkpoint_{outputs().checkpoint};
};

PreparedScene prepare(const BenchCase& what, const std::string& scene, std::uint64_t steps) {
    SceneRequest request;
    request.scene = scene;
    request.overrides = {"run.backend=" + what.backend,
                         std::string("run.precision=") + (what.double_precision ? "double" : "single")};
    request.steps = steps;
    request.threads = what.threads;
    PreparedScene run = prepare_scene(request);
    run.scene.output.every = run.scene.run.until / kFrames;
    run.scene.output.observables_every = run.scene.run.until / kFrames;
    return run;
}

}  // namespace

BenchRow output_case(const BenchCase& what, const BenchRequest& request, const std::function<int()>& interrupted) {
    BenchRow row{.what = what, .start = "lattice"};
    const TemporaryFolder folder;
    const std::string scene = folder.scene();
    std::ofstream(scene) << bench_scene_text(*what.gas);

    // How many steps fill the time, from a few.
    constexpr double kRepeatsLong = 5.0;
    const double wanted = kRepeatsLong * request.repeat_seconds();
    double kernel_rate = 0.0;
    {
        const PreparedScene run = prepare(what, scene, 1);
        const auto solver = run.plan->make_solver(run.state, "");
        MeasureOptions options{.repeat_seconds = request.repeat_seconds(), .repeats = kMostRepeats};
        options.least_steps = 100;
        options.interrupted = interrupted;
        const Measured measured = measure(
            [&](std::uint64_t steps) { solver->advance_to(run.plan->time_of_step(solver->step() + steps), 1e9); },
            options);
        kernel_rate = measured.steps_per_second.median;
    }
    row.steps = std::max<std::uint64_t>(100, static_cast<std::uint64_t>(wanted * kernel_rate));

    const double work = static_cast<double>(what.gas->balls) * static_cast<double>(row.steps);
    std::vector<double> without;
    std::vector<double> with;
    double start_seconds = 0.0;
    double loop_seconds = 0.0;
    std::uintmax_t bytes = 0;
    for (int repeat = 0; repeat < std::min(kMostRepeats, request.repeats_or_default()); ++repeat) {
        if (interrupted() != 0) throw SystemError("interrupted");
        PreparedScene run = prepare(what, scene, row.steps);
        auto begin = std::chrono::steady_clock::now();
        const MemoryRun memory = run_in_memory(std::move(run), interrupted);
        if (!memory.outcome.error.empty()) throw SimulationError(memory.outcome.error);
        if (memory.outcome.signal != 0) throw SystemError("interrupted");
        without.push_back(work / seconds_since(begin));

        run = prepare(what, scene, row.steps);
        const OutputFiles files = folder.outputs();
        begin = std::chrono::steady_clock::now();
        const Simulation simulation = simulate(std::move(run), {.files = files, .force = true, .quiet = true});
        if (!simulation.outcome.error.empty()) throw SimulationError(simulation.outcome.error);
        if (simulation.outcome.signal != 0) throw SystemError("interrupted");
        const double total = seconds_since(begin);
        with.push_back(work / total);
        loop_seconds = simulation.outcome.wall_seconds;
        start_seconds = total - loop_seconds;
        bytes = fs::file_size(files.trajectory);
    }
    row.rate = rate_of(with);
    row.more = {{"kernel_ball_steps_per_second", kernel_rate * static_cast<double>(what.gas->balls)},
                {"without_output_ball_steps_per_second", rate_of(without).median},
                {"with_output_ball_steps_per_second", row.rate.median},
                {"frames", kFrames + 1.0},
                {"output_bytes", static_cast<double>(bytes)},
                {"loop_seconds", loop_seconds},
                {"seconds_beside_loop", start_seconds}};
    return row;
}

namespace {

constexpr double kPatience = 1e9;  // advance_to comes back only when it is there

/// The scene of the case: that of the gas, for this solver, precision and processor.
Scene scene_of(const BenchCase& what, const PlacedGas& gas) {
    Scene scene = gas.scene;
    scene.run.solver = what.rung == BenchRung::kEvents ? SolverKind::kEvents : SolverKind::kSpring;
    scene.run.precision = what.double_precision ? Precision::kDouble : Precision::kSingle;
    scene.run.backend = what.backend == "cuda" ? BackendChoice::kCuda : BackendChoice::kCpu;
    return scene;
}

void require_memory(std::uint64_t bytes) {
    const std::uint64_t free = available_memory();
    if (bytes > free) {
        throw SystemError(fmt::format("needs {} of memory, and {} are free", bytes_text(bytes), bytes_text(free)));
    }
}

BenchRow copy_case(const BenchCase& what, const MeasureOptions& options) {
    BenchRow row{.what = what};
    PowerMeter meter(what.backend);
    const auto engine = make_copy_ladder(what.backend, copy_array_bytes(what.backend), what.threads);
    meter.start();
    const Measured measured = measure([&](std::uint64_t copies) { engine->advance(copies); }, options);
    row.more = meter.stop();
    row.measured_seconds = measured.seconds;
    row.steps = measured.steps;
    row.rate = scaled(measured.steps_per_second, engine->streamed_bytes());
    row.more.emplace_back("array_bytes", 0.5 * engine->streamed_bytes());
    return row;
}

BenchRow ladder_case(const BenchCase& what, PlacedGas& gas, const MeasureOptions& options) {
    BenchRow row{.what = what, .start = gas.start};
    const Balls& balls = gas.state.balls;
    const Scene scene = scene_of(what, gas);
    const SpringSetup setup = spring_setup(scene, design_spring(scene, balls), what.threads);
    const BallProperties properties(balls);
    const RawBalls raw = properties.of(balls);

    const LadderRung rung = what.rung == BenchRung::kTextbook ? LadderRung::kTextbook : LadderRung::kIntegrate;
    PowerMeter meter(what.backend);
    const auto engine = make_ladder(what.backend, rung, setup, raw);
    meter.start();
    const Measured measured = measure([&](std::uint64_t steps) { engine->advance(steps); }, options);
    row.more = meter.stop();
    row.measured_seconds = measured.seconds;
    const auto n = static_cast<double>(balls.size());
    row.steps = measured.steps;
    row.rate = scaled(measured.steps_per_second, n);
    row.bytes_counted = bytes_counted(what.gas->dimension, what.double_precision);
    row.bytes_streamed = engine->streamed_bytes() / n;
    row.more.emplace_back("memory_bytes_per_ball", static_cast<double>(engine->memory_bytes()) / n);
    return row;
}

/// Cells of the grid that the spring solver makes, by ball.
double cells_per_ball(const SpringSetup& setup, const BallSizes& sizes) {
    const double diameter = 2.0 * sizes.largest_radius;
    const double margin = choose_margin(setup, diameter, sizes.fastest);
    double cells = 1.0;
    if (setup.dimension == 2) {
        const auto along = plan::count_cells<2>(setup, sizes.count, diameter, margin);
        for (int axis = 0; axis < 2; ++axis) cells *= along[axis];
    } else {
        const auto along = plan::count_cells<3>(setup, sizes.count, diameter, margin);
        for (int axis = 0; axis < 3; ++axis) cells *= along[axis];
    }
    return cells / static_cast<double>(sizes.count);
}

BenchRow spring_case(const BenchCase& what, const PlacedGas& gas, MeasureOptions options) {
    BenchRow row{.what = what, .start = gas.start};
    const Scene scene = scene_of(what, gas);
    const auto plan = make_plan(scene, gas.state, what.threads);
    if (plan->processor() == "cpu") require_memory(plan->memory_bytes());
    PowerMeter meter(what.backend);
    const auto solver = plan->make_solver(gas.state, "");
    const auto advance = [&](std::uint64_t steps) {
        solver->advance_to(plan->time_of_step(solver->step() + steps), kPatience);
    };
    // A shaken lattice has fewer contacts than the gas that becomes of it; longer than this no case can wait.
    if (gas.start != "melted") options.warm_steps = 3 * options.least_steps;
    const std::uint64_t sorts_before = solver->tallies().sorts;
    meter.start();
    const Measured measured = measure(advance, options);
    row.more = meter.stop();
    row.measured_seconds = measured.seconds;

    const auto n = static_cast<double>(gas.state.balls.size());
    const std::uint64_t sorts = solver->tallies().sorts - sorts_before;
    row.steps = measured.steps;
    row.rate = scaled(measured.steps_per_second, n);
    row.contacts_per_ball = 2.0 * static_cast<double>(solver->totals().contacts) / n;
    if (sorts > 0) row.steps_between_sorts = static_cast<double>(solver->step()) / static_cast<double>(sorts);
    row.bytes_counted = bytes_counted(what.gas->dimension, what.double_precision);
    if (what.backend == "cuda") {
        const MeasuredBalls balls = measure_balls(scene, gas.state.balls);
        const SpringSetup setup = spring_setup(scene, design_spring(scene, balls), what.threads);
        row.bytes_streamed = bytes_streamed_by_cell_walk(what.gas->dimension, what.double_precision,
                                                         cells_per_ball(setup, ball_sizes(balls)),
                                                         row.steps_between_sorts.value_or(0.0));
    }
    const double dt = solver->describe().dt;
    row.seconds_per_time = 1.0 / (dt * measured.steps_per_second.median);
    row.more.emplace_back("dt", dt);
    row.more.emplace_back("memory_bytes_per_ball", static_cast<double>(solver->describe().memory_bytes) / n);
    return row;
}

BenchRow events_case(const BenchCase& what, const PlacedGas& gas, const MeasureOptions& options) {
    BenchRow row{.what = what, .start = gas.start};
    const Scene scene = scene_of(what, gas);
    const auto plan = make_plan(scene, gas.state, 1);
    require_memory(plan->memory_bytes());
    const auto solver = plan->make_solver(gas.state, "");
    // It has no steps: time is counted in ticks instead, short enough that a million balls do one in a moment.
    const auto n = static_cast<double>(gas.state.balls.size());
    constexpr double kTick = 1e-4;
    PowerMeter meter("cpu");
    double reached = 0.0;
    const auto advance = [&](std::uint64_t ticks) {
        reached += kTick * static_cast<double>(ticks);
        solver->advance_to(reached, kPatience);
    };
    advance(1);
    meter.start();
    const std::uint64_t events_before = solver->step();
    const std::uint64_t collisions_before = solver->tallies().collisions;
    const double time_before = solver->time();
    const Measured measured = measure(advance, options);
    row.more = meter.stop();
    row.measured_seconds = measured.seconds;
    const double events_per_tick =
        static_cast<double>(solver->step() - events_before) * kTick / (solver->time() - time_before);
    const double collisions_per_tick =
        static_cast<double>(solver->tallies().collisions - collisions_before) * kTick / (solver->time() - time_before);
    row.steps = static_cast<std::uint64_t>(events_per_tick * static_cast<double>(measured.steps));
    row.rate = scaled(measured.steps_per_second, events_per_tick);
    row.seconds_per_time = 1.0 / (kTick * measured.steps_per_second.median);
    row.more.emplace_back("collisions_per_second", collisions_per_tick * measured.steps_per_second.median);
    row.more.emplace_back("collisions_per_ball_and_time", 2.0 * collisions_per_tick / (kTick * n));
    row.more.emplace_back("memory_bytes_per_ball", static_cast<double>(solver->describe().memory_bytes) / n);
    return row;
}

}  // namespace

std::uint64_t least_steps(BenchRung rung) {
    switch (rung) {
        case BenchRung::kSpring:
            return 100;  // a sort comes every 40 to 100 steps
        case BenchRung::kIntegrate:
            return 4;
        default:
            return 2;
    }
}

BenchRow run_case(const BenchCase& what, PlacedGas* gas, const BenchRequest& request, double most_seconds,
                  const std::function<int()>& interrupted) {
    if (what.rung == BenchRung::kOutput) return output_case(what, request, interrupted);
    const std::uint64_t least = least_steps(what.rung);
    const MeasureOptions options{.repeat_seconds = request.repeat_seconds(),
                                 .repeats = request.repeats_or_default(),
                                 .most_seconds = most_seconds,
                                 .least_steps = least,
                                 .warm_steps = least,
                                 .interrupted = interrupted};
    if (what.rung == BenchRung::kCopy) return copy_case(what, options);
    if (what.rung == BenchRung::kSpring) return spring_case(what, *gas, options);
    if (what.rung == BenchRung::kEvents) return events_case(what, *gas, options);
    return ladder_case(what, *gas, options);
}

}  // namespace carom
