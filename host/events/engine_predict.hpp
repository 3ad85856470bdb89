#pragma once

#include "host/events/engine.hpp"
#include "host/events/engine_gather.hpp"
#include "host/events/engine_lanes.hpp"
#include "kernels/physics/collision_time.hpp"

// What comes next for a ball. The ball stands at its own time, which is the present.

namespace carom {

/// The same as nearest(), for four lanes.
template <int Dim, bool Gravity, bool Lists>
Lanes Engine<Dim, Gravity, Lists>::nearest_lanes(const Lanes& d) const {
    const Lanes zero = Lanes::filled(0.0);
    const Lanes period = Lanes::load(period_.data());
    const Lanes half = Lanes::load(half_period_.data());
    const Lanes lower = d - choose(less(half, d), period, zero);
    return lower + choose(less(lower, zero - half), period, zero);
}

/// Looks for a contact with one of the candidates before `before` (from now), and keeps it in the forecast. Returns how
/// many candidates touch the ball, itself among them.
template <int Dim, bool Gravity, bool Lists>
template <bool CountTouching>
int Engine<Dim, Gravity, Lists>::scan(Slot i, std::uint32_t count, bool edge, double before) {
    if (any_heavy_) [[unlikely]]
        return scan_singly<CountTouching>(i, count, edge, before);
    Slot* list = candidates_.data();
    for (std::uint32_t k = count; k < count + 3; ++k) list[k] = count_;  // the ball that nothing meets
    if (edge) {
        for (std::uint32_t k = count; k < count + 3; ++k) shift_code_[k] = kNoShift;
    }
    return edge ? scan_lanes<true, CountTouching>(i, list, count, before)
                : scan_lanes<false, CountTouching>(i, list, count, before);
}

template <int Dim, bool Gravity, bool Lists>
template <bool Shifted, bool CountTouching>
int Engine<Dim, Gravity, Lists>::scan_lanes(Slot i, const Slot* list, std::uint32_t count, double before) {
    const HotBall& ball = hot_[i];
    const Lanes position = place_lanes(ball);  // the fourth lane is the ball's time: now
    const Lanes velocity = turn_fourth(motion_lanes(ball));
    const Lanes gravity = vector_lanes<Dim>(gravity_);
    const Lanes half = Lanes::filled(0.5);
    const Lanes closing = Lanes::filled(-kClosingRounding * 2.0 * ball.radius * speed_scale_);
    const Lanes never = Lanes::filled(kNeverTouch);
    const double widest = ball.radius + largest_radius_;
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
            const HotBall& other = hot_[list[k + lane]];
            const Lanes v = motion_lanes(other);
            const Lanes d = position - place_lanes(other);
            const Lanes since = d.last();  // the other's own last event
            if constexpr (Gravity) {
                apart[lane] = fused_away(since, fused(half * since, gravity, v), d);
                rate[lane] = velocity - fused(since, gravity, v);
            } else {
                apart[lane] = fused_away(since, v, d);
                rate[lane] = velocity - v;
            }
            if constexpr (Shifted && Lists) {
                apart[lane] = nearest_lanes(apart[lane]);
            } else if constexpr (Shifted) {
                apart[lane] = apart[lane] - Lanes::load(shift_[shift_code_[k + lane]].data());
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
    if (time[lane] < before) {
        const Slot partner = list[static_cast<std::uint32_t>(group[lane]) + lane];
        Forecast& forecast = forecast_[i];
        forecast.contact_time = ball.time + time[lane];
        forecast.partner = partner;
        forecast.partner_hits = next_[partner].hits;
    }
    return touches;
}

/// The same one candidate at a time, for scenes in which gravity does not act on all bodies alike.
template <int Dim, bool Gravity, bool Lists>
template <bool CountTouching>
int Engine<Dim, Gravity, Lists>::scan_singly(Slot i, std::uint32_t count, bool edge, double before) {
    const HotBall& ball = hot_[i];
    const double now = ball.time;
    const double widest = ball.radius + largest_radius_;
    Slot partner = kNoContact;
    int touches = 0;
    for (std::uint32_t k = 0; k < count; ++k) {
        const Slot j = candidates_[k];
        const Flight other = at(j, now);
        Vector d;
        Vector dv;
        for (int axis = 0; axis < Dim; ++axis) {
            d[axis] = ball.position[axis] - other.position[axis] - (edge ? shift_[shift_code_[k]][axis] : 0.0);
            dv[axis] = ball.velocity[axis] - other.velocity[axis];
        }
        const double reach = ball.radius + hot_[j].radius;
        if (dot(d, d) - reach * reach < 2.0 * kTouching * widest * widest) ++touches;
        if (j == i || (heavy(i) && heavy(j))) continue;  // two that nothing moves pass through each other
        double time;
        if (Gravity && heavy(i) != heavy(j)) {
            time = curved_sphere_time(d, dv, gravity_of(i) - gravity_of(j), reach, false);
        } else {
            const double closing = -kClosingRounding * 2.0 * ball.radius * speed_scale_;
            time = pair_time<double, Dim>(d, dv, reach, closing, kNeverTouch).time;
        }
        if (time < before) {
            before = time;
            partner = j;
        }
    }
    if (partner != kNoContact) {
        Forecast& forecast = forecast_[i];
        forecast.contact_time = now + before;
        forecast.partner = partner;
        forecast.partner_hits = next_[partner].hits;
    }
    return touches;
}

/// All that may come next for a ball whose path has changed. Returns how many balls touch it, itself among them.
template <int Dim, bool Gravity, bool Lists>
template <bool CountTouching>
[[gnu::flatten]] int Engine<Dim, Gravity, Lists>::predict(Slot i) {
    Forecast& forecast = forecast_[i];
    forecast.contact_time = kNeverTouch;
    forecast.partner = kNoContact;
    int touches;
    if constexpr (Lists) {
        const NeighbourList& list = lists_[i];
        const Slot* members = list.member;
        std::uint32_t count = list.count;
        if (list.state == NeighbourList::kTooLong) [[unlikely]] {
            count = gather_listed(i);
            members = candidates_.data();
            for (std::uint32_t k = count; k < count + 3; ++k) candidates_[k] = count_;
        }
        touches = 1 + (forecast.at_edge != 0 ? scan_lanes<true, CountTouching>(i, members, count, kNeverTouch)
                                             : scan_lanes<false, CountTouching>(i, members, count, kNeverTouch));
    } else {
        bool edge = false;
        const std::uint32_t count = gather_all(i, edge);
        touches = scan<CountTouching>(i, count, edge, kNeverTouch);
    }
    if (!walls_.empty()) forecast_walls(i);
    schedule(i);
    return touches;
}

template <int Dim, bool Gravity, bool Lists>
double Engine<Dim, Gravity, Lists>::wall_time(Slot i, std::size_t wall) const {
    const HotBall& ball = hot_[i];
    const Boundary<Dim>& boundary = walls_[wall];
    Vector from;
    Vector velocity;
    for (int axis = 0; axis < Dim; ++axis) {
        from[axis] = ball.position[axis] - boundary.reference[axis];
        velocity[axis] = ball.velocity[axis];
    }
    if (boundary.shape == BoundaryShape::kPlane) {
        const WallGap<Dim> gap = boundary.gap(from);
        double height = gap.distance - ball.radius;
        if (boundary.speed != 0.0) height -= boundary.speed * (clock_.since_start(ball.time) - setup_.walls_time);
        return plane_time(height, dot(velocity, gap.normal) - boundary.speed,
                          Gravity ? dot(gravity_, gap.normal) : 0.0);
    }
    const bool inside = boundary.sphere.side < 0.0;
    const double reach = inside ? boundary.sphere.radius - ball.radius : boundary.sphere.radius + ball.radius;
    if (Gravity) return curved_sphere_time(from, velocity, gravity_, reach, inside);
    if (inside) return inside_sphere_time(from, velocity, reach);
    return pair_time<double, Dim>(from, velocity, reach, 0.0, kNeverTouch).time;
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::forecast_walls(Slot i) {
    if (heavy(i)) return;
    Forecast& forecast = forecast_[i];
    for (std::size_t wall = 0; wall < walls_.size(); ++wall) {
        const double time = hot_[i].time + wall_time(i, wall);
        if (!(time < forecast.contact_time)) continue;
        forecast.contact_time = time;
        forecast.partner = count_ + kFaces + static_cast<std::uint32_t>(wall);
        forecast.partner_hits = 0;
    }
}

/// Time from now until the ball's centre leaves its cell, or touches or wholly leaves through a face of the box there.
template <int Dim, bool Gravity, bool Lists>
double Engine<Dim, Gravity, Lists>::leaving_time(Slot i, std::uint32_t& side) const {
    const HotBall& ball = hot_[i];
    const Forecast& forecast = forecast_[i];
    if (!Gravity && (all_periodic_ || forecast.at_edge == 0)) [[likely]] {
        // All axes at once, without branches that no one could foretell. The fourth lane: far away.
        Vector cell;
        for (int axis = 0; axis < Dim; ++axis) cell[axis] = forecast.cell[axis];
        const Lanes zero = Lanes::filled(0.0);
        const Lanes low = vector_lanes<Dim>(cell);
        const Lanes x = place_lanes(ball);
        const Lanes v = motion_lanes(ball);
        const LanesMask down = less(v, zero);
        const Lanes border = choose(down, low, low + Lanes::filled(1.0)) * Lanes::load(cell_edge_.data());
        const Lanes way = choose(down, x - border, border - x);
        const Lanes time = way / choose(down, zero - v, v);  // v = 0: infinite, or no number
        alignas(32) double by_axis[4];
        choose(less(time, Lanes::filled(kNeverTouch)), time, Lanes::filled(kNeverTouch)).store(by_axis);
        const std::uint32_t one = by_axis[1] < by_axis[0] ? 1 : 0;
        const std::uint32_t axis = Dim == 3 && by_axis[2] < by_axis[one] ? 2 : one;
        side = 2 * axis + (ball.velocity[axis] < 0.0 ? 0U : 1U);
        return larger(by_axis[axis], 0.0);
    }
    const bool edge = forecast.at_edge != 0;
    double first = kNeverTouch;
    side = 0;
    for (int axis = 0; axis < Dim; ++axis) {
        const std::uint32_t cell = forecast.cell[axis];
        const double x = ball.position[axis];
        const double v = ball.velocity[axis];
        double low = cell * grid_.edge[axis];
        double high = (cell + 1) * grid_.edge[axis];
        if (edge && !setup_.box.periodic(axis)) {
            // Contact with a wall; wholly outside for an open face; the face itself for what no wall can turn.
            const double reach = heavy(i) ? 0.0 : ball.radius;
            if (cell == 0) low = is_wall(axis, 0) ? reach : -ball.radius;
            if (cell + 1 == grid_.cells[axis]) high = size_[axis] + (is_wall(axis, 1) ? -reach : ball.radius);
        }
        if (Gravity && gravity_[axis] != 0.0 && !heavy(i)) {
            const double down = plane_time(x - low, v, gravity_[axis]);
            const double up = plane_time(high - x, -v, -gravity_[axis]);
            if (down < first) {
                first = down;
                side = 2 * axis;
            }
            if (up < first) {
                first = up;
                side = 2 * axis + 1;
            }
        } else {
            const double time = (v < 0.0 ? x - low : high - x) / __builtin_fabs(v);  // v = 0: infinite, or no number
            if (time < first) {
                first = time;
                side = static_cast<std::uint32_t>(2 * axis + (v < 0.0 ? 0 : 1));
            }
        }
    }
    return larger(first, 0.0);
}

/// Puts the ball's next event, from its forecast, into the calendar.
template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::schedule(Slot i) {
    Forecast& forecast = forecast_[i];
    NextEvent& next = next_[i];
    std::uint32_t side = 0;
    double leaves;
    if constexpr (Lists) {
        leaves = hot_[i].time + bubble_time(i, side);
    } else {
        leaves = hot_[i].time + leaving_time(i, side);
    }
    if (forecast.contact_time < leaves) {
        next.partner = forecast.partner;
        next.partner_hits = forecast.partner_hits;
        forecast.event_time = forecast.contact_time;
    } else {
        next.partner = count_ + side;
        forecast.event_time = leaves;
    }
    calendar_.push({forecast.event_time, i, ++next.stamp});
}

}  // namespace carom
