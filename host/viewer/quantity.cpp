#include "host/viewer/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "host/plot/ball_colors.hpp"
#include "host/state/errors.hpp"
#include "kernels/physics/pair_distribution.hpp"

namespace carom {

namespace {

/// Cells of a scene's box that are no smaller than the largest diameter, and no more of them than balls, however large
/// the box.
/// \param each  how many balls a cell has on average, at least
BoxCells cells_of(const Scene& scene, const Balls& balls, double each) {
    BoxCells cells;
    cells.dimension = scene.dimension();
    double largest = 0.0;
    const auto used = species_in_use(balls);
    for (std::size_t k = 0; k < used.size(); ++k) {
        if (used[k]) largest = std::max(largest, balls.species_table[k].radius);
    }
    // As wide along all axes, but those that are narrower than that.
    std::array<bool, 3> narrow{};
    double width = 0.0;
    for (int pass = 0; pass < cells.dimension; ++pass) {
        double room = 1.0;
        int wide = 0;
        for (int axis = 0; axis < cells.dimension; ++axis) {
            if (narrow[axis]) continue;
            room *= scene.box.size[axis];
            ++wide;
        }
        if (wide == 0) break;
        width = std::pow(room * each / std::max(1.0, static_cast<double>(balls.size())), 1.0 / wide);
        for (int axis = 0; axis < cells.dimension; ++axis) narrow[axis] = narrow[axis] || scene.box.size[axis] < width;
    }
    for (int axis = 0; axis < cells.dimension; ++axis) {
        cells.min[axis] = scene.box.min[axis];
        cells.size[axis] = scene.box.size[axis];
        cells.periodic[axis] = scene.box.periodic(axis);
        const double fit = largest > 0.0 ? std::floor(cells.size[axis] / (2.0 * largest)) : 1.0;
        const double most = narrow[axis] ? 1.0 : std::floor(cells.size[axis] / width);
        cells.count[axis] = static_cast<std::int64_t>(std::max(1.0, std::min(fit, most)));
    }
    return cells;
}

/// The balls of a frame by cells, so that partners are in neighbouring ones.
class Cells {
public:
    Cells(const BoxCells& cells, const Frame& frame) : box_(cells), frame_(frame) {
        start_.assign(static_cast<std::size_t>(box_.cells()) + 1, 0);
        for (std::size_t id = 0; id < frame.size(); ++id) {
            if (present(id)) ++start_[cell_of(id) + 1];
        }
        std::partial_sum(start_.begin(), start_.end(), start_.begin());
        sorted_.resize(start_.back());
        auto next = start_;
        for (std::size_t id = 0; id < frame.size(); ++id) {
            if (present(id)) sorted_[next[cell_of(id)]++] = id;
        }
    }

    [[nodiscard]] bool present(std::size_t id) const {
        if (frame_.gone[id] != 0) return false;
        for (int axis = 0; axis < frame_.dimension; ++axis) {
            if (!std::isfinite(frame_.position[axis][id])) return false;
        }
        return true;
    }

    /// Calls `meet` with each ball of the cells around that of ball `id`.
    template <class Meet>
    void around(std::size_t id, const Meet& meet) const {
        box_.near(static_cast<std::int64_t>(cell_of(id)), [&](std::int64_t cell) {
            for (const std::size_t other : balls_of(static_cast<std::size_t>(cell))) meet(other);
        });
    }

    [[nodiscard]] std::size_t size() const { return start_.size() - 1; }
    [[nodiscard]] std::span<const std::size_t> balls_of(std::size_t cell) const {
        return {sorted_.data() + start_[cell], start_[cell + 1] - start_[cell]};
    }
    [[nodiscard]] std::size_t cell_of(std::size_t id) const {
        std::int64_t cell = 0;
        for (int axis = box_.dimension - 1; axis >= 0; --axis) {
            cell = cell * box_.count[axis] + box_.index(axis, frame_.position[axis][id]);
        }
        return static_cast<std::size_t>(cell);
    }

private:
    const BoxCells box_;
    const Frame& frame_;
    std::vector<std::size_t> start_;
    std::vector<std::size_t> sorted_;
};

/// How far two balls overlap, the nearest way around periodic faces; negative: a gap [length].
double overlap_of(const Scene& scene, const Balls& balls, const Frame& frame, std::size_t i, std::size_t j) {
    double squared = 0.0;
    for (int axis = 0; axis < frame.dimension; ++axis) {
        double apart = frame.position[axis][j] - frame.position[axis][i];
        if (scene.box.periodic(axis)) apart = std::remainder(apart, scene.box.size[axis]);
        squared += apart * apart;
    }
    return balls.species_of(i).radius + balls.species_of(j).radius - std::sqrt(squared);
}

}  // namespace

void visit_contacts(const Scene& scene, const Balls& balls, const Frame& frame,
                    const std::function<void(std::size_t, std::size_t, double)>& meet) {
    const Cells cells(cells_of(scene, balls, 1.0), frame);
    for (std::size_t i = 0; i < frame.size(); ++i) {
        if (!cells.present(i)) continue;
        cells.around(i, [&](std::size_t j) {
            const double overlap = j > i ? overlap_of(scene, balls, frame, i, j) : 0.0;
            if (overlap > 0.0) meet(i, j, overlap);
        });
    }
}

void deepest_overlaps(const Scene& scene, const Balls& balls, const Frame& frame, std::vector<float>& overlaps) {
    overlaps.assign(frame.size(), 0.0f);
    visit_contacts(scene, balls, frame, [&](std::size_t i, std::size_t j, double overlap) {
        const auto depth =
            static_cast<float>(overlap / std::min(balls.species_of(i).radius, balls.species_of(j).radius));
        overlaps[i] = std::max(overlaps[i], depth);
        overlaps[j] = std::max(overlaps[j], depth);
    });
}

std::vector<std::size_t> partners_of(const Scene& scene, const Balls& balls, const Frame& frame, std::size_t id) {
    std::vector<std::size_t> partners;
    if (id >= frame.size() || frame.gone[id] != 0) return partners;
    for (std::size_t other = 0; other < frame.size(); ++other) {
        if (other == id || frame.gone[other] != 0) continue;
        if (overlap_of(scene, balls, frame, id, other) >= 0.0) partners.push_back(other);
    }
    return partners;
}

namespace {

constexpr std::array kQuantities{QuantityInfo{Quantity::kSpecies, "species", "species", ""},
                                 QuantityInfo{Quantity::kSpeed, "speed", "speed", "m/s"},
                                 QuantityInfo{Quantity::kKineticEnergy, "kinetic-energy", "kinetic energy", "J"},
                                 QuantityInfo{Quantity::kSpin, "spin", "spin", "rad/s"},
                                 QuantityInfo{Quantity::kOverlap, "overlap", "overlap / radius", ""},
                                 QuantityInfo{Quantity::kId, "id", "id", ""},
                                 QuantityInfo{Quantity::kHeight, "height", "height", "m"},
                                 QuantityInfo{Quantity::kDensity, "density", "local density", ""},
                                 QuantityInfo{Quantity::kTemperature, "temperature", "local temp.", "J"},
                                 QuantityInfo{Quantity::kFlow, "flow", "local flow", "m/s"},
                                 QuantityInfo{Quantity::kFormula, "formula", "formula", ""}};

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

double squared(const std::array<std::vector<double>, 3>& vector, std::size_t id) {
    double sum = 0.0;
    for (const auto& component : vector) {
        if (!component.empty()) sum += component[id] * component[id];
    }
    return sum;
}

/// The kinetic energy of a ball, without that of its spin.
double translation_of(const Balls& balls, const Frame& frame, std::size_t id) {
    const double mass = balls.species_of(id).mass;
    return std::isfinite(mass) ? 0.5 * mass * squared(frame.velocity, id) : double{kNone};
}

/// Fills `values` with of(id) of each ball that is still in. Where a float has room for none of them but 0, they are no
/// numbers: it would look as if all were 0.
template <class Of>
void fill(const Frame& frame, std::vector<float>& values, const Of& of) {
    values.resize(frame.size());
    bool any = false;
    bool lost = false;
    for (std::size_t id = 0; id < frame.size(); ++id) {
        const double value = frame.gone[id] != 0 ? double{kNone} : static_cast<double>(of(id));
        values[id] = static_cast<float>(value);
        const bool kept = std::isnormal(values[id]);
        any = any || kept;
        lost = lost || (std::isnormal(value) && !kept);
    }
    if (lost && !any) std::ranges::fill(values, kNone);
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

constexpr double kBallsOfCell = 10.0;  // of what is around a ball

void fill_local(Quantity quantity, const Scene& scene, const Balls& balls, const Frame& frame,
                std::vector<float>& values) {
    const BoxCells box = cells_of(scene, balls, kBallsOfCell);
    const Cells cells(box, frame);
    const int dimension = frame.dimension;
    std::vector<AroundSums> sums(cells.size());
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
        for (const std::size_t id : cells.balls_of(cell)) {
            const Species& species = balls.species_of(id);
            AroundSums one;
            one.volume = ball_volume(dimension, species.radius);
            const double speed2 = squared(frame.velocity, id);
            if (std::isfinite(species.mass) && std::isfinite(speed2)) {
                one.mobile = 1.0;
                one.mass = species.mass;
                one.energy = species.mass * speed2;
                for (int axis = 0; axis < dimension; ++axis) {
                    one.momentum[axis] = species.mass * frame.velocity[axis][id];
                }
            }
            sums[cell].add(one);
        }
    }
    std::vector<double> middles(cells.size());
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
        AroundSums all;
        double looked = 0.0;
        box.near(static_cast<std::int64_t>(cell), [&](std::int64_t other) {
            all.add(sums[static_cast<std::size_t>(other)]);
            looked += 1.0;
        });
        middles[cell] = quantity == Quantity::kDensity ? all.density(looked * box.cell_volume())
                        : quantity == Quantity::kFlow  ? all.flow()
                                                       : all.temperature(dimension);
    }
    fill(frame, values, [&](std::size_t id) {
        if (!cells.present(id)) return double{kNone};
        double place[3] = {};
        for (int axis = 0; axis < dimension; ++axis) place[axis] = frame.position[axis][id];
        return box.between(place, [&](std::int64_t cell) { return middles[static_cast<std::size_t>(cell)]; });
    });
}

void fill_heights(const Scene& scene, const Frame& frame, std::vector<float>& values) {
    const Heights heights = heights_of(scene);
    fill(frame, values, [&](std::size_t id) {
        const double x = frame.position[heights.axis][id];
        return heights.down ? heights.face - x : x - heights.face;
    });
}

}  // namespace

std::span<const QuantityInfo> quantities() { return std::span(kQuantities).first(kQuantities.size() - 1); }
const QuantityInfo& info_of(Quantity quantity) { return kQuantities[static_cast<std::size_t>(quantity)]; }

namespace {

constexpr std::array kNumbersOfABall{"id", "species", "x",     "y",    "z",      "vx",
                                     "vy", "vz",      "speed", "spin", "radius", "mass"};
constexpr std::size_t kMostSpecies = 100;  // that have names in formulas

/// What formulas may name: the numbers of a ball, then species. What is a size of one is no species of its own, and one
/// that is called as a number of a ball has no name here.
/// \param numbers  of these species
std::vector<std::string> names_for(const Balls& balls, std::vector<double>& numbers) {
    std::vector<std::string> names(kNumbersOfABall.begin(), kNumbersOfABall.end());
    for (std::size_t k = 0; k < balls.species_table.size() && numbers.size() < kMostSpecies; ++k) {
        const std::string& name = balls.species_table[k].name;
        if (name.empty() || balls.species_table[k].size_of >= 0 || std::ranges::find(names, name) != names.end())
            continue;
        names.push_back(name);
        numbers.push_back(static_cast<double>(k));
    }
    return names;
}

Formula formula_for(const std::string& text, const Balls& balls, const std::string& label,
                    std::vector<double>& numbers) {
    try {
        return {text, names_for(balls, numbers)};
    } catch (const InputError& error) {
        const bool all = numbers.size() < kMostSpecies;
        throw InputError(
            fmt::format("{}: {}{}", label, error.what(),
                        all ? "" : fmt::format("; of species the first {} have names in formulas", kMostSpecies)));
    }
}

}  // namespace

BallFormula::BallFormula(std::string text, const Balls& balls, const std::string& label)
    // Without a colon find() gives one before 0.
    : text_(std::move(text)),
      label_(label),
      formula_(formula_for(text_.substr(text_.find(':') + 1), balls, label, numbers_)) {}

template <class Store>
void BallFormula::fill_with(const Balls& balls, const Frame& frame, std::vector<float>& values,
                            const Store& store) const {
    std::vector<double> numbers(kNumbersOfABall.size());
    numbers.insert(numbers.end(), numbers_.begin(), numbers_.end());
    const auto component = [](const std::vector<double>& of, std::size_t id) { return of.empty() ? 0.0 : of[id]; };
    fill(frame, values, [&](std::size_t id) {
        const Species& species = balls.species_of(id);
        double* number = numbers.data();
        *number++ = static_cast<double>(id);
        *number++ = species_row(balls.species_table, balls.species[id]);
        for (const auto* vector : {&frame.position, &frame.velocity}) {
            for (const auto& axis : *vector) *number++ = component(axis, id);
        }
        *number++ = std::sqrt(squared(frame.velocity, id));
        *number++ = balls.dimension == 2 ? component(frame.spin[2], id) : std::sqrt(squared(frame.spin, id));
        *number++ = species.radius;
        *number = species.mass;
        return store(formula_.evaluate(numbers));
    });
}

void BallFormula::require_numbers(const Frame& frame) const {
    const auto require = [&](const std::vector<double>& held, const char* what, std::span<const char* const> names) {
        // What a file lacks is NaN, as are balls that have left.
        const bool lacks = std::ranges::all_of(held, [](double number) { return std::isnan(number); });
        if (!lacks || std::ranges::count(frame.gone, std::uint8_t{0}) == 0) return;
        for (const char* const name : names) {
            const auto number = std::ranges::find(kNumbersOfABall, std::string_view(name)) - kNumbersOfABall.begin();
            if (!formula_.uses(static_cast<std::size_t>(number))) continue;
            throw InputError(
                fmt::format("{}: '{}' is of the {}, which the frames do not hold (output.fields)", label_, name, what));
        }
    };
    constexpr std::array kOfVelocity{"vx", "vy", "vz", "speed"};
    constexpr std::array kOfSpin{"spin"};
    require(frame.velocity[0], "velocities", kOfVelocity);
    require(frame.spin[2], "spins", kOfSpin);
}

void BallFormula::evaluate(const Balls& balls, const Frame& frame, std::vector<float>& values) const {
    fill_with(balls, frame, values, [](double value) { return value; });
}

void BallFormula::choose(const Balls& balls, const Frame& frame, std::vector<float>& chosen) const {
    fill_with(balls, frame, chosen, [](double value) { return std::abs(value) > 0.0 ? 1.0 : 0.0; });
}

Quantity default_quantity(const Balls& balls) {
    return std::ranges::count(species_in_use(balls), true) > 1 ? Quantity::kSpecies : Quantity::kSpeed;
}

void evaluate(Quantity quantity, const Scene& scene, const Balls& balls, const Frame& frame,
              std::vector<float>& values) {
    switch (quantity) {
        case Quantity::kSpecies:
            fill(frame, values, [&](std::size_t id) { return species_row(balls.species_table, balls.species[id]); });
            break;
        case Quantity::kSpeed:
            fill(frame, values, [&](std::size_t id) { return std::sqrt(squared(frame.velocity, id)); });
            break;
        case Quantity::kKineticEnergy:
            fill(frame, values, [&](std::size_t id) { return translation_of(balls, frame, id); });
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
        case Quantity::kDensity:
        case Quantity::kTemperature:
        case Quantity::kFlow:
            fill_local(quantity, scene, balls, frame, values);
            break;
        case Quantity::kFormula:
            values.assign(frame.size(), kNone);
            break;
    }
}

double energy_of(const Balls& balls, const Frame& frame, std::size_t id) {
    const Species& species = balls.species_of(id);
    const double gyration = species.radius_of_gyration;
    return translation_of(balls, frame, id) + 0.5 * species.mass * gyration * gyration * squared(frame.spin, id);
}

namespace {

/// What sums of cells are steps of.
void measure_largest(const Balls& balls, PictureOrder& order) {
    double radius = 0.0;
    double mass = 0.0;
    const auto used = species_in_use(balls);
    for (std::size_t k = 0; k < used.size(); ++k) {
        const Species& species = balls.species_table[k];
        if (!used[k]) continue;
        radius = std::max(radius, species.radius);
        if (std::isfinite(species.mass)) mass = std::max(mass, species.mass);
    }
    if (radius > 0.0) order.largest_volume = ball_volume(order.cells.dimension, radius);
    if (mass > 0.0) order.largest_mass = mass;
}

}  // namespace

PictureOrder picture_order(Quantity quantity, const Scene& scene, const Balls& balls) {
    using Value = PictureOrder::Value;
    PictureOrder order;
    const Vector3 origin = cloud_origin(scene.box);
    std::ranges::copy(origin, order.origin);
    switch (quantity) {
        case Quantity::kSpecies:
        case Quantity::kSpin:
        case Quantity::kFormula:
            order.value = Value::kGiven;
            break;
        case Quantity::kDensity:
        case Quantity::kTemperature:
        case Quantity::kFlow:
            order.value = quantity == Quantity::kDensity ? Value::kDensity
                          : quantity == Quantity::kFlow  ? Value::kFlow
                                                         : Value::kTemperature;
            order.cells = cells_of(scene, balls, kBallsOfCell);
            measure_largest(balls, order);
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
    if (finite.empty()) return {kNone, kNone};
    ValueRange range;
    if (quantity == Quantity::kId || quantity == Quantity::kHeight) {
        const auto [least, most] = std::ranges::minmax(finite);
        range = {least, most};
    } else {
        range.high = end_of_scale(finite);
        if (quantity == Quantity::kFormula) {  // may well be below 0
            for (float& value : finite) value = -value;
            return {0.0f - end_of_scale(finite), range.high};
        }
        if (range.high <= 0.0f) range.high = std::ranges::max(finite);
    }
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

Palette palette_of(Quantity quantity, const Balls& balls, ColorMap map, std::span<const std::string> by_id) {
    Palette palette;
    if (quantity == Quantity::kId && !by_id.empty()) {
        palette.categories = true;
        for (const std::string& color : by_id) palette.colors.push_back(parse_color(color, {}));
        return palette;
    }
    if (quantity == Quantity::kSpecies) {
        palette.categories = true;
        const std::vector<bool> used = species_in_use(balls);
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

Vector3 cloud_origin(const Box& box) {
    Vector3 origin{};
    for (int axis = 0; axis < box.dimension; ++axis) origin[axis] = box.min[axis] + 0.5 * box.size[axis];
    return origin;
}

void add_second_pictures(const Box& box, const BallPlace& place, float value, std::vector<BallPlace>& places,
                         std::vector<float>& values) {
    const std::array<float, 2> x{place.x, place.y};
    std::array<float, 2> around{};  // the way to the opposite face, where the ball hangs over
    for (int axis = 0; axis < 2; ++axis) {
        const auto k = static_cast<std::size_t>(axis);
        const auto size = static_cast<float>(box.size[k]);
        if (box.periodic(axis) && std::abs(x[k]) > 0.5f * size - place.radius) around[k] = x[k] > 0.0f ? -size : size;
    }
    const auto add = [&](float shift_x, float shift_y) {
        places.push_back({place.x + shift_x, place.y + shift_y, place.z, place.radius});
        values.push_back(value);
    };
    if (around[0] != 0.0f) add(around[0], 0.0f);
    if (around[1] != 0.0f) add(0.0f, around[1]);
    if (around[0] != 0.0f && around[1] != 0.0f) add(around[0], around[1]);
}

BallCloud CloudMaker::make(const Scene& scene, const Balls& balls, const Frame& frame, std::span<const float> values,
                           std::span<const BallTurn> turns, std::span<const float> chosen, bool twice) {
    const Box& box = scene.box;
    const Vector3 origin = cloud_origin(box);
    places_.clear();
    values_.clear();
    turns_.clear();
    float largest = 0.0f;
    for (std::size_t id = 0; id < frame.size(); ++id) {
        if (frame.gone[id] != 0 || (!chosen.empty() && !(std::abs(chosen[id]) > 0.0f))) continue;
        const double radius = balls.species_of(id).radius;
        Vector3 x{};
        bool finite = true;
        for (int axis = 0; axis < frame.dimension; ++axis) {
            x[axis] = frame.position[axis][id] - origin[axis];
            finite = finite && std::isfinite(x[axis]);
        }
        if (!finite) continue;
        const BallPlace place{static_cast<float>(x[0]), static_cast<float>(x[1]), static_cast<float>(x[2]),
                              static_cast<float>(radius)};
        places_.push_back(place);
        values_.push_back(values[id]);
        largest = std::max(largest, place.radius);
        if (twice && box.dimension == 2) add_second_pictures(box, place, values[id], places_, values_);
        if (!turns.empty()) turns_.resize(places_.size(), turns[id]);
    }
    return {places_, values_, origin, largest, turns_};
}

}  // namespace carom
