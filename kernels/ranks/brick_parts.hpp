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

/// Rank 0 gives every rank its balls, some at a time, and this one those that it returns; a ball that is gone is
/// nobody's.
/// \param balls  null on others than rank 0
template <class Real, int Dim>
std::vector<BrickRecord<Real, Dim>> deal_from_rank_0(Transport& transport, const SpringParams<Real, Dim>& params,
                                                     const Cut& cut, const RawBalls* balls) {
    using Record = BrickRecord<Real, Dim>;
    std::vector<Record> mine;
    if (balls == nullptr) {
        for (;;) {
            const auto some = values_in<Record>(transport.receive_from(0));
            if (some.empty()) return mine;
            mine.insert(mine.end(), some.begin(), some.end());
        }
    }
    const auto place = [&](const RawBalls& part, std::size_t at, Record& record) {
        Vec<std::int64_t, Dim> wide;
        for (int axis = 0; axis < Dim; ++axis) {
            wide[axis] = params.coordinates.from_position(axis, part.position[axis][at]);
            record.image[axis] = part.image[axis][at] + params.coordinates.wrap(axis, wide[axis]);
            record.x[axis] = Coordinates<Real, Dim>::narrow(wide[axis]);
            record.v[axis] = static_cast<Real>(part.velocity[axis][at]);
        }
        record.radius = static_cast<Real>(part.radius[at]);
        record.inverse_mass = static_cast<Real>(part.inverse_mass[at]);
        record.id = static_cast<std::uint32_t>(part.first + at);
        const auto cell = params.grid.cell_of(wide);
        record.cell = params.grid.number(cell);
        return cut.owner(std::span(&cell[0], Dim));
    };
    // Few enough that what waits for all ranks is small, and many enough that a message is worth while.
    constexpr std::size_t kMost = std::size_t{1} << 20;  // bytes to a rank
    std::vector<std::vector<std::byte>> out(static_cast<std::size_t>(transport.size()));
    const auto send = [&](int rank) {
        transport.send_to(rank, out[static_cast<std::size_t>(rank)]);
        out[static_cast<std::size_t>(rank)].clear();
    };
    Record record{};
    balls->for_each_part([&](const RawBalls& part) {
        for (std::size_t at = 0; at < part.count; ++at) {
            if (part.gone[at]) continue;
            const int owner = place(part, at, record);
            if (owner == 0) {
                mine.push_back(record);
                continue;
            }
            append(out[static_cast<std::size_t>(owner)], record);
            if (out[static_cast<std::size_t>(owner)].size() >= kMost) send(owner);
        }
    });
    for (int rank = 1; rank < transport.size(); ++rank) {
        if (!out[static_cast<std::size_t>(rank)].empty()) send(rank);
        send(rank);  // nothing: there are no more
    }
    return mine;
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
