#include "host/bench/gas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>

#include "host/run/solver_plan.hpp"
#include "host/scene/load.hpp"
#include "host/scene/place.hpp"
#include "kernels/core/random.hpp"

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

double since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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
            if (interrupted() != 0 || since(start) > seconds) return false;
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
    const double ball = gas.dimension == 2 ? std::numbers::pi * kRadius * kRadius
                                           : 4.0 / 3.0 * std::numbers::pi * kRadius * kRadius * kRadius;
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
    placed.lattice_seconds = since(start);
    start = std::chrono::steady_clock::now();
    const bool melted = gas.balls <= kMostMelted && melt(placed, seconds, interrupted);
    placed.melting_seconds = since(start);
    placed.start = melted ? "melted" : "shaken lattice";
    return placed;
}

}  // namespace carom
