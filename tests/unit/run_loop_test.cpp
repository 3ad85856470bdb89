#include "host/run/run_loop.hpp"

#include <gmock/gmock.h>

#include <memory>

#include "host/observables/registry.hpp"
#include "tests/support/fake_solver.hpp"
#include "tests/support/recording_sink.hpp"

namespace carom {
namespace {

using test::FakeSolver;
using test::RecordingSink;
using testing::ElementsAre;
using testing::HasSubstr;

class RunLoopTest : public testing::Test {
protected:
    RunOutcome run(const RunPlan& plan) {
        ObservableSet observables({});
        Progress progress(ProgressStyle::kNone, stderr, "steps", 1.0);
        return run_loop(solver, observables, sink, plan, progress, interrupted);
    }

    FakeSolver solver;
    RecordingSink sink;
    std::function<int()> interrupted = [] { return 0; };
};

TEST_F(RunLoopTest, WritesFramesAndRowsAtTheirTimesAndBothEnds) {
    const RunOutcome outcome = run({.until = 2.0, .frame_every = 0.75, .row_every = 0.5});
    EXPECT_EQ(outcome.status, ExitStatus::kDone);
    EXPECT_THAT(sink.frame_times(), ElementsAre(0.0, 0.75, 1.5, 2.0));
    EXPECT_THAT(sink.row_times(), ElementsAre(0.0, 0.5, 1.0, 1.5, 2.0));
    EXPECT_EQ(outcome.frames, 4u);
    EXPECT_EQ(outcome.rows, 5u);
    EXPECT_EQ(outcome.step, 8u);
}

TEST_F(RunLoopTest, EveryZeroWritesTheFirstAndTheLast) {
    run({.until = 2.0});
    EXPECT_THAT(sink.frame_times(), ElementsAre(0.0, 2.0));
    EXPECT_THAT(sink.row_times(), ElementsAre(0.0, 2.0));
    EXPECT_THAT(solver.targets, ElementsAre(2.0)) << "the step loop was stopped for nothing";
}

TEST_F(RunLoopTest, MoreFramesThanStepsGiveOneFrameAStep) {
    run({.until = 1.0, .frame_every = 0.01});
    EXPECT_THAT(sink.frame_times(), ElementsAre(0.0, 0.25, 0.5, 0.75, 1.0));
}

TEST_F(RunLoopTest, ASignalAfterTheLastStepEndsNothing) {
    interrupted = [&] { return solver.time() < 2.0 ? 0 : 15; };
    const RunOutcome outcome = run({.until = 2.0, .frame_every = 0.75});
    EXPECT_EQ(outcome.signal, 0) << "what is done cannot be resumed";
    EXPECT_EQ(outcome.step, 8u);
}

TEST_F(RunLoopTest, CheckpointsAtTheirTimesAndAtTheEnd) {
    const RunOutcome outcome = run({.until = 2.0, .checkpoint_every = 0.8});
    ASSERT_EQ(sink.checkpoints.size(), 3u);
    EXPECT_EQ(sink.checkpoints[0].time, 0.75);
    EXPECT_EQ(sink.checkpoints[1].time, 1.5);
    EXPECT_EQ(sink.checkpoints[2].time, 2.0);
    EXPECT_EQ(outcome.checkpoint_time, 2.0);
}

TEST_F(RunLoopTest, HashIsThatOfTheLastFrameWhenTheWriterIsSlow) {
    sink.delay = std::chrono::milliseconds(2);
    const RunOutcome outcome = run({.until = 5.0, .frame_every = 0.25});
    ASSERT_EQ(sink.frames.size(), 21u);
    EXPECT_EQ(outcome.hash, state_hash(sink.frames.back()));
    for (std::size_t k = 0; k < sink.frames.size(); ++k) EXPECT_EQ(sink.frames[k].step, k) << "a frame was overwritten";
}

TEST_F(RunLoopTest, AnInterruptWritesAFrameARowAndACheckpointWhereItStands) {
    solver.steps_per_slice = 1;
    int looks = 0;
    interrupted = [&] { return ++looks == 3 ? 15 : 0; };
    const RunOutcome outcome = run({.until = 100.0, .frame_every = 50.0, .row_every = 50.0});
    EXPECT_EQ(outcome.status, ExitStatus::kDone);
    EXPECT_EQ(outcome.signal, 15);
    EXPECT_THAT(sink.frame_times(), ElementsAre(0.0, 0.75));
    EXPECT_THAT(sink.row_times(), ElementsAre(0.0, 0.75));
    ASSERT_EQ(sink.checkpoints.size(), 1u);
    EXPECT_EQ(sink.checkpoints[0].step, 3u);
}

TEST_F(RunLoopTest, AFaultWritesItsFrameAndACheckpoint) {
    solver.fault_at = 6;
    const RunOutcome outcome = run({.until = 100.0, .frame_every = 1.0});
    EXPECT_EQ(outcome.status, ExitStatus::kCannotContinue);
    EXPECT_THAT(outcome.error, HasSubstr("ball 1"));
    EXPECT_THAT(sink.frame_times(), ElementsAre(0.0, 1.0, 1.5));
    ASSERT_EQ(sink.checkpoints.size(), 1u);
    EXPECT_EQ(sink.checkpoints[0].step, 6u);
}

TEST_F(RunLoopTest, AFullDiskEndsTheRunWithWhatIsWrittenAndACheckpoint) {
    sink.fail_at_frame = 3;
    const RunOutcome outcome = run({.until = 1000.0, .frame_every = 1.0});
    EXPECT_EQ(outcome.status, ExitStatus::kSystemFailure);
    EXPECT_EQ(outcome.error, "disk full");
    EXPECT_EQ(outcome.frames, 3u);
    EXPECT_LT(outcome.time, 1000.0) << "the run went on for nothing";
    EXPECT_EQ(sink.checkpoints.size(), 1u);
}

TEST_F(RunLoopTest, AFullDiskForCheckpointsTooKeepsTheFirstError) {
    sink.fail_at_frame = 3;
    sink.checkpoints_fail = true;
    const RunOutcome outcome = run({.until = 10.0, .frame_every = 1.0});
    EXPECT_EQ(outcome.status, ExitStatus::kSystemFailure);
    EXPECT_FALSE(outcome.checkpoint_time);
}

TEST_F(RunLoopTest, AnErrorOfTheProcessorEndsTheRunWithACheckpoint) {
    solver.device_fails_at = 4;
    const RunOutcome outcome = run({.until = 2.0, .frame_every = 0.5, .row_every = 0.5});
    EXPECT_EQ(outcome.status, ExitStatus::kSystemFailure);
    EXPECT_EQ(outcome.error, "cudaMemcpy failed on GPU");
    EXPECT_EQ(outcome.frames, 3u) << "a frame that was still on its way was not counted";
    EXPECT_EQ(outcome.checkpoint_time, 1.0);
}

TEST_F(RunLoopTest, ALostDeviceIsASystemFailure) {
    solver.device_lost = true;
    const RunOutcome outcome = run({.until = 10.0});
    EXPECT_EQ(outcome.status, ExitStatus::kSystemFailure);
    EXPECT_EQ(outcome.error, "the device is lost");
}

TEST_F(RunLoopTest, ARunGoesOnAtTheSameTimesAsIfItHadNeverStopped) {
    solver.advance_to(1.25, 1.0);
    run({.until = 3.0, .frame_every = 0.75, .row_every = 1.0});
    EXPECT_THAT(sink.frame_times(), ElementsAre(1.25, 1.5, 2.25, 3.0));
    EXPECT_THAT(sink.row_times(), ElementsAre(1.25, 2.0, 3.0));
}

}  // namespace
}  // namespace carom
