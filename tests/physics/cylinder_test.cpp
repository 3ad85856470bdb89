#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "host/scene/walls.hpp"
#include "tests/support/driven_run.hpp"

namespace carom::test::cylinder_test {

/// A ball in a slanting pipe, whose open ends lie beyond the box: some bounces, and then its ends are still far away.
const char* const kSlanting = R"(
[scene]
dimension = 3
[box]
min = [-20.0, -20.0, -20.0]
size = [40.0, 40.0, 40.0]
[spring]
max_overlap = 0.0001
[run]
precision = "double"
until = 20.0
[[wall]]
shape = "cylinder"
center = [1.0, -0.5, 0.3]
axis = [2.0, -1.0, 2.0]
radius = 4.0
[[ball]]
radius = 0.5
mass = 2.0
position = [2.0, 1.0, 0.5]
velocity = [0.3, 0.9, -0.4]
)";
constexpr std::array<double, 3> kCenter{1.0, -0.5, 0.3};
constexpr std::array<double, 3> kAxis{2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0};

const std::vector<std::string> kEvents{"run.solver=\"events\""};
const std::vector<std::string> kSpring{"run.solver=\"spring\""};

/// Of the one ball, about the pipe's axis, per mass.
double angular_momentum(const Frame& frame) {
    std::array<double, 3> d{};
    std::array<double, 3> v{};
    for (std::size_t k = 0; k < 3; ++k) {
        d[k] = frame.position[k][0] - kCenter[k];
        v[k] = frame.velocity[k][0];
    }
    double sum = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
        const std::size_t l = (k + 1) % 3;
        const std::size_t m = (k + 2) % 3;
        sum += kAxis[k] * (d[l] * v[m] - d[m] * v[l]);
    }
    return sum;
}

double along_axis(const Frame& frame) {
    double sum = 0.0;
    for (std::size_t k = 0; k < 3; ++k) sum += kAxis[k] * frame.velocity[k][0];
    return sum;
}

TEST(Cylinder, KeepsEnergyAndMomentaAlongAndAboutItsAxis) {
    for (const auto& solver : {kEvents, kSpring}) {
        DrivenRun run(kSlanting, solver);
        const double angular = angular_momentum(run.frame());
        const double along = along_axis(run.frame());
        const double energy = run.solver().totals().energy();
        run.to(20.0);
        // Six bounces; those of springs last some 100 steps, each rounded, and end in the free flight after the step
        // that lets go: of second order in h w0 = pi / 50 for the energy, nothing for what the normal force leaves
        // alone.
        const double rounding = 6.0 * 100.0 * 16.0 * 0x1p-52;
        // A spring run's positions lie on a grid as fine as a double in the box, of 64 with its padding; a steady
        // velocity is off by up to half of that a step, for ever (docs/architecture.md), here for all of the flight.
        const double drift = solver == kEvents ? 0.0 : 0.5 * 64.0 * 0x1p-52 * static_cast<double>(run.scene().steps);
        EXPECT_NEAR(angular_momentum(run.frame()), angular, rounding * 4.0 + drift);
        EXPECT_NEAR(along_axis(run.frame()), along, rounding);
        EXPECT_NEAR(run.solver().totals().energy() / energy, 1.0, solver == kEvents ? rounding : 6.0 * 5e-4);
        EXPECT_GT(std::abs(run.solver().tallies().wall_impulse[WallNumber::entry(0).index()]), 3.0) << "it did bounce";
    }
}

TEST(Cylinder, IsTheSameForBothSolvers) {
    DrivenRun events(kSlanting, kEvents);
    DrivenRun spring(kSlanting, kSpring);
    events.to(20.0);
    spring.to(20.0);
    const Frame exact = events.frame();
    const Frame soft = spring.frame();
    // A contact lasts pi overlap / v, and turns the normal meanwhile: six times some ten overlaps of 5e-5, grown by the
    // curvature of six bounces.
    constexpr double kTolerance = 6.0 * 10.0 * 5e-5 * 4.0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        EXPECT_NEAR(soft.position[axis][0], exact.position[axis][0], kTolerance);
        EXPECT_NEAR(soft.velocity[axis][0], exact.velocity[axis][0], kTolerance);
    }
}

/// A gas between two cylinders along a periodic axis, the outer one warm.
const char* const kPipe = R"(
[scene]
dimension = 3
seed = 5
[box]
size = [8.0, 8.0, 9.0]
boundary = ["wall", "wall", "periodic"]
[run]
solver = "events"
until = 30.0
[[wall]]
shape = "cylinder"
center = [4.0, 4.0, 0.0]
axis = [0.0, 0.0, 1.0]
radius = 3.9
temperature = 1.0
[[wall]]
shape = "cylinder"
center = [4.0, 4.0, 0.0]
axis = [0.0, 0.0, -2.0]
radius = 1.0
side = "outside"
[[fill]]
radius = 0.3
mass = 1.0
count = 500
temperature = 0.3
)";

/// The least gap between balls and walls, over all of them [length].
double least_gap(const Scene& scene, const Frame& frame, double radius) {
    double least = 1e300;
    for (std::size_t id = 0; id < frame.size(); ++id) {
        const Vector3 place{frame.position[0][id], frame.position[1][id], frame.position[2][id]};
        for (const Boundary<3>& wall : all_walls(scene)) {
            least = std::min(least, wall_gap(wall, place).distance - radius);
        }
    }
    return least;
}

TEST(Cylinder, BallsArePlacedAndStayBeforeIt) {
    // The fill of 500 leaves random insertion enough room; that of 1500, 0.42 of it, is grown.
    for (const int count : {500, 1500}) {
        DrivenRun run(kPipe, {"fill[0].count=" + std::to_string(count), "run.until=1.0"});
        EXPECT_GE(least_gap(run.scene().scene, run.frame(), 0.3), -1e-12) << count;
        run.to(1.0);
        EXPECT_GE(least_gap(run.scene().scene, run.frame(), 0.3), -1e-9) << count;
    }
}

TEST(Cylinder, AThermalOneBringsAGasToItsTemperature) {
    DrivenRun run(kPipe);
    run.to(30.0);  // some twenty crossings of the pipe
    // 2 K / (3 N) of 500 balls has the variance 2 T^2 / (3 N): 0.037. Five sigma: false in 2e-6 of seeds.
    EXPECT_NEAR(run.temperature(), 1.0, 5.0 * std::sqrt(2.0 / (3.0 * 500.0)));
    EXPECT_GT(run.solver().tallies().wall_heat[WallNumber::entry(0).index()], 300.0);
    EXPECT_EQ(run.solver().tallies().wall_heat[WallNumber::entry(1).index()], 0.0);
    EXPECT_LT(std::abs(run.balance()), 1e-12);
}

}  // namespace carom::test::cylinder_test
