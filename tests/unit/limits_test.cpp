#include <gtest/gtest.h>

#include <string>

#include "kernels/params_from_setup.hpp"
#include "tests/support/make_walls.hpp"
#include "tests/support/spring_lab.hpp"

namespace carom::limits_test {

using test::Side;

/// Two balls of unit radius and mass in a box of 20, then in other units: lengths times `length`, masses times `mass`,
/// times times `time`.
struct Units {
    double length = 1.0;
    double mass = 1.0;
    double time = 1.0;
};

SpringSetup setup_in(const Units& units, bool single) {
    SpringSetup setup = test::lab_setup(2, 20.0 * units.length, Side::kWall);
    setup.double_precision = !single;
    setup.stiffness = setup.wall_stiffness = 1.0e4 * units.mass / (units.time * units.time);
    setup.dt = 5.0e-4 * units.time;
    setup.design_speed = 2.0 * units.length / units.time;
    return setup;
}

std::vector<test::LabBall> balls_in(const Units& units) {
    const double v = units.length / units.time;
    return {{{5.0 * units.length, 5.0 * units.length, 0.0}, {1.0 * v, 0.0, 0.0}, 1.0 * units.length, units.mass},
            {{7.5 * units.length, 5.5 * units.length, 0.0}, {-1.0 * v, 0.0, 0.0}, 1.0 * units.length, units.mass}};
}

BallSizes sizes_in(const Units& units) {
    BallSizes sizes;
    sizes.count = 2;
    sizes.smallest_radius = sizes.largest_radius = units.length;
    sizes.largest_mass = sizes.mass = units.mass;
    sizes.uniform = true;
    return sizes;
}

TEST(Limits, WhatIsNotRefusedCollidesAsInOrdinaryUnits) {
    // From atoms to planets, and on into the ranges where something gives way: either a refusal, or the right physics.
    test::SpringLab ordinary(setup_in({}, false), balls_in({}));
    ordinary.advance(2500);
    const auto expected = ordinary.look();
    ASSERT_LT(expected[0].v[0], -0.5) << "they have collided";
    int run = 0;
    int refused = 0;
    for (const bool single : {true, false}) {
        // One contact in single precision: 2^-24 for each of 600 kicks; places rounded to 2^-32 of 128 lengths.
        const double bound = single ? 600.0 * test::kEpsilonSingle : 1.0e-10;
        for (int length = -40; length <= 40; length += 5) {
            for (int mass = -40; mass <= 40; mass += 10) {
                for (int time = -20; time <= 20; time += 10) {
                    const Units units{std::pow(10.0, length), std::pow(10.0, mass), std::pow(10.0, time)};
                    const SpringSetup setup = setup_in(units, single);
                    if (spring_refusal(setup, sizes_in(units))) {
                        ++refused;
                        continue;
                    }
                    ++run;
                    test::SpringLab lab(setup, balls_in(units));
                    lab.advance(2500);
                    ASSERT_FALSE(HasFatalFailure());
                    const auto balls = lab.look();
                    const double v = units.length / units.time;
                    for (std::size_t id = 0; id < 2; ++id) {
                        for (int axis = 0; axis < 2; ++axis) {
                            ASSERT_NEAR(balls[id].v[axis] / v, expected[id].v[axis], bound)
                                << "length 1e" << length << ", mass 1e" << mass << ", time 1e" << time << ", single "
                                << single;
                        }
                    }
                }
            }
        }
    }
    EXPECT_GT(run, 300);
    EXPECT_GT(refused, 100);
}

TEST(Limits, AtomsAndPlanetsFitSinglePrecision) {
    EXPECT_EQ(spring_refusal(setup_in({1.0e-10, 1.0e-26, 1.0e-13}, true), sizes_in({1.0e-10, 1.0e-26, 1.0e-13})).why,
              "");
    EXPECT_EQ(spring_refusal(setup_in({1.0e7, 1.0e25, 1.0e4}, true), sizes_in({1.0e7, 1.0e25, 1.0e4})).why, "");
}

TEST(Limits, TheQuantityAtFaultIsTheOneFarthestOut) {
    const auto at_fault_of = [](auto change) {
        SpringSetup setup = setup_in({}, true);
        BallSizes sizes = sizes_in({});
        change(setup, sizes);
        return spring_refusal(setup, sizes).fault.cause;
    };
    EXPECT_EQ(at_fault_of([](SpringSetup&, BallSizes&) {}), Cause::kNone);
    EXPECT_EQ(at_fault_of([](SpringSetup& setup, BallSizes&) { setup.dt = 1.0e-60; }), Cause::kTimeStep);
    EXPECT_EQ(at_fault_of([](SpringSetup& setup, BallSizes&) { setup.dt = 1.0e60; }), Cause::kTimeStep);
    EXPECT_EQ(at_fault_of([](SpringSetup& setup, BallSizes&) { setup.stiffness = 1.0e60; }), Cause::kStiffness);
    EXPECT_EQ(at_fault_of([](SpringSetup& setup, BallSizes&) { setup.wall_stiffness = 1.0e60; }),
              Cause::kWallStiffness);
    EXPECT_EQ(at_fault_of([](SpringSetup& setup, BallSizes&) { setup.damping = 1.0e60; }), Cause::kDamping);
    const auto damped = [](SpringSetup& setup, BallSizes&) {
        setup.damping_ratio = 0.1;
        setup.design_speed = 1.0e60;
    };
    EXPECT_EQ(at_fault_of(damped), Cause::kDesignSpeed);
    EXPECT_EQ(at_fault_of([](SpringSetup& setup, BallSizes&) { setup.box_size[1] = 1.0e12; }), Cause::kBoxSize);
    EXPECT_EQ(at_fault_of([](SpringSetup& setup, BallSizes&) { setup.box_min[1] = -1.0e13; }), Cause::kBoxMin);
    EXPECT_EQ(at_fault_of([](SpringSetup&, BallSizes& sizes) { sizes.largest_mass = 1.0e60; }), Cause::kBallMass);
    EXPECT_EQ(at_fault_of([](SpringSetup&, BallSizes& sizes) { sizes.smallest_radius = 1.0e-60; }), Cause::kBallRadius);
}

TEST(Limits, TooManyWallsAreRefused) {
    SpringSetup setup = setup_in({}, true);
    const Wall wall = test::plane_wall({1.0, 0.0, 0.0}, -10.0);
    setup.walls.resize(28, wall);
    EXPECT_EQ(spring_refusal(setup, sizes_in({})).why, "");
    setup.walls.resize(29, wall);
    EXPECT_NE(spring_refusal(setup, sizes_in({})).why, "");
}

TEST(Limits, ABoxTooFarFromZeroIsRefused) {
    for (const bool single : {true, false}) {
        for (const Side side : {Side::kWall, Side::kPeriodic}) {
            SpringSetup setup = setup_in({}, single);
            setup.sides[0] = {side, side};
            setup.box_min[0] = -1.0e4;
            EXPECT_EQ(spring_refusal(setup, sizes_in({})).why, "") << single;
            setup.box_min[0] = 1.0e13;
            EXPECT_NE(spring_refusal(setup, sizes_in({})).why, "") << single;
        }
    }
}

}  // namespace carom::limits_test
