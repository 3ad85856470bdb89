#include "host/io/ball_collector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "host/scene/keys.hpp"
#include "host/scene/place.hpp"
#include "host/scene/start.hpp"
#include "host/state/errors.hpp"
#include "host/state/hash.hpp"
#include "host/state/text.hpp"
#include "kernels/physics/pair_distribution.hpp"

namespace carom {

namespace {

constexpr std::string_view kAxisLetters[] = {"x", "y", "z"};
constexpr std::string_view kVelocities[] = {"vx", "vy", "vz"};
constexpr std::string_view kSpins[] = {"wx", "wy", "wz"};

void require_finite(const Vector3& values, int first, int end, const std::string_view (&names)[3]) {
    for (int axis = first; axis < end; ++axis) {
        if (std::isfinite(values[axis])) continue;
        const bool spin_of_disk = first == 2;
        throw BadBall{spin_of_disk ? "spin" : names[axis], fmt::format("must be a number, not {}", values[axis])};
    }
}

}  // namespace

std::size_t BallCollector::ShareHash::operator()(const Share& share) const {
    std::uint64_t hash = absorb_bits(0, static_cast<std::uint64_t>(share.base));
    hash = absorb_bits(hash, std::bit_cast<std::uint64_t>(share.radius));
    return absorb_bits(hash, std::bit_cast<std::uint64_t>(share.mass));
}

BallCollector::BallCollector(const Scene& scene, std::size_t number, LoadedBalls& into)
    : scene_(scene), number_(number), into_(into) {
    balls_.dimension = scene.dimension();
    balls_.species_table = scene.species;
    for (std::size_t row = 0; row < scene.species.size(); ++row) {
        if (!scene.species[row].name.empty()) names_.emplace(scene.species[row].name, row);
    }
}

void BallCollector::begin_frame(double time) {
    into_.time = time;
    count_ = 0;
    into_.lines.clear();
    into_.largest_radius = 0.0;
    into_.fastest = 0.0;
}

void BallCollector::expect(double balls) {
    const double bytes = balls * ball_bytes(dimension());
    if (bytes > memory_limit()) {
        throw SystemError(fmt::format("{}: its {:.3g} balls take {:.3g} GB, and this process may have {:.3g} GB",
                                      into_.path, balls, bytes / 1e9, memory_limit() / 1e9));
    }
    balls_.resize(static_cast<std::size_t>(balls));
}

void BallCollector::add(const BallRow& row) {
    require_finite(row.position, 0, dimension(), kAxisLetters);
    require_finite(row.velocity, 0, dimension(), kVelocities);
    require_finite(row.spin, dimension() == 2 ? 2 : 0, 3, kSpins);
    const std::uint32_t species = row_of(row);
    const double radius = balls_.species_table[species].radius;
    Vector3 position = row.position;
    if (const auto outside = put_into_box(scene_.box, radius, position)) {
        throw BadBall{kAxisLetters[outside->axis], outside->text(row.position)};
    }
    Balls& balls = balls_;
    constexpr double kMore = 1.3;
    if (count_ == balls.size()) expect(std::max(1024.0, kMore * static_cast<double>(count_)));
    for (int axis = 0; axis < dimension(); ++axis) {
        balls.position[axis][count_] = position[axis];
        balls.velocity[axis][count_] = row.velocity[axis];
    }
    for (int axis = 0; axis < 3; ++axis) {
        if (!balls.spin[axis].empty()) balls.spin[axis][count_] = row.spin[axis];
    }
    balls.species[count_] = species;
    into_.largest_radius = std::max(into_.largest_radius, radius);
    const Vector3& v = row.velocity;
    into_.fastest = std::max(into_.fastest, std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    auto& lines = into_.lines;
    if (lines.empty() || lines.back().second + (count_ - lines.back().first) != row.at)
        lines.emplace_back(count_, row.at);
    ++count_;
}

void BallCollector::finish() {
    if (entry().time && !into_.time) {
        throw InputError(
            fmt::format("{}: {} has no times", scene_.label(fmt::format("load[{}].time", number_)), into_.path));
    }
    into_.count = count_;
    balls_.resize(count_);
    into_.balls = std::make_shared<const Balls>(std::move(balls_));
}

std::int64_t BallCollector::base_of(const BallRow& row) {
    if (entry().species) return static_cast<std::int64_t>(*entry().species);
    if (row.species.empty()) return -1;
    if (row.species == last_name_) return last_base_;
    const auto found = names_.find(row.species);
    if (found == names_.end()) return -1;
    last_name_ = row.species;
    last_base_ = found->second;
    return last_base_;
}

std::uint32_t BallCollector::row_of(const BallRow& row) {
    const std::int64_t base = base_of(row);
    const Species* of = base < 0 ? nullptr : &balls_.species_table[static_cast<std::size_t>(base)];
    const auto value = [&](double given, const std::optional<double>& otherwise, const double Species::*member) {
        return !std::isnan(given) ? given : otherwise ? *otherwise : of != nullptr ? of->*member : given;
    };
    const Share share{base, value(row.radius, entry().radius, &Species::radius),
                      value(row.mass, entry().mass, &Species::mass)};
    if (any_row_ && share == last_share_ && (base >= 0 || row.species.empty())) return last_row_;
    const bool scenes = base >= 0 && static_cast<std::size_t>(base) < scene_.species.size();
    if (scenes && std::isnan(row.radius) && !entry().radius && sizes_of(scene_, static_cast<std::uint32_t>(base))) {
        throw BadBall{"species", fmt::format("\"{}\" has sizes, which are for fills; give a radius", of->name)};
    }
    for (const auto& [name, number] :
         {std::pair<std::string_view, double>{"radius", share.radius}, {"mass", share.mass}}) {
        if (!std::isnan(number)) continue;
        std::vector<std::string_view> known;
        for (const Species& species : scene_.species) {
            if (!species.name.empty()) known.push_back(species.name);
        }
        if (row.species.empty() || known.empty()) {
            throw BadBall{name, fmt::format("the file has none: load.{} gives it, or load.species", name)};
        }
        const auto nearest = nearest_name(row.species, known);
        throw BadBall{"species",
                      nearest.empty()
                          ? fmt::format("no species \"{}\"; there are: {}", row.species, fmt::join(known, ", "))
                          : fmt::format("no species \"{}\"; did you mean \"{}\"?", row.species, nearest)};
    }
    last_share_ = share;
    any_row_ = base >= 0 || row.species.empty();
    return last_row_ = new_row(share, row);
}

std::uint32_t BallCollector::new_row(const Share& share, const BallRow& row) {
    std::vector<Species>& table = balls_.species_table;
    const Species* of = share.base < 0 ? nullptr : &table[static_cast<std::size_t>(share.base)];
    if (of != nullptr && of->radius == share.radius && of->mass == share.mass) {
        return static_cast<std::uint32_t>(share.base);
    }
    const bool own_name = of == nullptr && !row.species.empty() && !entry().species;
    if (!own_name) {
        const auto found = rows_.find(share);
        if (found != rows_.end()) return found->second;
    }
    check_radius(share.radius);
    if (!(share.mass > 0.0)) throw BadBall{"mass", fmt::format("must be a number above 0, or inf, not {}", share.mass)};
    Species species;
    if (of != nullptr) {
        species = *of;
        species.radius_of_gyration *= share.radius / of->radius;
        species.size_of = static_cast<std::int32_t>(share.base);
    } else {
        const bool known = row.properties != nullptr;
        species.name = row.species;
        species.radius_of_gyration =
            known ? row.properties->radius_of_gyration : solid_gyration(dimension(), share.radius);
        if (known) species.color = row.properties->color;
    }
    species.radius = share.radius;
    species.mass = share.mass;
    const auto number = static_cast<std::uint32_t>(table.size());
    table.push_back(std::move(species));
    if (own_name) {
        names_.emplace(row.species, number);
    } else {
        rows_.emplace(share, number);
    }
    return number;
}

void BallCollector::check_radius(double radius) const {
    if (!(radius > 0.0) || !std::isfinite(radius)) {
        throw BadBall{"radius", fmt::format("must be a number above 0, not {}", radius)};
    }
    if (const std::string why = too_wide(scene_.box, radius); !why.empty()) throw BadBall{"radius", why};
}

}  // namespace carom
