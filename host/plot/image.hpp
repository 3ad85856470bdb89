#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
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

/// \param rgb  width x height pixels of three bytes, row by row from the top
/// \throws SystemError  if the file cannot be written
void write_png(std::span<const std::uint8_t> rgb, int width, int height, const std::string& path);

/// \throws SystemError  if the file cannot be written
void write_png(const Image& image, const std::string& path);

}  // namespace carom
