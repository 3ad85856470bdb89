#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/state/balls.hpp"
#include "host/state/solver_records.hpp"
#include "kernels/core/device_frame.hpp"
#include "kernels/core/picture.hpp"
#include "kernels/core/totals.hpp"

namespace carom {

class BallSampler;
struct BallKinds;

/// What changed a ball's flight, told in order of time.
struct LoggedImpact {
    enum class What : std::uint8_t {
        kBall,        ///< a contact with another one
        kWall,        ///< with a wall
        kThermostat,  ///< no contact: ball i has been given another velocity
        kLeft         ///< nor this: ball i has left the box
    };

    double time = 0.0;
    What what = What::kBall;
    std::uint32_t i = 0;
    std::uint32_t j = 0;   ///< id, or number of the wall
    Vector3 velocity_i{};  ///< afterwards
    Vector3 spin_i{};      ///< 2D: only [2]
    Vector3 velocity_j{};
    Vector3 spin_j{};

    [[nodiscard]] bool is_contact() const { return what == What::kBall || what == What::kWall; }
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
    std::shared_ptr<const BallParts> parts;  ///< who gives them instead; of `balls` there is the species table
    Tallies tallies;
    SolverRecords records;

    [[nodiscard]] std::size_t ball_count() const { return parts != nullptr ? parts->size() : balls.size(); }
    /// Calls take(part) for all balls.
    template <class F>
    void for_each_part(F&& take) const {
        if (parts != nullptr) return parts->each(take);
        take(balls);
    }
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
    /// What the run had come to before the steps and the time that it counts. Before it advances.
    virtual void count_after(std::uint64_t /*steps*/, double /*time*/) {}
    /// Who does the work, and is what a solver may be besides; another one, perhaps, once the run has been changed.
    [[nodiscard]] virtual Solver& itself() { return *this; }
};

/// What a solver is besides whose contacts are events.
class ImpactSource {
public:
    virtual ~ImpactSource() = default;

    /// From now on tells of impacts, during advance_to: of all that these balls have, perhaps of others too.
    /// \param followed  by id, 1 or 0 each
    virtual void watch_impacts(std::function<void(const LoggedImpact&)> watch, std::vector<std::uint8_t> followed) = 0;
    /// What is in the file that impacts are logged to must not go. \throws InputError  there is something
    virtual void require_new_log() = 0;
    /// The run begins: what is in the file that impacts are logged to may go. Nothing where there is no log.
    /// \throws SystemError  the file cannot be written
    virtual void begin_log() = 0;
    /// The run is over, and the file is anyone's from now on.
    virtual void end_log() = 0;
    /// From what another such solver starts from the balls as they are, of which more may be changed, and goes on
    /// counting. In bits it is no resumption.
    [[nodiscard]] virtual SolverState starting_anew() = 0;
    /// What the balls of finite mass have gone since the start of the run, all together [length].
    [[nodiscard]] virtual double path_length() const = 0;
};

/// What a solver is besides whose balls lie with a processor that can look at them there, and draw them.
class BallsInPlace {
public:
    virtual ~BallsInPlace() = default;

    /// Who looks at the balls now; null: they are seen by frames alone. Good until the solver goes on or is asked for
    /// anything else.
    virtual BallSampler* sample_balls(const BallKinds& kinds) = 0;
    /// The balls as they are now, where the processor has them; null: they are in the host's memory.
    virtual std::unique_ptr<DeviceFrame> device_frame() = 0;
    /// Who writes balls for pictures; another one, perhaps, once the solver has gone on.
    [[nodiscard]] virtual PictureSource* pictures() = 0;
};

/// What a solver is besides whose balls are spread over processes of which none has room for all: they come in parts
/// (BallColumns), of which each is asked for by itself.
class BallsInParts {
public:
    virtual ~BallsInParts() = default;

    /// Whether they are.
    [[nodiscard]] virtual bool in_parts() const = 0;
    [[nodiscard]] virtual std::size_t ball_count() const = 0;
    /// Part of the frame of now; complete when this returns.
    virtual void frame_part(std::size_t first, std::size_t count, Frame& part) = 0;
    /// What Solver::save gives beside balls; of those, dimension and species table.
    virtual void save_without_balls(SolverState& state) = 0;
    /// Part of the balls that it gives.
    virtual void save_part(std::size_t first, std::size_t count, Balls& part) = 0;
};

/// Null: a frame has room for all balls.
inline BallsInParts* parts_of(Solver& solver) {
    auto* const balls = dynamic_cast<BallsInParts*>(&solver.itself());
    return balls != nullptr && balls->in_parts() ? balls : nullptr;
}

/// Null: they come by frames alone.
inline PictureSource* pictures_of(Solver& solver) {
    auto* const balls = dynamic_cast<BallsInPlace*>(&solver.itself());
    return balls != nullptr ? balls->pictures() : nullptr;
}

}  // namespace carom
