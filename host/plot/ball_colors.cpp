#include "host/plot/ball_colors.hpp"

#include <algorithm>
#include <cmath>

#include "host/plot/image.hpp"

namespace carom {

namespace {

/// Okabe and Ito 2008: told apart by the colour-blind too.
constexpr std::array<Color, 7> kPalette{{{0.337f, 0.706f, 0.914f},
                                         {0.902f, 0.624f, 0.0f},
                                         {0.0f, 0.620f, 0.451f},
                                         {0.800f, 0.475f, 0.655f},
                                         {0.941f, 0.894f, 0.259f},
                                         {0.0f, 0.447f, 0.698f},
                                         {0.835f, 0.369f, 0.0f}}};

double speed_of(const Frame& frame, std::size_t id) {
    double squared = 0.0;
    for (int axis = 0; axis < frame.dimension; ++axis) squared += frame.velocity[axis][id] * frame.velocity[axis][id];
    return std::sqrt(squared);
}

BallColors color_by_speed(const Frame& frame) {
    BallColors colors;
    std::vector<double> speeds;
    for (std::size_t id = 0; id < frame.size(); ++id) {
        const double speed = speed_of(frame, id);
        if (!frame.gone[id] && std::isfinite(speed)) speeds.push_back(speed);
    }
    if (!speeds.empty()) {
        colors.fastest = end_of_scale(speeds);
        if (colors.fastest <= 0.0) colors.fastest = *std::ranges::max_element(speeds);
    }
    colors.color.resize(frame.size());
    for (std::size_t id = 0; id < frame.size(); ++id) {
        colors.color[id] = speed_color(speed_of(frame, id), colors.fastest);
    }
    return colors;
}

}  // namespace

std::vector<bool> species_in_use(const Balls& balls) {
    std::vector<bool> used(balls.species_table.size());
    for (const auto index : balls.species) used[species_row(balls.species_table, index)] = true;
    return used;
}

Color species_color(const Species& species, std::size_t index) {
    return parse_color(species.color, kPalette[index % kPalette.size()]);
}

Color speed_color(double speed, double fastest) {
    constexpr float kDarkest = 0.12f;
    if (!(fastest > 0.0) || !std::isfinite(speed)) return viridis(0.55f);
    return viridis(kDarkest + (1.0f - kDarkest) * static_cast<float>(std::min(1.0, speed / fastest)));
}

BallColors color_balls(const Balls& balls, const Frame& frame, ColorBy color_by) {
    const auto& table = balls.species_table;
    const std::vector<bool> used = species_in_use(balls);
    // One species in one colour would say nothing.
    const bool several = std::ranges::count(used, true) > 1;
    if (color_by == ColorBy::kSpeed || (color_by == ColorBy::kAuto && !several)) return color_by_speed(frame);
    std::vector<Color> colors_of(table.size());
    BallColors colors;
    for (std::size_t k = 0; k < table.size(); ++k) {
        colors_of[k] = species_color(table[k], k);
        if (used[k] && !table[k].name.empty()) colors.entries.emplace_back(table[k].name, colors_of[k]);
    }
    colors.color.resize(frame.size());
    for (std::size_t id = 0; id < frame.size(); ++id)
        colors.color[id] = colors_of[species_row(table, balls.species[id])];
    return colors;
}

}  // namespace carom
