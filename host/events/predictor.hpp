#pragma once

#include <cstdint>

#include "host/events/bubbles.hpp"
#include "host/events/cells.hpp"
#include "host/events/enclosure.hpp"
#include "host/events/flying_balls.hpp"
#include "kernels/core/wall_number.hpp"
#include "kernels/physics/collision_time.hpp"
#include "kernels/physics/touching.hpp"

// What comes next for a ball that stands at its own time, which is the present: whom it meets, and when it leaves its
// cell or its bubble. All times are from now.

namespace carom {

/// A pair closes only if d . dv is below minus this fraction of diameter times typical speed: a few ulp, so that balls
/// that touch and move together do not collide for ever by rounding alone.
constexpr double kClosingRounding = 1.0e-15;

/// As a partner: none.
constexpr std::uint32_t kNoContact = ~0U;

/// The earliest contact with other balls.
struct Meeting {
    double time;
    Slot partner;  ///< kNoContact: with none before the time asked for
    int touches;   ///< how many of the candidates touch the ball, itself among them
};

// How a displacement to candidate k becomes that to the image which is meant.

struct SameImage {
    template <class D>
    D operator()(const D& d, std::uint32_t /*k*/) const {
        return d;
    }
};

template <int Dim>
struct ImageByCell {
    const NeighbourCells<Dim>& cells;

    Lanes operator()(const Lanes& d, std::uint32_t k) const { return d - Lanes::load(cells.shift(k)); }
    Vec<double, Dim> operator()(Vec<double, Dim> d, std::uint32_t k) const {
        for (int axis = 0; axis < Dim; ++axis) d[axis] -= cells.shift(k)[axis];
        return d;
    }
};

template <int Dim>
struct NearestImage {
    const Enclosure<Dim>& enclosure;

    Lanes operator()(const Lanes& d, std::uint32_t /*k*/) const { return enclosure.nearest(d); }
};

/// The earliest contact of ball i with the candidates, if before `before`: four at a time, nobody behind the last.
/// \param speed  the typical one
template <bool CountTouching, int Dim, bool Gravity, class Image>
Meeting meet(const FlyingBalls<Dim, Gravity>& balls, Slot i, const Slot* candidates, std::uint32_t count, double before,
             double speed, const Image& image) {
    const HotBall& ball = balls.hot(i);
    const Lanes position = place_lanes(ball);  // the fourth lane is the ball's time: now
    const Lanes velocity = turn_fourth(motion_lanes(ball));
    const Lanes gravity = vector_lanes<Dim>(balls.gravity());
    const Lanes half = Lanes::filled(0.5);
    const Lanes closing = Lanes::filled(-kClosingRounding * 2.0 * ball.radius * speed);
    const Lanes never = Lanes::filled(kNeverTouch);
    const double widest = ball.radius + balls.largest_radius();
    const Lanes touching = Lanes::filled(2.0 * kTouching * widest * widest);
    Lanes best = Lanes::filled(before);
    Lanes best_index = Lanes::filled(0.0);
    Lanes index = Lanes::filled(0.0);
    const Lanes four = Lanes::filled(4.0);
    int touches = 0;
    for (std::uint32_t k = 0; k < count; k += 4) {
        Lanes apart[4];
        Lanes rate[4];
        for (int lane = 0; lane < 4; ++lane) {
            const HotBall& other = balls.hot(candidates[k + lane]);
            const Lanes v = motion_lanes(other);
            const Lanes d = position - place_lanes(other);
            const Lanes since = d.last();  // the other's own last event
            if constexpr (Gravity) {
                apart[lane] = image(fused_away(since, fused(half * since, gravity, v), d), k + lane);
                rate[lane] = velocity - fused(since, gravity, v);
            } else {
                apart[lane] = image(fused_away(since, v, d), k + lane);
                rate[lane] = velocity - v;
            }
        }
        Lanes d[4];
        Lanes dv[4];
        transpose(apart[0], apart[1], apart[2], apart[3], d);
        transpose(rate[0], rate[1], rate[2], rate[3], dv);
        Vec<Lanes, Dim> apart_by_axis;
        Vec<Lanes, Dim> rate_by_axis;
        for (int axis = 0; axis < Dim; ++axis) {
            apart_by_axis[axis] = d[axis];
            rate_by_axis[axis] = dv[axis];
        }
        // The fourth lane of `rate` is minus the sum of the radii.
        const auto found = pair_time<Lanes, Dim>(apart_by_axis, rate_by_axis, dv[3], closing, never);
        if constexpr (CountTouching)
            touches += __builtin_popcount(static_cast<unsigned>(less(found.c, touching).bits()));
        const LanesMask earlier = less(found.time, best);
        best = choose(earlier, found.time, best);
        best_index = choose(earlier, index, best_index);
        index = index + four;
    }
    alignas(32) double time[4];
    alignas(32) double group[4];
    best.store(time);
    best_index.store(group);
    int lane = 0;
    for (int k = 1; k < 4; ++k) {
        if (time[k] < time[lane]) lane = k;
    }
    if (!(time[lane] < before)) return {before, kNoContact, touches};
    return {time[lane], candidates[static_cast<std::uint32_t>(group[lane]) + lane], touches};
}

/// The same one candidate at a time, for balls of which some are of infinite mass: gravity does not act on all alike.
/// \param met  whom the ball has just met, if it has
template <int Dim, bool Gravity, class Image>
Meeting meet_singly(const FlyingBalls<Dim, Gravity>& balls, Slot i, const Slot* candidates, std::uint32_t count,
                    double before, double speed, Slot met, const Image& image) {
    const HotBall& ball = balls.hot(i);
    const double widest = ball.radius + balls.largest_radius();
    const Vec<double, Dim> position = balls.position(i);
    const Vec<double, Dim> velocity = balls.velocity(i);
    Meeting meeting{before, kNoContact, 0};
    for (std::uint32_t k = 0; k < count; ++k) {
        const Slot j = candidates[k];
        const Flight<Dim> other = balls.at(j, ball.time);
        const Vec<double, Dim> d = image(position - other.position, k);
        const Vec<double, Dim> dv = velocity - other.velocity;
        const double reach = ball.radius + balls.hot(j).radius;
        if (j != i && balls.heavy(i) && balls.heavy(j)) continue;  // two that nothing moves pass through each other
        const bool touches = dot(d, d) - reach * reach < 2.0 * kTouching * widest * widest;
        if (touches) ++meeting.touches;
        if (j == i) continue;
        double time;
        if (Gravity && balls.heavy(i) != balls.heavy(j)) {
            time = curved_sphere_time(d, dv, balls.gravity_of(i) - balls.gravity_of(j), reach, false,
                                      touches && j == met);  // another image of it has not been met
        } else {
            const double closing = -kClosingRounding * 2.0 * ball.radius * speed;
            time = pair_time<double, Dim>(d, dv, reach, closing, kNeverTouch).time;
        }
        if (time < meeting.time) {
            meeting.time = time;
            meeting.partner = j;
        }
    }
    return meeting;
}

/// That a ball leaves where it is looked for.
struct Leaving {
    double time;
    std::uint32_t side;  ///< 2 axis, 2 axis + 1: of its cell or of the box; kOfBubble: of its bubble
    static constexpr std::uint32_t kOfBubble = WallNumber::kFaces;  // where there are bubbles, there are no [[wall]]s
};

/// When the centre leaves its cell, or the ball touches or wholly leaves through a face of the box there.
template <int Dim, bool Gravity>
Leaving leaving_cell(const FlyingBalls<Dim, Gravity>& balls, Slot i, const CellPlace& place,
                     const NeighbourCells<Dim>& cells, const Enclosure<Dim>& enclosure) {
    const HotBall& ball = balls.hot(i);
    if (!Gravity && (enclosure.all_periodic() || place.at_edge == 0)) [[likely]] {
        // All axes at once, without branches that no one could foretell. The fourth lane: far away.
        Vec<double, Dim> cell;
        for (int axis = 0; axis < Dim; ++axis) cell[axis] = place.cell[axis];
        const Lanes zero = Lanes::filled(0.0);
        const Lanes low = vector_lanes<Dim>(cell);
        const Lanes x = place_lanes(ball);
        const Lanes v = motion_lanes(ball) + zero;  // no -0: it would be on its way out
        const LanesMask down = less(v, zero);
        const Lanes border = choose(down, low, low + Lanes::filled(1.0)) * Lanes::load(cells.cell_edges());
        const Lanes way = choose(down, x - border, border - x);
        const Lanes time = way / choose(down, zero - v, v);  // v = 0: infinite, or no number
        alignas(32) double by_axis[4];
        choose(less(time, Lanes::filled(kNeverTouch)), time, Lanes::filled(kNeverTouch)).store(by_axis);
        const std::uint32_t one = by_axis[1] < by_axis[0] ? 1 : 0;
        const std::uint32_t axis = Dim == 3 && by_axis[2] < by_axis[one] ? 2 : one;
        return {larger(by_axis[axis], 0.0), 2 * axis + (ball.velocity[axis] < 0.0 ? 0U : 1U)};
    }
    const bool edge = place.at_edge != 0;
    const CellGrid& grid = cells.grid();
    Leaving first{kNeverTouch, 0};
    for (int axis = 0; axis < Dim; ++axis) {
        const std::uint32_t cell = place.cell[axis];
        const double x = ball.position[axis];
        const double v = ball.velocity[axis];
        double low = cell * grid.edge[axis];
        double high = (cell + 1) * grid.edge[axis];
        if (edge && !enclosure.periodic(axis)) {
            // Contact with a wall; wholly outside for an open face; the face itself for what no wall can turn.
            const double reach = balls.heavy(i) ? 0.0 : ball.radius;
            if (cell == 0) low = enclosure.is_wall(axis, 0) ? reach : -ball.radius;
            if (cell + 1 == grid.cells[axis])
                high = enclosure.size()[axis] + (enclosure.is_wall(axis, 1) ? -reach : ball.radius);
        }
        const auto side = static_cast<std::uint32_t>(2 * axis);
        const double g = balls.gravity()[axis];
        if (Gravity && g != 0.0 && !balls.heavy(i)) {
            const double down = plane_time(x - low, v, g);
            const double up = plane_time(high - x, -v, -g);
            if (down < first.time) first = {down, side};
            if (up < first.time) first = {up, side + 1};
        } else if (v != 0.0) {  // one that slides along a wall may lie beyond it by a rounding
            const double time = (v < 0.0 ? x - low : high - x) / __builtin_fabs(v);
            if (time < first.time) first = {time, side + (v < 0.0 ? 0 : 1)};
        }
    }
    first.time = larger(first.time, 0.0);
    return first;
}

/// When the ball leaves its bubble, or touches a wall of the box.
template <int Dim, bool Gravity>
Leaving leaving_bubble(const FlyingBalls<Dim, Gravity>& balls, Slot i, const CellPlace& place,
                       const Bubbles<Dim>& bubbles, const Enclosure<Dim>& enclosure) {
    const HotBall& ball = balls.hot(i);
    Leaving first{bubbles.leaving_time(i, ball), Leaving::kOfBubble};
    if (!enclosure.all_periodic() && place.at_edge != 0) {
        for (int axis = 0; axis < Dim; ++axis) {
            const double v = ball.velocity[axis];
            const int end = v < 0.0 ? 0 : 1;
            if (!enclosure.is_wall(axis, end) || v == 0.0) continue;
            const double way = end == 0 ? ball.position[axis] : enclosure.size()[axis] - ball.position[axis];
            const double time = (way - ball.radius) / __builtin_fabs(v);
            if (time < first.time) first = {time, static_cast<std::uint32_t>(2 * axis + end)};
        }
    }
    first.time = larger(first.time, 0.0);
    return first;
}

}  // namespace carom
