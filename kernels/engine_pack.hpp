#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace carom {

/// Engines of runs that go on side by side, each in a thread of its own, whose steps go to one device in common
/// launches: whoever wants steps waits a moment for the others, and one does for all what each would have done alone.
/// Engines bring work of one kind together with that of the same kind alone.
class EnginePack {
public:
    /// Does the work of all that are together.
    /// \param desk  what leaders keep there for the next; null at first
    using Lead = std::function<void(std::span<void* const> works, std::shared_ptr<void>& desk)>;

    /// There is one more whom others wait for.
    void join(int kind) {
        const std::lock_guard lock(mutex_);
        ++tables_[kind].members;
    }
    void leave(int kind) noexcept {
        const std::lock_guard lock(mutex_);
        Table& table = tables_.find(kind)->second;
        --table.members;
        if (table.complete()) arrived_.notify_all();
    }

    /// Waits until all that have joined are here, but not for long, since some may be busy with other things; then one
    /// of those that are here leads. \throws what the leader threw, for all of them
    void together(int kind, void* work, const Lead& lead) {
        std::unique_lock lock(mutex_);
        Table& table = tables_[kind];
        Waiting me{work};
        const bool keeps_time = table.waiting.empty();
        table.waiting.push_back(&me);
        if (keeps_time) arrived_.wait_for(lock, kPatience, [&] { return me.taken || table.complete(); });
        if (!me.taken && (keeps_time || table.complete())) {
            lead_all(lock, table, lead);
        } else {
            arrived_.wait(lock, [&] { return me.done; });
        }
        if (me.error) std::rethrow_exception(me.error);
    }

private:
    /// About what a hundred steps of a small system take: much less than what is wanted at a time.
    static constexpr auto kPatience = std::chrono::microseconds(500);

    struct Waiting {
        void* work;
        bool taken = false;
        bool done = false;
        std::exception_ptr error = nullptr;
    };
    struct Table {
        std::size_t members = 0;
        std::vector<Waiting*> waiting;
        std::vector<std::shared_ptr<void>> desks;  // at which nobody leads

        [[nodiscard]] bool complete() const { return !waiting.empty() && waiting.size() >= members; }
    };

    void lead_all(std::unique_lock<std::mutex>& lock, Table& table, const Lead& lead) {
        const std::vector<Waiting*> all = std::exchange(table.waiting, {});
        std::vector<void*> works;
        for (Waiting* const one : all) {
            one->taken = true;
            works.push_back(one->work);
        }
        std::shared_ptr<void> desk;
        if (!table.desks.empty()) {
            desk = std::move(table.desks.back());
            table.desks.pop_back();
        }
        lock.unlock();  // who comes from now on waits for the next
        std::exception_ptr error;
        try {
            lead(works, desk);
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        table.desks.push_back(std::move(desk));
        for (Waiting* const one : all) {
            one->done = true;
            one->error = error;
        }
        arrived_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable arrived_;
    std::map<int, Table> tables_;  // by kind
};

}  // namespace carom
