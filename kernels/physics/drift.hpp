#pragma once

#include <cstdint>

#include "kernels/core/portability.hpp"

// What keeps a drift right on a grid of positions.
//
// A step moves a ball by v dt, rounded to whole quanta of position. Rounded to the nearest, a steady velocity is
// rounded the same way in every step: at 1e4 quanta a step its effective value is off by up to 5e-5, and one of
// less than half a quantum never moves. So an offset that is spread evenly over [-1/2, 1/2) is added before the
// rounding, from step to step the golden-ratio sequence (the Weyl sequence of lowest discrepancy): then the sum
// of n steps of a steady velocity is off by a few quanta in all, for every n. The offset is the same for all
// balls, and a ball at rest stays at rest. In double precision, where a step is some 1e9 quanta, it is left out: it
// matters where boxes are wide or steps short (params_from_setup.hpp).

namespace carom {

/// Offset of step `step`, in quanta, in [-1/2, 1/2).
CAROM_HD float drift_offset(std::uint64_t step) {
    constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15ULL;  // 2^64 / golden ratio, odd
    return static_cast<float>((step * kGoldenRatio) >> 40) * 0x1p-24F - 0.5F;
}

}  // namespace carom
