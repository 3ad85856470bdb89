#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace carom {

/// Red, green and blue, 0 to 1 each, as a display shows them (sRGB).
using Color = std::array<float, 3>;

/// "#RRGGBB"; `otherwise` for anything else.
Color parse_color(std::string_view text, const Color& otherwise);

/// A picture in memory, row by row from the top.
class Image {
public:
    Image(int width, int height, const Color& background);

    [[nodiscard]] int width() const { return width_; }
    [[nodiscard]] int height() const { return height_; }
    [[nodiscard]] const Color& at(int x, int y) const { return pixels_[index(x, y)]; }
    /// Lays `color` over a pixel; coverage 1 replaces it. Pixels outside are left out.
    void blend(int x, int y, const Color& color, float coverage) {
        if (x < 0 || y < 0 || x >= width_ || y >= height_ || coverage <= 0.0f) return;
        Color& pixel = pixels_[index(x, y)];
        const float c = coverage < 1.0f ? coverage : 1.0f;
        for (std::size_t k = 0; k < 3; ++k) pixel[k] += c * (color[k] - pixel[k]);
    }
    /// Half as wide and high, each pixel the mean of four.
    [[nodiscard]] Image halved() const;

private:
    [[nodiscard]] std::size_t index(int x, int y) const {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
    }

    int width_;
    int height_;
    std::vector<Color> pixels_;
};

/// A finished picture: three bytes a pixel, with opacities four, row by row from the top.
struct Pixels {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> rgb;
    bool opacities = false;
};

/// An older file stays until this one is whole; for good, and nothing is written, unless it may be replaced.
/// \throws InputError   there is a file that may not be replaced
/// \throws SystemError  if the file cannot be written
void write_png(const Pixels& pixels, const std::string& path, bool replace = true);
void write_png(const Image& image, const std::string& path, bool replace = true);

/// The bytes of a file.
/// \param what  is made, for messages
std::vector<std::uint8_t> png_of(const Pixels& pixels, const std::string& what);
std::vector<std::uint8_t> png_of(const Image& image, const std::string& what);

/// Viridis, a colour map in which equal steps look equal, also to the colour-blind (S. van der Walt and N. Smith 2015).
/// \param t  0 (dark blue) to 1 (yellow); clamped
Color viridis(float t);

/// A point in pixels; (0, 0) is the picture's upper left corner, y points down.
struct Point {
    float x = 0.0f;
    float y = 0.0f;
};

/// A filled disk with a smooth edge. One smaller than a pixel keeps its area by being fainter.
void draw_disk(Image& image, Point center, float radius, const Color& color);

/// A ball lit from the upper left; `fade` mixes it towards `haze` with distance.
void draw_sphere(Image& image, Point center, float radius, const Color& color, float fade, const Color& haze);

/// A line with round ends.
void draw_line(Image& image, Point from, Point to, float width, const Color& color);

/// The line of a circle.
void draw_circle(Image& image, Point center, float radius, float width, const Color& color);

void fill_rectangle(Image& image, Point from, Point to, const Color& color);

/// Text in the font of the build (host/plot/letters.hpp), so that pictures need none installed; what it has no letter
/// for becomes '?'. \param at      where the text's base line starts \param height  of a capital letter [pixels]
void draw_text(Image& image, Point at, float height, std::string_view text, const Color& color);

/// A straight piece of a letter's stroke, with round ends.
struct Stroke {
    Point from;
    Point to;
};

/// Letters as strokes, for builds without a font, and for what is turned. ASCII.
std::vector<Stroke> text_strokes(Point at, float height, std::string_view text);

/// How thick the strokes of a text are [pixels].
float stroke_width(float height);

/// How wide text_strokes makes a text [pixels].
float strokes_width(float height, std::string_view text);

/// How wide draw_text makes it [pixels].
float text_width(float height, std::string_view text);

}  // namespace carom
