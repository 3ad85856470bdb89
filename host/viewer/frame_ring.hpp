#pragma once

#include <atomic>
#include <cstdint>

namespace carom {

/// Which of three slots belongs to whom: one to the thread that writes frames, one to the thread that reads them, and
/// the last finished one in between. Neither ever waits for the other; a reader that is late misses frames, a writer
/// that is late is seen twice.
class FrameRing {
public:
    static constexpr int kSlots = 3;

    /// The writer's slot, until publish().
    [[nodiscard]] int write_slot() const { return write_; }
    /// The writer's slot is finished, and it gets another.
    void publish() { write_ = between_.exchange(write_ | kFresh, std::memory_order_acq_rel) & kSlotBits; }

    /// The reader gets the last finished slot and gives up its own; false if there has been none since.
    bool take() {
        if ((between_.load(std::memory_order_acquire) & kFresh) == 0) return false;
        read_ = between_.exchange(read_, std::memory_order_acq_rel) & kSlotBits;
        return true;
    }
    /// The reader's slot, until take().
    [[nodiscard]] int read_slot() const { return read_; }
    /// Whether take() would give a new one.
    [[nodiscard]] bool fresh() const { return (between_.load(std::memory_order_acquire) & kFresh) != 0; }

private:
    static constexpr int kFresh = 4;
    static constexpr int kSlotBits = 3;

    int write_ = 0;  // the writer's alone
    std::atomic<int> between_{1};
    int read_ = 2;  // the reader's alone
};

}  // namespace carom
