#pragma once

#include <cmath>

#include "host/events/engine.hpp"
#include "host/events/engine_lanes.hpp"

// Neighbour lists, for dense systems: a ball looks for its next contact among the dozen balls of its list, instead of
// those in 27 cells.
//
// Each ball has a bubble, a sphere around where its list was made. Two balls are in each other's lists exactly when the
// centres of their bubbles are closer than shell * diameter. While both stay in their bubbles, of radius
// (shell - 1) * radius, no two that are not listed can touch. A ball that leaves its bubble gets a new one, and tells
// those whose lists change. So the lists are a function of the centres alone, whatever the order of events: that is
// what makes a restart go on to the same bits. (Donev, Torquato & Stillinger 2005: near-neighbour lists.)
//
// The cells hold the balls by the centres of their bubbles here, and are at least shell * diameter wide.

namespace carom {

/// Whether lists pay, by numbers of the scene alone, since the choice belongs to the run's bits.
inline double list_shell(const EventsSetup& setup, const Balls& balls) {
    // Packing fraction from which lists are the faster way: 0.38 measured for 16,384 balls, 0.45 for 108,000.
    constexpr double kDense = 0.43;
    constexpr double kShell = 1.55;      // where making lists and going through them cost the least together
    constexpr double kMostShell = 2.0;   // beyond, lists are longer than those of cells
    constexpr double kLeastCells = 4.0;  // along an axis, so that the nearest image is the only one in reach
    const double asked = setup.shell > 0.0 ? setup.shell : kShell;
    if (setup.box.dimension != 3 || setup.cell > 0.0 || asked <= 1.0 || asked > kMostShell) return 0.0;
    if (balls.size() == 0 || !setup.walls.empty()) return 0.0;
    const double radius = balls.species_of(0).radius;
    for (std::size_t id = 0; id < balls.size(); ++id) {
        const Species& species = balls.species_of(id);
        if (species.radius != radius || std::isinf(species.mass)) return 0.0;
    }
    double volume = 1.0;
    for (int axis = 0; axis < 3; ++axis) {
        if (setup.gravity[axis] != 0.0) return 0.0;
        for (int end = 0; end < 2; ++end) {
            if (setup.box.faces[axis][end] == Face::kOpen) return 0.0;
        }
        if (setup.box.size[axis] < kLeastCells * 2.01 * radius * asked) return 0.0;
        volume *= setup.box.size[axis];
    }
    const double packing_fraction =
        4.0 / 3.0 * kPi * radius * radius * radius * static_cast<double>(balls.size()) / volume;
    return setup.shell > 0.0 || packing_fraction >= kDense ? asked : 0.0;
}

/// Keeps of `count` gathered candidates those in whose lists ball i belongs; returns how many.
template <int Dim, bool Gravity, bool Lists>
std::uint32_t Engine<Dim, Gravity, Lists>::keep_listed(Slot i, std::uint32_t count, bool edge) {
    const Lanes centre = Lanes::load(lists_[i].centre);
    const double reach = setup_.shell * 2.0 * least_radius_;
    const Lanes reach2 = Lanes::filled(reach * reach);
    std::uint32_t* list = candidates_.data();
    for (std::uint32_t k = count; k < count + 3; ++k) list[k] = count_;  // its centre is no number
    if (edge) {
        for (std::uint32_t k = count; k < count + 3; ++k) shift_code_[k] = kNoShift;
    }
    std::uint32_t kept = 0;
    for (std::uint32_t k = 0; k < count; k += 4) {
        Lanes apart[4];
        Slot slot[4];
        for (int lane = 0; lane < 4; ++lane) {
            slot[lane] = list[k + lane];
            apart[lane] = centre - Lanes::load(lists_[slot[lane]].centre);
            // The sign of a difference does not touch its rounding: what i finds of j, j finds of i.
            if (edge) apart[lane] = apart[lane] - Lanes::load(shift_[shift_code_[k + lane]].data());
        }
        Lanes d[4];
        transpose(apart[0], apart[1], apart[2], apart[3], d);
        Lanes squared = d[0] * d[0];
        for (int axis = 1; axis < Dim; ++axis) squared = fused(d[axis], d[axis], squared);
        const int near = less(squared, reach2).bits();
        for (int lane = 0; lane < 4; ++lane) {
            list[kept] = slot[lane];
            kept += (near >> lane & 1) & (slot[lane] != i ? 1 : 0);
        }
    }
    return kept;
}

/// The list of ball i as slots in candidates_, whether or not its record holds it; returns how many.
template <int Dim, bool Gravity, bool Lists>
std::uint32_t Engine<Dim, Gravity, Lists>::gather_listed(Slot i) {
    bool edge = false;
    const std::uint32_t count = gather_all(i, edge);
    return keep_listed(i, count, edge);
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::store_list(Slot i, std::uint32_t count) {
    NeighbourList& list = lists_[i];
    list.state = count <= NeighbourList::kMost ? NeighbourList::kWhole : NeighbourList::kTooLong;
    list.count = count <= NeighbourList::kMost ? count : 0;
    for (std::uint32_t k = 0; k < NeighbourList::kMost; ++k) {
        list.member[k] = k < list.count ? candidates_[k] : count_;
    }
}

/// All lists from the centres of the bubbles.
template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::make_all_lists() {
    for (Slot i = 0; i < count_; ++i) store_list(i, gather_listed(i));
}

/// Ball i has reached the border of its bubble: a new one around where it is, and lists to match.
template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::leave_bubble(Slot i) {
    Forecast& forecast = forecast_[i];
    NeighbourList& list = lists_[i];
    std::uint32_t old_count = list.count;
    const Slot* old = list.member;
    if (list.state == NeighbourList::kTooLong) [[unlikely]] {
        old_count = gather_listed(i);
        long_list_.assign(candidates_.begin(), candidates_.begin() + old_count);
        old = long_list_.data();
    }
    const std::uint32_t old_cell = cell_number(forecast.cell);
    for (int axis = 0; axis < Dim; ++axis) {
        double& x = hot_[i].position[axis];
        if (setup_.box.periodic(axis) && (x < 0.0 || x >= size_[axis])) {
            const double jump = x < 0.0 ? size_[axis] : -size_[axis];
            image_[i][axis] += x < 0.0 ? -1 : 1;
            x += jump;
            counted_.seam_virial += jump * hot_[i].velocity[axis] / inverse_mass(i);
        }
        list.centre[axis] = x;
        const double cell = std::floor(x / grid_.edge[axis]);
        forecast.cell[axis] = static_cast<std::uint16_t>(std::clamp(cell, 0.0, grid_.cells[axis] - 1.0));
    }
    const std::uint32_t cell = cell_number(forecast.cell);
    if (cell != old_cell) {
        cells_.remove(old_cell, i);
        cells_.add(cell, i);
        note_edge(forecast);
    }
    const std::uint32_t count = gather_listed(i);
    // Who is in only one of the two lists.
    for (std::uint32_t k = 0; k < old_count; ++k) listed_[old[k]] = 1;
    for (std::uint32_t k = 0; k < count; ++k) {
        const Slot j = candidates_[k];
        if (listed_[j] == 0) lists_[j].add(i);
        listed_[j] = 0;
    }
    for (std::uint32_t k = 0; k < old_count; ++k) {
        if (listed_[old[k]] != 0) lists_[old[k]].remove(i, count_);
        listed_[old[k]] = 0;
    }
    store_list(i, count);
    predict<false>(i);
}

/// Time from now until the ball leaves its bubble, or touches a wall of the box.
template <int Dim, bool Gravity, bool Lists>
double Engine<Dim, Gravity, Lists>::bubble_time(Slot i, std::uint32_t& number) const {
    // A little less than what the lists allow, so that no rounding matters.
    const double radius = (setup_.shell - 1.0) * least_radius_ * (1.0 - 1.0e-6);
    const HotBall& ball = hot_[i];
    double b = 0.0;
    double v2 = 0.0;
    double c = -radius * radius;
    for (int axis = 0; axis < Dim; ++axis) {
        const double d = ball.position[axis] - lists_[i].centre[axis];
        b = fused(d, ball.velocity[axis], b);
        v2 = fused(ball.velocity[axis], ball.velocity[axis], v2);
        c = fused(d, d, c);
    }
    const double root = square_root(fused(b, b, -v2 * smaller(c, 0.0)));
    double first = smaller((root - b) / v2, kNeverTouch);  // a ball at rest: no number
    number = bubble_number();
    if (!all_periodic_ && forecast_[i].at_edge != 0) {
        for (int axis = 0; axis < Dim; ++axis) {
            const double v = ball.velocity[axis];
            const int end = v < 0.0 ? 0 : 1;
            if (!is_wall(axis, end) || v == 0.0) continue;
            const double way = end == 0 ? ball.position[axis] : size_[axis] - ball.position[axis];
            const double time = (way - ball.radius) / __builtin_fabs(v);
            if (time < first) {
                first = time;
                number = static_cast<std::uint32_t>(2 * axis + end);
            }
        }
    }
    return larger(first, 0.0);
}

}  // namespace carom
