#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "host/ranks/ranked_engine.hpp"
#include "kernels/core/team.hpp"

namespace carom {

namespace thread_ranks {

/// What waits for one rank: a queue for each that sends.
struct Box {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::deque<std::vector<std::byte>>> queues;
    std::vector<char> awaited;  // of which ranks a message is waited for
    int missing = 0;            // so many of them: the rank is woken when all are there, which is far cheaper
    bool lost = false;
};

struct Mail {
    Mail(int ranks, bool reaches) : boxes(static_cast<std::size_t>(ranks)), reaches_devices(reaches) {
        for (Box& box : boxes) {
            box.queues.resize(boxes.size());
            box.awaited.resize(boxes.size());
        }
    }

    std::vector<Box> boxes;
    bool reaches_devices;
};

// A rank that waits gives way to the others so often before it sleeps, which takes them all three times as long.
constexpr int kTurns = 4;

class ThreadTransport final : public Transport {
public:
    ThreadTransport(std::shared_ptr<Mail> mail, int rank) : mail_(std::move(mail)), rank_(rank) {}

    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(mail_->boxes.size()); }
    bool reaches_devices() const override { return mail_->reaches_devices; }

    void begin_swap(std::span<const Parcel> out, std::span<Parcel> in) override {
        wanted_ = in;
        for (const Parcel& parcel : out) {
            Box& box = of(parcel.peer);
            const std::scoped_lock lock(box.mutex);
            box.queues[static_cast<std::size_t>(rank_)].emplace_back(parcel.data, parcel.data + parcel.bytes);
            if (std::exchange(box.awaited[static_cast<std::size_t>(rank_)], 0) != 0 && --box.missing == 0) {
                box.changed.notify_one();
            }
        }
    }

    void end_swap() override {
        Box& mine = of(rank_);
        std::unique_lock lock(mine.mutex);
        for (const Parcel& parcel : wanted_) {
            const auto peer = static_cast<std::size_t>(parcel.peer);
            if (!mine.queues[peer].empty()) continue;
            mine.awaited[peer] = 1;
            ++mine.missing;
        }
        for (int turn = 0; turn < kTurns && mine.missing > 0; ++turn) {
            lock.unlock();
            std::this_thread::yield();
            lock.lock();
        }
        mine.changed.wait(lock, [&] { return mine.missing == 0 || mine.lost; });
        for (Parcel& parcel : wanted_) {
            auto& queue = mine.queues[static_cast<std::size_t>(parcel.peer)];
            if (queue.empty()) throw RanksLost("another rank has failed");
            const std::vector<std::byte> message = std::move(queue.front());
            queue.pop_front();
            if (message.size() > parcel.bytes) throw RanksLost("a message is longer than it should be");
            std::copy(message.begin(), message.end(), parcel.data);
            parcel.bytes = message.size();
        }
    }

    int whose_message_waits() override {
        Box& mine = of(rank_);
        const std::scoped_lock lock(mine.mutex);
        if (mine.lost) throw RanksLost("another rank has failed");
        const auto sent = std::ranges::find_if(mine.queues, [](const auto& queue) { return !queue.empty(); });
        return sent == mine.queues.end() ? -1 : static_cast<int>(sent - mine.queues.begin());
    }

    void abort(int) override {
        for (Box& box : mail_->boxes) {
            const std::scoped_lock lock(box.mutex);
            box.lost = true;
            box.changed.notify_one();
        }
    }

private:
    [[nodiscard]] Box& of(int rank) const { return mail_->boxes[static_cast<std::size_t>(rank)]; }

    std::shared_ptr<Mail> mail_;
    int rank_;
    std::span<Parcel> wanted_;
};

}  // namespace thread_ranks

class ThreadRanks::Impl {
public:
    Impl(int ranks, const RankWork& work, const BrickMaker& maker, bool reach_devices)
        : mail_(std::make_shared<thread_ranks::Mail>(ranks, reach_devices)) {
        for (int rank = 1; rank < ranks; ++rank) {
            threads_.push_back(start_thread([mail = mail_, rank, work, maker] {
                thread_ranks::ThreadTransport transport(mail, rank);
                try {
                    serve_rank(transport, work, maker);
                } catch (const std::exception&) {
                    transport.abort(1);
                }
            }));
        }
    }
    ~Impl() {
        for (std::thread& thread : threads_) thread.join();
    }
    [[nodiscard]] std::shared_ptr<Transport> rank_0() const {
        return std::make_shared<thread_ranks::ThreadTransport>(mail_, 0);
    }

private:
    std::shared_ptr<thread_ranks::Mail> mail_;
    std::vector<std::thread> threads_;
};

ThreadRanks::ThreadRanks(int ranks, const RankWork& work, const BrickMaker& maker, bool reach_devices)
    : impl_(std::make_unique<Impl>(ranks, work, maker, reach_devices)) {}
ThreadRanks::~ThreadRanks() = default;
std::shared_ptr<Transport> ThreadRanks::rank_0() const { return impl_->rank_0(); }

}  // namespace carom
