#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/state/balls.hpp"
#include "host/state/frame.hpp"
#include "kernels/core/picture.hpp"

namespace carom {

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
    /// Begins to copy the current state into `frame`; the solver may be advanced before finish_frame.
    virtual void request_frame(Frame& frame) = 0;
    /// Waits until `frame` (given to request_frame) is complete. May be called from another thread.
    virtual void finish_frame(Frame& frame) = 0;
    /// The raw state for a checkpoint.
    virtual void save(SolverState& state) = 0;
    [[nodiscard]] virtual SolverDescription describe() const = 0;
    [[nodiscard]] virtual SolverReport report() { return {}; }
    /// Who writes balls for pictures where they are; null: they come by frames alone.
    [[nodiscard]] virtual PictureSource* pictures() { return nullptr; }
};

}  // namespace carom
