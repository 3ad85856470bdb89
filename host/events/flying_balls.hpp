#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "host/state/solver.hpp"
#include "kernels/core/hardware.hpp"
#include "kernels/core/lanes.hpp"
#include "kernels/core/transcendental.hpp"
#include "kernels/physics/collision_time.hpp"
#include "kernels/physics/impulse.hpp"
#include "kernels/physics/path_length.hpp"

// The balls in flight: each stands where and when its own last event was, and is moved on only by the next.
//
// Slots are the order in memory, sorted by place now and then; ids are the user's. Times are counted from the start of
// the epoch, positions from the box's lower corner.

namespace carom {

using Slot = std::uint32_t;

/// All that predicting a collision reads of a ball: one cache line.
struct alignas(64) HotBall {
    double position[3];  ///< at `time` [length]
    double time;         ///< of the ball's own last event
    double velocity[3];  ///< at `time`
    double radius;
};

// A hot record as two groups of four doubles: (position, time) and (velocity, radius). Whoever writes a record writes
// whole groups, because the next prediction loads whole groups, and a load wider than the stores before it waits for
// them to reach the cache.

inline Lanes place_lanes(const HotBall& ball) { return Lanes::load(reinterpret_cast<const double*>(&ball)); }
inline Lanes motion_lanes(const HotBall& ball) { return Lanes::load(reinterpret_cast<const double*>(&ball) + 4); }
inline void set_place(HotBall& ball, const Lanes& place) { place.store(reinterpret_cast<double*>(&ball)); }
inline void set_motion(HotBall& ball, const Lanes& motion) { motion.store(reinterpret_cast<double*>(&ball) + 4); }

/// True in the fourth lane: a record's time or radius.
inline LanesMask fourth_lane() {
    alignas(32) static constexpr double kMinusOneLast[4] = {0.0, 0.0, 0.0, -1.0};
    return less(Lanes::load(kMinusOneLast), Lanes::filled(0.0));
}

/// The first three lanes as they are, the fourth with its sign turned.
inline Lanes turn_fourth(const Lanes& lanes) {
    alignas(32) static constexpr double kTurn[4] = {1.0, 1.0, 1.0, -1.0};
    return lanes * Lanes::load(kTurn);
}

/// A vector and 0 behind it, without a detour through memory.
template <int Dim>
Lanes vector_lanes(const Vec<double, Dim>& v) {
    const double third = Dim == 3 ? v[Dim - 1] : 0.0;
#ifdef CAROM_LANES_AVX2
    return {_mm256_set_pd(0.0, third, v[1], v[0])};
#else
    return {{v[0], v[1], third, 0.0}};
#endif
}

/// A ball at some time.
template <int Dim>
struct Flight {
    Vec<double, Dim> position, velocity;
};

/// Puts an array by slot into another order: `order` has the old slot of each new one. What lies behind the balls stays
/// there. An empty array stays so.
template <class Array>
void permute(Array& array, const std::vector<Slot>& order) {
    if (array.size() == 0) return;
    Array old = std::move(array);
    array = Array(old.size());
    for (std::size_t to = 0; to < order.size(); ++to) array[to] = old[order[to]];
    for (std::size_t k = order.size(); k < old.size(); ++k) array[k] = old[k];
}

/// \tparam Gravity  whether paths are curved: without, no term of it is computed
template <int Dim, bool Gravity>
class FlyingBalls {
public:
    using Vector = Vec<double, Dim>;
    static constexpr int kTurns = Dim == 2 ? 1 : 3;  // components of a spin

    /// Their kinds; where they are and how they move is set afterwards, slots being ids.
    /// \param rough  impacts turn balls
    FlyingBalls(const Balls& balls, const Vector& gravity, bool rough)
        : species_table_(balls.species_table),
          species_(balls.species),
          count_(static_cast<Slot>(balls.size())),
          gravity_(gravity),
          hot_(count_ + 1),
          image_(count_),
          id_of_(count_),
          gone_(count_, 0) {
        inverse_mass_.resize(count_);
        std::iota(id_of_.begin(), id_of_.end(), 0U);
        if (rough) inverse_kr2_.resize(count_);
        bool spinning = rough;
        for (const auto& axis : balls.spin)
            spinning = spinning || std::any_of(axis.begin(), axis.end(), [](double w) { return w != 0.0; });
        if (spinning) spin_.resize(count_);
        least_radius_ = kNeverTouch;
        for (Slot i = 0; i < count_; ++i) {
            const Species& species = balls.species_of(i);
            hot_[i].radius = species.radius;
            least_radius_ = std::min(least_radius_, species.radius);
            largest_radius_ = std::max(largest_radius_, species.radius);
            inverse_mass_[i] = std::isinf(species.mass) ? 0.0 : 1.0 / species.mass;
            any_heavy_ = any_heavy_ || inverse_mass_[i] == 0.0;
            if (rough)
                inverse_kr2_[i] =
                    species.radius * species.radius / (species.radius_of_gyration * species.radius_of_gyration);
        }
        if (count_ == 0) least_radius_ = largest_radius_ = 1.0;
        if (count_ > 0 && std::all_of(inverse_mass_.begin(), inverse_mass_.end(),
                                      [this](double inverse) { return inverse == inverse_mass_[0]; })) {
            same_inverse_mass_ = inverse_mass_[0];
            if (same_inverse_mass_ != 0.0) inverse_mass_ = std::vector<double>();
        }
        constexpr double kNaN = transcendental::kNaN;
        hot_[count_] = {{kNaN, kNaN, kNaN}, 0.0, {kNaN, kNaN, kNaN}, kNaN};
    }

    [[nodiscard]] Slot count() const { return count_; }
    [[nodiscard]] const Vector& gravity() const { return gravity_; }
    [[nodiscard]] double least_radius() const { return least_radius_; }
    [[nodiscard]] double largest_radius() const { return largest_radius_; }
    /// Of infinite mass: nothing moves them.
    [[nodiscard]] bool any_heavy() const { return any_heavy_; }
    [[nodiscard]] bool heavy(Slot i) const { return any_heavy_ && inverse_mass(i) == 0.0; }
    [[nodiscard]] double inverse_mass(Slot i) const {
        return same_inverse_mass_ != 0.0 ? same_inverse_mass_ : inverse_mass_[i];
    }
    [[nodiscard]] Vector gravity_of(Slot i) const { return heavy(i) ? Vector::filled(0.0) : gravity_; }

    /// The record of a slot; that of slot count() is all NaN, so that nothing ever meets it.
    [[nodiscard]] HotBall& hot(Slot i) { return hot_[i]; }
    [[nodiscard]] const HotBall& hot(Slot i) const { return hot_[i]; }
    /// For addresses, of any slot.
    [[nodiscard]] const HotBall* records() const { return hot_.data(); }
    [[nodiscard]] std::array<std::int32_t, Dim>& image(Slot i) { return image_[i]; }
    [[nodiscard]] const std::array<std::int32_t, Dim>& image(Slot i) const { return image_[i]; }
    [[nodiscard]] std::uint32_t id(Slot i) const { return id_of_[i]; }
    [[nodiscard]] bool gone(Slot i) const { return gone_[i] != 0; }
    void set_gone(Slot i, bool gone) { gone_[i] = gone ? 1 : 0; }
    /// Whether they turn; where not, spins are not kept.
    [[nodiscard]] bool spinning() const { return !spin_.empty(); }
    void set_spin(Slot i, const Balls& balls, std::size_t id) {
        if (spin_.empty()) return;
        for (int k = 0; k < kTurns; ++k) spin_[i][k] = balls.spin[Dim == 2 ? 2 : k].at(id);
    }

    [[nodiscard]] Vector position(Slot i) const { return vector(hot_[i].position); }
    [[nodiscard]] Vector velocity(Slot i) const { return vector(hot_[i].velocity); }

    /// As an impact sees it, with the velocity of its own time.
    [[nodiscard]] ImpactBody<Dim> body(Slot i) const {
        ImpactBody<Dim> result;
        for (int axis = 0; axis < Dim; ++axis) result.velocity[axis] = hot_[i].velocity[axis];
        result.spin = spin_.empty() ? Spin<Dim>::filled(0.0) : spin_[i];
        result.inverse_mass = inverse_mass(i);
        result.radius = hot_[i].radius;
        result.inverse_kr2 = inverse_kr2_.empty() ? 0.0 : inverse_kr2_[i];
        return result;
    }
    void set_body(Slot i, const ImpactBody<Dim>& body) {
        set_motion(hot_[i], choose(fourth_lane(), motion_lanes(hot_[i]), vector_lanes<Dim>(body.velocity)));
        if (!spin_.empty()) spin_[i] = body.spin;
    }
    [[nodiscard]] double radius_of_gyration(Slot i) const {
        return species_table_[species_[id_of_[i]]].radius_of_gyration;
    }

    /// A ball at another time, as a copy; the same operations as move().
    [[nodiscard]] Flight<Dim> at(Slot i, double time) const {
        const HotBall& ball = hot_[i];
        const double dt = time - ball.time;
        Flight<Dim> flight;
        for (int axis = 0; axis < Dim; ++axis) {
            if (Gravity && !heavy(i)) {
                const double g = gravity_[axis];
                flight.position[axis] = fused(dt, fused(0.5 * dt, g, ball.velocity[axis]), ball.position[axis]);
                flight.velocity[axis] = fused(dt, g, ball.velocity[axis]);
            } else {
                flight.position[axis] = fused(dt, ball.velocity[axis], ball.position[axis]);
                flight.velocity[axis] = ball.velocity[axis];
            }
        }
        return flight;
    }

    void move(Slot i, double time) {
        HotBall& ball = hot_[i];
        const Lanes place = place_lanes(ball);
        const Lanes motion = motion_lanes(ball);
        const Lanes dt = Lanes::filled(time) - place.last();
        if constexpr (Gravity) {
            if (!any_heavy_ || !heavy(i)) {
                const Lanes g = vector_lanes<Dim>(gravity_);
                const Lanes mean = fused(Lanes::filled(0.5) * dt, g, motion);
                set_place(ball, choose(fourth_lane(), Lanes::filled(time), fused(dt, mean, place)));
                set_motion(ball, fused(dt, g, motion));
                return;
            }
        }
        set_place(ball, choose(fourth_lane(), Lanes::filled(time), fused(dt, motion, place)));
    }

    /// The way from a ball's own time to another; 0 for one that nothing moves.
    [[nodiscard]] double way(Slot i, double time) const {
        if (heavy(i)) return 0.0;
        const double dt = time - hot_[i].time;
        const Vector v = velocity(i);
        return Gravity ? path_length(v, gravity_, dt) : dt * square_root(dot(v, v));
    }

    /// How far the balls have gone since their own last events [length], all together; of integers, so that the order
    /// in memory, which a restart changes, does not matter. \param speed  a fast ball's: sets the grain
    [[nodiscard]] double ways(double time, double speed) const {
        constexpr double kSteps = 1073741824.0;  // 2^30
        const double unit = speed * time / kSteps;
        if (!(unit > 0.0)) return 0.0;
        std::int64_t sum = 0;
        for (Slot i = 0; i < count_; ++i) {
            if (gone_[i] || heavy(i)) continue;
            sum += nearest_integer(path_length(velocity(i), gravity_, time - hot_[i].time) / unit);
        }
        return static_cast<double>(sum) * unit;
    }

    /// The fastest speed: unlike a mean, it does not depend on the order in which one looks.
    [[nodiscard]] double fastest_speed() const {
        double squared = 0.0;
        bool falls = false;
        for (Slot i = 0; i < count_; ++i) {
            if (gone_[i]) continue;
            const Vector v = velocity(i);
            squared = std::max(squared, dot(v, v));
            falls = falls || !heavy(i);
        }
        if (Gravity && falls) squared = std::max(squared, square_root(dot(gravity_, gravity_)) * 2.0 * least_radius_);
        return square_root(squared);
    }

    /// Puts all into another order (permute()).
    void sort(const std::vector<Slot>& order) {
        permute(hot_, order);
        permute(inverse_mass_, order);
        permute(inverse_kr2_, order);
        permute(spin_, order);
        permute(image_, order);
        permute(id_of_, order);
        permute(gone_, order);
        slot_of_.clear();
    }

    /// Where each ball is in memory, by id; found anew after a sort.
    [[nodiscard]] const std::vector<Slot>& slots() const {
        if (slot_of_.empty()) {
            slot_of_.resize(count_);
            for (Slot i = 0; i < count_; ++i) slot_of_[id_of_[i]] = i;
        }
        return slot_of_;
    }

    /// All balls at one time, by id, from copies.
    void show(Frame& frame, const Box& box, double now) const;
    /// Sums over all balls at one time. They are taken at each row of a run, a thousand times by default, so they must
    /// be cheap beside the few collisions that a ball has between two rows: four balls at a time.
    /// \param periods  along the axes where a ball may stand beyond a periodic face, else 0
    [[nodiscard]] Totals totals(const Vector& box_size, const Vector& periods, double now) const;
    /// Balls of finite mass still in, and the sum of r . p over them.
    struct Virial {
        std::uint64_t mobile = 0;  ///< balls
        double sum = 0.0;          ///< of r . p
        double size = 0.0;         ///< sum of |r| |p|
    };
    [[nodiscard]] Virial virial(double now) const {
        Virial result;
        for (Slot i = 0; i < count_; ++i) {
            if (gone_[i] || heavy(i)) continue;
            const Flight<Dim> flight = at(i, now);
            ++result.mobile;
            result.sum += dot(flight.position, flight.velocity) / inverse_mass(i);
            result.size += std::sqrt(dot(flight.position, flight.position) * dot(flight.velocity, flight.velocity)) /
                           inverse_mass(i);
        }
        return result;
    }

    /// Which kinds there are, and of which each ball is.
    void name(Balls& balls) const {
        balls.dimension = Dim;
        balls.species_table = species_table_;
        balls.species = species_;
    }

    [[nodiscard]] std::size_t bytes() const {
        const auto sum = [](const auto&... array) { return ((array.capacity() * sizeof(array[0])) + ...); };
        return sum(hot_, inverse_mass_, inverse_kr2_, spin_, image_, gone_, id_of_, slot_of_, species_);
    }

private:
    static Vector vector(const double* from) {
        Vector result;
        for (int axis = 0; axis < Dim; ++axis) result[axis] = from[axis];
        return result;
    }

    std::vector<Species> species_table_;
    std::vector<std::uint32_t> species_;  // by id
    Slot count_ = 0;
    Vector gravity_{};
    double same_inverse_mass_ = 0.0;  // of all balls, where they have one; else 0
    bool any_heavy_ = false;
    double least_radius_ = 0.0;
    double largest_radius_ = 0.0;
    PageVector<HotBall> hot_;                           // by slot, as all below; one more, all NaN
    std::vector<double> inverse_mass_;                  // empty where all are the same
    std::vector<double> inverse_kr2_;                   // empty without friction
    std::vector<Spin<Dim>> spin_;                       // empty where all are zero
    std::vector<std::array<std::int32_t, Dim>> image_;  // periods gone through
    std::vector<std::uint32_t> id_of_;
    std::vector<std::uint8_t> gone_;
    mutable std::vector<Slot> slot_of_;  // by id; empty where not needed since the last sort
};

template <int Dim, bool Gravity>
void FlyingBalls<Dim, Gravity>::show(Frame& frame, const Box& box, double now) const {
    frame.resize(Dim, count_);
    for (Slot i = 0; i < count_; ++i) {
        const std::uint32_t id = id_of_[i];
        const Flight<Dim> flight = at(i, now);
        frame.gone[id] = gone_[i];
        for (int axis = 0; axis < Dim; ++axis) {
            double x = flight.position[axis];
            std::int32_t image = image_[i][axis];
            if (box.periodic(axis)) {  // on the border, a rounding may lie on its other side
                if (x < 0.0) {
                    x += box.size[axis];
                    --image;
                }
                if (x >= box.size[axis]) {
                    x -= box.size[axis];
                    ++image;
                }
            }
            frame.position[axis][id] = gone_[i] ? transcendental::kNaN : x + box.min[axis];
            frame.velocity[axis][id] = gone_[i] ? transcendental::kNaN : flight.velocity[axis];
            frame.image[axis][id] = image;
        }
        for (int axis = 0; axis < 3; ++axis) {
            if (frame.spin[axis].empty()) continue;
            const double w = spin_.empty() ? 0.0 : spin_[i][Dim == 2 ? 0 : axis];
            frame.spin[axis][id] = gone_[i] ? transcendental::kNaN : w;
        }
    }
}

namespace ball_sums {

inline double sum(const Lanes& lanes) {
    alignas(32) double one[4];
    lanes.store(one);
    return (one[0] + one[1]) + (one[2] + one[3]);
}

inline double largest(const Lanes& lanes) {
    alignas(32) double one[4];
    lanes.store(one);
    return std::max(std::max(one[0], one[1]), std::max(one[2], one[3]));
}

/// Velocity, place and mass of four balls with following ids. One that is not there has mass 0, and rests.
template <int Dim>
struct Four {
    Lanes place[Dim];
    Lanes motion[Dim];
    Lanes mass;  ///< 0 for bodies of infinite mass too
};

/// Sums over some balls, lane by lane.
template <int Dim>
struct Sums {
    static constexpr int kTurns = Dim == 2 ? 1 : 3;  // components of an angular momentum
    Lanes twice_kinetic = Lanes::filled(0.0);
    Lanes momentum[Dim];
    Lanes mass_place[Dim];  ///< from the box's lower corner, as places are
    Lanes angular_momentum[kTurns];

    Lanes centre[Dim];  ///< of the box

    explicit Sums(const Vec<double, Dim>& size) {
        for (int axis = 0; axis < Dim; ++axis) centre[axis] = Lanes::filled(0.5 * size[axis]);
        for (Lanes& lanes : momentum) lanes = Lanes::filled(0.0);
        for (Lanes& lanes : mass_place) lanes = Lanes::filled(0.0);
        for (Lanes& lanes : angular_momentum) lanes = Lanes::filled(0.0);
    }

    /// \return  squares of the speeds
    Lanes add(const Four<Dim>& four) {
        Lanes square = four.motion[0] * four.motion[0];
        for (int axis = 1; axis < Dim; ++axis) square = fused(four.motion[axis], four.motion[axis], square);
        twice_kinetic = fused(four.mass, square, twice_kinetic);
        for (int axis = 0; axis < Dim; ++axis) {
            momentum[axis] = fused(four.mass, four.motion[axis], momentum[axis]);
            mass_place[axis] = fused(four.mass, four.place[axis], mass_place[axis]);
        }
        for (int k = 0; k < kTurns; ++k) {
            const int a = Dim == 2 ? 0 : (k + 1) % 3;
            const int b = Dim == 2 ? 1 : (k + 2) % 3;
            const Lanes moment =
                fused_away(four.place[b] - centre[b], four.motion[a], (four.place[a] - centre[a]) * four.motion[b]);
            angular_momentum[k] = fused(four.mass, moment, angular_momentum[k]);
        }
        return square;
    }
};

}  // namespace ball_sums

template <int Dim, bool Gravity>
Totals FlyingBalls<Dim, Gravity>::totals(const Vector& box_size, const Vector& periods, double now) const {
    using namespace ball_sums;
    alignas(64) static constexpr HotBall kNobody{};
    const std::vector<Slot>& slot_of = slots();
    const bool alike = same_inverse_mass_ != 0.0;
    const double mass_of_all = count_ > 0 ? species_table_[species_[0]].mass : 0.0;

    Totals totals;
    Lanes fastest = Lanes::filled(0.0);  // squared
    // Blocks of a fixed size in a fixed order, so that the result belongs to the state alone.
    constexpr Slot kBlock = 256;
    for (Slot first = 0; first < count_; first += kBlock) {
        const Slot end = std::min(count_, first + kBlock);
        Sums<Dim> sums(box_size);
        for (Slot id = first; id < end; id += 4) {
            const HotBall* ball[4];
            alignas(32) double mass[4];
            for (Slot k = 0; k < 4; ++k) {
                ball[k] = &kNobody;
                mass[k] = 0.0;
                if (id + k >= end) continue;
                const Slot i = slot_of[id + k];
                if (gone_[i]) continue;
                ball[k] = &hot_[i];
                ++totals.balls;
                if (heavy(i)) continue;
                mass[k] = alike ? mass_of_all : species_table_[species_[id + k]].mass;
                ++totals.mobile;
            }
            Four<Dim> four;
            four.mass = Lanes::load(mass);
            Lanes place[4];
            Lanes motion[4];
            transpose(place_lanes(*ball[0]), place_lanes(*ball[1]), place_lanes(*ball[2]), place_lanes(*ball[3]),
                      place);
            transpose(motion_lanes(*ball[0]), motion_lanes(*ball[1]), motion_lanes(*ball[2]), motion_lanes(*ball[3]),
                      motion);
            const Lanes dt = Lanes::filled(now) - place[3];
            for (int axis = 0; axis < Dim; ++axis) {
                Lanes mean = motion[axis];
                four.motion[axis] = motion[axis];
                if constexpr (Gravity) {  // not for bodies of infinite mass, nor for nobody
                    const Lanes zero = Lanes::filled(0.0);
                    const Lanes g = choose(less(zero, four.mass), Lanes::filled(gravity_[axis]), zero);
                    mean = fused(Lanes::filled(0.5) * dt, g, motion[axis]);
                    four.motion[axis] = fused(dt, g, motion[axis]);
                }
                four.place[axis] = fused(dt, mean, place[axis]);
                if (periods[axis] > 0.0) {
                    const Lanes period = Lanes::filled(periods[axis]);
                    Lanes& x = four.place[axis];
                    x = choose(less(x, Lanes::filled(0.0)), x + period, x);
                    x = choose(less(x, period), x, x - period);
                }
            }
            fastest = larger(fastest, sums.add(four));
        }
        totals.kinetic += 0.5 * sum(sums.twice_kinetic);
        for (int axis = 0; axis < Dim; ++axis) {
            totals.momentum[axis] += sum(sums.momentum[axis]);
            if (Gravity) totals.gravitational -= gravity_[axis] * sum(sums.mass_place[axis]);
        }
        for (int k = 0; k < kTurns; ++k) totals.angular_momentum[Dim == 2 ? 2 : k] += sum(sums.angular_momentum[k]);
    }
    totals.speed = square_root(largest(fastest));
    if (spin_.empty()) return totals;
    for (Slot id = 0; id < count_; ++id) {
        const Slot i = slot_of[id];
        if (gone_[i] || heavy(i)) continue;
        const Species& species = species_table_[species_[id]];
        const double inertia = species.mass * species.radius_of_gyration * species.radius_of_gyration;
        for (int k = Dim == 2 ? 2 : 0; k < 3; ++k) {
            const double spin = spin_[i][Dim == 2 ? 0 : k];
            totals.rotational += 0.5 * inertia * spin * spin;
            totals.angular_momentum[k] += inertia * spin;
        }
    }
    return totals;
}

}  // namespace carom
