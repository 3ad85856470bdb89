#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "host/compare/comparison_page.hpp"
#include "host/plot/figure.hpp"
#include "host/report/html.hpp"
#include "tests/support/sample_trajectory.hpp"

namespace carom::pages_test {

using testing::HasSubstr;
using testing::Not;

/// Text as it stands in a page.
std::string escaped(const std::string& text) { return Html(text).text(); }

TEST(ReportHtml, EscapesMarkupAndQuotes) {
    EXPECT_EQ(escaped("a < b && c > \"d\" 'e'"), "a &lt; b &amp;&amp; c &gt; &quot;d&quot; &#39;e&#39;");
    EXPECT_EQ(escaped("</pre><script>alert(1)</script>"), "&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;");
    EXPECT_EQ(escaped("tab\tline\nü ∞ 🎱"), "tab\tline\nü ∞ 🎱");
}

TEST(ReportHtml, ReplacesWhatIsNoText) {
    const std::string mark = "\xEF\xBF\xBD";
    EXPECT_EQ(escaped(std::string("a\0b", 3)), "a" + mark + "b");
    EXPECT_EQ(escaped("\x1b[31m"), mark + "[31m");
    EXPECT_EQ(escaped("\xff"), mark);
    EXPECT_EQ(escaped("\xC0\xBC"
                      "script"),
              mark + mark + "script");                       // an overlong '<'
    EXPECT_EQ(escaped("\xED\xA0\x80"), mark + mark + mark);  // half a surrogate pair
    EXPECT_EQ(escaped("\xE2\x82"), mark + mark);             // cut off
    EXPECT_EQ(escaped("\xE2<b>"), mark + "&lt;b&gt;");       // nothing is swallowed
}

TEST(ReportHtml, EscapesAllButTheProgramsOwnMarkup) {
    const std::string text = "<b>";
    const Html cell = Html::markup("<td class=\"{}\">{}</td>", "a\"", text);
    EXPECT_EQ(cell.text(), "<td class=\"a&quot;\">&lt;b&gt;</td>");
    EXPECT_EQ(Html::markup("<tr>{}</tr>", cell).text(), "<tr>" + cell.text() + "</tr>") << "once";
    EXPECT_EQ(html_table({text}, {{text, cell}}).text(),
              "<div class=\"wide\"><table class=\"headed\">\n<thead><tr><th "
              "scope=\"col\">&lt;b&gt;</th></tr></thead>\n<tbody>\n"
              "<tr><th scope=\"row\">&lt;b&gt;</th><td><td class=\"a&quot;\">&lt;b&gt;</td></td></tr>\n"
              "</tbody></table></div>\n");
}

TEST(ReportHtml, CellsHaveTheHeadsOfTheirColumnsAsLabels) {
    const std::string text = html_table({"a", "\"b\""}, {{"1", "2"}}).text();
    EXPECT_NE(text.find("<th scope=\"row\">1</th><td data-label=\"&quot;b&quot;\">2</td>"), std::string::npos) << text;
    EXPECT_EQ(html_table({}, {{"1", "2"}}).text().find("data-label"), std::string::npos);
}

TEST(FigureWords, SayWhatIsDrawnAndHowFarItGoes) {
    const Figure figure{.title = "t",
                        .x_label = "time",
                        .y_label = "energy",
                        .curves = {{.label = "kinetic", .x = {0.0, 1.0, 2.0}, .y = {3.0, std::nan(""), 5.0}},
                                   {.label = "its mean", .x = {0.0, 2.0}, .y = {4.0, 4.0}, .mean_of = 0},
                                   {.label = "law", .x = {0.0, 3.0}, .y = {4.0, 4.0}, .theory = true}},
                        .x_unit = "s",
                        .y_unit = "J"};
    EXPECT_EQ(figure_words(figure), "energy [J] over time [s] from 0 to 3; kinetic: 3 to 5; law (theory): 4 to 4");
    EXPECT_EQ(figure_words(Figure{.x_label = "time", .y_label = "energy"}), "energy over time without a value");
    const MapFigure map{.x_label = "x", .y_label = "y", .label = "density", .cells = {{0.5, 0.5, std::nan("")}}};
    EXPECT_EQ(figure_words(map), "map of density without a value, over x and y");
}

TEST(ReportHtml, DataUrlsAreBase64) {
    // RFC 4648, section 10.
    EXPECT_EQ(data_url("", "a/b"), "data:a/b;base64,");
    EXPECT_EQ(data_url("f", "a/b"), "data:a/b;base64,Zg==");
    EXPECT_EQ(data_url("fo", "a/b"), "data:a/b;base64,Zm8=");
    EXPECT_EQ(data_url("foo", "a/b"), "data:a/b;base64,Zm9v");
    EXPECT_EQ(data_url("foobar", "a/b"), "data:a/b;base64,Zm9vYmFy");
    EXPECT_EQ(data_url(std::string("\xff\x00\xfe", 3), "a/b"), "data:a/b;base64,/wD+");
}

TEST(ReportHtml, WordsStandForPictures) {
    EXPECT_EQ(html_figure("data:x", "a \"b\"", "<c>").text(),
              "<figure><img src=\"data:x\" alt=\"&lt;c&gt;\"><figcaption>a &quot;b&quot;</figcaption></figure>\n");
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

Comparison converged(const std::vector<double>& times) {
    Comparison comparison;
    comparison.convergence.stiffness = 1e4;
    for (const double time : times) {
        ConvergenceRow row;
        row.time = time;
        for (std::size_t run = 0; run < 3; ++run) {
            row.from_hard[run].median_x = row.from_hard[run].rms_x = row.from_hard[run].max_x = 1e-2 / (1 << run);
        }
        row.limit.median_x = 1e-6;  // far below
        comparison.convergence.rows.push_back(row);
    }
    return comparison;
}

TEST(ComparisonPage, HoldsAPanelForWhatWasCompared) {
    Comparison comparison = converged({0.1, 0.2, 0.3});
    const std::string some = comparison_page_script(comparison, Scene{}, "page.png").text();
    EXPECT_THAT(some, HasSubstr("set multiplot layout 1,3 "));
    EXPECT_THAT(some, HasSubstr("$curve3 << END_OF_DATA\n0.1 1e-06\n0.2 1e-06\n0.3 1e-06\nEND_OF_DATA\n"));
    EXPECT_THAT(some, Not(HasSubstr("Maxwell-Boltzmann")));
    comparison.gas = displaced({1.0, 2.0}).gas;
    const std::string more = comparison_page_script(comparison, Scene{}, "page.png").text();
    EXPECT_THAT(more, HasSubstr("set multiplot layout 2,3 "));
    EXPECT_THAT(more, HasSubstr("Maxwell-Boltzmann"));
    EXPECT_THAT(more, HasSubstr("$curve1 << END_OF_DATA\n1 1\n2 2\nEND_OF_DATA\n"));
}

TEST(ComparisonPage, NothingOfAPanelStaysForTheNext) {
    Comparison comparison = converged({0.1, 0.2});
    comparison.gas = displaced({1.0, 2.0}).gas;
    const std::string script = comparison_page_script(comparison, Scene{}, "page.png").text();
    // The speeds, on axes that are not logarithmic, follow on others.
    const std::string speeds = script.substr(script.find("set title 'speeds'"));
    EXPECT_LT(speeds.find("unset logscale\n"), speeds.find("\nplot "));
    EXPECT_LT(speeds.find("set xtics autofreq\nset ytics autofreq\n"), speeds.find("\nset xrange [0:"));
    EXPECT_LT(speeds.find("\nset xrange [0:"), speeds.find("\nplot "));
    EXPECT_LT(speeds.find("set format x \"%.6g\"\n"), speeds.find("\nplot "));
}

TEST(ComparisonPage, IsDrawnOfSinglePointsAndOfNothing) {
    const test::TemporaryFolder folder;
    EXPECT_NO_THROW(draw_comparison(converged({0.5}), Scene{}, folder.file("a.png"), false));
    EXPECT_NO_THROW(draw_comparison(displaced({2.0}), Scene{}, folder.file("b.png"), false));
    EXPECT_NO_THROW(draw_comparison(displaced({0.0, 0.0}), Scene{}, folder.file("c.png"), false));
    EXPECT_NO_THROW(draw_comparison(Comparison{}, Scene{}, folder.file("d.png"), false));
}

}  // namespace carom::pages_test
