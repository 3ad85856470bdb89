#include "host/plot/image.hpp"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "host/io/replacement.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

Color parse_color(std::string_view text, const Color& otherwise) {
    if (text.size() != 7 || text[0] != '#') return otherwise;
    Color color{};
    for (std::size_t k = 0; k < 3; ++k) {
        const int high = hex_digit(text[1 + 2 * k]);
        const int low = hex_digit(text[2 + 2 * k]);
        if (high < 0 || low < 0) return otherwise;
        color[k] = static_cast<float>(16 * high + low) / 255.0f;
    }
    return color;
}

Image::Image(int width, int height, const Color& background)
    : width_(width),
      height_(height),
      pixels_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), background) {}

Image Image::halved() const {
    Image half(width_ / 2, height_ / 2, {});
    for (int y = 0; y < half.height_; ++y) {
        for (int x = 0; x < half.width_; ++x) {
            Color& pixel = half.pixels_[half.index(x, y)];
            for (std::size_t k = 0; k < 3; ++k) {
                pixel[k] = 0.25f * (at(2 * x, 2 * y)[k] + at(2 * x + 1, 2 * y)[k] + at(2 * x, 2 * y + 1)[k] +
                                    at(2 * x + 1, 2 * y + 1)[k]);
            }
        }
    }
    return half;
}

Color viridis(float t) {
    // Polynomial of degree 6 in t through matplotlib's table, per channel; off by 1 % at most.
    static constexpr std::array<Color, 7> kCoefficients{{
        {0.27772733f, 0.00540734f, 0.33409981f},
        {0.10509304f, 1.40461353f, 1.38459016f},
        {-0.33086183f, 0.21484756f, 0.09509516f},
        {-4.63423050f, -5.79910097f, -19.33244096f},
        {6.22826994f, 14.17993337f, 56.69055260f},
        {4.77638500f, -13.74514538f, -65.35303263f},
        {-5.43545586f, 4.64585261f, 26.31243525f},
    }};
    t = std::clamp(t, 0.0f, 1.0f);
    Color color{};
    for (std::size_t power = kCoefficients.size(); power-- > 0;) {
        for (std::size_t k = 0; k < 3; ++k) color[k] = color[k] * t + kCoefficients[power][k];
    }
    for (float& channel : color) channel = std::clamp(channel, 0.0f, 1.0f);
    return color;
}

std::vector<std::uint8_t> png_of(const Pixels& pixels, const std::string& what) {
    // libpng's simplified interface reports errors in its record instead of by longjmp.
    png_image header;
    std::memset(&header, 0, sizeof header);
    header.version = PNG_IMAGE_VERSION;
    header.width = static_cast<png_uint_32>(pixels.width);
    header.height = static_cast<png_uint_32>(pixels.height);
    header.format = pixels.opacities ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
    // A still of 8K would take longer to be packed by one thread than to be drawn by all; it is 1.6 times as large for
    // it.
    constexpr std::uint64_t kLarge = 1U << 23U;  // [pixels]
    if (std::uint64_t{header.width} * header.height > kLarge) header.flags = PNG_IMAGE_FLAG_FAST;
    // Room for what cannot be packed, of which most is never touched.
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
    const auto room = std::make_unique_for_overwrite<std::uint8_t[]>(size);
    if (png_image_write_to_memory(&header, room.get(), &size, 0, pixels.rgb.data(), 0, nullptr) == 0) {
        throw SystemError("cannot make " + what + ": " + header.message);
    }
    return {room.get(), room.get() + size};
}

std::vector<std::uint8_t> png_of(const Image& image, const std::string& what) {
    Pixels pixels{image.width(), image.height(), {}};
    pixels.rgb.reserve(3 * static_cast<std::size_t>(image.width()) * static_cast<std::size_t>(image.height()));
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            for (const float value : image.at(x, y)) {
                pixels.rgb.push_back(static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0f, 1.0f) * 255.0f)));
            }
        }
    }
    return png_of(pixels, what);
}

namespace {

void write_bytes(const std::vector<std::uint8_t>& bytes, const std::string& path, bool replace) {
    ReplacementFile file(path, replace);
    file.write(bytes.data(), bytes.size());
    file.commit();
}

}  // namespace

void write_png(const Pixels& pixels, const std::string& path, bool replace) {
    write_bytes(png_of(pixels, path), path, replace);
}
void write_png(const Image& image, const std::string& path, bool replace) {
    write_bytes(png_of(image, path), path, replace);
}

namespace {

/// Calls body(x, y, px, py) for the pixels of a rectangle, cut to the image; (px, py) is the pixel's centre.
template <class Body>
void for_pixels(const Image& image, float x0, float y0, float x1, float y1, Body body) {
    if (!(x0 <= x1 && y0 <= y1)) return;  // no numbers
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
