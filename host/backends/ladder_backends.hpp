#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kernels/ladder/ladder.hpp"

namespace carom {

/// A rung of the bench's ladder on the processor called `name`: "cpu" or "cuda" (as choose_processor gives it).
/// \throws std::invalid_argument  the rung cannot take this setup
/// \throws std::runtime_error     the device failed, or has too little memory
std::unique_ptr<LadderEngine> make_ladder(const std::string& name, LadderRung rung, const SpringSetup& setup,
                                          const RawBalls& balls);

/// Copies of one array of so many bytes into another.
/// \param threads  of the CPU; 0: all
std::unique_ptr<LadderEngine> make_copy_ladder(const std::string& name, std::size_t bytes, int threads);

}  // namespace carom
