#include "host/plot/draw.hpp"

#include <algorithm>
#include <cmath>

namespace carom {

namespace {

/// Calls body(x, y, px, py) for the pixels of a rectangle, cut to the image; (px, py) is the pixel's centre.
template <class Body>
void for_pixels(const Image& image, float x0, float y0, float x1, float y1, Body body) {
    const auto bound = [](float value, int limit) {
        return static_cast<int>(std::clamp(value, 0.0f, static_cast<float>(limit)));
    };
    const int left = bound(std::floor(x0), image.width());
    const int right = bound(std::ceil(x1), image.width());
    const int top = bound(std::floor(y0), image.height());
    const int bottom = bound(std::ceil(y1), image.height());
    for (int y = top; y < bottom; ++y) {
        for (int x = left; x < right; ++x) {
            body(x, y, static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f);
        }
    }
}

/// Share of a pixel inside an edge that is `inside` pixels away (negative: outside).
float edge_coverage(float inside) { return std::clamp(inside + 0.5f, 0.0f, 1.0f); }

constexpr float kSmallestRadius = 0.6f;  // [pixels]; below, the edge formula overstates the area

}  // namespace

void draw_disk(Image& image, Point center, float radius, const Color& color) {
    const float drawn = std::max(radius, kSmallestRadius);
    const float strength = (radius / drawn) * (radius / drawn);
    // An edge one pixel wide adds pi / 12 to the area of a disk.
    const float edge = std::sqrt(drawn * drawn - 1.0f / 12.0f);
    const float reach = drawn + 1.0f;
    for_pixels(image, center.x - reach, center.y - reach, center.x + reach, center.y + reach,
               [&](int x, int y, float px, float py) {
                   const float distance = std::hypot(px - center.x, py - center.y);
                   image.blend(x, y, color, strength * edge_coverage(edge - distance));
               });
}

void draw_sphere(Image& image, Point center, float radius, const Color& color, float fade, const Color& haze) {
    // Towards the light, in picture coordinates with z to the eye: a unit vector.
    constexpr float kLightX = -0.45f;
    constexpr float kLightY = -0.60f;
    constexpr float kLightZ = 0.66f;
    const float drawn = std::max(radius, kSmallestRadius);
    const float strength = (radius / drawn) * (radius / drawn);
    const float reach = drawn + 1.0f;
    for_pixels(image, center.x - reach, center.y - reach, center.x + reach, center.y + reach,
               [&](int x, int y, float px, float py) {
                   const float dx = (px - center.x) / drawn;
                   const float dy = (py - center.y) / drawn;
                   const float squared = dx * dx + dy * dy;
                   const float coverage = edge_coverage((1.0f - std::sqrt(squared)) * drawn);
                   if (coverage <= 0.0f) return;
                   const float dz = std::sqrt(std::max(0.0f, 1.0f - squared));
                   const float lambert = std::max(0.0f, kLightX * dx + kLightY * dy + kLightZ * dz);
                   const float shade = 0.30f + 0.75f * lambert;
                   // The mirror direction's share towards the eye, for a soft highlight.
                   const float mirror = std::max(0.0f, 2.0f * lambert * dz - kLightZ);
                   const float highlight = 0.22f * std::pow(mirror, 24.0f);
                   Color lit{};
                   for (std::size_t k = 0; k < 3; ++k) {
                       const float value = std::min(1.0f, color[k] * shade + highlight);
                       lit[k] = value + fade * (haze[k] - value);
                   }
                   image.blend(x, y, lit, strength * coverage);
               });
}

void draw_line(Image& image, Point from, Point to, float width, const Color& color) {
    const float half = 0.5f * width;
    const float reach = half + 1.0f;
    const float dx = to.x - from.x;
    const float dy = to.y - from.y;
    const float squared = dx * dx + dy * dy;
    for_pixels(image, std::min(from.x, to.x) - reach, std::min(from.y, to.y) - reach, std::max(from.x, to.x) + reach,
               std::max(from.y, to.y) + reach, [&](int x, int y, float px, float py) {
                   const float along = squared > 0.0f
                                           ? std::clamp(((px - from.x) * dx + (py - from.y) * dy) / squared, 0.0f, 1.0f)
                                           : 0.0f;
                   const float distance = std::hypot(px - from.x - along * dx, py - from.y - along * dy);
                   image.blend(x, y, color, std::min(1.0f, width) * edge_coverage(half - distance));
               });
}

void draw_circle(Image& image, Point center, float radius, float width, const Color& color) {
    const float reach = radius + width + 1.0f;
    for_pixels(image, center.x - reach, center.y - reach, center.x + reach, center.y + reach,
               [&](int x, int y, float px, float py) {
                   const float distance = std::abs(std::hypot(px - center.x, py - center.y) - radius);
                   image.blend(x, y, color, edge_coverage(0.5f * width - distance));
               });
}

void fill_rectangle(Image& image, Point from, Point to, const Color& color) {
    for_pixels(image, from.x, from.y, to.x, to.y, [&](int x, int y, float px, float py) {
        const float inside_x = std::min(px - from.x, to.x - px);
        const float inside_y = std::min(py - from.y, to.y - py);
        image.blend(x, y, color, edge_coverage(inside_x) * edge_coverage(inside_y));
    });
}

}  // namespace carom
