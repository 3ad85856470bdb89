#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>

#include "host/ranks/ranked_engine.hpp"
#include "host/state/errors.hpp"
#include "host/sweep/jobs.hpp"
#include "tests/support/message_of.hpp"

// Jobs of a sweep, over threads and ranks; of ranks that are threads of this process, for the sanitizers.

namespace carom::sweep_jobs_test {

using test::message_of;

std::vector<std::uint64_t> first_numbers(std::uint64_t count) {
    std::vector<std::uint64_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
    return numbers;
}

struct Result {
    std::multiset<double> ended;
    std::uint64_t threads = 0;
    std::string error;
};

/// Does jobs on so many ranks of two threads, all of which do the same with a number.
/// \param hindrance  of the last rank, which starts late
Result do_on(int ranks, std::uint64_t count, const Job& job, const std::function<int(const JobsSoFar&)>& look = {},
             const std::exception_ptr& hindrance = nullptr) {
    ThreadRanks threads(ranks, [&](Transport& transport, auto) {
        const bool last = hindrance && transport.rank() == ranks - 1;
        if (last) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        help_with_jobs(transport, 2, job, last ? hindrance : nullptr);
    });
    Ranks led(threads.rank_0());
    Result result;
    const SharedJobs jobs{.ranks = ranks > 1 ? &led : nullptr,
                          .order = {},
                          .numbers = first_numbers(count),
                          .threads = 2,
                          .job = job,
                          .columns = 1};
    result.error = message_of<std::exception>([&] {
        do_jobs(jobs, [&](const JobsSoFar& so_far) {
            result.threads = so_far.threads;
            for (const auto& [number, one] : so_far.ended) {
                EXPECT_EQ(one.values.at(0), 0.1 * static_cast<double>(number));
                result.ended.insert(static_cast<double>(number));
            }
            return look ? look(so_far) : 0;
        });
    });
    return result;
}

std::optional<RunResult> tenth(std::uint64_t number) { return RunResult{{0.1 * static_cast<double>(number)}, ""}; }

TEST(SweepJobs, AreDoneOnceEachByAnyNumberOfRanks) {
    for (const int ranks : {1, 2, 5}) {
        std::atomic<int> done = 0;
        const Result result = do_on(ranks, 3000, [&done](std::uint64_t number, const auto&) {
            ++done;
            return tenth(number);
        });
        EXPECT_EQ(result.error, "");
        EXPECT_EQ(done, 3000) << ranks;
        const auto numbers = first_numbers(3000);
        EXPECT_EQ(result.ended, std::multiset<double>(numbers.begin(), numbers.end()));
        EXPECT_EQ(result.threads, 2U * static_cast<unsigned>(ranks));
    }
}

TEST(SweepJobs, OfSeveralThatFailTheFirstIsTold) {
    for (const int ranks : {1, 3, 4, 5}) {
        const Result result = do_on(ranks, 400, [](std::uint64_t number, const auto&) -> std::optional<RunResult> {
            // The first of them fails last.
            std::this_thread::sleep_for(std::chrono::milliseconds(number == 49 ? 100 : 1));
            if (number % 50 == 49) throw InputError("job " + std::to_string(number));
            return tenth(number);
        });
        EXPECT_EQ(result.error, "job 49") << ranks;
        EXPECT_LT(result.ended.size(), 392U);
    }
}

TEST(SweepJobs, EndEarlyWhereWhoLooksSaysSo) {
    for (const int ranks : {1, 3}) {
        std::atomic<int> stopped = 0;
        const Job endless = [&stopped](std::uint64_t, const auto& ask) -> std::optional<RunResult> {
            while (ask() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            EXPECT_EQ(ask(), 15);
            ++stopped;
            return std::nullopt;
        };
        // Once each thread of each rank has one.
        const auto look = [&](const JobsSoFar& so_far) { return so_far.begun >= 2U * ranks ? 15 : 0; };
        const Result result = do_on(ranks, 100, endless, look);
        EXPECT_EQ(result.error, "");
        EXPECT_GE(stopped, 2 * ranks);
        EXPECT_LT(stopped, 100);
        EXPECT_TRUE(result.ended.empty());
    }
}

TEST(SweepJobs, EndWhereWhoLooksFails) {
    for (const int ranks : {1, 3}) {
        const Result result = do_on(
            ranks, 100000, [](std::uint64_t number, const auto&) { return tenth(number); },
            [](const JobsSoFar& so_far) -> int {
                if (so_far.begun > 0) throw SystemError("the disk is full");
                return 0;
            });
        EXPECT_EQ(result.error, "the disk is full");
    }
}

TEST(SweepJobs, AreNotBegunWhereARankCannotDoThem) {
    std::atomic<int> begun = 0;
    const Job job = [&begun](std::uint64_t number, const auto&) {
        ++begun;
        return tenth(number);
    };
    const Result result = do_on(3, 100, job, {}, std::make_exception_ptr(InputError("another scene")));
    EXPECT_EQ(result.error, "another scene");
    EXPECT_EQ(begun, 0);
}

}  // namespace carom::sweep_jobs_test
