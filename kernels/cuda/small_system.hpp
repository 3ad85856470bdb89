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
struct CrewTask {
    const SmallSystem<Real, Dim>* where;
    ControlRecord<Real, Dim>* seen;  ///< gets what the record is at the end
    std::uint64_t until;             ///< step
    std::uint32_t motion;            ///< where the state is at the beginning
    std::uint32_t labels;
};

/// Where a crew is with a system. Each thread reckons for itself what steers the crew, alike: then a step has one
/// meeting, and nobody waits for somebody who does. The record is told at the end.
template <class Real>
struct CrewPlace {
    std::uint64_t step;
    double moved;       ///< since the sort, as ControlRecord::motion
    double last_moved;  ///< in the last step
    std::uint32_t motion;
    std::uint32_t labels;
    bool fault = false;                               ///< in the step behind this place
    StepPeaks<typename Phase<Real>::Stored> peaks{};  ///< of this thread; the overlap that of all steps
};

/// Steps, and sorts when they are due. Ends before the step that it was to come to where there is a fault, or lists
/// have outgrown their room.
/// \param step  step(place) goes on by a step at least, or says that the next has a fault
template <class Kind, class Step>
CAROM_HD void carry_on(const Crew& crew, const SmallSystem<typename Kind::Real, Kind::kDim>& system,
                       const SpringParams<typename Kind::Real, Kind::kDim>& params,
                       const CrewTask<typename Kind::Real, Kind::kDim>& task, Step&& step) {
    auto& record = *system.record;
    const int wall_numbers = static_cast<int>(system.wall_numbers);
    CrewPlace<typename Kind::Real> place{record.step, record.motion, record.last_motion, task.motion, task.labels};
    bool halted = record.halted != 0;
    crew.aside(0, [&](int thread, int /*threads*/) {
        for (int k = 0; k < 3 && thread == 0; ++k) record.crew_speed_squared[k] = 0;
    });
    crew.meet();
    while (place.step < task.until) {
        if (sort_due(params, place.moved)) {
            sort_small<Kind>(crew, system, place.motion, place.labels);
            place.motion = 1 - place.motion;
            place.labels = 1 - place.labels;
            place.moved = 0.0;
            halted = record.halted != 0;
            if (halted) crew.meet();  // all have read it
        }
        if (halted) break;
        step(place);
        if (place.fault) break;
        halted = false;
    }
    crew.offer(place.peaks, [&](const auto& largest) { raise_shared(&record.max_overlap, largest.overlap); });
    crew.aside(0, [&](int thread, int threads) {
        count_step(params, record, record.counts[(place.step + 1) % 2], false, wall_numbers, thread, threads);
        count_step(params, record, record.counts[place.step % 2], place.fault, wall_numbers, thread, threads);
        if (thread != 0) return;
        record.step = place.step;
        record.motion = place.moved;
        record.last_motion = place.last_moved;
        record.halted = halted || place.fault || sort_due(params, place.moved) ? 1 : 0;
    });
    crew.meet();
    crew.copy(record, *task.seen);
}

/// Behind a step that the crew has agreed on.
/// \param fastest  the largest square of a speed, or kFaultySpeed
template <class Real, int Dim>
CAROM_HD void count_motion(const SpringParams<Real, Dim>& params, typename Phase<Real>::Stored fastest,
                           CrewPlace<Real>& place) {
    // Not by the key in the record: others may already write there for the next step.
    place.fault = fastest == kFaultySpeed<typename Phase<Real>::Stored>;
    if (place.fault) return;
    place.last_moved = motion_bound(params, static_cast<double>(square_root(from_bits(fastest))));
    place.moved += place.last_moved;
    place.motion = 1 - place.motion;
    ++place.step;
}

template <class Real, int Dim>
struct StepErrand {
    CrewTask<Real, Dim> task;
    Gate gate;
};

/// Carries a system on by a crew of any shape.
template <class Kind>
struct CarryOnBody {
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;
    using Errand = StepErrand<Real, kDim>;

    CAROM_HD static void run(const Errand& errand, const Crew& crew) {
        using NearKind = StepKind<Real, kDim, false, Kind::kUniform>;
        const SmallSystem<Real, kDim>& system = crew.keep(*errand.task.where);
        const auto& params = system.params;
        const int wall_numbers = static_cast<int>(system.wall_numbers);
        auto& record = *system.record;
        carry_on<Kind>(crew, system, params, errand.task, [&](CrewPlace<Real>& place) {
            const std::uint64_t step = place.step;
            const auto& state = system.state[place.motion][place.labels];
            const std::uint32_t active = record.active;
            StepCounts& counts = record.counts[step % 2];
            place.peaks.speed_squared = 0;
            if (params.refreshes()) {
                const auto& velocity = system.ordered[place.motion][place.labels].v;
                crew.each(active, [&](std::uint32_t slot) {
                    place.peaks.raise(refresh_slot<NearKind>(params, state, velocity, &record, step, counts, slot));
                });
                crew.meet();
            }
            const auto& out = system.moved[1 - place.motion];
            const auto& now = record.nows[step % 2];
            crew.each(active, [&](std::uint32_t slot) {
                place.peaks.raise(
                    step_slot<Kind, true, true>(params, state, system.lists, out, &record, now, counts, slot));
            });
            crew.aside(0, [&](int thread, int /*threads*/) {
                if (thread != 0) return;
                prepare_step(params, record, step + 1);
                record.crew_speed_squared[(step + 1) % 3] = 0;
            });
            crew.aside(1, [&](int thread, int threads) {  // the step before
                count_step(params, record, record.counts[(step + 1) % 2], false, wall_numbers, thread, threads);
            });
            count_motion(params, crew.agree(place.peaks.speed_squared, &record.crew_speed_squared[step % 3]), place);
        });
    }
};

}  // namespace carom::CAROM_PROCESSOR
