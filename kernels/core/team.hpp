#pragma once

#if defined(_OPENMP)
#include <omp.h>
#endif

#include <latch>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace carom {

/// \throws std::runtime_error  the system gives none
template <class Action>
std::thread start_thread(Action&& action) {
    try {
        return std::thread(std::forward<Action>(action));
    } catch (const std::system_error& error) {
        throw std::runtime_error(std::string("the system gives no more threads (out of memory, or too many run): ") +
                                 error.what());
    }
}

/// Sees to it that OpenMP has so many threads for those who call it from this one. OpenMP itself ends the program, with
/// status 1, where it gets none; so as many are asked for here, at once, and what they have had is there for OpenMP.
/// \throws std::runtime_error  the system gives fewer
inline void require_team([[maybe_unused]] int threads) {
#if defined(_OPENMP)
    thread_local int had = 1;
    if (threads <= had) return;
    std::latch all(1);
    std::vector<std::thread> trial;
    trial.reserve(static_cast<std::size_t>(threads));
    const auto end = [&] {
        all.count_down();
        for (std::thread& thread : trial) thread.join();
    };
    try {
        while (static_cast<int>(trial.size()) + 1 < threads) trial.push_back(start_thread([&all] { all.wait(); }));
    } catch (const std::exception&) {
        end();
        throw;
    }
    end();
#pragma omp parallel num_threads(threads)
    { static_cast<void>(had); }
    had = threads;
#endif
}

/// The same for a loop that says nothing of its threads.
inline void require_default_team() {
#if defined(_OPENMP)
    require_team(omp_get_max_threads());
#endif
}

}  // namespace carom
