#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "host/io/checkpoint.hpp"
#include "host/io/trajectory_writer.hpp"
#include "host/observables/average.hpp"
#include "host/observables/observable.hpp"
#include "host/run/solver_plan.hpp"
#include "host/state/balls.hpp"
#include "host/state/solver.hpp"

namespace carom {

/// Where a run's output goes. All calls come from one thread, in the order of the run.
class RunSink {
public:
    virtual ~RunSink() = default;
    /// The frame is on disk when this returns.
    /// \param frame  whole, or its parts one after the other (of a solver's BallsInParts)
    virtual void write_frame(const Frame& frame) = 0;
    virtual void write_row(const ObservableRow& row) = 0;
    /// The averages as of the frame that follows.
    virtual void write_averages(const std::vector<AverageTable>&) {}
    /// \param state  may be taken out and put back, so that it need not be copied; its balls come as a frame's
    /// \return whether it is on disk, where its last part has come; no run goes on from a dead end, and the checkpoint
    ///         before stays
    virtual bool write_checkpoint(SolverState& state) = 0;
};

/// The trajectory and the checkpoint of a run.
class TrajectorySink final : public RunSink {
public:
    /// \param scene    that of the run
    /// \param replace  an older file may go for the first checkpoint; for each other one goes that before
    TrajectorySink(TrajectoryWriter& writer, std::string checkpoint_path, bool replace, const TrajectoryHeader& header,
                   const SolverPlan& plan, const Scene& scene);

    void write_frame(const Frame& frame) override { writer_.append(frame); }
    void write_row(const ObservableRow& row) override { writer_.append_row(row); }
    void write_averages(const std::vector<AverageTable>& tables) override { writer_.append_averages(tables); }
    bool write_checkpoint(SolverState& state) override;

private:
    TrajectoryWriter& writer_;
    std::string checkpoint_path_;
    bool replace_;
    Checkpoint checkpoint_;  // all but the state
    std::optional<CheckpointWriter> checkpoint_writer_;
    const SolverPlan& plan_;
    const Scene& scene_;
};

/// Calls write(state) for a checkpoint of what a solver has now: in parts where it has parts.
/// \param state  room for it
/// \param add    adds what else the run needs
void save_in_parts(Solver& solver, SolverState& state, const std::function<void(SolverState&)>& add,
                   const std::function<void(SolverState&)>& write);

/// Writes on a thread of its own, so that the solver goes on meanwhile. The queue is bounded: whoever is faster waits.
/// What the sink throws comes out of the next call here, and of every one after that; later jobs are dropped.
class OutputQueue {
public:
    /// \param max_frames  frames in flight; 2 let one be filled while one is written
    OutputQueue(Solver& solver, RunSink& sink, std::size_t max_frames);
    /// Writes what is queued, as far as it can; lets no exception out.
    ~OutputQueue();
    OutputQueue(const OutputQueue&) = delete;
    OutputQueue& operator=(const OutputQueue&) = delete;

    /// Queues the solver's current state. Waits while max_frames are in flight.
    void push_frame();
    void push_row(ObservableRow row);
    /// The averages as of the frame that follows.
    void push_averages(std::vector<AverageTable> tables);
    /// Queues a checkpoint of the solver's current state; waits for the checkpoint before it.
    /// \param add  adds what else the run needs
    void push_checkpoint(const std::function<void(SolverState&)>& add);
    /// Waits until everything queued is on disk.
    void drain();

    /// Of the frame that was pushed last; call after drain. None if there was none.
    [[nodiscard]] std::optional<std::uint64_t> last_hash() const;
    /// Written without error so far.
    [[nodiscard]] std::size_t frames_written() const;
    [[nodiscard]] std::size_t rows_written() const;
    /// Simulated time of the last checkpoint on disk, if there is one.
    [[nodiscard]] std::optional<double> checkpoint_time() const;

private:
    struct Slot {
        Frame frame;
        bool complete = false;  ///< the solver is done with it; guarded by copy_mutex_
    };
    struct FrameJob {
        Slot* slot;
    };
    struct CheckpointJob {};
    using Job = std::variant<FrameJob, ObservableRow, CheckpointJob, std::vector<AverageTable>>;

    void work();
    Slot& take_slot();
    void push_slot(Slot& slot);
    void push_frame_in_parts(BallsInParts& balls);
    /// \return false: there is nothing of it on disk
    bool perform(Job& job);
    void complete(Slot& slot);
    void rethrow_if_failed() const;

    Solver& solver_;
    RunSink& sink_;
    const std::size_t max_frames_;
    std::vector<std::unique_ptr<Slot>> slots_;  // all that were ever needed, reused
    Slot* last_slot_ = nullptr;                 // of a frame that is whole
    std::optional<StateHash> hash_of_parts_;    // of the last one that is not
    SolverState checkpoint_;

    std::mutex copy_mutex_;  // the solver copies one frame at a time
    mutable std::mutex mutex_;
    std::condition_variable work_left_;
    std::condition_variable progress_;
    std::deque<Job> jobs_;    // the front one is being performed
    std::deque<Slot*> free_;  // first in, first out, so that the last frame stays as long as possible
    bool checkpoint_busy_ = false;
    bool stopping_ = false;
    std::exception_ptr failure_;
    std::size_t frames_written_ = 0;
    std::size_t rows_written_ = 0;
    std::optional<double> checkpoint_time_;
    std::thread thread_;  // last, so that all else exists when it starts
};

}  // namespace carom
