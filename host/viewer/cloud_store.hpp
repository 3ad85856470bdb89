#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
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
    /// Where a processor with memory of its own writes the balls of a slot itself, instead of fill(); none if it
    /// cannot. From the thread that owns the slot.
    [[nodiscard]] virtual std::optional<PictureArrays> arrays(int /*slot*/) { return std::nullopt; }
    /// All balls have been written there.
    virtual void filled(int /*slot*/, const CloudExtent& /*extent*/) {}

    /// A filled slot's buffers, for drawing.
    [[nodiscard]] virtual CloudBuffers buffers(int slot) = 0;
    /// Draws that read this slot have just been given to OpenGL.
    virtual void drawn(int slot) = 0;
    /// Waits until OpenGL is done with them: only then may the slot be given to the other thread.
    virtual void wait(int slot) = 0;
    /// For the status line: by which way balls get to OpenGL, as docs/viewer.md names it.
    /// \param by_frames  they come to the host for it, as CloudFeed::needs_frame tells
    [[nodiscard]] virtual std::string way(bool by_frames) const = 0;
};

/// Buffers that stay mapped into this process: the other thread writes where OpenGL reads, and calls nothing of it.
/// \param capacity  balls a slot
/// \param why       of all ways this one; shown by way()
std::unique_ptr<CloudStore> make_mapped_store(std::size_t capacity, const std::string& why = {});

/// Lets a processor write into a buffer of OpenGL's.
using BufferSharer = std::function<std::unique_ptr<SharedBuffer>(unsigned buffer)>;

/// Buffers that a processor with memory of its own writes: balls never come to the host.
/// \throws std::runtime_error  as the sharer
std::unique_ptr<CloudStore> make_shared_store(std::size_t balls, const BufferSharer& share);

/// The best store for a solver's balls here: shared where its processor and OpenGL can, else mapped.
/// \param source  of the solver; may be null
std::unique_ptr<CloudStore> make_cloud_store(std::size_t balls, PictureSource* source);

}  // namespace carom
