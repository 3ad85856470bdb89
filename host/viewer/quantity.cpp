#include "host/viewer/quantity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "host/plot/ball_colors.hpp"
#include "host/viewer/ball_cloud.hpp"
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

/// Along which axis heights are, and from where.
struct Heights {
    int axis = 0;
    double face = 0.0;
    bool down = false;
};

Heights heights_of(const Scene& scene) {
    const Vector3& gravity = scene.physics.gravity;
    int axis = scene.dimension() - 1;
    for (int other = 0; other < scene.dimension(); ++other) {
        if (std::abs(gravity[other]) > std::abs(gravity[axis])) axis = other;
    }
    const bool down = gravity[axis] > 0.0;
    return {axis, scene.box.min[axis] + (down ? scene.box.size[axis] : 0.0), down};
}

void fill_heights(const Scene& scene, const Frame& frame, std::vector<float>& values) {
    const Heights heights = heights_of(scene);
    fill(frame, values, [&](std::size_t id) {
        const double x = frame.position[heights.axis][id];
        return heights.down ? heights.face - x : x - heights.face;
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

PictureOrder picture_order(Quantity quantity, const Scene& scene) {
    using Value = PictureOrder::Value;
    PictureOrder order;
    const Vector3 origin = cloud_origin(scene.box);
    std::ranges::copy(origin, order.origin);
    switch (quantity) {
        case Quantity::kSpecies:
        case Quantity::kSpin:
            order.value = Value::kGiven;
            break;
        case Quantity::kSpeed:
            order.value = Value::kSpeed;
            break;
        case Quantity::kKineticEnergy:
            order.value = Value::kKineticEnergy;
            break;
        case Quantity::kOverlap:
            order.value = Value::kOverlap;
            break;
        case Quantity::kId:
            order.value = Value::kId;
            break;
        case Quantity::kHeight: {
            const Heights heights = heights_of(scene);
            order.value = Value::kHeight;
            order.axis = heights.axis;
            order.face = heights.face;
            order.down = heights.down;
            break;
        }
    }
    return order;
}

ValueRange range_of(Quantity quantity, std::span<const float> values) {
    std::vector<float> finite;
    const std::size_t entries = std::min(values.size(), kRangeSample);
    finite.reserve(entries);
    for (std::size_t k = 0; k < entries; ++k) {
        const float value = values[sampled_ball(k, entries, values.size())];
        if (std::isfinite(value)) finite.push_back(value);
    }
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

Palette palette_of(Quantity quantity, const Balls& balls, ColorMap map) {
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
    constexpr std::size_t kColors = 256;
    palette.colors = map_colors(map, kColors);
    return palette;
}

}  // namespace carom
