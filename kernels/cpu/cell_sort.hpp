#pragma once

#include <cstdint>
#include <vector>

namespace carom {

/// Stable counting sort of slots by cell, with any number of threads and the same result.
class CellSort {
public:
    /// \param cell   cell of each old slot, [0, cells]; `cells` itself is for what is no longer in any
    /// \param order  on return order[new slot] = old slot
    void sort(const std::vector<std::uint32_t>& cell, std::uint32_t cells, int threads,
              std::vector<std::uint32_t>& order);

    /// First slot of each cell after sort(); cells + 2 long, the last entry being the number of slots.
    [[nodiscard]] const std::vector<std::uint32_t>& start() const { return start_; }
    [[nodiscard]] std::uint64_t memory_bytes() const {
        std::uint64_t bytes = start_.capacity() * sizeof(std::uint32_t);
        for (const auto& counts : counts_) bytes += counts.capacity() * sizeof(std::uint32_t);
        return bytes;
    }

private:
    std::vector<std::uint32_t> start_;
    std::vector<std::vector<std::uint32_t>> counts_;  // per thread and cell
};

}  // namespace carom
