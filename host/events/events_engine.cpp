#include "host/events/events_engine.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "host/events/engine.hpp"
#include "host/state/errors.hpp"
#include "kernels/physics/pair_distribution.hpp"

namespace carom {

extern template class Engine<2, false, false>;
extern template class Engine<2, true, false>;
extern template class Engine<3, false, false>;
extern template class Engine<3, true, false>;
extern template class Engine<3, false, true>;

namespace {

/// Whether lists pay, by numbers of the scene alone, since the choice belongs to the run's bits.
double list_shell(const EventsSetup& setup, const Balls& balls) {
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
    const double packing_fraction = ball_volume(3, radius) * static_cast<double>(balls.size()) / volume;
    return setup.shell > 0.0 || packing_fraction >= kDense ? asked : 0.0;
}

}  // namespace

std::unique_ptr<EventsEngine> make_events_engine(const EventsSetup& setup, const SolverState& state) {
    if ((setup.friction > 0.0 || setup.wall_friction > 0.0) && setup.simultaneous != SimultaneousLaw::kSequential) {
        throw InputError(
            "friction needs physics.simultaneous = \"sequential\": several contacts at one instant with "
            "friction have no other law here");
    }
    const bool gravity = std::any_of(setup.gravity.begin(), setup.gravity.end(), [](double g) { return g != 0.0; });
    EventsSetup chosen = setup;
    chosen.shell = list_shell(setup, state.balls);
    if (setup.box.dimension == 2) {
        if (gravity) return std::make_unique<Engine<2, true, false>>(chosen, state);
        return std::make_unique<Engine<2, false, false>>(chosen, state);
    }
    if (gravity) return std::make_unique<Engine<3, true, false>>(chosen, state);
    if (chosen.shell > 0.0) return std::make_unique<Engine<3, false, true>>(chosen, state);
    return std::make_unique<Engine<3, false, false>>(chosen, state);
}

SolverState starting_anew(const EventsEngine& engine) {
    SolverState state;
    engine.save(state);
    const EventsStatistics counted = engine.statistics();
    state.records.carried = {.counts = state.records.events->counts,
                             .watch_events = state.records.events->watch_events,
                             .watch_time = state.records.events->watch_time,
                             .twice_kinetic_time = counted.twice_kinetic_time,
                             .gravity_virial_time = counted.gravity_virial_time,
                             .virial_now = counted.virial_now,
                             .path_length = counted.path_length,
                             .last_hit = std::move(state.records.events->last_hit)};
    state.records.events.reset();
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
    // Of a run that is short or slow all of them may be smaller than what the sum's rounding makes of it.
    constexpr double kRounding = 1e-4;  // of the sum is what may be off by 1e-13 of it, where 1e-9 is too much
    largest = std::max(largest, kRounding * virial_size);
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
    return balls_time > 0.0 ? static_cast<double>(meetings()) / balls_time : 0.0;
}

}  // namespace carom
