#pragma once

#include <cmath>

#include "host/events/engine.hpp"

// What an engine tells of itself, and small things used all over.

namespace carom {

template <int Dim, bool Gravity, bool Lists>
auto Engine<Dim, Gravity, Lists>::gravity_of(Slot i) const -> Vector {
    return heavy(i) ? Vector::filled(0.0) : gravity_;
}

/// A ball at another time, as a copy; the same operations as move_ball.
template <int Dim, bool Gravity, bool Lists>
auto Engine<Dim, Gravity, Lists>::at(Slot i, double time) const -> Flight {
    const HotBall& ball = hot_[i];
    const double dt = time - ball.time;
    Flight flight;
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

/// The shortest of the periodic images of a displacement that is shorter than a period.
template <int Dim, bool Gravity, bool Lists>
auto Engine<Dim, Gravity, Lists>::nearest(Vector d) const -> Vector {
    for (int axis = 0; axis < Dim; ++axis) {
        if (!setup_.box.periodic(axis)) continue;
        if (d[axis] > 0.5 * size_[axis]) d[axis] -= size_[axis];
        if (d[axis] < -0.5 * size_[axis]) d[axis] += size_[axis];
    }
    return d;
}

template <int Dim, bool Gravity, bool Lists>
auto Engine<Dim, Gravity, Lists>::from_to(Slot i, Slot j, double time) const -> Vector {
    return nearest(at(j, time).position - at(i, time).position);
}

template <int Dim, bool Gravity, bool Lists>
WallGap<Dim> Engine<Dim, Gravity, Lists>::gap_to(std::uint32_t number, const Vector& position) const {
    if (number >= kFaces) {
        const Boundary<Dim>& boundary = walls_[number - kFaces];
        WallGap<Dim> gap = boundary.gap(position - boundary.reference);
        if (boundary.speed != 0.0) gap.distance -= boundary.speed * (since_start() - setup_.walls_time);
        return gap;
    }
    const int axis = static_cast<int>(number / 2);
    PlaneBoundary<Dim> face{Vector::filled(0.0)};
    face.normal[axis] = number % 2 == 0 ? 1.0 : -1.0;
    Vector reference = Vector::filled(0.0);
    if (number % 2 == 1) reference[axis] = size_[axis];
    return face.gap(position - reference);
}

template <int Dim, bool Gravity, bool Lists>
std::uint32_t Engine<Dim, Gravity, Lists>::cell_number(const std::uint16_t* cell) const {
    std::uint32_t number = cell[Dim - 1];
    for (int axis = Dim - 2; axis >= 0; --axis) number = number * grid_.cells[axis] + cell[axis];
    return number;
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::note_overlap(double overlap, double smaller_radius) {
    counted_.worst_overlap = std::max(counted_.worst_overlap, overlap);
    tallies_.max_overlap = std::max(tallies_.max_overlap, overlap / smaller_radius);
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::frame(Frame& frame) const {
    frame.resize(Dim, count_);
    frame.time = time();
    frame.step = events_;
    for (Slot i = 0; i < count_; ++i) {
        const std::uint32_t id = id_of_[i];
        const Flight flight = at(i, now_);
        frame.gone[id] = gone_[i];
        for (int axis = 0; axis < Dim; ++axis) {
            double x = flight.position[axis];
            std::int32_t image = image_[i][axis];
            if (setup_.box.periodic(axis)) {  // on the border, a rounding may lie on its other side
                if (x < 0.0) {
                    x += size_[axis];
                    --image;
                }
                if (x >= size_[axis]) {
                    x -= size_[axis];
                    ++image;
                }
            }
            frame.position[axis][id] = gone_[i] ? transcendental::kNaN : x + setup_.box.min[axis];
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

template <int Dim, bool Gravity, bool Lists>
Tallies Engine<Dim, Gravity, Lists>::tallies() const {
    Tallies result = tallies_;
    result.events = events_;
    return result;
}

template <int Dim, bool Gravity, bool Lists>
EventsStatistics Engine<Dim, Gravity, Lists>::statistics() const {
    EventsStatistics result = counted_;
    Flow<Dim> flow = flow_;
    flow.advance(now_, gravity_);
    result.twice_kinetic_time = flow.twice_kinetic_time;
    result.gravity_virial_time = flow.gravity_virial_time;
    result.elapsed = time();
    result.path_length = path_so_far();
    result.mobile = 0;
    for (Slot i = 0; i < count_; ++i) {
        if (gone_[i] || heavy(i)) continue;
        ++result.mobile;
        const Flight flight = at(i, now_);
        result.virial_now += dot(flight.position, flight.velocity) / inverse_mass(i);
    }
    return result;
}

template <int Dim, bool Gravity, bool Lists>
std::size_t Engine<Dim, Gravity, Lists>::memory_bytes() const {
    const auto bytes = [](const auto&... array) { return ((array.capacity() * sizeof(array[0])) + ...); };
    return bytes(hot_, next_, forecast_, lists_, inverse_mass_, inverse_kr2_, last_hit_, spin_, image_, gone_, id_of_,
                 slot_of_, species_, candidates_, shift_code_) +
           cells_.bytes() + calendar_.memory_bytes();
}

template <int Dim, bool Gravity, bool Lists>
std::vector<std::pair<std::string, double>> Engine<Dim, Gravity, Lists>::parameters() const {
    return {{"cells_x", grid_.cells[0]},
            {"cells_y", grid_.cells[1]},
            {"cells_z", grid_.cells[2]},
            {"epoch", calendar_.end()},
            {"neighbour_list_shell", setup_.shell}};
}

}  // namespace carom
