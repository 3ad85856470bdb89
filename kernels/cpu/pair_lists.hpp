#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/core/pages.hpp"
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
    }
    [[nodiscard]] int threads() const { return static_cast<int>(rows_.size()); }
    [[nodiscard]] SlotRange range(int thread) const { return {begin(thread), begin(thread + 1)}; }

    /// Builds the lists of this thread's blocks.
    /// \param cell_start  first slot of each cell, one more at the end
    template <class Real, int Dim>
    void build(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls,
               const std::uint32_t* cell_start, int thread);

    [[nodiscard]] const Block& block(std::uint32_t b) const { return blocks_[b]; }
    /// The rows of a thread, of which a block has pairs / 8, rounded up, from first_row on.
    [[nodiscard]] PairRow row(int thread, std::uint32_t row) const {
        const Rows& rows = rows_[static_cast<std::size_t>(thread)];
        return {rows.other.data() + std::size_t{row} * kLanes, rows.own.data() + std::size_t{row} * kLanes};
    }
    [[nodiscard]] std::uint64_t memory_bytes() const {
        std::uint64_t bytes = blocks_.capacity() * sizeof(Block);
        for (const Rows& rows : rows_) bytes += rows.other.capacity() * sizeof(std::uint32_t) + rows.own.capacity();
        return bytes;
    }

private:
    /// Pairs, in rows of eight.
    struct Rows {
        PageVector<std::uint32_t> other;
        PageVector<std::uint8_t> own;

        void grow_to(std::size_t pairs) {
            if (pairs <= other.size()) return;
            const std::size_t size = pairs * 9 / 8 + 64 * kLanes;  // doubling would waste
            other.resize(size);
            own.resize(size);
        }
    };

    [[nodiscard]] std::uint32_t begin(int thread) const {
        const auto block = static_cast<std::uint32_t>(blocks_.size() * static_cast<std::size_t>(thread) / rows_.size());
        return std::min(block * kLanes, active_);
    }

    std::uint32_t active_ = 0;
    PageVector<Block> blocks_;
    std::vector<Rows> rows_;  // one per thread
};

/// In user coordinates [length].
template <class Real, int Dim>
Vec<double, Dim> position_of(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls,
                             std::uint32_t slot) {
    Vec<typename Phase<Real>::Stored, Dim> x;
    for (int axis = 0; axis < Dim; ++axis) x[axis] = balls.x[axis][slot];
    return user_position(params, wide_position(params, x, params.grid.cell(balls.cell[slot])));
}

/// Whether a ball that moves by less than half of `margin` [length] can reach a face: sharper than the grid's answer,
/// which is by cells.
template <class Real, int Dim>
bool near_face(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls, std::uint32_t slot,
               double margin) {
    const Vec<double, Dim> position = position_of(params, balls, slot);
    const Real radius = balls.radius != nullptr ? balls.radius[slot] : params.uniform_radius;
    const double reach = (static_cast<double>(radius) + 0.5 * margin) * (1.0 + 1e-6);
    for (int axis = 0; axis < Dim; ++axis) {
        if (params.grid.periodic[axis]) continue;
        const double above_min = position[axis] - params.box_min[axis];
        if (above_min < reach || params.box_size[axis] - above_min < reach) return true;
    }
    return false;
}

/// Some of SpringParams::boundaries.
struct WallRange {
    int first = 0;
    int end = 0;
};
template <class Real, int Dim>
WallRange reflecting_walls(const SpringParams<Real, Dim>& params) {
    return {0, params.boundary_count};
}
template <class Real, int Dim>
WallRange thermal_walls(const SpringParams<Real, Dim>& params) {
    return {params.boundary_count, params.boundary_count + params.thermal_count};
}

/// The largest speed of a wall along its normal [velocity].
template <class Real, int Dim>
double fastest_wall(const SpringParams<Real, Dim>& params, WallRange walls) {
    double fastest = 0.0;
    for (int index = walls.first; index < walls.end; ++index) {
        fastest = std::max(fastest, std::abs(params.boundaries[index].speed));
    }
    return fastest;
}

/// Whether a ball that moves by less than half of `margin` can reach one of these walls, if that is a [[wall]] and
/// moves by no more than that either. \param walls_time  SpringParams::walls_time
template <class Real, int Dim>
bool near_wall(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls, std::uint32_t slot,
               double margin, WallRange walls, double walls_time) {
    if (!params.has_shapes) return false;
    const Vec<double, Dim> position = position_of(params, balls, slot);
    const Real radius = balls.radius != nullptr ? balls.radius[slot] : params.uniform_radius;
    for (int index = walls.first; index < walls.end; ++index) {
        const Boundary<Dim>& wall = params.boundaries[index];
        constexpr int kFaces = 6;
        if (wall.number < kFaces) continue;  // near_face
        for (int axis = 0; axis < Dim && wall.shape == BoundaryShape::kPlane; ++axis) {
            // Its nearest image changes with a jump.
            if (params.grid.periodic[axis] && wall.plane.normal[axis] != 0.0) return true;
        }
        const double way = 0.5 * margin * (wall.speed != 0.0 ? 2.0 : 1.0);
        const double reach = (static_cast<double>(radius) + way) * (1.0 + 1e-6);
        if (!(wall_gap(params, wall, position, walls_time).distance >= reach)) return true;
    }
    return false;
}

template <class Real, int Dim>
void PairLists::build(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls,
                      const std::uint32_t* cell_start, int thread) {
    Rows& rows = rows_[static_cast<std::size_t>(thread)];
    const SlotRange mine = range(thread);
    const NearFilter<Real, Dim> filter(params, balls, params.margin);
    const WallRange walls = reflecting_walls(params);
    const bool walls_move = fastest_wall(params, walls) > 0.0;  // for how long the lists last is not known
    std::size_t count = 0;  // of pairs so far, each block's rounded up to whole rows
    for (std::uint32_t first = mine.begin; first < mine.end; first += kLanes) {
        const std::size_t begin = count;
        unsigned near_faces = 0;
        for (std::uint32_t i = first; i < std::min(first + kLanes, mine.end); ++i) {
            const auto cell = params.grid.cell(balls.cell[i]);
            if (walls_move || (!params.grid.interior(cell) && near_face(params, balls, i, params.margin)) ||
                near_wall(params, balls, i, params.margin, walls, 0.0)) {
                near_faces |= 1U << (i - first);
            }
            const auto own = filter.same(i);
            const std::size_t begin_of_ball = count;
            const auto look = [&](std::uint32_t from, std::uint32_t to) {
                filter.for_each_eight(own, from, to, [&](std::uint32_t at, unsigned near) {
                    rows.grow_to(count + 2 * kLanes);
                    count += keep_slots(at, near, rows.other.data() + count);
                });
            };
            params.grid.for_each_range(cell, [&](std::uint32_t first_cell, std::uint32_t last_cell) {
                const std::uint32_t from = cell_start[first_cell];
                const std::uint32_t to = cell_start[last_cell];
                look(from, std::min(to, mine.begin));
                look(std::max(from, i + 1), std::min(to, mine.end));
                look(std::max(from, mine.end), to);
            });
            std::fill(rows.own.begin() + static_cast<std::ptrdiff_t>(begin_of_ball),
                      rows.own.begin() + static_cast<std::ptrdiff_t>(count), static_cast<std::uint8_t>(i - first));
        }
        const auto pairs = static_cast<std::uint32_t>(count - begin);
        const auto first_row = static_cast<std::uint32_t>(begin / kLanes);
        // What a row holds behind the last pair is read, if not used: it must be slots and lanes.
        for (; count % kLanes != 0; ++count) {
            rows.other[count] = first;
            rows.own[count] = 0;
        }
        blocks_[first / kLanes] = {first_row, pairs & 0xffffffU, near_faces & 0xffU};
    }
}

}  // namespace carom
