#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "host/observables/observable.hpp"
#include "host/observables/registry.hpp"
#include "host/scene/load.hpp"
#include "host/state/errors.hpp"

namespace carom::observables_test {

Box box_2d(Face x, Face y) {
    Box box;
    box.dimension = 2;
    box.size = {10.0, 4.0, 0.0};
    box.faces[0] = {x, x};
    box.faces[1] = {y, y};
    return box;
}

std::map<std::string, double> row_of(const ObservableContext& context, const Totals& totals, const Tallies& before,
                                     const Tallies& now, double elapsed) {
    ObservableSet set(default_observables(context));
    set.evaluate(1.0, 1, totals, before, nullptr);
    const ObservableRow row = set.evaluate(1.0 + elapsed, 2, totals, now, nullptr);
    std::map<std::string, double> values;
    std::size_t k = 0;
    for (const auto& info : set.infos()) {
        if (info.components.empty()) values[info.name] = row.values[k++];
        for (const auto& component : info.components) values[info.name + "." + component] = row.values[k++];
    }
    EXPECT_EQ(k, row.values.size());
    return values;
}

Tallies tallies_of(std::vector<double> impulse) {
    Tallies tallies;
    tallies.wall_impulse = std::move(impulse);
    return tallies;
}

TEST(Observables, NamesAreUnique) {
    const ObservableSet set(default_observables({.box = box_2d(Face::kWall, Face::kWall)}));
    std::set<std::string> names;
    for (const auto& info : set.infos()) EXPECT_TRUE(names.insert(info.name).second) << info.name;
}

TEST(Observables, PressureIsForcePerLengthIn2D) {
    for (const int dimension : {2, 3}) {
        Box box = box_2d(Face::kWall, Face::kWall);
        box.dimension = dimension;
        box.size[2] = 5.0;
        int found = 0;
        const ObservableSet set(default_observables({.box = box}));
        for (const auto& info : set.infos()) {
            if (info.name.ends_with("_pressure")) {
                EXPECT_EQ(info.unit, dimension == 2 ? "N m-1" : "Pa") << info.name;
                ++found;
            }
        }
        EXPECT_EQ(found, 2);
    }
}

TEST(Observables, ASceneCannotTakeTheNameOfOneThatEveryRunHas) {
    const ObservableSet set(default_observables({.box = box_2d(Face::kWall, Face::kWall)}));
    for (const auto& info : set.infos()) {
        const std::string scene =
            "[scene]\ndimension = 2\n[box]\nsize = [4.0, 4.0]\n[[observe]]\nkind = \"displaced\"\nname = ";
        EXPECT_THROW(static_cast<void>(parse_scene(scene + '"' + info.name + '"', "names.toml")), InputError)
            << info.name;
        EXPECT_NO_THROW(static_cast<void>(parse_scene(scene + '"' + info.name + "_2\"", "names.toml")));
    }
}

TEST(Observables, KineticSpringAndGravitationalEnergyAddUpToTheTotal) {
    const Totals totals{.kinetic = 3.0, .rotational = 0.5, .spring = 0.25, .gravitational = 7.0, .mobile = 3};
    auto row = row_of({.box = box_2d(Face::kWall, Face::kWall)}, totals, tallies_of({0, 0, 0, 0, 0, 0}),
                      tallies_of({0, 0, 0, 0, 0, 0}), 1.0);
    EXPECT_EQ(row["total_energy"], 10.75);
    EXPECT_EQ(row["kinetic_energy"] + row["spring_energy"] + row["gravitational_energy"], 10.75);
    EXPECT_EQ(row["temperature"], 1.0);  // 2 * 3 / (2 * 3): spin does not count
}

TEST(Observables, EnergiesOfTranslationSpinAndFlowAreToldApart) {
    const Totals totals{.kinetic = 3.0, .rotational = 0.5, .momentum = {3.0, 4.0, 0.0}, .balls = 3, .mobile = 2};
    const Tallies none = tallies_of({0, 0, 0, 0, 0, 0});
    ObservableContext context{.box = box_2d(Face::kWall, Face::kWall), .mass = 5.0, .balls = 3};
    auto row = row_of(context, totals, none, none, 1.0);
    EXPECT_EQ(row["translational_energy"], 3.0);
    EXPECT_EQ(row["rotational_energy"], 0.5);
    EXPECT_EQ(row["kinetic_energy"], 3.5);
    EXPECT_EQ(row["flow_energy"], 2.5);             // 5^2 / (2 * 5)
    EXPECT_EQ(row["rotational_temperature"], 0.5);  // 2 * 0.5 / (1 * 2)
    context.box.dimension = 3;
    context.box.size[2] = 1.0;
    EXPECT_DOUBLE_EQ(row_of(context, totals, none, none, 1.0)["rotational_temperature"], 0.5 / 3.0);
    context.balls = 4;
    EXPECT_TRUE(std::isnan(row_of(context, totals, none, none, 1.0)["flow_energy"])) << "one has left";
}

TEST(Observables, WallPressureIsImpulseOverAreaAndTime) {
    auto row = row_of({.box = box_2d(Face::kWall, Face::kPeriodic)}, {}, tallies_of({1, 2, 9, 9, 0, 0}),
                      tallies_of({3, 6, 9, 9, 0, 0}), 0.5);
    EXPECT_EQ(row["wall_pressure.x_min"], 2.0 / (4.0 * 0.5));
    EXPECT_EQ(row["wall_pressure.x_max"], 4.0 / (4.0 * 0.5));
    EXPECT_TRUE(std::isnan(row["wall_pressure.y_min"]));
}

TEST(Observables, VirialPressureCountsTheVolumeThatCentresReach) {
    const Totals totals{.kinetic = 5.0, .virial = 2.0};
    const Tallies none = tallies_of({0, 0, 0, 0, 0, 0});
    auto periodic =
        row_of({.box = box_2d(Face::kPeriodic, Face::kPeriodic), .mean_radius = 0.5}, totals, none, none, 1);
    EXPECT_DOUBLE_EQ(periodic["virial_pressure"], 12.0 / (2 * 40.0));
    auto walls = row_of({.box = box_2d(Face::kWall, Face::kPeriodic), .mean_radius = 0.5}, totals, none, none, 1);
    EXPECT_DOUBLE_EQ(walls["virial_pressure"], 12.0 / (4.0 * (10.0 - 1.0) + 10.0 * 4.0));
}

class DisplacedTest : public testing::Test {
protected:
    DisplacedTest() {
        start.dimension = 2;
        start.species_table = std::vector<Species>(2);
        start.species_table[0].name = "pin";
        start.species_table[1].name = "ball";
        start.resize(3);
        start.species = {0, 0, 1};
        start.position = {{{1.0, 2.0, 3.0}, {1.0, 1.0, 1.0}, {}}};
        frame.resize(2, 3);
        frame.position = start.position;
    }
    double count(const std::string& species, double threshold) {
        const ObservableContext context{.box = box_2d(Face::kPeriodic, Face::kOpen), .start = &start};
        const auto observable =
            make_observable({.name = "n", .kind = "displaced", .species = species, .threshold = threshold}, context);
        const Totals totals;
        const Tallies tallies;
        double value = -1.0;
        observable->evaluate({.totals = totals, .tallies = tallies, .frame = &frame}, std::span(&value, 1));
        return value;
    }
    Balls start;
    Frame frame;
};

TEST_F(DisplacedTest, SpinOfASpeciesIsThatOfItsBallsThatAreIn) {
    start.species_table[0].mass = 2.0;
    start.species_table[0].radius_of_gyration = 0.5;
    start.species_table[1].mass = 7.0;
    start.species_table[1].radius_of_gyration = 1.0;
    frame.spin[2] = {1.0, 3.0, 2.0};
    const ObservableContext context{.box = box_2d(Face::kPeriodic, Face::kOpen), .species = &start};
    const auto temperature = [&](const std::string& species) {
        const auto observable =
            make_observable({.name = "n", .kind = "rotational_temperature", .species = species}, context);
        const Totals totals;
        const Tallies tallies;
        double value = -1.0;
        observable->evaluate({.totals = totals, .tallies = tallies, .frame = &frame}, std::span(&value, 1));
        return value;
    };
    EXPECT_DOUBLE_EQ(temperature("pin"), 0.5 * (1.0 + 9.0) / 2.0);
    EXPECT_DOUBLE_EQ(temperature("ball"), 28.0);
    EXPECT_DOUBLE_EQ(temperature(""), (5.0 + 28.0) / 3.0);
    frame.gone[1] = 1;
    EXPECT_DOUBLE_EQ(temperature("pin"), 0.5);
    start.species_table[1].mass = std::numeric_limits<double>::infinity();
    EXPECT_DOUBLE_EQ(temperature(""), 0.5) << "a body that nothing moves has no part";
}

TEST_F(DisplacedTest, CountsBallsOfItsSpeciesBeyondTheThreshold) {
    EXPECT_EQ(count("pin", 0.1), 0.0);
    frame.position[0][0] += 0.2;
    frame.position[1][2] += 5.0;
    EXPECT_EQ(count("pin", 0.1), 1.0);
    EXPECT_EQ(count("pin", 0.3), 0.0);
    EXPECT_EQ(count("", 0.1), 2.0);
}

TEST_F(DisplacedTest, EachBallIsToldByItsId) {
    const ObservableContext context{.box = box_2d(Face::kPeriodic, Face::kOpen), .start = &start};
    const auto observable =
        make_observable({.name = "n", .kind = "displaced_each", .species = "pin", .threshold = 0.1}, context);
    EXPECT_EQ(observable->info().components, (std::vector<std::string>{"0", "1"}));
    frame.position[0][1] += 0.2;
    frame.position[1][2] += 5.0;
    std::vector<double> values(3, -1.0);
    const Totals totals;
    const Tallies tallies;
    observable->evaluate({.totals = totals, .tallies = tallies, .frame = &frame}, std::span(values).first(2));
    EXPECT_EQ(values, (std::vector<double>{0.0, 1.0, -1.0}));
}

TEST_F(DisplacedTest, AWayAroundAPeriodicSideIsAWay) {
    frame.image[0][1] = 1;
    EXPECT_EQ(count("pin", 9.0), 1.0);
}

TEST_F(DisplacedTest, ABallThatHasLeftHasMoved) {
    frame.gone[0] = 1;
    frame.position[0][0] = frame.position[1][0] = std::nan("");
    EXPECT_EQ(count("pin", 1e9), 1.0);
}

}  // namespace carom::observables_test
