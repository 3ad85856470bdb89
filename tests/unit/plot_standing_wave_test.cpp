#include <gtest/gtest.h>

#include <cmath>

#include "host/plot/standing_wave.hpp"
#include "kernels/physics/equation_of_state.hpp"
#include "kernels/physics/viscosity.hpp"

namespace carom {
namespace {

/// Disks between two walls, at random places no more: each stands where its share of cos(pi x / L) puts it, and has one
/// of two opposite velocities along y.
struct Wave {
    GasFacts facts;
    Box box;
    Frame frame;

    explicit Wave(double denser, std::size_t count = 20000) {
        box.dimension = 2;
        box.min = {5.0, 0.0, 0.0};
        box.size = {101.0, 40.0, 0.0};
        box.faces[0] = {Face::kWall, Face::kWall};
        box.faces[1] = {Face::kPeriodic, Face::kPeriodic};
        facts.balls = static_cast<double>(count);
        facts.number_density = facts.balls / 4000.0;
        facts.radius = 0.5;
        facts.diameter = 1.0;
        facts.packing_fraction = 0.2;  // as if the disks were smaller than their distance from walls
        facts.mass = 2.0;
        facts.temperature = 3.0;
        frame.resize(2, count);
        for (std::size_t i = 0; i < count; ++i) {
            // x + a / k sin(k x) = L (i + 1/2) / N, by Newton's method.
            const double target = 100.0 * (static_cast<double>(i) + 0.5) / facts.balls;
            double x = target;
            for (int k = 0; k < 20; ++k) {
                x -= (x + denser / kNumber * std::sin(kNumber * x) - target) / (1.0 + denser * std::cos(kNumber * x));
            }
            frame.position[0][i] = 5.5 + x;
            frame.position[1][i] = 20.0;
            frame.velocity[0][i] = 0.0;
            frame.velocity[1][i] = std::sqrt(3.0) * (i % 2 == 0 ? 1.0 : -1.0);  // m v^2 / 2 = T
        }
    }
    [[nodiscard]] std::optional<StandingWave> theory() const { return standing_wave(facts, box, frame, 0); }
    static constexpr double kNumber = M_PI / 100.0;
};

TEST(StandingWave, OfADensityStartsAtItsPressureAndTurnsAfterHalfAPeriod) {
    const Wave wave(0.1);
    const auto theory = wave.theory();
    ASSERT_TRUE(theory);
    const double n = wave.facts.number_density;
    const double rest = n * 3.0 * hard_compressibility(2, 0.2);
    const double swing = 0.1 * n * 3.0 * isothermal_stiffness(2, 0.2);
    EXPECT_NEAR(theory->pressure_at(0, 0.0), rest + swing, 1e-3 * swing);
    EXPECT_NEAR(theory->pressure_at(1, 0.0), rest - swing, 1e-3 * swing);
    const double c = sound_speed(2, 0.2) * std::sqrt(1.5);
    const double half = 100.0 / c;
    const double left = std::exp(-sound_attenuation(2, 0.2, 1.0, 3.0, 2.0) * Wave::kNumber * Wave::kNumber * half);
    EXPECT_NEAR(theory->pressure_at(0, half), rest - left * swing, 1e-3 * swing);
    EXPECT_LT(left, 0.99);
    EXPECT_NEAR(theory->pressure_at(1, 0.5 * half), rest, 1e-3 * swing);
}

TEST(StandingWave, OfATemperatureHasNoDensity) {
    Wave wave(0.0);
    for (std::size_t i = 0; i < wave.frame.position[0].size(); ++i) {
        const double hotter = 1.0 + 0.2 * std::cos(Wave::kNumber * (wave.frame.position[0][i] - 5.5));
        wave.frame.velocity[1][i] *= std::sqrt(hotter);
    }
    const auto theory = wave.theory();
    ASSERT_TRUE(theory);
    const double rest = theory->pressure;
    EXPECT_NEAR(theory->pressure_at(0, 0.0), 1.2 * rest, 1e-3 * rest);
}

TEST(StandingWave, OfAFlowStartsAQuarterLater) {
    Wave wave(0.0);
    for (std::size_t i = 0; i < wave.frame.position[0].size(); ++i) {
        wave.frame.velocity[0][i] = -0.2 * std::sin(Wave::kNumber * (wave.frame.position[0][i] - 5.5));
    }
    const auto theory = wave.theory();
    ASSERT_TRUE(theory);
    EXPECT_NEAR(theory->sine[0], 2.0 * wave.facts.number_density * theory->speed * 0.2, 1e-6) << "towards the left";
    EXPECT_NEAR(theory->cosine[0], 0.0, 0.02 * theory->sine[0]);
}

TEST(StandingWave, IsNoneOfAGasAtRestNorOfAStorm) {
    EXPECT_FALSE(Wave(0.0).theory());
    EXPECT_FALSE(Wave(0.03, 2000).theory()) << "two standard deviations of noise";
    EXPECT_TRUE(Wave(0.17, 2000).theory());
    EXPECT_FALSE(Wave(0.5).theory()) << "no linear theory";
    Wave wave(0.1);
    EXPECT_FALSE(standing_wave(wave.facts, wave.box, wave.frame, 1)) << "there are no walls";
}

TEST(StandingWave, IsNoneOfAGasThatSomethingDrivesOrThatIsNoGasOfOneKind) {
    for (const auto spoil :
         {+[](GasFacts& facts) { facts.thermal = false; }, +[](GasFacts& facts) { facts.left = true; },
          +[](GasFacts& facts) { facts.uniform = false; }, +[](GasFacts& facts) { facts.undriven = false; },
          +[](GasFacts& facts) { facts.bath = true; }, +[](GasFacts& facts) { facts.walls = true; },
          +[](GasFacts& facts) {
              facts.gravity = {0.0, -1.0, 0.0};
          }}) {
        Wave wave(0.1);
        spoil(wave.facts);
        EXPECT_FALSE(wave.theory());
    }
}

/// Rows that hold theory's wave, 10 % faster than theory has it, and a ripple; the mean over a row is its middle's
/// value to (w dt)^2 / 24, the same for all.
TEST(SoundSpeedCheck, FindsTheSpeedThatRowsHave) {
    const Wave wave(0.1);
    const auto theory = wave.theory();
    ASSERT_TRUE(theory);
    StandingWave real = *theory;
    real.speed *= 1.1;
    std::vector<double> times;
    std::vector<double> difference;
    for (int row = 0; row <= 200; ++row) {
        times.push_back(2.0 * row);
        const double middle = times.back() - 1.0;
        difference.push_back(row == 0 ? std::nan("")
                                      : real.pressure_at(0, middle) - real.pressure_at(1, middle) +
                                            0.01 * theory->pressure * ((row * 7) % 5 - 2));
    }
    const auto check = sound_speed_check(*theory, times, difference);
    ASSERT_TRUE(check);
    EXPECT_NEAR(check->measured, real.speed, 4.0 * check->error);
    EXPECT_NEAR(check->measured, real.speed, 3e-3 * real.speed);
    EXPECT_LT(check->error, 0.01 * real.speed);
    EXPECT_EQ(check->expected, theory->speed);
    times.resize(100);
    difference.resize(100);
    EXPECT_TRUE(sound_speed_check(*theory, times, difference));
    times.resize(40);
    difference.resize(40);
    EXPECT_FALSE(sound_speed_check(*theory, times, difference)) << "less than one and a half periods";
}

}  // namespace
}  // namespace carom
