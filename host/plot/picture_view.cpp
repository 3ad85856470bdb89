#include "host/plot/picture_view.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace carom {

namespace {

double dot(const Vector3& a, const Vector3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

}  // namespace

Vector3 box_corner(const Box& box, int index) {
    Vector3 corner = box.min;
    for (int axis = 0; axis < box.dimension; ++axis) corner[axis] += (index >> axis & 1) != 0 ? box.size[axis] : 0.0;
    return corner;
}

PictureView::PictureView(const Scene& scene) {
    if (scene.dimension() == 3) {
        // Upwards is against gravity, along the axis nearest to it; z without gravity.
        int vertical = 2;
        for (int axis = 0; axis < 3; ++axis) {
            if (std::abs(scene.physics.gravity[axis]) > std::abs(scene.physics.gravity[vertical])) vertical = axis;
        }
        const double sign = scene.physics.gravity[vertical] > 0.0 ? -1.0 : 1.0;
        const int first = (vertical + 1) % 3;
        const int second = (vertical + 2) % 3;
        constexpr double kAzimuth = 28.0 * std::numbers::pi / 180.0;
        constexpr double kElevation = 20.0 * std::numbers::pi / 180.0;
        right_ = up_ = away_ = {};
        right_[first] = std::cos(kAzimuth);
        right_[second] = sign * std::sin(kAzimuth);
        away_[first] = -std::sin(kAzimuth) * std::cos(kElevation);
        away_[second] = sign * std::cos(kAzimuth) * std::cos(kElevation);
        away_[vertical] = -sign * std::sin(kElevation);
        up_[first] = -std::sin(kAzimuth) * std::sin(kElevation);
        up_[second] = sign * std::cos(kAzimuth) * std::sin(kElevation);
        up_[vertical] = sign * std::cos(kElevation);
    }
    right_min_ = up_min_ = away_min_ = std::numeric_limits<double>::infinity();
    right_max_ = up_max_ = away_max_ = -right_min_;
    for (int index = 0; index < (scene.dimension() == 3 ? 8 : 4); ++index) {
        const Vector3 corner = box_corner(scene.box, index);
        right_min_ = std::min(right_min_, dot(corner, right_));
        right_max_ = std::max(right_max_, dot(corner, right_));
        up_min_ = std::min(up_min_, dot(corner, up_));
        up_max_ = std::max(up_max_, dot(corner, up_));
        away_min_ = std::min(away_min_, dot(corner, away_));
        away_max_ = std::max(away_max_, dot(corner, away_));
    }
}

void PictureView::place(Point corner, double scale) {
    corner_ = corner;
    scale_ = scale;
}

Point PictureView::project(const Vector3& position) const {
    return {corner_.x + static_cast<float>((dot(position, right_) - right_min_) * scale_),
            corner_.y + static_cast<float>((up_max_ - dot(position, up_)) * scale_)};
}

double PictureView::depth(const Vector3& position) const {
    return away_max_ > away_min_ ? (dot(position, away_) - away_min_) / (away_max_ - away_min_) : 0.0;
}

}  // namespace carom
