#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include "kernels/cpu/candidate_filter.hpp"
#include "kernels/spring_contact.hpp"

namespace carom {

/// Memory aligned for SIMD loads, grown without keeping its contents' order of bytes special.
template <class T>
struct AlignedAllocator {
    using value_type = T;
    AlignedAllocator() = default;
    template <class U>
    explicit AlignedAllocator(const AlignedAllocator<U>&) {}
    T* allocate(std::size_t n) { return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64})); }
    void deallocate(T* p, std::size_t) { ::operator delete (p, std::align_val_t{64}); }
    friend bool operator==(AlignedAllocator, AlignedAllocator) { return true; }
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

/// Who may touch whom until the next sort. Balls in cell order are taken in blocks of eight; block b has rows of
/// eight slots, lane l of a row naming a candidate of the block's ball l. A ball with fewer candidates than its
/// block has rows is padded with itself. Threads fill and read their own range of blocks.
class CandidateLists {
public:
    struct Block {
        std::uint32_t first_row;  // in its thread's rows
        std::uint32_t rows : 24;
        std::uint32_t near_faces : 8;  // bit l: lane l can reach a face or wall before the next sort
    };

    /// Blocks [begin, end) that thread `thread` of `threads` owns.
    static std::uint32_t range_begin(std::uint32_t blocks, int thread, int threads) {
        return static_cast<std::uint32_t>(static_cast<std::uint64_t>(blocks) * static_cast<unsigned>(thread) /
                                          static_cast<unsigned>(threads));
    }

    void resize(std::uint32_t blocks, int threads) {
        blocks_.resize(blocks);
        rows_.resize(static_cast<std::size_t>(threads));
        for (auto& rows : rows_) rows.clear();
    }
    [[nodiscard]] int threads() const { return static_cast<int>(rows_.size()); }
    [[nodiscard]] std::uint32_t blocks() const { return static_cast<std::uint32_t>(blocks_.size()); }

    /// Builds the lists of this thread's blocks.
    /// \param cell_start  first slot of each cell, one more at the end
    template <class Real, int Dim>
    void build(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls,
               const std::uint32_t* cell_start, std::uint32_t active, int thread);

    [[nodiscard]] const Block& block(std::uint32_t b) const { return blocks_[b]; }
    [[nodiscard]] const std::uint32_t* row(int thread, std::uint32_t row) const {
        return rows_[static_cast<std::size_t>(thread)].data() + static_cast<std::size_t>(row) * kLanes;
    }
    [[nodiscard]] std::uint64_t memory_bytes() const {
        std::uint64_t bytes = blocks_.capacity() * sizeof(Block);
        for (const auto& rows : rows_) bytes += rows.capacity() * sizeof(std::uint32_t);
        return bytes;
    }

private:
    std::vector<Block> blocks_;
    std::vector<AlignedVector<std::uint32_t>> rows_;  // one per thread
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
void CandidateLists::build(const SpringParams<Real, Dim>& params, const BallsView<Real, Dim>& balls,
                           const std::uint32_t* cell_start, std::uint32_t active, int thread) {
    auto& rows = rows_[static_cast<std::size_t>(thread)];
    std::vector<std::uint32_t> found[kLanes];
    const auto margin = static_cast<Real>(params.margin * (1.0 + 1e-5));
    const std::uint32_t end = range_begin(blocks(), thread + 1, threads());
    for (std::uint32_t b = range_begin(blocks(), thread, threads()); b < end; ++b) {
        std::size_t most = 0;
        unsigned near_faces = 0;
        for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
            found[lane].clear();
            const std::uint32_t i = b * kLanes + lane;
            if (i >= active) continue;
            const auto cell = params.grid.cell(balls.cell[i]);
            Vec<typename Phase<Real>::Stored, Dim> x;
            for (int axis = 0; axis < Dim; ++axis) x[axis] = balls.x[axis][i];
            const Real radius = balls.radius != nullptr ? balls.radius[i] : params.uniform_radius;
            const bool near = params.has_shapes || (!params.grid.interior(cell) && near_face(params, x, cell, radius));
            near_faces |= near ? 1U << lane : 0U;
            params.grid.for_each_range(cell, [&](std::uint32_t first, std::uint32_t last) {
                for (std::uint32_t j = cell_start[first]; j < cell_start[last]; ++j) {
                    Vec<typename Phase<Real>::Stored, Dim> y;
                    for (int axis = 0; axis < Dim; ++axis) y[axis] = balls.x[axis][j];
                    const auto d = params.coordinates.displacement(x, y);
                    const Real reach =
                        radius + (balls.radius != nullptr ? balls.radius[j] : params.uniform_radius) + margin;
                    if (dot(d, d) < reach * reach && j != i) found[lane].push_back(j);
                }
            });
            most = std::max(most, found[lane].size());
        }
        const std::size_t at = rows.size();
        blocks_[b] = {static_cast<std::uint32_t>(at / kLanes), static_cast<std::uint32_t>(most) & 0xffffffU,
                      near_faces & 0xffU};
        if (rows.capacity() < at + most * kLanes) rows.reserve((at + most * kLanes) * 9 / 8);  // doubling would waste
        rows.resize(at + most * kLanes);
        for (std::size_t row = 0; row < most; ++row) {
            for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
                // lanes beyond the last ball name themselves too: slots there are allocated, and never touch
                rows[at + row * kLanes + lane] = row < found[lane].size() ? found[lane][row] : b * kLanes + lane;
            }
        }
    }
}

}  // namespace carom
