#include "host/viewer/cloud_store.hpp"

#include <algorithm>
#include <stdexcept>

namespace carom {

namespace {

class MappedStore final : public CloudStore {
public:
    explicit MappedStore(std::size_t capacity) : capacity_(std::max<std::size_t>(capacity, 1)) {
        constexpr GLbitfield kUse = GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
        for (Slot& slot : slots_) {
            const auto map = [](const GlBuffer& buffer, std::size_t bytes) {
                glNamedBufferStorage(buffer.name(), static_cast<GLsizeiptr>(bytes), nullptr, kUse);
                void* memory = glMapNamedBufferRange(buffer.name(), 0, static_cast<GLsizeiptr>(bytes), kUse);
                if (memory == nullptr) throw std::runtime_error("OpenGL: a buffer cannot be mapped");
                return memory;
            };
            slot.places = static_cast<BallPlace*>(map(slot.place_buffer, capacity_ * sizeof(BallPlace)));
            slot.values = static_cast<float*>(map(slot.value_buffer, capacity_ * sizeof(float)));
        }
    }
    ~MappedStore() override {
        for (Slot& slot : slots_) {
            if (slot.fence != nullptr) glDeleteSync(slot.fence);
        }
    }
    MappedStore(const MappedStore&) = delete;
    MappedStore& operator=(const MappedStore&) = delete;

    void fill(int slot, const BallCloud& cloud) override {
        Slot& to = slots_[static_cast<std::size_t>(slot)];
        const std::size_t count = std::min(cloud.places.size(), capacity_);
        std::copy_n(cloud.places.begin(), count, to.places);
        std::copy_n(cloud.values.begin(), count, to.values);
        to.cloud = {to.place_buffer.name(), to.value_buffer.name(), count, cloud.origin, cloud.largest_radius};
    }

    [[nodiscard]] CloudBuffers buffers(int slot) const override { return slots_[static_cast<std::size_t>(slot)].cloud; }

    void drawn(int slot) override {
        GLsync& fence = slots_[static_cast<std::size_t>(slot)].fence;
        if (fence != nullptr) glDeleteSync(fence);
        fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    }

    void wait(int slot) override {
        GLsync& fence = slots_[static_cast<std::size_t>(slot)].fence;
        if (fence == nullptr) return;
        constexpr GLuint64 kLongest = 5'000'000'000;  // [ns]; a picture never takes that long
        glClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, kLongest);
        glDeleteSync(fence);
        fence = nullptr;
    }

    [[nodiscard]] std::string way() const override { return "through the host, mapped buffers"; }

private:
    struct Slot {
        GlBuffer place_buffer;
        GlBuffer value_buffer;
        BallPlace* places = nullptr;
        float* values = nullptr;
        CloudBuffers cloud;
        GLsync fence = nullptr;
    };

    std::size_t capacity_;
    std::array<Slot, FrameRing::kSlots> slots_;
};

}  // namespace

std::unique_ptr<CloudStore> make_mapped_store(std::size_t capacity) { return std::make_unique<MappedStore>(capacity); }

}  // namespace carom
