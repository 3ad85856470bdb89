#include "host/scene/start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "host/scene/placement_grid.hpp"
#include "host/scene/walls.hpp"
#include "kernels/core/hardware.hpp"
#include "kernels/physics/touching.hpp"

namespace carom {
namespace {

/// A ball where it starts, or where a stored state has it.
struct Placed {
    Vector3 center{};
    double radius = 0.0;
    std::uint32_t id = 0;
    bool fixed = false;  ///< of infinite mass
};

/// Calls f(scene's species, place) for each [[ball]] and each ball of a [[load]], in the order of their ids.
template <class F>
void for_each_entry(const Scene& scene, F&& f) {
    for (const BallEntry& ball : scene.balls) f(scene.species[ball.species], ball.position);
    for (const LoadEntry& load : scene.loads) {
        if (load.loaded == nullptr || load.loaded->balls == nullptr) continue;
        const Balls& balls = *load.loaded->balls;
        std::array<const double*, 3> along{};
        for (std::size_t axis = 0; axis < 3; ++axis) along[axis] = balls.position[axis].data();
        const Species* const table = balls.species_table.data();
        const std::uint32_t* const species = balls.species.data();
        const bool flat = balls.dimension == 2;
        for (std::size_t id = 0; id < balls.size(); ++id) {
            f(table[species[id]], Vector3{along[0][id], along[1][id], flat ? 0.0 : along[2][id]});
        }
    }
}

/// The same as what TouchingPairs takes.
auto entries_of(const Scene& scene) {
    return [&scene](const auto& take) {
        std::uint32_t id = 0;
        for_each_entry(scene, [&](const Species& species, const Vector3& place) {
            take(Placed{place, species.radius, id++, std::isinf(species.mass)});
        });
    };
}

/// Pairs of balls that touch, found by cells: each ball looks for those that are no larger as far as these may be. So
/// one giant among many makes neither cells so large that all of them are in one, nor all others look far.
template <int Dim>
class TouchingPairs {
public:
    /// No list of them is made first: of many it would be new memory, which takes longer to get than all the rest.
    /// \param balls  calls what it is given with each of them, by their ids, as often as it is asked
    template <class Balls>
    TouchingPairs(const Box& box, const Balls& balls) {
        std::size_t all = 0;
        balls([&](const Placed&) { ++all; });
        if (all == 0) return;
        Point<Dim> low;
        Point<Dim> length;
        Vec<bool, Dim> wraps;
        double longest = 0.0;
        for (int axis = 0; axis < Dim; ++axis) {
            low[axis] = box.min[axis];
            length[axis] = box.size[axis];
            wraps[axis] = box.periodic(axis);
            longest = std::max(longest, box.size[axis]);
        }
        const auto count = static_cast<double>(all);
        double width = 0.0;  // the mean diameter
        double first = 0.0;
        balls([&](const Placed& ball) {
            if (width == 0.0) first = ball.radius;
            width += 2.0 * (ball.radius / count);
            alike_ = alike_ && ball.radius == first;
        });
        const auto cells = [&] {
            double product = 1.0;
            for (int axis = 0; axis < Dim; ++axis) product *= std::max(1.0, std::floor(length[axis] / width));
            return product;
        };
        constexpr double kMostAlong = 1.0e9;  // cells of an axis are counted in 31 bits
        // Nor so small that what it grows by is rounded away.
        width = std::max({width, longest / kMostAlong, std::numeric_limits<double>::min()});
        while (cells() > 2.0 * count + 64.0) width *= 1.25;
        grid_ = PlacementGrid<Dim>(low, length, wraps, width);
        sort(balls, all);
    }

    /// Calls take(a, b, distance of centres) for each pair that is wanted, in the order of cells, until it says no.
    /// \param wanted  the same of a pair; asked by several threads
    template <class Wanted, class Take>
    void each(const Wanted& wanted, const Take& take) const {
        constexpr std::size_t kBlock = 8192;    // balls that one thread looks at
        constexpr std::size_t kBlocks = 64;     // between two moments at which pairs are taken
        constexpr std::size_t kMost = 100'000;  // pairs of a block; one with more goes on alone
        struct Pair {
            const Placed* a;
            const Placed* b;
            double distance;
        };
        std::array<std::vector<Pair>, kBlocks> found;
        std::array<std::size_t, kBlocks> reached{};
        for (std::size_t begin = 0; begin < balls_.size(); begin += kBlock * kBlocks) {
            const std::size_t blocks = std::min(kBlocks, (balls_.size() - begin + kBlock - 1) / kBlock);
            const auto end_of = [&](std::size_t block) {
                return std::min(balls_.size(), begin + (block + 1) * kBlock);
            };
#pragma omp parallel for schedule(dynamic, 1) if (blocks > 1)
            for (std::size_t block = 0; block < blocks; ++block) {
                std::vector<Pair>& pairs = found[block];
                pairs.clear();
                std::size_t place = begin + block * kBlock;
                try {
                    for (; place < end_of(block) && pairs.size() < kMost; ++place) {
                        const std::size_t before = pairs.size();
                        const bool all = each_of(place, [&](const Placed& a, const Placed& b, double distance) {
                            if (wanted(a, b, distance)) pairs.push_back({&a, &b, distance});
                            return pairs.size() < kMost;
                        });
                        if (all) continue;
                        pairs.resize(before);
                        break;
                    }
                } catch (const std::bad_alloc&) {  // must not leave the thread
                    pairs.clear();
                    place = begin + block * kBlock;
                }
                reached[block] = place;
            }
            for (std::size_t block = 0; block < blocks; ++block) {
                for (const Pair& pair : found[block]) {
                    if (!take(*pair.a, *pair.b, pair.distance)) return;
                }
                for (std::size_t place = reached[block]; place < end_of(block); ++place) {
                    const bool on = each_of(place, [&](const Placed& a, const Placed& b, double distance) {
                        return !wanted(a, b, distance) || take(a, b, distance);
                    });
                    if (!on) return;
                }
            }
        }
    }

private:
    static Point<Dim> center(const Placed& ball) {
        Point<Dim> point;
        for (int axis = 0; axis < Dim; ++axis) point[axis] = ball.center[axis];
        return point;
    }
    /// Of the distance to the nearest image.
    [[nodiscard]] double square_between(const Vector3& a, const Vector3& b) const {
        double square = 0.0;
        for (int axis = 0; axis < Dim; ++axis) {
            double along = a[axis] - b[axis];
            if (grid_.wraps(axis)) {
                along = std::abs(along);
                along = std::min(along, grid_.length(axis) - along);
            }
            square += along * along;
        }
        return square;
    }
    [[nodiscard]] std::size_t cell(const Placed& ball) const { return grid_.number(grid_.cell_of(center(ball))); }

    /// By cells, so that neighbours lie near each other in memory; within one by id.
    template <class Balls>
    void sort(const Balls& balls, std::size_t all) {
        first_.assign(grid_.count() + 1, 0);
        balls([&](const Placed& ball) { ++first_[cell(ball)]; });
        std::exclusive_scan(first_.begin(), first_.end(), first_.begin(), 0U);
        balls_.resize(all);
        balls([&](const Placed& ball) { balls_[first_[cell(ball)]++] = ball; });
        // Each is now where the next one begins.
        std::shift_right(first_.begin(), first_.end(), 1);
        first_[0] = 0;
    }

    /// Cells of one axis, by their numbers: two parts where they go around the end of one that wraps, none twice.
    struct Parts {
        std::array<std::array<std::int32_t, 2>, 2> part;  // [first, end)
        int count = 1;
    };
    [[nodiscard]] Parts around(const Placed& one, int axis) const {
        const std::int32_t all = grid_.cells(axis);
        const double at = (one.center[axis] - grid_.low(axis)) * grid_.per_length(axis);
        // Rounding of a place may put it into the cell beside.
        const double reach = 2.0 * one.radius * grid_.per_length(axis) + 1.0e-6;
        const auto clamped = [&](double cell) {
            return static_cast<std::int32_t>(std::clamp(std::floor(cell), -1.0 * all, 2.0 * all));
        };
        const std::int32_t begin = clamped(at - reach);
        const std::int32_t end = clamped(at + reach) + 1;
        if (!grid_.wraps(axis)) {
            const std::int32_t first = std::clamp(begin, 0, all - 1);
            return {{{{first, std::clamp(end, first + 1, all)}, {}}}, 1};
        }
        if (end - begin >= all) return {{{{0, all}, {}}}, 1};
        if (begin < 0) return {{{{0, end}, {begin + all, all}}}, end > 0 ? 2 : 1};
        if (end > all) return {{{{begin, all}, {0, end - all}}}, 2};
        return {{{{begin, end}, {}}}, 1};
    }

    template <class F>
    bool each_of(std::size_t place, const F& f) const {
        const Placed& one = balls_[place];
        Vec<Parts, Dim> around_it;
        for (int axis = 0; axis < Dim; ++axis) around_it[axis] = around(one, axis);
        // Along x cells lie one after the other, and so do their balls.
        const auto row = [&](std::size_t number) {
            for (int k = 0; k < around_it[0].count; ++k) {
                const auto [begin, end] = around_it[0].part[static_cast<std::size_t>(k)];
                // Of balls that are all alike the one that comes later has found the pair.
                const std::size_t stop = first_[number + static_cast<std::size_t>(end)];
                for (std::size_t other = first_[number + static_cast<std::size_t>(begin)];
                     other < (alike_ ? std::min(stop, place) : stop); ++other) {
                    const Placed& two = balls_[other];
                    if (two.radius > one.radius || (two.radius == one.radius && other >= place)) continue;
                    const double square = square_between(one.center, two.center);
                    const double sum = one.radius + two.radius;
                    if (square > sum * sum) continue;
                    const double distance = std::sqrt(square);
                    if (distance < sum && !f(one, two, distance)) return false;
                }
            }
            return true;
        };
        const auto plane = [&](std::size_t z) {
            for (int k = 0; k < around_it[1].count; ++k) {
                const auto [begin, end] = around_it[1].part[static_cast<std::size_t>(k)];
                for (std::int32_t y = begin; y < end; ++y) {
                    const std::size_t number =
                        static_cast<std::size_t>(grid_.cells(0)) *
                        (static_cast<std::size_t>(y) + static_cast<std::size_t>(grid_.cells(1)) * z);
                    if (!row(number)) return false;
                }
            }
            return true;
        };
        if constexpr (Dim == 2) {
            return plane(0);
        } else {
            for (int k = 0; k < around_it[2].count; ++k) {
                const auto [begin, end] = around_it[2].part[static_cast<std::size_t>(k)];
                for (std::int32_t z = begin; z < end; ++z) {
                    if (!plane(static_cast<std::size_t>(z))) return false;
                }
            }
            return true;
        }
    }

    PageVector<Placed> balls_;  // cell after cell
    bool alike_ = true;         // all have one radius
    PlacementGrid<Dim> grid_;
    PageVector<std::uint32_t> first_;  // place of each cell's first ball, and an end
};

/// Calls take(a, b, distance of centres) for each pair of balls that touch and is wanted, until it says no.
template <class Balls, class Wanted, class Take>
void for_each_touching(const Box& box, const Balls& balls, const Wanted& wanted, const Take& take) {
    if (box.dimension == 2) {
        TouchingPairs<2>(box, balls).each(wanted, take);
    } else {
        TouchingPairs<3>(box, balls).each(wanted, take);
    }
}

/// By more than this part of the sum of their radii no two hard balls ever overlap; rounding makes 1e-12 of it.
constexpr double kNeverDeeper = 1.0e-3;

/// How far two balls are in each other, of the smaller radius.
double depth_of(const Placed& a, const Placed& b, double distance) {
    return (a.radius + b.radius - distance) / std::min(a.radius, b.radius);
}

/// Several threads may say each their own.
void raise_to(std::atomic<double>& largest, double value) {
    double known = largest.load(std::memory_order_relaxed);
    while (value > known && !largest.compare_exchange_weak(known, value, std::memory_order_relaxed)) {
    }
}

/// The first pair, lowest j and then lowest i, that is nearer than the solver takes; of very many, one of them.
/// \param deepest  that hard balls may overlap, of the sum of their radii
/// \param depth    becomes depth_of() of the deepest pair that is not fixed, where none is too near; null: nobody asks
template <class Balls>
std::optional<StartOverlap> first_overlap(const Scene& scene, const Balls& balls, double deepest,
                                          double* depth = nullptr) {
    constexpr std::uint64_t kMostPairs = 100'000;  // where all are in one place, there is no end of pairs
    const bool events = scene.run.solver == SolverKind::kEvents;
    std::optional<StartOverlap> first;
    std::uint64_t pairs = 0;
    std::atomic<double> largest = 0.0;
    const auto wrong = [&](const Placed& a, const Placed& b, double distance) {
        if (a.fixed && b.fixed) return false;  // they go through each other
        if (depth != nullptr) raise_to(largest, depth_of(a, b, distance));
        const double sum = a.radius + b.radius;
        return events ? sum - distance > deepest * sum : distance < kDeepest * std::min(a.radius, b.radius);
    };
    for_each_touching(scene.box, balls, wrong, [&](const Placed& a, const Placed& b, double distance) {
        const double sum = a.radius + b.radius;
        const auto [i, j] = std::minmax(a.id, b.id);
        if (!first || j < first->j || (j == first->j && i < first->i)) {
            first = StartOverlap{i, j, sum - distance, (sum - distance) / sum};
        }
        return ++pairs < kMostPairs;
    });
    if (depth != nullptr) *depth = largest;
    return first;
}

}  // namespace

std::string OutOfBox::text(const Vector3& position) const {
    return fmt::format("must be inside the box, from {} to {}, not {}", low, high, position[axis]);
}

std::optional<OutOfBox> put_into_box(const Box& box, double radius, Vector3& position) {
    for (int axis = 0; axis < box.dimension; ++axis) {
        const double low = box.min[axis] - (box.faces[axis][0] == Face::kOpen ? radius : 0.0);
        const double high = box.min[axis] + box.size[axis] + (box.faces[axis][1] == Face::kOpen ? radius : 0.0);
        if (!(position[axis] >= low && position[axis] <= high)) return OutOfBox{axis, low, high};
        if (box.periodic(axis) && position[axis] >= high) position[axis] = low;
    }
    return std::nullopt;
}

std::string too_wide(const Box& box, double radius) {
    for (int axis = 0; axis < box.dimension; ++axis) {
        if (2.0 * radius <= box.size[axis] * (1.0 + kLengthSlack)) continue;
        return fmt::format("must be at most half the box, which is {} along {}, not {}", box.size[axis], "xyz"[axis],
                           radius);
    }
    return "";
}

std::string too_light(double mass) {
    constexpr double kLeast = 1e-298;  // sums of inverse masses, and what few digits are left of momenta, are numbers
    return mass < kLeast ? fmt::format("must be at least {}, not {}", kLeast, mass) : "";
}

Vector3 place_of_ball(const Balls& balls, std::size_t ball) {
    Vector3 place{};
    for (int axis = 0; axis < balls.dimension; ++axis) place[axis] = balls.position[axis][ball];
    return place;
}

EntryName entry_name(const Scene& scene, std::uint64_t id) {
    if (id < scene.balls.size()) return {fmt::format("ball {}", id), "", ""};
    id -= scene.balls.size();
    for (const LoadEntry& load : scene.loads) {
        if (load.loaded == nullptr) continue;
        if (id < load.loaded->count) {
            return {load.loaded->name(id), fmt::format(" of {}", load.loaded->path), load.loaded->place(id)};
        }
        id -= load.loaded->count;
    }
    return {};
}

std::string LoadedBalls::name(std::uint64_t ball) const {
    return text ? fmt::format("row {}", ball + 1) : fmt::format("ball {}", ball);
}

std::string LoadedBalls::place(std::uint64_t ball) const {
    if (!text) return path;
    const auto after = std::ranges::upper_bound(lines, ball, {}, [](const auto& part) { return part.first; });
    const auto& part = *std::prev(after);
    return fmt::format("{}:{}", path, part.second + (ball - part.first));
}

std::string LoadedBalls::summary() const {
    std::string what = fmt::format("{}, {} ball{}, {} bytes", path, count, count == 1 ? "" : "s", bytes);
    if (text) what += fmt::format(", checksum {:016x}", checksum);
    if (time) what += fmt::format(", t = {:.10g}", *time);
    return what;
}

std::optional<StartOverlap> impossible_overlap(const Scene& scene, const Balls& balls) {
    const auto placed = [&balls](const auto& take) {
        for (std::size_t id = 0; id < balls.size(); ++id) {
            if (balls.gone[id] != 0) continue;
            const Species& species = balls.species_of(id);
            take(Placed{place_of_ball(balls, id), species.radius, static_cast<std::uint32_t>(id),
                        std::isinf(species.mass)});
        }
    };
    return first_overlap(scene, placed, kNeverDeeper);
}

std::optional<StartOverlap> start_overlap(const Scene& scene, double* deepest) {
    return first_overlap(scene, entries_of(scene), kTouching, deepest);
}

namespace {

void warn_of_pairs(const Scene& scene, std::vector<std::string>& warnings) {
    const double limit = scene.spring.max_overlap;
    std::uint64_t pairs = 0;
    StartOverlap deepest;
    const auto deep = [&](const Placed& a, const Placed& b, double distance) {
        return !(a.fixed && b.fixed) && depth_of(a, b, distance) > limit;
    };
    for_each_touching(scene.box, entries_of(scene), deep, [&](const Placed& a, const Placed& b, double distance) {
        ++pairs;
        const double fraction = depth_of(a, b, distance);
        if (fraction > deepest.fraction) {
            deepest = {std::min(a.id, b.id), std::max(a.id, b.id), a.radius + b.radius - distance, fraction};
        }
        return true;
    });
    if (pairs > 0) {
        warnings.push_back(fmt::format(
            "{} of balls overlap{} at the start by more than spring.max_overlap = {}, and will fly apart: at most ball "
            "{} and ball {}, by {:.3g} of the smaller radius",
            pairs == 1 ? "a pair" : fmt::format("{} pairs", pairs), pairs == 1 ? "s" : "", limit, deepest.i, deepest.j,
            deepest.fraction));
    }
}

void warn_of_walls(const Scene& scene, std::vector<std::string>& warnings) {
    const double limit = scene.spring.max_overlap;
    const std::vector<Boundary<3>> walls = all_walls(scene);
    std::uint64_t balls = 0;
    double worst = 0.0;
    std::uint32_t worst_ball = 0;
    WallNumber worst_wall(0);
    std::uint32_t next = 0;
    for_each_entry(scene, [&](const Species& species, const Vector3& place) {
        const std::uint32_t id = next++;
        if (std::isinf(species.mass)) return;
        bool reaches = false;
        for (const Boundary<3>& wall : walls) {
            const double fraction = depth_in_wall(wall_gap(wall, place).distance, species.radius);
            if (fraction <= limit) continue;
            reaches = true;
            if (fraction <= worst) continue;
            worst = fraction;
            worst_ball = id;
            worst_wall = WallNumber(wall.number);
        }
        balls += reaches ? 1 : 0;
    });
    if (balls > 0) {
        warnings.push_back(fmt::format(
            "{} into a wall at the start by more than spring.max_overlap = {}, and will fly off: at most ball {} into "
            "{}, by {:.3g} of its radius",
            balls == 1 ? "a ball reaches" : fmt::format("{} balls reach", balls), limit, worst_ball,
            wall_name(worst_wall), worst));
    }
}

}  // namespace

std::vector<std::string> start_warnings(const Scene& scene) {
    std::vector<std::string> warnings;
    const double limit = scene.spring.max_overlap;
    if (!scene.depths || scene.depths->pair > limit) warn_of_pairs(scene, warnings);
    if (!scene.depths || scene.depths->wall > limit) warn_of_walls(scene, warnings);
    return warnings;
}

}  // namespace carom
