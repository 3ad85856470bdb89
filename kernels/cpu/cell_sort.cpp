#include "kernels/cpu/cell_sort.hpp"

#include <algorithm>

namespace carom {

namespace {

std::size_t share(std::size_t total, int part, int parts) {
    return total * static_cast<std::size_t>(part) / static_cast<std::size_t>(parts);
}

}  // namespace

void CellSort::sort(const std::vector<std::uint32_t>& cell, std::uint32_t cells, int threads,
                    std::vector<std::uint32_t>& order) {
    const std::size_t keys = static_cast<std::size_t>(cells) + 1;
    const std::size_t count = cell.size();
    // A thread clears and adds up one count per cell: not worth it when cells outnumber its balls by far.
    const auto worth = static_cast<int>(std::min<std::size_t>(1024, 1 + 2 * count / keys));
    const int parts = std::max(1, std::min(threads, worth));
    counts_.resize(static_cast<std::size_t>(parts));
    start_.resize(keys + 1);
    order.resize(count);

#pragma omp parallel for num_threads(parts) schedule(static) if (parts > 1)
    for (int part = 0; part < parts; ++part) {
        auto& counts = counts_[static_cast<std::size_t>(part)];
        counts.assign(keys, 0);
        for (std::size_t slot = share(count, part, parts); slot < share(count, part + 1, parts); ++slot)
            ++counts[cell[slot]];
    }
    std::uint32_t running = 0;
    for (std::size_t key = 0; key < keys; ++key) {
        start_[key] = running;
        for (auto& counts : counts_) {
            const std::uint32_t here = counts[key];
            counts[key] = running;
            running += here;
        }
    }
    start_[keys] = running;
#pragma omp parallel for num_threads(parts) schedule(static) if (parts > 1)
    for (int part = 0; part < parts; ++part) {
        auto& next = counts_[static_cast<std::size_t>(part)];
        for (std::size_t slot = share(count, part, parts); slot < share(count, part + 1, parts); ++slot) {
            order[next[cell[slot]]++] = static_cast<std::uint32_t>(slot);
        }
    }
}

}  // namespace carom
