#pragma once

#include <array>
#include <memory>

#include "kernels/params_from_setup.hpp"
#include "kernels/ranks/brick_engine.hpp"
#include "kernels/ranks/transport.hpp"
#include "kernels/spring_engine.hpp"

namespace carom {

/// The spring engine of the CPU: OpenMP threads over blocks of eight balls, candidate lists in SIMD lanes.
/// \param step     steps done before (a restart)
/// \param tallies  counted before
std::unique_ptr<SpringEngine> make_cpu_engine(const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                                              const Tallies& tallies);

/// A rank's share of it. All ranks call this together. \param setup, balls  null but on rank 0, which has them for all
/// \param layers  into which each axis is cut; 0: as is best; rank 0 knows it
/// \throws CannotShare  there are too few cells for so many ranks
std::unique_ptr<BrickEngine> make_cpu_brick(Transport& transport, const SpringSetup* setup, const RawBalls* balls,
                                            std::uint64_t step, const std::array<int, 3>& layers);

/// Memory that the engine will hold [bytes], from what is known before the balls are placed.
/// \param packing_fraction  of the balls in the box: sets how many candidates a ball has
std::uint64_t predict_cpu_memory(const SpringSetup& setup, const BallSizes& sizes, double packing_fraction);

/// The same of a rank. \throws CannotShare  as make_cpu_brick
BrickForecast predict_brick_memory(const SpringSetup& setup, const BallSizes& sizes, double packing_fraction, int ranks,
                                   const std::array<int, 3>& layers);

}  // namespace carom
