#include <gmock/gmock.h>

#include <cmath>

#include "host/plot/table_figure.hpp"
#include "host/state/errors.hpp"
#include "tests/support/message_of.hpp"

namespace carom {
namespace {

using test::message_of;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kGrid = "x [m],angle,fall,fall_se\n0.1,0,1,3\n0.1,1,2,4\n0.2,0,3,0\n0.2,1,,\n";

TEST(SweepTables, AreReadWithQuotesAndEmptyCells) {
    const SweepTable table = parse_table("a,\"b,c\"\r\n1,\"x \"\"y\"\"\"\r\n2,\r\n", "t.csv");
    EXPECT_THAT(table.names, ElementsAre("a", "b,c"));
    EXPECT_THAT(table.rows[0], ElementsAre("1", "x \"y\""));
    EXPECT_THAT(table.rows[1], ElementsAre("2", ""));
    EXPECT_TRUE(std::isnan(table.numbers(1)[1]));
}

TEST(SweepTables, AxesAreTheFewestFirstColumnsThatTellRowsApart) {
    EXPECT_EQ(parse_table(kGrid, "t.csv").axes, 2u);
    EXPECT_EQ(parse_table("a,b\n1,2\n2,2\n", "t.csv").axes, 1u);
    EXPECT_EQ(parse_table("a,b,c,d\n1,1,1,0\n1,1,2,0\n", "t.csv").axes, 3u);
    EXPECT_EQ(parse_table(kGrid, "t.csv").find("x"), 0u);
    EXPECT_EQ(parse_table(kGrid, "t.csv").find("x [m]"), 0u);
}

TEST(SweepTables, SayWhatIsWrong) {
    EXPECT_THAT(message_of<InputError>([] { parse_table("a,b\n1,2,3\n", "t.csv"); }), HasSubstr("t.csv:2: 3 cells"));
    EXPECT_THAT(message_of<InputError>([] { parse_table("a,b\n", "t.csv"); }), HasSubstr("holds no row"));
    EXPECT_THAT(message_of<InputError>([] { parse_table("a,b\n1,2\n1,2\n", "t.csv"); }),
                HasSubstr("two rows are the same"));
    EXPECT_THAT(message_of<InputError>([] { parse_table("a\n1\n2\n", "t.csv"); }), HasSubstr("nothing beside axes"));
}

Reduced reduced(const TableView& view) {
    const SweepTable table = parse_table(kGrid, "t.csv");
    return reduce_table(table, choose_columns(table, view), view.mean);
}

TEST(SweepReduction, SumsOverTheOtherAxes) {
    const Reduced by_x = reduced({.by = {"x"}});
    EXPECT_EQ(by_x.values[0], 3.0);
    EXPECT_TRUE(std::isnan(by_x.values[1])) << "a sum of which a part is missing is none";
    EXPECT_EQ(by_x.errors[0], 5.0);
    EXPECT_EQ(by_x.label, "fall, sum over angle");
    EXPECT_EQ(reduced({.by = {"angle"}}).values[0], 4.0);
    const Reduced mean = reduced({.by = {"angle"}, .mean = true});
    EXPECT_EQ(mean.values[0], 2.0);
    EXPECT_EQ(mean.errors[0], 1.5);
    EXPECT_EQ(mean.label, "fall, mean over x");
}

TEST(SweepReduction, KeepsCellsInOrderOfTheirValues) {
    const SweepTable table = parse_table("a,b,v\n10,0,1\n10,1,2\n9,0,3\n9,1,4\n", "t.csv");
    const Reduced cells = reduce_table(table, choose_columns(table, {}), false);
    EXPECT_THAT(cells.scales[0].at, ElementsAre(9.0, 10.0));
    EXPECT_THAT(cells.values, ElementsAre(3.0, 4.0, 1.0, 2.0));
}

TEST(SweepReduction, NamesWhatThereIs) {
    EXPECT_THAT(message_of<InputError>([] { reduced({.quantity = "fal"}); }), HasSubstr("did you mean 'fall'?"));
    EXPECT_THAT(message_of<InputError>([] { reduced({.quantity = "angle"}); }),
                HasSubstr("no quantity 'angle'; allowed: fall"));
    EXPECT_THAT(message_of<InputError>([] { reduced({.by = {"fall"}}); }),
                HasSubstr("no axis 'fall'; allowed: x [m], angle"));
    const SweepTable table = parse_table("a,b,c,v\n1,1,1,0\n1,1,2,0\n", "t.csv");
    EXPECT_THAT(message_of<InputError>([&] { choose_columns(table, {}); }), HasSubstr("no figure has 3 axes"));
}

std::string script(const std::string& text, const TableView& view = {}) {
    return table_figure_script(parse_table(text, "t.csv"), view, "f.png");
}

TEST(SweepFigures, TwoAxesAreAHeatMap) {
    const std::string text = script(kGrid);
    EXPECT_THAT(text, HasSubstr("set xlabel \"x [m]\" noenhanced\nset ylabel \"angle\""));
    EXPECT_THAT(text, HasSubstr("set cblabel \"fall\""));
    EXPECT_THAT(text, HasSubstr("0.1 1 0.05 0.15000000000000002 0.5 1.5 2\n"));
    EXPECT_THAT(text, HasSubstr("maxcolors 3")) << "whole numbers have a colour each";
    EXPECT_THAT(text, HasSubstr("\"no value\""));
    EXPECT_THAT(script("a,b,v\n0,0,0.5\n0,1,2.5\n"), Not(HasSubstr("maxcolors")));
}

TEST(SweepFigures, OneAxisIsALineWithErrorBars) {
    const std::string text = script("k,v,v_se\n1,2,0.5\n2,3,0.25\n");
    EXPECT_THAT(text, HasSubstr("1 2 0.5\n2 3 0.25\n"));
    EXPECT_THAT(text, HasSubstr("with lines"));
    EXPECT_THAT(text, HasSubstr("yerrorbars"));
    EXPECT_THAT(script("k,v\n1,2\n2,3\n"), Not(HasSubstr("yerrorbars")));
}

TEST(SweepFigures, LabelsBesideTheoryHideNoPoint) {
    // Theory rises from 1.2 to 5.9.
    const std::string rising =
        "packing_fraction [disks],compressibility,compressibility_se\n0.1,1.2,0.1\n0.6,5.9,0.1\n";
    EXPECT_THAT(script(rising), HasSubstr("set key inside left top "));
    const std::string off = "packing_fraction [disks],compressibility,compressibility_se\n0.1,5.9,0.1\n0.6,5.9,0.1\n";
    EXPECT_THAT(script(off + "0.2,1.2,0.1\n"), HasSubstr("set key inside right bottom "));
    const std::string error = "packing_fraction [disks],compressibility,compressibility_se\n0.1,3.0,3.0\n0.6,5.9,0.1\n";
    EXPECT_THAT(script(error), Not(HasSubstr("set key inside left top ")));
}

TEST(SweepFigures, SumsAreBarsFromZero) {
    const std::string text = script("a,b,v\n0,0,1\n0,1,2\n1,0,3\n1,1,4\n", {.by = {"a"}});
    EXPECT_THAT(text, HasSubstr("0 3 NaN\n1 7 NaN\n"));
    EXPECT_THAT(text, HasSubstr("with boxes"));
    EXPECT_THAT(text, HasSubstr("set yrange [0:"));
}

TEST(SweepFigures, EqualRatiosAreALogarithmicAxisAndWordsKeepTheirOrder) {
    EXPECT_THAT(script("k,v\n0.1,1\n1,2\n10,3\n"), HasSubstr("set logscale x"));
    EXPECT_THAT(script("k,v\n1,1\n5,2\n9,3\n"), Not(HasSubstr("logscale")));
    EXPECT_THAT(script("law,v\nreflect,1\nnewton,2\n"), HasSubstr("\"reflect\" 0, \"newton\" 1"));
}

}  // namespace
}  // namespace carom
