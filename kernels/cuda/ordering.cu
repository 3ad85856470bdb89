#include <thrust/scan.h>

#include "kernels/cuda/ordering.hpp"

namespace carom::CAROM_PROCESSOR {

/// Thread i clears cell i.
struct ClearCellBody {
    CellOrder order;

    CAROM_HD void operator()(std::uint64_t cell) const { order.start[cell] = 0; }
};

/// The threads of group i take the numbers of that group. Neighbours are mostly in cells beside each other, so few wait
/// for each other; but in the last cell, of what is in none, there may be any number, and a group asks for it once.
struct TakePlaceBody {
    CellOrder order;
    std::uint32_t count;
    std::uint32_t last_cell;

    CAROM_HD void operator()(std::uint64_t group) const {
        const auto first = static_cast<std::uint32_t>(group) * kGroup;
        const std::uint32_t in_last = lanes_where(
            [&](std::uint32_t lane) { return first + lane < count && order.cell[first + lane] == last_cell; });
        const std::uint32_t place =
            once_for_lanes([&] { return in_last == 0 ? 0 : next_shared(&order.start[last_cell], bits_set(in_last)); });
        each_lane([&](std::uint32_t lane) {
            if ((in_last >> lane & 1U) != 0) {
                order.place[first + lane] = place + bits_set(in_last & ((1U << lane) - 1U));
            } else if (first + lane < count) {
                order.take_place(first + lane);
            }
        });
    }
};

void order_by_cell(Queue& queue, Scratch& scratch, const CellOrder& order, std::uint32_t count, std::uint32_t cells) {
    queue.launch(std::uint64_t{cells} + 1, ClearCellBody{order});
    queue.launch_groups((std::uint64_t{count} + kGroup - 1) / kGroup, TakePlaceBody{order, count, cells});
    sum_before(queue, scratch, order.start, cells + 1);
}

void sum_before(Queue& queue, Scratch& scratch, std::uint32_t* numbers, std::uint32_t count) {
    thrust::exclusive_scan(algorithms_in(queue, scratch), numbers, numbers + count, numbers, std::uint32_t{0});
}

}  // namespace carom::CAROM_PROCESSOR
