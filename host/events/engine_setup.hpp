#pragma once

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "host/events/engine.hpp"
#include "host/events/engine_lists.hpp"
#include "host/events/morton.hpp"
#include "host/state/errors.hpp"

// Making an engine, from initial balls or from what save() gave, and the start of an epoch.

namespace carom {

template <int Dim, bool Gravity, bool Lists>
Engine<Dim, Gravity, Lists>::Engine(const EventsSetup& setup, const SolverState& state) : setup_(setup) {
    read_setup();
    read_species(state.balls);
    const bool saved =
        std::any_of(state.extra.begin(), state.extra.end(), [](const auto& e) { return e.first == "events"; });
    for (const auto& [key, values] : state.extra) {
        if (key == "thermal_draws" && !values.empty()) draws_ = static_cast<std::uint64_t>(values[0]);
    }
    if (saved) {
        resume(state);
    } else {
        start(state);
        take_over(state);
    }
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::read_setup() {
    for (int axis = 0; axis < Dim; ++axis) {
        size_[axis] = setup_.box.size[axis];
        gravity_[axis] = setup_.gravity[axis];
        all_periodic_ = all_periodic_ && setup_.box.periodic(axis);
        any_wall_ = any_wall_ || is_wall(axis, 0) || is_wall(axis, 1);
    }
    for (int axis = 0; axis < 4; ++axis) {
        const bool periodic = axis < Dim && setup_.box.periodic(axis);
        period_[axis] = periodic ? size_[axis] : 0.0;
        half_period_[axis] = periodic ? 0.5 * size_[axis] : kNeverTouch;
    }
    for (int code = 0; code < 27; ++code) {
        const int step[3] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1};
        for (int axis = 0; axis < 4; ++axis) shift_[code][axis] = axis < Dim ? step[axis] * setup_.box.size[axis] : 0.0;
    }
    std::int32_t number = kFaces;
    for (const Wall& wall : setup_.walls) {
        Boundary<Dim> boundary{};
        boundary.number = number++;
        boundary.temperature = wall.temperature;
        boundary.speed = wall.velocity;
        for (int axis = 0; axis < Dim; ++axis) {
            const double reference =
                wall.shape == Wall::Shape::kPlane ? wall.offset * wall.normal[axis] : wall.center[axis];
            boundary.reference[axis] = reference - setup_.box.min[axis];
        }
        if (wall.shape == Wall::Shape::kPlane) {
            boundary.shape = BoundaryShape::kPlane;
            for (int axis = 0; axis < Dim; ++axis) boundary.plane.normal[axis] = wall.normal[axis];
        } else {
            boundary.shape = BoundaryShape::kSphere;
            boundary.sphere = {wall.radius, wall.side == Wall::Side::kInside ? -1.0 : 1.0};
        }
        walls_.push_back(boundary);
    }
    any_wall_ = any_wall_ || !walls_.empty();
    tallies_.wall_impulse.assign(kFaces + walls_.size(), 0.0);
    tallies_.wall_heat.assign(kFaces + walls_.size(), 0.0);
    tallies_.lost = 0.0;
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::read_species(const Balls& balls) {
    species_table_ = balls.species_table;
    species_ = balls.species;
    count_ = static_cast<Slot>(balls.size());
    hot_ = PageVector<HotBall>(count_ + 1);
    next_ = PageVector<NextEvent>(count_ + 1);
    forecast_ = PageVector<Forecast>(count_ + 1);
    setup_.shell = Lists ? list_shell(setup_, balls) : 0.0;
    if (Lists) lists_ = PageVector<NeighbourList>(count_ + 1);
    if (Lists) listed_.assign(count_, 0);
    inverse_mass_.resize(count_);
    image_.resize(count_);
    id_of_.resize(count_);
    gone_.assign(count_, 0);
    std::iota(id_of_.begin(), id_of_.end(), 0U);
    const bool rough = setup_.friction > 0.0 || setup_.wall_friction > 0.0;
    if (rough) inverse_kr2_.resize(count_);
    bool spinning = rough;
    for (const auto& axis : balls.spin)
        spinning = spinning || std::any_of(axis.begin(), axis.end(), [](double w) { return w != 0.0; });
    if (spinning) spin_.resize(count_);
    if (setup_.tc > 0.0) last_hit_.assign(count_, -kNeverTouch);
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
    elastic_ = setup_.restitution == 1.0 && setup_.friction == 0.0 && !any_heavy_;
    elastic_walls_ = setup_.wall_restitution == 1.0 && setup_.wall_friction == 0.0;
    constexpr double kNaN = transcendental::kNaN;
    hot_[count_] = {{kNaN, kNaN, kNaN}, 0.0, {kNaN, kNaN, kNaN}, kNaN};
    if (Lists) lists_[count_] = {{kNaN, kNaN, kNaN}, 0, NeighbourList::kWhole, {}};
    // Balls per cell at which going through the neighbourhood and crossing borders cost the same, measured (bench).
    constexpr double kBallsPerCell = 0.57;
    grid_ = CellGrid::design(setup_.box, least_edge(), count_ / kBallsPerCell);
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::start(const SolverState& state) {
    const Balls& balls = state.balls;
    clock_ = Clock(state.time, 0.0);
    time_ = state.time;
    for (Slot i = 0; i < count_; ++i) {
        gone_[i] = balls.gone.empty() ? 0 : balls.gone[i];
        for (int axis = 0; axis < Dim; ++axis) {
            hot_[i].position[axis] = balls.position[axis][i] - setup_.box.min[axis];
            hot_[i].velocity[axis] = balls.velocity[axis][i];
            image_[i][axis] = balls.image[axis].empty() ? 0 : balls.image[axis][i];
        }
        if (!spin_.empty()) {
            for (int k = 0; k < (Dim == 2 ? 1 : 3); ++k) spin_[i][k] = balls.spin[Dim == 2 ? 2 : k][i];
        }
    }
    for (Slot i = 0; i < count_; ++i) {
        if (gone_[i] || heavy(i)) continue;
        const double mass = 1.0 / inverse_mass(i);
        const Vector velocity = body(i).velocity;
        const Vector place = at(i, 0.0).position;
        flow_.twice_kinetic += mass * dot(velocity, velocity);
        flow_.momentum = flow_.momentum + mass * velocity;
        flow_.moment = flow_.moment + mass * place;
        flow_.mass += mass;
        counted_.virial_start += mass * dot(place, velocity);
    }
    find_cells();
    while (refine_cells()) {
    }
    sort_slots();
    put_into_cells();
    if constexpr (Lists) {
        for (Slot i = 0; i < count_; ++i) std::copy_n(hot_[i].position, Dim, lists_[i].centre);
        make_all_lists();
    }
    check_overlaps();
    speed_scale_ = fastest_speed();
    // A short first epoch measures how many events there are, so that the calendar of the next fits.
    start_calendar(setup_.epoch > 0.0 ? setup_.epoch : epoch_length() / 16.0);
    for (Slot i = 0; i < count_; ++i) {
        if (gone_[i]) {
            forecast_[i].contact_time = forecast_[i].event_time = kNeverTouch;
        } else {
            predict<false>(i);
        }
    }
}

template <int Dim, bool Gravity, bool Lists>
double Engine<Dim, Gravity, Lists>::least_edge() const {
    return 2.0 * largest_radius_ * std::max({1.0 + 1.0e-6, setup_.cell, setup_.shell * (1.0 + 1.0e-6)});
}

/// The cell of each ball from where it stands.
template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::find_cells() {
    for (Slot i = 0; i < count_; ++i) {
        for (int axis = 0; axis < Dim; ++axis) {
            const double cell = std::floor(hot_[i].position[axis] / grid_.edge[axis]);
            forecast_[i].cell[axis] = static_cast<std::uint16_t>(std::clamp(cell, 0.0, grid_.cells[axis] - 1.0));
        }
    }
    put_into_cells();
}

/// Makes the cells finer where the balls crowd in a part of the box, so that it need not be filled evenly; returns
/// whether it did. All must be predicted anew then.
template <int Dim, bool Gravity, bool Lists>
bool Engine<Dim, Gravity, Lists>::refine_cells() {
    constexpr double kCrowded = 3.5;  // balls in a ball's own cell, itself among them, on the mean
    constexpr double kWanted = 1.7;   // about that of the usual balls per cell at random
    constexpr double kMostCells = 32768.0;
    if (count_ == 0 || setup_.cell > 0.0 || Lists) return false;
    std::uint64_t company = 0;
    for (Slot i = 0; i < count_; ++i) company += gone_[i] ? 0 : cells_.count(cell_number(forecast_[i].cell));
    const double mean = static_cast<double>(company) / count_;
    if (mean < kCrowded) return false;
    double edge = grid_.edge[0];
    for (int axis = 1; axis < Dim; ++axis) edge = std::min(edge, grid_.edge[axis]);
    edge = std::max(least_edge(), edge * (Dim == 2 ? square_root(kWanted / mean) : kWanted / mean));
    const CellGrid finer = CellGrid::design(setup_.box, edge, std::max(kMostCells, 4.0 * count_));
    if (static_cast<double>(finer.count()) < 1.3 * static_cast<double>(grid_.count())) return false;
    grid_ = finer;
    find_cells();
    return true;
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::put_into_cells() {
    cells_ = CellLists(grid_.count());
    for (int axis = 0; axis < 4; ++axis) cell_edge_[axis] = axis < Dim ? grid_.edge[axis] : 1.0;
    bool narrow = false;  // fewer than three cells on a periodic axis: a ball is seen in several images
    for (int axis = 0; axis < Dim; ++axis) narrow = narrow || (setup_.box.periodic(axis) && grid_.cells[axis] < 3);
    candidates_.resize((narrow ? 27 : 1) * static_cast<std::size_t>(count_) + 32);
    shift_code_.resize(candidates_.size());
    for (Slot i = 0; i < count_; ++i) {
        note_edge(forecast_[i]);
        if (!gone_[i]) cells_.add(cell_number(forecast_[i].cell), i);
    }
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::check_overlaps() {
    for (Slot i = 0; i < count_; ++i) {
        if (gone_[i]) continue;
        bool edge = false;
        const std::uint32_t count = gather_all(i, edge);
        for (std::uint32_t k = 0; k < count; ++k) {
            const Slot j = candidates_[k];
            if (id_of_[j] <= id_of_[i] || (heavy(i) && heavy(j))) continue;
            const Vector d = from_to(i, j, 0.0);
            const double reach = hot_[i].radius + hot_[j].radius;
            const double overlap = reach - square_root(dot(d, d));
            if (overlap > kTouching * reach) {
                throw InputError(
                    fmt::format("balls {} and {} overlap by {:g} at the start ({:g} of the sum of their radii); "
                                "hard balls may at most touch",
                                id_of_[i], id_of_[j], overlap, overlap / reach));
            }
        }
    }
}

/// The fastest speed: unlike a mean, it does not depend on the order in which one looks.
template <int Dim, bool Gravity, bool Lists>
double Engine<Dim, Gravity, Lists>::fastest_speed() const {
    double squared = 0.0;
    for (Slot i = 0; i < count_; ++i) {
        if (gone_[i]) continue;
        const Vector velocity = body(i).velocity;
        squared = std::max(squared, dot(velocity, velocity));
    }
    if (Gravity) squared = std::max(squared, square_root(dot(gravity_, gravity_)) * 2.0 * least_radius_);
    return square_root(squared);
}

/// How far the balls have gone since their own last events [length], all together; of integers, so that the order in
/// memory, which a restart changes, does not matter.
template <int Dim, bool Gravity, bool Lists>
double Engine<Dim, Gravity, Lists>::paths_up_to(double time) const {
    constexpr double kSteps = 1073741824.0;  // 2^30
    const double unit = speed_scale_ * time / kSteps;
    if (!(unit > 0.0)) return 0.0;
    std::int64_t sum = 0;
    for (Slot i = 0; i < count_; ++i) {
        if (gone_[i] || heavy(i)) continue;
        sum += nearest_integer(path_length(body(i).velocity, gravity_, time - hot_[i].time) / unit);
    }
    return static_cast<double>(sum) * unit;
}

/// A power of two, so that subtracting it from a later time is exact; long enough that starting anew costs little,
/// short enough that time is as fine as a position: in 16 diameters or 2 cells at a third of the fastest speed, an ulp
/// of time moves no ball farther than an ulp of that way.
template <int Dim, bool Gravity, bool Lists>
double Engine<Dim, Gravity, Lists>::epoch_length() const {
    if (setup_.epoch > 0.0) return setup_.epoch;
    if (!(speed_scale_ > 0.0)) return 1.0e12;
    double cell = grid_.edge[0];
    for (int axis = 1; axis < Dim; ++axis) cell = std::min(cell, grid_.edge[axis]);
    return power_of_two_below(3.0 * std::max(32.0 * least_radius_, 2.0 * cell) / speed_scale_);
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::start_calendar(double end) {
    // Enough for memory to be asked for in time; few balls lie in the cache, and a short tick needs less memory.
    const double events_per_tick = count_ < kShortTicks ? 1.5 : 6.0;
    if (event_rate_ == 0.0) {  // a guess: each ball meets something every third of a cell
        event_rate_ = count_ * speed_scale_ / grid_.edge[0] + 1.0 / end;
    }
    calendar_.start(end, events_per_tick / event_rate_);
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::begin_epoch() {
    constexpr std::uint64_t kEpochsPerSort = 4;
    const double length = calendar_.end();
    flow_.advance(length, gravity_);
    flow_.time = 0.0;
    counted_.path_length += paths_up_to(length);
    ++counted_.epochs;
    for (Slot i = 0; i < count_; ++i) {
        if (gone_[i]) continue;
        move_ball(i, length);
        hot_[i].time = 0.0;
        forecast_[i].contact_time -= length;
        forecast_[i].event_time -= length;
    }
    clock_.add(length);
    now_ = 0.0;
    speed_scale_ = fastest_speed();
    // Where nothing moves any more the next epoch is endless, and what happened in this one is no guide to it.
    event_rate_ = speed_scale_ > 0.0 ? static_cast<double>(epoch_events_ + 1) / length : 1.0 / epoch_length();
    epoch_events_ = 0;
    if (count_ > kFewBalls && ++epochs_since_sort_ >= kEpochsPerSort) {
        epochs_since_sort_ = 0;
        sort_slots();
        put_into_cells();
    }
    const bool finer = refine_cells();
    start_calendar(epoch_length());
    for (Slot i = 0; i < count_; ++i) {
        if (gone_[i]) continue;
        if (finer) {
            predict<false>(i);
        } else {
            calendar_.push({forecast_[i].event_time, i, ++next_[i].stamp});
        }
    }
}

/// Brings the balls into the order of their cells along Morton's curve, so that neighbours are close in memory.
template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::sort_slots() {
    std::vector<std::pair<std::uint64_t, Slot>> order(count_);
    for (Slot i = 0; i < count_; ++i) order[i] = {morton_code(forecast_[i].cell, Dim), i};
    std::sort(order.begin(), order.end());
    std::vector<Slot> new_slot(count_ + 1);
    for (Slot to = 0; to < count_; ++to) new_slot[order[to].second] = to;
    const auto permute = [&](auto& array) {
        if (array.size() == 0) return;
        auto old = std::move(array);
        array = std::remove_reference_t<decltype(array)>(old.size());
        for (Slot to = 0; to < count_; ++to) array[to] = old[order[to].second];
        if (old.size() > count_) array[count_] = old[count_];
    };
    permute(hot_);
    permute(next_);
    permute(forecast_);
    permute(lists_);
    permute(inverse_mass_);
    permute(inverse_kr2_);
    permute(spin_);
    permute(image_);
    permute(last_hit_);
    permute(id_of_);
    slot_of_.clear();
    permute(gone_);
    for (Slot i = 0; i < count_; ++i) {
        if (next_[i].partner < count_) next_[i].partner = new_slot[next_[i].partner];
        if (forecast_[i].partner < count_) forecast_[i].partner = new_slot[forecast_[i].partner];
        if constexpr (Lists) {
            for (std::uint32_t k = 0; k < lists_[i].count; ++k) lists_[i].member[k] = new_slot[lists_[i].member[k]];
        }
    }
}

}  // namespace carom
