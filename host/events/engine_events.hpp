#pragma once

#include <fmt/format.h>

#include <cmath>

#include "host/events/engine.hpp"
#include "host/events/engine_lanes.hpp"
#include "host/state/errors.hpp"
#include "kernels/core/prefetch.hpp"

// What happens: one event after another.

namespace carom {

template <int Dim, bool Gravity, bool Lists>
bool Engine<Dim, Gravity, Lists>::advance(double time, std::uint64_t most_events) {
    for (;;) {
        const double target = clock_.in_epoch(time);
        const bool beyond = target >= calendar_.end();
        // Events at the target itself belong to it.
        const double limit = beyond ? calendar_.end() : std::nextafter(target, kNeverTouch);
        if (limit > now_ && !run_before(limit, most_events)) {
            time_ = since_start();
            return false;
        }
        if (beyond) {
            begin_epoch();
            continue;
        }
        now_ = larger(now_, target);
        time_ = time;
        return true;
    }
}

/// Handles all events before `limit`; false when the number of events ran out first.
template <int Dim, bool Gravity, bool Lists>
bool Engine<Dim, Gravity, Lists>::run_before(double limit, std::uint64_t& most_events) {
    const auto valid = [this](const CalendarEntry& entry) { return next_[entry.slot].stamp == entry.stamp; };
    const auto before = [this](const CalendarEntry& a, const CalendarEntry& b) { return tie_before(a, b); };
    const bool few = count_ < kFewBalls;
    const auto soon = [this, few](int level, std::uint32_t slot) {
        // Memory that the events to come will need, asked for in time: first the ball, then its cells, then who is
        // there.
        if (few) return;
        const Forecast& forecast = forecast_[slot];
        if (level == 2) {
            prefetch(&hot_[slot]);
            prefetch(&forecast);
            prefetch(&next_[slot]);
            if constexpr (Lists) {
                prefetch(&lists_[slot]);
                prefetch(&lists_[slot].member[8]);
            }
            return;
        }
        if constexpr (Lists) {
            const NeighbourList& list = lists_[slot];
            if (level == 1) {
                for (std::uint32_t k = 0; k < list.count; ++k) prefetch(&hot_[list.member[k]]);
                if (forecast.partner < count_) {
                    prefetch(&forecast_[forecast.partner]);
                    prefetch(&next_[forecast.partner]);
                    prefetch(&lists_[forecast.partner]);
                    prefetch(&lists_[forecast.partner].member[8]);
                }
            } else if (forecast.partner < count_) {
                const NeighbourList& others = lists_[forecast.partner];
                for (std::uint32_t k = 0; k < others.count; ++k) prefetch(&hot_[others.member[k]]);
            }
            return;
        }
        const std::uint32_t partner = next_[slot].partner;
        const std::uint32_t strides[3] = {1, grid_.cells[0], grid_.cells[0] * grid_.cells[1]};
        std::uint32_t middle = cell_number(forecast.cell);
        const auto expect = [this, level](std::uint32_t cell) {
            // Only an address: cells beyond the grid, and members that are none, do no harm.
            if (level == 1) {
                cells_.prefetch(cell);
            } else {
                prefetch(hot_.data() + cells_.first_of(cell));
            }
        };
        if (partner - count_ < 2 * Dim) {  // goes on to the next cell: those beyond it come into sight
            const std::uint32_t axis = (partner - count_) / 2;
            const std::uint32_t along = strides[axis];
            const std::uint32_t step_a = strides[axis == 0 ? 1 : 0];
            const std::uint32_t step_b = Dim == 3 ? strides[axis == 2 ? 1 : 2] : 0;
            const bool up = (partner - count_) % 2 == 1;
            if (level == 1) {
                cells_.prefetch(middle);
                cells_.prefetch(up ? middle + along : middle - along);
            }
            middle += up ? 2 * along : -2 * along;
            for (std::uint32_t b = 0; b < (Dim == 3 ? 3U : 1U); ++b) {
                for (std::uint32_t a = 0; a < 3; ++a)
                    expect(middle + a * step_a - step_a + (Dim == 3 ? b * step_b - step_b : 0));
            }
            return;
        }
        if (level == 1 && partner < count_) {
            prefetch(&hot_[partner]);
            prefetch(&forecast_[partner]);
            prefetch(&next_[partner]);
        }
        for (std::uint32_t z = 0; z < (Dim == 3 ? 3U : 1U); ++z) {
            for (std::uint32_t y = 0; y < 3; ++y) {
                const std::uint32_t cell =
                    middle + y * strides[1] - strides[1] + (Dim == 3 ? z * strides[2] - strides[2] : 0);
                expect(cell - 1);
                if (level == 0) expect(cell);  // a cache line holds two cells
                expect(cell + 1);
            }
        }
    };
    while (const CalendarEntry* entry = calendar_.next(limit, valid, before, soon)) {
        if (most_events == 0) return false;
        --most_events;
        const CalendarEntry event = *entry;
        calendar_.pop();
        handle(event);
    }
    return true;
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::handle(const CalendarEntry& entry) {
    const Slot i = entry.slot;
    now_ = entry.time;
    ++events_;
    ++epoch_events_;
    if (events_ >= watch_events_) [[unlikely]]
        watch_progress(i);
    advance_ball(i, now_);
    const std::uint32_t partner = next_[i].partner;
    if (partner >= count_) {
        const std::uint32_t number = partner - count_;
        if (Lists && number == bubble_number()) {
            leave_bubble(i);
        } else if (number < kFaces) {
            leave_cell(i, number);
        } else {
            collide_wall(i, number - kFaces);
        }
    } else if (next_[partner].hits != next_[i].partner_hits) {
        predict<false>(i);
    } else {
        collide(i, partner);
    }
}

/// Brings a ball to an event of its own.
template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::advance_ball(Slot i, double time) {
    if (!heavy(i)) {
        const HotBall& ball = hot_[i];
        Vector velocity;
        for (int axis = 0; axis < Dim; ++axis) velocity[axis] = ball.velocity[axis];
        const double dt = time - ball.time;
        counted_.path_length +=
            Gravity ? path_length(velocity, gravity_, dt) : dt * square_root(dot(velocity, velocity));
    }
    move_ball(i, time);
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::move_ball(Slot i, double time) {
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

/// The ball reaches a side of its cell: goes on in the next one, or meets a face of the box.
template <int Dim, bool Gravity, bool Lists>
[[gnu::flatten]] void Engine<Dim, Gravity, Lists>::leave_cell(Slot i, std::uint32_t side) {
    const int axis = static_cast<int>(side / 2);
    const bool up = side % 2 == 1;
    Forecast& forecast = forecast_[i];
    std::uint16_t& cell = forecast.cell[axis];
    const bool last = up ? cell + 1U == grid_.cells[axis] : cell == 0;
    bool wrapped = false;
    if (Lists || (last && !setup_.box.periodic(axis))) {
        if (is_wall(axis, up ? 1 : 0)) {
            if (heavy(i)) throw_heavy_at_wall(i, side);
            collide_face(i, side);
        } else {
            remove(i);
        }
        return;
    }
    cells_.remove(cell_number(forecast.cell), i);
    if (last) {
        cell = static_cast<std::uint16_t>(up ? 0 : grid_.cells[axis] - 1);
        hot_[i].position[axis] += up ? -size_[axis] : size_[axis];
        image_[i][axis] += up ? 1 : -1;
        if (!heavy(i))
            counted_.seam_virial += (up ? -size_[axis] : size_[axis]) * hot_[i].velocity[axis] / inverse_mass(i);
        wrapped = true;
    } else {
        cell = static_cast<std::uint16_t>(up ? cell + 1 : cell - 1);
    }
    cells_.add(cell_number(forecast.cell), i);
    note_edge(forecast);
    if (wrapped && !walls_.empty()) {  // extra walls stand in the box itself, not in its images
        predict<false>(i);
        return;
    }
    // Only the cells that have come into sight are new.
    const bool edge = forecast.at_edge != 0;
    const std::uint32_t count = gather_ahead(i, axis, up);
    scan<false>(i, count, edge, larger(forecast.contact_time - now_, 0.0));
    schedule(i);
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::remove(Slot i) {
    flow_.advance(now_, gravity_);
    const HotBall& ball = hot_[i];
    const double mass = heavy(i) ? 0.0 : 1.0 / inverse_mass(i);
    Vector velocity;
    Vector position;
    for (int axis = 0; axis < Dim; ++axis) {
        velocity[axis] = ball.velocity[axis];
        position[axis] = ball.position[axis];
    }
    flow_.twice_kinetic -= mass * dot(velocity, velocity);
    if (!heavy(i)) {
        const Species& species = species_table_[species_[id_of_[i]]];
        const double inertia = mass * species.radius_of_gyration * species.radius_of_gyration;
        *tallies_.lost += 0.5 * mass * dot(velocity, velocity) - mass * dot(gravity_, position);
        if (!spin_.empty()) *tallies_.lost += 0.5 * inertia * dot(spin_[i], spin_[i]);
    }
    flow_.momentum = flow_.momentum - mass * velocity;
    flow_.moment = flow_.moment - mass * position;
    flow_.mass -= mass;
    counted_.virial_start -= mass * dot(position, velocity);
    cells_.remove(cell_number(forecast_[i].cell), i);
    gone_[i] = 1;
    ++tallies_.balls_left;
    ++next_[i].hits;
    ++next_[i].stamp;
    forecast_[i].event_time = forecast_[i].contact_time = kNeverTouch;
    forecast_[i].partner = kNoContact;
}

/// (t, i, j) with the smaller id first and walls behind the balls.
template <int Dim, bool Gravity, bool Lists>
bool Engine<Dim, Gravity, Lists>::tie_before(const CalendarEntry& a, const CalendarEntry& b) const {
    const auto key = [this](Slot i) {
        const std::uint32_t partner = next_[i].partner;
        const std::uint32_t id = id_of_[i];
        const std::uint32_t other = partner < count_ ? id_of_[partner] : partner;
        return std::pair{std::min(id, other), std::max(id, other)};
    };
    return key(a.slot) < key(b.slot);
}

/// Time must move on: if a number of events that would take all balls through several contacts each leave it where it
/// was, it never will.
template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::watch_progress(Slot i) {
    constexpr double kNoProgress = 1.0e-12;  // in units of the time in which a ball moves by its radius
    const double now = since_start();
    const double unit = speed_scale_ > 0.0 ? least_radius_ / speed_scale_ : 0.0;
    if (watch_events_ != 0 && now - watch_time_ <= kNoProgress * unit) throw_collapse(i);
    watch_time_ = now;
    watch_events_ = events_ + 10000 + 16 * static_cast<std::uint64_t>(count_);
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::throw_collapse(Slot i) const {
    const std::uint32_t partner = next_[i].partner;
    std::string who = fmt::format("ball {}", id_of_[i]);
    if (partner < count_) {
        who =
            fmt::format("balls {} and {}", std::min(id_of_[i], id_of_[partner]), std::max(id_of_[i], id_of_[partner]));
    } else {
        who += fmt::format(" and wall {}", partner - count_);
    }
    const HotBall& ball = hot_[i];
    std::string where;
    for (int axis = 0; axis < Dim; ++axis) {
        where += fmt::format("{}{:g}", axis == 0 ? "" : ", ", ball.position[axis] + setup_.box.min[axis]);
    }
    std::string moving;
    for (std::size_t wall = 0; wall < setup_.walls.size() && moving.empty(); ++wall) {
        const double speed = setup_.walls[wall].velocity;
        if (speed > 0.0) {
            moving = fmt::format("; wall[{}], which moves in at {:.4g} m/s, must stop before balls are packed at it",
                                 wall, speed);
        }
    }
    throw SimulationError(fmt::format(
        "inelastic collapse at time {:.9g}: {} near ({}) collide without end while time stands still ({} collisions so "
        "far). Set events.tc or events.cutoff_speed above 0, or restitution closer to 1; a ball that rests on a wall "
        "under gravity needs events.cutoff_speed{}",
        since_start(), who, where, tallies_.collisions, moving));
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::throw_heavy_at_wall(Slot i, std::uint32_t face) const {
    static constexpr const char* kNames[] = {"x-min", "x-max", "y-min", "y-max", "z-min", "z-max"};
    throw SimulationError(fmt::format(
        "ball {} of infinite mass reaches the wall at {} at time {:.9g}: no wall can turn it. Make that face open or "
        "periodic, or stop the run before",
        id_of_[i], kNames[face], since_start()));
}

}  // namespace carom
