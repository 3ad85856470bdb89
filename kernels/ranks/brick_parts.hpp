#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "kernels/ranks/brick_engine.hpp"
#include "kernels/ranks/cut.hpp"
#include "kernels/ranks/transport.hpp"
#include "kernels/spring_params.hpp"

// What bricks of all processors do alike: what they say to each other.

namespace carom {

/// A ball that changes hands, or a copy of one.
template <class Real, int Dim>
struct BrickRecord {
    typename Phase<Real>::Stored x[Dim];
    Real v[Dim];
    Real radius;
    Real inverse_mass;
    std::int32_t image[Dim];
    std::uint32_t id;
    std::uint32_t cell;  ///< of the box; of a copy, of the receiver's window
};

/// What is told beside the places of balls, and alone by who cannot go on.
struct BrickHeader {
    double moved;  ///< by any ball of the sender in its last step [length]
    std::uint64_t held_up;
};

/// Of work, a pair being 1: profiles of gases of disks and spheres give a ball 0.7 and 1.0 of a pair's time, searches
/// and sorts included.
constexpr std::uint64_t kWorkOfBall = 1;

/// Which brick it is to be: rank 0 knows, for all.
struct BrickKind {
    int dimension = 0;
    bool double_precision = false;
    std::array<int, 3> layers{};

    /// Together. \param setup  null on others than rank 0
    static BrickKind agree(Transport& transport, const SpringSetup* setup, const std::array<int, 3>& layers) {
        BrickKind kind;
        if (setup != nullptr) kind = {setup->dimension, setup->double_precision, layers};
        transport.broadcast_value(kind);
        return kind;
    }
};

/// The cut to begin with, of layers that are alike. \throws CannotShare
template <int Dim>
Cut even_cut(const Grid<Dim>& grid, int ranks, const std::array<int, 3>& layers) {
    const auto along =
        layers_per_axis(ranks, Dim, std::span(&grid.cells[0], Dim), std::span(&grid.periodic[0], Dim), layers);
    Cut cut;
    cut.dimension = Dim;
    for (int axis = 0; axis < Dim; ++axis) {
        const std::vector<std::uint64_t> even(static_cast<std::size_t>(grid.cells[axis]), 1);
        cut.faces[axis] = balanced_faces(even, along[axis]);
    }
    return cut;
}

/// The cut of as many layers that shares the ranks' work best, together.
inline Cut balanced_cut(Transport& transport, const BrickEngine& bricks) {
    Cut balanced = bricks.cut();
    for (int axis = 0; axis < balanced.dimension; ++axis) {
        if (!balanced.cuts(axis)) continue;
        auto weight = bricks.work_along(axis);
        transport.sum_all(weight);
        balanced.faces[axis] = balanced_faces(weight, balanced.along(axis));
    }
    return balanced;
}

/// Rank 0 gives every rank its balls, and this one those that it returns; a ball that is gone is nobody's.
/// \param balls  null on others than rank 0
template <class Real, int Dim>
std::vector<BrickRecord<Real, Dim>> deal_from_rank_0(Transport& transport, const SpringParams<Real, Dim>& params,
                                                     const Cut& cut, const RawBalls* balls) {
    using Record = BrickRecord<Real, Dim>;
    if (balls == nullptr) return values_in<Record>(transport.receive_from(0));
    const auto place = [&](std::size_t id, Record& record) {
        Vec<std::int64_t, Dim> wide;
        for (int axis = 0; axis < Dim; ++axis) {
            wide[axis] = params.coordinates.from_position(axis, balls->position[axis][id]);
            record.image[axis] = balls->image[axis][id] + params.coordinates.wrap(axis, wide[axis]);
            record.x[axis] = Coordinates<Real, Dim>::narrow(wide[axis]);
            record.v[axis] = static_cast<Real>(balls->velocity[axis][id]);
        }
        record.radius = static_cast<Real>(balls->radius[id]);
        record.inverse_mass = static_cast<Real>(balls->inverse_mass[id]);
        record.id = static_cast<std::uint32_t>(id);
        const auto cell = params.grid.cell_of(wide);
        record.cell = params.grid.number(cell);
        return cut.owner(std::span(&cell[0], Dim));
    };
    std::vector<std::uint16_t> owner(balls->count);
    Record record{};
    for (std::size_t id = 0; id < balls->count; ++id) {
        if (!balls->gone[id]) owner[id] = static_cast<std::uint16_t>(place(id, record));
    }
    std::vector<std::byte> bytes;
    for (int rank = transport.size() - 1; rank >= 0; --rank) {
        bytes.clear();
        for (std::size_t id = 0; id < balls->count; ++id) {
            if (balls->gone[id] || owner[id] != rank) continue;
            place(id, record);
            append(bytes, record);
        }
        if (rank > 0) transport.send_to(rank, bytes);
    }
    return values_in<Record>(bytes);
}

/// Balls on their way to other ranks, when bricks may change.
template <class Real, int Dim>
class BallsOnTheMove {
public:
    /// \param neighbours  of the bricks as they are
    /// \param changes     whether the cut does: then any rank may get balls of any
    BallsOnTheMove(Transport& transport, const std::vector<int>& neighbours, bool changes)
        : transport_(transport), ranks_(neighbours), place_of_(static_cast<std::size_t>(transport.size()), -1) {
        if (changes) {
            ranks_.clear();
            for (int rank = 0; rank < transport.size(); ++rank) {
                if (rank != transport.rank()) ranks_.push_back(rank);
            }
        }
        for (std::size_t k = 0; k < ranks_.size(); ++k) {
            place_of_[static_cast<std::size_t>(ranks_[k])] = static_cast<int>(k);
        }
        out_.resize(ranks_.size());
    }

    void add(int owner, const BrickRecord<Real, Dim>& record) {
        append(out_.at(static_cast<std::size_t>(place_of_[static_cast<std::size_t>(owner)])), record);
    }
    /// Those that come in exchange, together.
    [[nodiscard]] std::vector<BrickRecord<Real, Dim>> exchange() const {
        std::vector<BrickRecord<Real, Dim>> records;
        for (const auto& bytes : transport_.exchange(ranks_, out_)) {
            const auto some = values_in<BrickRecord<Real, Dim>>(bytes);
            records.insert(records.end(), some.begin(), some.end());
        }
        return records;
    }

private:
    Transport& transport_;
    std::vector<int> ranks_;
    std::vector<int> place_of_;
    std::vector<std::vector<std::byte>> out_;
};

/// What neighbours have told.
struct BrickNews {
    bool all = true;     ///< can go on
    double moved = 0.0;  ///< by any ball of theirs in their last steps [length]

    void hear(const std::byte* message) {
        BrickHeader told{};
        std::memcpy(&told, message, sizeof told);
        all = all && told.held_up == 0;
        moved = std::max(moved, told.moved);
    }
};

}  // namespace carom
