#pragma once

#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "host/theory/measured_run.hpp"
#include "kernels/physics/equation_of_state.hpp"

namespace carom {

/// What theory needs to know of a stored run, or of the balls of one species in it.
struct GasFacts {
    int dimension = 2;
    double temperature = 0.0;     ///< mean over the rows from a time on [energy]
    double balls = 0.0;           ///< of finite mass
    double number_density = 0.0;  ///< in the volume that centres have: between walls a radius less at each
    double packing_fraction = 0.0;
    bool whole = true;           ///< no other balls are about
    SizeMoments sizes;           ///< of the diameters: for springs, of the hard balls that behave like them
    double periodic_side = 0.0;  ///< of a box that is a periodic square or cube; 0: of others [length]
    /// Balls of one mass and size; else those are means, and only the law of speeds holds.
    bool uniform = true;
    double mass = 0.0;
    double diameter = 0.0;    ///< for springs, that of the hard balls that behave like them
    double radius = 0.0;      ///< the real one
    double softness = 0.0;    ///< SoftContact::softness; of hard balls 0
    double step_phase = 0.0;  ///< of linear springs by velocity Verlet: h = w0 dt of two balls; else 0
    Vector3 gravity{};        ///< while it was measured [length/time^2]
    bool one_gravity = true;  ///< the stages that measure have the same
    /// Nothing keeps the balls out of equilibrium while it is measured: no wall moves, no thermostat rescales, walls
    /// and thermostats have one temperature.
    bool undriven = true;
    /// A thermostat or thermal walls may give and take energy while it is measured.
    bool warmed = false;
    /// They do so to all balls, and several times over: energy is not fixed, but canonical. Of what is warmed, but in
    /// no bath, nobody knows which.
    bool bath = false;
    /// Of the bath, if all balls meet it in each stage that is measured, however slow it is; else 0 [energy].
    double bath_temperature = 0.0;
    /// In which the energy of all balls forgets what it was in that bath, at most [time].
    double bath_time = 0.0;
    /// At which a thermostat replaces velocities, so that balls forget theirs sooner; the most of any stage [1/time].
    double andersen = 0.0;
    /// In which density spreads along each axis in that thermostat, at most; 0 where it has none [time].
    Vector3 spreading_time{};
    /// The axis between two faces of unlike temperatures, between which heat flows while it is measured and nothing
    /// else drives the balls; -1: none.
    int heat_axis = -1;
    std::array<double, 2> wall_temperature{};  ///< of these faces [energy]
    bool left = false;                         ///< a ball has left the box
    bool walls = false;                        ///< there are [[wall]]s, which take room that nobody counts
    bool bodies = false;                       ///< there are balls of infinite mass, which do so too
    bool narrow = false;                       ///< a periodic axis is but a few diameters long
    bool flows = false;  ///< all balls move along a periodic axis, or round in a round wall, and go on so
    int momenta = 0;     ///< axes along which nothing changes the balls' momentum
    /// Of the motion of all balls as a whole where nothing changes it, which may be a chance one [energy].
    double flow_energy = 0.0;
    Vector3 drift{};             ///< velocity of all balls as a whole, along periodic axes, in the mean [length/time]
    double about_drift = 0.0;    ///< temperature without the energy of that motion [energy]
    double measured_time = 0.0;  ///< rows count from a time on [time]
    bool thermal = true;         ///< nothing takes energy away: there is an equilibrium
    /// Share of the balls of each mass, for the law of speeds of a mixture.
    std::vector<std::pair<double, double>> masses;  ///< mass, share

    /// Of a hard one [length^d].
    [[nodiscard]] double ball_volume() const;
    /// Z at the packing fraction.
    [[nodiscard]] double compressibility() const;
    /// Whether the equation of state of a fluid holds for it.
    [[nodiscard]] bool is_fluid() const;
    /// Whether it replaces them so often that balls diffuse between their neighbours, and the same two collide in
    /// bursts: errors of what collisions pass on know too little of these.
    [[nodiscard]] bool collides_in_bursts() const;
    /// Whether the time that is measured is so many of those in which a thermostat lets density spread along an axis
    /// that errors know of that: with 10 they are 1.2 times too small, with 2 1.8 times.
    [[nodiscard]] bool spreads(int axis) const;
    /// Over d / 2 a ball: under gravity what it lifts has to be warmed, too.
    [[nodiscard]] double heat_capacity() const { return has_gravity() ? 1.0 + 2.0 / dimension : 1.0; }
    /// By which heat spreads, of dense hard balls [length^2/time].
    [[nodiscard]] double heat_diffusivity() const;
    [[nodiscard]] bool has_gravity() const { return gravity != Vector3{}; }
    /// Whether some balls may get heat that others never see.
    [[nodiscard]] bool may_miss_bath() const { return warmed && bath_temperature == 0.0; }
    /// Whether theories of equilibrium hold.
    [[nodiscard]] bool equilibrium() const {
        return thermal && undriven && one_gravity && !left && !flows && temperature > 0.0;
    }
};

/// The stages of a run that take part in the time from `from` to `to`; one without stages is one.
std::vector<Stage> stages_of(const Scene& scene, double from = -std::numeric_limits<double>::infinity(),
                             double to = std::numeric_limits<double>::infinity());

/// Whether walls that reflect, moving or at rest, are all that acts on the balls.
bool only_walls_drive(const Stage& stage);

/// Whether contacts take energy away.
bool loses_energy(const Scene& scene);

/// Whether heat goes on flowing through a system that does not change any more: from one bath to another, or from baths
/// into contacts.
bool conducts(const Scene& scene);

/// \param species  empty: all of finite mass
/// \param from     rows from this time on give the temperature, those of stages that measure
GasFacts gas_facts(const MeasuredRun& run, const std::string& species, double from);

}  // namespace carom
