#include <thrust/binary_search.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include "kernels/cuda/ordering.hpp"

namespace carom::CAROM_PROCESSOR {

namespace {

/// The smallest key of a cell: what lies before it lies in cells before.
struct FirstKey {
    CAROM_HD std::uint64_t operator()(std::uint64_t cell) const {
        return sort_key(static_cast<std::uint32_t>(cell), 0);
    }
};

struct BoundedSum {
    CAROM_HD std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
        const std::uint32_t sum = a + b;
        return sum < a ? 0xffffffffU : sum;
    }
};

}  // namespace

void sort_keys(Queue& queue, Scratch& scratch, std::uint64_t* key, std::uint32_t count) {
    thrust::sort(algorithms_in(queue, scratch), key, key + count);
}

void find_cells(Queue& queue, Scratch& scratch, const std::uint64_t* key, std::uint32_t count, std::uint32_t cells,
                std::uint32_t* cell_start) {
    const auto first_keys =
        thrust::make_transform_iterator(thrust::make_counting_iterator(std::uint64_t{0}), FirstKey{});
    thrust::lower_bound(algorithms_in(queue, scratch), key, key + count, first_keys,
                        first_keys + (static_cast<std::uint64_t>(cells) + 1), cell_start);
}

void sum_before(Queue& queue, Scratch& scratch, std::uint32_t* numbers, std::uint32_t count) {
    thrust::exclusive_scan(algorithms_in(queue, scratch), numbers, numbers + count, numbers, std::uint32_t{0},
                           BoundedSum{});
}

}  // namespace carom::CAROM_PROCESSOR
