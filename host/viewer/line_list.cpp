#include "host/viewer/line_list.hpp"

#include <cmath>
#include <numbers>

#include "host/plot/draw.hpp"

namespace carom {

void LineList::add(const std::array<float, 3>& a, const std::array<float, 3>& b, float width, const Color& color,
                   float opacity, Ends ends) {
    lines_.push_back(
        {a, b, width, ends == Ends::kRound ? 1.0f : 0.0f, std::array{color[0], color[1], color[2], opacity}});
}

void LineList::add_dashes(const std::array<float, 3>& a, const std::array<float, 3>& b, int count, float width,
                          const Color& color) {
    const auto along = [&](float t) {
        return std::array{a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2])};
    };
    const auto pieces = static_cast<float>(count);
    for (int k = 0; k < count; ++k) {
        const float begin = (static_cast<float>(k) + 0.25f) / pieces;
        add(along(begin), along(begin + 0.5f / pieces), width, color);
    }
}

void LineList::add_rectangle(float left, float top, float right, float bottom, const Color& color, float opacity) {
    const float middle = 0.5f * (top + bottom);
    add({left, middle, 0.0f}, {right, middle, 0.0f}, bottom - top, color, opacity, Ends::kFlat);
}

void LineList::add_circle(const std::array<float, 3>& center, float radius, const std::array<float, 3>& u,
                          const std::array<float, 3>& v, float width, const Color& color) {
    constexpr int kPieces = 180;
    const auto at = [&](int k) {
        const float angle = 2.0f * std::numbers::pi_v<float> * static_cast<float>(k) / kPieces;
        const float c = radius * std::cos(angle);
        const float s = radius * std::sin(angle);
        return std::array{center[0] + c * u[0] + s * v[0], center[1] + c * u[1] + s * v[1],
                          center[2] + c * u[2] + s * v[2]};
    };
    for (int k = 0; k < kPieces; ++k) add(at(k), at(k + 1), width, color);
}

void LineList::add_text(float x, float base_line, float height, std::string_view text, const Color& color) {
    for (const Stroke& stroke : text_strokes({x, base_line}, height, text)) {
        add({stroke.from.x, stroke.from.y, 0.0f}, {stroke.to.x, stroke.to.y, 0.0f}, stroke_width(height), color);
    }
}

}  // namespace carom
