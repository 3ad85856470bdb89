#include "host/viewer/quantity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "host/plot/ball_colors.hpp"
#include "host/plot/colormap.hpp"
#include "host/viewer/overlaps.hpp"

namespace carom {

namespace {

constexpr std::array kQuantities{QuantityInfo{Quantity::kSpecies, "species", "species", ""},
                                 QuantityInfo{Quantity::kSpeed, "speed", "speed", "m/s"},
                                 QuantityInfo{Quantity::kKineticEnergy, "kinetic-energy", "kinetic energy", "J"},
                                 QuantityInfo{Quantity::kSpin, "spin", "spin", "rad/s"},
                                 QuantityInfo{Quantity::kOverlap, "overlap", "overlap / radius", ""},
                                 QuantityInfo{Quantity::kId, "id", "id", ""},
                                 QuantityInfo{Quantity::kHeight, "height", "height", "m"}};

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

double squared(const std::array<std::vector<double>, 3>& vector, std::size_t id) {
    double sum = 0.0;
    for (const auto& component : vector) {
        if (!component.empty()) sum += component[id] * component[id];
    }
    return sum;
}

/// Fills `values` with of(id) of each ball that is still in.
template <class Of>
void fill(const Frame& frame, std::vector<float>& values, const Of& of) {
    values.resize(frame.size());
    for (std::size_t id = 0; id < frame.size(); ++id) {
        values[id] = frame.gone[id] != 0 ? kNone : static_cast<float>(of(id));
    }
}

void fill_heights(const Scene& scene, const Frame& frame, std::vector<float>& values) {
    const Vector3& gravity = scene.physics.gravity;
    int axis = frame.dimension - 1;
    for (int other = 0; other < frame.dimension; ++other) {
        if (std::abs(gravity[other]) > std::abs(gravity[axis])) axis = other;
    }
    const double low = scene.box.min[axis];
    const double high = low + scene.box.size[axis];
    const bool down = gravity[axis] > 0.0;
    fill(frame, values, [&](std::size_t id) {
        const double x = frame.position[axis][id];
        return down ? high - x : x - low;
    });
}

}  // namespace

std::span<const QuantityInfo> quantities() { return kQuantities; }

Quantity default_quantity(const Balls& balls) {
    std::vector<bool> used(balls.species_table.size());
    for (const auto index : balls.species) used[index] = true;
    for (std::size_t k = 0; k < used.size(); ++k) {
        if (used[k] && !balls.species_table[k].color.empty()) return Quantity::kSpecies;
    }
    return std::ranges::count(used, true) > 1 ? Quantity::kSpecies : Quantity::kSpeed;
}

void evaluate(Quantity quantity, const Scene& scene, const Balls& balls, const Frame& frame,
              std::vector<float>& values) {
    switch (quantity) {
        case Quantity::kSpecies:
            fill(frame, values, [&](std::size_t id) { return balls.species[id]; });
            break;
        case Quantity::kSpeed:
            fill(frame, values, [&](std::size_t id) { return std::sqrt(squared(frame.velocity, id)); });
            break;
        case Quantity::kKineticEnergy:
            fill(frame, values, [&](std::size_t id) {
                const double mass = balls.species_of(id).mass;
                return std::isfinite(mass) ? 0.5 * mass * squared(frame.velocity, id) : double{kNone};
            });
            break;
        case Quantity::kSpin:
            fill(frame, values, [&](std::size_t id) { return std::sqrt(squared(frame.spin, id)); });
            break;
        case Quantity::kOverlap:
            deepest_overlaps(scene, balls, frame, values);
            break;
        case Quantity::kId:
            fill(frame, values, [](std::size_t id) { return id; });
            break;
        case Quantity::kHeight:
            fill_heights(scene, frame, values);
            break;
    }
}

ValueRange range_of(Quantity quantity, std::span<const float> values) {
    std::vector<float> finite;
    finite.reserve(values.size());
    std::ranges::copy_if(values, std::back_inserter(finite), [](float v) { return std::isfinite(v); });
    if (finite.empty()) return {};
    ValueRange range;
    if (quantity == Quantity::kId || quantity == Quantity::kHeight) {
        const auto [least, most] = std::ranges::minmax(finite);
        range = {least, most};
    } else {
        constexpr double kShare = 0.998;
        const auto rank = static_cast<std::ptrdiff_t>(kShare * static_cast<double>(finite.size() - 1));
        std::nth_element(finite.begin(), finite.begin() + rank, finite.end());
        range = {0.0f, finite[static_cast<std::size_t>(rank)]};
        if (range.high <= 0.0f) range.high = std::ranges::max(finite);
    }
    if (range.high <= range.low) range.high = range.low + 1.0f;
    return range;
}

Color Palette::at(float t) const {
    const float place = std::clamp(t, 0.0f, 1.0f) * static_cast<float>(colors.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(place), colors.size() - 2);
    Color color{};
    for (std::size_t k = 0; k < 3; ++k) {
        color[k] = std::lerp(colors[below][k], colors[below + 1][k], place - static_cast<float>(below));
    }
    return color;
}

Palette palette_of(Quantity quantity, const Balls& balls) {
    Palette palette;
    if (quantity == Quantity::kSpecies) {
        palette.categories = true;
        std::vector<bool> used(balls.species_table.size());
        for (const auto index : balls.species) used[index] = true;
        for (std::size_t k = 0; k < used.size(); ++k) {
            const Species& species = balls.species_table[k];
            palette.colors.push_back(species_color(species, k));
            if (used[k] && !species.name.empty()) palette.entries.emplace_back(species.name, palette.colors.back());
        }
        if (palette.colors.empty()) palette.colors.push_back({0.5f, 0.5f, 0.5f});
        return palette;
    }
    constexpr int kColors = 256;
    // Of the same make as the preview picture's scale, whose darkest part is left out to be seen on black.
    for (int k = 0; k < kColors; ++k) palette.colors.push_back(speed_color(k, kColors - 1));
    return palette;
}

}  // namespace carom
