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

}  // namespace
}  // namespace carom
