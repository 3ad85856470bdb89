#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/spring_lab.hpp"

// Two balls in free space against the continuous spring contact (high-precision values): what is left is the error of
// the time step, whose bounds are derived here. h = w0 dt, g = approach speed.

namespace carom::test::spring_binary_test {

constexpr double kPi = 3.14159265358979323846;

nlohmann::json golden(const std::string& name) {
    std::ifstream file(std::string(CAROM_GOLDEN_DIR "/") + name);
    return nlohmann::json::parse(file);
}

/// Positions are rounded to a quantum each step, speeds to doubles: far below the bounds in h at the steps used here.
constexpr double kRounding = 1.0e-10;

/// (g'/g)^2 = [1 - theta(1 - theta) h^2] / [1 - phi(1 - phi) h^2], theta and phi in [0, 1]: so g'/g is at most
/// 1 / sqrt(1 - h^2 / 4) and at least the inverse.
double ratio_bound(double h) { return 1.0 / std::sqrt(1.0 - h * h / 4.0) - 1.0 + kRounding; }

/// The discrete oscillator has the frequency w = (2 / dt) asin(h / 2) = w0 (1 + h^2 / 24 + ...) and the amplitude of
/// its first and last steps, theta and phi, at most a factor 1 +- h^2 / 8 off. The contact so lasts pi / w0 up to
/// h^2 / 24 of it and the phases at both ends, which enter in h^3 only: |theta(1 - theta)(1 - 2 theta)| h^3 / 6 < h^3
/// / 60.
double duration_error(double omega, double h) { return (kPi * h * h / 24.0 + h * h * h / 30.0) / omega; }

/// The balls' distance follows g(t - t0) until the contact, and g'(t - t1) after it: positions at T are off by the
/// speed's error times the time since, and by the error of the contact's duration times the speed.
double position_error(double g, double omega, double h, double since) {
    return g * (ratio_bound(h) * since + 2.0 * duration_error(omega, h)) + kRounding;
}

SpringSetup setup_of(const nlohmann::json& scene, double dt) {
    double size = 0.0;
    for (const auto& r : scene["r"]) size += 200.0 * r.get<double>();
    SpringSetup setup = free_space(size, dt);
    setup.stiffness = scene["k"];
    return setup;
}

class HeadOn : public ::testing::TestWithParam<std::tuple<std::pair<int, std::string>, bool>> {};

TEST_P(HeadOn, EndsWhereTheContinuousContactEnds) {
    const auto& [which, symplectic] = GetParam();
    const auto& [index, kind] = which;
    const auto scene = golden("spring_binary.json")["headon"].at(index);
    const auto& expected = scene["out"][kind];
    const double omega = scene["omega"];
    const double end = scene["T"];
    const double g = scene["v0"][0].get<double>() - scene["v0"][1].get<double>();
    const auto steps = static_cast<std::uint64_t>(std::ceil(end * omega / 0.02));
    const double dt = end / static_cast<double>(steps);
    const double h = omega * dt;

    SpringSetup setup = setup_of(scene, dt);
    setup.symplectic_euler = symplectic;
    setup.distance_epsilon = kind == "eps0" ? 0.0 : 1.0e-6;
    std::vector<LabBall> balls(2);
    for (int i = 0; i < 2; ++i) {
        balls[i] = {{scene["x0"][i], 0.0, 0.0}, {scene["v0"][i], 0.0, 0.0}, scene["r"][i], scene["m"][i]};
    }
    SpringLab lab(setup, balls);
    ASSERT_NO_FATAL_FAILURE(lab.advance(steps));
    const auto after = lab.look();
    const double share[2] = {balls[1].mass / (balls[0].mass + balls[1].mass),
                             balls[0].mass / (balls[0].mass + balls[1].mass)};
    for (int i = 0; i < 2; ++i) {
        EXPECT_NEAR(after[i].v[0], expected["v_T"][i], share[i] * g * ratio_bound(h));
        const double since = end - expected["t_first_contact"].get<double>();
        EXPECT_NEAR(after[i].x[0], expected["x_T"][i], share[i] * position_error(g, omega, h, since));
        EXPECT_EQ(after[i].v[1], 0.0);
        EXPECT_NEAR(after[i].x[1], balls[i].x[1], kRounding);
    }

    SpringLab again(setup, balls);
    const Encounter encounter = meet(again, dt);
    EXPECT_NEAR(encounter.speed_ratio, 1.0, ratio_bound(h));
    // counted in whole steps: one off at most
    EXPECT_NEAR(encounter.time, expected["contact_time"], dt + duration_error(omega, h));
    // the largest of samples dt apart is lower than the top by h^2 / 8 of it at most; the amplitude is off by h^2 / 8
    const double top = expected["max_overlap"];
    EXPECT_NEAR(encounter.max_overlap, top, top * h * h / 4.0 + setup.distance_epsilon + kRounding);
}

std::vector<std::pair<int, std::string>> head_on_cases() {
    std::vector<std::pair<int, std::string>> cases;
    const auto scenes = golden("spring_binary.json")["headon"];
    for (int index = 0; index < static_cast<int>(scenes.size()); ++index) {
        if (scenes[index]["m"][1].is_null()) continue;  // a wall: see below
        for (const auto& [kind, out] : scenes[index]["out"].items()) cases.emplace_back(index, kind);
    }
    return cases;
}

INSTANTIATE_TEST_SUITE_P(Golden, HeadOn, ::testing::Combine(::testing::ValuesIn(head_on_cases()), ::testing::Bool()));

TEST(HeadOnWall, EndsWhereTheContinuousContactEnds) {
    int walls = 0;
    const auto scenes = golden("spring_binary.json")["headon"];
    for (const auto& scene : scenes) {
        if (!scene["m"][1].is_null()) continue;
        ++walls;
        const auto& expected = scene["out"]["eps0"];
        const double omega = scene["omega"];
        const double end = scene["T"];
        const double g = scene["v0"][0];
        const auto steps = static_cast<std::uint64_t>(std::ceil(end * omega / 0.02));
        SpringSetup setup = free_space(64.0, end / static_cast<double>(steps));
        setup.wall_stiffness = scene["k"];
        setup.sides[0][1] = Side::kWall;
        setup.box_min[0] = scene["x0"][1].get<double>() - setup.box_size[0];
        SpringLab lab(setup, {{{scene["x0"][0], 0.0, 0.0}, {g, 0.0, 0.0}, scene["r"][0], scene["m"][0]}});
        ASSERT_NO_FATAL_FAILURE(lab.advance(steps));
        const auto after = lab.look();
        const double h = omega * setup.dt;
        EXPECT_NEAR(after[0].v[0], expected["v_T"][0], g * ratio_bound(h));
        EXPECT_NEAR(after[0].x[0], expected["x_T"][0],
                    position_error(g, omega, h, end - expected["t_first_contact"].get<double>()));
        const double top = expected["max_overlap"];
        EXPECT_NEAR(lab.tallies().max_overlap * after[0].radius, top, top * h * h / 4.0 + kRounding);
        // the wall took up the ball's momentum twice, whatever the time step
        const double impulse = after[0].mass * (g - after[0].v[0]);
        EXPECT_NEAR(lab.tallies().wall_impulse[1], impulse, 1.0e-12 * impulse);
    }
    EXPECT_EQ(walls, 1);
}

class Oblique : public ::testing::TestWithParam<std::tuple<int, const char*, bool>> {};

TEST_P(Oblique, EndsWithTheVelocitiesOfTheContinuousContact) {
    const auto [index, kind, symplectic] = GetParam();
    const auto scene = golden("spring_binary.json")["oblique"].at(index);
    const auto& expected = scene["out"]["spring"][kind];
    const double m[2] = {scene["m"][0], scene["m"][1]};
    const double omega = std::sqrt(scene["k"].get<double>() * (m[0] + m[1]) / (m[0] * m[1]));
    const double end = scene["T"];
    const double g = std::hypot(expected["vn"].get<double>(), expected["vt"].get<double>());
    for (const double wanted_h : {0.1, 0.03, 0.01}) {
        const auto steps = static_cast<std::uint64_t>(std::ceil(end * omega / wanted_h));
        const double dt = end / static_cast<double>(steps);
        const double h = omega * dt;
        SpringSetup setup = setup_of(scene, dt);
        setup.symplectic_euler = symplectic;
        setup.distance_epsilon = std::string(kind) == "eps0" ? 0.0 : 1.0e-6;
        std::vector<LabBall> balls(2);
        for (int i = 0; i < 2; ++i) {
            balls[i] = {{scene["x"][i][0], scene["x"][i][1], 0.0},
                        {scene["v"][i][0], scene["v"][i][1], 0.0},
                        scene["r"][i],
                        m[i]};
        }
        SpringLab lab(setup, balls);
        ASSERT_NO_FATAL_FAILURE(lab.advance(steps));
        const auto after = lab.look();
        for (int i = 0; i < 2; ++i) {
            const double share = m[1 - i] / (m[0] + m[1]);
            // the bound of one contact: g h^2 / 8
            const double speed_bound = share * g * (h * h / 8.0 + kRounding);
            const double dv = std::hypot(after[i].v[0] - expected["v"][i][0].get<double>(),
                                         after[i].v[1] - expected["v"][i][1].get<double>());
            EXPECT_LE(dv, speed_bound) << "h = " << h;
            const double since = end - expected["t_contact"].get<double>();
            const double dx = std::hypot(after[i].x[0] - expected["x_T"][i][0].get<double>(),
                                         after[i].x[1] - expected["x_T"][i][1].get<double>());
            EXPECT_LE(dx, share * position_error(g, omega, h, since)) << "h = " << h;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Golden, Oblique,
                         ::testing::Combine(::testing::Range(0, 3), ::testing::Values("eps0", "eps1e-6"),
                                            ::testing::Bool()));

double expected_e(const nlohmann::json& scene) { return scene["out"]["e_cut"]; }

class Damped : public ::testing::TestWithParam<int> {};

TEST_P(Damped, LosesWhatTheCutContactLoses) {
    const auto scene = golden("spring_binary.json")["damped"].at(GetParam());
    const double omega = scene["omega0"];
    const double zeta = scene["zeta"];
    const double c = scene["c"];
    const double g = 1.0;
    for (const bool symplectic : {false, true}) {
        for (const double h : {0.02, 0.002}) {
            const double dt = h / omega;
            SpringSetup setup = free_space(1000.0, dt);
            setup.symplectic_euler = symplectic;
            setup.stiffness = scene["k"];
            setup.damping = c;
            const double m[2] = {scene["m"][0], scene["m"][1]};
            SpringLab lab(setup, {{{-0.5 - 3.3 * dt, 0.0, 0.0}, {g * m[1] / (m[0] + m[1]), 0.0, 0.0}, 0.5, m[0]},
                                  {{0.5 + 3.3 * dt, 0.0, 0.0}, {-g * m[0] / (m[0] + m[1]), 0.0, 0.0}, 0.5, m[1]}});
            const double approach = 1.0;
            std::uint64_t pushed = 0;
            auto balls = lab.look();
            double left = 0.0;  // overlap when the force ends
            for (int step = 0; step < 100'000; ++step) {
                const double before = relative_speed(balls[0], balls[1]);
                lab.advance(1);
                balls = lab.look();
                const bool force = relative_speed(balls[0], balls[1]) != before;
                if (force) {
                    ++pushed;
                    left = 1.0 - distance(balls[0], balls[1]);
                } else if (pushed > 2) {
                    break;
                }
            }
            const double e = (balls[1].v[0] - balls[0].v[0]) / approach;
            // First order in h, with a dashpot that sees v half a step (Verlet) or a step early: the damping of a step,
            // 2 zeta h of the speed, is uncertain at the contact's begin and end by a step each, and its lag shifts the
            // stiffness by 2 zeta h at most in between. d(ln e) <= 4 zeta h (1 + pi zeta) covers all three.
            const double bound = 4.0 * zeta * h * (1.0 + kPi * zeta);
            EXPECT_NEAR(e, expected_e(scene), bound * std::max(expected_e(scene), 0.05)) << "h = " << h;
            const double t = scene["out"]["t_cut"];
            EXPECT_NEAR(static_cast<double>(pushed) * dt, t, 3.0 * dt + 2.0 * bound / omega) << "h = " << h;
            EXPECT_NEAR(left, scene["out"]["overlap_left_at_cut_per_unit_v"].get<double>() * g,
                        2.0 * g * dt + 2.0 * bound / omega);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Golden, Damped, ::testing::Range(0, 6));

/// w = 1, dt = h: the speed ratio of a contact whose first overlapped state is theta v h deep, exact in closed form.
TEST(SymplecticEuler, ChangesTheSpeedByTheGoldenRatioOfEachPhase) {
    const auto table = golden("spring_binary.json")["symplectic_euler"];
    ASSERT_FALSE(table.empty());
    for (const auto& row : table) {
        const double h = row["h"];
        const double theta = row["theta"];
        for (const bool symplectic : {false, true}) {
            SpringSetup setup = free_space(64.0, h);
            setup.symplectic_euler = symplectic;
            setup.stiffness = 0.5;  // of two unit masses: w = 1
            // Speeds so low that the overlap is far below a diameter: the contact is linear, so nothing else depends on
            // it.
            const double v = 1.0e-3;
            // symplectic Euler: after one step the overlap is theta v h; of leapfrog the same, as v(1/2) = v(0)
            const double gap = v * h * (1.0 - theta);
            SpringLab lab(setup, {{{-0.5 - 0.5 * gap, 0.0, 0.0}, {0.5 * v, 0.0, 0.0}},
                                  {{0.5 + 0.5 * gap, 0.0, 0.0}, {-0.5 * v, 0.0, 0.0}}});
            const Encounter encounter = meet(lab, h);
            // the overlap of the first state is known to a resolution of 2^-52 of 128 lengths: 3e-14 of v h = 1e-6 or
            // more
            constexpr double kPlace = 1.0e-7;
            EXPECT_NEAR(encounter.speed_ratio, row["out"]["speed_ratio"], kPlace)
                << "h = " << h << ", theta = " << theta;
            // the table counts the step into the contact, too
            EXPECT_EQ(std::lround(encounter.time / h) + 1, row["out"]["steps"].get<long>())
                << "h = " << h << ", theta = " << theta;
        }
    }
}

}  // namespace carom::test::spring_binary_test
