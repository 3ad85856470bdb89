#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"
#include "host/state/solver.hpp"
#include "host/state/solver_records.hpp"
#include "kernels/core/at_fault.hpp"
#include "kernels/physics/contact_laws.hpp"

namespace carom {

inline constexpr double kMostSteps = 9.2e18;  ///< that std::llround counts in 63 bits

/// What the balls of a scene are like, whichever solver runs them.
struct BallFigures {
    double rms_speed = 0.0;         ///< of the initial balls of finite mass [length/time]
    double packing_fraction = 0.0;  ///< of the box
    double size_ratio = 1.0;        ///< largest over smallest radius
    double mean_radius = 0.0;       ///< of all balls of finite mass, which push walls [length]
    bool bodies_move = false;       ///< bodies of infinite mass do, which give and take energy as walls that move

    // Sums over the balls of finite mass that are in.
    double mobile = 0.0;         ///< how many
    double mobile_mass = 0.0;    ///< [mass]
    double mobile_radius = 0.0;  ///< [length]
    double kinetic = 0.0;        ///< [energy]
};

/// A species that has balls in the scene.
struct PresentSpecies {
    double radius = 0.0;   ///< [length]
    double mass = 0.0;     ///< [mass]; may be infinite
    double fastest = 0.0;  ///< of its initial balls [length/time]
    std::uint64_t count = 0;

    [[nodiscard]] bool mobile() const;
};

/// The balls of a run, gone over once for all that is derived from them.
struct MeasuredBalls : BallFigures {
    std::vector<PresentSpecies> species;  ///< in the order of the species table
    SpeciesById species_of;               ///< of each ball
};

MeasuredBalls measure_balls(const Scene& scene, const SolverState& state);
MeasuredBalls measure_balls(const Scene& scene, const Balls& balls);

/// The largest speed to expect of balls, without what moving walls add; 0 where nothing moves [length/time].
double expected_speed(const Scene& scene, const MeasuredBalls& balls);

/// Two kinds of balls that can touch, or a kind of ball and a wall.
struct PossibleContact {
    double reduced_mass = 0.0;    ///< [mass]
    double smaller_radius = 0.0;  ///< [length]
    double approach = 0.0;        ///< speed to design for [length/time]
    bool wall = false;
};

/// Of all contacts that at least one ball of finite mass takes part in, those that matter: the smallest reduced mass,
/// and for each smaller radius and approach the largest one, are among them. At most three for each species, found in
/// a time that grows as n log n: a scene may give every ball a mass of its own.
/// \param walls         whether there are any
/// \param design_speed  of balls of finite mass [length/time]; the others keep the speeds that they have
std::vector<PossibleContact> extreme_contacts(const std::vector<PresentSpecies>& species, bool walls,
                                              double design_speed);

/// What follows from a scene for the spring solver: every "auto" replaced by its number.
struct SpringDesign : BallFigures, SpringRecord {
    ContactLawChoice law{};      ///< whose units those of the stiffness and of the damping are
    std::uint64_t steps = 0;     ///< to run.until: round(until / dt)
    double thermal_speed = 0.0;  ///< sqrt(T/m) of the lightest species, 0 without a temperature [length/time]
    double phase_step = 0.0;     ///< h = w0 dt of the stiffest contact; its worst speed error is h^2 / 8

    [[nodiscard]] SoftContact pair_contact() const { return {law, stiffness, damping, damping_ratio}; }
    [[nodiscard]] SoftContact wall_contact() const { return {law, wall_stiffness, damping, wall_damping_ratio}; }
};

SpringDesign design_spring(const Scene& scene, const MeasuredBalls& balls);
SpringDesign design_spring(const Scene& scene, const Balls& balls);

/// What a user should know before a run, one sentence each.
/// \param quantum  the smallest step of a position, largest over the axes [length]; 0: unknown, or doubles
std::vector<std::string> design_warnings(const Scene& scene, const MeasuredBalls& balls, const SpringDesign& design,
                                         double quantum = 0.0);

/// Why the time step makes balls explode whatever they do; empty where it does not.
std::string instability(const SpringDesign& design);

/// The label (Sources) of the key that a number which the spring solver cannot run with follows from: where the number
/// is "auto", it is looked up what the design made it from, and so on. Empty where the scene has no such key.
std::string label_at_fault(const Scene& scene, const MeasuredBalls& balls, const SpringDesign& design, AtFault fault);

}  // namespace carom
