#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "host/plot/image.hpp"
#include "host/scene/units.hpp"

namespace carom {

/// The file of the font that the build puts into the program; empty where it has none.
std::span<const unsigned char> embedded_font();

/// Letters of the embedded font as pixels: whoever draws them, a file, a film or a window, draws the same. Their feet,
/// the tops of small ones and those of capitals lie on rows of pixels, so that they are sharp. Without a font they are
/// strokes.
class Letters {
public:
    /// A stretch of a row of pixels. \param coverage  up to 1
    using Ink = std::function<void(int x, int y, int width, float coverage)>;

    /// Whether the build has a font.
    static bool there();
    /// \param at      where the base line starts, taken to the next row of pixels
    /// \param height  of a capital, taken to whole pixels
    /// \pre there()
    void set(Point at, float height, std::string_view text, const Ink& ink);

private:
    struct Run {
        int x;  // from where the pen is
        int y;
        int width;
        float coverage;
    };
    /// \param capital  height of one [pixels] \param quarter  of a pixel, to the right
    const std::vector<Run>& letter(char32_t letter, int capital, int quarter);

    std::map<std::tuple<char32_t, int, int>, std::vector<Run>> drawn_;
};

/// A unit behind a number, in the scene's names; none where these have letters that pictures do not.
std::string unit_text(const UnitNames& units, std::string_view unit);

}  // namespace carom
