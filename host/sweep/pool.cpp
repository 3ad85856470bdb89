#include "host/sweep/pool.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

#include <utility>

namespace carom {

Pool::Pool(int threads, std::uint64_t count, std::function<void(std::uint64_t)> job)
    : count_(count), job_(std::move(job)), running_(threads) {
    for (int k = 0; k < threads; ++k) threads_.emplace_back([this] { work(); });
}

Pool::~Pool() {
    stop();
    for (std::thread& thread : threads_) {
        if (thread.joinable()) thread.join();
    }
}

void Pool::work() {
#ifdef _OPENMP
    omp_set_num_threads(1);  // of this thread alone: jobs are spread already
#endif
    while (true) {
        const std::uint64_t job = next_++;
        if (job >= count_) break;
        try {
            job_(job);
        } catch (...) {
            const std::lock_guard lock(mutex_);
            // Jobs are begun in order, so whatever fails at a lower number has begun and will be heard.
            if (!failure_ || job < failed_job_) {
                failure_ = std::current_exception();
                failed_job_ = job;
            }
            stop();
        }
    }
    const std::lock_guard lock(mutex_);
    --running_;
    ended_.notify_all();
}

bool Pool::wait_for(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, most, [this] { return done(); });
}

void Pool::wait() {
    for (std::thread& thread : threads_) {
        if (thread.joinable()) thread.join();
    }
    if (failure_) std::rethrow_exception(failure_);
}

}  // namespace carom
