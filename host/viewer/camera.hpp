#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "host/scene/scene.hpp"

namespace carom {

/// The picture's size and the rim of it that fitting leaves free for titles and legends, all in pixels.
struct Viewport {
    int width = 1;
    int height = 1;
    float left = 0.0f;
    float top = 0.0f;
    float right = 0.0f;
    float bottom = 0.0f;

    [[nodiscard]] double inner_width() const;
    [[nodiscard]] double inner_height() const;
};

/// A place in the picture: pixels from the upper left corner, y down, and how far it lies from the eye's plane (in
/// orthographic pictures: from the target's plane) [length].
struct PicturePlace {
    double x = 0.0;
    double y = 0.0;
    double depth = 0.0;
};

/// 4 x 4, column by column, as OpenGL takes it.
using Matrix4 = std::array<float, 16>;

/// Where one looks from, and how. In 2D from above, to be moved and zoomed; in 3D around a target, too, with or without
/// perspective.
class Camera {
public:
    /// Sees the whole box. In 3D without perspective, from an edge a little above, upwards being against gravity.
    Camera(const Scene& scene, const Viewport& viewport);

    void set_viewport(const Viewport& viewport) { viewport_ = viewport; }
    [[nodiscard]] const Viewport& viewport() const { return viewport_; }

    /// What is to be seen: the box, or that with copies. Fits it.
    void set_box(const Box& box) {
        box_ = box;
        fit();
    }
    /// Moves and zooms so that the whole box is in the picture; keeps the direction.
    void fit();
    /// 3D: where one looks from; degrees. Elevation is above the horizon, -90 to 90.
    void look_from(double azimuth, double elevation);
    [[nodiscard]] double azimuth() const { return azimuth_; }
    [[nodiscard]] double elevation() const { return elevation_; }
    void set_perspective(bool perspective);
    [[nodiscard]] bool perspective() const { return perspective_; }
    /// Moves the scene with the pointer [pixels].
    void pan(double right, double down);
    /// Larger by `factor`; what is at (x, y) [pixels] stays there.
    void zoom(double factor, double x, double y);
    /// Larger by `factor`, about the middle.
    void zoom(double factor);
    void set_target(const Vector3& target) { target_ = target; }
    [[nodiscard]] const Vector3& target() const { return target_; }

    /// Where a point of the scene is in the picture.
    [[nodiscard]] PicturePlace project(const Vector3& point) const;
    /// The point in the plane through `through` that faces the eye, at a place in the picture.
    [[nodiscard]] Vector3 unproject(double x, double y, const Vector3& through) const;
    /// [pixels/length] at the target.
    [[nodiscard]] double scale() const;

    [[nodiscard]] const Vector3& right() const { return right_; }
    [[nodiscard]] const Vector3& up() const { return up_; }
    [[nodiscard]] const Vector3& back() const { return back_; }  ///< to the eye
    /// The eye's distance from the target [length]; without perspective only a measure for depths.
    [[nodiscard]] double distance() const;
    /// [length] from the eye: where the box begins and ends.
    [[nodiscard]] double nearest() const;
    [[nodiscard]] double farthest() const;
    /// From places relative to `origin` to the eye's frame, and on to the clip space.
    [[nodiscard]] Matrix4 view_matrix(const Vector3& origin) const;
    [[nodiscard]] Matrix4 projection_matrix() const;
    [[nodiscard]] int vertical_axis() const { return vertical_; }
    /// +1 if upwards is along that axis, -1 against it.
    [[nodiscard]] double upward() const { return upward_; }

private:
    [[nodiscard]] double box_radius() const;
    void turn();

    Box box_;
    Viewport viewport_;
    int vertical_ = 2;
    double upward_ = 1.0;
    double azimuth_ = 28.0;
    double elevation_ = 20.0;
    bool perspective_ = false;
    Vector3 target_{};
    double height_ = 1.0;  // of the picture at the target's depth [length]
    Vector3 right_{1.0, 0.0, 0.0};
    Vector3 up_{0.0, 1.0, 0.0};
    Vector3 back_{0.0, 0.0, 1.0};
};

/// Product of two matrices, `b` first.
Matrix4 multiply(const Matrix4& a, const Matrix4& b);

}  // namespace carom
