#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kernels/physics/restitution.hpp"

namespace carom {
namespace {

nlohmann::json golden() {
    std::ifstream file(CAROM_GOLDEN_DIR "/spring_binary.json");
    return nlohmann::json::parse(file);
}

TEST(Restitution, DampingRatioIsTheGoldenOne) {
    const auto table = golden()["damping_for_e"];
    ASSERT_FALSE(table.empty());
    for (const auto& row : table) {
        const double zeta = row["zeta_cut"];
        const double e = row["e"];
        // e is known to 1 ulp; where the curve is flat (e near 1: d(ln e) / d(zeta) = -pi) nothing is magnified by more
        // than 100
        EXPECT_NEAR(damping_ratio_of_restitution(e), zeta, 1e-14 + 1e-13 * zeta) << "e = " << e;
        EXPECT_NEAR(restitution_of_damping_ratio(zeta), e, 1e-14) << "zeta = " << zeta;
    }
}

TEST(Restitution, RestitutionAndDurationAreThoseOfTheGoldenContacts) {
    const auto rows = golden()["damped"];
    ASSERT_FALSE(rows.empty());
    for (const auto& row : rows) {
        const double zeta = row["zeta"];
        const double e = row["out"]["e_cut"];
        const double duration = row["out"]["t_cut"];
        EXPECT_NEAR(restitution_of_damping_ratio(zeta), e, 1e-14) << zeta;
        EXPECT_NEAR(contact_duration(row["k"], row["m_eff"], zeta), duration, 1e-14 * duration) << zeta;
    }
}

TEST(Restitution, BranchesMeetSmoothly) {
    EXPECT_NEAR(restitution_of_damping_ratio(1.0), std::exp(-2.0), 1e-15);
    for (const double edge : {1.0 - 5.0e-4, 1.0, 1.0 + 5.0e-4}) {
        const double below = damped_half_phase(edge - 1e-7);
        const double above = damped_half_phase(edge + 1e-7);
        EXPECT_NEAR(below - above, 2e-7 / 3.0, 1e-10) << edge;  // slope -1/3 at 1
    }
    EXPECT_EQ(restitution_of_damping_ratio(0.0), 1.0);
}

TEST(Restitution, InverseHoldsOverAllRestitutions) {
    for (int thousandth = 10; thousandth <= 1000; ++thousandth) {
        const double e = 1e-3 * thousandth;
        EXPECT_NEAR(restitution_of_damping_ratio(damping_ratio_of_restitution(e)), e, 4e-16 + 2e-15 * e) << e;
    }
}

// The formulas against the motion itself: Runge-Kutta of 4th order until the force is zero.
TEST(Restitution, FormulasAreThoseOfTheMotion) {
    for (const double zeta : {0.05, 0.3, 0.9, 1.0, 1.7}) {
        double x = 0.0;
        double v = 1.0;
        double t = 0.0;
        const double dt = 1.0e-4;
        const auto acceleration = [zeta](double at, double rate) { return -at - 2.0 * zeta * rate; };
        double last_x = x;
        double last_v = v;
        while (x + 2.0 * zeta * v > 0.0 || t == 0.0) {
            last_x = x;
            last_v = v;
            const double a1 = acceleration(x, v);
            const double v2 = v + 0.5 * dt * a1;
            const double a2 = acceleration(x + 0.5 * dt * v, v2);
            const double v3 = v + 0.5 * dt * a2;
            const double a3 = acceleration(x + 0.5 * dt * v2, v3);
            const double v4 = v + dt * a3;
            const double a4 = acceleration(x + dt * v3, v4);
            x += dt / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4);
            v += dt / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
            t += dt;
        }
        const double force = x + 2.0 * zeta * v;
        const double last_force = last_x + 2.0 * zeta * last_v;
        const double back = force / (force - last_force);  // share of the last step beyond the end
        EXPECT_NEAR(-(v + back * (last_v - v)), restitution_of_damping_ratio(zeta), 1e-8) << zeta;
        EXPECT_NEAR(t - back * dt, contact_duration(1.0, 1.0, zeta), 1e-7) << zeta;
    }
}

}  // namespace
}  // namespace carom
