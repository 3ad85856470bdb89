#pragma once

#include <array>
#include <memory>
#include <optional>

#include "host/viewer/ball_cloud.hpp"
#include "host/viewer/camera.hpp"
#include "host/viewer/line_list.hpp"
#include "host/viewer/offscreen_target.hpp"
#include "host/viewer/quantity.hpp"
#include "host/viewer/theme.hpp"

namespace carom {

/// How many balls there are, and from where they are measured.
struct CloudExtent {
    std::size_t count = 0;
    Vector3 origin{};
    float largest_radius = 0.0f;
    /// 2D: the box's size along the periodic axes whose second pictures are still to be drawn, at the faces opposite to
    /// those that balls hang over; 0: none, or they are in the cloud. The origin is the box's middle.
    std::array<float, 2> around{};
};

/// Balls that are already in OpenGL's memory: BallPlace and float, one each a ball.
struct CloudBuffers {
    GLuint places = 0;
    GLuint values = 0;
    std::size_t values_offset = 0;  ///< where they begin in their buffer [bytes]
    CloudExtent extent;
};

/// 3D: balls whose centre is beyond a plane are left out.
struct ClipPlane {
    Vector3 normal{};
    double offset = 0.0;  ///< balls with normal . x > offset are left out [length]
};

/// All that a picture shows.
struct PictureContent {
    int dimension = 2;
    const Palette* palette = nullptr;
    ValueRange range;
    const Theme* theme = &kDarkTheme;
    const LineList* behind = nullptr;   ///< below the balls; places from the cloud's origin
    const LineList* scenery = nullptr;  ///< among the balls; places from the cloud's origin
    const LineList* overlay = nullptr;  ///< above all; places in pixels
    bool clip_to_box = false;           ///< 2D: nothing of a ball is seen outside the box
    Box box;
    std::optional<ClipPlane> clip;
};

/// Draws balls and lines with OpenGL into the target. Reads 20 bytes a ball and frame. Balls are squares that the
/// fragment shader turns into disks (2D) or spheres with their own depth (3D); points once the largest is smaller than
/// a pixel. \pre the same context is current whenever it is used
class Renderer {
public:
    Renderer();
    ~Renderer();
    Renderer(const Renderer&) = delete;
    Renderer& operator=(const Renderer&) = delete;

    /// \throws std::logic_error  an OpenGL error, with its text
    void draw(const OffscreenTarget& target, const Camera& camera, const BallCloud& cloud,
              const PictureContent& content);
    void draw(const OffscreenTarget& target, const Camera& camera, const CloudBuffers& cloud,
              const PictureContent& content);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace carom
