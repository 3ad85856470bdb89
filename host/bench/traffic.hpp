#pragma once

#include "host/bench/request.hpp"

namespace carom {

/// Bytes that a time step of one ball cannot do without: its position and velocity in and out once, everything else
/// from caches. So no program of this precision that keeps its state in memory beats bandwidth / bytes_counted.
/// \param double_precision  8 bytes a number, else 4
constexpr double bytes_counted(int dimension, bool double_precision) {
    const double numbers = 2.0 * dimension;  // position and velocity
    return 2.0 * numbers * (double_precision ? 8.0 : 4.0);
}

/// Bytes that carom's step on the GPU streams: bytes_counted, the number of the ball's cell, the starts of the cells,
/// and its share of the sorts. Neighbours' positions are taken to come from caches.
/// \param cells_per_ball  of the grid
/// \param steps_between_sorts  0: none was seen
constexpr double bytes_streamed_by_cell_walk(int dimension, bool double_precision, double cells_per_ball,
                                             double steps_between_sorts) {
    constexpr double kWord = 4.0;
    const double state = 0.5 * bytes_counted(dimension, double_precision);  // one way
    // Keys of 8 bytes: written from state, cell and id; sorted in 8 passes that read and write them, and one that
    // reads; then state, id, cell and the slot of each id are fetched and written, and the cells' starts are found.
    const double sort =
        (state + 2 * kWord + 8.0) + 8.0 * (2 * 8 + 1) + (8.0 + 2 * state + 4 * kWord) + (8.0 + kWord * cells_per_ball);
    const double share = steps_between_sorts > 0.0 ? sort / steps_between_sorts : 0.0;
    return 2 * state + kWord + kWord * cells_per_ball + share;
}

}  // namespace carom
