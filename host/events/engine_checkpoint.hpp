#pragma once

#include <stdexcept>

#include "host/events/engine.hpp"

// The engine's state as plain arrays and back, to the same bits. `SolverState::balls` holds the balls at the present,
// for whoever reads a checkpoint; what goes on from there is in `extra`, by id: the balls at their own last events, and
// their forecasts, which no one could predict again to the same bits.

namespace carom {

namespace checkpoint {

/// How a partner is written: an id, or this and the number of a side or wall; nothing: -1.
constexpr double kWalls = 4294967296.0;

}  // namespace checkpoint

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::save(SolverState& state) const {
    Frame present;
    frame(present);
    state.step = events_;
    state.time = time();
    state.tallies = tallies();
    state.balls = Balls{};
    state.balls.dimension = Dim;
    state.balls.species_table = species_table_;
    state.balls.species = species_;
    state.balls.position = present.position;
    state.balls.velocity = present.velocity;
    state.balls.spin = present.spin;
    state.balls.image = present.image;
    state.balls.gone = present.gone;

    state.extra.clear();
    const auto by_id = [&](const std::string& name, auto&& value) {
        std::vector<double> values(count_);
        for (Slot i = 0; i < count_; ++i) values[id_of_[i]] = value(i);
        state.extra.emplace_back(name, std::move(values));
    };
    const auto partner = [this](std::uint32_t of) {
        if (of == kNoContact) return -1.0;
        return of < count_ ? static_cast<double>(id_of_[of]) : checkpoint::kWalls + (of - count_);
    };
    for (int axis = 0; axis < Dim; ++axis) {
        const std::string suffix(1, "xyz"[axis]);
        by_id("events_position_" + suffix, [&](Slot i) { return hot_[i].position[axis]; });
        by_id("events_velocity_" + suffix, [&](Slot i) { return hot_[i].velocity[axis]; });
        by_id("events_cell_" + suffix, [&](Slot i) { return static_cast<double>(forecast_[i].cell[axis]); });
        by_id("events_image_" + suffix, [&](Slot i) { return static_cast<double>(image_[i][axis]); });
        if constexpr (Lists) by_id("events_bubble_" + suffix, [&](Slot i) { return lists_[i].centre[axis]; });
    }
    by_id("events_own_time", [&](Slot i) { return hot_[i].time; });
    by_id("events_event_time", [&](Slot i) { return forecast_[i].event_time; });
    by_id("events_event_partner", [&](Slot i) { return partner(next_[i].partner); });
    by_id("events_contact_time", [&](Slot i) { return forecast_[i].contact_time; });
    by_id("events_contact_partner", [&](Slot i) { return partner(forecast_[i].partner); });
    by_id("events_contact_stale", [&](Slot i) {
        const Slot other = forecast_[i].partner;
        return other < count_ && next_[other].hits != forecast_[i].partner_hits ? 1.0 : 0.0;
    });
    if (!last_hit_.empty()) by_id("events_last_hit", [&](Slot i) { return last_hit_[i]; });

    std::vector<double> flow{flow_.twice_kinetic, flow_.mass, flow_.time, flow_.twice_kinetic_time,
                             flow_.gravity_virial_time};
    for (int axis = 0; axis < Dim; ++axis) {
        flow.push_back(flow_.momentum[axis]);
        flow.push_back(flow_.moment[axis]);
    }
    state.extra.emplace_back("events_flow", std::move(flow));
    state.extra.emplace_back("thermal_draws", std::vector<double>{static_cast<double>(draws_)});
    const auto count = [](std::uint64_t value) { return static_cast<double>(value); };
    state.extra.emplace_back("events", std::vector<double>{clock_.high(),
                                                           clock_.low(),
                                                           now_,
                                                           calendar_.end(),
                                                           speed_scale_,
                                                           counted_.path_length,
                                                           count(watch_events_),
                                                           watch_time_,
                                                           count(counted_.ball_collisions),
                                                           count(counted_.wall_collisions),
                                                           count(counted_.clusters),
                                                           count(counted_.gave_up),
                                                           count(counted_.elastic_by_tc),
                                                           count(counted_.elastic_by_cutoff),
                                                           count(counted_.epochs),
                                                           counted_.collisional_virial,
                                                           counted_.wall_virial,
                                                           counted_.virial_start,
                                                           counted_.worst_overlap,
                                                           static_cast<double>(grid_.cells[0]),
                                                           static_cast<double>(grid_.cells[1]),
                                                           static_cast<double>(grid_.cells[2]),
                                                           counted_.seam_virial,
                                                           count(counted_.heavy_collisions),
                                                           counted_.collisional_stress[0],
                                                           counted_.collisional_stress[1],
                                                           counted_.collisional_stress[2],
                                                           counted_.collisional_stress[3],
                                                           counted_.collisional_stress[4],
                                                           counted_.collisional_stress[5]});
}

/// What has been counted, from the numbers that save() calls "events".
template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::load_counts(const std::vector<double>& saved) {
    counted_.path_length = saved[5];
    watch_events_ = static_cast<std::uint64_t>(saved[6]);
    watch_time_ = saved[7];
    counted_.ball_collisions = static_cast<std::uint64_t>(saved[8]);
    counted_.wall_collisions = static_cast<std::uint64_t>(saved[9]);
    counted_.clusters = static_cast<std::uint64_t>(saved[10]);
    counted_.gave_up = static_cast<std::uint64_t>(saved[11]);
    counted_.elastic_by_tc = static_cast<std::uint64_t>(saved[12]);
    counted_.elastic_by_cutoff = static_cast<std::uint64_t>(saved[13]);
    counted_.epochs = static_cast<std::uint64_t>(saved[14]);
    counted_.collisional_virial = saved[15];
    counted_.wall_virial = saved[16];
    counted_.virial_start = saved[17];
    counted_.worst_overlap = saved[18];
    counted_.seam_virial = saved[22];
    counted_.heavy_collisions = static_cast<std::uint64_t>(saved[23]);
    for (std::size_t k = 0; k < counted_.collisional_stress.size(); ++k) counted_.collisional_stress[k] = saved[24 + k];
}

/// Goes on with the counts of another engine, whose state this one has started from.
template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::take_over(const SolverState& state) {
    for (const auto& [key, values] : state.extra) {
        if (key != "carried" || values.size() < 34) continue;
        const double* last = values.data() + values.size() - 4;
        const double virial_here = counted_.virial_start;
        const std::uint64_t epochs = counted_.epochs;
        load_counts(values);
        counted_.epochs += epochs;
        counted_.path_length = last[3];
        flow_.twice_kinetic_time = last[0];
        flow_.gravity_virial_time = last[1];
        counted_.virial_start += virial_here - last[2];  // where positions or velocities have been set
        tallies_ = state.tallies;
        tallies_.wall_impulse.resize(kFaces + walls_.size());
        tallies_.wall_heat.resize(kFaces + walls_.size());
        events_ = state.step;
    }
}

template <int Dim, bool Gravity, bool Lists>
void Engine<Dim, Gravity, Lists>::resume(const SolverState& state) {
    const auto find = [&](const std::string& name, std::size_t least) -> const std::vector<double>& {
        for (const auto& [key, values] : state.extra) {
            if (key == name && values.size() >= least) return values;
        }
        throw std::runtime_error("the checkpoint has no usable " + name);
    };
    const std::vector<double>& globals = find("events", 30);
    for (int axis = 0; axis < Dim; ++axis) {
        const double cells = globals[19 + axis];
        if (!(cells >= 1.0 && cells <= 65535.0)) throw std::runtime_error("the checkpoint has no usable cells");
        grid_.cells[axis] = static_cast<std::uint32_t>(cells);
        grid_.edge[axis] = size_[axis] / cells;
        if (cells > 1.0 && grid_.edge[axis] < 2.0 * largest_radius_) {
            throw std::runtime_error("the checkpoint's cells do not fit the scene's balls");
        }
    }
    clock_ = Clock(globals[0], globals[1]);
    now_ = globals[2];
    time_ = state.time;
    speed_scale_ = globals[4];
    load_counts(globals);
    tallies_ = state.tallies;
    tallies_.wall_impulse.resize(kFaces + walls_.size());
    tallies_.wall_heat.resize(kFaces + walls_.size());
    if (!tallies_.lost) tallies_.lost = 0.0;
    events_ = state.step;

    const std::vector<double>& flow = find("events_flow", 5 + 2 * Dim);
    flow_.twice_kinetic = flow[0];
    flow_.mass = flow[1];
    flow_.time = flow[2];
    flow_.twice_kinetic_time = flow[3];
    flow_.gravity_virial_time = flow[4];
    for (int axis = 0; axis < Dim; ++axis) {
        flow_.momentum[axis] = flow[5 + 2 * axis];
        flow_.moment[axis] = flow[6 + 2 * axis];
    }

    // Slots are ids here; sort_slots puts them in order.
    const auto partner = [this](double written) {
        if (written < 0.0) return kNoContact;
        if (written < checkpoint::kWalls) return static_cast<std::uint32_t>(written);
        return count_ + static_cast<std::uint32_t>(written - checkpoint::kWalls);
    };
    for (int axis = 0; axis < Dim; ++axis) {
        const std::string suffix(1, "xyz"[axis]);
        const auto& position = find("events_position_" + suffix, count_);
        const auto& velocity = find("events_velocity_" + suffix, count_);
        const auto& cell = find("events_cell_" + suffix, count_);
        const auto& image = find("events_image_" + suffix, count_);
        for (Slot i = 0; i < count_; ++i) {
            hot_[i].position[axis] = position[i];
            hot_[i].velocity[axis] = velocity[i];
            forecast_[i].cell[axis] = static_cast<std::uint16_t>(cell[i]);
            image_[i][axis] = static_cast<std::int32_t>(image[i]);
        }
        if constexpr (Lists) {
            const auto& centre = find("events_bubble_" + suffix, count_);
            for (Slot i = 0; i < count_; ++i) lists_[i].centre[axis] = centre[i];
        }
    }
    const auto& own_time = find("events_own_time", count_);
    const auto& event_time = find("events_event_time", count_);
    const auto& event_partner = find("events_event_partner", count_);
    const auto& contact_time = find("events_contact_time", count_);
    const auto& contact_partner = find("events_contact_partner", count_);
    const auto& stale = find("events_contact_stale", count_);
    for (Slot i = 0; i < count_; ++i) {
        gone_[i] = state.balls.gone.at(i);
        hot_[i].time = own_time[i];
        forecast_[i].event_time = event_time[i];
        forecast_[i].contact_time = contact_time[i];
        forecast_[i].partner = partner(contact_partner[i]);
        forecast_[i].partner_hits = stale[i] != 0.0 ? kStale : 0;
        next_[i].partner = partner(event_partner[i]);
        next_[i].partner_hits = forecast_[i].partner_hits;
        if (!spin_.empty()) {
            for (int k = 0; k < (Dim == 2 ? 1 : 3); ++k) spin_[i][k] = state.balls.spin[Dim == 2 ? 2 : k].at(i);
        }
    }
    if (!last_hit_.empty()) last_hit_ = find("events_last_hit", count_);
    sort_slots();
    put_into_cells();
    if constexpr (Lists) make_all_lists();
    start_calendar(globals[3]);
    for (Slot i = 0; i < count_; ++i) {
        if (!gone_[i]) calendar_.push({forecast_[i].event_time, i, ++next_[i].stamp});
    }
}

}  // namespace carom
