#include <gmock/gmock.h>

#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "host/backends/spring_backends.hpp"
#include "host/observables/registry.hpp"
#include "host/run/prepare.hpp"
#include "host/run/run_loop.hpp"
#include "host/run/solver_plan.hpp"
#include "host/scene/stages.hpp"
#include "host/spring/spring_solver.hpp"
#include "host/state/errors.hpp"
#include "tests/support/fake_solver.hpp"
#include "tests/support/message_of.hpp"

// What a spring solver is after an engine that it needs in the middle of a run could not be made.

namespace carom::spring_new_engine_test {

using test::message_of;
using testing::HasSubstr;

const char* const kTwoStages = R"(
[scene]
dimension = 2
[box]
size = [10.0, 10.0]
[spring]
stiffness = 1.0e4
dt = 0.01
[[wall]]
shape = "plane"
normal = [1.0, 0.0]
velocity = 0.1
[[ball]]
radius = 0.5
mass = 1.0
position = [2.0, 5.0]
velocity = [-1.0, 0.5]
[[ball]]
radius = 0.5
mass = 1.0
position = [4.0, 5.0]
velocity = [-1.0, 0.0]
[[stage]]
until = 4.0
[[stage]]
until = 8.0
gravity = [0.0, -0.5]
wall_velocity = [-0.2]
)";

/// A spring solver whose engines, from the second on, are made only while `memory` is there.
class SpringNewEngine : public testing::Test {
protected:
    SpringNewEngine() : run_(prepare_scene({.scene = "", .threads = 1, .text = SceneText{"test.toml", kTwoStages}})) {
        stages_[0].until = 400;
        const auto scenes = scenes_of_stages(run_.scene, [](double time) { return time; });
        const SpringDesign design = design_spring(run_.scene, run_.state.balls);
        for (std::size_t k = 0; k < 2; ++k) {
            stages_[k].setup = spring_setup(scenes[k].scene, design, 1);
            stages_[k].setup.walls_step = k * 400;
        }
        stages_[1].setup.margin = 0.3;  // else the engine that there is would do
    }

    std::unique_ptr<Solver> make(const SolverState& state) {
        return make_spring_solver(
            stages_, state, "cpu",
            [this](const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                   const Tallies& tallies) -> std::unique_ptr<SpringEngine> {
                if (step > 0 && !memory) throw std::bad_alloc();
                return std::move(make_spring_processor("cpu", setup, balls, step, tallies).engine);
            });
    }
    static std::uint64_t hash(Solver& solver) {
        Frame frame;
        solver.request_frame(frame);
        solver.finish_frame(frame);
        return state_hash(frame);
    }

    bool memory = true;
    PreparedScene run_;
    std::vector<SpringStage> stages_{2};
};

TEST_F(SpringNewEngine, ThatCannotBeMadeLeavesAStateToGoOnFrom) {
    for (const double rescale_every : {0.0, 3.0}) {
        stages_[0].rescale_every = rescale_every;
        stages_[0].rescale_temperature = 60.0;  // so fast that the margin must be wider
        const double stop = rescale_every > 0.0 ? 3.0 : 4.0;
        memory = true;
        const auto whole = make(run_.state);
        whole->advance_to(8.0, 1000.0);

        const auto solver = make(run_.state);
        solver->advance_to(stop, 1000.0);
        const Tallies counted = solver->tallies();
        EXPECT_NE(counted.work, 0.0);
        memory = false;
        EXPECT_THAT(message_of<SystemError>([&] { solver->advance_to(8.0, 1000.0); }),
                    HasSubstr("the solver could not be set up anew: out of memory"));
        EXPECT_EQ(solver->time(), stop);
        EXPECT_EQ(solver->tallies().work, counted.work);
        EXPECT_EQ(solver->tallies().wall_impulse, counted.wall_impulse);
        EXPECT_EQ(solver->describe().threads, 1);
        EXPECT_THROW(solver->advance_to(8.0, 1000.0), SystemError);
        EXPECT_THROW(solver->totals(), SystemError);
        Frame frame;
        EXPECT_THROW(solver->request_frame(frame), SystemError);
        solver->finish_frame(frame);  // of before, by another thread

        SolverState state;
        solver->save(state);
        memory = true;
        const auto resumed = make(state);
        resumed->advance_to(8.0, 1000.0);
        EXPECT_EQ(hash(*resumed), hash(*whole));
        EXPECT_NEAR(resumed->tallies().work, whole->tallies().work, 1e-9);
    }
}

TEST_F(SpringNewEngine, ThatCannotBeMadeEndsTheRunWithACheckpoint) {
    const auto solver = make(run_.state);
    memory = false;
    ObservableSet observables({});
    test::RecordingSink sink;
    Progress progress(ProgressStyle::kNone, stderr, "steps", 1.0);
    const RunOutcome outcome = run_loop(
        *solver, observables, sink, {.until = 8.0, .frame_every = 1.0, .row_every = 1.0}, progress, [] { return 0; });
    EXPECT_EQ(outcome.status, ExitStatus::kSystemFailure);
    EXPECT_THAT(outcome.error, HasSubstr("at t = 4 the solver could not be set up anew"));
    EXPECT_EQ(outcome.frames, 5U);  // 0 to 4
    ASSERT_EQ(sink.checkpoints.size(), 1U);
    EXPECT_EQ(sink.checkpoints[0].step, 400U);
    EXPECT_EQ(outcome.checkpoint_time, 4.0);
}

}  // namespace carom::spring_new_engine_test
