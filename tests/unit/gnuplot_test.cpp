#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "host/io/trajectory_reader.hpp"
#include "host/io/trajectory_writer.hpp"
#include "host/plot/figure.hpp"
#include "host/plot/run_figure.hpp"
#include "host/scene/load.hpp"
#include "host/scene/walls.hpp"
#include "host/state/errors.hpp"
#include "tests/support/sample_trajectory.hpp"

namespace carom::gnuplot_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Figure figure_of(std::vector<double> y) {
    Figure figure;
    figure.title = "a \"title\" with\nmarkup_1";
    figure.x_label = "time [s]";
    figure.y_label = "energy [J]";
    Curve curve;
    curve.label = "total";
    for (std::size_t k = 0; k < y.size(); ++k) curve.x.push_back(static_cast<double>(k));
    curve.y = std::move(y);
    figure.curves.push_back(std::move(curve));
    return figure;
}

std::string script_of(const Figure& figure, const Canvas& canvas = "a.png") {
    return figure_script(figure, canvas).text();
}

TEST(GnuplotScript, HoldsTitleLabelsAndData) {
    const std::string script = script_of(figure_of({1.5, 2.5}), "out.png");
    EXPECT_THAT(script, HasSubstr("pngcairo"));
    EXPECT_THAT(script, HasSubstr("set title 'a \"title\" with markup_1' noenhanced"));
    EXPECT_THAT(script, HasSubstr("energy [J]"));
    EXPECT_THAT(script, HasSubstr("0 1.5\n1 2.5\n"));
}

TEST(GnuplotScript, SaysInACornerOfAScreensFigureWhatMakesItAgain) {
    const auto script = [](FigureStyle style, const std::optional<std::string>& title) {
        Canvas canvas("a.png");
        canvas.note = "500 balls, seed 7";
        canvas.style = style;
        canvas.title = title;
        return script_of(figure_of({1.0, 2.0}), canvas);
    };
    EXPECT_THAT(script(FigureStyle::kScreen, std::nullopt), HasSubstr("set label 1 '500 balls, seed 7' noenhanced"));
    EXPECT_THAT(script(FigureStyle::kScreen, ""), Not(HasSubstr("seed 7")));
    EXPECT_THAT(script(FigureStyle::kOneColumn, std::nullopt), Not(HasSubstr("seed 7")));
    EXPECT_THAT(script_of(figure_of({1.0, 2.0})), Not(HasSubstr("set label 1")));
}

TEST(GnuplotScript, GivesErrorBarsEndsOnlyWherePointsAreFew) {
    for (const std::size_t points : {5U, 50U}) {
        Figure figure = figure_of(std::vector<double>(points, 1.0));
        figure.curves[0].points = true;
        figure.curves[0].error.assign(points, 0.1);
        EXPECT_EQ(script_of(figure).find("set errorbars 0\n") != std::string::npos, points == 50U);
    }
}

TEST(GnuplotScript, HasPointsLargeEnoughAndOverTheLineOfTheory) {
    for (const std::size_t points : {40U, 400U}) {
        Figure figure = figure_of(std::vector<double>(points, 1.0));
        figure.curves[0].error.assign(points, 0.1);
        figure.curves.push_back({.label = "theory", .x = {0.0, 1.0}, .y = {1.0, 1.0}});
        const std::string script = script_of(figure);
        const std::string plot = script.substr(script.find("\nplot "));
        EXPECT_LT(plot.find("$curve1"), plot.find("$curve0"));
        EXPECT_EQ(plot.find("pointsize 1 ") != std::string::npos, points == 40U) << plot;
    }
}

/// The lines of the title that a script gives to gnuplot, as they are written there.
std::vector<std::string> title_lines(const std::string& script) {
    const std::string next = "'.\"\\n\".'";
    const std::size_t begin = script.find("set title '") + 11;
    std::string title = script.substr(begin, script.find("' noenhanced", begin) - begin);
    std::vector<std::string> lines;
    for (std::size_t at = 0; (at = title.find(next)) != std::string::npos; title.erase(0, at + next.size())) {
        lines.push_back(title.substr(0, at));
    }
    lines.push_back(title);
    return lines;
}

TEST(GnuplotScript, TitlesTooLongForALineTakeMore) {
    Figure figure = figure_of({1.0});
    figure.title =
        "Heavy disks sink in a gas of light ones: heavy_temperature of heavy, average so far with standard error";
    EXPECT_THAT(title_lines(script_of(figure, "a.svg")),
                testing::ElementsAre(
                    "Heavy disks sink in a gas of light ones: heavy_temperature of heavy, average so far with ",
                    "standard error"));
    EXPECT_THAT(title_lines(script_of(figure, {"a.svg", true})),
                testing::ElementsAre("Heavy disks sink in a gas of light ones: heavy_temperature ",
                                     "of heavy, average so far with standard error"));
    // A word that fills a line alone is cut, between letters of UTF-8; quotes and backslashes survive both breaks.
    figure.title = "a\\n 'b' ";
    for (int k = 0; k < 130; ++k) figure.title += "ü";
    const std::vector<std::string> lines = title_lines(script_of(figure, {"a.svg", true}));
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_EQ(lines[0], "a\\n '.\"'\".'b'.\"'\".' ");
    EXPECT_EQ(lines[1].size(), 120U);
    EXPECT_EQ(lines[3].size(), 20U);
}

TEST(GnuplotScript, EndingsChooseTheFormat) {
    EXPECT_THAT(script_of(figure_of({1.0}), "a.svg"), HasSubstr("set terminal svg"));
    EXPECT_THAT(script_of(figure_of({1.0}), "a.pdf"), HasSubstr("set terminal pdfcairo"));
    EXPECT_THROW((void)script_of(figure_of({1.0}), "a.jpg"), InputError);
    EXPECT_THROW((void)script_of(figure_of({1.0}), "a"), InputError);
}

TEST(GnuplotScript, WhatIsNoNumberIsAGap) {
    const std::string script = script_of(figure_of({1.0, std::numeric_limits<double>::quiet_NaN(), 3.0}), "a.png");
    EXPECT_THAT(script, HasSubstr("0 1\n1 NaN\n2 3\n"));
}

TEST(GnuplotScript, ErrorsOfABandAreAroundALine) {
    Figure figure = figure_of({1.0, 2.0});
    figure.curves.front().error = {0.5, 0.25};
    EXPECT_THAT(script_of(figure), HasSubstr("plot $curve0 using 1:2:3 with yerrorbars"));
    figure.curves.front().band = true;
    EXPECT_THAT(
        script_of(figure),
        testing::MatchesRegex(".*plot .curve0 using 1:[(].2-.3[)]:[(].2[+].3[)] with filledcurves [^,]*, .curve0 "
                              "using 1:2 with lines [^,]*\n"));
    // One point has no band, but its error.
    figure.curves.front().x = {1.0};
    figure.curves.front().y = {1.0};
    figure.curves.front().error = {0.5};
    EXPECT_THAT(script_of(figure), HasSubstr("plot $curve0 using 1:2:3 with yerrorbars"));
}

TEST(GnuplotScript, RoundingNoiseIsNotBlownUp) {
    const std::string script = script_of(figure_of({1000.0, 1000.0 + 1e-9}), "a.png");
    EXPECT_THAT(script, HasSubstr("set yrange [999:1001"));
    EXPECT_THAT(script_of(figure_of({0.0, 0.0}), "a.png"), HasSubstr("set yrange [0:1]"));
    EXPECT_THAT(script_of(figure_of({std::numeric_limits<double>::quiet_NaN()}), "a.png"), Not(HasSubstr("inf")));
}

TEST(GnuplotScript, AxesOfXBeginAtATicAndEndAtOneThatIsNear) {
    Figure figure = figure_of({1.0, 2.0});
    figure.curves.front().x = {0.017, 4.96};
    EXPECT_THAT(script_of(figure, "a.png"), HasSubstr("set xrange [0:5]\nset xtics 0.5\n"));
    figure.curves.front().x = {0.3, 4.8};
    EXPECT_THAT(script_of(figure, "a.png"), HasSubstr("set xrange [0:4.8]\n"));
    figure.x_range = {0.1, 4.99};
    EXPECT_THAT(script_of(figure, "a.png"), HasSubstr("set xrange [0.1:4.99]\n")) << "as asked for";
    figure.x_range = {};
    figure.curves.front().x = {1e7, 10000005.0625};
    const std::string far = script_of(figure, "a.png");
    EXPECT_THAT(far, HasSubstr("set format x \"%.9g\"\n")) << "tics are told apart";
    EXPECT_THAT(far, HasSubstr("\n10000005.0625 "));
}

TEST(GnuplotScript, LinearAxesBeginAndEndAtTics) {
    Figure figure = figure_of({0.3932, 0.4075});
    EXPECT_THAT(script_of(figure, "a.png"), HasSubstr("set yrange [0.392:0.41]\nset ytics 0.002\n"));
    figure.y_range.low = 0.39;
    EXPECT_THAT(script_of(figure, "a.png"), HasSubstr("set yrange [0.39:0.41]\n"));
    figure.y_range = {0.3921, 0.4085};
    EXPECT_THAT(script_of(figure, "a.png"), HasSubstr("set yrange [0.3921:0.4085]\n")) << "as asked for";
    figure = figure_of({0.0, 2e-16});
    figure.y_least = 1e-15;
    EXPECT_THAT(script_of(figure, "a.png"), HasSubstr("set yrange [-1e-15:1e-15]\n"));
}

/// Two curves from corner to corner, of the values given at left and right.
Figure two_lines(double left, double right) {
    Figure figure = figure_of({left, right});
    figure.curves.push_back(figure.curves.front());
    return figure;
}

TEST(GnuplotScript, LabelsOfSeveralCurvesStandBelow) {
    EXPECT_THAT(script_of(two_lines(1.0, 0.0)), HasSubstr("set key below "));
    EXPECT_THAT(script_of(figure_of({1.0, 0.0})), HasSubstr("unset key\n"));
}

TEST(GnuplotScript, AMeanIsInADarkerShadeOfItsCurveAndTakesNoLabel) {
    Figure figure = two_lines(1.0, 0.0);
    Curve mean{.x = {0.0, 1.0}, .y = {0.5, 0.5}, .error = {0.1, 0.1}, .band = true};
    mean.mean_of = 1;
    figure.curves.push_back(mean);
    const std::string script = script_of(figure);
    EXPECT_THAT(script, HasSubstr("$curve1 using 1:2 with lines linecolor rgb \"#E69F00\""));
    EXPECT_THAT(script, HasSubstr("$curve2 using 1:($2-$3):($2+$3) with filledcurves fillcolor rgb \"#734F00\""));
    EXPECT_THAT(script, HasSubstr("$curve2 using 1:2 with lines linecolor rgb \"#734F00\" linewidth 1.2 notitle"));
    figure.curves[1].color = 2;  // laid over other figures, it is another one
    EXPECT_THAT(script_of(figure), HasSubstr("$curve2 using 1:2 with lines linecolor rgb \"#004F39\""));
}

TEST(GnuplotScript, LogarithmicAxesShowWholeDecades) {
    Figure figure = two_lines(0.0, 0.0);
    figure.log_x = figure.log_y = true;
    for (Curve& curve : figure.curves) {
        curve.x = {0.0, 0.3, 7.0};  // what has no place on it is not looked at
        curve.y = {1.0, 1e-4, -1.0};
    }
    EXPECT_THAT(script_of(figure), HasSubstr("set logscale x\nset format x \"%h\"\nset xrange [*:*] extend\n"));
    EXPECT_THAT(script_of(figure), HasSubstr("set logscale y\nset format y \"%h\"\nset yrange [*:*] extend\n"));
    for (Curve& curve : figure.curves) curve.y[1] = 0.0;
    EXPECT_THAT(script_of(figure), HasSubstr("set xrange [*:*] extend\n"));
    for (Curve& curve : figure.curves) curve.y[0] = 0.0;
    EXPECT_THAT(script_of(figure), HasSubstr("set yrange [0.1:10]\n")) << "gnuplot finds no range";
    figure.log_x = figure.log_y = false;
    EXPECT_THAT(script_of(figure), Not(HasSubstr("\nset logscale")));
}

TEST(GnuplotScript, LogarithmicAxesBeginWhereSomethingWasMeasured) {
    Figure figure = two_lines(0.0, 0.0);
    figure.log_x = figure.log_y = true;
    figure.curves[0].x = {0.0, 0.5, 7.0};
    figure.curves[0].y = {1.0, -1.0, 0.002};
    figure.curves[1].thick = true;  // theory
    figure.curves[1].x = {1e-6, 7.0};
    figure.curves[1].y = {1.0, 1e-90};
    EXPECT_THAT(script_of(figure), HasSubstr("set xrange [0.5:*] extend\n"));
    EXPECT_THAT(script_of(figure), HasSubstr("set yrange [0.0002:*] extend\n"));
    figure.y_range.low = 1e-20;
    EXPECT_THAT(script_of(figure), HasSubstr("set yrange [1e-20:*] extend\n"));
}

TEST(GnuplotScript, OnASmallScreenHasFewerUnitsAndLettersInALine) {
    EXPECT_THAT(script_of(two_lines(1.0, 0.0), {"a.svg", true}), HasSubstr("svg size 760,560"));
    EXPECT_THAT(script_of(two_lines(1.0, 0.0), "a.svg"), HasSubstr("svg size 1200,760"));
}

template <class Part>
concept ScriptTakes = requires(Script& script, const Part& part) {
    script.add("set title {}", part);
};

TEST(GnuplotScript, TakesNoTextButInQuotes) {
    static_assert(!ScriptTakes<std::string> && !ScriptTakes<std::string_view> && !ScriptTakes<const char*>);
    static_assert(ScriptTakes<Text> && ScriptTakes<LineText> && ScriptTakes<TicText> && ScriptTakes<double> &&
                  ScriptTakes<Script>);
    const std::string text = "`touch a` \\n \"'\t";
    EXPECT_EQ(Script("set title {}", Text{text}).text(), "set title '`touch a` \\n \"'.\"'\".' ' noenhanced");
    EXPECT_EQ(Script("set xtics ({} {})", TicText{"a'"}, 2.5).text(), "set xtics ('a'.\"'\".'' 2.5)");
    EXPECT_EQ(Script("set xtics ({} 1)", TicText{"50%g"}).text(), "set xtics ('50%%g' 1)") << "a label is a format";
    EXPECT_EQ(Script("set title {}", LineText{"50%g"}).text(), "set title '50%g'") << "a title is none";
    EXPECT_THROW((void)Script("{}", Text{"\x1b[31m"}), InputError);
    EXPECT_EQ(Script("{}", LineText{"\xc3\xa4\xff."}).text(), "'\xc3\xa4\\xff.'") << "what is no UTF-8 is told";
}

TEST(GnuplotScript, BlocksHoldNumbersOrNone) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(Script().block(Script("a{}", 1), {{1.0, nan}, {-0.25, 2e300 * 1e300}}).text(),
              "$a1 << END_OF_DATA\n1 NaN\n-0.25 NaN\nEND_OF_DATA\n");
}

TEST(PrintedFigures, AreAsWideAsAColumnAndHaveNoTitleOfTheirOwn) {
    Canvas canvas("a.pdf");
    canvas.style = FigureStyle::kOneColumn;
    const std::string script = script_of(two_lines(1.0, 0.0), canvas);
    EXPECT_THAT(script, HasSubstr("pdfcairo size 3.38583in,2.59843in font \"sans,8\" fontscale 1"));
    EXPECT_THAT(script, Not(HasSubstr("set title")));
    EXPECT_THAT(script, HasSubstr("maxcols 1"));
    canvas.title = "a title";
    canvas.font_size = 10.0;
    EXPECT_THAT(script_of(two_lines(1.0, 0.0), canvas), HasSubstr("\"sans,10\""));
    EXPECT_THAT(script_of(two_lines(1.0, 0.0), canvas), HasSubstr("set title 'a title' noenhanced"));
    canvas.size = FigureSize{600.0, 400.0, true};
    EXPECT_THROW((void)script_of(two_lines(1.0, 0.0), canvas), InputError) << "paper has no pixels";
}

TEST(PrintedFigures, BreakLabelsThatAColumnHasNoRoomFor) {
    Figure figure = two_lines(1.0, 0.0);
    figure.curves[0].label = "a label of a curve that is a little too long for the key of a column of a journal";
    figure.y_label = "a label beside the axis that is too long";
    Canvas canvas("a.pdf");
    canvas.style = FigureStyle::kOneColumn;
    const std::string script = script_of(figure, canvas);
    EXPECT_THAT(script,
                HasSubstr("title 'a label of a curve that is a ' noenhanced, keyentry title 'little too long "));
    EXPECT_THAT(script, HasSubstr("set ylabel 'a label beside the axis '.\"\\n\".'that is too long' noenhanced"));
    EXPECT_THAT(script_of(figure), Not(HasSubstr("keyentry")));
}

TEST(PrintedFigures, AreHigherByLabelsThatTheStyleHasNoRoomFor) {
    Figure figure = two_lines(1.0, 0.0);
    for (int k = 0; k < 3; ++k) figure.curves.push_back(figure.curves[0]);
    Canvas canvas("a.pdf");
    canvas.style = FigureStyle::kOneColumn;
    EXPECT_THAT(script_of(figure, canvas), HasSubstr("size 3.38583in,3.06509in"))
        << "three lines more, 1.4 times 8 pt each";
    canvas.size = FigureSize{4.0, 3.0, false};
    EXPECT_THAT(script_of(figure, canvas), HasSubstr("size 4in,3in"));
}

TEST(PrintedFigures, HaveFewTics) {
    Figure figure = two_lines(1.0, 0.0);
    figure.x_range = {0.0, 170.0};
    figure.y_range = {-0.03, 0.08};
    Canvas canvas("a.pdf");
    canvas.style = FigureStyle::kOneColumn;
    EXPECT_THAT(script_of(figure, canvas), HasSubstr("set xtics 50\n")) << "0, 50, 100, 150";
    EXPECT_THAT(script_of(figure, canvas), HasSubstr("set ytics 0.02\n"));
    EXPECT_THAT(script_of(figure), Not(HasSubstr("tics 50")));
}

TEST(UnitsOfFigures, AreWhatTheSceneCallsThem) {
    EXPECT_EQ(axis_label("momentum", "kg m s-1"), "momentum [kg·m·s⁻¹]");
    EXPECT_EQ(axis_label("contacts", ""), "contacts");
    const UnitNames reduced{.reduced = true};
    EXPECT_EQ(axis_label("pressure", "Pa", reduced), "pressure");
    UnitNames names{.length = "um", .mass = "pg", .time = "ms"};
    EXPECT_EQ(names.of("J"), "pg·um²·ms⁻²");
    EXPECT_EQ(names.of("Pa"), "pg·um⁻¹·ms⁻²");
    EXPECT_EQ(names.of("N m-1"), "pg·ms⁻²") << "lengths cancel";
    EXPECT_EQ(names.of("rad s-1"), "rad·ms⁻¹");
    EXPECT_EQ(names.of("1"), "1");
    names.energy = "kT";
    EXPECT_EQ(names.of("Pa"), "kT·um⁻³");
    EXPECT_EQ(names.of("kg m2 s-1"), "pg·um²·ms⁻¹");
}

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
        header.species.append(0, 1000);
        header.description.solver = "events";
        header.observables = {
            {.name = "temperature", .unit = "J", .label = "temperature", .components = {}},
            {.name = "translational_energy", .unit = "J", .label = "translational energy", .components = {}},
            {.name = "spring_energy", .unit = "J", .label = "spring energy", .components = {}},
            {.name = "virial_pressure", .unit = "N m-1", .label = "virial pressure", .components = {}},
            {.name = "wall_pressure", .unit = "N m-1", .label = "wall pressure", .components = {"x_min", "x_max"}}};
        TrajectoryWriter writer(folder_.file("piston.h5"), header, false);
        for (int row = 0; row <= 20; ++row) {
            const double share = 1.0 - row / 40.0;  // of the box
            const double temperature = 3.0 / share;
            // The virial is of the gas, its mean over the whole box.
            writer.append_row({static_cast<double>(row),
                               static_cast<std::uint64_t>(row),
                               {temperature, 1000.0 * temperature, 0.0, 1000.0 * temperature / 1600.0, 0.0,
                                1000.0 * temperature / 1600.0 / share}});
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

}  // namespace carom::gnuplot_test
