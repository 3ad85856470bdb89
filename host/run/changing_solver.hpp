#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/run/solver_plan.hpp"
#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"
#include "host/state/solver.hpp"

namespace carom {

/// What a user does to a ball, as with a cue.
struct Kick {
    std::size_t id = 0;
    Vector3 velocity{};  ///< that the ball has then [length/time]
    bool add = false;    ///< to what it had; otherwise instead of it
};

/// A scene with other values of some keys in the middle of a run.
/// \param asked  as overrides_from takes them
/// \param stage  which the run is in
/// \param dt     of the run, which stays unless it is what is asked for; 0: it has none
/// \throws InputError  the scene may not be so
Scene changed_scene(Scene scene, std::vector<std::string> asked, std::size_t stage, double dt);

/// The solver of a run that others may change while it goes on. Each change saves the state and makes another solver
/// from it; steps, time, and what is counted go on. Until the first change all bits are those of the solver alone, and
/// the same changes at the same steps give the same bits.
class ChangingSolver final : public Solver {
public:
    using Columns = std::array<std::vector<double>, 3>;  // by axis and id
    static constexpr double kFewestSteps = 10.0;         ///< a contact; `check` warns of fewer

    /// \param plan, state, log  as SolverPlan::make_solver has them; the log ends with the first change
    /// \param threads           that other solvers may take
    ChangingSolver(Scene scene, std::shared_ptr<const SolverPlan> plan, const SolverState& state, int threads,
                   const std::string& log = "");

    [[nodiscard]] double time() const override { return solver_->time() + time_before_; }
    [[nodiscard]] std::uint64_t step() const override { return solver_->step() + steps_before_; }
    [[nodiscard]] double reachable_time(double time) const override {
        return solver_->reachable_time(time - time_before_) + time_before_;
    }
    bool advance_to(double time, double seconds) override { return solver_->advance_to(time - time_before_, seconds); }
    [[nodiscard]] Totals totals() override { return solver_->totals(); }
    [[nodiscard]] Tallies tallies() override;
    void request_frame(Frame& frame) override;
    void finish_frame(Frame& frame) override { solver_->finish_frame(frame); }
    /// As SolverState is for the plan of now: of time and steps since that was made.
    void save(SolverState& state) override;
    [[nodiscard]] SolverDescription describe() const override { return solver_->describe(); }
    [[nodiscard]] SolverReport report() override { return solver_->report(); }
    [[nodiscard]] Solver& itself() override { return *solver_; }

    /// With all changes.
    [[nodiscard]] const Scene& scene() const { return scene_; }
    [[nodiscard]] const SolverPlan& plan() const { return *plan_; }
    /// As SolverPlan::time_of_step, of this run.
    [[nodiscard]] double time_of_step(std::uint64_t step) const {
        return plan_->time_of_step(step - steps_before_) + time_before_;
    }
    /// Whether the state can be saved for others to go on from. Not after a change of keys, of which only this solver
    /// knows from when on they hold.
    [[nodiscard]] bool can_be_saved() const { return keys_ == 0; }
    /// Which stage of the scene the run is in.
    [[nodiscard]] std::size_t stage() const;

    // No frame may be on its way during what follows.

    /// Where one can go back to, as long as no key is another.
    struct Moment {
        SolverState state;
        std::uint64_t step = 0;
        double time = 0.0;
    };
    [[nodiscard]] Moment moment();
    void go_back(const Moment& moment);

    /// Afterwards the ball has that velocity in frames; of springs to the forces' first order in the time step, for
    /// those may depend on it. \returns  "ball 0 kicked to [0, 1]"
    /// \throws InputError  there is no such ball, or not any more; or it would be too fast for the solver
    std::string kick(const Kick& kick);
    /// The same for all balls. \param velocity  of a ball that has left the box, anything
    /// \throws InputError  it is of other axes or another number of balls
    void set_velocities(const Columns& velocity);
    /// Other values of keys, with the time step as it is unless that is what changes. In a scene with stages it is so
    /// from the present one on, until a later one that has the same key.
    /// \param asked  as overrides_from takes them
    /// \returns  what to beware of; empty if nothing
    /// \throws InputError  the scene may not be so, or the state speaks against it, or a time step that resolves no
    ///     contact; the solver is as it was
    std::string change(const std::vector<std::string>& asked);

private:
    using Give = std::function<void(Columns& velocity, const std::vector<std::uint8_t>& gone)>;

    [[nodiscard]] Scene rest_of(const Scene& scene, std::size_t stage) const;
    void synchronise(SolverState& state);
    void rebuild(const SolverPlan& plan, const SolverState& state, std::uint64_t step, double time);
    void give_velocities(const Give& give);

    int threads_;
    Scene scene_;
    Scene begun_;                    // what the solver was made for: its time and its stages begin with the solver's
    std::size_t stages_before_ = 0;  // that begun_ no longer has
    std::shared_ptr<const SolverPlan> plan_;
    std::unique_ptr<Solver> solver_;
    std::size_t keys_ = 0;            // that are others
    std::uint64_t steps_before_ = 0;  // that the solver, made in the middle of the run, does not count
    double time_before_ = 0.0;        // likewise
    double work_ = 0.0;               // by the change that the solver was made for [energy]
};

}  // namespace carom
