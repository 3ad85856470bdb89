#pragma once

#include <Random123/philox.h>

#include <cstdint>

#include "kernels/core/transcendental.hpp"

// Counter-based random numbers: every number is a pure function of (seed, id, purpose, counter), so it does not
// depend on the order in which numbers are drawn, on threads or on the processor.
//
// Generator: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11, 2011),
// from their library Random123; passes TestU01's BigCrush.

namespace carom {

/// What a random number is for; numbers of different purposes are independent. The values are part of what a seed
/// means: never change one.
enum class RandomPurpose : std::uint32_t {
    kVelocity = 1,   ///< initial velocities
    kDirection = 2,  ///< initial directions of equal speeds
    kInsertion = 3,  ///< positions tried by random insertion
    kVacancy = 4,    ///< which lattice sites stay empty
    kShake = 5,      ///< moves of the shaken lattice
    kThermalWall = 6,
    kThermostat = 7,
    kGrowth = 16,      ///< velocities of balls that grow into a packing
    kAtmosphere = 17,  ///< places in an atmosphere
    kSize = 18,        ///< radii that differ from ball to ball
    kFollowed = 19,    ///< which of many balls averages follow; of seed 0, so that it is the same in each run
};

/// 128 random bits.
struct RandomWords {
    std::uint32_t word[4];

    /// Word pairs 0 and 1 as 64 bits each.
    CAROM_HD std::uint64_t wide(int pair) const {
        return (static_cast<std::uint64_t>(word[2 * pair + 1]) << 32) | word[2 * pair];
    }
    /// Uniform in the open interval (0, 1): the middles of 2^52 equal parts.
    CAROM_HD double uniform(int pair) const {
        return (static_cast<double>(wide(pair) >> 12) + 0.5) * 2.220446049250313e-16;  // 2^-52
    }
};

/// The random bits of (seed, id, purpose, counter); id below 2^56.
CAROM_HD RandomWords random_words(std::uint64_t seed, std::uint64_t id, RandomPurpose purpose, std::uint64_t counter) {
    const philox4x32_key_t key = {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
    const philox4x32_ctr_t input = {
        {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), static_cast<std::uint32_t>(id),
         (static_cast<std::uint32_t>(purpose) << 24) | static_cast<std::uint32_t>(id >> 32)}};
    const philox4x32_ctr_t output = philox4x32(input, key);
    return {{output.v[0], output.v[1], output.v[2], output.v[3]}};
}

/// Two independent deviates of mean 0 and variance 1 (Box & Muller 1958).
struct NormalPair {
    double first;
    double second;
};

CAROM_HD NormalPair normal_pair(const RandomWords& words) {
    const double radius = square_root(-2.0 * natural_log(words.uniform(0)));
    const SineCosine angle = sine_cosine_of_turns(words.uniform(1));
    return {radius * angle.cosine, radius * angle.sine};
}

}  // namespace carom
