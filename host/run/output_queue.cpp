#include "host/run/output_queue.hpp"

#include <utility>

#include "kernels/core/team.hpp"

namespace carom {

namespace {

/// Rows are small; this bounds the queue when a disk stalls.
constexpr std::size_t kMaxJobs = 4096;

}  // namespace

TrajectorySink::TrajectorySink(TrajectoryWriter& writer, std::string checkpoint_path, const TrajectoryHeader& header,
                               const SolverPlan& plan)
    : writer_(writer), checkpoint_path_(std::move(checkpoint_path)), plan_(plan) {
    checkpoint_.scene_path = header.scene_path;
    checkpoint_.scene_source = header.scene_source;
    checkpoint_.description = header.description;
}

void TrajectorySink::write_checkpoint(SolverState& state) {
    plan_.store(state);
    std::swap(checkpoint_.state, state);  // a state may be gigabytes
    try {
        save_checkpoint(checkpoint_path_, checkpoint_);
    } catch (...) {
        std::swap(checkpoint_.state, state);
        throw;
    }
    std::swap(checkpoint_.state, state);
}

OutputQueue::OutputQueue(Solver& solver, RunSink& sink, std::size_t max_frames)
    : solver_(solver), sink_(sink), max_frames_(max_frames), thread_(start_thread([this] { work(); })) {}

OutputQueue::~OutputQueue() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    work_left_.notify_all();
    thread_.join();
}

void OutputQueue::push_frame() {
    Slot* slot = nullptr;
    {
        std::unique_lock lock(mutex_);
        rethrow_if_failed();
        // Even if one is free: so the memory that a run takes does not depend on how fast the disk is.
        if (slots_.size() < max_frames_) {
            slots_.push_back(std::make_unique<Slot>());
            free_.push_front(slots_.back().get());
        }
        progress_.wait(lock, [this] { return !free_.empty() || failure_; });
        rethrow_if_failed();
        slot = free_.front();
        free_.pop_front();
    }
    if (last_slot_ != nullptr) complete(*last_slot_);
    last_slot_ = slot;
    slot->complete = false;
    solver_.request_frame(slot->frame);
    {
        const std::lock_guard lock(mutex_);
        jobs_.emplace_back(FrameJob{slot});
    }
    work_left_.notify_one();
}

void OutputQueue::complete(Slot& slot) {
    const std::lock_guard lock(copy_mutex_);
    if (slot.complete) return;
    solver_.finish_frame(slot.frame);
    slot.complete = true;
}

void OutputQueue::push_row(ObservableRow row) {
    {
        std::unique_lock lock(mutex_);
        progress_.wait(lock, [this] { return jobs_.size() < kMaxJobs || failure_; });
        rethrow_if_failed();
        jobs_.emplace_back(std::move(row));
    }
    work_left_.notify_one();
}

void OutputQueue::push_averages(std::vector<AverageTable> tables) {
    {
        const std::lock_guard lock(mutex_);
        rethrow_if_failed();
        jobs_.emplace_back(std::move(tables));  // one a frame, and frames are bounded
    }
    work_left_.notify_one();
}

void OutputQueue::push_checkpoint(const std::function<void(SolverState&)>& add) {
    {
        std::unique_lock lock(mutex_);
        progress_.wait(lock, [this] { return !checkpoint_busy_ || failure_; });
        rethrow_if_failed();
    }
    solver_.save(checkpoint_);
    add(checkpoint_);
    {
        const std::lock_guard lock(mutex_);
        checkpoint_busy_ = true;
        jobs_.emplace_back(CheckpointJob{});
    }
    work_left_.notify_one();
}

void OutputQueue::drain() {
    std::unique_lock lock(mutex_);
    progress_.wait(lock, [this] { return jobs_.empty(); });
    rethrow_if_failed();
}

std::size_t OutputQueue::frames_written() const {
    const std::lock_guard lock(mutex_);
    return frames_written_;
}

std::size_t OutputQueue::rows_written() const {
    const std::lock_guard lock(mutex_);
    return rows_written_;
}

std::optional<double> OutputQueue::checkpoint_time() const {
    const std::lock_guard lock(mutex_);
    return checkpoint_time_;
}

void OutputQueue::rethrow_if_failed() const {
    if (failure_) std::rethrow_exception(failure_);
}

void OutputQueue::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        work_left_.wait(lock, [this] { return !jobs_.empty() || stopping_; });
        if (jobs_.empty()) return;
        Job& job = jobs_.front();  // a deque's elements stay where they are while others are added behind
        lock.unlock();
        std::exception_ptr error;
        try {
            perform(job);
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        if (error && !failure_) failure_ = error;
        const bool written = !failure_;
        if (const auto* frame_job = std::get_if<FrameJob>(&job)) {
            free_.push_back(frame_job->slot);
            frames_written_ += written ? 1 : 0;
        } else if (std::holds_alternative<ObservableRow>(job)) {
            rows_written_ += written ? 1 : 0;
        } else if (std::holds_alternative<CheckpointJob>(job)) {
            checkpoint_busy_ = false;
            if (written) checkpoint_time_ = checkpoint_.time;
        }
        jobs_.pop_front();
        progress_.notify_all();
    }
}

void OutputQueue::perform(Job& job) {
    bool failed = false;
    {
        const std::lock_guard lock(mutex_);
        failed = static_cast<bool>(failure_);
    }
    if (auto* frame_job = std::get_if<FrameJob>(&job)) {
        complete(*frame_job->slot);  // also after a failure: the solver may still be copying into it
        if (!failed) sink_.write_frame(frame_job->slot->frame);
    } else if (failed) {
        return;
    } else if (auto* row = std::get_if<ObservableRow>(&job)) {
        sink_.write_row(*row);
    } else if (auto* tables = std::get_if<std::vector<AverageTable>>(&job)) {
        sink_.write_averages(*tables);
    } else {
        sink_.write_checkpoint(checkpoint_);
    }
}

}  // namespace carom
