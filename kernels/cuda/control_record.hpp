#pragma once

#include <cstdint>

#include "kernels/core/wide_count.hpp"
#include "kernels/cuda/atomics.hpp"
#include "kernels/spring_control.hpp"
#include "kernels/spring_params.hpp"

namespace carom::CAROM_PROCESSOR {

/// What steers a run from the device: the host puts many steps into the queue and looks at this afterwards. Once a
/// step shows a fault or makes a sort due, `halted` turns the steps still queued into nothing.
template <class Real, int Dim>
struct ControlRecord {
    using Word = typename Phase<Real>::Stored;  // bits of a Real

    std::uint64_t step;  ///< steps done since the start of the run
    std::uint32_t halted;
    std::uint32_t active;    ///< balls still in; their slots come first
    StepNow<Real, Dim> now;  ///< of the next step
    double motion;           ///< bound on how far any ball has moved since the sort [length]
    double last_motion;      ///< the last step's share of it [length]

    std::uint64_t fault_key;
    std::uint64_t balls_left;                 ///< since the start of this engine
    Word max_overlap;                         ///< bits; since the start of this engine
    Word largest_speed_squared;               ///< bits; of this step
    std::uint32_t tickets;                    ///< blocks that have ended this step
    std::int64_t step_impulse[kWallNumbers];  ///< of this step, in units of impulse_grid
    WideCount impulse[kWallNumbers];          ///< since the start of this engine
    std::int64_t step_heat[kHeatSources];     ///< of this step, in units of heat_grid
    WideCount heat[kHeatSources];             ///< since the start of this engine
};

/// What one thread counts in a step.
template <class Real, int Dim>
struct DeviceTally {
    using Word = typename Phase<Real>::Stored;

    ControlRecord<Real, Dim>* record;
    const std::uint32_t* id;
    Real max_overlap = Real(0);
    Real speed_squared = Real(0);

    CAROM_HD void fault(SpringFault::Kind kind, std::uint32_t slot, std::uint32_t other) {
        lower_shared(&record->fault_key, FaultKey::pack(kind, id[slot], other));
    }
    CAROM_HD void overlap(Real fraction) { max_overlap = larger(fraction, max_overlap); }
    CAROM_HD void wall_impulse(std::int32_t wall, std::int64_t steps) {
        add_shared(&record->step_impulse[wall], steps);
    }
    CAROM_HD void heat(int source, std::int64_t steps) { add_shared(&record->step_heat[source], steps); }
    CAROM_HD void moved(std::uint32_t slot, Real speed_squared_, bool sane) {
        if (sane) {
            speed_squared = speed_squared_;
            return;
        }
        const bool number = speed_squared_ == speed_squared_;
        fault(number ? SpringFault::Kind::kTooFast : SpringFault::Kind::kNotANumber, slot, 0);
    }
    CAROM_HD void left(std::uint8_t* gone, std::uint32_t ball) {
        gone[ball] = 1;
        add_shared(&record->balls_left, std::uint64_t{1});
    }

    [[nodiscard]] CAROM_HD StepPeaks<Word> peaks() const { return {to_bits(speed_squared), to_bits(max_overlap)}; }
};

/// Ends a step, in one thread: counts it and prepares the next, or halts. A step with a fault does not count.
template <class Real, int Dim>
CAROM_HD void end_step(const SpringParams<Real, Dim>& params, ControlRecord<Real, Dim>& record, int wall_numbers) {
    const bool fault = load_shared(&record.fault_key) != FaultKey::kNone;
    for (int wall = 0; wall < wall_numbers; ++wall) {
        const std::int64_t impulse = load_shared(&record.step_impulse[wall]);
        if (impulse == 0) continue;
        record.step_impulse[wall] = 0;
        if (!fault) record.impulse[wall].add(impulse);
    }
    for (int source = 0; params.refreshes() && source < kHeatSources; ++source) {
        const std::int64_t heat = load_shared(&record.step_heat[source]);
        if (heat == 0) continue;
        record.step_heat[source] = 0;
        if (!fault) record.heat[source].add(heat);
    }
    const Real fastest = from_bits(load_shared(&record.largest_speed_squared));
    record.largest_speed_squared = 0;
    record.tickets = 0;
    if (fault) {
        record.halted = 1;
        return;
    }
    record.last_motion = motion_bound(params, static_cast<double>(fastest));
    record.motion += record.last_motion;
    record.halted = sort_due(params, record.motion) ? 1 : 0;
    ++record.step;
    record.now = step_now(params, record.step);
}

}  // namespace carom::CAROM_PROCESSOR
