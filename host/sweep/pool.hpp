#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace carom {

/// Does the jobs 0 to count - 1 on some threads, each taking the next one; what a job does stays on its thread. When a
/// job throws, those not yet begun are left out; of several that throw, the one of the lowest number is told, so that
/// what a user reads does not depend on the threads.
class Pool {
public:
    Pool(int threads, std::uint64_t count, std::function<void(std::uint64_t)> job);
    /// Leaves out what is not begun, and waits for the rest.
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    /// Leaves out what is not begun.
    void stop() { next_ = count_; }
    /// Whether all threads are done.
    [[nodiscard]] bool done() const { return running_ == 0; }
    /// Waits for that, but no longer than this, and tells whether it is so.
    bool wait_for(std::chrono::milliseconds most);
    /// Jobs that are begun or done.
    [[nodiscard]] std::uint64_t begun() const { return std::min<std::uint64_t>(next_, count_); }
    /// Waits for all threads, and throws what a job threw.
    void wait();

private:
    void work();

    const std::uint64_t count_;
    const std::function<void(std::uint64_t)> job_;
    std::atomic<std::uint64_t> next_ = 0;
    std::atomic<int> running_ = 0;
    std::mutex mutex_;
    std::condition_variable ended_;
    std::exception_ptr failure_;
    std::uint64_t failed_job_ = 0;
    std::vector<std::thread> threads_;
};

}  // namespace carom
