#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <sstream>

#include "host/state/errors.hpp"
#include "host/viewer/painter.hpp"

namespace carom {

namespace {

double parse_number(const std::string& text, const std::string& what) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
        throw InputError(fmt::format("--camera: {}: '{}' is not a number", what, text));
    }
    return value;
}

Vector3 parse_target(const std::string& text) {
    std::istringstream parts(text);
    Vector3 target{};
    std::size_t count = 0;
    for (std::string part; std::getline(parts, part, ':'); ++count) {
        if (count < 3) target[count] = parse_number(part, "target");
    }
    if (count != 2 && count != 3) {
        throw InputError(fmt::format("--camera: target: '{}' is not X:Y or X:Y:Z", text));
    }
    return target;
}

}  // namespace

CameraWish parse_camera(const std::string& text) {
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
            wish.azimuth = parse_number(value, name);
        } else if (name == "elevation" && !value.empty()) {
            wish.elevation = parse_number(value, name);
        } else if (name == "zoom" && !value.empty()) {
            wish.zoom = parse_number(value, name);
            if (*wish.zoom <= 0.0) throw InputError("--camera: zoom: must be greater than 0");
        } else if (name == "target" && !value.empty()) {
            wish.target = parse_target(value);
        } else {
            throw InputError(fmt::format(
                "--camera: '{}' is not known; allowed, with commas between: perspective, orthographic, front, side, "
                "top, azimuth=DEGREES, elevation=DEGREES, zoom=FACTOR, target=X:Y[:Z]",
                part));
        }
    }
    return wish;
}

void CameraWish::apply(Camera& camera) const {
    camera.set_perspective(perspective.value_or(camera.perspective()));
    camera.look_from(azimuth.value_or(camera.azimuth()), elevation.value_or(camera.elevation()));
    camera.fit();
    if (target) camera.set_target(*target);
    if (zoom) camera.zoom(*zoom);
}

}  // namespace carom
