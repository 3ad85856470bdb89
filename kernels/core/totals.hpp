#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

// What solvers, and the processors below them, say of all balls together.

namespace carom {

/// A symmetric tensor: xx, yy, zz, xy, xz, yz; in 2D what has a z is 0.
using StressTensor = std::array<double, 6>;

/// Sums over all balls at one time, velocities at that very time: equal to the bit on every processor.
struct Totals {
    double kinetic = 0.0;                      ///< translational kinetic energy [energy]
    double rotational = 0.0;                   ///< spin energy [energy]
    double spring = 0.0;                       ///< energy stored in contacts, walls included [energy]
    double gravitational = 0.0;                ///< -sum m g . (x - box.min), balls of infinite mass left out [energy]
    std::array<double, 3> momentum{};          ///< balls of finite mass only
    std::array<double, 3> angular_momentum{};  ///< about the box's centre, orbital part plus spin; 2D: only [2]
    double virial = 0.0;                       ///< sum over pairs of r_ij . F_ij, r_ij = x_i - x_j, F_ij on i [energy]
    StressTensor pair_stress{};       ///< sum over pairs of r_ij F_ij, component by component; its trace is the virial
    std::uint64_t contacts = 0;       ///< pairs in contact
    std::uint64_t wall_contacts = 0;  ///< ball-wall contacts
    double overlap = 0.0;             ///< largest overlap now, as a fraction of the smaller radius
    double speed = 0.0;               ///< largest speed
    std::uint64_t balls = 0;          ///< balls still in
    std::uint64_t mobile = 0;         ///< of these, with finite mass

    [[nodiscard]] double energy() const { return kinetic + rotational + spring + gravitational; }
};

/// What has been counted since the start of the run (kept across a restart).
struct Tallies {
    std::vector<double>
        wall_impulse;  ///< normal impulse given to each wall, 0 to 5 the faces, then [[wall]] entries [momentum]
    double max_overlap = 0.0;      ///< largest overlap ever, as a fraction of the smaller radius
    std::uint64_t balls_left = 0;  ///< through open faces
    std::uint64_t sorts = 0;       ///< spring: how often the balls were sorted into cells
    std::uint64_t events = 0;      ///< events: of all kinds
    std::uint64_t collisions = 0;  ///< events: contacts that passed an impulse
    /// events: sum over pair impacts of r_ij . dp_i, r_ij = x_i - x_j, dp_i the momentum that i gained [energy time];
    /// the time integral of Totals::virial, which is 0 between impacts
    std::optional<double> collisional_virial = {};
    /// events: the same by components, (r_a dp_b + r_b dp_a) / 2; its trace is collisional_virial
    StressTensor collisional_stress{};
    /// events: how often a ball of finite mass has met another ball, counted for each of the two
    std::uint64_t meetings = 0;

    // The energy balance: what the balls' energy has changed by is heat() + work - lost.
    std::vector<double> wall_heat = {};  ///< energy given by each thermal wall, one per wall as wall_impulse [energy]
    double thermostat_heat = 0.0;        ///< energy given by a thermostat [energy]
    /// Energy given by what moves or changes: walls, bodies of infinite mass, gravity [energy].
    double work = 0.0;
    /// Energy lost in contacts, and with balls that left through open faces [energy]; none where it is not counted.
    std::optional<double> lost = {};

    [[nodiscard]] double heat() const {
        double sum = thermostat_heat;
        for (const double heat : wall_heat) sum += heat;
        return sum;
    }
};

}  // namespace carom
