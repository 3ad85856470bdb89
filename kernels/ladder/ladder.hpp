#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/spring_setup.hpp"

// The rungs of the ladder that `carom bench` climbs below carom's own step, each on any processor: what the memory can
// do, what moving balls without contacts takes, and the textbook algorithm that carom is compared with.

namespace carom {

enum class LadderRung : std::uint8_t {
    kCopy,       ///< a large array into another: the machine's bandwidth
    kIntegrate,  ///< carom's kick and drift of every ball, no contacts and no walls
    kTextbook,   ///< sorts at every step, one kernel a stage: see textbook.hpp
};

/// A rung, ready to run. One instance is used from one thread.
class LadderEngine {
public:
    virtual ~LadderEngine() = default;

    /// Does so many steps (of kCopy: copies) and waits for them.
    virtual void advance(std::uint64_t steps) = 0;
    /// What a step reads and writes if every array passes through memory once in each stage that uses it [bytes].
    [[nodiscard]] virtual double streamed_bytes() const = 0;
    /// Held by the rung now [bytes].
    [[nodiscard]] virtual std::uint64_t memory_bytes() const = 0;
    /// Positions and velocities in id order, as the integrator holds them; `balls` must hold the positions that the
    /// engine was made from on entry: they tell in which period of the coordinates a ball is. Not for kCopy.
    virtual void store(const BallArrays& balls) = 0;
};

/// Why a rung cannot take this setup, as a clause; empty where it can. Rungs know balls of one radius and one finite
/// mass in a box of walls, and undamped contacts.
const char* ladder_refusal(const SpringSetup& setup, const RawBalls& balls);

/// kIntegrate or kTextbook on the CPU, with setup.threads threads (0: all).
/// \throws std::invalid_argument  ladder_refusal
std::unique_ptr<LadderEngine> make_cpu_ladder(LadderRung rung, const SpringSetup& setup, const RawBalls& balls);
/// kCopy on the CPU.
/// \param bytes    of each of the two arrays
/// \param threads  0: all
std::unique_ptr<LadderEngine> make_cpu_copy(std::size_t bytes, int threads);

}  // namespace carom
