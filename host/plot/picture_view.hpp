#pragma once

#include "host/plot/image.hpp"
#include "host/scene/scene.hpp"

namespace carom {

/// How points of the box come to lie in the picture.
class PictureView {
public:
    explicit PictureView(const Scene& scene);

    /// What the box fills, in lengths of the box: to be scaled to the room there is.
    [[nodiscard]] double width() const { return right_max_ - right_min_; }
    [[nodiscard]] double height() const { return up_max_ - up_min_; }

    /// Puts the box into the rectangle of the picture that starts at `corner`, `scale` pixels per length.
    void place(Point corner, double scale);
    [[nodiscard]] Point project(const Vector3& position) const;
    /// 0 for the nearest corner of the box, 1 for the farthest.
    [[nodiscard]] double depth(const Vector3& position) const;
    [[nodiscard]] double scale() const { return scale_; }

private:
    Vector3 right_{1.0, 0.0, 0.0};
    Vector3 up_{0.0, 1.0, 0.0};
    Vector3 away_{0.0, 0.0, 0.0};  // from the eye
    double right_min_, right_max_, up_min_, up_max_, away_min_, away_max_;
    Point corner_;
    double scale_ = 1.0;
};

/// The eight corners of a 3D box (four of a 2D one): bit k of the index says which end of axis k.
Vector3 box_corner(const Box& box, int index);

}  // namespace carom
