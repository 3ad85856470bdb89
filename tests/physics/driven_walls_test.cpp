#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "kernels/physics/equation_of_state.hpp"
#include "kernels/physics/thermal_wall.hpp"
#include "tests/support/driven_run.hpp"

// Walls with a temperature. Seeds are fixed; each statistical bound says how often it would fail by chance.

namespace carom::test::driven_walls_test {

template <int Dim>
void expect_flux_weighted(const Vec<double, Dim>& normal) {
    constexpr int kDraws = 1000000;
    const double spread = 1.7;
    double along = 0.0;
    double along_squared = 0.0;
    double across_squared = 0.0;
    double product = 0.0;
    for (int k = 0; k < kDraws; ++k) {
        const Vec<double, Dim> v =
            (1.0 / spread) * thermal_wall_velocity(normal, spread, 5, draw_id(7, 2), static_cast<std::uint64_t>(k));
        const double vn = dot(v, normal);
        ASSERT_GT(vn, 0.0);
        along += vn;
        along_squared += vn * vn;
        across_squared += dot(v, v) - vn * vn;
        product += vn * vn * (dot(v, v) - vn * vn);
    }
    // Rayleigh: mean sqrt(pi / 2), <v^2> = 2 with variance 4. Tangents: chi-squared of Dim - 1 degrees of freedom.
    // 5 sigma each, so that one in two million seeds fails.
    const double error = 5.0 / std::sqrt(kDraws);
    const double tangents = Dim - 1;
    EXPECT_NEAR(along / kDraws, std::sqrt(0.5 * kPi), error * std::sqrt(2.0 - 0.5 * kPi));
    EXPECT_NEAR(along_squared / kDraws, 2.0, error * 2.0);
    EXPECT_NEAR(across_squared / kDraws, tangents, error * std::sqrt(2.0 * tangents));
    // Independent: <a b> = <a> <b>; its variance is 8 (2 t + t^2) - 4 t^2.
    EXPECT_NEAR(product / kDraws, 2.0 * tangents, error * std::sqrt(16.0 * tangents + 4.0 * tangents * tangents));
}

TEST(ThermalWall, GivesTheFluxWeightedMaxwellian) {
    expect_flux_weighted<2>({{0.6, -0.8}});
    expect_flux_weighted<2>({{0.0, 1.0}});
    expect_flux_weighted<3>({{1.0 / 3.0, 2.0 / 3.0, -2.0 / 3.0}});
}

const char* const kBox2D = R"(
[scene]
dimension = 2
seed = 3
[box]
size = [18.0, 16.0]
wall_temperature = [2.0, 2.0]
[spring]
stiffness = 2000.0
[run]
until = 2000.0
[[fill]]
radius = 0.5
mass = 1.0
count = 60
temperature = 0.4
)";

const char* const kBox3D = R"(
[scene]
dimension = 3
seed = 4
[box]
size = [6.0, 5.0, 7.0]
wall_temperature = [2.0, [2.0, 2.0], 2.0]
[spring]
stiffness = 2000.0
[run]
until = 2000.0
[[fill]]
radius = 0.5
mass = 1.0
count = 40
temperature = 0.4
)";

struct Case {
    const char* name;
    const char* scene;
    std::vector<std::string> overrides;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class ThermalBox : public testing::TestWithParam<Case> {};

/// From 0.4 to the temperature of the walls, with Maxwell's speeds. Velocities drawn without the flux's weight bring
/// the gas to two thirds of it.
TEST_P(ThermalBox, ComesToTheTemperatureOfItsWalls) {
    DrivenRun run(GetParam().scene, GetParam().overrides);
    const int dimension = run.scene().scene.dimension();
    constexpr double kApart = 8.0;  // the gas forgets its energy in half of that: a ball crosses the box in ten
    const bool events = run.scene().plan->name() == "events";
    const int samples = events ? 130 : 50;  // springs take longer
    double sum = 0.0;
    std::vector<double> speeds;
    for (int k = 0; k < samples + 6; ++k) {
        run.to(kApart * (k + 1));
        if (k < 6) continue;
        sum += run.temperature();
        const Frame& frame = run.frame();
        for (std::size_t id = 0; id < frame.size(); ++id) {
            double squared = 0.0;
            for (int axis = 0; axis < dimension; ++axis) squared += std::pow(frame.velocity[axis][id], 2);
            speeds.push_back(std::sqrt(squared / 2.0));
        }
    }
    // K of the canonical ensemble has the variance d N T^2 / 2. Samples count as half as many, 4.5 sigma: 7e-6.
    const double freedoms = dimension * static_cast<double>(speeds.size()) / 2.0;
    const double error = 4.5 * std::sqrt(2.0 / freedoms);
    EXPECT_NEAR(sum / samples, 2.0, 2.0 * error);
    // Kolmogorov and Smirnov at 1e-3 for independent speeds, and what an error of the temperature adds.
    EXPECT_LT(distance_from_maxwell(speeds, dimension), 1.95 / std::sqrt(speeds.size()) + 0.4 * error);
    // Rounding; springs' collisions are off by h^2 / 8, h = 0.06, in both directions: a random walk of 10^5 steps.
    EXPECT_LT(std::abs(run.balance()), events ? 1e-12 : 1e-2);
}

INSTANTIATE_TEST_SUITE_P(Solvers, ThermalBox,
                         testing::Values(Case{"events_2d", kBox2D, {"run.solver=\"events\""}},
                                         Case{"events_3d", kBox3D, {"run.solver=\"events\""}},
                                         Case{"spring_2d", kBox2D, {}}, Case{"spring_3d", kBox3D, {}}),
                         [](const auto& instance) { return instance.param.name; });

const char* const kGradient = R"(
[scene]
dimension = 2
seed = 8
[box]
size = [20.0, 8.0]
boundary = ["wall", "periodic"]
wall_temperature = [[3.0, 1.0], 0.0]
[spring]
stiffness = 2000.0
[run]
until = 3000.0
[[fill]]
radius = 0.5
mass = 1.0
count = 50
temperature = 1.7
)";

class ThermalGradient : public testing::TestWithParam<Case> {};

TEST_P(ThermalGradient, LetsAsMuchHeatInAsOut) {
    DrivenRun run(kGradient, GetParam().overrides);
    run.to(60.0);
    const std::vector<double> before = run.solver().tallies().wall_heat;
    const double energy = run.solver().totals().energy();
    run.to(560.0);
    const std::vector<double> after = run.solver().tallies().wall_heat;
    const double in = after[0] - before[0];
    const double out = before[1] - after[1];
    EXPECT_GT(in, 100.0);  // some five times the energy of the gas
    // What goes in and does not come out is what the gas has more: its energy fluctuates, but does not grow.
    const double kept = run.solver().totals().energy() - energy;
    EXPECT_NEAR(in - out, kept, 1e-3 * in);
    EXPECT_LT(std::abs(kept), 0.5 * energy);
}

/// Draws are numbered by step or by a count that is saved: a run that is stopped goes on to the same bits.
TEST_P(ThermalGradient, GoesOnToTheSameBitsAfterARestart) {
    DrivenRun whole(kGradient, GetParam().overrides);
    DrivenRun parts(kGradient, GetParam().overrides);
    whole.to(20.0);
    parts.to(7.3);
    parts.restart();
    parts.to(20.0);
    EXPECT_EQ(state_hash(whole.frame()), state_hash(parts.frame()));
    EXPECT_NE(whole.solver().tallies().wall_heat[0], 0.0);
    for (std::size_t wall = 0; wall < 2; ++wall) {
        EXPECT_NEAR(whole.solver().tallies().wall_heat[wall], parts.solver().tallies().wall_heat[wall], 1e-9);
    }
    // Another seed, other velocities.
    auto overrides = GetParam().overrides;
    overrides.emplace_back("scene.seed=9");
    DrivenRun other(kGradient, overrides);
    other.to(20.0);
    EXPECT_NE(state_hash(other.frame()), state_hash(whole.frame()));
}

INSTANTIATE_TEST_SUITE_P(Solvers, ThermalGradient,
                         testing::Values(Case{"events", kGradient, {"run.solver=\"events\""}},
                                         Case{"spring", kGradient, {}},
                                         Case{"spring_double", kGradient, {"run.precision=\"double\""}}),
                         [](const auto& instance) { return instance.param.name; });

/// A ball over a warm floor under gravity, whose flight leapfrog knows exactly: so the balance is off by rounding
/// alone. Heat counted with velocities of half a step before or after would be off by weight times way at each hit,
/// always in one direction.
TEST(ThermalFloor, HeatIsThatOfVelocitiesAtTheTimeOfPositions) {
    const char* const scene = R"(
[scene]
dimension = 2
seed = 5
[box]
size = [10.0, 100.0]
boundary = ["periodic", "wall"]
wall_temperature = [0.0, [1.0, 0.0]]
[physics]
gravity = [0.0, -0.5]
[spring]
stiffness = 1.0e3
dt = 2e-3
[run]
precision = "double"
until = 400.0
[[ball]]
radius = 0.5
mass = 1.0
position = [5.0, 1.0]
velocity = [0.1, 0.2]
)";
    DrivenRun run(scene);
    run.to(400.0);
    EXPECT_GT(run.solver().tallies().wall_heat[2] * run.solver().tallies().wall_heat[2], 0.01);
    EXPECT_NEAR(run.solver().tallies().wall_impulse[2], 0.5 * 400.0, 5.0);  // bears the weight
    EXPECT_LT(std::abs(run.balance()), 1e-9);
}

// Walls that move.

class Solvers : public testing::TestWithParam<const char*> {
protected:
    [[nodiscard]] bool events() const { return std::string(GetParam()) == "events"; }
    [[nodiscard]] std::string solver() const { return "run.solver=\"" + std::string(GetParam()) + "\""; }
};

const char* const kOneBall = R"(
[scene]
dimension = 2
[box]
size = [30.0, 10.0]
[spring]
stiffness = 4.0e4
[run]
precision = "double"
until = 10.0
[[wall]]
shape = "plane"
normal = [1.0, 0.0]
offset = 2.0
velocity = 0.75
[[ball]]
radius = 0.5
mass = 2.0
position = [10.0, 5.0]
velocity = [-1.25, 0.5]
)";

/// A ball that meets the wall at v leaves at 2 u - v, and has the wall's work.
TEST_P(Solvers, AWallThatComesGivesABallTwiceItsSpeed) {
    DrivenRun run(kOneBall, {solver()});
    run.to(6.0);
    const double after = 2.0 * 0.75 + 1.25;
    // Gap 7.5 at a closing speed of 2: they meet at 3.75. A spring returns the speed to h^2 / 8, h = w dt = 0.06.
    const double bound = events() ? 1e-14 : 1e-3;
    EXPECT_NEAR(run.frame().velocity[0][0], after, bound * after);
    EXPECT_NEAR(run.frame().velocity[1][0], 0.5, 1e-14);
    const double meets = 10.0 - 1.25 * 3.75;
    EXPECT_NEAR(run.frame().position[0][0], meets + after * 2.25, events() ? 1e-13 : 0.05);
    const double gained = 0.5 * 2.0 * (after * after - 1.25 * 1.25);
    EXPECT_NEAR(run.solver().tallies().work, gained, bound * gained);
    EXPECT_NEAR(run.solver().tallies().wall_impulse[6], 2.0 * (after + 1.25), bound * 8.0);
    EXPECT_LT(std::abs(run.balance()), events() ? 1e-15 : 1e-3);
}

/// Away from the balls, it takes energy; a ball that is slower than the wall never meets it.
TEST_P(Solvers, AWallThatGoesTakesEnergy) {
    DrivenRun run(kOneBall, {solver(), "wall[0].velocity=-0.25", "wall[0].offset=4", "ball[0].position=[6.0,5.0]"});
    run.to(6.0);
    EXPECT_NEAR(run.frame().velocity[0][0], 1.25 - 0.5, events() ? 1e-14 : 1e-3);
    EXPECT_LT(run.solver().tallies().work, 0.0);
    DrivenRun slow(kOneBall, {solver(), "wall[0].velocity=-1.5", "wall[0].offset=9.4"});
    slow.to(6.0);
    EXPECT_EQ(slow.frame().velocity[0][0], -1.25);
}

std::string gas(int dimension, double speed, int count = 400) {
    const double edge = std::pow(count / 400.0, 1.0 / dimension);  // the same density
    std::string size = std::to_string((dimension == 2 ? 40.0 : 14.0) * edge);
    for (int axis = 1; axis < dimension; ++axis) size += ", " + std::to_string((dimension == 2 ? 30.0 : 10.0) * edge);
    return "[scene]\ndimension = " + std::to_string(dimension) + "\nseed = 2\n[box]\nsize = [" + size +
           "]\n[spring]\nstiffness = 3000.0\n[run]\nuntil = 1000.0\n[[wall]]\nshape = \"plane\"\nnormal = " +
           (dimension == 2 ? "[1, 0]" : "[1, 0, 0]") + "\nvelocity = " + std::to_string(speed) +
           "\n[[fill]]\nradius = " + (dimension == 2 ? "0.1" : "0.15") +
           "\nmass = 1.0\ncount = " + std::to_string(count) + "\ntemperature = 1.0\n";
}

/// Slow compression without heat: d ln T = -(2 / d) Z d ln V, with V where centres can be. Z is 1.01 to 1.03 here.
double adiabatic_growth(int dimension, const Vector3& size, double radius, double count, double way) {
    constexpr int kSlices = 1000;
    const double ball = dimension == 2 ? kPi * radius * radius : 4.0 / 3.0 * kPi * radius * radius * radius;
    const double across = dimension == 2 ? size[1] : size[1] * size[2];
    double growth = 0.0;
    for (int k = 0; k < kSlices; ++k) {
        const double length = size[0] - way * (k + 0.5) / kSlices;
        const double z = hard_compressibility(dimension, count * ball / (length * across));
        growth += 2.0 / dimension * z * (way / kSlices) / (length - 2.0 * radius);
    }
    return std::exp(growth);
}

/// gamma - 1 = ln(T'/T) / ln(V/V'), over the ideal gas' growth: 1 in 2D, 2/3 in 3D. To half the length.
void expect_adiabatic(const std::string& solver, int dimension, double speed, int count, double bound) {
    DrivenRun run(gas(dimension, speed, count), {solver, "run.until=500"});
    const bool events = run.scene().plan->name() == "events";
    const Vector3 size = run.scene().scene.box.size;
    const double radius = run.scene().scene.species[0].radius;
    run.to(0.5 * size[0] / speed);
    const double real = adiabatic_growth(dimension, size, radius, count, 0.5 * size[0]);
    const double exponent = 1.0 + 2.0 / dimension * std::log(run.temperature()) / std::log(real);
    testing::Test::RecordProperty("exponent", std::to_string(exponent));
    EXPECT_NEAR(exponent, dimension == 2 ? 2.0 : 5.0 / 3.0, bound);
    const Tallies tallies = run.solver().tallies();
    EXPECT_GT(tallies.work, 0.2 * dimension * count);
    EXPECT_LT(std::abs(run.balance()), events ? 1e-12 : 2e-3);
    EXPECT_EQ(tallies.heat(), 0.0);
}

/// The scatter over seeds is 0.02 for 400 balls, so that one in 20,000 seeds fails; friction within a gas pressed at
/// this speed adds 0.01 to 0.02.
TEST_P(Solvers, AGasIsCompressedWithTheAdiabaticExponent2In2D) {
    events() ? expect_adiabatic(solver(), 2, 0.05, 400, 0.09) : expect_adiabatic(solver(), 2, 0.1, 120, 0.15);
}
TEST_P(Solvers, AGasIsCompressedWithTheAdiabaticExponent5To3In3D) {
    events() ? expect_adiabatic(solver(), 3, 0.02, 400, 0.09) : expect_adiabatic(solver(), 3, 0.05, 120, 0.15);
}

TEST_P(Solvers, GoesOnToTheSameBitsAfterARestart) {
    const std::string scene = gas(2, 0.2, 100);
    DrivenRun whole(scene, {solver(), "run.until=20"});
    DrivenRun parts(scene, {solver(), "run.until=20"});
    whole.to(20.0);
    parts.to(7.7);
    parts.restart();
    parts.to(20.0);
    EXPECT_EQ(state_hash(whole.frame()), state_hash(parts.frame()));
    EXPECT_NEAR(whole.solver().tallies().work, parts.solver().tallies().work, 1e-9);
    EXPECT_GT(whole.solver().tallies().work, 0.0);
}

INSTANTIATE_TEST_SUITE_P(Moving, Solvers, testing::Values("events", "spring"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace carom::test::driven_walls_test
