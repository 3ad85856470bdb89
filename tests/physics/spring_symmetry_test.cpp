#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "tests/support/spring_lab.hpp"

// The same physics elsewhere, backwards, and on a moving train.

namespace carom::test::spring_symmetry_test {

constexpr double kSpacing = 1.25;
constexpr int kRows = 5;
constexpr double kCloud = kRows * kSpacing;

/// 25 disks on a lattice, random velocities of about 1 without net momentum; the cloud's corner at the origin.
std::vector<LabBall> cloud(unsigned seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::vector<LabBall> balls;
    Triple mean{};
    for (int row = 0; row < kRows; ++row) {
        for (int column = 0; column < kRows; ++column) {
            LabBall ball;
            // places and speeds that every resolution in use holds exactly
            ball.x = {(column + 0.5) * kSpacing, (row + 0.5) * kSpacing, 0.0};
            for (int axis = 0; axis < 2; ++axis) ball.v[axis] = std::rint(normal(random) * 1024.0) / 1024.0;
            for (int axis = 0; axis < 2; ++axis) mean[axis] += ball.v[axis];
            balls.push_back(ball);
        }
    }
    for (int axis = 0; axis < 2; ++axis) balls[0].v[axis] -= mean[axis];
    return balls;
}

std::vector<LabBall> moved(std::vector<LabBall> balls, double x, double y) {
    for (auto& ball : balls) {
        ball.x[0] += x;
        ball.x[1] += y;
    }
    return balls;
}

SpringSetup gas_setup(double size, Side side, bool single) {
    SpringSetup setup = lab_setup(2, size, side);
    setup.double_precision = !single;
    setup.stiffness = setup.wall_stiffness = 4.0e4;
    setup.dt = 0.05 / std::sqrt(8.0e4);
    setup.design_speed = 4.0;
    return setup;
}

constexpr int kSteps = 5000;  // two or three collisions a ball

class Place : public ::testing::TestWithParam<bool> {
protected:
    [[nodiscard]] bool single() const { return GetParam(); }
};

TEST_P(Place, ABoxMovedByWholePeriodsGivesTheSameBits) {
    // Sizes and shifts that are powers of two: the coordinates are the same integers, so everything is, also across
    // the zero of the coordinates.
    for (const Side side : {Side::kWall, Side::kPeriodic}) {
        SpringSetup setup = gas_setup(8.0, side, single());
        SpringLab here(setup, moved(cloud(1), 1.0, 1.0));
        here.advance(kSteps);
        const auto expected = here.look();
        // Double precision spends bits on coordinates far from zero: there the bits differ, see the next test.
        const std::vector<std::array<double, 2>> shifts =
            single() ? std::vector<std::array<double, 2>>{{-8.0, 16.0}, {-4.0, -4.0}, {1024.0, -4096.0}}
                     : std::vector<std::array<double, 2>>{{-8.0, -8.0}};
        for (const auto& shift : shifts) {
            setup.box_min = {shift[0], shift[1], 0.0};
            SpringLab there(setup, moved(cloud(1), 1.0 + shift[0], 1.0 + shift[1]));
            there.advance(kSteps);
            const auto balls = there.look();
            for (std::size_t id = 0; id < balls.size(); ++id) {
                for (int axis = 0; axis < 2; ++axis) {
                    ASSERT_EQ(balls[id].v[axis], expected[id].v[axis]) << "shift " << shift[0] << ", ball " << id;
                    ASSERT_EQ(balls[id].x[axis] - shift[axis], expected[id].x[axis])
                        << "shift " << shift[0] << ", ball " << id;
                }
            }
        }
    }
}

TEST_P(Place, InABoxTenThousandDiametersWideTheCornersGiveTheSameBits) {
    // Free space around the cloud: near the origin, in the middle, and at the far corner. The places differ by
    // multiples of the cloud's own lattice, so that phases differ by a constant.
    const double size = 16384.0;
    const SpringSetup setup = gas_setup(size, Side::kPeriodic, single());
    SpringLab near(setup, moved(cloud(2), 8.0, 8.0));
    near.advance(kSteps);
    const auto expected = near.look_unwrapped();
    for (const double shift : {4096.0, 8192.0 + 32.0, size - 24.0}) {
        SpringLab far(setup, moved(cloud(2), 8.0 + shift, 8.0 + shift));
        far.advance(kSteps);
        const auto balls = far.look_unwrapped();
        for (std::size_t id = 0; id < balls.size(); ++id) {
            for (int axis = 0; axis < 2; ++axis) {
                ASSERT_EQ(balls[id].v[axis], expected[id].v[axis]) << "shift " << shift << ", ball " << id;
                ASSERT_EQ(balls[id].x[axis] - shift, expected[id].x[axis]) << "shift " << shift << ", ball " << id;
            }
        }
    }
}

TEST_P(Place, AWallAtTheFarCornerReflectsAsOneNearTheOrigin) {
    // One ball in the corner of a box with walls: near the origin, and at the far corner of a box of 10^4 diameters,
    // mirrored. Both see a wall; the overlap there comes from a coordinate of 10^4, a double with 2e-12 of rounding.
    const double size = 10'000.0;
    SpringSetup setup = gas_setup(size, Side::kWall, single());
    constexpr int kBounce = 8000;
    SpringLab near(setup, {{{0.75, 1.0, 0.0}, {-1.0, -0.75, 0.0}}});
    SpringLab far(setup, {{{size - 0.75, size - 1.0, 0.0}, {1.0, 0.75, 0.0}}});
    near.advance(kBounce);
    far.advance(kBounce);
    const auto a = near.look()[0];
    const auto b = far.look()[0];
    EXPECT_GT(a.v[0], 0.9);
    EXPECT_GT(a.v[1], 0.7);
    const double quantum = near.engine().largest_quantum();
    // A place rounded by a quantum q changes the speed after the bounce by w0 q for each of some 130 steps in contact,
    // at random: 4 sigma of it; and the positions by that for the rest of the time.
    const double omega = std::sqrt(setup.wall_stiffness);
    const double h = omega * setup.dt;
    const double speed = 4.0 * std::sqrt(3.2 / h) * omega * h * (quantum + 2.0e-12) +
                         200.0 * (single() ? kEpsilonSingle : kEpsilonDouble);
    for (int axis = 0; axis < 2; ++axis) {
        EXPECT_NEAR(a.v[axis], -b.v[axis], speed);
        EXPECT_NEAR(a.x[axis], size - b.x[axis], speed * kBounce * setup.dt + kBounce * quantum);
    }
}

TEST_P(Place, ATrainPassesThroughTheSeamsWithTheSamePhysics) {
    // Galilean invariance in a periodic box: the cloud with a common velocity, minus that velocity.
    SpringSetup setup = gas_setup(16.0, Side::kPeriodic, single());
    const double train[2] = {3.0, -2.0};
    auto balls = moved(cloud(3), 4.0, 4.0);
    SpringLab rest(setup, balls);
    for (auto& ball : balls) {
        for (int axis = 0; axis < 2; ++axis) ball.v[axis] += train[axis];
    }
    SpringLab moving(setup, balls);
    constexpr int kShort = 1500;  // about one collision a ball: later, chaos has the word
    rest.advance(kShort);
    moving.advance(kShort);
    const auto a = rest.look_unwrapped();
    const auto b = moving.look_unwrapped();
    const double epsilon = single() ? kEpsilonSingle : kEpsilonDouble;
    // Free flight rounds v dt to a resolution q: up to q / 2 a step, the same way each step, in either run; the common
    // velocity adds the rounding of v to a grid 4 times coarser. A collision magnifies places by up to
    // 2 * flight / radius = 4 and velocities by as much a radius' flight.
    const double quantum = rest.engine().largest_quantum();
    constexpr double kMagnified = 20.0;
    const double place = kMagnified * (kShort * quantum + 600.0 * 8.0 * epsilon * kShort * setup.dt);
    const double speed = kMagnified * (place + 600.0 * 8.0 * epsilon);
    for (std::size_t id = 0; id < a.size(); ++id) {
        for (int axis = 0; axis < 2; ++axis) {
            EXPECT_NEAR(b[id].v[axis] - train[axis], a[id].v[axis], speed) << id;
            EXPECT_NEAR(b[id].x[axis] - train[axis] * kShort * setup.dt, a[id].x[axis], place) << id;
        }
    }
}

TEST_P(Place, UndampedMotionRunsBackToItsStart) {
    // Leapfrog is its own inverse: velocities turned round at half a step lead back through the same states, up to the
    // rounding of velocities (positions are integers, and a step back takes off what the step put on).
    SpringSetup setup = gas_setup(8.0, Side::kWall, single());
    const auto start = moved(cloud(4), 1.0, 1.0);
    SpringLab there(setup, start);
    constexpr int kThere = 1000;
    there.advance(kThere);
    // raw state: x_n and v_(n-1/2). Backwards, v_(n+1/2) = -v_(n-1/2) without a kick at x_n: one whole kick less, which
    // a step number of 1 or more would add; so begin at x_(n-1), where the raw velocity leads.
    auto turned = there.store();
    for (auto& ball : turned) {
        for (int axis = 0; axis < 2; ++axis) {
            ball.x[axis] -= setup.dt * ball.v[axis];
            ball.v[axis] = -ball.v[axis];
        }
    }
    SpringLab back(setup, turned, 1);  // as a restart: whole kicks
    back.advance(kThere - 1);
    const auto end = back.store();
    const double epsilon = single() ? kEpsilonSingle : kEpsilonDouble;
    const double quantum = there.engine().largest_quantum();
    // Rounding of 1000 steps there and back, magnified by about one collision, as above.
    constexpr double kMagnified = 20.0;
    const double place = kMagnified * 2.0 * (quantum + 600.0 * 4.0 * epsilon * kThere * setup.dt);
    for (std::size_t id = 0; id < end.size(); ++id) {
        for (int axis = 0; axis < 2; ++axis) {
            EXPECT_NEAR(end[id].x[axis], start[id].x[axis], place) << id;
            EXPECT_NEAR(end[id].v[axis], -start[id].v[axis], kMagnified * place + 8.0 * epsilon) << id;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Precision, Place, ::testing::Bool(),
                         [](const auto& which) { return std::string(which.param ? "single" : "double"); });

TEST(Restart, InDoublePrecisionIsToTheSameBitsAnywhere) {
    for (const Side side : {Side::kWall, Side::kPeriodic}) {
        for (const double offset : {0.0, 777.7, -13.1}) {
            SpringSetup setup = gas_setup(8.3, side, false);
            setup.box_min = {offset, -offset, 0.0};
            SpringLab whole(setup, moved(cloud(5), offset + 1.0, -offset + 1.0));
            whole.advance(1500);
            SpringLab first(setup, moved(cloud(5), offset + 1.0, -offset + 1.0));
            first.advance(700);
            SpringLab second(setup, first.store(), 700);
            second.advance(800);
            const auto a = whole.store();
            const auto b = second.store();
            for (std::size_t id = 0; id < a.size(); ++id) {
                for (int axis = 0; axis < 2; ++axis) {
                    ASSERT_EQ(a[id].x[axis], b[id].x[axis]) << offset;
                    ASSERT_EQ(a[id].v[axis], b[id].v[axis]) << offset;
                }
            }
        }
    }
}

}  // namespace carom::test::spring_symmetry_test
