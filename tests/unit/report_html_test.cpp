#include <gtest/gtest.h>

#include <string>

#include "host/report/html.hpp"

namespace carom {
namespace {

TEST(ReportHtml, EscapesMarkupAndQuotes) {
    EXPECT_EQ(html::escaped("a < b && c > \"d\" 'e'"), "a &lt; b &amp;&amp; c &gt; &quot;d&quot; &#39;e&#39;");
    EXPECT_EQ(html::escaped("</pre><script>alert(1)</script>"), "&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;");
    EXPECT_EQ(html::escaped("tab\tline\nü ∞ 🎱"), "tab\tline\nü ∞ 🎱");
}

TEST(ReportHtml, ReplacesWhatIsNoText) {
    const std::string mark = "\xEF\xBF\xBD";
    EXPECT_EQ(html::escaped(std::string("a\0b", 3)), "a" + mark + "b");
    EXPECT_EQ(html::escaped("\x1b[31m"), mark + "[31m");
    EXPECT_EQ(html::escaped("\xff"), mark);
    EXPECT_EQ(html::escaped("\xC0\xBC"
                            "script"),
              mark + mark + "script");                             // an overlong '<'
    EXPECT_EQ(html::escaped("\xED\xA0\x80"), mark + mark + mark);  // half a surrogate pair
    EXPECT_EQ(html::escaped("\xE2\x82"), mark + mark);             // cut off
    EXPECT_EQ(html::escaped("\xE2<b>"), mark + "&lt;b&gt;");       // nothing is swallowed
}

TEST(ReportHtml, DataUrlsAreBase64) {
    // RFC 4648, section 10.
    EXPECT_EQ(html::data_url("", "a/b"), "data:a/b;base64,");
    EXPECT_EQ(html::data_url("f", "a/b"), "data:a/b;base64,Zg==");
    EXPECT_EQ(html::data_url("fo", "a/b"), "data:a/b;base64,Zm8=");
    EXPECT_EQ(html::data_url("foo", "a/b"), "data:a/b;base64,Zm9v");
    EXPECT_EQ(html::data_url("foobar", "a/b"), "data:a/b;base64,Zm9vYmFy");
    EXPECT_EQ(html::data_url(std::string("\xff\x00\xfe", 3), "a/b"), "data:a/b;base64,/wD+");
}

TEST(ReportHtml, CaptionsStandForPicturesToo) {
    EXPECT_EQ(
        html::figure("data:x", "a \"b\""),
        "<figure><img src=\"data:x\" alt=\"a &quot;b&quot;\"><figcaption>a &quot;b&quot;</figcaption></figure>\n");
}

}  // namespace
}  // namespace carom
