#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "host/compare/page.hpp"

namespace carom {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// The commands of one part of a page: from its data to its plot.
std::string part(const Comparison& comparison, const std::string& name) {
    const std::string script = comparison_page_script(comparison, Scene{}, "page.png");
    const std::size_t begin = script.find("$" + name + " <<");
    return script.substr(begin, script.find("\nplot ", begin) - begin);
}

Comparison displaced(const std::vector<double>& squares) {
    GasStatistics gas;
    gas.plan.block = 1.0;
    for (std::size_t k = 0; k < squares.size(); ++k) gas.spring.lags.push_back(k + 1);
    gas.hard.lags = gas.spring.lags;
    gas.spring.lag_displacement = gas.hard.lag_displacement = squares;
    gas.spring.speeds = {0.5, 1.0, 1.5};
    Comparison comparison;
    comparison.gas = gas;
    return comparison;
}

TEST(ComparisonPage, LabelsHideNoCurve) {
    // From 1 to 10 both ways.
    EXPECT_THAT(part(displaced({1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 7.9}), "msd"),
                HasSubstr("set key inside left top "));
    EXPECT_THAT(part(displaced({7.9, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0}), "msd"),
                HasSubstr("set key inside right top "));
}

TEST(ComparisonPage, APanelGrowsWhereLabelsWouldHideSomething) {
    Comparison spikes = displaced({1.0, 2.0});
    spikes.gas->spring.speeds = {0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.4};  // each as high, from end to end
    EXPECT_THAT(part(spikes, "speeds"), HasSubstr("set key inside right top "));
    EXPECT_THAT(part(spikes, "speeds"), ContainsRegex("set yrange .0:1[.][2-9]")) << "of 0.99";
}

TEST(ComparisonPage, AxesOfASinglePointAreAroundIt) {
    EXPECT_THAT(part(displaced({2.0}), "msd"), HasSubstr("set xrange [1:10]\nset yrange [1:10]\n"));
    Comparison one;
    one.convergence.stiffness = 1e4;
    one.convergence.rows.resize(1);
    one.convergence.rows[0].time = 0.5;
    EXPECT_THAT(part(one, "time"), HasSubstr("set xrange [0.48:0.52]\nset yrange [0.1:10]\n"));
}

TEST(ComparisonPage, LabelsHideNoBox) {
    Comparison comparison = displaced({1.0, 2.0});
    EXPECT_THAT(part(comparison, "speeds"), HasSubstr("set key inside right top "));
    comparison.gas->spring.speeds = {0.5, 1.0, 4.0, 4.0, 4.0, 4.0};
    EXPECT_THAT(part(comparison, "speeds"), HasSubstr("set key inside left top "));
}

TEST(ComparisonPage, LabelsOfDeviationsHideNone) {
    Comparison comparison;
    comparison.convergence.stiffness = 1e4;
    for (int k = 1; k < 6; ++k) {
        ConvergenceRow row;
        row.time = 0.1 * k;
        for (std::size_t run = 0; run < 3; ++run) {
            row.from_hard[run].median_x = row.from_hard[run].rms_x = row.from_hard[run].max_x = 1e-2 / (1 << run);
        }
        row.limit.median_x = 1e-6;  // far below
        comparison.convergence.rows.push_back(row);
    }
    EXPECT_THAT(part(comparison, "time"), HasSubstr("set key inside right center "));
    for (ConvergenceRow& row : comparison.convergence.rows) {
        row.from_hard[2].median_x = 1e-4;  // half way
    }
    EXPECT_THAT(part(comparison, "time"), Not(HasSubstr("center")));
}

}  // namespace
}  // namespace carom
