#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kernels/physics/restitution.hpp"
#include "kernels/physics/stepped_restitution.hpp"
#include "tests/support/spring_lab.hpp"

// Orders of convergence, measured: in the time step towards the continuous spring, and in the stiffness towards the
// hard contact.

namespace carom::test::spring_convergence_test {

nlohmann::json golden(const std::string& name) {
    std::ifstream file(std::string(CAROM_GOLDEN_DIR "/") + name);
    return nlohmann::json::parse(file);
}

/// The scene sp-oblique-1 that the tables were made with, and its exact ends.
struct ObliqueScene {
    nlohmann::json scene = golden("spring_binary.json")["oblique"].at(0);
    double k = scene["k"];
    double end = scene["T"];

    [[nodiscard]] std::vector<LabBall> balls() const {
        std::vector<LabBall> result(2);
        for (int i = 0; i < 2; ++i) {
            result[i] = {{scene["x"][i][0], scene["x"][i][1], 0.0},
                         {scene["v"][i][0], scene["v"][i][1], 0.0},
                         scene["r"][i],
                         scene["m"][i]};
        }
        return result;
    }
};

struct Errors {
    double v = 0.0;
    double x = 0.0;
};

/// The larger of the two balls' errors at the scene's end, as lengths of vectors, against `exact` ("v" and "x_T").
Errors errors_of(const std::vector<LabBall>& after, const nlohmann::json& exact) {
    const auto error = [](const Triple& now, const nlohmann::json& known) {
        return std::hypot(now[0] - known[0].get<double>(), now[1] - known[1].get<double>());
    };
    Errors errors;
    for (int i = 0; i < 2; ++i) {
        errors.v = std::max(errors.v, error(after[i].v, exact["v"][i]));
        errors.x = std::max(errors.x, error(after[i].x, exact["x_T"][i]));
    }
    return errors;
}

/// Begins with a free flight of `phase` steps, so that the contact begins at another phase of a step, and ends exactly
/// at the scene's end by another free flight.
Errors run_phase(const ObliqueScene& oblique, double dt, double phase, bool symplectic) {
    SpringSetup setup = free_space(64.0, dt);
    setup.stiffness = oblique.k;
    setup.symplectic_euler = symplectic;
    const auto fly = [](std::vector<LabBall> balls, double time) {
        for (auto& ball : balls) {
            for (int axis = 0; axis < 2; ++axis) ball.x[axis] += time * ball.v[axis];
        }
        return balls;
    };
    const double steps = std::floor(oblique.end / dt - phase);
    SpringLab lab(setup, fly(oblique.balls(), phase * dt));
    lab.advance(static_cast<std::uint64_t>(steps));
    return errors_of(fly(lab.look(), oblique.end - (steps + phase) * dt), oblique.scene["out"]["spring"]["eps0"]);
}

class TimeStep : public ::testing::TestWithParam<bool> {};

TEST_P(TimeStep, IsOfSecondOrderWithoutDamping) {
    const ObliqueScene oblique;
    const auto table = golden("spring_convergence.json")["dt_convergence"];
    constexpr int kPhases = 16;
    // The table's maxima are over 16 phases of one choice and these over 16 of another: maxima over 16 samples of a
    // curve with a flat top differ by a few percent, 10 % at most.
    constexpr double kPhaseChoice = 0.10;
    // Seven halvings: each local order may be off by the same, log2(1.1 / 0.9) / 1; the overall order by a seventh.
    std::vector<double> steps_sizes;
    std::vector<double> maxima;
    for (const auto& row : table) {
        const double dt = row["dt"];
        Errors worst;
        for (int phase = 0; phase < kPhases; ++phase) {
            const Errors errors = run_phase(oblique, dt, (phase + 0.5) / kPhases, GetParam());
            ASSERT_FALSE(HasFatalFailure());
            worst.v = std::max(worst.v, errors.v);
            worst.x = std::max(worst.x, errors.x);
        }
        const double golden_v = row["max_v_error_over_16_phases"];
        const double golden_x = row["max_x_error"];
        EXPECT_NEAR(worst.v, golden_v, kPhaseChoice * golden_v) << "dt = " << dt;
        EXPECT_NEAR(worst.x, golden_x, kPhaseChoice * golden_x) << "dt = " << dt;
        steps_sizes.push_back(dt);
        maxima.push_back(worst.v);
    }
    const double order = std::log(maxima.front() / maxima.back()) / std::log(steps_sizes.front() / steps_sizes.back());
    const double uncertainty =
        std::log((1.0 + kPhaseChoice) / (1.0 - kPhaseChoice)) / std::log(steps_sizes.front() / steps_sizes.back());
    EXPECT_NEAR(order, 2.0, uncertainty);
}

INSTANTIATE_TEST_SUITE_P(Integrators, TimeStep, ::testing::Bool());

TEST(DampedTimeStep, IsOfFirstOrder) {
    // The largest error of the restitution over 32 phases of the step.
    constexpr double kRestitution = 0.5;
    const double zeta = damping_ratio_of_restitution(kRestitution);
    constexpr double kStiffness = 1.0e4;
    constexpr int kPhases = 32;
    const double duration = contact_duration(kStiffness, 0.5, zeta);
    std::vector<double> errors;
    std::vector<double> foretold;
    for (int n = 50; n <= 1600; n *= 2) {
        const double dt = duration / n;
        double worst = 0.0;
        for (int phase = 0; phase < kPhases; ++phase) {
            SpringSetup setup = free_space(64.0, dt);
            setup.stiffness = kStiffness;
            setup.damping_ratio = zeta;
            const double gap = 0.5 * dt * (phase + 0.5) / kPhases;
            SpringLab lab(setup,
                          {{{-0.5 - gap, 0.0, 0.0}, {0.5, 0.0, 0.0}}, {{0.5 + gap, 0.0, 0.0}, {-0.5, 0.0, 0.0}}});
            lab.advance(static_cast<std::uint64_t>(n + n / 5));
            const auto after = lab.look();
            worst = std::max(worst, std::abs(after[1].v[0] - after[0].v[0] - kRestitution));
        }
        errors.push_back(worst);
        foretold.push_back(kRestitution * restitution_scatter(zeta, n));
    }
    // What `check` says of it: the same, but for other phases, and single steps' rounding.
    for (std::size_t row = 0; row < errors.size(); ++row) {
        EXPECT_NEAR(foretold[row] / errors[row], 1.0, 0.05) << "row " << row;
    }
    for (std::size_t row = 1; row < errors.size(); ++row) {
        // The next term of the error is smaller by a factor of h = 0.07 at the first row; a maximum over 32 phases is
        // found to 1/32: together 0.1 of a factor 2, log2(1.1) of the order.
        constexpr double kOrder = 0.14;
        EXPECT_NEAR(std::log2(errors[row - 1] / errors[row]), 1.0, kOrder) << "row " << row << ": " << errors[row];
    }
}

TEST(Stiffness, ApproachesTheHardContactWithOrderOneHalf) {
    ObliqueScene oblique;
    const auto hard = oblique.scene["out"]["hard"];
    double last_v = 0.0;
    double last_x = 0.0;
    int orders = 0;
    const auto table = golden("spring_convergence.json")["k_convergence"];
    for (const auto& row : table) {
        oblique.k = row["k"];
        if (oblique.k > 2.0e6) break;  // 5e5 steps
        const double h = 0.02;
        const double omega = std::sqrt(2.0 * oblique.k);
        const double steps = std::ceil(oblique.end * omega / h);
        SpringSetup setup = free_space(64.0, oblique.end / steps);
        setup.stiffness = oblique.k;
        SpringLab lab(setup, oblique.balls());
        ASSERT_NO_FATAL_FAILURE(lab.advance(static_cast<std::uint64_t>(steps)));
        const Errors errors = errors_of(lab.look(), hard);
        // h^2 / 8 of the approach speed 1, in the position times the 3 time units since
        constexpr double kTimeStep = 0.02 * 0.02 / 8.0;
        EXPECT_NEAR(errors.v, row["max_v_error"], kTimeStep) << oblique.k;
        EXPECT_NEAR(errors.x, row["max_x_error"], 3.0 * kTimeStep) << oblique.k;
        if (oblique.k >= 6400.0 && last_v > 0.0) {
            constexpr double kOrder = 0.03;  // measured orders of the exact solution leave 0.5 by less
            EXPECT_NEAR(std::log(last_x / errors.x) / std::log(4.0), 0.5, kOrder) << oblique.k;
            if (errors.v > 40.0 * kTimeStep) {  // a time step's error of 1/40 changes the local order by 0.02
                EXPECT_NEAR(std::log(last_v / errors.v) / std::log(4.0), 0.5, kOrder) << oblique.k;
            }
            ++orders;
        }
        last_v = errors.v;
        last_x = errors.x;
    }
    EXPECT_GE(orders, 5);
}

}  // namespace carom::test::spring_convergence_test
