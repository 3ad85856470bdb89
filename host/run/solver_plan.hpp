#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/scene/design.hpp"
#include "host/scene/scene.hpp"
#include "host/state/solver.hpp"

namespace carom {

class EnginePack;
struct BallSizes;
struct EventsSetup;
struct SpringSetup;

/// One number that a plan tells of itself.
struct PlanFact {
    std::string key;  ///< in JSON
    double value = 0.0;
    std::string name = {};  ///< for people; empty: only in JSON
    std::string text = {};  ///< the value with its unit, for people
};

/// What a solver's work is counted in.
struct WorkUnit {
    std::string name;       ///< "ball-steps"
    std::string key;        ///< of its rate in JSON: "ball_steps_per_second"
    std::string step_name;  ///< of one Solver::step: "step"
    double per_step = 1.0;
};

/// What follows from a scene and its balls for the solver that the scene asks for, before anything is computed. One
/// class a solver, chosen by make_plan.
class SolverPlan {
public:
    virtual ~SolverPlan() = default;

    /// \param state    the initial balls at step 0, or what Solver::save gave
    /// \param log      CSV file of every collision, which begins with ImpactSource::begin_log or the first collision;
    /// empty:
    ///     none
    /// \throws InputError   the balls cannot be what the solver starts from; or it keeps no such log
    /// \throws SystemError  the log cannot be written; or there is no such device
    [[nodiscard]] virtual std::unique_ptr<Solver> make_solver(const SolverState& state,
                                                              const std::string& log) const = 0;

    /// The same, for a run beside others, with which it shares launches on a GPU; null: that changes nothing.
    [[nodiscard]] virtual std::shared_ptr<const SolverPlan> in_pack(const std::shared_ptr<EnginePack>&) const {
        return nullptr;
    }

    [[nodiscard]] virtual std::string name() const = 0;       ///< as run.solver
    [[nodiscard]] virtual std::string processor() const = 0;  ///< "cpu" or "cuda"
    [[nodiscard]] virtual std::string precision() const = 0;  ///< "single" or "double"
    [[nodiscard]] virtual WorkUnit work() const = 0;

    /// As Solver::reachable_time.
    [[nodiscard]] virtual double reachable_time(double time) const = 0;
    /// Steps of a run from the plan's state to `until`; 0 if only the run itself can tell.
    [[nodiscard]] virtual std::uint64_t steps_to(double until) const = 0;
    /// When a run of so many steps ends. \throws InputError  the solver has no steps of a known length
    [[nodiscard]] virtual double time_of_step(std::uint64_t step) const = 0;
    /// No two frames or rows are nearer than this in time; 0: no limit.
    [[nodiscard]] virtual double least_interval() const = 0;

    /// Held by the processor's memory while it runs [bytes].
    [[nodiscard]] virtual std::uint64_t memory_bytes() const = 0;
    /// How ranks would share the run, and what each would take.
    struct RankShare {
        std::array<int, 3> layers{1, 1, 1};  ///< into which the axes are cut
        std::uint64_t bytes = 0;             ///< held by each, for its balls
        std::uint64_t alone = 0;             ///< that memory_bytes() has for the same
    };
    /// \param layers  0: as is best
    /// \throws InputError  it cannot be shared so
    [[nodiscard]] virtual RankShare share(int ranks, const std::array<int, 3>& layers) const;
    /// What a user should know before the run, one sentence each.
    [[nodiscard]] virtual std::vector<std::string> warnings() const = 0;
    /// Why nothing can come of the run, with the key; empty where something can.
    [[nodiscard]] virtual std::string hopeless() const { return ""; }
    /// Why no ball of the run may be given this speed: "would ..."; empty where it may.
    [[nodiscard]] virtual std::string too_fast(double /*speed*/) const { return ""; }
    /// The derived numbers, for `check`.
    [[nodiscard]] virtual std::vector<PlanFact> facts() const = 0;
    /// The derived numbers in a few words, for the start summary.
    [[nodiscard]] virtual std::string headline() const = 0;

    /// What a checkpoint must hold besides the solver's own state.
    virtual void store(SolverState&) const {}
};

/// \param state  the initial balls, or those of a checkpoint with what store() left in it
/// \param balls  of the state
/// \throws InputError  the solver cannot run this
std::shared_ptr<const SolverPlan> make_plan(const Scene& scene, const SolverState& state, const MeasuredBalls& balls,
                                            int threads);
std::shared_ptr<const SolverPlan> make_plan(const Scene& scene, const SolverState& state, int threads);
/// The same for the spring solver, whichever the scene asks for.
std::shared_ptr<const SolverPlan> make_spring_plan(const Scene& scene, const SolverState& state, int threads);

/// The plain numbers of an event-driven run from a scene.
EventsSetup events_setup(const Scene& scene);
/// The plain numbers of a spring run from a scene and its design.
SpringSetup spring_setup(const Scene& scene, const SpringDesign& design, int threads);
/// What processors must know of the balls before a spring run.
BallSizes ball_sizes(const MeasuredBalls& balls);

}  // namespace carom
