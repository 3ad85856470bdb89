#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/viewer/camera.hpp"
#include "kernels/core/picture.hpp"

namespace carom {

/// A rectangle in clip space: from -1 to 1 is the picture.
struct PictureExtent {
    float left = -1.0f;
    float right = 1.0f;
    float bottom = -1.0f;
    float top = 1.0f;
};

/// Finds the spheres of a picture that others may leave something of: of a dense body those near its face and some
/// more. A sphere is left out if it lies behind others in all of the square around its outline, so that no picture
/// changes; some that are hidden are kept. Reused without allocation.
class VisibleBalls {
public:
    /// \param places      a radius below 0: left out
    /// \param view        rigid, from the frame of places to the eye's, which looks along -z
    /// \param projection  from there to the clip space
    /// \returns  indices of places, the nearest first, valid until the next call
    std::span<const std::uint32_t> find(std::span<const BallPlace> places, const Matrix4& view,
                                        const Matrix4& projection, bool perspective);
    /// In which no less than all of them lies.
    [[nodiscard]] const PictureExtent& extent() const { return extent_; }

private:
    /// A sphere as the eye sees it: middle and radius in the plane at distance 1, or without perspective in any plane.
    struct Seen {
        float x;
        float y;
        float depth;                     ///< of the centre, from the eye [length]
        float radius;                    ///< of what is surely covered
        float left, right, bottom, top;  ///< of what may be covered
        float front;                     ///< depth of the nearest point
        std::uint32_t index;
        bool whole;  ///< between the near and the far plane
    };
    struct Cells;

    void sort();

    PictureExtent extent_;
    std::vector<Seen> seen_;
    std::vector<std::uint32_t> order_;
    std::vector<std::uint32_t> begins_;
    std::vector<float> covered_;
    std::vector<std::uint32_t> visible_;
};

}  // namespace carom
