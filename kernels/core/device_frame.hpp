#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace carom {

/// All balls at one time, by id, in memory of the processor that steps them: a copy that is nobody else's, complete,
/// and there as long as anybody holds it. Vectors lie axis after axis, all balls of each. Of a ball that has left the
/// box positions and velocities are NaN.
struct DeviceFrame {
    static constexpr int kHost = -1;

    int device = kHost;  ///< the GPU's number among those that the process sees; kHost: the memory is the host's
    int dimension = 2;
    std::size_t count = 0;
    bool single = false;            ///< velocities are floats, else doubles
    double* position = nullptr;     ///< [length]
    void* velocity = nullptr;       ///< [length/time]
    std::int32_t* image = nullptr;  ///< periodic crossings
    std::uint8_t* gone = nullptr;   ///< 1: left through an open face
    std::shared_ptr<void> memory;   ///< keeps all of it
};

}  // namespace carom
