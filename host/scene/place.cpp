#include "host/scene/place.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "host/scene/arrange.hpp"
#include "host/state/errors.hpp"
#include "kernels/core/random.hpp"

namespace carom {

// The files of arrangements; each gives its row.
ArrangementEntry random_arrangement();
ArrangementEntry lattice_arrangement();
ArrangementEntry atmosphere_arrangement();

std::span<const ArrangementEntry> arrangements() {
    static const ArrangementEntry kArrangements[] = {random_arrangement(), lattice_arrangement(),
                                                     atmosphere_arrangement()};
    return kArrangements;
}

std::string label_of_fill(const Scene& scene, std::size_t number) {
    const std::string count = fmt::format("fill[{}].count", number);
    return scene.sources->has(count) ? scene.label(count)
                                     : scene.label(fmt::format("fill[{}].packing_fraction", number));
}

template <int Dim>
void refuse_fill(const Scene& scene, std::size_t number, const Space<Dim>& space, std::uint64_t reached) {
    throw InputError(
        fmt::format("{}: {} balls, a packing fraction of {:.4g}, do not fit in the region beside what is there{}; {} "
                    "would, a packing fraction of {:.4g}",
                    label_of_fill(scene, number), scene.fills[number].count, space.fraction(scene.fills[number].count),
                    sizes_of(scene, scene.fills[number].species) == nullptr ? "" : ", on sites for the largest of them",
                    reached, space.fraction(reached)));
}

template void refuse_fill<2>(const Scene&, std::size_t, const Space<2>&, std::uint64_t);
template void refuse_fill<3>(const Scene&, std::size_t, const Space<3>&, std::uint64_t);

namespace {

/// Sums one after the other with the rounding of each addition carried along (Neumaier 1974): the same everywhere,
/// and exact enough that a mean subtracted leaves no momentum to speak of.
class Sum {
public:
    void add(double term) {
        const double total = total_ + term;
        const bool larger_total = std::abs(total_) >= std::abs(term);
        rest_ += larger_total ? (total_ - total) + term : (term - total) + total_;
        total_ = total;
    }
    [[nodiscard]] double value() const { return total_ + rest_; }

private:
    double total_ = 0.0;
    double rest_ = 0.0;
};

/// The balls of one fill.
struct Range {
    std::uint64_t first;
    std::uint64_t end;
    [[nodiscard]] double count() const { return static_cast<double>(end - first); }
};

/// Of a ball of that row over its species' mass: 1 but where sizes differ.
double mass_share(const std::vector<Species>& table, std::uint32_t row) {
    const Species& own = table[row];
    return own.size_of < 0 ? 1.0 : own.mass / table[static_cast<std::size_t>(own.size_of)].mass;
}

/// What makes the velocities of a fill of the normal deviates of its balls: ((deviate - mean) factor) - rest.
struct ThermalLaw {
    Vector3 mean{};
    double factor = 1.0;
    Vector3 rest{};  ///< what rounding left; too small to change the temperature

    [[nodiscard]] double velocity(int axis, double deviate) const {
        return (deviate - mean[axis]) * factor - rest[axis];
    }
};

/// So that all have the wanted sums: no momentum, if that is asked for, and the temperature.
/// \param deviate  of an axis and a ball, by id  \param share  mass_share()
template <class Deviate, class Share>
ThermalLaw thermal_law(const Scene& scene, const FillEntry& fill, const Range& range, const Deviate& deviate,
                       const Share& share) {
    const int dimension = scene.dimension();
    ThermalLaw law;
    const auto mean = [&](int axis) {
        Sum mass;
        Sum sum;
        for (std::uint64_t id = range.first; id < range.end; ++id) {
            mass.add(share(id));
            sum.add(share(id) * law.velocity(axis, deviate(axis, id)));
        }
        return sum.value() / mass.value();
    };
    if (fill.zero_momentum) {
        for (int axis = 0; axis < dimension; ++axis) law.mean[axis] = mean(axis);
    }
    Sum square;
    for (int axis = 0; axis < dimension; ++axis) {
        for (std::uint64_t id = range.first; id < range.end; ++id) {
            const double v = law.velocity(axis, deviate(axis, id));
            square.add(share(id) * (v * v));
        }
    }
    if (square.value() == 0.0) return law;
    const double wanted = dimension * range.count() * *fill.temperature / scene.species[fill.species].mass;
    law.factor = square_root(wanted / square.value());
    if (fill.zero_momentum) {
        for (int axis = 0; axis < dimension; ++axis) law.rest[axis] = mean(axis);
    }
    return law;
}

/// Keyed by (seed, id).
double normal_deviate(const Scene& scene, int axis, std::uint64_t id) {
    const NormalPair pair = normal_pair(random_words(scene.seed, id, RandomPurpose::kVelocity, axis < 2 ? 0 : 1));
    return axis == 1 ? pair.second : pair.first;
}

/// Normal deviates, then moved and scaled to the wanted sums.
void thermal(const Scene& scene, const FillEntry& fill, const Range& range, Balls& balls) {
    for (std::uint64_t id = range.first; id < range.end; ++id) {
        const NormalPair pair = normal_pair(random_words(scene.seed, id, RandomPurpose::kVelocity, 0));
        balls.velocity[0][id] = pair.first;
        balls.velocity[1][id] = pair.second;
        if (balls.dimension == 3) balls.velocity[2][id] = normal_deviate(scene, 2, id);
        const double slower = square_root(mass_share(balls.species_table, balls.species[id]));
        for (int axis = 0; axis < balls.dimension; ++axis) balls.velocity[axis][id] /= slower;
    }
    const ThermalLaw law = thermal_law(
        scene, fill, range, [&](int axis, std::uint64_t id) { return balls.velocity[axis][id]; },
        [&](std::uint64_t id) { return mass_share(balls.species_table, balls.species[id]); });
    for (int axis = 0; axis < balls.dimension; ++axis) {
        for (std::uint64_t id = range.first; id < range.end; ++id) {
            balls.velocity[axis][id] = law.velocity(axis, balls.velocity[axis][id]);
        }
    }
}

/// Uniform on the unit circle, or on the unit sphere (Archimedes: height and longitude are uniform).
Vector3 random_direction(int dimension, const RandomWords& words) {
    const SineCosine around = sine_cosine_of_turns(words.uniform(1));
    if (dimension == 2) return {around.cosine, around.sine, 0.0};
    const double height = 2.0 * words.uniform(0) - 1.0;
    const double radius = square_root((1.0 - height) * (1.0 + height));
    return {radius * around.cosine, radius * around.sine, height};
}

/// A vector of length 1 at right angles to a unit vector.
Vector3 perpendicular(int dimension, const Vector3& to) {
    if (dimension == 2) return {-to[1], to[0], 0.0};
    // cross product with the axis that `to` is farthest from
    int axis = 0;
    for (int other = 1; other < 3; ++other) {
        if (std::abs(to[other]) < std::abs(to[axis])) axis = other;
    }
    Vector3 cross{};
    const int next = (axis + 1) % 3;
    const int last = (axis + 2) % 3;
    cross[next] = -to[last];
    cross[last] = to[next];
    const double length = square_root(cross[next] * cross[next] + cross[last] * cross[last]);
    cross[next] /= length;
    cross[last] /= length;
    return cross;
}

/// Of a ball of equal speeds; with zero momentum ball k and ball k + count / 2 go opposite ways, and of an odd count
/// the last three go 120 degrees apart.
Vector3 velocity_of_equal_speed(const Scene& scene, const FillEntry& fill, std::uint64_t first, std::uint64_t id) {
    const int dimension = scene.dimension();
    const auto times = [](double speed, Vector3 direction) {
        for (double& part : direction) part *= speed;
        return direction;
    };
    const auto direction = [&](std::uint64_t of) {
        return random_direction(dimension, random_words(scene.seed, of, RandomPurpose::kDirection, 0));
    };
    const double speed = *fill.speed;
    if (!fill.zero_momentum || fill.count == 1) return times(speed, direction(id));
    const std::uint64_t paired = fill.count % 2 == 0 ? fill.count : fill.count - 3;
    const std::uint64_t number = id - first;
    if (number < paired / 2) return times(speed, direction(id));
    if (number < paired) return times(-speed, direction(id - paired / 2));
    const Vector3 along = direction(first + paired);
    if (number == paired) return times(speed, along);
    const Vector3 aside = perpendicular(dimension, along);
    const double side = number == paired + 1 ? 1.0 : -1.0;
    Vector3 turned{};
    for (int axis = 0; axis < 3; ++axis) turned[axis] = -0.5 * along[axis] + side * square_root(0.75) * aside[axis];
    return times(speed, turned);
}

/// Gives the balls of a fill, ids from `first` on, their velocities. Random numbers are keyed by (seed, id).
void set_velocities(const Scene& scene, const FillEntry& fill, std::uint64_t first, Balls& balls) {
    const Range range{first, first + fill.count};
    if (fill.count == 0) return;
    if (fill.temperature > 0.0) thermal(scene, fill, range, balls);
    if (fill.speed > 0.0) {
        for (std::uint64_t id = range.first; id < range.end; ++id) {
            const Vector3 velocity = velocity_of_equal_speed(scene, fill, first, id);
            for (int axis = 0; axis < balls.dimension; ++axis) balls.velocity[axis][id] = velocity[axis];
        }
    }
}

/// Rows of the table that follow those that there are, from the smallest to the largest of a fill's sizes, by factor.
using SizeRows = std::map<double, std::uint32_t>;
SizeRows add_sizes(const Scene& scene, const FillEntry& fill, std::uint64_t first, std::vector<Species>& table) {
    SizeRows rows;
    const Sizes* sizes = sizes_of(scene, fill.species);
    if (sizes == nullptr) return rows;
    for (std::uint64_t id = first; id < first + fill.count; ++id) rows.emplace(sizes->factor(scene.seed, id), 0);
    for (auto& [factor, row] : rows) {
        row = static_cast<std::uint32_t>(table.size());
        table.push_back(resized(scene.species[fill.species], fill.species, *sizes, factor, scene.dimension()));
    }
    return rows;
}

/// \param rows  of its fill
std::uint32_t row_of(const Scene& scene, const FillEntry& fill, const SizeRows& rows, std::uint64_t id) {
    const Sizes* sizes = sizes_of(scene, fill.species);
    return sizes == nullptr ? fill.species : rows.find(sizes->factor(scene.seed, id))->second;
}

/// Gives the balls of a fill, ids from `first` on, their species.
void set_species(const Scene& scene, const FillEntry& fill, std::uint64_t first, Balls& balls) {
    const SizeRows rows = add_sizes(scene, fill, first, balls.species_table);
    for (std::uint64_t id = first; id < first + fill.count; ++id) balls.species[id] = row_of(scene, fill, rows, id);
}

/// The first fill after `number` that is not placed together with it.
std::size_t end_of_packing(const Scene& scene, std::size_t number) {
    const std::size_t arrangement = scene.fills[number].arrangement;
    std::size_t end = number + 1;
    if (arrangements()[arrangement].disks_together == nullptr) return end;
    while (end < scene.fills.size() && scene.fills[end].arrangement == arrangement) ++end;
    return end;
}

template <int Dim>
std::vector<std::vector<Point<Dim>>> arrange(const Scene& scene, std::size_t number, std::size_t end,
                                             const std::vector<PlacedBall<Dim>>& before) {
    const ArrangementEntry& by = arrangements()[scene.fills[number].arrangement];
    if constexpr (Dim == 2) {
        if (end > number + 1) return by.disks_together(scene, number, end, before);
        return {by.disks(scene, number, before)};
    } else {
        if (end > number + 1) return by.spheres_together(scene, number, end, before);
        return {by.spheres(scene, number, before)};
    }
}

template <int Dim>
void place_fills(const Scene& scene, Balls& balls) {
    std::uint64_t next = scene.entry_count();
    std::vector<PlacedBall<Dim>> before(scene.fills.empty() ? 0 : next);
    for (std::uint64_t id = 0; id < before.size(); ++id) {
        before[id].radius = balls.species_of(id).radius;
        for (int axis = 0; axis < Dim; ++axis) before[id].center[axis] = balls.position[axis][id];
    }
    for (std::size_t number = 0; number < scene.fills.size();) {
        const std::size_t end = end_of_packing(scene, number);
        const auto centers = arrange<Dim>(scene, number, end, before);
        for (const std::vector<Point<Dim>>& of_fill : centers) {
            const FillEntry& fill = scene.fills[number++];
            set_species(scene, fill, next, balls);
            for (std::uint64_t index = 0; index < of_fill.size(); ++index) {
                for (int axis = 0; axis < Dim; ++axis) balls.position[axis][next + index] = of_fill[index][axis];
                if (number < scene.fills.size()) {
                    before.push_back({of_fill[index], balls.species_of(next + index).radius});
                }
            }
            set_velocities(scene, fill, next, balls);
            next += fill.count;
        }
    }
}

/// Memory that the balls of a scene take while they are placed, at least [bytes].
double placing_bytes(const Scene& scene) {
    const double ball = ball_bytes(scene.dimension());
    double largest = 0.0;  // fill: sites of its balls, obstacles before it
    double before = static_cast<double>(scene.entry_count());
    for (const FillEntry& fill : scene.fills) {
        const auto count = static_cast<double>(fill.count);
        const double dimension = scene.dimension();
        largest = std::max(largest, 8.0 * dimension * count + 8.0 * (dimension + 1.0) * before);
        before += count;
    }
    // Balls that were loaded are there twice while they are put beside the others.
    return ball * (before + static_cast<double>(scene.entry_count() - scene.balls.size())) + largest;
}

[[noreturn]] void too_large(const Scene& scene) {
    const auto largest = std::ranges::max_element(scene.fills, {}, &FillEntry::count);
    throw SystemError(fmt::format(
        "{}: {} balls take {:.3g} GB while they are placed, and this process may have {:.3g} GB",
        largest == scene.fills.end() ? scene.path
                                     : label_of_fill(scene, static_cast<std::size_t>(largest - scene.fills.begin())),
        scene.ball_count(), placing_bytes(scene) / 1e9, memory_limit() / 1e9));
}

/// Puts what was loaded at ids from `first` on; returns the one behind. Its own rows of the table come behind what is
/// there.
std::size_t place_loaded(const Scene& scene, const Balls& loaded, std::size_t first, Balls& balls) {
    // The table that it begins with had no species of fills yet.
    std::size_t shared = 0;
    while (shared < loaded.species_table.size() && shared < scene.species.size() &&
           loaded.species_table[shared] == scene.species[shared]) {
        ++shared;
    }
    const auto moved = static_cast<std::int64_t>(balls.species_table.size()) - static_cast<std::int64_t>(shared);
    const auto row = [&](std::int64_t of) { return of < static_cast<std::int64_t>(shared) ? of : of + moved; };
    for (std::size_t at = shared; at < loaded.species_table.size(); ++at) {
        Species own = loaded.species_table[at];
        if (own.size_of >= 0) own.size_of = static_cast<std::int32_t>(row(own.size_of));
        balls.species_table.push_back(std::move(own));
    }
    for (std::size_t id = 0; id < loaded.size(); ++id) {
        balls.species[first + id] = static_cast<std::uint32_t>(row(loaded.species[id]));
    }
    const auto put = [&](const auto& from, auto& to) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            std::ranges::copy(from[axis], to[axis].begin() + static_cast<std::ptrdiff_t>(to[axis].empty() ? 0 : first));
        }
    };
    put(loaded.position, balls.position);
    put(loaded.velocity, balls.velocity);
    put(loaded.spin, balls.spin);
    return first + loaded.size();
}

void put(const BallEntry& entry, std::size_t at, Balls& balls) {
    balls.species[at] = entry.species;
    for (int axis = 0; axis < balls.dimension; ++axis) {
        balls.position[axis][at] = entry.position[axis];
        balls.velocity[axis][at] = entry.velocity[axis];
    }
    for (int axis = 0; axis < 3; ++axis) {
        if (!balls.spin[axis].empty()) balls.spin[axis][at] = entry.spin[axis];
    }
}

Balls placed_balls(const Scene& scene) {
    Balls balls;
    balls.dimension = scene.dimension();
    balls.species_table = scene.species;
    balls.resize(scene.ball_count());
    for (std::size_t id = 0; id < scene.balls.size(); ++id) put(scene.balls[id], id, balls);
    std::size_t next = scene.balls.size();
    for (const LoadEntry& load : scene.loads) {
        if (load.loaded != nullptr) next = place_loaded(scene, *load.loaded->balls, next, balls);
    }
    if (balls.dimension == 2) {
        place_fills<2>(scene, balls);
    } else {
        place_fills<3>(scene, balls);
    }
    return balls;
}

/// Null: the centres of the fill have to be there at once.
template <int Dim>
CenterWalkMaker<Dim> walk_of(const FillEntry& fill) {
    const ArrangementEntry& by = arrangements()[fill.arrangement];
    if constexpr (Dim == 2) {
        return by.walk_disks;
    } else {
        return by.walk_spheres;
    }
}

/// [[ball]]s, and behind them fills whose centres come one after the other.
template <int Dim>
class PlacedParts final : public BallParts {
public:
    explicit PlacedParts(const Scene& scene) : scene_(scene), table_(scene.species) {
        for (std::size_t number = 0; number < scene_.fills.size(); ++number) {
            const FillEntry& entry = scene_.fills[number];
            fills_.push_back({.first = first_id(scene_, number),
                              .walk = walk_of<Dim>(entry)(scene_, number, placed_near(number)),
                              .rows = {},
                              .law = {}});
            Fill& fill = fills_.back();
            fill.rows = add_sizes(scene_, entry, fill.first, table_);
            if (!(entry.temperature > 0.0) || entry.count == 0) continue;
            fill.law = thermal_law(
                scene_, entry, {fill.first, fill.first + entry.count},
                [&](int axis, std::uint64_t id) { return deviate(number, axis, id); },
                [&](std::uint64_t id) { return mass_share(table_, row(number, id)); });
        }
    }

    [[nodiscard]] std::size_t size() const override { return scene_.ball_count(); }
    [[nodiscard]] const std::vector<Species>& species_table() const override { return table_; }

    void each(const std::function<void(const Balls& part)>& take) const override {
        Balls part;
        part.dimension = Dim;
        part.species_table = table_;
        part.rest = size();
        std::size_t id = 0;
        std::size_t at = 0;  // in the part
        const auto next = [&](const auto& set) {
            if (at == 0) {
                part.first = id;
                part.resize(0);
                part.resize(std::min(kMost, size() - id));
                part.rest = size() - id - part.size();
            }
            set(at);
            ++id;
            if (++at < part.size()) return;
            take(part);
            at = 0;
        };
        for (const BallEntry& entry : scene_.balls) next([&](std::size_t to) { put(entry, to, part); });
        for (std::size_t number = 0; number < fills_.size(); ++number) {
            const Fill& fill = fills_[number];
            const FillEntry& entry = scene_.fills[number];
            fill.walk([&](const Point<Dim>& center) {
                next([&](std::size_t to) {
                    part.species[to] = row(number, id);
                    for (int axis = 0; axis < Dim; ++axis) {
                        part.position[axis][to] = center[axis];
                        if (fill.law) part.velocity[axis][to] = fill.law->velocity(axis, deviate(number, axis, id));
                    }
                    if (!(entry.speed > 0.0)) return;
                    const Vector3 velocity = velocity_of_equal_speed(scene_, entry, fill.first, id);
                    for (int axis = 0; axis < Dim; ++axis) part.velocity[axis][to] = velocity[axis];
                });
            });
        }
    }

private:
    static constexpr std::size_t kMost = std::size_t{1} << 16;

    struct Fill {
        std::uint64_t first;  ///< id
        CenterWalk<Dim> walk;
        SizeRows rows;
        std::optional<ThermalLaw> law;
    };

    [[nodiscard]] std::uint32_t row(std::size_t number, std::uint64_t id) const {
        return row_of(scene_, scene_.fills[number], fills_[number].rows, id);
    }
    [[nodiscard]] double deviate(std::size_t number, int axis, std::uint64_t id) const {
        return normal_deviate(scene_, axis, id) / square_root(mass_share(table_, row(number, id)));
    }

    /// Of the balls that are placed before a fill those that may be in the way of its own.
    [[nodiscard]] std::vector<PlacedBall<Dim>> placed_near(std::size_t number) const {
        constexpr double kSlack = 1.0 + 1e-9;  // for rounding
        const Region<Dim> region(scene_, scene_.fills[number]);
        const double own = largest_radius(scene_, scene_.fills[number].species);
        std::vector<PlacedBall<Dim>> near;
        const auto add = [&](const Point<Dim>& center, double radius) {
            const double reach = kSlack * (own + radius);
            for (int axis = 0; axis < Dim; ++axis) {
                const double side = scene_.box.size[axis];
                const double at = center[axis] - region.low[axis];
                const auto reaches = [&](double place) {
                    return place > -reach && place < region.length[axis] + reach;
                };
                const bool around = scene_.box.periodic(axis) && (reaches(at - side) || reaches(at + side));
                if (!around && !reaches(at)) return;
            }
            near.push_back({center, radius});
        };
        for (const BallEntry& entry : scene_.balls) {
            Point<Dim> center;
            for (int axis = 0; axis < Dim; ++axis) center[axis] = entry.position[axis];
            add(center, scene_.species[entry.species].radius);
        }
        for (std::size_t before = 0; before < number; ++before) {
            std::uint64_t id = fills_[before].first;
            fills_[before].walk([&](const Point<Dim>& center) { add(center, table_[row(before, id++)].radius); });
        }
        return near;
    }

    Scene scene_;
    std::vector<Species> table_;
    std::vector<Fill> fills_;
};

}  // namespace

std::shared_ptr<const BallParts> balls_in_parts(const Scene& scene) {
    if (scene.run.solver != SolverKind::kSpring || !scene.loads.empty()) return nullptr;
    const auto walks = [](const FillEntry& fill) { return walk_of<2>(fill) != nullptr; };
    if (!std::ranges::all_of(scene.fills, walks)) return nullptr;
    if (scene.dimension() == 2) return std::make_shared<const PlacedParts<2>>(scene);
    return std::make_shared<const PlacedParts<3>>(scene);
}

double ball_bytes(int dimension) {
    const double numbers = dimension == 2 ? 2 + 2 + 1 : 3 + 3 + 3;  // position, velocity, spin
    return 8.0 * numbers + 4.0 * dimension + 4 + 1;                 // image counts, species, whether gone
}

double memory_limit() {
    double limit = std::numeric_limits<double>::infinity();
    struct sysinfo machine {};
    if (sysinfo(&machine) == 0) {
        limit = (static_cast<double>(machine.totalram) + static_cast<double>(machine.totalswap)) * machine.mem_unit;
    }
    struct rlimit most {};
    if (getrlimit(RLIMIT_AS, &most) == 0 && most.rlim_cur != RLIM_INFINITY) {
        limit = std::min(limit, static_cast<double>(most.rlim_cur));
    }
    return limit;
}

Balls make_balls(const Scene& scene) {
    // Memory is promised more freely than it is there: without a look first, the system would kill the process.
    if (placing_bytes(scene) > memory_limit()) too_large(scene);
    try {
        return placed_balls(scene);
    } catch (const std::bad_alloc&) {
        too_large(scene);
    }
}

}  // namespace carom
