#include "host/scene/sizes.hpp"

#include <algorithm>
#include <cmath>

#include "host/scene/scene.hpp"
#include "kernels/core/random.hpp"
#include "kernels/core/transcendental.hpp"
#include "kernels/physics/pair_distribution.hpp"

// Factors reach the state, so they are made of what kernels/core/transcendental.hpp has.

namespace carom {
namespace {

constexpr Bounds kFactor{.min = 0.01, .max = 100.0};

constexpr Key kSizeKeys[] = {
    {.name = "kind",
     .type = KeyType::kKind,
     .choices = "normal|lognormal|uniform|table",
     .fallback = "required",
     .help = "of a ball's radius over `radius`, by its id: normal about 1; lognormal about a median of 1; uniform from "
             "min to max; table: one of `values`"},
    {.name = "spread",
     .bounds = {.min = 0.0, .max = 1.0, .above_min = true},
     .fallback = "required",
     .help = "the standard deviation; lognormal: that of the logarithm",
     .kinds = "normal|lognormal"},
    {.name = "min",
     .bounds = kFactor,
     .fallback = "3 spreads below; uniform: required",
     .help = "none is smaller",
     .kinds = "normal|lognormal|uniform"},
    {.name = "max",
     .bounds = kFactor,
     .fallback = "3 spreads above; uniform: required",
     .help = "none is larger",
     .kinds = "normal|lognormal|uniform"},
    {.name = "values",
     .type = KeyType::kList,
     .bounds = kFactor,
     .fallback = "required",
     .help = "radii over `radius`",
     .kinds = "table"},
    {.name = "weights",
     .type = KeyType::kList,
     .bounds = kNotNegative,
     .fallback = "all alike",
     .help = "how often each value is drawn, in proportion",
     .kinds = "table"},
    {.name = "mass",
     .type = KeyType::kChoice,
     .choices = "volume|equal",
     .fallback = "\"volume\"",
     .help = "volume: `mass` is that of a ball of `radius`, and the others' in proportion to their volume; equal: all "
             "have it"},
};

double rounded(double factor) {
    constexpr int kDigits = 12;
    int exponent = 0;
    const double part = std::frexp(factor, &exponent);
    return std::ldexp(std::rint(std::ldexp(part, kDigits)), exponent - kDigits);
}

}  // namespace

std::span<const Key> size_keys() { return kSizeKeys; }

double Sizes::factor(std::uint64_t seed, std::uint64_t id) const {
    for (std::uint64_t draw = 0;; ++draw) {
        const RandomWords words = random_words(seed, id, RandomPurpose::kSize, draw);
        if (kind == Kind::kUniform) return std::clamp(rounded(min + (max - min) * words.uniform(0)), min, max);
        if (kind == Kind::kTable) {
            const double share = words.uniform(0) * shares.back();
            const auto at = std::ranges::upper_bound(shares, share);
            return values[static_cast<std::size_t>(std::min(at, shares.end() - 1) - shares.begin())];
        }
        const double deviate = spread * normal_pair(words).first;
        const double factor = kind == Kind::kNormal ? 1.0 + deviate : exponential(deviate);
        if (factor >= min && factor <= max) return std::clamp(rounded(factor), min, max);
    }
}

Species resized(const Species& species, std::uint32_t of, const Sizes& sizes, double factor, int dimension) {
    Species result = species;
    result.radius *= factor;
    result.radius_of_gyration *= factor;
    if (sizes.masses_by_volume) result.mass *= factor * factor * (dimension == 2 ? 1.0 : factor);
    result.size_of = static_cast<std::int32_t>(of);
    return result;
}

const Sizes* sizes_of(const Scene& scene, std::uint32_t species) {
    const auto found = scene.sizes.find(species);
    return found == scene.sizes.end() ? nullptr : &found->second;
}

double largest_radius(const Scene& scene, std::uint32_t species) {
    const Sizes* sizes = sizes_of(scene, species);
    return scene.species[species].radius * (sizes == nullptr ? 1.0 : sizes->max);
}

double smallest_radius(const Scene& scene, std::uint32_t species) {
    const Sizes* sizes = sizes_of(scene, species);
    return scene.species[species].radius * (sizes == nullptr ? 1.0 : sizes->min);
}

double heaviest_mass(const Scene& scene, std::uint32_t species) {
    const Sizes* sizes = sizes_of(scene, species);
    const Species& of = scene.species[species];
    return sizes == nullptr ? of.mass : resized(of, species, *sizes, sizes->max, scene.dimension()).mass;
}

std::uint64_t first_id(const Scene& scene, std::size_t number) {
    std::uint64_t id = scene.entry_count();
    for (std::size_t before = 0; before < number; ++before) id += scene.fills[before].count;
    return id;
}

std::vector<double> radii_of(const Scene& scene, std::size_t number) {
    const FillEntry& fill = scene.fills[number];
    const Sizes* sizes = sizes_of(scene, fill.species);
    if (sizes == nullptr) return {};
    std::vector<double> radii(fill.count);
    const std::uint64_t first = first_id(scene, number);
    for (std::uint64_t k = 0; k < fill.count; ++k) {
        radii[k] = scene.species[fill.species].radius * sizes->factor(scene.seed, first + k);
    }
    return radii;
}

double balls_filling(const Scene& scene, std::uint32_t species, std::uint64_t first, double volume) {
    // Balls that are counted one by one, of all fills before and of this one: a second's work. Of more, the mean of
    // those that were is known well enough, of the least to a percent or two, by how widely sizes differ.
    constexpr std::uint64_t kCounted = 10'000'000;
    constexpr std::uint64_t kLeast = 50'000;
    const Sizes* sizes = sizes_of(scene, species);
    const double radius = scene.species[species].radius;
    if (sizes == nullptr) return std::round(volume / ball_volume(scene.dimension(), radius));
    std::uint64_t before = 0;
    for (const FillEntry& fill : scene.fills) before += sizes_of(scene, fill.species) == nullptr ? 0 : fill.count;
    const std::uint64_t most = std::max(kCounted - std::min(before, kCounted), kLeast);
    double filled = 0.0;
    for (std::uint64_t count = 0; count < most; ++count) {
        const double next = ball_volume(scene.dimension(), radius * sizes->factor(scene.seed, first + count));
        if (filled + 0.5 * next > volume) return static_cast<double>(count);
        filled += next;
    }
    return std::round(static_cast<double>(most) * volume / filled);
}

}  // namespace carom
