#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "tests/support/two_balls.hpp"

namespace carom::test {
namespace {

/// Pairs of balls on a collision course, seen from their centre of mass, masses and radii at random.
struct Pair {
    std::vector<LabBall> balls;
    double reach = 0.0;
    double reduced = 0.0;
};

Pair draw_pair(std::mt19937_64& random, bool equal) {
    const auto uniform = [&](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    Pair pair;
    const double m[2] = {uniform(0.2, 5.0), uniform(0.2, 5.0)};
    const double r[2] = {uniform(0.2, 1.0), uniform(0.2, 1.0)};
    const double angle = uniform(0.0, 6.28);
    const double course = angle + uniform(-0.9, 0.9);
    pair.balls.resize(2);
    for (int i = 0; i < 2; ++i) {
        pair.balls[i].radius = equal ? r[0] : r[i];
        pair.balls[i].mass = equal ? m[0] : m[i];
    }
    pair.reach = pair.balls[0].radius + pair.balls[1].radius;
    pair.reduced = pair.balls[0].mass * pair.balls[1].mass / (pair.balls[0].mass + pair.balls[1].mass);
    const double gap = pair.reach * uniform(1.001, 1.1);
    for (int i = 0; i < 2; ++i) {
        const double sign = i == 0 ? -0.5 : 0.5;
        pair.balls[i].x = {sign * gap * std::cos(angle), sign * gap * std::sin(angle), 0.0};
        const double share = -2.0 * sign * pair.reduced / pair.balls[i].mass;
        pair.balls[i].v = {share * std::cos(course), share * std::sin(course), 0.0};
    }
    return pair;
}

/// Speed of approach 1, overlaps of about 3 % of a radius, 200 steps in a contact.
SpringSetup pair_setup(const Pair& pair, bool single, bool damped) {
    SpringSetup setup = free_space(64.0, 0.0);
    setup.double_precision = !single;
    setup.stiffness = pair.reduced / (0.03 * pair.reach * 0.03 * pair.reach);
    setup.dt = 3.14159 * 0.03 * pair.reach / 200.0;
    setup.damping_ratio = damped ? 0.2 : 0.0;
    return setup;
}

class Collision : public ::testing::TestWithParam<std::tuple<bool, bool>> {
protected:
    [[nodiscard]] bool single() const { return std::get<0>(GetParam()); }
    [[nodiscard]] bool damped() const { return std::get<1>(GetParam()); }
    [[nodiscard]] double epsilon() const { return single() ? kEpsilonSingle : kEpsilonDouble; }
};

TEST_P(Collision, OfEqualBallsIsAMirrorImageToTheBit) {
    // Force and its opposite are equal to the bit, so opposite velocities stay opposite, and phases too.
    std::mt19937_64 random(1);
    for (int draw = 0; draw < 20; ++draw) {
        const Pair pair = draw_pair(random, true);
        SpringLab lab(pair_setup(pair, single(), damped()), pair.balls);
        bool touched = false;
        for (int step = 0; step < 1500; step += 25) {
            lab.advance(25);
            ASSERT_FALSE(HasFatalFailure());
            const auto now = lab.store();
            touched = touched || lab.totals().contacts > 0;
            for (int axis = 0; axis < 2; ++axis)
                ASSERT_EQ(now[0].v[axis], -now[1].v[axis]) << "draw " << draw << ", step " << step;
        }
        EXPECT_TRUE(touched);
    }
}

TEST_P(Collision, KeepsMomentum) {
    std::mt19937_64 random(2);
    for (int draw = 0; draw < 20; ++draw) {
        Pair pair = draw_pair(random, false);
        for (auto& ball : pair.balls) ball.v[0] += 0.7;
        SpringLab lab(pair_setup(pair, single(), damped()), pair.balls);
        const SpringTotals before = lab.totals();
        lab.advance(1500);
        const SpringTotals after = lab.totals();
        // Each of about 250 steps in contact rounds two velocities below 3 once each; the frame's half kick once more.
        // inverse_mass and dt / m are rounded too: the masses that the engine has are 2 epsilon off.
        const double mass = pair.balls[0].mass + pair.balls[1].mass;
        const double bound = (2.0 * 250.0 + 10.0) * epsilon() * 3.0 * mass;
        for (int axis = 0; axis < 2; ++axis) EXPECT_NEAR(after.momentum[axis], before.momentum[axis], bound) << draw;
    }
}

TEST_P(Collision, KeepsAngularMomentum) {
    std::mt19937_64 random(3);
    for (int draw = 0; draw < 20; ++draw) {
        const Pair pair = draw_pair(random, false);
        const SpringSetup setup = pair_setup(pair, single(), damped());
        SpringLab lab(setup, pair.balls);
        const SpringTotals before = lab.totals();
        constexpr int kSteps = 1500;
        lab.advance(kSteps);
        const SpringTotals after = lab.totals();
        // Kicks along the line of centres keep it; a drift x + dt v keeps it but for the rounding of x to half a
        // quantum per axis, and the velocities' rounding at an arm of the box's size, about 3.
        const double mass = pair.balls[0].mass + pair.balls[1].mass;
        const double quantum = lab.engine().largest_quantum();
        const double bound = mass * (kSteps * 2.0 * 0.5 * quantum + (2.0 * 250.0 + 10.0) * epsilon() * 3.0 * 3.0);
        EXPECT_NEAR(after.angular[2], before.angular[2], bound) << draw;
    }
}

INSTANTIATE_TEST_SUITE_P(Precision, Collision, ::testing::Combine(::testing::Bool(), ::testing::Bool()),
                         [](const auto& which) {
                             return std::string(std::get<0>(which.param) ? "single" : "double") +
                                    (std::get<1>(which.param) ? "Damped" : "Undamped");
                         });

TEST(HeadOnCollision, ChangesTheSpeedByTheFormulaInItsTwoPhases) {
    // (g'/g)^2 = [1 - theta(1 - theta) h^2] / [1 - phi(1 - phi) h^2], theta and phi read off the states.
    const double omega = std::sqrt(2.0 * 1.0e4);
    for (const double h : {0.3, 0.1, 0.0632}) {
        for (double phase = 0.02; phase < 1.0; phase += 0.07) {
            SpringSetup setup = free_space(64.0, h / omega);
            setup.stiffness = 1.0e4;
            const double g = 1.0;
            const double gap = 0.5 * g * setup.dt * phase;
            SpringLab lab(
                setup, {{{-0.5 - gap, 0.0, 0.0}, {0.5 * g, 0.0, 0.0}}, {{0.5 + gap, 0.0, 0.0}, {-0.5 * g, 0.0, 0.0}}});
            auto balls = lab.look();
            double theta = 0.0;
            double phi = 0.0;
            double after = 0.0;
            for (int step = 0; step < 1000 && after == 0.0; ++step) {
                const double overlap = 1.0 - distance(balls[0], balls[1]);
                if (overlap > 0.0 && theta == 0.0) theta = overlap / (g * setup.dt);
                if (overlap <= 0.0 && theta > 0.0) {
                    after = relative_speed(balls[0], balls[1]);
                    phi = -overlap / (after * setup.dt);
                }
                lab.advance(1);
                balls = lab.look();
            }
            const double exact = (1.0 - theta * (1.0 - theta) * h * h) / (1.0 - phi * (1.0 - phi) * h * h);
            constexpr double kPlace = 1.0e-9;  // of theta and phi: a resolution of 3e-14 of a step of 4e-4
            EXPECT_NEAR(after * after / (g * g), exact, kPlace)
                << "h = " << h << ", theta = " << theta << ", phi = " << phi;
            EXPECT_LE(std::abs(after / g - 1.0), 1.0 / std::sqrt(1.0 - h * h / 4.0) - 1.0);
        }
    }
}

TEST(SpringEnergy, IsTheWorkThatTheContactDoes) {
    // Quasi-static: energies of states at rest, against the integral of the force from the velocities of one step; with
    // and without distance_epsilon, of equal and unequal balls.
    for (const double epsilon : {0.0, 1.0e-6, 1.0e-3}) {
        for (const double other_radius : {0.5, 0.13}) {
            SpringSetup setup = free_space(64.0, 1.0e-6);
            setup.stiffness = 123.0;
            setup.distance_epsilon = epsilon;
            const double reach = 0.5 + other_radius;
            const auto probe = [&](double overlap) {
                return SpringLab(
                    setup, {{{0.0, 0.0, 0.0}, {}, 0.5, 2.0}, {{reach - overlap, 0.0, 0.0}, {}, other_radius, 3.0}});
            };
            const auto force = [&](double overlap) {
                SpringLab lab = probe(overlap);
                lab.advance(1);  // half a kick
                return lab.store()[1].v[0] * 3.0 / (0.5 * setup.dt);
            };
            // 20 panels of Simpson's rule, exact for cubics: the integrand is linear up to epsilon / D
            const double deepest = 0.009 * reach;
            constexpr int kPanels = 20;
            const double width = (deepest - epsilon) / kPanels;
            double work = 0.0;
            for (int panel = 0; panel < kPanels; ++panel) {
                const double a = epsilon + panel * width;
                work += width / 6.0 * (force(a) + 4.0 * force(a + 0.5 * width) + force(a + width));
            }
            const double energy = probe(deepest).totals().spring;
            EXPECT_NEAR(energy, work, 1.0e-8 * work)
                << "epsilon " << epsilon;  // resolution 3e-14 of an overlap of 1e-3 and less
            EXPECT_NEAR(probe(deepest).totals().overlap, (deepest - epsilon) / std::min(0.5, other_radius), 1.0e-9);
        }
    }
}

TEST(Virial, OfAPairIsItsSeparationTimesItsForce) {
    SpringSetup setup = free_space(64.0, 1.0e-6);
    setup.stiffness = 50.0;
    SpringLab lab(setup, {{{0.0, 0.0, 0.0}}, {{0.6, 0.7, 0.0}}});
    const double distance_now = std::hypot(0.6, 0.7);
    EXPECT_NEAR(lab.totals().virial, distance_now * 50.0 * (1.0 - distance_now), 1.0e-11);
    // r_a F_b, both along (0.6, 0.7).
    const double force = 50.0 * (1.0 - distance_now) / distance_now;
    const std::array<double, 6> expected{0.36 * force, 0.49 * force, 0.0, 0.42 * force, 0.0, 0.0};
    for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(lab.totals().stress[k], expected[k], 1.0e-11) << k;
}

}  // namespace
}  // namespace carom::test
