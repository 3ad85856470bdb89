#include "host/scene/velocities.hpp"

#include <cmath>

#include "kernels/core/random.hpp"

namespace carom {
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

void remove_mean(Balls& balls, const Range& range) {
    for (int axis = 0; axis < balls.dimension; ++axis) {
        Sum sum;
        for (std::uint64_t id = range.first; id < range.end; ++id) sum.add(balls.velocity[axis][id]);
        const double mean = sum.value() / range.count();
        for (std::uint64_t id = range.first; id < range.end; ++id) balls.velocity[axis][id] -= mean;
    }
}

/// Normal deviates, then moved and scaled to the wanted sums.
void thermal(const Scene& scene, const FillEntry& fill, const Range& range, Balls& balls) {
    for (std::uint64_t id = range.first; id < range.end; ++id) {
        const NormalPair pair = normal_pair(random_words(scene.seed, id, RandomPurpose::kVelocity, 0));
        balls.velocity[0][id] = pair.first;
        balls.velocity[1][id] = pair.second;
        if (balls.dimension == 3) {
            balls.velocity[2][id] = normal_pair(random_words(scene.seed, id, RandomPurpose::kVelocity, 1)).first;
        }
    }
    if (fill.zero_momentum) remove_mean(balls, range);
    Sum square;
    for (int axis = 0; axis < balls.dimension; ++axis) {
        for (std::uint64_t id = range.first; id < range.end; ++id) {
            square.add(balls.velocity[axis][id] * balls.velocity[axis][id]);
        }
    }
    if (square.value() == 0.0) return;
    const double wanted = balls.dimension * range.count() * *fill.temperature / scene.species[fill.species].mass;
    const double factor = square_root(wanted / square.value());
    for (int axis = 0; axis < balls.dimension; ++axis) {
        for (std::uint64_t id = range.first; id < range.end; ++id) balls.velocity[axis][id] *= factor;
    }
    if (fill.zero_momentum) remove_mean(balls, range);  // what rounding left; too small to change the temperature
}

/// Uniform on the unit circle, or on the unit sphere (Archimedes: height and longitude are uniform).
Vector3 random_direction(int dimension, const RandomWords& words) {
    const SineCosine around = sine_cosine_of_turns(words.uniform(1));
    if (dimension == 2) return {around.cosine, around.sine, 0.0};
    const double height = 2.0 * words.uniform(0) - 1.0;
    const double radius = square_root((1.0 - height) * (1.0 + height));
    return {radius * around.cosine, radius * around.sine, height};
}

void set_velocity(Balls& balls, std::uint64_t id, double speed, const Vector3& direction) {
    for (int axis = 0; axis < balls.dimension; ++axis) balls.velocity[axis][id] = speed * direction[axis];
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

/// Equal speeds; with zero momentum ball k and ball k + count / 2 go opposite ways, and of an odd count the last
/// three go 120 degrees apart.
void equal_speeds(const Scene& scene, const FillEntry& fill, const Range& range, Balls& balls) {
    const auto direction = [&](std::uint64_t id) {
        return random_direction(balls.dimension, random_words(scene.seed, id, RandomPurpose::kDirection, 0));
    };
    const double speed = *fill.speed;
    if (!fill.zero_momentum || fill.count == 1) {
        for (std::uint64_t id = range.first; id < range.end; ++id) set_velocity(balls, id, speed, direction(id));
        return;
    }
    const std::uint64_t paired = fill.count % 2 == 0 ? fill.count : fill.count - 3;
    for (std::uint64_t pair = 0; pair < paired / 2; ++pair) {
        const std::uint64_t id = range.first + pair;
        const Vector3 along = direction(id);
        set_velocity(balls, id, speed, along);
        set_velocity(balls, id + paired / 2, -speed, along);
    }
    if (paired == fill.count) return;
    const std::uint64_t id = range.first + paired;
    const Vector3 along = direction(id);
    const Vector3 aside = perpendicular(balls.dimension, along);
    set_velocity(balls, id, speed, along);
    for (const double side : {1.0, -1.0}) {
        Vector3 turned{};
        for (int axis = 0; axis < 3; ++axis) turned[axis] = -0.5 * along[axis] + side * square_root(0.75) * aside[axis];
        set_velocity(balls, id + (side > 0.0 ? 1 : 2), speed, turned);
    }
}

}  // namespace

void set_velocities(const Scene& scene, const FillEntry& fill, std::uint64_t first, Balls& balls) {
    const Range range{first, first + fill.count};
    if (fill.count == 0) return;
    if (fill.temperature > 0.0) thermal(scene, fill, range, balls);
    if (fill.speed > 0.0) equal_speeds(scene, fill, range, balls);
}

}  // namespace carom
