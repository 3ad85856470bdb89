#include "host/viewer/camera.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <sstream>

#include "host/state/errors.hpp"
#include "host/viewer/painter.hpp"

namespace carom {

namespace {

constexpr double kHalfView = 15.0 * std::numbers::pi / 180.0;  // half the angle that a picture with perspective spans
constexpr double kDegree = std::numbers::pi / 180.0;

double dot(const Vector3& a, const Vector3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector3 minus(const Vector3& a, const Vector3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Vector3 corner_of(const Box& box, int index) {
    Vector3 corner = box.min;
    for (int axis = 0; axis < box.dimension; ++axis) {
        if ((index >> axis & 1) != 0) corner[axis] += box.size[axis];
    }
    return corner;
}

}  // namespace

double Viewport::inner_width() const {
    return std::max(1.0, static_cast<double>(width) - static_cast<double>(left) - static_cast<double>(right));
}
double Viewport::inner_height() const {
    return std::max(1.0, static_cast<double>(height) - static_cast<double>(top) - static_cast<double>(bottom));
}

Camera::Camera(const Scene& scene, const Viewport& viewport) : box_(scene.box), viewport_(viewport) {
    const Vector3& gravity = scene.physics.gravity;
    for (int axis = 0; axis < 3; ++axis) {
        if (std::abs(gravity[axis]) > std::abs(gravity[vertical_])) vertical_ = axis;
    }
    upward_ = gravity[vertical_] > 0.0 ? -1.0 : 1.0;
    if (box_.dimension == 3) turn();
    fit();
}

void Camera::turn() {
    // A right-handed frame about the vertical: `first` at azimuth 90, `second` away at azimuth 0.
    const int first = (vertical_ + 1) % 3;
    const int second = (vertical_ + 2) % 3;
    const double ca = std::cos(azimuth_ * kDegree);
    const double sa = std::sin(azimuth_ * kDegree);
    const double ce = std::cos(elevation_ * kDegree);
    const double se = std::sin(elevation_ * kDegree);
    right_ = up_ = back_ = {};
    right_[first] = ca;
    right_[second] = upward_ * sa;
    back_[first] = sa * ce;
    back_[second] = -upward_ * ca * ce;
    back_[vertical_] = upward_ * se;
    up_[first] = -sa * se;
    up_[second] = upward_ * ca * se;
    up_[vertical_] = upward_ * ce;
}

void Camera::look_from(double azimuth, double elevation) {
    if (box_.dimension != 3) return;
    azimuth_ = std::remainder(azimuth, 360.0);
    elevation_ = std::clamp(elevation, -90.0, 90.0);
    turn();
}

void Camera::set_perspective(bool perspective) { perspective_ = perspective && box_.dimension == 3; }

void Camera::fit() {
    for (int axis = 0; axis < 3; ++axis) target_[axis] = box_.min[axis] + 0.5 * box_.size[axis];
    const double inner_width = viewport_.inner_width();
    const double inner_height = viewport_.inner_height();
    const double aspect = inner_width / inner_height;
    double inner = 0.0;  // height of the inner part [length]
    for (int index = 0; index < (1 << box_.dimension); ++index) {
        const Vector3 from = minus(corner_of(box_, index), target_);
        double half = std::max(std::abs(dot(from, up_)), std::abs(dot(from, right_)) / aspect);
        // Nearer to the eye a thing is larger: (distance - z) tan(angle) >= half, and height is distance times 2 tan.
        if (perspective_) {
            const double tangent = std::tan(kHalfView) * inner_height / static_cast<double>(viewport_.height);
            half += dot(from, back_) * tangent;
        }
        inner = std::max(inner, 2.0 * half);
    }
    height_ = std::max(inner, 1e-300) * static_cast<double>(viewport_.height) / inner_height;
}

double Camera::scale() const { return static_cast<double>(viewport_.height) / height_; }

double Camera::box_radius() const { return 0.5 * std::sqrt(dot(box_.size, box_.size)); }

double Camera::distance() const {
    if (perspective_) return 0.5 * height_ / std::tan(kHalfView);
    // So far that the whole box lies before the eye, wherever the target is.
    Vector3 center{};
    for (int axis = 0; axis < 3; ++axis) center[axis] = box_.min[axis] + 0.5 * box_.size[axis];
    return std::max(1e-300, 1.5 * box_radius() + std::abs(dot(minus(target_, center), back_)));
}

double Camera::nearest() const {
    Vector3 center{};
    for (int axis = 0; axis < 3; ++axis) center[axis] = box_.min[axis] + 0.5 * box_.size[axis];
    const double to_center = distance() + dot(minus(target_, center), back_);
    return std::max(to_center - 1.2 * box_radius(), perspective_ ? 1e-3 * distance() : 0.0);
}

double Camera::farthest() const {
    Vector3 center{};
    for (int axis = 0; axis < 3; ++axis) center[axis] = box_.min[axis] + 0.5 * box_.size[axis];
    return std::max(distance() + dot(minus(target_, center), back_) + 1.2 * box_radius(), 1.001 * nearest());
}

PicturePlace Camera::project(const Vector3& point) const {
    const Vector3 from = minus(point, target_);
    const double depth = distance() - dot(from, back_);
    const double size = perspective_ ? scale() * distance() / depth : scale();
    const Viewport& v = viewport_;
    return {static_cast<double>(v.left) + 0.5 * v.inner_width() + size * dot(from, right_),
            static_cast<double>(v.top) + 0.5 * v.inner_height() - size * dot(from, up_), depth};
}

Vector3 Camera::unproject(double x, double y, const Vector3& through) const {
    const PicturePlace place = project(through);
    const double size = perspective_ ? scale() * distance() / place.depth : scale();
    Vector3 point = through;
    for (int axis = 0; axis < 3; ++axis) {
        point[axis] += ((x - place.x) * right_[axis] - (y - place.y) * up_[axis]) / size;
    }
    return point;
}

void Camera::pan(double right, double down) {
    for (int axis = 0; axis < 3; ++axis) target_[axis] -= (right * right_[axis] - down * up_[axis]) / scale();
}

void Camera::zoom(double factor, double x, double y) {
    const Vector3 there = unproject(x, y, target_);
    height_ /= factor;
    for (int axis = 0; axis < 3; ++axis) target_[axis] = there[axis] + (target_[axis] - there[axis]) / factor;
}

void Camera::zoom(double factor) { height_ /= factor; }

Matrix4 Camera::view_matrix(const Vector3& origin) const {
    const Vector3 shift = minus(origin, target_);
    Matrix4 m{};
    const std::array<const Vector3*, 3> rows{&right_, &up_, &back_};
    for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t column = 0; column < 3; ++column) {
            m[4 * column + row] = static_cast<float>((*rows[row])[column]);
        }
        m[12 + row] = static_cast<float>(dot(shift, *rows[row]) - (row == 2 ? distance() : 0.0));
    }
    m[15] = 1.0f;
    return m;
}

Matrix4 Camera::projection_matrix() const {
    const Viewport& v = viewport_;
    const double width = static_cast<double>(v.width);
    const double height = static_cast<double>(v.height);
    const double near = nearest();
    const double far = farthest();
    // The middle of the inner part, in clip space.
    const double x0 = 2.0 * (static_cast<double>(v.left) + 0.5 * v.inner_width()) / width - 1.0;
    const double y0 = 1.0 - 2.0 * (static_cast<double>(v.top) + 0.5 * v.inner_height()) / height;
    Matrix4 m{};
    if (perspective_) {
        const double size = 1.0 / std::tan(kHalfView);
        m[0] = static_cast<float>(size * height / width);
        m[5] = static_cast<float>(size);
        m[8] = static_cast<float>(-x0);
        m[9] = static_cast<float>(-y0);
        m[10] = static_cast<float>(-(far + near) / (far - near));
        m[11] = -1.0f;
        m[14] = static_cast<float>(-2.0 * far * near / (far - near));
    } else {
        m[0] = static_cast<float>(2.0 * scale() / width);
        m[5] = static_cast<float>(2.0 * scale() / height);
        m[10] = static_cast<float>(-2.0 / (far - near));
        m[12] = static_cast<float>(x0);
        m[13] = static_cast<float>(y0);
        m[14] = static_cast<float>(-(far + near) / (far - near));
        m[15] = 1.0f;
    }
    return m;
}

Matrix4 multiply(const Matrix4& a, const Matrix4& b) {
    Matrix4 m{};
    for (std::size_t column = 0; column < 4; ++column) {
        for (std::size_t row = 0; row < 4; ++row) {
            for (std::size_t k = 0; k < 4; ++k) m[4 * column + row] += a[4 * k + row] * b[4 * column + k];
        }
    }
    return m;
}

namespace {

double parse_number(const std::string& text, const std::string& option, const std::string& what) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
        throw InputError(fmt::format("{}: {}: '{}' is not a number", option, what, text));
    }
    return value;
}

Vector3 parse_target(const std::string& text, const std::string& option) {
    std::istringstream parts(text);
    Vector3 target{0.0, 0.0, std::numeric_limits<double>::quiet_NaN()};
    std::size_t count = 0;
    for (std::string part; std::getline(parts, part, ':'); ++count) {
        if (count < 3) target[count] = parse_number(part, option, "target");
    }
    if (count != 2 && count != 3) {
        throw InputError(fmt::format("{}: target: '{}' is not X:Y or X:Y:Z", option, text));
    }
    return target;
}

/// The target that is wished, along axes of which nothing is said that of `otherwise`.
Vector3 completed(const std::optional<Vector3>& wish, const Vector3& otherwise) {
    Vector3 target = wish.value_or(otherwise);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (std::isnan(target[axis])) target[axis] = otherwise[axis];
    }
    return target;
}

}  // namespace

CameraWish parse_camera(const std::string& text, const std::string& option) {
    CameraWish wish;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        const auto equals = part.find('=');
        const std::string name = part.substr(0, equals);
        const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
        const auto direction = [&](double azimuth, double elevation) {
            wish.azimuth = azimuth;
            wish.elevation = elevation;
        };
        if (part == "perspective") {
            wish.perspective = true;
        } else if (part == "orthographic") {
            wish.perspective = false;
        } else if (part == "front") {
            direction(0.0, 0.0);
        } else if (part == "side") {
            direction(90.0, 0.0);
        } else if (part == "top") {
            direction(0.0, 90.0);
        } else if (name == "azimuth" && !value.empty()) {
            wish.azimuth = parse_number(value, option, name);
        } else if (name == "elevation" && !value.empty()) {
            wish.elevation = parse_number(value, option, name);
        } else if (name == "zoom" && !value.empty()) {
            wish.zoom = parse_number(value, option, name);
            if (*wish.zoom <= 0.0) throw InputError(option + ": zoom: must be greater than 0");
        } else if (name == "target" && !value.empty()) {
            wish.target = parse_target(value, option);
        } else {
            throw InputError(fmt::format(
                "{}: '{}' is not known; allowed, with commas between: perspective, orthographic, front, side, "
                "top, azimuth=DEGREES, elevation=DEGREES, zoom=FACTOR, target=X:Y[:Z]",
                option, part));
        }
    }
    return wish;
}

CameraWish camera_at(const std::vector<CameraKey>& keys, const CameraWish& first, const Camera& camera, double time) {
    CameraWish before = first;
    before.azimuth = first.azimuth.value_or(camera.azimuth());
    before.elevation = first.elevation.value_or(camera.elevation());
    before.zoom = first.zoom.value_or(1.0);
    before.target = completed(first.target, camera.target());
    double since = -std::numeric_limits<double>::infinity();
    for (const CameraKey& key : keys) {
        CameraWish next{.perspective = key.wish.perspective ? key.wish.perspective : before.perspective,
                        .azimuth = key.wish.azimuth.value_or(*before.azimuth),
                        .elevation = key.wish.elevation.value_or(*before.elevation),
                        .zoom = key.wish.zoom.value_or(*before.zoom),
                        .target = completed(key.wish.target, *before.target)};
        if (time < key.time && std::isfinite(since)) {
            const double share = (time - since) / (key.time - since);
            next.perspective = before.perspective;
            next.azimuth = std::lerp(*before.azimuth, *next.azimuth, share);
            next.elevation = std::lerp(*before.elevation, *next.elevation, share);
            next.zoom = *before.zoom * std::pow(*next.zoom / *before.zoom, share);
            for (std::size_t axis = 0; axis < 3; ++axis) {
                (*next.target)[axis] = std::lerp((*before.target)[axis], (*next.target)[axis], share);
            }
            return next;
        }
        if (time < key.time) return next;
        before = next;
        since = key.time;
    }
    return before;
}

void CameraWish::apply(Camera& camera) const {
    camera.set_perspective(perspective.value_or(camera.perspective()));
    camera.look_from(azimuth.value_or(camera.azimuth()), elevation.value_or(camera.elevation()));
    camera.fit();
    camera.set_target(completed(target, camera.target()));
    if (zoom) camera.zoom(*zoom);
}

}  // namespace carom
