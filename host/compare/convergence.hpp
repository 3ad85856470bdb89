#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "host/compare/context.hpp"
#include "host/compare/force_audit.hpp"
#include "host/compare/hard_course.hpp"
#include "host/compare/verdict.hpp"
#include "host/run/prepare.hpp"

namespace carom {

/// How far two runs are apart, over the balls that can be compared.
struct Deviation {
    double median_x = 0.0;  ///< of the balls' distances [length]
    double rms_x = 0.0;
    double max_x = 0.0;
    double median_v = 0.0;  ///< of their differences of velocity [length/time]
    double rms_v = 0.0;
    double max_v = 0.0;
};

/// The runs beside each other at one time.
struct ConvergenceRow {
    double time = 0.0;           ///< of the scene
    std::size_t collisions = 0;  ///< impacts up to then
    std::size_t met = 0;         ///< balls that have collided and are in no contact near this time in any run
    std::size_t linear = 0;      ///< of these, whose deviation still goes as 1 / sqrt(k)
    std::size_t agreeing = 0;  ///< of these, whose extrapolation is that of the reference, to a tenth of the deviation
    std::array<Deviation, 3> from_hard{};  ///< spring runs at k, 4k, 16k from the reference, over the linear ones
    std::array<Deviation, 2> steps{};      ///< between k and 4k, and 4k and 16k
    Deviation limit;                       ///< the extrapolation to k -> infinity from the reference
    Deviation limit_change;                ///< between the extrapolations from two and from three runs
};

/// The spring run at k, 4k and 16k against the event-driven one.
struct Convergence {
    double stiffness = 0.0;            ///< k, the softest
    double raised = 1.0;               ///< k over the scene's own
    double dt = 0.0;                   ///< of the softest run
    double velocity_floor = 0.0;       ///< what the time step does to a collision's speed at worst [length/time]
    double position_floor = 0.0;       ///< and to a position, in the window [length]
    std::vector<ConvergenceRow> rows;  ///< up to the end of the window
    std::size_t impacts = 0;           ///< in the window
    std::string stopped;               ///< why a spring run could not go on; empty if they could
};

/// What the length of a step does to single collisions.
struct StepError {
    std::size_t balls = 0;  ///< that have collided once, and are in no contact
    double rms = 0.0;     ///< of the difference of their velocities, with steps of dt and of dt / 4, over the rms speed
    ForceAudit audit;     ///< of single steps, at dt
    std::string stopped;  ///< why the run could not go on; empty if it could
};

/// Runs the scene's own stiffness and time step, in double precision, beside a quarter of that step, and audits steps.
/// \throws Interrupted
StepError step_error(const Scene& scene, const HardCourse& course, const CompareContext& context);

/// Runs k, 4k, 16k and the reference side by side until fewer than nine tenths of the balls deviate linearly. Raises k,
/// from the scene's own, until the window holds `enough` impacts, as far as that can be paid for.
/// \throws Interrupted
Convergence converge(const Scene& scene, const HardCourse& course, std::size_t enough, const CompareContext& context);

/// The extrapolation of a quantity at k, 4k, 16k that goes as a + b k^(-1/2) + c / k.
inline double richardson(double at_k, double at_4k, double at_16k) { return (at_k - 6.0 * at_4k + 8.0 * at_16k) / 3.0; }

/// The part of `carom compare` on convergence. `result` gets the figures for drawing.
/// \throws InputError  balls overlap at the start
Findings convergence_section(const PreparedScene& run, const CompareContext& context, Convergence& result);

}  // namespace carom
