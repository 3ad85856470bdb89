#include "host/viewer/cloud_feed.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace carom {

namespace {

/// Tells when OpenGL has done what it had been given.
class Fence {
public:
    Fence() = default;
    ~Fence() {
        if (sync_ != nullptr) glDeleteSync(sync_);
    }
    Fence(const Fence&) = delete;
    Fence& operator=(const Fence&) = delete;

    void set() {
        if (sync_ != nullptr) glDeleteSync(sync_);
        sync_ = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    }
    void wait() {
        if (sync_ == nullptr) return;
        constexpr GLuint64 kLongest = 5'000'000'000;  // [ns]; a picture never takes that long
        glClientWaitSync(sync_, GL_SYNC_FLUSH_COMMANDS_BIT, kLongest);
        glDeleteSync(sync_);
        sync_ = nullptr;
    }

private:
    GLsync sync_ = nullptr;
};

class MappedStore final : public CloudStore {
public:
    MappedStore(std::size_t capacity, std::string why)
        : capacity_(std::max<std::size_t>(capacity, 1)), why_(std::move(why)) {
        // A card's memory is slow to read.
        const GLbitfield read = software_gl() ? GL_MAP_READ_BIT : 0;
        const GLbitfield use = GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT | read;
        readable_ = read != 0;
        for (Slot& slot : slots_) {
            const auto map = [use](const GlBuffer& buffer, std::size_t bytes) {
                glNamedBufferStorage(buffer.name(), static_cast<GLsizeiptr>(bytes), nullptr, use);
                void* memory = glMapNamedBufferRange(buffer.name(), 0, static_cast<GLsizeiptr>(bytes), use);
                if (memory == nullptr) throw std::runtime_error("OpenGL: a buffer cannot be mapped");
                return memory;
            };
            slot.places = static_cast<BallPlace*>(map(slot.place_buffer, capacity_ * sizeof(BallPlace)));
            slot.values = static_cast<float*>(map(slot.value_buffer, capacity_ * sizeof(float)));
        }
    }
    void fill(int slot, const BallCloud& cloud) override {
        Slot& to = slots_[static_cast<std::size_t>(slot)];
        const std::size_t count = std::min(cloud.places.size(), capacity_);
        std::copy_n(cloud.places.begin(), count, to.places);
        std::copy_n(cloud.values.begin(), count, to.values);
        to.cloud = {.places = to.place_buffer.name(),
                    .values = to.value_buffer.name(),
                    .extent = {count, cloud.origin, cloud.largest_radius}};
        if (!readable_) return;
        to.cloud.host_places = {to.places, count};
        to.cloud.host_values = {to.values, count};
    }

    [[nodiscard]] CloudBuffers buffers(int slot) override { return slots_[static_cast<std::size_t>(slot)].cloud; }
    void drawn(int slot) override { slots_[static_cast<std::size_t>(slot)].fence.set(); }
    void wait(int slot) override { slots_[static_cast<std::size_t>(slot)].fence.wait(); }
    [[nodiscard]] std::string way(bool by_frames) const override {
        const std::string name = by_frames ? "mapped buffers, by frames" : "mapped buffers, written";
        return why_.empty() ? name : name + " (" + why_ + ")";
    }

private:
    struct Slot {
        GlBuffer place_buffer;
        GlBuffer value_buffer;
        BallPlace* places = nullptr;
        float* values = nullptr;
        CloudBuffers cloud;
        Fence fence;
    };

    std::size_t capacity_;
    bool readable_ = false;
    std::string why_;
    std::array<Slot, FrameRing::kSlots> slots_;
};

/// A slot's buffer is the processor's, mapped, but while it is drawn from; so the thread that computes never calls
/// OpenGL, and finds a place to write in each slot that it gets.
class SharedStore final : public CloudStore {
public:
    SharedStore(std::size_t balls, const BufferSharer& share) : balls_(std::max<std::size_t>(balls, 1)) {
        for (Slot& slot : slots_) {
            constexpr std::size_t kBytesPerBall = sizeof(BallPlace) + sizeof(float);
            glNamedBufferData(slot.buffer.name(), static_cast<GLsizeiptr>(balls_ * kBytesPerBall), nullptr,
                              GL_DYNAMIC_COPY);
            slot.shared = share(slot.buffer.name());
            if (slot.shared == nullptr) throw std::runtime_error("the processor shares no buffers");
            slot.place = slot.shared->map();
        }
    }

    void fill(int, const BallCloud&) override {
        throw std::logic_error("a processor's own balls are not copied from the host");
    }
    [[nodiscard]] std::optional<PictureArrays> arrays(int slot) override {
        auto* places = static_cast<BallPlace*>(at(slot).place);
        return PictureArrays{places, reinterpret_cast<float*>(places + balls_)};
    }
    void filled(int slot, const CloudExtent& extent) override { at(slot).extent = extent; }

    [[nodiscard]] CloudBuffers buffers(int slot) override {
        Slot& from = at(slot);
        if (from.place != nullptr) {
            from.shared->unmap();
            from.place = nullptr;
        }
        return {.places = from.buffer.name(),
                .values = from.buffer.name(),
                .values_offset = balls_ * sizeof(BallPlace),
                .extent = from.extent};
    }
    void drawn(int slot) override { at(slot).fence.set(); }
    void wait(int slot) override {
        Slot& back = at(slot);
        back.fence.wait();
        if (back.place == nullptr) back.place = back.shared->map();
    }
    [[nodiscard]] std::string way(bool /*by_frames*/) const override { return "shared buffers"; }

private:
    struct Slot {
        GlBuffer buffer;
        std::unique_ptr<SharedBuffer> shared;  // goes before the buffer
        void* place = nullptr;                 // null while OpenGL has the buffer
        CloudExtent extent;
        Fence fence;
    };
    Slot& at(int slot) { return slots_[static_cast<std::size_t>(slot)]; }

    std::size_t balls_;
    std::array<Slot, FrameRing::kSlots> slots_;
};

/// Room for the second pictures of balls that hang over periodic faces.
std::size_t capacity_for(std::size_t balls) { return balls < 1000 ? 4 * balls : 2 * balls; }

}  // namespace

std::unique_ptr<CloudStore> make_mapped_store(std::size_t capacity, const std::string& why) {
    return std::make_unique<MappedStore>(capacity, why);
}

std::unique_ptr<CloudStore> make_shared_store(std::size_t balls, const BufferSharer& share) {
    return std::make_unique<SharedStore>(balls, share);
}

std::unique_ptr<CloudStore> make_cloud_store(std::size_t balls, PictureSource* source) {
    std::string why;
    if (source != nullptr && !source->pictures_on_host()) {
        try {
            return make_shared_store(balls, [source](unsigned buffer) { return source->share_buffer(buffer); });
        } catch (const std::runtime_error& error) {
            why = error.what();
        }
    }
    return make_mapped_store(capacity_for(balls), why);
}

namespace {

float largest_radius(const Balls& balls) {
    std::vector<bool> used(balls.species_table.size());
    for (const auto index : balls.species) used[index] = true;
    double largest = 0.0;
    for (std::size_t k = 0; k < used.size(); ++k) {
        if (used[k]) largest = std::max(largest, balls.species_table[k].radius);
    }
    return static_cast<float>(largest);
}

/// What write_picture of a CPU says no to.
bool written_on_host(const PictureSource& source, Quantity quantity) {
    return source.pictures_on_host() && quantity != Quantity::kOverlap;
}

}  // namespace

bool CloudFeed::needs_frame(CloudStore& store, int slot, Solver& solver, Quantity quantity) const {
    if (frames_only_) return true;
    if (store.arrays(slot)) return false;
    const PictureSource* source = pictures_of(solver);
    return source == nullptr || !written_on_host(*source, quantity);
}

/// Hands over the values that a processor does not find, once: they do not change with time.
void CloudFeed::give(Solver& solver, const Scene& scene, const Balls& balls, Quantity quantity, const Frame* frame) {
    if (given_ == quantity) return;
    if (frame == nullptr) {
        solver.request_frame(frame_);
        solver.finish_frame(frame_);
        frame = &frame_;
    }
    evaluate(quantity, scene, balls, *frame, values_);
    pictures_of(solver)->give_picture_values(values_);
    given_ = quantity;
}

ValueRange CloudFeed::fill(CloudStore& store, int slot, Solver& solver, const Scene& scene, const Balls& balls,
                           Quantity quantity, const Frame* frame) {
    if (needs_frame(store, slot, solver, quantity)) {
        evaluate(quantity, scene, balls, *frame, values_);
        store.fill(slot, clouds_.make(scene, balls, *frame, values_));
        return quantity == Quantity::kSpecies ? ValueRange{} : range_of(quantity, values_);
    }
    const PictureOrder order = picture_order(quantity, scene, balls);
    if (order.value == PictureOrder::Value::kGiven) give(solver, scene, balls, quantity, frame);
    const std::size_t count = balls.size();
    const bool ranged = quantity != Quantity::kSpecies;
    sample_.resize(ranged ? std::min(count, kRangeSample) : 0);
    const auto write = [&](const PictureArrays& to) {
        if (pictures_of(solver)->write_picture(order, to, sample_)) return;
        // A solver that goes on with another engine, at a stage of the run, has to be told again.
        forget();
        give(solver, scene, balls, quantity, frame);
        if (!pictures_of(solver)->write_picture(order, to, sample_)) {
            throw std::runtime_error("this processor cannot draw balls by that quantity");
        }
    };
    CloudExtent extent{count, cloud_origin(scene.box), largest_radius(balls)};
    if (const auto shared = store.arrays(slot)) {
        write(*shared);
        if (scene.dimension() == 2) {
            for (int axis = 0; axis < 2; ++axis) {
                const auto k = static_cast<std::size_t>(axis);
                if (scene.box.periodic(axis)) extent.around[k] = static_cast<float>(scene.box.size[k]);
            }
        }
        store.filled(slot, extent);
    } else {
        places_.resize(count);
        values_.resize(count);
        write({places_.data(), values_.data()});
        const bool around = scene.dimension() == 2 && (scene.box.periodic(0) || scene.box.periodic(1));
        for (std::size_t id = 0; around && id < count; ++id) {
            const BallPlace place = places_[id];
            if (place.radius >= 0.0f) add_second_pictures(scene.box, place, values_[id], places_, values_);
        }
        store.fill(slot, {places_, values_, extent.origin, extent.largest_radius});
    }
    return ranged ? range_of(quantity, sample_) : ValueRange{};
}

}  // namespace carom
