#pragma once

#include <cstdint>

#include "kernels/cuda/step_bodies.hpp"
#include "kernels/spring_picture.hpp"

// What one thread writes of one ball for a renderer.

namespace carom::CAROM_PROCESSOR {

/// Thread i takes ball i: hides it where it is gone. Reads one byte a ball.
struct HideGoneBody {
    const std::uint8_t* gone;
    PictureArrays to;

    CAROM_HD void operator()(std::uint64_t id) const {
        if (gone[id] != 0) hide_ball(to, id);
    }
};

/// Thread i takes slot i: reads what a step reads and writes 20 bytes a ball, at its id.
template <class Kind>
struct DrawBody {
    using Real = typename Kind::Real;
    static constexpr int kDim = Kind::kDim;

    SpringParams<Real, kDim> params;
    StateView<Real, kDim> state;
    const ControlRecord<Real, kDim>* record;
    PictureOrder order;
    const float* given;
    PictureArrays to;

    CAROM_HD void operator()(std::uint64_t index) const {
        if (index >= record->active) return;
        const auto slot = static_cast<std::uint32_t>(index);
        if (state.gone[state.balls.id[slot]] != 0) return;
        draw_ball<Kind>(params, state.balls, slot, record->step, state.walk(params.grid, slot), order, given, to);
    }
};

/// Thread i takes entry i of the sample.
struct SampleBody {
    const float* values;
    std::uint64_t balls;
    std::uint64_t entries;
    float* sample;

    CAROM_HD void operator()(std::uint64_t entry) const { sample[entry] = values[sampled_ball(entry, entries, balls)]; }
};

}  // namespace carom::CAROM_PROCESSOR
