#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/compare/context.hpp"
#include "host/events/events_setup.hpp"
#include "host/state/solver.hpp"

namespace carom {

/// One contact that passed an impulse.
struct HardImpact {
    double time = 0.0;
    std::uint32_t i = 0;
    std::uint32_t j = 0;  ///< a ball, or the number of a wall
    bool wall = false;
};

/// The first collisions of the event-driven run of a scene, and a start shortly before them.
struct HardCourse {
    SolverState start;                ///< the balls at `offset`, as the start of a run of their own (time 0)
    double offset = 0.0;              ///< time of the scene that `start` is at: flight without a contact is left out
    std::vector<HardImpact> impacts;  ///< in order; times since `start`
    double until = 0.0;               ///< where the scene ends, since `start`
    std::optional<double> cluster;    ///< when balls first meet several others at one instant
    std::string stopped;              ///< why the run could not go on; empty if it could
};

/// Runs the scene's balls event by event until `most` contacts have passed an impulse, or to the scene's end.
/// \param lead  time that is kept of the free flight before the first contact
/// \throws InputError  balls overlap at the start
HardCourse follow_hard_course(const Scene& scene, const SolverState& state, std::uint64_t most, double lead,
                              const CompareContext& context);

}  // namespace carom
