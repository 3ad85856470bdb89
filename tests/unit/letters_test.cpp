// Built where the build has a font.
#include "host/plot/letters.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace carom::letters_test {

/// The ink of each row, from 30 above the base line to 9 below it.
std::vector<float> rows_of_ink(float height, std::string_view text, Point at = {100.0f, 200.0f}) {
    std::vector<float> sums(40, 0.0f);
    Letters().set(at, height, text, [&](int, int y, int width, float coverage) {
        sums.at(static_cast<std::size_t>(y - 170)) += static_cast<float>(width) * coverage;
    });
    return sums;
}

TEST(Letters, StandOnRowsOfPixels) {
    ASSERT_TRUE(Letters::there());
    for (const int capital : {7, 9, 10, 11, 14, 23}) {
        for (const char* const text : {"H", "E0", "Od"}) {
            const std::vector<float> ink = rows_of_ink(static_cast<float>(capital), text, {100.3f, 200.2f});
            for (int row = 0; row < 40; ++row) {
                const bool within = row >= 30 - capital && row < 30;
                EXPECT_EQ(ink[static_cast<std::size_t>(row)] > 0.0f, within) << text << " " << capital << " " << row;
            }
        }
        // Small letters fill their upper row as much as their lower one.
        const std::vector<float> z = rows_of_ink(static_cast<float>(capital), "z");
        std::size_t top = 0;
        while (z[top] < 0.3f) ++top;  // a little of a row is rounding in units of the font
        EXPECT_NEAR(z[top], z[29], 0.35f * z[29]) << capital;
    }
}

TEST(Letters, AreReadAsUtf8) {
    EXPECT_EQ(rows_of_ink(11.0f, "\xC2\xB5"), rows_of_ink(11.0f, "\xCE\xBC"))
        << "the two letters mu of this font are one";
    EXPECT_NE(rows_of_ink(11.0f, "\xE2\x81\xBB\xC2\xB9"), rows_of_ink(11.0f, "??"));
    EXPECT_EQ(rows_of_ink(11.0f, "\xF3\xBF\xBF\xBD"), rows_of_ink(11.0f, "?")) << "nothing is called so";
    EXPECT_EQ(rows_of_ink(11.0f, "\xE2\x81"), rows_of_ink(11.0f, "??")) << "cut off";
    EXPECT_FLOAT_EQ(text_width(11.0f, "\xC2\xB5m"), text_width(11.0f, "\xC2\xB5") + text_width(11.0f, "m"));
}

}  // namespace carom::letters_test
