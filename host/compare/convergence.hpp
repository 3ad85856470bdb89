#pragma once

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "host/compare/context.hpp"
#include "host/run/prepare.hpp"

namespace carom {

/// The stiffnesses of the runs: from one to the next overlaps and durations halve. Linear springs: k, 4k, 16k.
struct StiffnessSteps {
    double softness = 0.5;  ///< SoftContact::softness: overlaps, durations and deviations go as k^(-softness)

    /// Of a run, over that of the first.
    [[nodiscard]] double times(std::size_t run) const { return std::exp2(static_cast<double>(run) / softness); }
    /// Overlaps at so many times the stiffness, over those at it.
    [[nodiscard]] double fall(double times) const { return std::pow(times, -softness); }
    [[nodiscard]] std::string name(std::size_t run) const {
        return run == 0 ? "k" : fmt::format("{:.3g}k", times(run));
    }
    [[nodiscard]] std::string all_names() const { return fmt::format("k, {}, {}", name(1), name(2)); }
    [[nodiscard]] std::string fall_name() const {
        return softness == 0.5 ? "1 / sqrt(k)" : fmt::format("k^-{:g}", softness);
    }
};

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
    std::size_t linear = 0;      ///< of these, whose deviation still goes as k^(-softness)
    std::size_t agreeing = 0;  ///< of these, whose extrapolation is that of the reference, to a tenth of the deviation
    std::array<Deviation, 3> from_hard{};  ///< spring runs from the reference, over the linear ones
    std::array<Deviation, 2> steps{};      ///< between each and the next
    Deviation limit;                       ///< the extrapolation to k -> infinity from the reference
    Deviation limit_change;                ///< between the extrapolations from two and from three runs
};

/// The spring run at three stiffnesses against the event-driven one.
struct Convergence {
    StiffnessSteps steps;
    double stiffness = 0.0;            ///< k, the softest
    double raised = 1.0;               ///< k over the scene's own
    double dt = 0.0;                   ///< of the softest run
    double velocity_floor = 0.0;       ///< what the time step does to a collision's speed at worst [length/time]
    double position_floor = 0.0;       ///< and to a position, in the window [length]
    std::vector<ConvergenceRow> rows;  ///< up to the end of the window
    std::size_t impacts = 0;           ///< in the window
    bool few = false;                  ///< so few balls were between contacts at each time that none told
    bool apart = true;                 ///< contacts of a ball do not overlap in time at the scene's own k
    std::string stopped;               ///< why a spring run could not go on; empty if they could
};

/// The part of `carom compare` on convergence. `result` gets the figures for drawing.
/// \throws InputError  balls overlap at the start
Findings convergence_section(const PreparedScene& run, const CompareContext& context, Convergence& result);

}  // namespace carom
