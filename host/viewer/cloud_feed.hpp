#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"
#include "host/state/solver.hpp"
#include "host/viewer/quantity.hpp"
#include "host/viewer/renderer.hpp"

namespace carom {

/// Which of three slots belongs to whom: one to the thread that writes frames, one to the thread that reads them, and
/// the last finished one in between. Neither ever waits for the other; a reader that is late misses frames, a writer
/// that is late is seen twice.
class FrameRing {
public:
    static constexpr int kSlots = 3;

    /// The writer's slot, until publish().
    [[nodiscard]] int write_slot() const { return write_; }
    /// The writer's slot is finished, and it gets another.
    void publish() { write_ = between_.exchange(write_ | kFresh, std::memory_order_acq_rel) & kSlotBits; }

    /// The reader gets the last finished slot and gives up its own; false if there has been none since.
    bool take() {
        if ((between_.load(std::memory_order_acquire) & kFresh) == 0) return false;
        read_ = between_.exchange(read_, std::memory_order_acq_rel) & kSlotBits;
        return true;
    }
    /// The reader's slot, until take().
    [[nodiscard]] int read_slot() const { return read_; }
    /// Whether take() would give a new one.
    [[nodiscard]] bool fresh() const { return (between_.load(std::memory_order_acquire) & kFresh) != 0; }

private:
    static constexpr int kFresh = 4;
    static constexpr int kSlotBits = 3;

    int write_ = 0;  // the writer's alone
    std::atomic<int> between_{1};
    int read_ = 2;  // the reader's alone
};

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

/// Brings the balls of a solver into slots of a store, by the shortest way that solver and store have: the processor
/// writes them into OpenGL's memory; or the CPU writes them as OpenGL reads them, to be copied; or they come by a
/// frame.
class CloudFeed {
public:
    /// \param frames_only  whatever else there is: for comparisons. \pre then, the store is a mapped one
    explicit CloudFeed(bool frames_only = false) : frames_only_(frames_only) {}

    /// Whether fill() wants a frame of the present time.
    [[nodiscard]] bool needs_frame(CloudStore& store, int slot, Solver& solver, Quantity quantity) const;
    /// \param balls  for species; its positions are not looked at
    /// \param frame  of the solver now; may be null unless needs_frame()
    /// \returns  the range of the quantity; {} for species
    ValueRange fill(CloudStore& store, int slot, Solver& solver, const Scene& scene, const Balls& balls,
                    Quantity quantity, const Frame* frame);
    /// The solver is another one.
    void forget() { given_.reset(); }

private:
    void give(Solver& solver, const Scene& scene, const Balls& balls, Quantity quantity, const Frame* frame);

    bool frames_only_;
    CloudMaker clouds_;
    std::vector<float> values_;
    std::vector<float> sample_;
    std::vector<BallPlace> places_;
    Frame frame_;  // for what is given once
    std::optional<Quantity> given_;
};

}  // namespace carom
