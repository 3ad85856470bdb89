#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kernels/core/box_cells.hpp"
#include "kernels/core/portability.hpp"

// What a processor writes of its balls for a renderer, and where to.

namespace carom {

/// Where a ball is and how large, as shaders/ball.vert reads it.
struct BallPlace {
    float x = 0.0f;  ///< from the picture's origin [length]
    float y = 0.0f;
    float z = 0.0f;
    float radius = 0.0f;  ///< [length]; below 0: not drawn
};

/// What a picture wants to know of the balls.
struct PictureOrder {
    enum class Value : std::uint8_t {
        kGiven,
        kSpeed,
        kKineticEnergy,
        kOverlap,
        kId,
        kHeight,
        kDensity,
        kTemperature,
        kFlow
    };

    Value value = Value::kSpeed;
    double origin[3] = {};        ///< [length]
    int axis = 0;                 ///< kHeight: along which one
    double face = 0.0;            ///< kHeight: where it is 0 [length]
    bool down = false;            ///< kHeight: it grows against the axis
    BoxCells cells;               ///< of what is around a ball: kDensity, kTemperature, kFlow
    double largest_volume = 1.0;  ///< of a ball [length^d]
    double largest_mass = 1.0;    ///< of balls that move

    /// Whether it is of what is around a ball.
    [[nodiscard]] CAROM_HD bool around() const {
        return value == Value::kDensity || value == Value::kTemperature || value == Value::kFlow;
    }
    /// Whether velocities at the time of the positions are asked for.
    [[nodiscard]] CAROM_HD bool moving() const {
        return value == Value::kSpeed || value == Value::kKineticEnergy || value == Value::kTemperature ||
               value == Value::kFlow;
    }
};

/// One entry a ball, by id, in memory of the processor that writes them.
struct PictureArrays {
    BallPlace* places = nullptr;
    float* values = nullptr;  ///< what the colour stands for; NaN: nothing
};

/// Which ball gives entry k of a sample of `entries` out of `count` balls.
CAROM_HD std::uint64_t sampled_ball(std::uint64_t k, std::uint64_t entries, std::uint64_t count) {
    return k * count / entries;
}

/// A buffer of OpenGL's that a processor can write into while it is mapped, and that OpenGL can read while it is not.
/// Made, mapped, unmapped and destroyed by the thread of OpenGL's context.
class SharedBuffer {
public:
    virtual ~SharedBuffer() = default;
    /// Waits until OpenGL has done what it was given before. \returns  the place, another one each time perhaps
    virtual void* map() = 0;
    /// OpenGL sees all that had been written. \pre the writing is complete
    virtual void unmap() = 0;
};

/// Who can write its balls for a picture where they are.
class PictureSource {
public:
    virtual ~PictureSource() = default;

    /// Whether balls are in the host's memory: then write_picture takes any place in it, else one of its own memory.
    [[nodiscard]] virtual bool pictures_on_host() const = 0;
    /// Lets write_picture write into a buffer of OpenGL's current context. Null where it has no memory of its own.
    /// \param buffer  OpenGL's name, of a buffer that has its memory
    /// \throws std::runtime_error  OpenGL is not on this processor, or cannot share with it
    virtual std::unique_ptr<SharedBuffer> share_buffer(unsigned buffer) = 0;
    /// The values of PictureOrder::Value::kGiven from now on, one a ball, by id.
    virtual void give_picture_values(std::span<const float> values) = 0;
    /// Writes all balls as they are now; complete on return. Changes nothing of the state.
    /// \param sample  gets the values of balls at equal distances (see sampled_ball), for the range of the colours
    /// \returns  false, with nothing written, where this processor does not know that value
    virtual bool write_picture(const PictureOrder& order, const PictureArrays& to, std::span<float> sample) = 0;
};

}  // namespace carom
