#pragma once

#include "host/events/engine.hpp"
#include "kernels/physics/collision_time.hpp"

// What comes next for a ball. The ball stands at its own time, which is the present.

namespace carom {

template <int Dim, bool Gravity>
void Engine<Dim, Gravity>::note_edge(Forecast& forecast) const {
    bool edge = false;
    for (int axis = 0; axis < Dim; ++axis) {
        edge = edge || forecast.cell[axis] == 0 || forecast.cell[axis] + 1U == grid_.cells[axis];
    }
    forecast.at_edge = edge ? 1 : 0;
}

/// Slots of the cells from low to high (both in), which may lie one beyond the grid where `at_edge`.
template <int Dim, bool Gravity>
std::uint32_t Engine<Dim, Gravity>::gather(const CellCoordinates& low, const CellCoordinates& high, bool edge) {
    std::uint32_t end = 0;
    std::uint32_t* list = candidates_.data();
    const auto nx = static_cast<std::int32_t>(grid_.cells[0]);
    const auto ny = static_cast<std::int32_t>(grid_.cells[1]);
    if (!edge) [[likely]] {
        for (std::int32_t z = low[2]; z <= high[2]; ++z) {
            for (std::int32_t y = low[1]; y <= high[1]; ++y) {
                const std::int32_t row = nx * (y + ny * z);
                for (std::int32_t x = low[0]; x <= high[0]; ++x) {
                    end = cells_.gather(static_cast<std::uint32_t>(row + x), list, end);
                }
            }
        }
        return end;
    }
    // Along each axis, the cells that exist and the shift of those seen through a periodic face.
    struct Along {
        int count = 0;
        std::int32_t cell[3] = {};
        int code[3] = {};
    } along[3];
    for (int axis = 0, weight = 1; axis < 3; ++axis, weight *= 3) {
        const auto n = static_cast<std::int32_t>(grid_.cells[axis]);
        for (std::int32_t cell = low[axis]; cell <= high[axis]; ++cell) {
            const bool beyond = cell < 0 || cell >= n;
            if (beyond && !(axis < Dim && setup_.box.periodic(axis))) continue;
            Along& a = along[axis];
            a.cell[a.count] = cell < 0 ? cell + n : (beyond ? cell - n : cell);
            a.code[a.count++] = cell < 0 ? -weight : (beyond ? weight : 0);
        }
    }
    for (int z = 0; z < along[2].count; ++z) {
        for (int y = 0; y < along[1].count; ++y) {
            const std::int32_t row = nx * (along[1].cell[y] + ny * along[2].cell[z]);
            const int code = kNoShift + along[2].code[z] + along[1].code[y];
            for (int x = 0; x < along[0].count; ++x) {
                const std::uint32_t from = end;
                end = cells_.gather(static_cast<std::uint32_t>(row + along[0].cell[x]), list, end);
                std::uint8_t* codes = shift_code_.data() + from;
                std::memset(codes, code + along[0].code[x], 8);  // one store; nearly always enough
                if (end - from > 8) [[unlikely]]
                    std::memset(codes, code + along[0].code[x], end - from);
            }
        }
    }
    return end;
}

template <int Dim, bool Gravity>
std::uint32_t Engine<Dim, Gravity>::gather_all(Slot i, bool& edge) {
    const Forecast& forecast = forecast_[i];
    edge = forecast.at_edge != 0;
    if (!edge) [[likely]] {
        const std::uint32_t row = grid_.cells[0];
        const std::uint32_t plane = row * grid_.cells[1];
        std::uint32_t corner = cell_number(forecast.cell) - 1 - row - (Dim == 3 ? plane : 0);
        std::uint32_t end = 0;
        for (int z = 0; z < (Dim == 3 ? 3 : 1); ++z, corner += plane - 3 * row) {
            for (int y = 0; y < 3; ++y, corner += row) {
                for (std::uint32_t x = 0; x < 3; ++x) end = cells_.gather(corner + x, candidates_.data(), end);
            }
        }
        return end;
    }
    CellCoordinates low{};
    CellCoordinates high{};
    for (int axis = 0; axis < Dim; ++axis) {
        low[axis] = forecast.cell[axis] - 1;
        high[axis] = forecast.cell[axis] + 1;
    }
    return gather(low, high, edge);
}

/// Looks for a contact with one of the candidates before `before` (from now), and keeps it in the forecast. Returns how
/// many candidates touch the ball, itself among them.
template <int Dim, bool Gravity>
template <bool CountTouching>
int Engine<Dim, Gravity>::scan(Slot i, std::uint32_t count, bool edge, double before) {
    if (any_heavy_) [[unlikely]]
        return scan_singly<CountTouching>(i, count, edge, before);
    return edge ? scan_lanes<true, CountTouching>(i, count, before)
                : scan_lanes<false, CountTouching>(i, count, before);
}

template <int Dim, bool Gravity>
template <bool Shifted, bool CountTouching>
int Engine<Dim, Gravity>::scan_lanes(Slot i, std::uint32_t count, double before) {
    const HotBall& ball = hot_[i];
    std::uint32_t* list = candidates_.data();
    for (std::uint32_t k = count; k < count + 3; ++k) list[k] = count_;  // the ball that nothing meets
    if constexpr (Shifted) {
        for (std::uint32_t k = count; k < count + 3; ++k) shift_code_[k] = kNoShift;
    }
    const Lanes position = Lanes::load(ball.position);  // the fourth lane is the ball's time: now
    alignas(32) double velocity_and_minus_radius[4] = {ball.velocity[0], ball.velocity[1], ball.velocity[2],
                                                       -ball.radius};
    const Lanes velocity = Lanes::load(velocity_and_minus_radius);
    alignas(32) double g[4] = {gravity_[0], gravity_[1], Dim == 3 ? gravity_[Dim - 1] : 0.0, 0.0};
    const Lanes gravity = Lanes::load(g);
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
            const Lanes v = Lanes::load(other.velocity);
            const Lanes d = position - Lanes::load(other.position);
            const Lanes since = d.last();  // the other's own last event
            if constexpr (Gravity) {
                apart[lane] = fused_away(since, fused(half * since, gravity, v), d);
                rate[lane] = velocity - fused(since, gravity, v);
            } else {
                apart[lane] = fused_away(since, v, d);
                rate[lane] = velocity - v;
            }
            if constexpr (Shifted) apart[lane] = apart[lane] - Lanes::load(shift_[shift_code_[k + lane]].data());
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
template <int Dim, bool Gravity>
template <bool CountTouching>
int Engine<Dim, Gravity>::scan_singly(Slot i, std::uint32_t count, bool edge, double before) {
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
template <int Dim, bool Gravity>
template <bool CountTouching>
int Engine<Dim, Gravity>::predict(Slot i) {
    Forecast& forecast = forecast_[i];
    forecast.contact_time = kNeverTouch;
    forecast.partner = kNoContact;
    bool edge = false;
    const std::uint32_t count = gather_all(i, edge);
    const int touches = scan<CountTouching>(i, count, edge, kNeverTouch);
    if (!walls_.empty()) forecast_walls(i);
    schedule(i);
    return touches;
}

template <int Dim, bool Gravity>
double Engine<Dim, Gravity>::wall_time(Slot i, std::size_t wall) const {
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
        return plane_time(gap.distance - ball.radius, dot(velocity, gap.normal),
                          Gravity ? dot(gravity_, gap.normal) : 0.0);
    }
    const bool inside = boundary.sphere.side < 0.0;
    const double reach = inside ? boundary.sphere.radius - ball.radius : boundary.sphere.radius + ball.radius;
    if (Gravity) return curved_sphere_time(from, velocity, gravity_, reach, inside);
    if (inside) return inside_sphere_time(from, velocity, reach);
    return pair_time<double, Dim>(from, velocity, reach, 0.0, kNeverTouch).time;
}

template <int Dim, bool Gravity>
void Engine<Dim, Gravity>::forecast_walls(Slot i) {
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
template <int Dim, bool Gravity>
double Engine<Dim, Gravity>::leaving_time(Slot i, std::uint32_t& side) const {
    const HotBall& ball = hot_[i];
    const Forecast& forecast = forecast_[i];
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
template <int Dim, bool Gravity>
void Engine<Dim, Gravity>::schedule(Slot i) {
    Forecast& forecast = forecast_[i];
    NextEvent& next = next_[i];
    std::uint32_t side = 0;
    const double leaves = hot_[i].time + leaving_time(i, side);
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
