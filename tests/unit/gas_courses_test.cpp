#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "host/observables/time_series.hpp"
#include "host/scene/load.hpp"
#include "host/theory/adiabatic.hpp"
#include "host/theory/conduction.hpp"
#include "host/theory/standing_wave.hpp"
#include "host/theory/theory_checks.hpp"
#include "kernels/physics/equation_of_state.hpp"
#include "kernels/physics/viscosity.hpp"

namespace carom::gas_courses_test {

/// A box of 40 that a wall from the left makes 10 shorter per unit of time; points, but for a radius of 1e-6.
struct Gas {
    GasFacts facts;
    std::string text;
    std::vector<double> times{0.0, 1.0, 2.0};

    explicit Gas(int dimension = 2) {
        facts.dimension = dimension;
        facts.balls = 1000.0;
        facts.mass = 1e-6;  // sound is 1000 times as fast as a unit
        set_radius(1e-6);
        const std::string third = dimension == 3 ? ", 40.0" : "";
        const std::string zero = dimension == 3 ? ", 0.0" : "";
        text = "[scene]\ndimension = " + std::to_string(dimension) + "\n[box]\nsize = [40.0, 40.0" + third +
               "]\n[run]\nsolver = \"events\"\nuntil = 2.0\n[[wall]]\nshape = \"plane\"\nnormal = [1.0, 0.0" + zero +
               "]\nvelocity = 10.0\n[[fill]]\nradius = 1e-6\nmass = 1e-6\ncount = 1000\ntemperature = 3.0\n";
    }
    void set_radius(double radius) {
        facts.radius = radius;
        facts.diameter = 2.0 * radius;
    }
    [[nodiscard]] std::optional<AdiabaticCourse> course(const std::string& from = "", const std::string& to = "",
                                                        const std::string& more = "") const {
        std::string scene = text;
        if (!from.empty()) scene.replace(scene.find(from), from.size(), to);
        return adiabatic_course(facts, parse_scene(scene + more, "gas.toml"), times, 3.0);
    }
};

TEST(AdiabaticCourse, OfAThinGasHasTheIdealExponent) {
    for (const int dimension : {2, 3}) {
        const auto course = Gas(dimension).course();
        ASSERT_TRUE(course);
        EXPECT_EQ(course->time.front(), 0.0);
        EXPECT_EQ(course->time.back(), 2.0);
        for (std::size_t k = 0; k < course->time.size(); ++k) {
            const double shorter = (40.0 - 10.0 * course->time[k]) / 40.0;
            EXPECT_NEAR(course->temperature[k], 3.0 * std::pow(shorter, -2.0 / dimension), 1e-5);
        }
        EXPECT_NEAR(course->growth, 2.0 / dimension * std::log(2.0), 1e-5);
    }
}

/// Contacts keep some of the work, and give what they hold to the motion only as they end.
TEST(AdiabaticCourse, OfSoftBallsLeavesContactsTheirShare) {
    Gas gas;
    gas.set_radius(0.4);
    const auto hard = gas.course();
    gas.facts.softness = 0.5;
    gas.facts.radius = 0.41;  // 0.02 less than that is the diameter
    const double larger = 40.0 - 0.82;
    const auto soft = gas.course();
    ASSERT_TRUE(hard && soft);
    const double phi = 1000.0 * M_PI * 0.16 / (larger * larger);
    const double share = (hard_compressibility(2, phi) - 1.0) * 0.02 / 0.8;
    EXPECT_NEAR(soft->temperature.front(), 3.0 / (1.0 + share), 1e-9);
    EXPECT_GT(share, 0.02);
    EXPECT_LT(soft->growth, hard->growth / (1.0 + share));
    const double end = 1000.0 * M_PI * 0.16 / (larger * (larger - 20.0));
    EXPECT_NEAR(soft->contacts, 0.25 * (hard_compressibility(2, end) - 1.0) * 0.02 / 0.8 * soft->growth, 1e-9);
}

/// What rows have of motion alone lacks what contacts hold at that moment.
TEST(AdiabaticCheck, IsOfTheEnergyThatContactsHoldToo) {
    MeasuredRun run;
    run.scene = parse_scene(Gas().text, "gas.toml");
    run.species = {{.name = "a", .radius = 1e-6, .mass = 1e-6}};
    run.counts = {1000.0};
    run.solver.solver = "events";
    run.time = {0.0, 2.0};
    run.temperature = {3.0, 5.8};
    run.energy = {3000.0, 6000.0};
    const auto check = adiabatic_check(run);
    ASSERT_TRUE(check);
    EXPECT_NEAR(check->measured, 2.0, 1e-4);
}

/// Of eight balls between periodic faces: a momentum along these stays 0, and has no part in the energy.
TEST(AdiabaticCourse, OfFewBallsIsOfTheComponentsThatShareTheWork) {
    for (const int dimension : {2, 3}) {
        Gas gas(dimension);
        gas.facts.balls = 8.0;
        const auto between_walls = gas.course();
        const std::string periodic = dimension == 2 ? "\"periodic\"" : "\"periodic\", \"wall\"";
        const auto along = gas.course("size =", "boundary = [\"wall\", " + periodic + "]\nsize =");
        ASSERT_TRUE(between_walls && along);
        const double components = 8.0 * dimension;
        EXPECT_NEAR(between_walls->growth, 2.0 / dimension * std::log(2.0), 1e-5);
        EXPECT_NEAR(along->growth, between_walls->growth * components / (components - 1.0), 1e-5);
        gas.facts.flows = true;
        EXPECT_FALSE(gas.course());
    }
}

TEST(AdiabaticCourse, OfHardBallsIsOfTheRoomForTheirCentres) {
    Gas gas;
    gas.set_radius(0.4);
    const auto course = gas.course();
    ASSERT_TRUE(course);
    const double ball = M_PI * 0.16;
    const double from = 1000.0 * ball / (39.2 * 39.2);
    const double to = from * 39.2 / 19.2;
    // Balls stand closer beside walls than between them. Of a free energy f V + gamma S, whose change is the work.
    const auto free_energy = [&](double length) {  // over N T, but for a number
        const double surface = 0.8 * (2.0 / length + 2.0 / 39.2);
        const double phi = fraction_between_walls(2, 1000.0 * ball / (length * 39.2), surface);
        return std::pair(phi * hard_compressibility(2, phi), 0.8 * wall_tension(2, phi));
    };
    double work = 0.0;
    constexpr int kSteps = 4000;
    for (int k = 0; k < kSteps; ++k) {
        const auto [pressure, tension] = free_energy(39.2 - 20.0 * (k + 0.5) / kSteps);
        work += 20.0 / kSteps * (pressure * 39.2 - tension * 2.0) / (1000.0 * ball);
    }
    const double bulk = 3.0 * adiabatic_heating(2, from, to);
    EXPECT_NEAR(std::log(course->temperature.back() / 3.0), work, 5e-5);
    EXPECT_LT(course->temperature.back(), 0.99 * bulk);
    const double collisions = std::log(adiabatic_heating(2, from, to)) - std::log(39.2 / 19.2);
    const double walls = std::log(bulk / course->temperature.back());
    EXPECT_NEAR(course->walls, std::hypot(0.3 * walls, 0.003 * collisions), 1e-9);
    gas.set_radius(0.55);  // at the end 1.3 of the box
    EXPECT_FALSE(gas.course());
}

TEST(AdiabaticCourse, HasThePressureOfTheEquationOfState) {
    // Of points p is N T / A: 4 times as large in half the area.
    const auto ideal = Gas().course();
    ASSERT_TRUE(ideal);
    EXPECT_NEAR(ideal->pressure.front(), 1000.0 * 3.0 / 1600.0, 1e-5);
    EXPECT_NEAR(ideal->pressure.back() / ideal->pressure.front(), 4.0, 1e-5);
    ASSERT_EQ(ideal->pressure.size(), ideal->time.size());
    Gas gas;
    gas.set_radius(0.4);
    const auto dense = gas.course();
    ASSERT_TRUE(dense);
    for (const std::size_t k : {std::size_t{0}, dense->time.size() - 1}) {
        const double length = 39.2 - 10.0 * dense->time[k];
        const double ball = M_PI * 0.16;
        const double phi =
            fraction_between_walls(2, 1000.0 * ball / (39.2 * length), 0.8 * (2.0 / length + 2.0 / 39.2));
        EXPECT_NEAR(dense->pressure[k], hard_compressibility(2, phi) * phi / ball * dense->temperature[k], 1e-9);
    }
}

TEST(AdiabaticCourse, FollowsWallsFromBothSidesAwayAndInStages) {
    Gas gas;
    const std::string other = "[[wall]]\nshape = \"plane\"\nnormal = [-1.0, 0.0]\noffset = -40.0\nvelocity = 5.0\n";
    EXPECT_NEAR(gas.course("", "", other)->temperature.back(), 3.0 * 4.0, 1e-4);
    // From 20 back to the box's face at 0, and out of the box.
    const auto away = gas.course("velocity = 10.0", "offset = 20.0\nvelocity = -12.0");
    ASSERT_TRUE(away);
    EXPECT_NEAR(away->temperature.back(), 3.0 * 0.5, 1e-4);
    EXPECT_LT(away->growth, 0.0);
    const auto stages = gas.course("", "",
                                   "[[stage]]\nuntil = 0.5\nwall_velocity = [20.0]\n"
                                   "[[stage]]\nuntil = 2.0\nwall_velocity = [0.0]\n");
    ASSERT_TRUE(stages);
    EXPECT_NEAR(stages->temperature[75], 3.0 * 4.0 / 3.0 * 1.0, 0.7) << "on its way";
    EXPECT_NEAR(stages->temperature[76], 3.0 * 40.0 / (40.0 - 20.0 * 0.5), 1e-4);
    EXPECT_NEAR(stages->temperature.back(), 4.0, 1e-4);
}

TEST(AdiabaticCourse, IsNoneOfAGasThatSomethingElseDrives) {
    const Gas gas;
    ASSERT_TRUE(gas.course());
    EXPECT_FALSE(gas.course("velocity = 10.0", "velocity = 0.0"));
    EXPECT_FALSE(gas.course("velocity = 10.0", "velocity = 1000.0")) << "a wave, and no slow compression";
    EXPECT_FALSE(gas.course("velocity = 10.0", "velocity = 10.0\ntemperature = 3.0"));
    EXPECT_FALSE(gas.course("[1.0, 0.0]", "[0.6, 0.8]"));
    EXPECT_FALSE(gas.course("size =", "boundary = [\"wall\", [\"wall\", \"open\"]]\nsize ="));
    EXPECT_FALSE(gas.course("size =", "wall_temperature = [0.0, 3.0]\nsize ="));
    EXPECT_FALSE(gas.course("[run]", "[physics]\ngravity = [0.0, -1.0]\n[run]"));
    EXPECT_FALSE(gas.course("", "", "[thermostat]\nkind = \"rescale\"\ntemperature = 3.0\nevery = 0.1\n"));
    EXPECT_FALSE(gas.course("", "",
                            "[[stage]]\nuntil = 1.0\n[[stage]]\nuntil = 2.0\n"
                            "thermostat = { kind = \"andersen\", temperature = 3.0, rate = 1.0 }\n"));
    EXPECT_FALSE(gas.course("temperature = 3.0", "temperature = 3.0\nregion = { min = [0, 0], max = [20, 40] }"))
        << "it expands into what is free";
}

TEST(AdiabaticCourse, IsNoneOfAGasThatLosesEnergyOrBallsOrHasTwoKinds) {
    for (const auto spoil :
         {+[](GasFacts& facts) { facts.thermal = false; }, +[](GasFacts& facts) { facts.left = true; },
          +[](GasFacts& facts) { facts.uniform = false; }}) {
        Gas gas;
        spoil(gas.facts);
        EXPECT_FALSE(gas.course());
    }
}

/// Twice as fast for half the time: twice the friction, and twice its variance.
TEST(AdiabaticCourse, DoubtsHaste) {
    Gas gas;
    gas.set_radius(0.05);
    gas.facts.mass = 1e-12;  // so that what a wall starts is nothing beside friction
    const auto slow = gas.course();
    gas.times = {0.0, 1.0};
    const auto fast = gas.course("velocity = 10.0", "velocity = 20.0");
    ASSERT_TRUE(slow && fast);
    EXPECT_GT(slow->haste, 0.0);
    EXPECT_NEAR(fast->haste / slow->haste, 2.0, 0.01);
    EXPECT_NEAR(fast->scatter / slow->scatter, std::sqrt(2.0), 0.01);
    EXPECT_NEAR(slow->growth, fast->growth, 1e-12);
}

/// A thin gas of small disks between walls at 4 and 1, in 30 slices; mean free path 3.4.
struct ThinGas {
    GasFacts facts;
    Box box;
    RunAverage profile;

    ThinGas() {
        box.dimension = 2;
        box.size = {60.0, 40.0, 0.0};
        box.faces[0] = {Face::kWall, Face::kWall};
        facts.temperature = 2.3;
        facts.balls = 1e5;
        facts.number_density = 1e5 / 2400.0;
        set_diameter(2.5e-3);
        facts.mass = 1.0;
        facts.heat_axis = 0;
        facts.wall_temperature = {4.0, 1.0};
        profile.info.kind = "temperature_profile";
        profile.info.x = {"x", "m", 30};
        for (int k = 0; k < 30; ++k) {
            const double x = 2.0 * k + 1.0;
            profile.table.x.push_back(x);
            profile.table.values.push_back(law(x));
            profile.table.errors.push_back(0.01);
        }
    }
    void set_diameter(double diameter) {
        facts.diameter = diameter;
        facts.radius = 0.5 * diameter;
        facts.packing_fraction = facts.number_density * M_PI / 4.0 * diameter * diameter;
    }
    /// T^(3/2) linear: 3.5 and 1.2 at the walls.
    static double law(double x) {
        const double hot = std::pow(3.5, 1.5);
        return std::pow(hot + (std::pow(1.2, 1.5) - hot) * x / 60.0, 2.0 / 3.0);
    }
};

TEST(ConductionCurve, OfAThinGasHasTemperatureToTheThreeHalvesLinear) {
    ThinGas gas;
    // Next to the walls no local law holds, and nothing is fitted: two free paths are 13 at the hot wall, of a gas that
    // is half as dense there, and 3 at the cold one.
    for (const std::size_t k : {0u, 1u, 2u, 3u, 4u, 5u, 29u}) gas.profile.table.values[k] = 2.0;
    const std::vector<TheoryCurve> curves = conduction_curves(gas.facts, gas.box, gas.profile);
    ASSERT_EQ(curves.size(), 2u);
    const TheoryCurve& curve = curves[0];
    ASSERT_EQ(curve.x.front(), 0.0);
    ASSERT_EQ(curve.x.back(), 60.0);
    for (std::size_t k = 0; k < curve.x.size(); ++k) EXPECT_NEAR(curve.y[k], ThinGas::law(curve.x[k]), 2e-3);
    EXPECT_EQ(curves[1].y, (std::vector<double>{4.0, 1.0}));
    EXPECT_TRUE(curves[1].points);
}

TEST(ConductionCurve, IsOfAGasThatConducts) {
    ThinGas gas;
    gas.facts.heat_axis = 1;
    EXPECT_TRUE(conduction_curves(gas.facts, gas.box, gas.profile).empty());
    gas.facts.heat_axis = -1;
    EXPECT_TRUE(conduction_curves(gas.facts, gas.box, gas.profile).empty());
    gas.facts.heat_axis = 0;
    gas.set_diameter(3e-4);  // nothing lies two free paths from both walls: these alone
    EXPECT_EQ(conduction_curves(gas.facts, gas.box, gas.profile).size(), 1u);
    gas.set_diameter(2.5e-3);
    gas.profile.info.kind = "density";
    EXPECT_TRUE(conduction_curves(gas.facts, gas.box, gas.profile).empty());
}

TEST(ConductionCurve, IsNoneOfAGasThatLosesEnergyOrBallsOrHasTwoKinds) {
    for (const auto spoil :
         {+[](GasFacts& facts) { facts.thermal = false; }, +[](GasFacts& facts) { facts.left = true; },
          +[](GasFacts& facts) { facts.uniform = false; }}) {
        ThinGas gas;
        ASSERT_TRUE(conduction_law(gas.facts, gas.box, gas.profile));
        spoil(gas.facts);
        EXPECT_FALSE(conduction_law(gas.facts, gas.box, gas.profile));
        const std::vector<TheoryCurve> curves = conduction_curves(gas.facts, gas.box, gas.profile);
        ASSERT_EQ(curves.size(), 1u);
        EXPECT_EQ(curves[0].label, "the walls");
    }
}

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
    const double slowed = sound_slowed_by_walls(2, 0.2, 2.0 / 100.0, 100.0);
    EXPECT_NEAR(slowed, 0.0077, 1e-3)
        << "scaled particle theory has layers of 0.31 at each wall, and 0.3 % less beyond";
    const double c = sound_speed(2, 0.2) * std::sqrt(1.5) * (1.0 - slowed);
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
          +[](GasFacts& facts) { facts.warmed = true; }, +[](GasFacts& facts) { facts.walls = true; },
          +[](GasFacts& facts) {
              facts.gravity = {0.0, -1.0, 0.0};
          }}) {
        Wave wave(0.1);
        spoil(wave.facts);
        EXPECT_FALSE(wave.theory());
    }
}

/// Nor of a run in which something does so before it is measured: the wave begins with the first frame.
TEST(StandingWave, IsNoneOfARunThatAStageHasDriven) {
    const auto is_there = [](const std::string& stage, double start = 0.0) {
        Wave wave(0.15, 4000);
        MeasuredRun run;
        run.scene = parse_scene(
            "[scene]\ndimension = 2\n[box]\nsize = [101.0, 40.0]\nboundary = [\"wall\", "
            "\"periodic\"]\n[run]\nsolver = \"events\"\nuntil = 100.0\n[[fill]]\nradius = 0.25\n"
            "mass = 2.0\ncount = 4000\ntemperature = 3.0\n[[stage]]\nuntil = 10.0\nmeasure = "
            "false\n" +
                stage + "[[stage]]\nuntil = 100.0\n",
            "wave.toml");
        run.scene.box.min = wave.box.min;
        run.species = {{.name = "a", .radius = 0.25, .mass = 2.0}};
        run.counts = {4000.0};
        run.solver.solver = "events";
        run.time = {0.0, 50.0, 100.0};
        run.temperature = {3.0, 3.0, 3.0};
        wave.frame.time = start;
        run.first_frame = wave.frame;
        return standing_wave(run).has_value();
    };
    EXPECT_TRUE(is_there(""));
    for (const std::string stage : {"gravity = [0.002, 0.0]\n", "wall_temperature = [3.0, 0.0]\n",
                                    "thermostat = { kind = \"andersen\", temperature = 3.0, rate = 1.0 }\n"}) {
        EXPECT_FALSE(is_there(stage)) << stage;
        EXPECT_TRUE(is_there(stage, 10.0)) << "of what is resumed behind it: " << stage;
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

/// Rows 0.4 to 0.55 periods apart are those of another frequency as well.
TEST(SoundSpeedCheck, HasNoVerdictWhereRowsAreTooFarApart) {
    const auto theory = Wave(0.1).theory();
    ASSERT_TRUE(theory);
    const auto check_of = [&](double periods) {
        std::vector<double> times;
        std::vector<double> difference;
        for (int row = 0; row <= 40; ++row) {
            times.push_back(periods * 2.0 * M_PI / theory->frequency(0) * row);
            const double middle = times.back() - 0.5 * (times.back() / std::max(row, 1));
            difference.push_back(row == 0 ? std::nan("")
                                          : theory->pressure_at(0, middle) - theory->pressure_at(1, middle));
        }
        return sound_speed_check(*theory, times, difference).value_or(TheoryCheck{});
    };
    EXPECT_EQ(check_of(0.38).reason, "");
    EXPECT_NEAR(check_of(0.38).measured, theory->speed, 0.01 * theory->speed);
    for (const double periods : {0.39, 0.45, 0.55}) EXPECT_EQ(check_of(periods).reason, "rows too far apart");
}

/// A dense gas in a short box: 2.2 % of 80 diameters at 0.4 in runs, 7.7 to 10 % of 40 at 0.6.
TEST(SoundSpeedCheck, KnowsThatWallsSlowSound) {
    EXPECT_NEAR(sound_slowed_by_walls(2, 0.4, 2.0 / 80.0, 80.0), 0.022, 0.0025);
    EXPECT_NEAR(sound_slowed_by_walls(2, 0.6, 2.0 / 40.0, 40.0), 0.089, 0.015);
    EXPECT_LT(sound_slowed_by_walls(2, 0.2, 2.0 / 400.0, 400.0), 0.0025);
    StandingWave wave = Wave(0.1).theory().value();
    wave.slowed = 0.05;
    std::vector<double> times;
    std::vector<double> difference;
    for (int row = 0; row <= 100; ++row) {
        times.push_back(4.0 * row);
        const double middle = times.back() - 2.0;
        difference.push_back(row == 0 ? std::nan("") : wave.pressure_at(0, middle) - wave.pressure_at(1, middle));
    }
    const auto check = sound_speed_check(wave, times, difference);
    ASSERT_TRUE(check);
    EXPECT_NEAR(check->measured, check->expected, 3e-3 * check->expected) << "of the bulk";
    EXPECT_GE(check->uncertainty, 0.3 * 0.05 * check->expected);
    wave.attenuation = 0.11 * wave.frequency(0) / (wave.wave_number(0) * wave.wave_number(0));
    EXPECT_FALSE(sound_speed_check(wave, times, difference)) << "gone before it has swung";
}

/// Samples that swing once in all.
std::vector<double> slow(std::size_t count) {
    std::vector<double> samples;
    for (std::size_t k = 0; k < count; ++k)
        samples.push_back(std::cos(2.0 * M_PI * (static_cast<double>(k) + 0.5) / 16.0));
    return samples;
}

double error_of_independent(const std::vector<double>& samples) {
    const auto count = static_cast<double>(samples.size());
    double mean = 0.0;
    for (const double value : samples) mean += value / count;
    double squares = 0.0;
    for (const double value : samples) squares += (value - mean) * (value - mean);
    return std::sqrt(squares / (count * (count - 1.0)));
}

TEST(TheoryVerdict, IsOfErrorsThatKnowOfNeighbours) {
    constexpr auto kLeast = static_cast<std::size_t>(kLeastSamplesForVerdict);
    const std::vector<double> enough = slow(kLeast);
    EXPECT_GT(blocked_error(enough), 1.4 * error_of_independent(enough));
    const std::vector<double> few = slow(kLeast - 1);
    EXPECT_DOUBLE_EQ(blocked_error(few), error_of_independent(few)) << "though they are no more independent";
}

}  // namespace carom::gas_courses_test
