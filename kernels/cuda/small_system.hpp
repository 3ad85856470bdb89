#pragma once

#include <cstdint>

#include "kernels/cuda/crew.hpp"
#include "kernels/cuda/engine_bodies.hpp"

// A small system as a crew carries it on: the steps of StepBody, and the sorts between them, in one launch. It leaves
// everything as launches of their own would, but for the order of balls within a cell.

namespace carom::CAROM_PROCESSOR {

/// Numbers that a crew needs to add up over its blocks: no grid has more.
constexpr std::size_t kMostCrewBlocks = kCrewBalls / kBlockThreads + 1;

/// Where everything of a system is, in its engine's memory on the device.
template <class Real, int Dim>
struct SmallSystem {
    SpringParams<Real, Dim> params;
    // By motion and labels: a step goes to the other motion, a sort to both others. Views as bodies take them, so that
    // threads read pointers when they need them, and do not keep them all in registers.
    StateView<Real, Dim> state[2][2];
    OrderedView<Real, Dim> ordered[2][2];
    MovedView<Real, Dim> moved[2];  // by motion
    Vec<std::int32_t*, Dim> image;
    CellOrder order;
    NearLists lists;
    ControlRecord<Real, Dim>* record;
    std::uint32_t* block_sums;  // kMostCrewBlocks
    std::uint64_t wall_numbers;
};

/// A sort, in the crew that is to go on behind it.
/// \param motion, labels  where the balls are; from then on, in the others
template <class Kind>
CAROM_HD void sort_small(const Crew& crew, const SmallSystem<typename Kind::Real, Kind::kDim>& system,
                         std::uint32_t motion, std::uint32_t labels) {
    using NearKind = StepKind<typename Kind::Real, Kind::kDim, false, Kind::kUniform>;  // who is near asks for no more
    const auto& params = system.params;
    auto& record = *system.record;
    const CellOrder& order = system.order;
    const std::uint32_t cells = params.grid.count();
    const std::uint32_t before = record.active;
    const auto& from = system.state[motion][labels];
    crew.each(cells + 1, [&](std::uint32_t cell) { order.start[cell] = 0; });
    crew.meet();
    crew.each(before, [&](std::uint32_t slot) {
        order.put(slot, new_cell(params, from, system.image, slot));
        order.take_place(slot);
    });
    crew.meet();
    crew.sum_before(order.start, cells + 1, system.block_sums);
    crew.meet();
    const auto& to = system.ordered[1 - motion][1 - labels];
    crew.each(before, [&](std::uint32_t slot) {
        ReorderBody<typename Kind::Real, Kind::kDim>{order, from.balls, to}(slot);
    });
    crew.meet([&](int thread, int /*threads*/) {
        if (thread != 0) return;
        SortedBody<typename Kind::Real, Kind::kDim>{&record, order.start + cells}(0);
        ++record.sorts;
    });
    const auto& state = system.state[1 - motion][1 - labels];
    crew.each_group((record.active + kGroup - 1) / kGroup, [&](std::uint32_t group) {
        list_group<NearKind, false>(params, state, record, system.lists, group);
    });
    crew.meet();
}

/// How far a crew is to carry a system on.
template <class Real, int Dim>
struct StepErrand {
    const SmallSystem<Real, Dim>* where;
    ControlRecord<Real, Dim>* seen;  ///< gets what the record is at the end
    std::uint64_t until;             ///< step
    std::uint32_t motion;            ///< where the state is at the beginning
    std::uint32_t labels;
    Gate gate;
};

/// Steps, and sorts when they are due. Ends before the step that it was to come to where there is a fault, or lists
/// have outgrown their room.
template <class Kind>
struct CarryOnBody {
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;
    using Errand = StepErrand<Real, kDim>;

    CAROM_HD static void run(const Errand& errand, const Crew& crew) {
        using NearKind = StepKind<Real, kDim, false, Kind::kUniform>;
        using Word = typename Phase<Real>::Stored;
        const SmallSystem<Real, kDim>& system = crew.keep(*errand.where);
        const auto& params = system.params;
        const int wall_numbers = static_cast<int>(system.wall_numbers);
        auto& record = *system.record;
        std::uint32_t motion = errand.motion;
        std::uint32_t labels = errand.labels;
        // Each thread reckons for itself what steers the crew, alike: then a step has one meeting, and nobody waits for
        // somebody who does. The record is told at the end.
        std::uint64_t step = record.step;
        double moved = record.motion;
        double last_moved = record.last_motion;
        bool halted = record.halted != 0;
        bool fault = false;
        StepPeaks<Word> peaks;  // its overlap is that of all steps
        crew.aside(0, [&](int thread, int /*threads*/) {
            for (int k = 0; k < 3 && thread == 0; ++k) record.crew_speed_squared[k] = 0;
        });
        crew.meet();
        const std::uint64_t until = errand.until;
        while (step < until) {
            if (sort_due(params, moved)) {
                sort_small<Kind>(crew, system, motion, labels);
                motion = 1 - motion;
                labels = 1 - labels;
                moved = 0.0;
                halted = record.halted != 0;
                if (halted) crew.meet();  // all have read it
            }
            if (halted) break;
            const auto& state = system.state[motion][labels];
            const std::uint32_t active = record.active;
            StepCounts& counts = record.counts[step % 2];
            peaks.speed_squared = 0;
            if (params.refreshes()) {
                const auto& velocity = system.ordered[motion][labels].v;
                crew.each(active, [&](std::uint32_t slot) {
                    peaks.raise(refresh_slot<NearKind>(params, state, velocity, &record, step, counts, slot));
                });
                crew.meet();
            }
            const auto& out = system.moved[1 - motion];
            const auto& now = record.nows[step % 2];
            crew.each(active, [&](std::uint32_t slot) {
                peaks.raise(step_slot<Kind, true, true>(params, state, system.lists, out, &record, now, counts, slot));
            });
            crew.aside(0, [&](int thread, int /*threads*/) {
                if (thread != 0) return;
                prepare_step(params, record, step + 1);
                record.crew_speed_squared[(step + 1) % 3] = 0;
            });
            crew.aside(1, [&](int thread, int threads) {  // the step before
                count_step(params, record, record.counts[(step + 1) % 2], false, wall_numbers, thread, threads);
            });
            const Word fastest = crew.agree(peaks.speed_squared, &record.crew_speed_squared[step % 3]);
            // Not by the key in the record: others may already write there for the next step.
            fault = fastest == kFaultySpeed<Word>;
            if (fault) break;
            last_moved = motion_bound(params, static_cast<double>(square_root(from_bits(fastest))));
            moved += last_moved;
            motion = 1 - motion;
            ++step;
            halted = false;
        }
        crew.offer(peaks, [&](const auto& largest) { raise_shared(&record.max_overlap, largest.overlap); });
        crew.aside(0, [&](int thread, int threads) {
            count_step(params, record, record.counts[(step + 1) % 2], false, wall_numbers, thread, threads);
            count_step(params, record, record.counts[step % 2], fault, wall_numbers, thread, threads);
            if (thread != 0) return;
            record.step = step;
            record.motion = moved;
            record.last_motion = last_moved;
            record.halted = halted || fault || sort_due(params, moved) ? 1 : 0;
        });
        crew.meet();
        crew.copy(record, *errand.seen);
    }
};

}  // namespace carom::CAROM_PROCESSOR
