#include "host/bench/run_case.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "host/backends/ladder_backends.hpp"
#include "host/bench/machine.hpp"
#include "host/bench/measure.hpp"
#include "host/bench/output_case.hpp"
#include "host/bench/traffic.hpp"
#include "host/run/solver_plan.hpp"
#include "host/run/spring_plan.hpp"
#include "host/run/text.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

constexpr double kPatience = 1e9;  // advance_to comes back only when it is there

using Interrupted = std::function<int()>;

MeasureOptions options_for(const BenchCase& what, const BenchRequest& request, const Interrupted& interrupted) {
    MeasureOptions options;
    options.interrupted = interrupted;
    options.repeat_seconds = request.repeat_seconds();
    options.repeats = request.repeats_or_default();
    options.least_steps = least_steps(what.rung);
    options.warm_steps = options.least_steps;
    return options;
}

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

BenchRow copy_case(const BenchCase& what, const BenchRequest& request, const Interrupted& interrupted) {
    BenchRow row{.what = what};
    PowerMeter meter(what.backend);
    const auto engine = make_copy_ladder(what.backend, copy_array_bytes(what.backend), what.threads);
    meter.start();
    const Measured measured =
        measure([&](std::uint64_t copies) { engine->advance(copies); }, options_for(what, request, interrupted));
    row.more = meter.stop();
    row.measured_seconds = measured.seconds;
    row.steps = measured.steps;
    row.rate = scaled(measured.steps_per_second, engine->streamed_bytes());
    row.more.emplace_back("array_bytes", 0.5 * engine->streamed_bytes());
    return row;
}

BenchRow ladder_case(const BenchCase& what, PlacedGas& gas, const BenchRequest& request,
                     const Interrupted& interrupted) {
    BenchRow row{.what = what, .start = gas.start};
    Balls& balls = gas.state.balls;
    const Scene scene = scene_of(what, gas);
    const SpringSetup setup = spring_setup(scene, design_spring(scene, balls), what.threads);
    std::vector<double> radius(balls.size(), balls.species_table[0].radius);
    std::vector<double> inverse_mass(balls.size(), 1.0 / balls.species_table[0].mass);
    RawBalls raw;
    raw.count = balls.size();
    for (int axis = 0; axis < balls.dimension; ++axis) {
        raw.position[axis] = balls.position[axis].data();
        raw.velocity[axis] = balls.velocity[axis].data();
        raw.image[axis] = balls.image[axis].data();
    }
    raw.gone = balls.gone.data();
    raw.radius = radius.data();
    raw.inverse_mass = inverse_mass.data();

    const LadderRung rung = what.rung == BenchRung::kTextbook ? LadderRung::kTextbook : LadderRung::kIntegrate;
    PowerMeter meter(what.backend);
    const auto engine = make_ladder(what.backend, rung, setup, raw);
    meter.start();
    const Measured measured =
        measure([&](std::uint64_t steps) { engine->advance(steps); }, options_for(what, request, interrupted));
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

BenchRow spring_case(const BenchCase& what, const PlacedGas& gas, const BenchRequest& request,
                     const Interrupted& interrupted) {
    BenchRow row{.what = what, .start = gas.start};
    const Scene scene = scene_of(what, gas);
    const auto plan = make_plan(scene, gas.state, what.threads);
    if (plan->processor() == "cpu") require_memory(plan->memory_bytes());
    PowerMeter meter(what.backend);
    const auto solver = plan->make_solver(gas.state, "");
    const auto advance = [&](std::uint64_t steps) {
        solver->advance_to(plan->time_of_step(solver->step() + steps), kPatience);
    };
    MeasureOptions options = options_for(what, request, interrupted);
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
        const SpringSetup setup = spring_setup(scene, design_spring(scene, gas.state.balls), what.threads);
        row.bytes_streamed = bytes_streamed_by_cell_walk(what.gas->dimension, what.double_precision,
                                                         cells_per_ball(setup, ball_sizes(gas.state.balls)),
                                                         row.steps_between_sorts.value_or(0.0));
    }
    const double dt = solver->describe().dt;
    row.seconds_per_time = 1.0 / (dt * measured.steps_per_second.median);
    row.more.emplace_back("dt", dt);
    row.more.emplace_back("memory_bytes_per_ball", static_cast<double>(solver->describe().memory_bytes) / n);
    return row;
}

BenchRow events_case(const BenchCase& what, const PlacedGas& gas, const BenchRequest& request,
                     const Interrupted& interrupted) {
    BenchRow row{.what = what, .start = gas.start};
    const Scene scene = scene_of(what, gas);
    const auto plan = make_plan(scene, gas.state, 1);
    require_memory(plan->memory_bytes());
    const auto solver = plan->make_solver(gas.state, "");
    // It has no steps: time is counted in ticks instead, short enough that a million balls do one in a moment.
    const auto n = static_cast<double>(gas.state.balls.size());
    constexpr double kTick = 1e-4;
    MeasureOptions options = options_for(what, request, interrupted);
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

BenchRow run_case(const BenchCase& what, PlacedGas* gas, const BenchRequest& request,
                  const std::function<int()>& interrupted) {
    if (what.rung == BenchRung::kCopy) return copy_case(what, request, interrupted);
    if (what.rung == BenchRung::kOutput) return output_case(what, request, interrupted);
    if (what.rung == BenchRung::kSpring) return spring_case(what, *gas, request, interrupted);
    if (what.rung == BenchRung::kEvents) return events_case(what, *gas, request, interrupted);
    return ladder_case(what, *gas, request, interrupted);
}

}  // namespace carom
