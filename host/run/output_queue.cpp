#include "host/run/output_queue.hpp"

#include <algorithm>
#include <utility>

#include "host/io/trajectory_header.hpp"
#include "kernels/core/team.hpp"

namespace carom {

namespace {

/// Rows are small; this bounds the queue when a disk stalls.
constexpr std::size_t kMaxJobs = 4096;

}  // namespace

TrajectorySink::TrajectorySink(TrajectoryWriter& writer, std::string checkpoint_path, bool replace,
                               const TrajectoryHeader& header, const SolverPlan& plan, const Scene& scene)
    : writer_(writer), checkpoint_path_(std::move(checkpoint_path)), replace_(replace), plan_(plan), scene_(scene) {
    checkpoint_.scene_path = header.scene_path;
    checkpoint_.scene_source = header.scene_source;
    checkpoint_.description = header.description;
}

bool TrajectorySink::write_checkpoint(SolverState& state) {
    plan_.store(state);
    if (is_dead_end(state, scene_)) return false;
    std::swap(checkpoint_.state, state);  // a state may be gigabytes
    try {
        const Balls& balls = checkpoint_.state.balls;
        if (balls.first == 0) {
            checkpoint_writer_.reset();  // of one that was not finished
            checkpoint_writer_.emplace(checkpoint_path_, checkpoint_, balls.size() + balls.rest, replace_);
        }
        checkpoint_writer_.value().add(balls);
        if (balls.rest == 0) {
            checkpoint_writer_->finish(checkpoint_.state);
            checkpoint_writer_.reset();
            replace_ = true;
        }
    } catch (...) {
        checkpoint_writer_.reset();
        std::swap(checkpoint_.state, state);
        throw;
    }
    std::swap(checkpoint_.state, state);
    return true;
}

namespace {

/// Calls f(first, count) for each part of the balls as files want them.
template <class F>
void for_each_part(const BallsInParts& balls, F&& f) {
    const std::size_t all = balls.ball_count();
    const std::size_t most = balls_per_chunk(all);
    std::size_t first = 0;
    do {
        const std::size_t count = std::min(most, all - first);
        f(first, count);
        first += count;
    } while (first < all);
}

}  // namespace

void save_in_parts(Solver& solver, SolverState& state, const std::function<void(SolverState&)>& add,
                   const std::function<void(SolverState&)>& write) {
    BallsInParts* const parts = parts_of(solver);
    if (parts == nullptr) {
        solver.save(state);
        add(state);
        write(state);
        return;
    }
    parts->save_without_balls(state);
    add(state);
    for_each_part(*parts, [&](std::size_t first, std::size_t count) {
        parts->save_part(first, count, state.balls);
        write(state);
    });
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

OutputQueue::Slot& OutputQueue::take_slot() {
    std::unique_lock lock(mutex_);
    rethrow_if_failed();
    // Even if one is free: so the memory that a run takes does not depend on how fast the disk is.
    if (slots_.size() < max_frames_) {
        slots_.push_back(std::make_unique<Slot>());
        free_.push_front(slots_.back().get());
    }
    progress_.wait(lock, [this] { return !free_.empty() || failure_; });
    rethrow_if_failed();
    Slot* const slot = free_.front();
    free_.pop_front();
    return *slot;
}

void OutputQueue::push_slot(Slot& slot) {
    {
        const std::lock_guard lock(mutex_);
        jobs_.emplace_back(FrameJob{&slot});
    }
    work_left_.notify_one();
}

void OutputQueue::push_frame() {
    if (BallsInParts* const parts = parts_of(solver_)) return push_frame_in_parts(*parts);
    Slot& slot = take_slot();
    if (last_slot_ != nullptr) complete(*last_slot_);
    last_slot_ = &slot;
    slot.complete = false;
    solver_.request_frame(slot.frame);
    push_slot(slot);
}

void OutputQueue::push_frame_in_parts(BallsInParts& balls) {
    StateHash hash;
    hash_of_parts_.reset();
    for_each_part(balls, [&](std::size_t first, std::size_t count) {
        Slot& slot = take_slot();
        slot.complete = true;
        balls.frame_part(first, count, slot.frame);
        hash.add(slot.frame);
        push_slot(slot);
    });
    hash_of_parts_ = hash;
}

std::optional<std::uint64_t> OutputQueue::last_hash() const {
    if (hash_of_parts_) return hash_of_parts_->value();
    if (last_slot_ == nullptr) return std::nullopt;
    return state_hash(last_slot_->frame);
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
    const auto wait = [this] {
        std::unique_lock lock(mutex_);
        progress_.wait(lock, [this] { return !checkpoint_busy_ || failure_; });
        rethrow_if_failed();
    };
    wait();
    save_in_parts(solver_, checkpoint_, add, [&](const SolverState& state) {
        const bool last = state.balls.rest == 0;
        {
            const std::lock_guard lock(mutex_);
            checkpoint_busy_ = true;
            jobs_.emplace_back(CheckpointJob{});
        }
        work_left_.notify_one();
        if (!last) wait();  // for its room
    });
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
        bool kept = false;
        try {
            kept = perform(job);
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        if (error && !failure_) failure_ = error;
        const bool written = !failure_;
        if (const auto* frame_job = std::get_if<FrameJob>(&job)) {
            free_.push_back(frame_job->slot);
            frames_written_ += written && frame_job->slot->frame.rest == 0 ? 1 : 0;
        } else if (std::holds_alternative<ObservableRow>(job)) {
            rows_written_ += written ? 1 : 0;
        } else if (std::holds_alternative<CheckpointJob>(job)) {
            checkpoint_busy_ = false;
            if (written && kept && checkpoint_.balls.rest == 0) checkpoint_time_ = checkpoint_.time;
        }
        jobs_.pop_front();
        progress_.notify_all();
    }
}

bool OutputQueue::perform(Job& job) {
    bool failed = false;
    {
        const std::lock_guard lock(mutex_);
        failed = static_cast<bool>(failure_);
    }
    if (auto* frame_job = std::get_if<FrameJob>(&job)) {
        complete(*frame_job->slot);  // also after a failure: the solver may still be copying into it
        if (!failed) sink_.write_frame(frame_job->slot->frame);
    } else if (failed) {
        return false;
    } else if (auto* row = std::get_if<ObservableRow>(&job)) {
        sink_.write_row(*row);
    } else if (auto* tables = std::get_if<std::vector<AverageTable>>(&job)) {
        sink_.write_averages(*tables);
    } else {
        return sink_.write_checkpoint(checkpoint_);
    }
    return true;
}

}  // namespace carom
