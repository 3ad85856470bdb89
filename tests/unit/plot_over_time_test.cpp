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

}  // namespace
}  // namespace carom
