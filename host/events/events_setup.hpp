#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/events/simultaneous.hpp"
#include "host/state/box.hpp"
#include "host/state/solver.hpp"
#include "host/state/wall.hpp"

namespace carom {

/// What an event-driven run needs to know, in plain numbers.
struct EventsSetup {
    Box box;
    std::vector<Wall> walls;  ///< numbered from 6 on

    std::uint64_t seed = 0;   ///< of thermal walls and thermostat
    double walls_time = 0.0;  ///< simulated time at which moving walls stand at their offset [time]

    Vector3 gravity{};  ///< [length/time^2]
    double restitution = 1.0;
    double friction = 0.0;
    double wall_restitution = 1.0;
    double wall_friction = 0.0;
    SimultaneousLaw simultaneous = SimultaneousLaw::kReflect;
    double tc = 0.0;            ///< a ball that collides again within tc does so elastically [time]; 0: off
    double cutoff_speed = 0.0;  ///< approaches slower than this are elastic [velocity]; 0: off

    double epoch = 0.0;  ///< length of an epoch [time], a power of two; 0: chosen. For tests.
    double cell = 0.0;   ///< least edge of a cell [largest diameters]; 0: chosen. Changes bits, never physics.
    double shell = 0.0;  ///< reach of neighbour lists [diameters], up to 2; 0: chosen; at most 1: cells. As `cell`.
};

/// What an event-driven run has counted since its start, beside the solver's Tallies.
struct EventsStatistics {
    std::uint64_t ball_collisions = 0;
    std::uint64_t wall_collisions = 0;
    std::uint64_t heavy_collisions = 0;  ///< of the ball collisions, those with a body of infinite mass
    std::uint64_t clusters = 0;          ///< instants at which several contacts were resolved together
    std::uint64_t gave_up = 0;           ///< of these, finished with restitution 0
    std::uint64_t elastic_by_tc = 0;
    std::uint64_t elastic_by_cutoff = 0;
    std::uint64_t epochs = 0;
    double collisional_virial = 0.0;    ///< sum over pair impacts of r_ij . dp_i, r_ij = r_i - r_j [energy time]
    StressTensor collisional_stress{};  ///< the same by components
    double wall_virial = 0.0;           ///< sum over wall impacts of r_i . dp_i
    double seam_virial = 0.0;           ///< what positions that jump by a period, and pairs across a periodic face, add
    double twice_kinetic_time = 0.0;    ///< integral of 2 K dt, translation
    double gravity_virial_time = 0.0;   ///< integral of sum r_i . F_i dt
    double virial_start = 0.0;          ///< sum r_i . p_i at the start, less what left with balls through open faces
    double virial_now = 0.0;            ///< the same now
    double elapsed = 0.0;               ///< simulated time that all these cover
    double path_length = 0.0;           ///< of all ways of balls of finite mass so far [length]
    double worst_overlap = 0.0;         ///< deepest overlap of two balls, or a ball and a wall, ever met [length]
    std::uint64_t mobile = 0;           ///< balls of finite mass still in

    /// How often a ball of finite mass has met another ball, counted for each of the two.
    [[nodiscard]] std::uint64_t meetings() const { return 2 * ball_collisions - heavy_collisions; }
    /// What the identity d(sum r . p) = 2 K dt + sum r . dp + sum r . F dt is off by, as a fraction of its largest
    /// term.
    [[nodiscard]] double virial_defect() const;
    /// Mean path of the balls of finite mass between two collisions, with balls or walls [length]; 0 before any.
    [[nodiscard]] double mean_free_path() const;
    /// Ball collisions per ball and time, each counted for both balls.
    [[nodiscard]] double collision_rate() const;
};

}  // namespace carom
