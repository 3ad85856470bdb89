#include <thrust/scan.h>

#include "kernels/cuda/ordering.hpp"

namespace carom::CAROM_PROCESSOR {

/// Thread i clears cell i.
struct ClearCellBody {
    CellOrder order;

    CAROM_HD void operator()(std::uint64_t cell) const { order.start[cell] = 0; }
};

/// Thread i takes number i. Neighbours are mostly in cells beside each other, so few wait for each other.
struct TakePlaceBody {
    CellOrder order;

    CAROM_HD void operator()(std::uint64_t index) const { order.take_place(static_cast<std::uint32_t>(index)); }
};

void order_by_cell(Queue& queue, Scratch& scratch, const CellOrder& order, std::uint32_t count, std::uint32_t cells) {
    queue.launch(std::uint64_t{cells} + 1, ClearCellBody{order});
    queue.launch(count, TakePlaceBody{order});
    sum_before(queue, scratch, order.start, cells + 1);
}

void sum_before(Queue& queue, Scratch& scratch, std::uint32_t* numbers, std::uint32_t count) {
    thrust::exclusive_scan(algorithms_in(queue, scratch), numbers, numbers + count, numbers, std::uint32_t{0});
}

}  // namespace carom::CAROM_PROCESSOR
