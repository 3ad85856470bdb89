#include "host/observables/ball_cells.hpp"

#include <algorithm>
#include <cmath>

namespace carom {

namespace {

constexpr double kMostCells = 1 << 20;  // along an axis, so that their product is a number

}  // namespace

void BallCells::build(const Box& box, double reach, const Frame& frame, std::span<const std::uint32_t> ids) {
    dimension_ = static_cast<std::size_t>(box.dimension);
    cells_ = {1, 1, 1};
    for (std::size_t axis = 0; axis < dimension_; ++axis) {
        periodic_[axis] = box.periodic(static_cast<int>(axis));
        low_[axis] = box.min[axis];
        half_[axis] = 0.5 * box.size[axis];
        cells_[axis] = static_cast<std::size_t>(std::clamp(std::floor(box.size[axis] / reach), 1.0, kMostCells));
    }
    // Where balls are few the cells are wider than they must be, the more there are of them along an axis the sooner.
    const auto total_cells = [&] { return cells_[0] * cells_[1] * cells_[2]; };
    while (total_cells() > ids.size() + 64) {
        std::size_t& longest = *std::ranges::max_element(cells_);
        longest = (longest + 1) / 2;
    }
    for (std::size_t axis = 0; axis < dimension_; ++axis) {
        per_length_[axis] = static_cast<double>(cells_[axis]) / box.size[axis];
    }
    const std::size_t total = total_cells();
    begin_.assign(total + 1, 0);
    cell_of_ball_.resize(ids.size());
    for (std::size_t k = 0; k < ids.size(); ++k) {
        std::size_t cell = 0;
        for (std::size_t axis = dimension_; axis-- > 0;) {
            cell = cell * cells_[axis] + cell_of(axis, frame.position[axis][ids[k]]);
        }
        cell_of_ball_[k] = cell;
        ++begin_[cell + 1];
    }
    for (std::size_t cell = 0; cell < total; ++cell) begin_[cell + 1] += begin_[cell];
    next_.assign(begin_.begin(), begin_.end() - 1);
    id_.resize(ids.size());
    for (std::size_t axis = 0; axis < dimension_; ++axis) place_[axis].resize(ids.size());
    for (std::size_t k = 0; k < ids.size(); ++k) {
        const std::size_t slot = next_[cell_of_ball_[k]]++;
        id_[slot] = ids[k];
        for (std::size_t axis = 0; axis < dimension_; ++axis) place_[axis][slot] = frame.position[axis][ids[k]];
    }
}

double BallCells::candidates() const {
    double squares = 0.0;
    for (std::size_t cell = 0; cell + 1 < begin_.size(); ++cell) {
        const auto count = static_cast<double>(begin_[cell + 1] - begin_[cell]);
        squares += count * count;
    }
    double around = 1.0;
    for (std::size_t axis = 0; axis < dimension_; ++axis) {
        around *= static_cast<double>(std::min<std::size_t>(3, cells_[axis]));
    }
    const auto all = static_cast<double>(id_.size());
    return id_.empty() ? 0.0 : std::min(all, around * squares / all);
}

std::size_t BallCells::cell_of(std::size_t axis, double at) const {
    const double cell = (at - low_[axis]) * per_length_[axis];
    if (!(cell > 0.0)) return 0;
    return std::min(cells_[axis] - 1, static_cast<std::size_t>(cell));
}

std::size_t BallCells::neighbours(std::size_t axis, std::size_t cell, std::array<std::size_t, 3>& found) const {
    const std::size_t count = cells_[axis];
    std::size_t size = 0;
    found[size++] = cell;
    const bool around = periodic_[axis] && count > 2;  // of two cells the other one is the neighbour on both sides
    if (cell > 0) {
        found[size++] = cell - 1;
    } else if (around) {
        found[size++] = count - 1;
    }
    if (cell + 1 < count) {
        found[size++] = cell + 1;
    } else if (around) {
        found[size++] = 0;
    }
    return size;
}

}  // namespace carom
