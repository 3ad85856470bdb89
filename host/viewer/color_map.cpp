#include "host/viewer/color_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "host/plot/ball_colors.hpp"

namespace carom {

namespace {

constexpr std::array kMaps{ColorMapInfo{ColorMap::kViridis, "viridis"}, ColorMapInfo{ColorMap::kEmber, "ember"},
                           ColorMapInfo{ColorMap::kDusk, "dusk"}, ColorMapInfo{ColorMap::kBalance, "balance"},
                           ColorMapInfo{ColorMap::kGrey, "grey"}};

using Lab = std::array<double, 3>;

/// A colour by lightness (0 to 100), chroma and hue [degrees], the polar form of L*a*b*.
struct Tone {
    double lightness;
    double chroma;
    double hue;
};

// Of our own choice; in between lies a spline. Each path keeps inside what a screen can show.
constexpr std::array<Tone, 6> kEmberTones{
    {{16, 14, 290}, {30, 50, 305}, {46, 64, 350}, {63, 66, 40}, {80, 53, 76}, {95, 24, 97}}};
// Blue to yellow through grey: told apart by those who see no red or no green.
constexpr std::array<Tone, 6> kDuskTones{
    {{18, 24, 280}, {34, 26, 275}, {50, 6, 270}, {66, 24, 98}, {82, 52, 97}, {92, 62, 98}}};
constexpr std::array<Tone, 7> kBalanceTones{
    {{30, 46, 285}, {50, 44, 272}, {70, 28, 258}, {92, 3, 200}, {72, 36, 45}, {52, 60, 36}, {32, 54, 32}}};
constexpr std::array<Tone, 2> kGreyTones{{{15, 0, 0}, {97, 0, 0}}};

std::span<const Tone> tones_of(ColorMap map) {
    switch (map) {
        case ColorMap::kEmber:
            return kEmberTones;
        case ColorMap::kDusk:
            return kDuskTones;
        case ColorMap::kBalance:
            return kBalanceTones;
        default:
            return kGreyTones;
    }
}

// sRGB (IEC 61966-2-1) with D65 as white.
constexpr std::array<double, 3> kWhite{0.95047, 1.0, 1.08883};
constexpr double kKnee = 6.0 / 29.0;

double to_linear(double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); }
double from_linear(double c) { return c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1.0 / 2.4) - 0.055; }

Color rgb_of(const Lab& lab) {
    const auto cube = [](double t) { return t > kKnee ? t * t * t : 3.0 * kKnee * kKnee * (t - 4.0 / 29.0); };
    const double fy = (lab[0] + 16.0) / 116.0;
    const double x = kWhite[0] * cube(fy + lab[1] / 500.0);
    const double y = kWhite[1] * cube(fy);
    const double z = kWhite[2] * cube(fy - lab[2] / 200.0);
    const std::array<double, 3> linear{3.2404542 * x - 1.5371385 * y - 0.4985314 * z,
                                       -0.9692660 * x + 1.8760108 * y + 0.0415560 * z,
                                       0.0556434 * x - 0.2040259 * y + 1.0572252 * z};
    Color color{};
    for (std::size_t k = 0; k < 3; ++k) {
        color[k] = static_cast<float>(std::clamp(from_linear(std::max(linear[k], 0.0)), 0.0, 1.0));
    }
    return color;
}

/// The path through the tones at t from 0 to their number - 1: a Catmull-Rom spline.
Lab path_at(std::span<const Lab> tones, double t) {
    const auto last = static_cast<std::ptrdiff_t>(tones.size()) - 1;
    const auto k = std::min(static_cast<std::ptrdiff_t>(t), last - 1);
    const double u = t - static_cast<double>(k);
    const auto at = [&](std::ptrdiff_t index, std::size_t axis) {
        const auto inside = tones[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(index, 0, last))][axis];
        // Straight on beyond the ends.
        if (index < 0) return 2.0 * inside - tones[1][axis];
        if (index > last) return 2.0 * inside - tones[static_cast<std::size_t>(last - 1)][axis];
        return inside;
    };
    Lab point{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const double a = at(k - 1, axis);
        const double b = at(k, axis);
        const double c = at(k + 1, axis);
        const double d = at(k + 2, axis);
        point[axis] = 0.5 * (2.0 * b + (c - a) * u + (2.0 * a - 5.0 * b + 4.0 * c - d) * u * u +
                             (3.0 * b - a - 3.0 * c + d) * u * u * u);
    }
    return point;
}

double distance(const Lab& a, const Lab& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

}  // namespace

std::span<const ColorMapInfo> color_maps() { return kMaps; }

std::vector<Color> map_colors(ColorMap map, std::size_t count) {
    std::vector<Color> colors;
    if (map == ColorMap::kViridis) {
        // Of the same make as the preview picture's scale, whose darkest part is left out to be seen on black.
        const auto last = static_cast<double>(count - 1);
        for (std::size_t k = 0; k < count; ++k) colors.push_back(speed_color(static_cast<double>(k), last));
        return colors;
    }
    std::vector<Lab> tones;
    constexpr double kDegree = 3.14159265358979323846 / 180.0;
    for (const Tone& tone : tones_of(map)) {
        tones.push_back(
            {tone.lightness, tone.chroma * std::cos(kDegree * tone.hue), tone.chroma * std::sin(kDegree * tone.hue)});
    }
    // Colours at equal distances along the path.
    constexpr std::size_t kFine = 4096;
    std::vector<Lab> path;
    std::vector<double> length{0.0};
    for (std::size_t k = 0; k < kFine; ++k) {
        const auto share = static_cast<double>(k) / static_cast<double>(kFine - 1);
        path.push_back(path_at(tones, share * static_cast<double>(tones.size() - 1)));
        if (k > 0) length.push_back(length.back() + distance(path[k - 1], path[k]));
    }
    for (std::size_t k = 0; k < count; ++k) {
        const double share = static_cast<double>(k) / static_cast<double>(count - 1);
        double wanted = share * length.back();
        if (map == ColorMap::kBalance) {  // the middle stands for the middle
            const double half = length[kFine / 2];
            wanted = share < 0.5 ? 2.0 * share * half : half + (2.0 * share - 1.0) * (length.back() - half);
        }
        const auto next = std::ranges::lower_bound(length, wanted) - length.begin();
        colors.push_back(rgb_of(path[std::min(static_cast<std::size_t>(next), kFine - 1)]));
    }
    return colors;
}

std::array<double, 3> lab_of(const Color& color) {
    const double r = to_linear(static_cast<double>(color[0]));
    const double g = to_linear(static_cast<double>(color[1]));
    const double b = to_linear(static_cast<double>(color[2]));
    const auto root = [](double t) {
        return t > kKnee * kKnee * kKnee ? std::cbrt(t) : t / (3.0 * kKnee * kKnee) + 4.0 / 29.0;
    };
    const double fx = root((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / kWhite[0]);
    const double fy = root((0.2126729 * r + 0.7151522 * g + 0.0721750 * b) / kWhite[1]);
    const double fz = root((0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / kWhite[2]);
    return {116.0 * fy - 16.0, 500.0 * (fx - fy), 200.0 * (fy - fz)};
}

}  // namespace carom
