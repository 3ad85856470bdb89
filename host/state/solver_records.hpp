#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/state/box.hpp"

// What a state holds beside balls and tallies: each part of a run puts its own record there, and takes it back to the
// same bits. How records lie in a checkpoint: host/io/checkpoint.cpp, docs/file-format.md.

namespace carom {

/// What the spring solver's numbers were at the start; they follow from balls that a checkpoint no longer has.
struct SpringRecord {
    double stiffness = 0.0;           ///< [force/length]
    double wall_stiffness = 0.0;      ///< [force/length]
    double damping = 0.0;             ///< gamma, ball to ball and ball to wall, where the scene gives it [mass/time]
    double damping_ratio = 0.0;       ///< zeta of every pair, from restitution; 0 where `damping` is given
    double wall_damping_ratio = 0.0;  ///< zeta at walls, from wall_restitution; 0 where `damping` is given
    double dt = 0.0;                  ///< [time]
    double design_speed = 0.0;        ///< the largest speed to expect [length/time]
    double contact_duration = 0.0;    ///< the shortest of any pair or wall; 0 where nothing can touch [time]
};

/// Where the event-driven solver is among its stages and thermostats.
struct EventsProgress {
    std::uint64_t stage = 0;
    std::uint64_t visits = 0;  ///< of the thermostat, in this stage
    std::uint64_t draws = 0;   ///< visits that drew velocities, in all stages
};

/// What event-driven engines count, and hand on from one to the next.
struct EventsCounts {
    std::uint64_t ball_collisions = 0;
    std::uint64_t wall_collisions = 0;
    std::uint64_t heavy_collisions = 0;  ///< of the ball collisions, those with a body of infinite mass
    std::uint64_t clusters = 0;          ///< instants at which several contacts were resolved together
    std::uint64_t gave_up = 0;           ///< of these, finished with restitution 0
    std::uint64_t elastic_by_tc = 0;
    std::uint64_t elastic_by_cutoff = 0;
    std::uint64_t epochs = 0;
    double collisional_virial = 0.0;  ///< sum over pair impacts of r_ij . dp_i, r_ij = r_i - r_j [energy time]
    std::array<double, 6> collisional_stress{};  ///< the same by components, as StressTensor
    double wall_virial = 0.0;                    ///< sum over wall impacts of r_i . dp_i
    double seam_virial = 0.0;    ///< what positions that jump by a period, and pairs across a periodic face, add
    double virial_start = 0.0;   ///< sum r_i . p_i at the start, less what left with balls through open faces
    double path_length = 0.0;    ///< of all ways of balls of finite mass so far [length]
    double worst_overlap = 0.0;  ///< deepest overlap of two balls, or a ball and a wall, ever met [length]
};

/// The event-driven engine's own account: balls at their own last events, and their forecasts, which no one could
/// predict again to the same bits. Arrays are by id.
struct EventsRecord {
    std::array<std::vector<double>, 3> position, velocity;  ///< at the balls' own times
    std::array<std::vector<double>, 3> cell, image;         ///< whole numbers
    std::array<std::vector<double>, 3> bubble;              ///< centres; only with neighbour lists
    std::vector<double> own_time, event_time, contact_time;
    std::vector<double> event_partner, contact_partner;  ///< an id; 2^32 and the number of a side or wall; none: -1
    std::vector<double> contact_stale;                   ///< 1: the partner has collided since
    std::vector<double> last_hit;                        ///< only with events.tc

    // Sums over all balls, and their integrals over time (host/events/accounts.hpp).
    double twice_kinetic = 0.0, mass = 0.0, flow_time = 0.0;
    double twice_kinetic_time = 0.0, gravity_virial_time = 0.0;
    Vector3 momentum{}, moment{};

    double clock_high = 0.0, clock_low = 0.0;  ///< start of the epoch
    double now = 0.0;                          ///< since then
    double calendar_end = 0.0;
    double speed_scale = 0.0;
    std::uint64_t watch_events = 0;  ///< the number of events at which it is looked whether time goes on
    double watch_time = 0.0;         ///< at the last such look
    std::array<double, 3> cells{};   ///< along each axis
    EventsCounts counts;
};

/// What an event-driven engine takes over from another, whose balls it starts from.
struct EventsCarried {
    EventsCounts counts;
    std::uint64_t watch_events = 0;
    double watch_time = 0.0;
    double twice_kinetic_time = 0.0, gravity_virial_time = 0.0;
    double virial_now = 0.0;
    double path_length = 0.0;
    std::vector<double> last_hit;  ///< as in EventsRecord
};

/// The numbers of one average, in an order that only the average knows.
struct SavedAverage {
    std::string name;  ///< of its [[observe]]
    std::vector<double> numbers;
};

/// All records of a state; those that a run has no use for are not there.
struct SolverRecords {
    std::optional<EventsRecord> events;
    std::optional<EventsCarried> carried;        ///< between two engines; in no checkpoint
    bool flown = false;                          ///< its balls are those of another run's end; in no checkpoint
    std::optional<std::uint64_t> thermal_draws;  ///< events: velocities drawn by thermal walls so far
    std::optional<EventsProgress> events_progress;
    std::optional<std::uint64_t> spring_stage;  ///< number of the stage, of several
    std::vector<SavedAverage> averages;         ///< of [[observe]]
    std::vector<double> row_means;              ///< of the rows; empty: none
    std::optional<SpringRecord> spring;
    bool changed = false;  ///< somebody has kicked balls: theories do not hold
};

}  // namespace carom
