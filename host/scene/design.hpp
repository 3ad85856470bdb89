#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"
#include "host/state/solver_records.hpp"
#include "kernels/physics/contact_laws.hpp"

namespace carom {

/// What the balls of a scene are like, whichever solver runs them.
struct BallFigures {
    double rms_speed = 0.0;         ///< of the initial balls of finite mass [length/time]
    double packing_fraction = 0.0;  ///< of the box
    double size_ratio = 1.0;        ///< largest over smallest radius
};

BallFigures measure_balls(const Scene& scene, const Balls& balls);

/// What follows from a scene for the spring solver: every "auto" replaced by its number.
struct SpringDesign : BallFigures, SpringRecord {
    ContactLawKind law{};        ///< whose units those of the stiffness and of the damping are
    std::uint64_t steps = 0;     ///< to run.until: round(until / dt)
    double thermal_speed = 0.0;  ///< sqrt(T/m) of the lightest species, 0 without a temperature [length/time]
    double phase_step = 0.0;     ///< h = w0 dt of the stiffest contact; its worst speed error is h^2 / 8

    [[nodiscard]] SoftContact pair_contact() const { return {law, {stiffness, damping, damping_ratio}}; }
    [[nodiscard]] SoftContact wall_contact() const { return {law, {wall_stiffness, damping, wall_damping_ratio}}; }
};

SpringDesign design_spring(const Scene& scene, const Balls& balls);

/// What a user should know before a run, one sentence each.
/// \param quantum  the smallest step of a position, largest over the axes [length]; 0: unknown, or doubles
std::vector<std::string> design_warnings(const Scene& scene, const Balls& balls, const SpringDesign& design,
                                         double quantum = 0.0);

}  // namespace carom
