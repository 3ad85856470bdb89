#pragma once

#include <algorithm>

#include "kernels/cpu/cpu_engine.hpp"

// The pass before a step in which velocities are drawn anew (kernels/spring_refresh.hpp), by the threads of the CPU.

namespace carom {

/// Fewer balls than this per thread cost more in waking threads than they gain.
constexpr std::uint32_t kBallsPerThread = 1024;

/// Draws velocities anew where that is due before this step; returns the heat by source, in steps of heat_grid.
template <class Real, int Dim>
std::array<std::int64_t, kHeatSources> CpuEngine<Real, Dim>::refresh(ThreadTally& step_tally) {
    const bool all = thermostat_acts(params_, step_);
    const std::size_t count = all ? active_ : near_walls_.size();
    const int used = std::clamp(static_cast<int>(count / kBallsPerThread), 1, threads_);
    const View balls = view();
    Vec<Real*, Dim> velocity;
    for (int axis = 0; axis < Dim; ++axis) velocity[axis] = buffers_[current_].v[axis].data();
    RefreshTally whole;
    with_kind([&](auto kind) {
        using Kind = StepKind<Real, Dim, false, decltype(kind)::kUniform>;
#pragma omp parallel num_threads(used) if (used > 1)
        {
            RefreshTally tally;
            tally.id = id_.data();
#pragma omp for schedule(static)
            for (std::int64_t index = 0; index < static_cast<std::int64_t>(count); ++index) {
                const std::uint32_t slot =
                    all ? static_cast<std::uint32_t>(index) : near_walls_[static_cast<std::size_t>(index)];
                const auto cell = params_.grid.cell(cell_[slot]);
                const std::uint32_t* starts = cell_sort_.start().data();
                const auto neighbours = [&](auto&& f) {
                    params_.grid.for_each_range(cell, [&](std::uint32_t first, std::uint32_t last) {
                        for (std::uint32_t j = starts[first]; j < starts[last]; ++j) {
                            if (j != slot) f(j);
                        }
                    });
                };
                const bool near_walls = params_.has_shapes || !params_.grid.interior(cell);
                refresh_ball<Kind>(params_, balls, gone_.data(), velocity, step_, slot, near_walls, neighbours, tally);
            }
#pragma omp critical(carom_merge_tally)
            {
                whole.merge(tally);
                for (std::size_t source = 0; source < kHeatSources; ++source)
                    whole.heat_of[source] += tally.heat_of[source];
            }
        }
    });
    step_tally.merge(whole);
    return whole.heat_of;
}

}  // namespace carom
