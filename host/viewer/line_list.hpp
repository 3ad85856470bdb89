#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "host/plot/image.hpp"
#include "host/state/box.hpp"

namespace carom {

/// Straight lines, circles and text, to be drawn in one go. In a picture's own lines places are pixels from its upper
/// left corner, y down; in a scene's lines they are lengths from an origin.
class LineList {
public:
    /// One line as shaders/line.vert reads it.
    struct Line {
        std::array<float, 3> a;
        std::array<float, 3> b;
        float width;  ///< [pixels]
        float round;  ///< 1: round ends, 0: flat ones
        std::array<float, 4> color;
    };

    enum class Ends : std::uint8_t { kRound, kFlat };

    void add(const std::array<float, 3>& a, const std::array<float, 3>& b, float width, const Color& color,
             float opacity = 1.0f, Ends ends = Ends::kRound);
    /// Every other of `count` equal pieces.
    void add_dashes(const std::array<float, 3>& a, const std::array<float, 3>& b, int count, float width,
                    const Color& color);
    /// In pixels, axis-aligned.
    void add_rectangle(float left, float top, float right, float bottom, const Color& color, float opacity = 1.0f);
    /// A circle about `center` in the plane of two unit vectors that are at right angles.
    void add_circle(const std::array<float, 3>& center, float radius, const std::array<float, 3>& u,
                    const std::array<float, 3>& v, float width, const Color& color);
    /// In pixels. \param height  of a capital letter
    void add_text(float x, float base_line, float height, std::string_view text, const Color& color);
    void append(const LineList& other) { lines_.insert(lines_.end(), other.lines_.begin(), other.lines_.end()); }
    void clear() { lines_.clear(); }

    [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }

private:
    std::vector<Line> lines_;
};

}  // namespace carom
