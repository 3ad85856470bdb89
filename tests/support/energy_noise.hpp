#pragma once

#include <cstdint>
#include <string>

#include "tests/support/spring_lab.hpp"

namespace carom::test {

/// 1,000 disks at packing fraction 0.5 somewhere in a box; how far the total energy strays.
struct EnergyNoiseCase {
    enum class Where : std::uint8_t {
        kSmallPeriodic,  ///< a periodic box that the gas fills
        kSmallWalls,     ///< the same with walls
        kNear,           ///< a box 10^4 diameters wide, the gas held by two planes in the corner at its origin
        kFar,            ///< the same, in the corner farthest from the origin
    };
    Where where = Where::kSmallPeriodic;
    bool single = true;
    unsigned seed = 1;
    std::uint64_t steps = 100'000;
};

struct EnergyNoise {
    double change = 0.0;      ///< (E_end - E_0) / E_0
    double rms = 0.0;         ///< of (E - E_0) / E_0 over the looks
    double largest = 0.0;     ///< of |E - E_0| / E_0 over the looks
    double collisions = 0.0;  ///< from kinetic theory, with walls counted
    double sd = 0.0;          ///< 0.15 h^2 sqrt(collisions) 2 / (N d): the random walk of many contacts
};

std::string name_of(EnergyNoiseCase::Where where);
EnergyNoise measure_energy_noise(const EnergyNoiseCase& which);

}  // namespace carom::test
