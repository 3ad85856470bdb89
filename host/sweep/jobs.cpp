#include "host/sweep/jobs.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <string>
#include <string_view>
#include <tuple>

#include "host/backends/spring_backends.hpp"
#include "host/ranks/launched.hpp"
#include "host/run/memory.hpp"
#include "kernels/core/team.hpp"

namespace carom {

Pool::Pool(int threads, Job job) : job_(std::move(job)) {
    threads_.reserve(static_cast<std::size_t>(threads));
    try {
        for (int k = 0; k < threads; ++k) threads_.push_back(start_thread([this] { work(); }));
    } catch (...) {  // those that have begun look at this object
        end_threads();
        throw;
    }
}

Pool::~Pool() {
    stop(-1);
    end_threads();
}

void Pool::end_threads() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
        more_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
}

void Pool::add(std::span<const std::uint64_t> jobs) {
    const std::lock_guard lock(mutex_);
    waiting_.insert(waiting_.end(), jobs.begin(), jobs.end());
    leave_out_locked(limit_);
    more_.notify_all();
}

std::vector<std::uint64_t> Pool::take(std::uint64_t most) {
    const std::lock_guard lock(mutex_);
    const auto count = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(most, waiting_.size()));
    std::vector<std::uint64_t> taken(waiting_.begin(), waiting_.begin() + count);
    waiting_.erase(waiting_.begin(), waiting_.begin() + count);
    return taken;
}

void Pool::leave_out_locked(std::uint64_t job) {
    limit_ = std::min(limit_, job);
    while (!waiting_.empty() && waiting_.back() >= limit_) waiting_.pop_back();
}

void Pool::leave_out_from(std::uint64_t job) {
    const std::lock_guard lock(mutex_);
    leave_out_locked(job);
}

void Pool::stop(int why) {
    const std::lock_guard lock(mutex_);
    if (stopped_ == 0) stopped_ = why;
    leave_out_locked(0);
}

std::uint64_t Pool::waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
}

std::uint64_t Pool::free_threads() const {
    const std::lock_guard lock(mutex_);
    return threads_.size() - busy_;
}

bool Pool::idle() const {
    const std::lock_guard lock(mutex_);
    return waiting_.empty() && busy_ == 0;
}

Pool::Failure Pool::failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
}

Pool::Ended Pool::take_ended(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    ended_some_.wait_for(lock, most, [this] { return !ended_.empty() || (waiting_.empty() && busy_ == 0); });
    return std::exchange(ended_, {});
}

void Pool::work() {
#ifdef _OPENMP
    omp_set_num_threads(1);  // of this thread alone: jobs are spread already
#endif
    const auto stopped = [this] {
        const std::lock_guard lock(mutex_);
        return stopped_;
    };
    std::unique_lock lock(mutex_);
    while (true) {
        more_.wait(lock, [this] { return over_ || !waiting_.empty(); });
        if (waiting_.empty()) return;
        const std::uint64_t number = waiting_.front();
        waiting_.pop_front();
        ++busy_;
        lock.unlock();
        std::optional<RunResult> result;
        std::exception_ptr error;
        try {
            result = job_(number, stopped);
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        --busy_;
        if (result) ended_.emplace_back(number, std::move(*result));
        if (error) {
            if (number < failure_.job) failure_ = {number, error};
            leave_out_locked(number);
        }
        ended_some_.notify_all();
    }
}

int runs_at_once(const PreparedScene& run) {
    const auto cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    if (run.plan->processor() != "cuda") return cores;
    constexpr double kMost = 512.0;  // runs of a block each would keep the largest GPU busy: 132 processors hold 396
    constexpr double kShare = 0.8;   // of a memory: what is said of a run is about right
    const std::vector<DeviceInfo> devices = cuda_devices();
    if (devices.empty()) return cores;
    const double by_device = kShare * static_cast<double>(devices.front().memory_bytes) /
                             static_cast<double>(std::max<std::uint64_t>(run.memory_bytes, 1));
    const std::uint64_t each = run.host_memory_bytes - std::min(run.host_memory_bytes, kMemoryOfProgram);
    const double by_host =
        kShare * static_cast<double>(machine_memory_bytes()) / static_cast<double>(std::max<std::uint64_t>(each, 1));
    return static_cast<int>(std::clamp(std::min(by_device, by_host), 1.0, kMost));
}

void share_launches(PreparedScene& run, const std::shared_ptr<EnginePack>& pack) {
    if (auto shared = run.plan->in_pack(pack)) run.plan = std::move(shared);
}

namespace {

constexpr auto kLook = std::chrono::milliseconds(50);   // between two looks at signals
constexpr auto kAttend = std::chrono::milliseconds(1);  // between two looks at what other ranks want
// For so long a rank has jobs at hand [s]: twice as long as it may be silent. Who hoards, others wait for at the end.
constexpr double kStock = 0.1;

/// How a job failed, as it passes between ranks.
enum class Trouble : std::uint32_t { kNone, kInput, kSimulation, kSystem, kMemory, kOther };

// A message of another rank to rank 0, before what went wrong, in words, and the lines of results.
struct Told {
    std::uint64_t failed = 0;  // number of the job
    std::uint64_t wanted = 0;  // jobs
    std::uint64_t words = 0;   // bytes
    std::int32_t signal = 0;
    Trouble trouble = Trouble::kNone;
    std::uint64_t idle = 0;
};

// What rank 0 answers, before more jobs. Only who has been told something may send, so that no two wait for each other.
struct Answer {
    std::uint64_t left_out_from = 0;
    std::int32_t stop = 0;
    std::uint32_t over = 0;
};

template <class T>
T head_of(std::span<const std::byte> bytes) {
    return values_in<T>(bytes.first(sizeof(T))).at(0);
}

std::pair<Trouble, std::string> trouble_of(const std::exception_ptr& error, int rank) {
    const auto of_rank = [rank](const char* what) { return fmt::format("rank {}: {}", rank, what); };
    try {
        std::rethrow_exception(error);
    } catch (const InputError& it) {
        return {Trouble::kInput, it.what()};
    } catch (const SimulationError& it) {
        return {Trouble::kSimulation, it.what()};
    } catch (const SystemError& it) {
        return {Trouble::kSystem, of_rank(it.what())};
    } catch (const std::bad_alloc&) {
        return {Trouble::kMemory, ""};
    } catch (const std::exception& it) {
        return {Trouble::kOther, of_rank(it.what())};
    }
}

std::exception_ptr error_of(Trouble trouble, const std::string& words) {
    switch (trouble) {
        case Trouble::kInput:
            return std::make_exception_ptr(InputError(words));
        case Trouble::kSimulation:
            return std::make_exception_ptr(SimulationError(words));
        case Trouble::kSystem:
            return std::make_exception_ptr(SystemError(words));
        case Trouble::kMemory:
            return std::make_exception_ptr(std::bad_alloc());
        case Trouble::kOther:
            return std::make_exception_ptr(std::runtime_error(words));
        case Trouble::kNone:
            break;
    }
    return nullptr;
}

void append_text(std::vector<std::byte>& to, const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    to.insert(to.end(), bytes.begin(), bytes.end());
}

std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Rank 0 among the others, while jobs are done.
class Dealer {
public:
    Dealer(Transport* transport, Pool& pool, const SharedJobs& jobs)
        : transport_(transport),
          pool_(pool),
          columns_(jobs.columns),
          threads_(static_cast<std::uint64_t>(jobs.threads)) {
        if (transport_ == nullptr) return;
        std::array<std::uint64_t, 2> sums{threads_, 0};
        transport_->sum_all(sums);
        threads_ = sums[0];
        all_can_ = sums[1] == 0;
        peers_.resize(static_cast<std::size_t>(transport_->size()));
        others_left_ = transport_->size() - 1;
    }

    [[nodiscard]] std::uint64_t threads() const { return threads_; }
    /// No other rank has said that it cannot do such jobs.
    [[nodiscard]] bool all_can() const { return all_can_; }
    /// Nobody has anything to do any more.
    [[nodiscard]] bool done() const {
        return pool_.idle() && std::all_of(peers_.begin() + (peers_.empty() ? 0 : 1), peers_.end(),
                                           [](const Peer& peer) { return peer.idle; });
    }
    /// Hears and answers all that wait for it. \param over  the answer is that nothing follows
    void attend(bool over, Pool::Ended& ended) {
        if (transport_ == nullptr) return;
        for (int rank = transport_->whose_message_waits(); rank >= 0 && others_left_ > 0;
             rank = transport_->whose_message_waits()) {
            const std::uint64_t wanted = hear(rank, ended);
            if (const Pool::Failure own = pool_.failure(); own.error != nullptr) note(own);
            std::vector<std::uint64_t> more;
            // A share of what is left: so all end at about the same time.
            const auto shares = 2 * static_cast<std::uint64_t>(transport_->size());
            if (wanted > 0) more = pool_.take(std::clamp<std::uint64_t>(pool_.waiting() / shares, 1, wanted));
            peers_[static_cast<std::size_t>(rank)].idle &= more.empty();
            std::vector<std::byte> answer;
            append(answer, Answer{failure_.job, stop_, over ? 1U : 0U});
            for (const std::uint64_t job : more) append(answer, job);
            transport_->send_to(rank, answer);
            if (over) --others_left_;
        }
    }
    void stop(int why) {
        if (stop_ == 0) stop_ = why;
        pool_.stop(why);
    }
    [[nodiscard]] bool others_left() const { return others_left_ > 0; }
    /// The lowest that failed, of all ranks.
    [[nodiscard]] Pool::Failure failure() {
        note(pool_.failure());
        return failure_;
    }

private:
    struct Peer {
        bool idle = false;
    };

    void note(const Pool::Failure& one) {
        if (one.error == nullptr || one.job >= failure_.job) return;
        failure_ = one;
        pool_.leave_out_from(one.job);
    }
    std::uint64_t hear(int rank, Pool::Ended& ended) {
        const std::vector<std::byte> bytes = transport_->receive_from(rank);
        const auto told = head_of<Told>(bytes);
        const std::string text = text_of(std::span(bytes).subspan(sizeof told));
        if (told.signal != 0) tell_signal(told.signal);
        note({told.failed, error_of(told.trouble, text.substr(0, told.words))});
        for (std::size_t at = told.words, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
            auto result = parse_journal_line(std::string_view(text).substr(at, end - at), columns_);
            if (!result) throw RanksLost("a rank tells of a run in words that are none");
            ended.push_back(std::move(*result));
        }
        peers_[static_cast<std::size_t>(rank)].idle = told.idle != 0;
        return told.wanted;
    }

    Transport* transport_;
    Pool& pool_;
    std::size_t columns_;
    std::uint64_t threads_;
    bool all_can_ = true;
    std::vector<Peer> peers_;  // by rank
    int others_left_ = 0;
    int stop_ = 0;
    Pool::Failure failure_;
};

}  // namespace

void do_jobs(SharedJobs jobs, const std::function<int(JobsSoFar)>& look) {
    Pool pool(jobs.threads, jobs.job);
    std::exception_ptr not_looked;
    Pool::Failure failure;
    const auto lead_all = [&](Transport* transport) {
        Dealer dealer(transport, pool, jobs);
        if (dealer.all_can()) pool.add(jobs.numbers);  // else what hinders it is all that is to be heard
        for (bool last = false; !last;) {
            last = dealer.done();  // before it is asked for the last time what has ended
            JobsSoFar so_far{.ended = pool.take_ended(transport == nullptr ? kLook : kAttend)};
            dealer.attend(false, so_far.ended);
            so_far.begun = jobs.numbers.size() - pool.waiting();
            so_far.threads = dealer.threads();
            if (transport != nullptr && pool.idle()) std::this_thread::sleep_for(kAttend);
            if (not_looked) continue;
            try {
                if (const int why = look(std::move(so_far)); why != 0) dealer.stop(why);
            } catch (...) {
                not_looked = std::current_exception();
                dealer.stop(-1);
            }
        }
        for (Pool::Ended none; dealer.others_left();) {
            dealer.attend(true, none);
            std::this_thread::sleep_for(kAttend);
        }
        failure = dealer.failure();
    };
    if (jobs.ranks == nullptr || jobs.numbers.empty()) {
        lead_all(nullptr);
    } else {
        jobs.ranks->work(jobs.order, [&](Transport& transport) { lead_all(&transport); });
    }
    if (not_looked) std::rethrow_exception(not_looked);
    if (failure.error) std::rethrow_exception(failure.error);
}

std::optional<std::pair<ExitStatus, std::string>> failure_of(const std::function<void()>& work) {
    try {
        work();
        return std::nullopt;
    } catch (const InputError& error) {
        return {{ExitStatus::kBadInput, error.what()}};
    } catch (const SystemError& error) {
        return {{ExitStatus::kSystemFailure, error.what()}};
    } catch (const std::bad_alloc&) {
        return {{ExitStatus::kSystemFailure, "out of memory; fewer --threads need less"}};
    }
}

void help_with_jobs(Transport& transport, int threads, const Job& job, const std::exception_ptr& hindrance) {
    Pool pool(threads, job);
    std::array<std::uint64_t, 2> sums{static_cast<std::uint64_t>(threads), hindrance ? 1U : 0U};
    transport.sum_all(sums);
    Pool::Ended ended;
    auto last = std::chrono::steady_clock::now();
    double rate = 0.0;  // of jobs that end here [1/s]
    bool in_vain = false;
    for (bool over = false; !over;) {
        for (auto& one : pool.take_ended(kLook)) ended.push_back(std::move(one));
        if (in_vain && pool.idle()) std::this_thread::sleep_for(kLook);
        const double since = std::chrono::duration<double>(std::chrono::steady_clock::now() - last).count();
        if (since < std::chrono::duration<double>(kLook).count() && pool.waiting() >= pool.free_threads()) continue;
        // What is seen before the rest is asked for is true of all that is told.
        Told told{.signal = rank_signal(), .idle = pool.idle() ? 1U : 0U};
        const Pool::Failure failure = hindrance ? Pool::Failure{0, hindrance} : pool.failure();
        for (auto& one : pool.take_ended({})) ended.push_back(std::move(one));
        rate = std::max(0.5 * rate, static_cast<double>(ended.size()) / std::max(since, 1e-3));
        const std::uint64_t waiting = pool.waiting();
        const std::uint64_t enough = pool.free_threads() + static_cast<std::uint64_t>(std::ceil(rate * kStock));
        told.wanted = enough > waiting ? enough - waiting : 0;
        std::string words;
        if (failure.error) {
            std::tie(told.trouble, words) = trouble_of(failure.error, transport.rank());
            told.failed = failure.job;
            told.words = words.size();
        }
        std::vector<std::byte> message;
        append(message, told);
        append_text(message, words);
        for (const auto& [number, result] : ended) append_text(message, journal_line(number, result));
        ended.clear();
        last = std::chrono::steady_clock::now();
        transport.send_to(0, message);
        const std::vector<std::byte> bytes = transport.receive_from(0);
        const auto answer = head_of<Answer>(bytes);
        const auto more = values_in<std::uint64_t>(std::span(bytes).subspan(sizeof answer));
        if (answer.stop != 0) pool.stop(answer.stop);
        pool.leave_out_from(answer.left_out_from);
        pool.add(more);
        in_vain = more.empty();
        over = answer.over != 0;
    }
}

}  // namespace carom
