#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <vector>

#include "host/io/trajectory_reader.hpp"
#include "host/io/trajectory_writer.hpp"
#include "host/plot/run_figure.hpp"
#include "host/scene/load.hpp"
#include "host/scene/room.hpp"
#include "tests/support/sample_trajectory.hpp"

namespace carom {
namespace {

using testing::ElementsAre;

constexpr double kRadius = 1e-6;

/// A thin gas in a box of 40 that a wall makes half as long in 20 units of time: a trajectory of which rows are written
/// by the law of points, p = N T / A and T A constant.
class Piston {
public:
    Piston() {
        TrajectoryHeader header;
        header.title = "a piston";
        header.scene_path = "piston.toml";
        header.scene_source =
            "[scene]\ndimension = 2\n[box]\nsize = [40.0, 40.0]\n[run]\nsolver = \"events\"\nuntil = 20.0\n"
            "[[wall]]\nshape = \"plane\"\nnormal = [1.0, 0.0]\nvelocity = 1.0\n"
            "[[fill]]\nradius = 1e-6\nmass = 1e-4\ncount = 1000\ntemperature = 3.0\n";
        const Scene scene = parse_scene(header.scene_source, header.scene_path);
        header.box = scene.box;
        header.species_table = {{"", kRadius, 1e-4, 0.0, ""}};
        header.species.assign(1000, 0);
        header.description.solver = "events";
        header.observables = {
            {.name = "temperature", .unit = "J", .label = "temperature", .components = {}},
            {.name = "virial_pressure", .unit = "N m-1", .label = "virial pressure", .components = {}},
            {.name = "wall_pressure", .unit = "N m-1", .label = "wall pressure", .components = {"x_min", "x_max"}}};
        TrajectoryWriter writer(folder_.file("piston.h5"), header, false);
        for (int row = 0; row <= 20; ++row) {
            const double share = 1.0 - row / 40.0;  // of the box
            const double temperature = 3.0 / share;
            // The virial is of the gas, its mean over the whole box.
            writer.append_row(
                {static_cast<double>(row),
                 static_cast<std::uint64_t>(row),
                 {temperature, 1000.0 * temperature / 1600.0, 0.0, 1000.0 * temperature / 1600.0 / share}});
        }
        writer.flush();
    }
    [[nodiscard]] Figure figure(const std::string& quantity) const {
        return run_figure(TrajectoryReader(folder_.file("piston.h5")), quantity);
    }

private:
    test::TemporaryFolder folder_;
};

std::vector<std::string> labels(const Figure& figure) {
    std::vector<std::string> labels;
    for (const Curve& curve : figure.curves) labels.push_back(curve.label);
    return labels;
}

TEST(FigureOverTime, HasThePressureOfAGasThatAWallCompressesBesideTheory) {
    const Piston piston;
    for (const char* quantity : {"pressure", "virial_pressure"}) {
        const Figure figure = piston.figure(quantity);
        ASSERT_THAT(labels(figure), ElementsAre("virial pressure, between the walls", "adiabatic, equation of state"));
        const Curve& measured = figure.curves[0];
        const Curve& theory = figure.curves[1];
        EXPECT_NEAR(measured.y.front(), 1000.0 * 3.0 / 1600.0, 1e-5);
        EXPECT_NEAR(measured.y.back(), 4.0 * measured.y.front(), 1e-4);
        EXPECT_NEAR(theory.y.front(), measured.y.front(), 1e-5);
        EXPECT_NEAR(theory.y.back(), measured.y.back(), 1e-4);
        EXPECT_NEAR(theory.y[150], measured.y[10], 1e-4) << "half way";
    }
}

TEST(FigureOverTime, LeavesWhatPressesOnWallsAsItIs) {
    const Figure walls = Piston().figure("wall_pressure");
    EXPECT_THAT(labels(walls), ElementsAre("x-min", "x-max"));
    EXPECT_EQ(walls.curves[0].y.back(), 0.0) << "behind the wall that moves";
    EXPECT_NEAR(walls.curves[1].y.back(), 4.0 * walls.curves[1].y.front(), 1e-12);
}

/// A run whose rows swing by 1 about 5, with a summary.
class StoredRun {
public:
    explicit StoredRun(const std::string& summary, const std::string& more = "") {
        TrajectoryHeader header = test::sample_header({});
        header.scene_source =
            "[scene]\ndimension = 2\n[box]\nsize = [8.0, 4.0]\n[run]\nuntil = 40.0\n"
            "[[ball]]\nradius = 0.25\nmass = 1.5\nposition = [1.0, 1.0]\n" +
            more;
        header.observables = {{.name = "force", .unit = "N", .label = "force", .components = {"x", "y"}},
                              {.name = "kinetic_energy", .unit = "J", .label = "kinetic energy", .components = {}}};
        TrajectoryWriter writer(folder_.file("run.h5"), header, false);
        for (int row = 0; row <= 40; ++row) {
            const double value = row % 2 == 0 ? 4.0 : 6.0;
            writer.append_row({static_cast<double>(row), static_cast<std::uint64_t>(row), {value, 2.0 * value, 100.0}});
        }
        writer.close(summary);
    }
    [[nodiscard]] Figure figure(const std::string& quantity) const {
        return run_figure(TrajectoryReader(folder_.file("run.h5")), quantity);
    }
    [[nodiscard]] Figure twice(const std::string& quantity) const {
        const TrajectoryReader run(folder_.file("run.h5"));
        return runs_figure({&run, &run}, quantity);
    }

private:
    test::TemporaryFolder folder_;
};

std::string summary(const std::string& equilibrated) {
    return R"({"means": {"since": 9.5, "equilibrated": )" + equilibrated + R"(, "values": {
        "force.x": {"mean": 5.0, "error": 0.25, "correlation_time": null},
        "force.y": {"mean": 10.0, "error": null, "correlation_time": null},
        "kinetic_energy": {"mean": 100.0, "error": 1e-12, "correlation_time": null}}}})";
}

TEST(FigureOverTime, HasTheMeanOfARunAtEquilibriumWithItsError) {
    const Figure figure = StoredRun(summary("true")).figure("force");
    ASSERT_THAT(labels(figure), ElementsAre("x, mean 5.0(3)", "y", "")) << "of y there is no error";
    const Curve& mean = figure.curves[2];
    EXPECT_TRUE(mean.band);
    EXPECT_EQ(mean.mean_of, 0);
    EXPECT_THAT(mean.x, ElementsAre(10.0, 40.0)) << "since equilibrium";
    EXPECT_THAT(mean.y, ElementsAre(5.0, 5.0));
    EXPECT_THAT(mean.error, ElementsAre(0.25, 0.25));
    EXPECT_THAT(labels(StoredRun(summary("true")).figure("kinetic_energy")), ElementsAre("kinetic energy"))
        << "is conserved: its error is rounding";
}

TEST(FigureOverTime, HasNoMeanOfARunThatIsNotAtEquilibriumNorOfSeveral) {
    EXPECT_THAT(labels(StoredRun(summary("false")).figure("force")), ElementsAre("x", "y"));
    EXPECT_THAT(labels(StoredRun(summary("null")).figure("force")), ElementsAre("x", "y"));
    EXPECT_THAT(labels(StoredRun("").figure("force")), ElementsAre("x", "y"));
    EXPECT_EQ(StoredRun(summary("true")).twice("force").curves.size(), 4u);
}

TEST(FigureOverTime, LeavesOutOfAMeanWhatIsNotMeasured) {
    const std::string stages =
        "[[stage]]\nuntil = 15.0\nmeasure = true\n[[stage]]\nuntil = 25.0\nmeasure = false\n[[stage]]\nuntil = 40.0\n";
    const Figure figure = StoredRun(summary("true"), stages).figure("force");
    ASSERT_EQ(figure.curves.size(), 3u);
    ASSERT_THAT(figure.curves[2].x, ElementsAre(10.0, 15.0, 26.0, 26.0, 40.0));
    EXPECT_TRUE(std::isnan(figure.curves[2].y[2])) << "a gap";
}

}  // namespace
}  // namespace carom
