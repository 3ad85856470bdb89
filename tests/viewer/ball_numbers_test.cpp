// Built where the build has a font.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "host/plot/letters.hpp"
#include "host/viewer/ball_turns.hpp"
#include "tests/support/studio.hpp"

namespace carom::ball_numbers_test {

using test::Rgb;
using test::Studio;

constexpr int kCapital = 40;  // of the letters that pictures are compared with [pixels]

/// Balls 0 to 48, as small as they may be, and ball 49 of radius 1, with a number.
std::string scene(const std::string& spin) {
    std::string text =
        "[scene]\ndimension = 2\n[box]\nsize = [12, 9]\n[run]\nbackend = \"cpu\"\n[look]\nnumbers_from = 49\n"
        "colors = \"#FAFAFA\"\n[[species]]\nname = \"small\"\nradius = 0.01\nmass = 1\n"
        "[[species]]\nname = \"large\"\nradius = 1\nmass = 1\n";
    for (int id = 0; id < 49; ++id) {
        text += "[[ball]]\nspecies = \"small\"\nposition = [" + std::to_string(0.1 * (id + 1)) + ", 0.1]\n";
    }
    return text + "[[ball]]\nspecies = \"large\"\nposition = [6, 4.5]\n" + spin;
}

/// The share of points of the number, turned by `angle`, and of those around it, that the picture has in ink and in
/// paper.
double alike(Studio& studio, double angle) {
    const std::string words = "49";
    const float width = text_width(kCapital, words);
    const auto columns = static_cast<std::size_t>(width) + 1;
    std::vector<float> ink(columns * kCapital, 0.0f);
    Letters().set({0.0f, 0.0f}, kCapital, words, [&](int left, int row, int length, float coverage) {
        for (int x = std::max(left, 0); x < left + length; ++x) {
            ink.at(static_cast<std::size_t>(row + kCapital) * columns + static_cast<std::size_t>(x)) += coverage;
        }
    });
    const double step = std::min(0.6 / kCapital, 0.8 / static_cast<double>(width));  // [length], as numbers are large
    int right = 0;
    int all = 0;
    for (std::size_t row = 0; row < kCapital; ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
            const double x = step * (static_cast<double>(column) + 0.5 - 0.5 * static_cast<double>(width));
            const double y = step * (0.5 * kCapital - static_cast<double>(row) - 0.5);
            Vector3 at = studio.position(49);
            at[0] += x * std::cos(angle) - y * std::sin(angle);
            at[1] += x * std::sin(angle) + y * std::cos(angle);
            const float wanted = ink[row * columns + column];
            if (wanted > 0.0f && wanted < 1.0f) continue;  // an edge
            const Rgb seen = studio.at(at);
            right += (seen[0] + seen[1] + seen[2] < 380) == (wanted > 0.0f) ? 1 : 0;
            ++all;
        }
    }
    return static_cast<double>(right) / all;
}

TEST(NumbersOnBalls, AreLettersOfTheFontThatTurnWithTheBall) {
    for (const std::string spin : {"", "spin = 0.5\n"}) {
        Studio studio(scene(spin));
        studio.camera().zoom(4.0, 200.0, 150.0);
        studio.shoot();
        BallTurns turns;
        const BallTurn turn = turns.at(studio.frame())[49];
        const double angle =
            spin.empty() ? 0.0 : 2.0 * std::atan2(static_cast<double>(turn[2]), static_cast<double>(turn[3]));
        EXPECT_GT(alike(studio, angle), 0.95) << spin;
        EXPECT_LT(alike(studio, angle + 1.0), 0.9) << spin;
    }
}

}  // namespace carom::ball_numbers_test
