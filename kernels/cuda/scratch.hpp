#pragma once

#include <thrust/execution_policy.h>

#include <cstddef>
#include <vector>

#include "kernels/cuda/device_array.hpp"
#include "kernels/cuda/queue.hpp"

namespace carom::CAROM_PROCESSOR {

/// Where Thrust takes its working memory from: blocks are kept and given out again, so that only the first sort
/// allocates. An allocator as Thrust's execution policies want one.
class Scratch {
public:
    using value_type = char;

    char* allocate(std::ptrdiff_t bytes) {
        Block* best = nullptr;
        for (Block& block : blocks_) {
            const bool fits = !block.taken && block.memory.size() >= static_cast<std::size_t>(bytes);
            if (fits && (best == nullptr || block.memory.size() < best->memory.size())) best = &block;
        }
        if (best == nullptr) {
            blocks_.push_back({DeviceArray<char>(static_cast<std::size_t>(bytes)), false});
            best = &blocks_.back();
        }
        best->taken = true;
        return best->memory.data();
    }
    void deallocate(char* place, std::size_t) {
        for (Block& block : blocks_) {
            if (block.memory.data() == place) block.taken = false;
        }
    }

    [[nodiscard]] std::size_t bytes() const {
        std::size_t total = 0;
        for (const Block& block : blocks_) total += block.memory.bytes();
        return total;
    }

private:
    struct Block {
        DeviceArray<char> memory;
        bool taken;
    };
    std::vector<Block> blocks_;
};

/// Runs a Thrust algorithm behind what is already in `queue`. Only those that return a value wait for it.
inline auto algorithms_in(const Queue& queue, Scratch& scratch) {
#if defined(CAROM_EMULATED)
    (void)queue;
    return thrust::cpp::par(scratch);
#else
    return thrust::cuda::par_nosync(scratch).on(queue.stream());
#endif
}

}  // namespace carom::CAROM_PROCESSOR
