#include <gtest/gtest.h>

#include <cmath>

#include "kernels/physics/gravity.hpp"
#include "tests/support/spring_lab.hpp"

namespace carom::test::spring_gravity_test {

constexpr double kField = -9.81;

SpringSetup falling(double size, double dt, bool single, bool symplectic) {
    SpringSetup setup = free_space(size, dt);
    setup.double_precision = !single;
    setup.symplectic_euler = symplectic;
    setup.gravity = {0.0, kField, 0.0};
    return setup;
}

TEST(FreeFall, IsTheParabolaToRoundingWithVerlet) {
    constexpr int kSteps = 4000;
    const double dt = 1.0e-3;
    SpringLab lab(falling(1000.0, dt, false, false), {{{1.0, 2.0, 0.0}, {3.0, 20.0, 0.0}}});
    lab.advance(kSteps);
    const auto ball = lab.look()[0];
    const double t = kSteps * dt;
    // A position is rounded to 2^-52 of a period of 2048 each step; the velocity to 2^-53 of 40, n of them in a row,
    // each of which is carried along for the rest of the time.
    const double place = kSteps * 0.5 * std::ldexp(2048.0, -52);
    const double speed = kSteps * kEpsilonDouble * 40.0;
    EXPECT_NEAR(ball.x[0], 1.0 + 3.0 * t, place + speed * t);
    EXPECT_NEAR(ball.x[1], 2.0 + 20.0 * t + 0.5 * kField * t * t, place + speed * t);
    EXPECT_NEAR(ball.v[1], 20.0 + kField * t, speed);
    EXPECT_EQ(ball.v[0], 3.0);
}

TEST(FreeFall, LagsByHalfAStepWithSymplecticEuler) {
    constexpr int kSteps = 4000;
    const double dt = 1.0e-3;
    SpringLab lab(falling(1000.0, dt, false, true), {{{1.0, 2.0, 0.0}, {3.0, 20.0, 0.0}}});
    lab.advance(kSteps);
    const auto ball = lab.look()[0];
    const double t = kSteps * dt;
    const double bound = kSteps * (0.5 * std::ldexp(2048.0, -52) + kEpsilonDouble * 40.0 * t);
    EXPECT_NEAR(ball.x[1] - (2.0 + 20.0 * t + 0.5 * kField * t * t), 0.5 * kField * t * dt, bound);
    EXPECT_NEAR(ball.v[1], 20.0 + kField * t, kSteps * kEpsilonDouble * 40.0);
}

/// Fields so weak that a step's kick is from a thousandth of the rounding of a velocity to a few of them.
TEST(FreeFall, InAWeakFieldInSinglePrecisionIsRightAfterAMillionSteps) {
    constexpr int kSteps = 1'000'000;
    const double dt = 1.0e-3;
    const double v0 = 0.75;
    const double kick_in_roundings[3] = {1.0e-3, 0.37, 2.5};  // a field per axis
    SpringSetup setup = lab_setup(3, 20.0, Side::kPeriodic);  // no scene may do this, but the engine can fall for ever
    setup.dt = dt;
    setup.design_speed = 1.0;
    for (int axis = 0; axis < 3; ++axis) setup.gravity[axis] = -kick_in_roundings[axis] * kEpsilonSingle / dt;
    SpringLab lab(setup, {{{10.0, 10.0, 10.0}, {v0, v0, v0}}});
    ASSERT_NO_FATAL_FAILURE(lab.advance(kSteps));
    const auto ball = lab.look_unwrapped()[0];
    const double t = kSteps * dt;
    // The velocity is off by half a grid step, 2^-24 of the design speed, and by the rounding of the frame's half kick
    // and of the sum; the position by that times t, and by half a quantum a step at most.
    const double speed = 3.0 * kEpsilonSingle;
    const double place = kSteps * 0.5 * std::ldexp(20.0, -32);
    for (int axis = 0; axis < 3; ++axis) {
        const double g = setup.gravity[axis];
        EXPECT_NEAR(ball.v[axis], v0 + g * t, speed) << axis;
        EXPECT_NEAR(ball.x[axis], 10.0 + v0 * t + 0.5 * g * t * t, speed * t + place) << axis;
        // What the kicks are for: adding g dt to a float step by step fails this same bound.
        auto plain = static_cast<float>(v0);
        for (int step = 0; step < kSteps; ++step) plain = plain + static_cast<float>(g * dt);
        EXPECT_GT(std::abs(static_cast<double>(plain) - (v0 + g * t)), speed) << axis;
    }
}

TEST(GravityKicks, AddUpToTheExactVelocityAtEveryStep) {
    for (const double lead : {0.5, 1.0}) {
        for (const double per_step : {1.0e-9, -3.3e-7, 1.7e-4}) {
            const GravityKicks kicks{per_step, 0x1p-20, lead};
            double sum = 0.0;
            for (int n = 0; n < 100'000; ++n) {
                // the lag brings it to the time of the positions; symplectic Euler has none
                const double bound = lead == 1.0 ? 0.5 * 0x1p-20 * (1.0 + 1.0e-6) : 1.0e-12;
                ASSERT_NEAR(sum + kicks.lag(n), per_step * n, bound) << n;
                sum += kicks.kick(n);
                ASSERT_LE(std::abs(sum - per_step * (n + lead)), 0.5 * 0x1p-20 * (1.0 + 1.0e-6));
                ASSERT_EQ(sum, 0x1p-20 * std::rint(sum * 0x1p20)) << "a multiple of the grid";
            }
        }
    }
}

TEST(FreeFall, MovesNoBodyOfInfiniteMass) {
    SpringSetup setup = falling(100.0, 1.0e-3, true, false);
    setup.design_speed = 16.0;  // the kicks' grid is right up to this
    SpringLab lab(setup, {{{0.0, 0.0, 0.0}, {0.5, 0.25, 0.0}, 0.5, HUGE_VAL}, {{5.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}});
    lab.advance(1000);
    const auto balls = lab.look();
    EXPECT_EQ(balls[0].v[1], 0.25);
    EXPECT_NEAR(balls[0].x[1], 0.25, 1000 * 0.5 * std::ldexp(128.0, -32));
    EXPECT_NEAR(balls[1].v[1], kField, 16.0 * 3.0 * kEpsilonSingle);
}

TEST(RestingBall, PressesOnTheFloorWithItsWeight) {
    // Also on a floor so stiff that the weight is a billionth of the largest force that is summed, of which impulses
    // are counted in steps of 2^-48.
    constexpr double kCounted = 2.0e-5;
    for (const bool single : {true, false}) {
        for (const double k : {1.0e4, 1.0e10}) {
            SpringSetup setup = lab_setup(2, 10.0, Side::kWall);
            setup.double_precision = !single;
            setup.gravity = {0.0, kField, 0.0};
            setup.stiffness = setup.wall_stiffness = k;
            setup.wall_damping_ratio = 0.3;
            const double mass = 0.17;
            setup.dt = 0.05 * std::sqrt(mass / k);
            setup.design_speed = 1.0;
            const double sunk = mass * -kField / k;
            SpringLab lab(setup, {{{5.0, 0.1 - sunk, 0.0}, {}, 0.1, mass}});
            ASSERT_NO_FATAL_FAILURE(lab.advance(2000));  // what is left of the start dies out: exp(-0.3 * 0.05 * 2000)
            const double before = lab.tallies().wall_impulse[2];
            constexpr int kSteps = 20'000;
            ASSERT_NO_FATAL_FAILURE(lab.advance(kSteps));
            const double force = (lab.tallies().wall_impulse[2] - before) / (kSteps * setup.dt);
            const double weight = mass * -kField;
            // A quantum of the ball's place, 2^-32 of 16 lengths, is a force of k times that: on the stiff floor 37
            // times the weight in single precision, so the ball hops by a quantum, but the mean force must still bear
            // it: its velocity stays within the speed of a quantum a step, which bounds the missing impulse.
            const double quantum = std::ldexp(16.0, single ? -32 : -52);
            const double speed = std::max(quantum / setup.dt, 1.0e-9);
            EXPECT_NEAR(force, weight, 4.0 * mass * speed / (kSteps * setup.dt) + kCounted * weight)
                << "k = " << k << ", single " << single;
        }
    }
}

}  // namespace carom::test::spring_gravity_test
