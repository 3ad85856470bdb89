#include <png.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "host/plot/image.hpp"
#include "host/state/errors.hpp"

namespace carom {

void write_png(std::span<const std::uint8_t> rgb, int width, int height, const std::string& path) {
    // libpng's simplified interface reports errors in its record instead of by longjmp.
    png_image header;
    std::memset(&header, 0, sizeof header);
    header.version = PNG_IMAGE_VERSION;
    header.width = static_cast<png_uint_32>(width);
    header.height = static_cast<png_uint_32>(height);
    header.format = PNG_FORMAT_RGB;
    errno = 0;
    if (png_image_write_to_file(&header, path.c_str(), 0, rgb.data(), 0, nullptr) == 0) {
        const std::string reason = errno != 0 ? std::strerror(errno) : header.message;
        throw SystemError("cannot write " + path + ": " + reason);
    }
}

void write_png(const Image& image, const std::string& path) {
    std::vector<std::uint8_t> bytes;
    bytes.reserve(3 * static_cast<std::size_t>(image.width()) * static_cast<std::size_t>(image.height()));
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            for (const float value : image.at(x, y)) {
                bytes.push_back(static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0f, 1.0f) * 255.0f)));
            }
        }
    }
    write_png(bytes, image.width(), image.height(), path);
}

}  // namespace carom
