#include <gmock/gmock.h>

#include <limits>

#include "host/plot/gnuplot.hpp"
#include "host/state/errors.hpp"

namespace carom {
namespace {

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

TEST(GnuplotScript, HoldsTitleLabelsAndData) {
    const std::string script = gnuplot_script(figure_of({1.5, 2.5}), "out.png");
    EXPECT_THAT(script, HasSubstr("pngcairo"));
    EXPECT_THAT(script, HasSubstr("set title \"a \\\"title\\\" with markup_1\" noenhanced"));
    EXPECT_THAT(script, HasSubstr("energy [J]"));
    EXPECT_THAT(script, HasSubstr("0 1.5\n1 2.5\n"));
}

/// The lines of the title that a script gives to gnuplot, as they are written there.
std::vector<std::string> title_lines(const std::string& script) {
    const std::size_t begin = script.find("set title \"") + 11;
    const std::size_t end = script.find("\" noenhanced", begin);
    std::vector<std::string> lines{""};
    for (std::size_t k = begin; k < end; ++k) {
        const bool breaks = script[k] == '\\' && script[k + 1] == 'n' && script[k - 1] != '\\';
        if (breaks) {
            lines.emplace_back();
            ++k;
        } else {
            lines.back() += script[k];
        }
    }
    return lines;
}

TEST(GnuplotScript, TitlesTooLongForALineTakeMore) {
    Figure figure = figure_of({1.0});
    figure.title =
        "Heavy disks sink in a gas of light ones: heavy_temperature of heavy, average so far with standard error";
    const std::string script = gnuplot_script(figure, "a.svg");
    EXPECT_THAT(title_lines(script),
                testing::ElementsAre(
                    "Heavy disks sink in a gas of light ones: heavy_temperature of heavy, average so far with ",
                    "standard error"));
    EXPECT_THAT(title_lines(for_small_screens(script)),
                testing::ElementsAre("Heavy disks sink in a gas of light ones: heavy_temperature ",
                                     "of heavy, average so far with standard error"));
    // A word that fills a line alone is cut, between letters of UTF-8; quotes and backslashes survive both breaks.
    figure.title = "a\\n \"b\" ";
    for (int k = 0; k < 130; ++k) figure.title += "ü";
    const std::vector<std::string> lines = title_lines(for_small_screens(gnuplot_script(figure, "a.svg")));
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_EQ(lines[0], "a\\\\n \\\"b\\\" ");
    EXPECT_EQ(lines[1].size(), 120U);
    EXPECT_EQ(lines[3].size(), 20U);
}

TEST(GnuplotScript, EndingsChooseTheFormat) {
    EXPECT_THAT(gnuplot_script(figure_of({1.0}), "a.svg"), HasSubstr("set terminal svg"));
    EXPECT_THAT(gnuplot_script(figure_of({1.0}), "a.pdf"), HasSubstr("set terminal pdfcairo"));
    EXPECT_THROW((void)gnuplot_script(figure_of({1.0}), "a.jpg"), InputError);
    EXPECT_THROW((void)gnuplot_script(figure_of({1.0}), "a"), InputError);
}

TEST(GnuplotScript, WhatIsNoNumberIsAGap) {
    const std::string script = gnuplot_script(figure_of({1.0, std::numeric_limits<double>::quiet_NaN(), 3.0}), "a.png");
    EXPECT_THAT(script, HasSubstr("0 1\n1 NaN\n2 3\n"));
}

TEST(GnuplotScript, ErrorsOfABandAreAroundALine) {
    Figure figure = figure_of({1.0, 2.0});
    figure.curves.front().error = {0.5, 0.25};
    EXPECT_THAT(gnuplot_script(figure, "a.png"), HasSubstr("plot $curve0 using 1:2:3 with yerrorbars"));
    figure.curves.front().band = true;
    EXPECT_THAT(
        gnuplot_script(figure, "a.png"),
        testing::MatchesRegex(".*plot .curve0 using 1:[(].2-.3[)]:[(].2[+].3[)] with filledcurves [^,]*, .curve0 "
                              "using 1:2 with lines [^,]*\n"));
    // One point has no band, but its error.
    figure.curves.front().x = {1.0};
    figure.curves.front().y = {1.0};
    figure.curves.front().error = {0.5};
    EXPECT_THAT(gnuplot_script(figure, "a.png"), HasSubstr("plot $curve0 using 1:2:3 with yerrorbars"));
}

TEST(GnuplotScript, RoundingNoiseIsNotBlownUp) {
    const std::string script = gnuplot_script(figure_of({1000.0, 1000.0 + 1e-9}), "a.png");
    EXPECT_THAT(script, HasSubstr("set yrange [999:1001"));
    EXPECT_THAT(gnuplot_script(figure_of({0.0, 0.0}), "a.png"), HasSubstr("set yrange [0:1]"));
    EXPECT_THAT(gnuplot_script(figure_of({std::numeric_limits<double>::quiet_NaN()}), "a.png"), Not(HasSubstr("inf")));
}

/// Two curves from corner to corner, of the values given at left and right.
Figure two_lines(double left, double right) {
    Figure figure = figure_of({left, right});
    figure.curves.push_back(figure.curves.front());
    figure.key_inside = true;
    return figure;
}

TEST(GnuplotScript, LabelsStandInACornerWhereTheyHideNothing) {
    EXPECT_THAT(gnuplot_script(two_lines(1.0, 0.0), "a.png"), HasSubstr("set key inside right top "));
    EXPECT_THAT(gnuplot_script(two_lines(0.0, 1.0), "a.png"), HasSubstr("set key inside left top "));
    // A point's error reaches where the point does not.
    Figure figure = two_lines(0.0, 0.0);
    for (Curve& curve : figure.curves) {
        curve.points = true;
        curve.x = {0.0, 0.05, 0.9, 1.0};
        curve.y = {0.0, 1.0, 0.5, 0.5};
    }
    EXPECT_THAT(gnuplot_script(figure, "a.png"), HasSubstr("set key inside right top "));
    figure.curves.front().error = {0.0, 0.0, 0.5, 0.0};
    EXPECT_THAT(gnuplot_script(figure, "a.png"), HasSubstr("set key inside left center "));
    figure.curves.front().error = {0.0, 0.0, 0.4, 0.0};
    figure.curves.front().y[2] = figure.curves.back().y[2] = figure.curves.front().y[3] = figure.curves.back().y[3] =
        0.6;
    EXPECT_THAT(gnuplot_script(figure, "a.png"), HasSubstr("set key inside right bottom "));
}

TEST(GnuplotScript, LabelsThatFindNoCornerStandHalfWayUpOrBesideTheAxes) {
    Figure figure = two_lines(0.0, 1.0);
    std::swap(figure.curves.back().y[0], figure.curves.back().y[1]);
    EXPECT_THAT(gnuplot_script(figure, "a.png"), HasSubstr("set key inside right center "));
    figure.curves.push_back(figure.curves.front());
    figure.curves.back().x = {0.5, 1.0};
    figure.curves.back().y = {0.5, 0.5};
    EXPECT_THAT(gnuplot_script(figure, "a.png"), HasSubstr("set key inside left center "));
    figure.curves.back().x = {0.0, 1.0};
    EXPECT_THAT(gnuplot_script(figure, "a.png"), HasSubstr("set key outside right top "));
    figure = two_lines(1.0, 0.0);
    figure.key_inside = false;
    EXPECT_THAT(gnuplot_script(figure, "a.png"), HasSubstr("set key outside right top "));
}

TEST(GnuplotScript, LongLabelsStandBelowRatherThanBeside) {
    Figure figure = two_lines(0.0, 1.0);
    figure.curves.push_back(figure.curves.front());
    std::swap(figure.curves.back().y[0], figure.curves.back().y[1]);
    figure.curves.push_back(figure.curves.front());
    figure.curves.back().y = {0.5, 0.5};
    EXPECT_THAT(gnuplot_script(figure, "a.png"), HasSubstr("set key outside right top "));
    figure.curves.back().label = "kinetic energy, mean 10100(10)";
    EXPECT_THAT(gnuplot_script(figure, "a.png"), HasSubstr("set key below "));
}

TEST(GnuplotScript, AMeanIsInADarkerShadeOfItsCurveAndTakesNoLabel) {
    Figure figure = two_lines(1.0, 0.0);
    Curve mean{.x = {0.0, 1.0}, .y = {0.5, 0.5}, .error = {0.1, 0.1}, .band = true};
    mean.mean_of = 1;
    figure.curves.push_back(mean);
    const std::string script = gnuplot_script(figure, "a.png");
    EXPECT_THAT(script, HasSubstr("$curve1 using 1:2 with lines linecolor rgb \"#E69F00\""));
    EXPECT_THAT(script, HasSubstr("$curve2 using 1:($2-$3):($2+$3) with filledcurves fillcolor rgb \"#734F00\""));
    EXPECT_THAT(script, HasSubstr("$curve2 using 1:2 with lines linecolor rgb \"#734F00\" linewidth 1.2 notitle"));
}

TEST(GnuplotScript, CornersAreThoseOfALogarithmicAxisToo) {
    // Straight from (0.001, 0.001) to (1, 1) on two logarithmic axes; without them all but the last lies at the bottom.
    Figure figure = two_lines(0.0, 0.0);
    for (Curve& curve : figure.curves) curve.x = curve.y = {1e-3, 1e-2, 1e-1, 1.0};
    figure.log_x = figure.log_y = true;
    EXPECT_THAT(gnuplot_script(figure, "a.png"), HasSubstr("set key inside left top "));
    for (Curve& curve : figure.curves) curve.y = {1.0, 0.03, 0.03, 0.03};
    EXPECT_THAT(gnuplot_script(figure, "a.png"), HasSubstr("set key inside right top "));
}

TEST(GnuplotScript, LogarithmicAxesHaveLabelsEnough) {
    Figure figure = two_lines(0.0, 0.0);
    figure.log_x = figure.log_y = true;
    for (Curve& curve : figure.curves) {
        curve.x = {0.0, 0.3, 7.0};  // what has no place on it is not looked at
        curve.y = {1.0, 1e-4, 100.0};
    }
    // Of less than two decades 1, 2 and 5; of six the decades; all else small.
    std::string script = gnuplot_script(figure, "a.png");
    EXPECT_THAT(script, HasSubstr("set xtics (5e-1, 1e0, 2e0, 5e0, \"\" 3e-1 1, \"\" 4e-1 1, \"\" 6e-1 1, "));
    EXPECT_THAT(script, HasSubstr("set ytics (1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, \"\" 8e-5 1, \"\" 9e-5 1, "));
    for (Curve& curve : figure.curves) {
        curve.x = {2.5, 4.5, 4.6};
        curve.y = {1.0, 1e20, 3e30};
    }
    script = gnuplot_script(figure, "a.png");
    EXPECT_THAT(script, HasSubstr("set xtics (3e0, 4e0)\n")) << "all digits";
    EXPECT_THAT(script, HasSubstr("1e3, 1e7, 1e11, 1e15, 1e19, 1e23, 1e27, \"\"")) << "not each decade";
    for (Curve& curve : figure.curves) curve.x = {2.1, 2.5, 2.9};
    EXPECT_THAT(gnuplot_script(figure, "a.png"), Not(HasSubstr("set xtics"))) << "gnuplot's own";
}

TEST(GnuplotScript, OnASmallScreenLabelsStandBelow) {
    Figure crossed = two_lines(0.0, 1.0);
    std::swap(crossed.curves.back().y[0], crossed.curves.back().y[1]);
    for (const Figure& figure : {two_lines(1.0, 0.0), two_lines(0.0, 1.0), crossed}) {
        const std::string script = for_small_screens(gnuplot_script(figure, "a.svg"));
        EXPECT_THAT(script, HasSubstr("set key below "));
        EXPECT_THAT(script, Not(HasSubstr("inside")));
    }
}

}  // namespace
}  // namespace carom
