#include "host/events/events_engine.hpp"

#include <algorithm>
#include <cmath>

#include "host/events/engine.hpp"
#include "host/events/engine_lists.hpp"
#include "host/state/errors.hpp"

namespace carom {

extern template class Engine<2, false, false>;
extern template class Engine<2, true, false>;
extern template class Engine<3, false, false>;
extern template class Engine<3, true, false>;
extern template class Engine<3, false, true>;

std::unique_ptr<EventsEngine> make_events_engine(const EventsSetup& setup, const SolverState& state) {
    if ((setup.friction > 0.0 || setup.wall_friction > 0.0) && setup.simultaneous != SimultaneousLaw::kSequential) {
        throw InputError(
            "friction needs physics.simultaneous = \"sequential\": several contacts at one instant with "
            "friction have no other law here");
    }
    const bool gravity = std::any_of(setup.gravity.begin(), setup.gravity.end(), [](double g) { return g != 0.0; });
    if (setup.box.dimension == 2) {
        if (gravity) return std::make_unique<Engine<2, true, false>>(setup, state);
        return std::make_unique<Engine<2, false, false>>(setup, state);
    }
    if (gravity) return std::make_unique<Engine<3, true, false>>(setup, state);
    if (list_shell(setup, state.balls) > 0.0) return std::make_unique<Engine<3, false, true>>(setup, state);
    return std::make_unique<Engine<3, false, false>>(setup, state);
}

SolverState starting_anew(const EventsEngine& engine) {
    SolverState state;
    engine.save(state);
    std::vector<double> carried;
    for (const auto& [key, values] : state.extra) {
        if (key == "events") carried = values;
    }
    const EventsStatistics counted = engine.statistics();
    for (const double value :
         {counted.twice_kinetic_time, counted.gravity_virial_time, counted.virial_now, counted.path_length})
        carried.push_back(value);
    std::erase_if(state.extra, [](const auto& extra) { return extra.first.starts_with("events"); });
    state.extra.emplace_back("carried", std::move(carried));
    for (int axis = 0; axis < state.balls.dimension; ++axis) {
        for (std::size_t id = 0; id < state.balls.size(); ++id) {
            if (state.balls.gone[id] != 0) state.balls.position[axis][id] = state.balls.velocity[axis][id] = 0.0;
        }
    }
    return state;
}

std::uint64_t predict_events_memory(const EventsSetup& setup, const Balls& balls) {
    // Per ball, with its share of cells and calendar, and what the calendar's current part takes whatever the number:
    // measured on gases of all densities.
    constexpr std::uint64_t kFixed = 30'000;
    const bool disks = setup.box.dimension == 2;
    const bool gravity = setup.gravity != Vector3{};
    std::uint64_t bytes = disks ? 215 : (!gravity && list_shell(setup, balls) > 0.0 ? 300 : 220);
    if (setup.friction > 0.0 || setup.wall_friction > 0.0) bytes += disks ? 16 : 32;  // spin, radius of gyration
    if (setup.tc > 0.0) bytes += 8;
    return kFixed + bytes * balls.size();
}

double EventsStatistics::virial_defect() const {
    const double gained = virial_now - virial_start;
    const double terms[] = {gained,      twice_kinetic_time, collisional_virial,
                            wall_virial, seam_virial,        gravity_virial_time};
    double largest = 0.0;
    for (double term : terms) largest = std::max(largest, std::abs(term));
    const double defect =
        gained - twice_kinetic_time - collisional_virial - wall_virial - seam_virial - gravity_virial_time;
    return largest > 0.0 ? std::abs(defect) / largest : 0.0;
}

double EventsStatistics::mean_free_path() const {
    const std::uint64_t ends = meetings() + wall_collisions;
    return ends > 0 ? path_length / static_cast<double>(ends) : 0.0;
}

double EventsStatistics::collision_rate() const {
    const double balls_time = static_cast<double>(mobile) * elapsed;
    return balls_time > 0.0 ? 2.0 * static_cast<double>(ball_collisions) / balls_time : 0.0;
}

}  // namespace carom
