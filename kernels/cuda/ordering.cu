#include <thrust/binary_search.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include "kernels/cuda/ordering.hpp"

namespace carom::CAROM_PROCESSOR {

namespace {

struct BoundedSum {
    CAROM_HD std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
        const std::uint32_t sum = a + b;
        return sum < a ? 0xffffffffU : sum;
    }
};

}  // namespace

void sort_by_cell(Queue& queue, Scratch& scratch, const CellOrder& order, std::uint32_t count) {
    thrust::stable_sort_by_key(algorithms_in(queue, scratch), order.cell, order.cell + count, order.from);
}

void find_cells(Queue& queue, Scratch& scratch, const CellOrder& order, std::uint32_t count, std::uint32_t cells,
                std::uint32_t* cell_start) {
    const auto numbers = thrust::make_counting_iterator(std::uint32_t{0});
    thrust::lower_bound(algorithms_in(queue, scratch), order.cell, order.cell + count, numbers,
                        numbers + (static_cast<std::uint64_t>(cells) + 1), cell_start);
}

void sum_before(Queue& queue, Scratch& scratch, std::uint32_t* numbers, std::uint32_t count) {
    thrust::exclusive_scan(algorithms_in(queue, scratch), numbers, numbers + count, numbers, std::uint32_t{0},
                           BoundedSum{});
}

}  // namespace carom::CAROM_PROCESSOR
