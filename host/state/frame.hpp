#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace carom {

/// What one looks at: all balls at one time, in id order, velocities at that very time. Positions lie inside
/// the box on periodic axes; `image` counts the crossings. Reused from frame to frame without allocation.
struct Frame {
    int dimension = 2;
    double time = 0.0;
    std::uint64_t step = 0;                       ///< spring: time steps done; events: events done
    std::array<std::vector<double>, 3> position;  ///< [length]; third axis empty in 2D
    std::array<std::vector<double>, 3> velocity;  ///< [length/time]; single precision: each a float's value
    std::array<std::vector<double>, 3> spin;      ///< [rad/time]; in 2D only [2]
    std::array<std::vector<std::int32_t>, 3> image;
    std::vector<std::uint8_t> gone;  ///< 1: left through an open face; its other entries are NaN or 0

    [[nodiscard]] std::size_t size() const { return gone.size(); }
    /// Makes all arrays `count` long.
    void resize(int dimension_, std::size_t count);
};

/// Hash over ids, positions, velocities and spins of the balls that are still in, in id order, bit for bit;
/// equal on every processor and for any number of threads. Negative zero counts as zero.
std::uint64_t state_hash(const Frame& frame);

}  // namespace carom
