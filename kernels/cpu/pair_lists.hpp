#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/cpu/aligned_vector.hpp"
#include "kernels/cpu/near_filter.hpp"
#include "kernels/spring_contact.hpp"

namespace carom {

/// Slots [begin, end), the share of one thread.
struct SlotRange {
    std::uint32_t begin;
    std::uint32_t end;

    [[nodiscard]] bool has(std::uint32_t slot) const { return slot - begin < end - begin; }
};

/// Which pairs may touch until the next sort. Balls in cell order are taken in blocks of eight, and threads own ranges
/// of blocks. A pair within one thread's range stands once, in the block of its lower slot; a pair of two threads'
/// balls stands twice, once with each, so that no thread writes what is another's.
class PairLists {
public:
    struct Block {
        std::uint32_t first_row;  // in its thread's rows
        std::uint32_t pairs : 24;
        std::uint32_t near_faces : 8;  // bit l: ball l can reach a face or wall before the next sort
    };

    void resize(std::uint32_t active, int threads) {
        active_ = active;
        blocks_.resize((active + kLanes - 1) / kLanes);
        rows_.resize(static_cast<std::size_t>(threads));
        for (auto& rows : rows_) rows.clear();
    }
    [[nodiscard]] int threads() const { return static_cast<int>(rows_.size()); }
    [[nodiscard]] SlotRange range(int thread) const { return {begin(thread), begin(thread + 1)}; }

    /// Builds the lists of this thread's blocks.
    /// \param cell_start  first slot of each cell, one more at the end
    template <class Real, int Dim>
    void build(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls,
               const std::uint32_t* cell_start, int thread);

    [[nodiscard]] const Block& block(std::uint32_t b) const { return blocks_[b]; }
    [[nodiscard]] const PairRow* rows(int thread) const { return rows_[static_cast<std::size_t>(thread)].data(); }
    [[nodiscard]] std::uint64_t memory_bytes() const {
        std::uint64_t bytes = blocks_.capacity() * sizeof(Block);
        for (const auto& rows : rows_) bytes += rows.capacity() * sizeof(PairRow);
        return bytes;
    }

private:
    [[nodiscard]] std::uint32_t begin(int thread) const {
        const auto block = static_cast<std::uint32_t>(blocks_.size() * static_cast<std::size_t>(thread) / rows_.size());
        return std::min(block * kLanes, active_);
    }

    std::uint32_t active_ = 0;
    std::vector<Block> blocks_;
    std::vector<std::vector<PairRow>> rows_;  // one per thread
};

/// Whether a ball can reach a face before the next sort: sharper than the grid's answer, which is by cells.
template <class Real, int Dim>
bool near_face(const SpringParams<Real, Dim>& params, const Vec<typename Phase<Real>::Stored, Dim>& x,
               const Vec<std::int32_t, Dim>& cell, Real radius) {
    const auto position = user_position(params, wide_position(params, x, cell));
    const double reach = (static_cast<double>(radius) + 0.5 * params.margin) * (1.0 + 1e-6);
    for (int axis = 0; axis < Dim; ++axis) {
        if (params.grid.periodic[axis]) continue;
        const double above_min = position[axis] - params.box_min[axis];
        if (above_min < reach || params.box_size[axis] - above_min < reach) return true;
    }
    return false;
}

template <class Real, int Dim>
void PairLists::build(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls,
                      const std::uint32_t* cell_start, int thread) {
    auto& rows = rows_[static_cast<std::size_t>(thread)];
    const SlotRange mine = range(thread);
    const NearFilter<Real, Dim> filter(params, balls, params.margin);
    std::uint32_t pairs = 0;  // of the block at hand
    std::uint32_t first = 0;  // slot of its first ball
    const auto add = [&](std::uint32_t i, std::uint32_t j) {
        if (pairs % kLanes == 0) {
            if (rows.size() == rows.capacity()) rows.reserve(rows.size() * 9 / 8 + 16);  // doubling would waste
            // A row's unused places hold slots that may be read.
            rows.push_back({{first, first, first, first, first, first, first, first}, {}});
        }
        rows.back().other[pairs % kLanes] = j;
        rows.back().own[pairs % kLanes] = static_cast<std::uint8_t>(i - first);
        ++pairs;
    };
    for (first = mine.begin; first < mine.end; first += kLanes) {
        pairs = 0;
        unsigned near_faces = 0;
        const auto first_row = static_cast<std::uint32_t>(rows.size());
        for (std::uint32_t i = first; i < std::min(first + kLanes, mine.end); ++i) {
            const auto cell = params.grid.cell(balls.cell[i]);
            if (params.has_shapes || !params.grid.interior(cell)) {
                Vec<typename Phase<Real>::Stored, Dim> x;
                for (int axis = 0; axis < Dim; ++axis) x[axis] = balls.x[axis][i];
                const Real radius = balls.radius != nullptr ? balls.radius[i] : params.uniform_radius;
                if (params.has_shapes || near_face(params, x, cell, radius)) near_faces |= 1U << (i - first);
            }
            const auto own = filter.same(i);
            const auto look = [&](std::uint32_t from, std::uint32_t to) {
                if (from < to) filter.for_each_near(own, from, to, [&](std::uint32_t j) { add(i, j); });
            };
            params.grid.for_each_range(cell, [&](std::uint32_t first_cell, std::uint32_t last_cell) {
                const std::uint32_t from = cell_start[first_cell];
                const std::uint32_t to = cell_start[last_cell];
                look(from, std::min(to, mine.begin));
                look(std::max(from, i + 1), std::min(to, mine.end));
                look(std::max(from, mine.end), to);
            });
        }
        blocks_[first / kLanes] = {first_row, pairs & 0xffffffU, near_faces & 0xffU};
    }
}

}  // namespace carom
