#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/state/balls.hpp"
#include "host/state/frame.hpp"
#include "kernels/core/picture.hpp"

namespace carom {

class BallSampler;
struct BallKinds;

/// A symmetric tensor: xx, yy, zz, xy, xz, yz; in 2D what has a z is 0.
using StressTensor = std::array<double, 6>;

/// Sums over all balls at one time, velocities at that very time. Each is computed in double, in fixed blocks
/// in a fixed tree over ids, so it is equal to the bit on every processor.
struct Totals {
    double kinetic = 0.0;             ///< translational kinetic energy [energy]
    double rotational = 0.0;          ///< spin energy [energy]
    double spring = 0.0;              ///< energy stored in contacts, walls included [energy]
    double gravitational = 0.0;       ///< -sum m g . (x - box.min), balls of infinite mass left out [energy]
    Vector3 momentum{};               ///< balls of finite mass only
    Vector3 angular_momentum{};       ///< about the box's centre, orbital part plus spin; 2D: only [2]
    double virial = 0.0;              ///< sum over pairs of r_ij . F_ij, r_ij = x_i - x_j, F_ij on i [energy]
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

/// One contact that passed an impulse, told in order of time.
struct LoggedImpact {
    double time = 0.0;
    bool wall = false;
    std::uint32_t i = 0;
    std::uint32_t j = 0;   ///< id, or number of the wall
    Vector3 velocity_i{};  ///< afterwards
    Vector3 spin_i{};      ///< 2D: only [2]
    Vector3 velocity_j{};
    Vector3 spin_j{};
    bool thermostat = false;  ///< no contact at all: ball i has been given another velocity
};

/// What a solver has to say of a run beside its totals and tallies.
struct SolverReport {
    std::vector<std::pair<std::string, double>> figures = {};  ///< by their keys in JSON
    std::vector<std::string> lines = {};                       ///< for the end summary
    std::vector<std::string> warnings = {};                    ///< results that should not be trusted, and why
};

/// How a solver describes itself: stored in files, printed by `run` and `info`.
struct SolverDescription {
    std::string solver;   ///< "spring" | "events"
    std::string backend;  ///< "cpu" | "cuda" | "emulated"
    std::string device;   ///< the processor's or GPU's name
    int threads = 1;
    std::string precision;                                   ///< "single" | "double"
    double dt = 0.0;                                         ///< spring only
    std::uint64_t memory_bytes = 0;                          ///< held by the solver now
    std::vector<std::pair<std::string, double>> parameters;  ///< stiffness, damping, margin, ...
};

/// All that is needed to go on to the same bits: the raw state (velocities as the integrator holds them).
struct SolverState {
    std::uint64_t step = 0;
    double time = 0.0;
    Balls balls;  ///< raw; positions and velocities convert to the solver's own form and back without loss
    Tallies tallies;
    std::vector<std::pair<std::string, std::vector<double>>> extra;  ///< what else a solver needs, by name
};

/// A solver over one scene. One instance is used from one thread.
class Solver {
public:
    virtual ~Solver() = default;

    [[nodiscard]] virtual double time() const = 0;
    [[nodiscard]] virtual std::uint64_t step() const = 0;
    /// The time that a run to `time` really ends at (spring: the nearest step).
    [[nodiscard]] virtual double reachable_time(double time) const = 0;
    /// Goes on towards `time` (rounded as reachable_time) and returns true when there; returns false early
    /// after about `seconds` of wall time, so that the caller can look at signals and draw progress.
    /// Where and how often one stops never changes the trajectory.
    /// \throws SimulationError  when the simulation cannot go on; the state stays that of the fault.
    virtual bool advance_to(double time, double seconds) = 0;

    [[nodiscard]] virtual Totals totals() = 0;
    [[nodiscard]] virtual Tallies tallies() = 0;
    /// What the balls of finite mass have gone since the start of the run, all together [length]; none where it is not
    /// counted.
    [[nodiscard]] virtual std::optional<double> path_length() { return std::nullopt; }
    /// Begins to copy the current state into `frame`; the solver may be advanced before finish_frame.
    virtual void request_frame(Frame& frame) = 0;
    /// Waits until `frame` (given to request_frame) is complete. May be called from another thread.
    virtual void finish_frame(Frame& frame) = 0;
    /// Who looks at the balls now, where they are; null: they are seen by frames alone. Good until the solver goes on
    /// or is asked for anything else.
    virtual BallSampler* sample_balls(const BallKinds& /*kinds*/) { return nullptr; }
    /// The raw state for a checkpoint.
    virtual void save(SolverState& state) = 0;
    [[nodiscard]] virtual SolverDescription describe() const = 0;
    [[nodiscard]] virtual SolverReport report() { return {}; }
    /// From now on tells of impacts, during advance_to: of all that these balls have, perhaps of others too.
    /// \param followed  by id, 1 or 0 each
    /// \return false  this solver has no impacts
    virtual bool watch_impacts(std::function<void(const LoggedImpact&)> /*watch*/,
                               std::vector<std::uint8_t> /*followed*/) {
        return false;
    }
    /// The run begins: what is in the file that impacts are logged to may go. Nothing where there is no log.
    /// \throws SystemError  the file cannot be written
    virtual void begin_log() {}
    /// Who writes balls for pictures where they are; null: they come by frames alone.
    [[nodiscard]] virtual PictureSource* pictures() { return nullptr; }
};

}  // namespace carom
