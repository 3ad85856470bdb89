#include "host/run/run_loop.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>

#include "host/io/replacement.hpp"
#include "host/observables/registry.hpp"
#include "host/run/output_files.hpp"
#include "host/run/progress.hpp"
#include "host/run/row_notes.hpp"
#include "host/run/schedule.hpp"
#include "host/run/signals.hpp"
#include "host/state/errors.hpp"
#include "tests/support/fake_solver.hpp"
#include "tests/support/sample_trajectory.hpp"

namespace carom::run_loop_test {

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

double nearest_quarter(double time) { return std::round(time * 4.0) / 4.0; }

TEST(RowNotes, AreEvenlySpreadAndNoMoreThanSoMany) {
    std::vector<double> times;
    std::vector<double> values;
    RowNotes notes({&times, &values});
    constexpr std::size_t kRows = 5 * RowNotes::kMost + 3;
    for (std::size_t row = 0; row < kRows; ++row) {
        notes.add({static_cast<double>(row), 2.0 * static_cast<double>(row)});
        ASSERT_LE(times.size(), RowNotes::kMost);
        ASSERT_EQ(times.back(), static_cast<double>(row));
    }
    EXPECT_GT(times.size(), RowNotes::kMost / 2);
    EXPECT_EQ(times.front(), 0.0);
    for (std::size_t k = 0; k + 1 < times.size(); ++k) {
        EXPECT_EQ(times[k], 8.0 * static_cast<double>(k));
        EXPECT_EQ(values[k], 2.0 * times[k]);
    }
}

TEST(Schedule, DueTimesAreTheNearestReachableOnes) {
    Schedule schedule(0.6, 0.0, nearest_quarter);
    EXPECT_EQ(schedule.next(), 0.5);
    EXPECT_FALSE(schedule.take(0.25));
    EXPECT_TRUE(schedule.take(0.5));
    EXPECT_EQ(schedule.next(), 1.25);
}

TEST(Schedule, SeveralTimesOnOneStepCountOnce) {
    Schedule schedule(0.01, 0.0, nearest_quarter);
    EXPECT_EQ(schedule.next(), 0.25);
    EXPECT_TRUE(schedule.take(0.25));
    EXPECT_EQ(schedule.next(), 0.5);
}

TEST(Schedule, FindsItsWayAmongMoreTimesThanCanBeGoneThrough) {
    for (const double every : {1e-20, 1e-300, 5e-324}) {
        Schedule schedule(every, 1e6, nearest_quarter);
        EXPECT_EQ(schedule.next(), 1e6 + 0.25);
        EXPECT_TRUE(schedule.take(1e6 + 0.25));
        EXPECT_EQ(schedule.next(), 1e6 + 0.5);
    }
}

TEST(Schedule, IsNeverDueBeyondWhatCanBeCounted) {
    const auto any = [](double time) { return time; };
    EXPECT_TRUE(std::isinf(Schedule(1e-200, 1e119, any).next()));
}

TEST(Schedule, CountsFromTimeZeroWhereverItStarts) {
    EXPECT_EQ(Schedule(0.75, 1.25, nearest_quarter).next(), 1.5);
    EXPECT_EQ(Schedule(0.75, 1.5, nearest_quarter).next(), 2.25);
    // 7 * 0.6 = 4.2 is reached at 4.25, so from there on the eighth is next; from 4.0 on it is the seventh.
    EXPECT_EQ(Schedule(0.6, 4.25, nearest_quarter).next(), 4.75);
    EXPECT_EQ(Schedule(0.6, 4.0, nearest_quarter).next(), 4.25);
}

TEST(Schedule, MultiplesAreTheDecimalNumbersThatOneMeans) {
    const auto any = [](double time) { return time; };
    EXPECT_EQ(Schedule(0.1, 0.2, any).next(), 0.3);
    EXPECT_EQ(Schedule(1.1, 3.0, any).next(), 3.3);
    EXPECT_EQ(Schedule(2.5e-4, 0.99999, any).next(), 1.0);
    EXPECT_EQ(Schedule(1.0 / 3.0, 0.5, any).next(), 2.0 * (1.0 / 3.0));
    EXPECT_EQ(SampleSchedule({.every = 0.7}, 2.0, any).next(), 2.1);
}

TEST(Schedule, EveryZeroIsNever) { EXPECT_TRUE(std::isinf(Schedule(0.0, 0.0, nearest_quarter).next())); }

TEST(CountDue, IsWhatASchedulesTimesAreCountedOneByOne) {
    const auto any_time = [](double time) { return time; };
    int cases = 0;
    for (const double every : {0.01, 0.1, 0.25, 0.3, 0.6, 1.0 / 3.0, 0.7, 1.1, 7.0, 100.0}) {
        for (const double from : {0.0, 0.25, 3.0, 4.25}) {
            for (const double until : {0.25, 3.0, 4.2, 4.25, 4.3, 9.0, 21.0}) {
                for (const bool quarters : {true, false}) {
                    const std::function<double(double)> reachable = quarters ? nearest_quarter : +any_time;
                    const double end = reachable(until);
                    if (end <= from) continue;
                    Schedule schedule(every, from, reachable);
                    std::uint64_t counted = 2;  // both ends
                    for (; schedule.next() < end; ++counted) schedule.take(schedule.next());
                    EXPECT_EQ(count_due(every, from, until, reachable, quarters ? 0.25 : 0.0), counted)
                        << "every " << every << " from " << from << " until " << until << " quarters " << quarters;
                    ++cases;
                }
            }
        }
    }
    EXPECT_GT(cases, 200);
}

TEST(CountDue, HasTheEndsAloneWhereNothingIsDueAndOneOfARunOfNoLength) {
    EXPECT_EQ(count_due(0.0, 0.0, 9.0, nearest_quarter, 0.25), 2u);
    EXPECT_EQ(count_due(0.5, 9.0, 9.0, nearest_quarter, 0.25), 1u);
}

TEST(CountDue, IsQuickWhateverTheInterval) {
    const auto any_time = [](double time) { return time; };
    EXPECT_EQ(count_due(1e-9, 0.0, 1.0, any_time, 0.0), 1'000'000'001u);
    EXPECT_GT(count_due(1e-300, 0.0, 1.0, any_time, 0.0), 1'000'000'000'000'000'000u);
    EXPECT_EQ(count_due(1e-300, 0.0, 100.0, nearest_quarter, 0.25), 401u);
}

ProgressState half_way() {
    return {.fraction = 0.5,
            .time = 5.0,
            .until = 10.0,
            .work_per_second = 1.9e8,
            .work_name = "ball-steps",
            .seconds_left = 3725.0};
}

TEST(ProgressText, SaysHowFarHowFastAndHowLong) {
    EXPECT_EQ(progress_text(half_way(), 0), " 50 %  t = 5 of 10  1.9e+08 ball-steps/s  1:02:05 left");
}

TEST(ProgressText, DrawsABarWhereThereIsRoom) {
    EXPECT_EQ(progress_text(half_way(), 90),
              " 50 % [============>           ]  t = 5 of 10  1.9e+08 ball-steps/s  1:02:05 left");
}

TEST(ProgressText, FitsAnyWidth) {
    for (int width = 1; width < 120; ++width) {
        EXPECT_LE(progress_text(half_way(), width).size(), static_cast<std::size_t>(width));
    }
}

TEST(ProgressText, ClaimsNoTimeLeftBeforeItIsKnown) {
    ProgressState state = half_way();
    state.seconds_left = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(progress_text(state, 0).find("left"), std::string::npos);
}

TEST(OutputFiles, NamesFollowFromTheScene) {
    EXPECT_EQ(default_trajectory("scenes/gas2d.toml"), "gas2d.h5");
    EXPECT_EQ(default_trajectory("gas2d"), "gas2d.h5");
    EXPECT_EQ(default_checkpoint("out/gas2d.h5"), "out/gas2d.checkpoint.h5");
    EXPECT_EQ(default_checkpoint("gas2d"), "gas2d.checkpoint.h5");
}

TEST(OutputFiles, AResumedRunGetsTheNextFreeNumber) {
    const auto folder = std::filesystem::temp_directory_path() / "carom-output-files-test";
    std::filesystem::create_directories(folder);
    const std::string base = (folder / "gas").string();
    EXPECT_EQ(default_resumed_trajectory(base + ".checkpoint.h5"), base + "-2.h5");
    EXPECT_EQ(default_resumed_trajectory(base + "-2.checkpoint.h5"), base + "-3.h5");
    std::ofstream(base + "-2.h5") << "x";
    EXPECT_EQ(default_resumed_trajectory(base + ".checkpoint.h5"), base + "-3.h5");
    EXPECT_EQ(default_resumed_trajectory(base + "-dense.h5"), base + "-dense-2.h5");
    EXPECT_EQ(default_resumed_trajectory(base + "-2147483647.h5"), base + "-2147483647-2.h5");
    std::filesystem::remove_all(folder);
}

TEST(OutputFiles, NamesOfTheSameFileAreKnown) {
    const test::TemporaryFolder folder;
    const std::string file = folder.file("a.h5");
    const std::string link = folder.file("link.h5");
    std::filesystem::create_symlink("a.h5", link);
    for (const bool exists : {false, true}) {
        if (exists) std::ofstream(file) << "x";
        EXPECT_TRUE(same_file(file, folder.file("./a.h5")));
        EXPECT_TRUE(same_file(link, file));
        EXPECT_EQ(target_of(link), file);
        EXPECT_FALSE(same_file(file, folder.file("b.h5")));
    }
    EXPECT_FALSE(same_file("", ""));
    std::filesystem::create_symlink("circle", folder.file("circle"));
    EXPECT_THROW(target_of(folder.file("circle")), SystemError);
}

TEST(SignalGuard, WithinAnotherKnowsWhatHasCome) {
    const SignalGuard outer;
    std::raise(SIGTERM);
    {
        const SignalGuard inner;
        EXPECT_EQ(inner.caught(), SIGTERM);
    }
    EXPECT_EQ(outer.caught(), SIGTERM);
}

TEST(SignalGuard, BeginsWithoutThoseOfOneBefore) {
    {
        const SignalGuard before;
        std::raise(SIGTERM);
        EXPECT_EQ(before.caught(), SIGTERM);
    }
    EXPECT_EQ(SignalGuard().caught(), 0);
}

TEST(ShellQuoted, PlainNamesStayAndOthersSurviveTheShell) {
    EXPECT_EQ(shell_quoted("out/gas-2.h5"), "out/gas-2.h5");
    EXPECT_EQ(shell_quoted("my gas.h5"), "'my gas.h5'");
    EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
    EXPECT_EQ(shell_quoted(""), "''");
}

}  // namespace carom::run_loop_test
