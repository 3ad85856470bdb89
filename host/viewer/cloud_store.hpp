#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "host/viewer/frame_ring.hpp"
#include "host/viewer/renderer.hpp"

namespace carom {

/// Where the ring's clouds lie so that OpenGL can draw them: made, drawn from and destroyed on OpenGL's thread, filled
/// on another.
class CloudStore {
public:
    virtual ~CloudStore() = default;

    /// Copies a cloud into a slot. From the thread that owns the slot. What is beyond the capacity is left out.
    virtual void fill(int slot, const BallCloud& cloud) = 0;
    /// A filled slot's buffers.
    [[nodiscard]] virtual CloudBuffers buffers(int slot) const = 0;
    /// Draws that read this slot have just been given to OpenGL.
    virtual void drawn(int slot) = 0;
    /// Waits until OpenGL is done with them: only then may the slot be given to the other thread.
    virtual void wait(int slot) = 0;
    /// For the status line: by which way balls get to OpenGL.
    [[nodiscard]] virtual std::string way() const = 0;
};

/// Buffers that stay mapped into this process: the other thread writes where OpenGL reads, and calls nothing of it.
/// \param capacity  balls a slot
std::unique_ptr<CloudStore> make_mapped_store(std::size_t capacity);

}  // namespace carom
