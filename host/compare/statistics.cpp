#include "host/compare/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "host/compare/gas_checks.hpp"
#include "host/events/events_solver.hpp"
#include "host/run/events_plan.hpp"
#include "host/run/text.hpp"
#include "host/scene/design.hpp"
#include "host/state/errors.hpp"
#include "kernels/physics/equation_of_state.hpp"

namespace carom {

namespace {

constexpr std::size_t kLeastBalls = 200;
constexpr double kSettle = 20.0;  // collisions a ball before anything is measured: kurtosis is right to 0.1 %
constexpr int kBlocks = 20;
constexpr double kBlock = 5.0;  // collisions a ball in a block, where that can be paid for
constexpr double kLeastBlock = 1.0;
constexpr int kSnapshotBlocks = 2;     // 10 collisions a ball between snapshots of speeds, where that can be paid for
constexpr double kSampleSteps = 25.0;  // half a contact at the default step: contacts differ from sample to sample

/// Hard balls of the soft diameter, between walls that stand where soft walls turn balls back.
void shrink(Scene& scene, SolverState& state, double loss, double wall_loss) {
    for (Species& species : scene.species) species.radius -= 0.5 * loss;
    for (Species& species : state.balls.species_table) species.radius -= 0.5 * loss;
    const double back = wall_loss - 0.5 * loss;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(scene.dimension()); ++axis) {
        if (scene.box.periodic(static_cast<int>(axis))) continue;
        scene.box.min[axis] -= back;
        scene.box.size[axis] += 2.0 * back;
    }
    scene.run.solver = SolverKind::kEvents;
}

double collisions_per_ball(const EventsSolver& solver, std::size_t balls) {
    return 2.0 * static_cast<double>(solver.statistics().ball_collisions) / static_cast<double>(balls);
}

/// Collisions per ball and time once the gas has settled, and when that was.
/// \param chunk  a time that is short against that between collisions
std::pair<double, double> settle(const Scene& scene, const SolverState& state, double chunk,
                                 const CompareContext& context) {
    EventsSolver solver(events_setup(scene), state);
    const std::size_t balls = state.balls.size();
    constexpr int kChunks = 1000;  // each at most doubled: more than any gas needs
    double time = 0.0;
    double settled = 0.0;
    double before = 0.0;
    double last = 0.0;
    for (int k = 0; k < kChunks && std::isfinite(time); ++k) {
        context.advance(solver, time += chunk);
        const double now = collisions_per_ball(solver, balls);
        if (now - last < 0.5) chunk *= 2.0;
        last = now;
        if (settled == 0.0 && now >= kSettle) {
            settled = time;
            before = now;
        } else if (settled > 0.0 && now >= before + 2.0 * kBlock) {
            return {(now - before) / (time - settled), settled};
        }
    }
    return {0.0, 0.0};
}

}  // namespace

std::string no_gas(const Scene& scene, const Balls& balls) {
    if (balls.size() < kLeastBalls) {
        return fmt::format("{} are no gas: statistics need at least {}", plural(balls.size(), "ball"), kLeastBalls);
    }
    const Physics& physics = scene.physics;
    if (physics.restitution < 1.0 || physics.wall_restitution < 1.0 ||
        (scene.spring.damping && *scene.spring.damping > 0.0)) {
        return "a gas that loses energy has no equilibrium to hold against theory";
    }
    for (const double g : physics.gravity) {
        if (g != 0.0) return "under gravity density depends on height: theory of a uniform gas does not hold";
    }
    if (!scene.walls.empty()) return "with walls inside the box its free volume is not known";
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(scene.dimension()); ++axis) {
        for (const Face face : scene.box.faces[axis]) {
            if (face == Face::kOpen) return "a gas that escapes through an open face has no equilibrium";
        }
    }
    for (std::size_t ball = 0; ball < balls.size(); ++ball) {
        if (std::isinf(balls.species_of(ball).mass)) return "balls of infinite mass are in the way of a uniform gas";
    }
    return "";
}

Findings statistics_section(const PreparedScene& run, const CompareContext& context,
                            std::optional<GasStatistics>& result) {
    Findings section{.name = "statistics"};
    const std::size_t balls = run.state.balls.size();
    if (const std::string why = no_gas(run.scene, run.state.balls); !why.empty()) {
        section.notes.push_back("not compared: " + why);
        return section;
    }
    const SpringDesign design = design_spring(run.scene, run.state.balls);
    Scene scene = run.scene;
    scene.spring.dt = design.dt;
    scene.spring.stiffness = design.stiffness;
    scene.spring.wall_stiffness = design.wall_stiffness;
    const int dimension = scene.dimension();

    GasStatistics gas;
    gas.dimension = dimension;
    Scene hard_scene = scene;
    SolverState hard_state = run.state;
    const double speed = design.rms_speed;
    double mean_mass = 0.0;
    for (std::size_t ball = 0; ball < balls; ++ball) {
        mean_mass += run.state.balls.species_of(ball).mass / static_cast<double>(balls);
    }
    // Only for the length of the run; the temperature itself is measured.
    const double guess = mean_mass * speed * speed / dimension;
    shrink(hard_scene, hard_state, soft_diameter_loss(guess, design.stiffness),
           soft_diameter_loss(guess, design.wall_stiffness));
    const auto [rate, settled] = settle(hard_scene, hard_state, 10.0 * design.contact_duration, context);
    if (!(rate > 0.0)) {
        section.notes.emplace_back("not compared: the balls hardly ever collide");
        return section;
    }

    // As long as can be paid for, up to 100 collisions a ball.
    const double affordable = context.work / static_cast<double>(balls) * design.dt * rate / kBlocks;
    const double block = std::clamp(affordable, kLeastBlock, kBlock);
    GasPlan& plan = gas.plan;
    plan.settle = settled;
    plan.block = block / rate;
    plan.blocks = kBlocks;
    plan.samples = static_cast<int>(std::clamp(plan.block / (kSampleSteps * design.dt), 1.0, 400.0));
    plan.blocks_per_snapshot = std::max(1, static_cast<int>(std::ceil(kSnapshotBlocks * kBlock / block)));
    plan.blocks_per_snapshot = std::min(plan.blocks_per_snapshot, kBlocks);
    context.say(fmt::format("statistics: {} over {:.3g} collisions each, of which {:.3g} are measured",
                            plural(balls, "ball"), (plan.settle + plan.block * plan.blocks) * rate,
                            plan.block * plan.blocks * rate));
    std::array<bool, 3> periodic{};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimension); ++axis) {
        periodic[axis] = scene.box.periodic(static_cast<int>(axis));
    }
    try {
        const std::unique_ptr<Solver> spring = context.make_spring(scene, run.state, context.threads);
        gas.spring = measure_gas(*spring, run.state.balls, periodic, scene.box.size, plan, context);
    } catch (const SimulationError& error) {
        section.checks.push_back({.name = "run",
                                  .verdict = Verdict::kBad,
                                  .words = std::string("the spring run could not go on: ") + error.what()});
        return section;
    }

    // The same with hard balls of the soft diameter at the temperature that the spring run has.
    const double temperature = estimate(gas.spring.temperature).mean;
    gas.loss = soft_diameter_loss(temperature, design.stiffness);
    hard_scene = scene;
    hard_state = run.state;
    shrink(hard_scene, hard_state, gas.loss, soft_diameter_loss(temperature, design.wall_stiffness));
    EventsSolver hard(events_setup(hard_scene), hard_state);
    // Hard balls only set the clock by their temperature: faster ones do the same sooner.
    const double kinetic = hard.totals().kinetic;
    const double hard_temperature = 2.0 * kinetic / (dimension * static_cast<double>(balls));
    const double slower = std::sqrt(temperature / hard_temperature);
    GasPlan hard_plan = plan;
    hard_plan.settle *= slower;
    hard_plan.block *= slower;
    hard_plan.samples = 1;
    context.advance(hard, hard_plan.settle);
    const double before = collisions_per_ball(hard, balls);
    gas.hard = measure_gas(hard, run.state.balls, periodic, hard_scene.box.size, hard_plan, context);
    gas.hard_rate = (collisions_per_ball(hard, balls) - before) / (plan.block * plan.blocks);

    section.notes.push_back(fmt::format(
        "{} precision; {} over {:.3g} time units after {:.3g}; T = {:.5g}; hard balls of the soft diameter are smaller "
        "by sqrt(pi T / 2k) = {:.3g}",
        run.plan->precision(), plural(balls, "ball"), plan.block * plan.blocks, plan.settle, temperature, gas.loss));
    section.notes.emplace_back(
        "+- is one standard error, from blocks; a figure is good within 4 of them and the stated bound on theory");
    const GasScene described{scene, hard_scene, run.state.balls, design};
    section.checks = gas_checks(gas, described, section.notes);
    result = std::move(gas);
    return section;
}

}  // namespace carom
