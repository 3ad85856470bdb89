#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/ranks/ranked_engine.hpp"
#include "host/run/prepare.hpp"
#include "host/state/errors.hpp"
#include "host/sweep/journal.hpp"

namespace carom {

class EnginePack;

/// What a thread does with a number; what comes of it, if anything.
/// \param stopped  gives a number other than 0 once it is to end early
using Job = std::function<std::optional<RunResult>(std::uint64_t number, const std::function<int()>& stopped)>;

/// Does jobs on some threads, each taking the next one; what a job does stays on its thread. When a job throws, those
/// of larger numbers that are not yet begun are left out; of several that throw, the one of the lowest number is told,
/// so that what a user reads does not depend on the threads.
class Pool {
public:
    struct Failure {
        std::uint64_t job = std::numeric_limits<std::uint64_t>::max();
        std::exception_ptr error;
    };
    using Ended = std::vector<std::pair<std::uint64_t, RunResult>>;

    /// \throws std::runtime_error  the system gives no more threads
    Pool(int threads, Job job);
    /// Stops, and waits for what has begun.
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    /// More jobs, of larger numbers than all before.
    void add(std::span<const std::uint64_t> jobs);
    /// Takes the first of those that are not begun away, for others to do.
    [[nodiscard]] std::vector<std::uint64_t> take(std::uint64_t most);
    /// Leaves out what is not begun of these numbers, and of all that are still to come.
    void leave_out_from(std::uint64_t job);
    /// Leaves out all, and asks what has begun to end early. \param why  other than 0; the first one counts
    void stop(int why);

    /// Not begun.
    [[nodiscard]] std::uint64_t waiting() const;
    /// Threads that have nothing to do.
    [[nodiscard]] std::uint64_t free_threads() const;
    /// Nothing is waiting, nor being done.
    [[nodiscard]] bool idle() const;
    /// What has ended since, after waiting a little if that is nothing but something is being done.
    [[nodiscard]] Ended take_ended(std::chrono::milliseconds most);
    /// The lowest; without an error: none.
    [[nodiscard]] Failure failure() const;

private:
    void work();
    void leave_out_locked(std::uint64_t job);
    void end_threads();

    const Job job_;
    mutable std::mutex mutex_;
    std::condition_variable more_, ended_some_;
    std::deque<std::uint64_t> waiting_;
    Ended ended_;
    Failure failure_;
    std::uint64_t limit_ = std::numeric_limits<std::uint64_t>::max();  // from here on jobs are left out
    std::uint64_t busy_ = 0;
    int stopped_ = 0;
    bool over_ = false;
    std::vector<std::thread> threads_;
};

/// How many runs like this one go on at once in this process, each in a thread: on a GPU, whose launches they share, as
/// many as its memory and the host's have room for; else as many as there are cores.
int runs_at_once(const PreparedScene& run);
/// Lets its steps go to the GPU, if it runs on one, with those of others of the pack.
void share_launches(PreparedScene& run, const std::shared_ptr<EnginePack>& pack);

/// Jobs for the threads of this process, and of all ranks that it leads.
struct SharedJobs {
    Ranks* ranks = nullptr;        ///< null: this process is alone
    std::vector<std::byte> order;  ///< tells the others what the jobs are; they call help_with_jobs
    std::vector<std::uint64_t> numbers;
    int threads = 1;  ///< of this process
    Job job;
    std::size_t columns = 0;  ///< of a result
};

/// How far they are.
struct JobsSoFar {
    Pool::Ended ended;        ///< since it was last told
    std::uint64_t begun = 0;  ///< or done, or dealt out
    std::uint64_t threads = 1;
};

/// Does them. Threads of other ranks take jobs as those of this one do: some of what is left, whenever they have few.
/// \param look  is told now and again, and when all is done, on this thread; gives other than 0 to end early
/// \throws what a job or `look` threw, once nobody is doing anything any more
void do_jobs(SharedJobs jobs, const std::function<int(JobsSoFar)>& look);

/// Does work of jobs for a command, which tells in one line what it could not do.
/// \returns the status and that line; nothing where it got to its end
std::optional<std::pair<ExitStatus, std::string>> failure_of(const std::function<void()>& work);

/// The part of another rank in them. What a job throws is told by rank 0.
/// \param hindrance  why this rank cannot do such jobs, if it cannot: told by rank 0, and nobody begins any
void help_with_jobs(Transport& transport, int threads, const Job& job, const std::exception_ptr& hindrance = nullptr);

}  // namespace carom
