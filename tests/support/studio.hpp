#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/viewer/frame_source.hpp"
#include "host/viewer/opengl.hpp"
#include "host/viewer/painter.hpp"

namespace carom::test {

using Rgb = std::array<int, 3>;

/// The colour as a picture has it.
inline Rgb bytes_of(const Color& color) {
    Rgb rgb{};
    for (std::size_t k = 0; k < 3; ++k) rgb[k] = static_cast<int>(std::lround(color[k] * 255.0f));
    return rgb;
}

/// The first frame of a scene given as text, and a painter for it.
class Studio {
public:
    explicit Studio(const std::string& text,
                    const PictureStyle& style = {.quantity = Quantity::kSpecies, .labels = false}, int width = 400,
                    int height = 300)
        : source_(start_run({.scene = "", .text = SceneText{"test.toml", text}}, {}, [] { return 0; })),
          painter_(source_->scene(), source_->balls(), style, width, height) {
        frame_ = *source_->next();
    }

    [[nodiscard]] Painter& painter() { return painter_; }
    [[nodiscard]] Camera& camera() { return painter_.camera(); }
    [[nodiscard]] Frame& frame() { return frame_; }
    [[nodiscard]] const FrameSource& source() const { return *source_; }
    [[nodiscard]] Vector3 position(std::size_t id) const {
        Vector3 x{};
        for (int axis = 0; axis < frame_.dimension; ++axis) x[axis] = frame_.position[axis][id];
        return x;
    }

    const Pixels& shoot() {
        painter_.draw(frame_, {});
        painter_.read(pixels_);
        return pixels_;
    }

    [[nodiscard]] Rgb at(int x, int y) const {
        const std::size_t offset =
            3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(pixels_.width) + static_cast<std::size_t>(x));
        return {pixels_.rgb[offset], pixels_.rgb[offset + 1], pixels_.rgb[offset + 2]};
    }
    /// The pixel that a point of the scene is in.
    [[nodiscard]] Rgb at(const Vector3& point) {
        const PicturePlace place = camera().project(point);
        return at(static_cast<int>(std::floor(place.x)), static_cast<int>(std::floor(place.y)));
    }

private:
    EglContext context_;
    std::unique_ptr<FrameSource> source_;
    Painter painter_;
    Frame frame_;
    Pixels pixels_;
};

/// A connected set of pixels.
struct Blob {
    double x = 0.0;  ///< of its centre [pixels]
    double y = 0.0;
    int pixels = 0;
};

/// The connected sets of pixels that `belongs` picks, four neighbours each.
template <class Belongs>
std::vector<Blob> blobs(Studio& studio, const Belongs& belongs) {
    const int width = studio.painter().target().width();
    const int height = studio.painter().target().height();
    std::vector<std::uint8_t> open(static_cast<std::size_t>(width * height));
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) open[static_cast<std::size_t>(y * width + x)] = belongs(studio.at(x, y));
    }
    std::vector<Blob> found;
    std::vector<int> stack;
    for (int start = 0; start < width * height; ++start) {
        if (!open[static_cast<std::size_t>(start)]) continue;
        Blob blob;
        stack.assign(1, start);
        open[static_cast<std::size_t>(start)] = 0;
        while (!stack.empty()) {
            const int at = stack.back();
            stack.pop_back();
            const int x = at % width;
            const int y = at / width;
            blob.x += x + 0.5;
            blob.y += y + 0.5;
            ++blob.pixels;
            const std::array<std::array<int, 2>, 4> near{{{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}}};
            for (const auto& [nx, ny] : near) {
                if (nx < 0 || ny < 0 || nx >= width || ny >= height) continue;
                auto& next = open[static_cast<std::size_t>(ny * width + nx)];
                if (next) stack.push_back(ny * width + nx);
                next = 0;
            }
        }
        blob.x /= blob.pixels;
        blob.y /= blob.pixels;
        found.push_back(blob);
    }
    return found;
}

}  // namespace carom::test
