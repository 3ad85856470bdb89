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
constexpr double kMostGyration = 1.0 + 1e-9;  // of the radius

/// The first axis along which it is no number; `end`: there is none.
int not_finite(const Vector3& values, int first, int end) {
    for (int axis = first; axis < end; ++axis) {
        if (!std::isfinite(values[axis])) return axis;
    }
    return end;
}

void require_finite(const Vector3& values, int first, int end, const std::string_view (&names)[3]) {
    const int axis = not_finite(values, first, end);
    if (axis == end) return;
    const bool spin_of_disk = first == 2;
    throw BadBall{spin_of_disk ? "spin" : names[axis], fmt::format("must be a number, not {}", values[axis])};
}

/// A ball whose species is none that there is yet.
bool names_its_own(const BallRow& row, std::int64_t base) { return base < 0 && !row.species.empty(); }

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
    own_ = {};
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
    make_room(1);
    if (!put(0, row, own_)) {
        require_finite(row.position, 0, dimension(), kAxisLetters);
        require_finite(row.velocity, 0, dimension(), kVelocities);
        require_finite(row.spin, dimension() == 2 ? 2 : 0, 3, kSpins);
        make_row(row);
        Vector3 position = row.position;
        const double radius = share_of(row, base_of(row, own_)).radius;
        if (const auto outside = put_into_box(scene_.box, radius, position)) {
            throw BadBall{kAxisLetters[outside->axis], outside->text(row.position)};
        }
        put(0, row, own_);
    }
    take(1, row.at);
    take_extremes(own_);
}

void BallCollector::make_room(std::uint64_t more) {
    constexpr double kMore = 1.3;
    if (count_ + more <= balls_.size()) return;
    expect(std::max({1024.0, kMore * static_cast<double>(count_), static_cast<double>(count_ + more)}));
}

bool BallCollector::put(std::uint64_t before, const BallRow& row, Putting& putting) {
    const int axes = dimension();
    const int first_spin = axes == 2 ? 2 : 0;
    if (not_finite(row.position, 0, axes) < axes || not_finite(row.velocity, 0, axes) < axes ||
        not_finite(row.spin, first_spin, 3) < 3) {
        return false;
    }
    const std::int64_t base = base_of(row, putting);
    if (names_its_own(row, base) || lacks_size(row, base)) return false;
    const Share share = share_of(row, base);
    if (!putting.any || share != putting.share) {
        const auto known = row_of(share);
        if (!known) return false;
        putting.any = true;
        putting.share = share;
        putting.row = *known;
    }
    Vector3 position = row.position;
    if (put_into_box(scene_.box, share.radius, position)) return false;
    const std::uint64_t at = count_ + before;
    for (int axis = 0; axis < axes; ++axis) {
        balls_.position[axis][at] = position[axis];
        balls_.velocity[axis][at] = row.velocity[axis];
    }
    for (int axis = first_spin; axis < 3; ++axis) balls_.spin[axis][at] = row.spin[axis];
    balls_.species[at] = putting.row;
    putting.largest_radius = std::max(putting.largest_radius, share.radius);
    const Vector3& v = row.velocity;
    putting.fastest = std::max(putting.fastest, v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    return true;
}

void BallCollector::take(std::uint64_t balls, std::uint64_t at) {
    auto& lines = into_.lines;
    if (lines.empty() || lines.back().second + (count_ - lines.back().first) != at) lines.emplace_back(count_, at);
    count_ += balls;
}

void BallCollector::take_extremes(const Putting& putting) {
    into_.largest_radius = std::max(into_.largest_radius, putting.largest_radius);
    into_.fastest = std::max(into_.fastest, std::sqrt(putting.fastest));
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

std::int64_t BallCollector::base_of(const BallRow& row, Putting& putting) const {
    if (entry().species) return static_cast<std::int64_t>(*entry().species);
    if (row.species.empty()) return -1;
    if (row.species == putting.name) return putting.base;
    const auto found = names_.find(row.species);
    if (found == names_.end()) return -1;
    putting.name = found->first;
    putting.base = found->second;
    return putting.base;
}

BallCollector::Share BallCollector::share_of(const BallRow& row, std::int64_t base) const {
    const Species* of = base < 0 ? nullptr : &balls_.species_table[static_cast<std::size_t>(base)];
    const auto value = [&](double given, const std::optional<double>& otherwise, const double Species::*member) {
        return !std::isnan(given) ? given : otherwise ? *otherwise : of != nullptr ? of->*member : given;
    };
    return {base, value(row.radius, entry().radius, &Species::radius), value(row.mass, entry().mass, &Species::mass)};
}

/// It is of a species whose balls differ in radius, and nobody says how large it is.
bool BallCollector::lacks_size(const BallRow& row, std::int64_t base) const {
    if (!std::isnan(row.radius) || entry().radius) return false;
    const bool scenes = base >= 0 && static_cast<std::size_t>(base) < scene_.species.size();
    return scenes && sizes_of(scene_, static_cast<std::uint32_t>(base)) != nullptr;
}

std::optional<std::uint32_t> BallCollector::row_of(const Share& share) const {
    if (share.base >= 0) {
        const Species& of = balls_.species_table[static_cast<std::size_t>(share.base)];
        if (of.radius == share.radius && of.mass == share.mass) return static_cast<std::uint32_t>(share.base);
    }
    const auto found = rows_.find(share);
    return found == rows_.end() ? std::nullopt : std::optional(found->second);
}

/// \param name  of the value that nobody knows
void BallCollector::refuse_unknown(const BallRow& row, std::string_view name) const {
    std::vector<std::string_view> known;
    for (const Species& species : scene_.species) {
        if (!species.name.empty()) known.push_back(species.name);
    }
    if (row.species.empty() || known.empty()) {
        throw BadBall{name, fmt::format("the file has none: load.{} gives it, or load.species", name)};
    }
    const auto nearest = nearest_name(row.species, known);
    throw BadBall{"species", nearest.empty()
                                 ? fmt::format("no species \"{}\"; there are: {}", row.species, fmt::join(known, ", "))
                                 : fmt::format("no species \"{}\"; did you mean \"{}\"?", row.species, nearest)};
}

/// Where the table has no row for such a ball yet.
void BallCollector::make_row(const BallRow& row) {
    std::vector<Species>& table = balls_.species_table;
    const std::int64_t base = base_of(row, own_);
    const Share share = share_of(row, base);
    const Species* of = base < 0 ? nullptr : &table[static_cast<std::size_t>(base)];
    if (lacks_size(row, base)) {
        throw BadBall{"species", fmt::format("\"{}\" has sizes, which are for fills; give a radius", of->name)};
    }
    if (std::isnan(share.radius)) refuse_unknown(row, "radius");
    if (std::isnan(share.mass)) refuse_unknown(row, "mass");
    const bool own_name = names_its_own(row, base);
    if (!own_name && row_of(share)) return;
    check_radius(share.radius);
    if (!(share.mass > 0.0)) throw BadBall{"mass", fmt::format("must be a number above 0, or inf, not {}", share.mass)};
    if (const std::string why = too_light(share.mass); !why.empty()) throw BadBall{"mass", why};
    Species species;
    if (of != nullptr) {
        species = *of;
        species.radius_of_gyration *= share.radius / of->radius;
        // That of a trajectory is the same but for rounding, where its sizes were drawn by factors.
        const double stored = row.properties != nullptr ? row.properties->radius_of_gyration : 0.0;
        constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();
        if (std::abs(stored - species.radius_of_gyration) <= kRounding * stored) species.radius_of_gyration = stored;
        species.size_of = static_cast<std::int32_t>(base);
    } else {
        const bool known = row.properties != nullptr;
        species.name = row.species;
        species.radius_of_gyration =
            known ? row.properties->radius_of_gyration : solid_gyration(dimension(), share.radius);
        if (const double given = species.radius_of_gyration; !(given > 0.0 && given <= kMostGyration * share.radius)) {
            throw BadBall{"radius_of_gyration",
                          fmt::format("must be above 0, and at most the radius, {}, not {}", share.radius, given)};
        }
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
}

void BallCollector::check_radius(double radius) const {
    if (!(radius > 0.0) || !std::isfinite(radius)) {
        throw BadBall{"radius", fmt::format("must be a number above 0, not {}", radius)};
    }
    if (const std::string why = too_wide(scene_.box, radius); !why.empty()) throw BadBall{"radius", why};
}

}  // namespace carom
