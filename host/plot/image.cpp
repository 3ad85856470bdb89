#include "host/plot/image.hpp"

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

}  // namespace carom
