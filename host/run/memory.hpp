#pragma once

#include <cstddef>
#include <cstdint>

#include "host/scene/scene.hpp"
#include "host/state/solver.hpp"

namespace carom {

constexpr std::uint64_t kMemoryOfProgram = 16'500'000;  ///< with libraries and threads: measured on a run of two balls
constexpr std::uint64_t kMpiMemory = 7'000'000;         ///< of a rank, with OpenMPI: measured the same way

/// Memory of the process at its peak, less what the solver's processor holds [bytes]: program and libraries, frames
/// on their way to the disk, the checkpoint, species and spins.
/// \param frames  to be written
std::uint64_t memory_beside_solver(int dimension, std::size_t balls, std::uint64_t frames);

/// The same where balls come in parts [bytes]: parts of frames and of the checkpoint.
std::uint64_t memory_of_parts(int dimension, std::size_t balls);
/// Of rank 0 while it has all balls, which were placed there, and deals them out [bytes].
std::uint64_t memory_of_dealing(int dimension, std::size_t balls);

/// What the host holds besides where the balls are in a GPU's memory [bytes]: a frame on its way.
std::uint64_t memory_of_copies(int dimension, std::size_t balls);

/// What the [[observe]] entries of a scene keep [bytes]: the places at the start of the balls that they watch, and a
/// frame.
std::uint64_t observables_memory(const Scene& scene, const SolverState& state);
/// What averages take of a rank that looks at so many balls of its own, beside a frame of them [bytes].
std::uint64_t memory_of_looking(const Scene& scene, std::size_t balls);

/// Frames kept at once, by the number of balls: two when each is large, one being filled and one being written.
/// \param in_parts  parts of them
std::size_t frames_in_flight(std::size_t balls, bool in_parts = false);

/// Memory of this machine [bytes].
std::uint64_t machine_memory_bytes();

}  // namespace carom
