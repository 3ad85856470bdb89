#include "host/viewer/frame_ring.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "host/viewer/cloud_store.hpp"
#include "host/viewer/egl_context.hpp"
#include "tests/support/picture.hpp"

namespace carom {
namespace {

TEST(FrameRing, GivesTheNewestFrameAndEachAtMostOnce) {
    FrameRing ring;
    std::array<int, FrameRing::kSlots> held{};
    EXPECT_FALSE(ring.take());
    for (int frame = 1; frame <= 3; ++frame) {
        held[ring.write_slot()] = frame;
        ring.publish();
    }
    EXPECT_TRUE(ring.fresh());
    EXPECT_TRUE(ring.take());
    EXPECT_EQ(held[ring.read_slot()], 3);
    EXPECT_FALSE(ring.take());
    EXPECT_EQ(held[ring.read_slot()], 3);
}

TEST(FrameRing, NeverLetsTheWriterTouchWhatIsRead) {
    FrameRing ring;
    constexpr int kFrames = 200000;
    struct Slot {
        std::array<int, 16> words{};
    };
    std::array<Slot, FrameRing::kSlots> slots;
    std::thread writer([&] {
        for (int frame = 1; frame <= kFrames; ++frame) {
            slots[ring.write_slot()].words.fill(frame);
            ring.publish();
        }
    });
    int last = 0;
    int torn = 0;
    int backwards = 0;
    while (last < kFrames) {
        if (!ring.take()) continue;
        const Slot& slot = slots[ring.read_slot()];
        const int first = slot.words[0];
        for (const int word : slot.words) torn += word != first ? 1 : 0;
        backwards += first <= last ? 1 : 0;
        last = first;
    }
    writer.join();
    EXPECT_EQ(torn, 0);
    EXPECT_EQ(backwards, 0);
}

TEST(CloudStore, DrawsWhatAnotherThreadHasFilledAsAnUpload) {
    const std::string scene =
        "[scene]\ndimension = 2\n[box]\nsize = [20, 15]\n[run]\nbackend = \"cpu\"\n"
        "[[fill]]\ncount = 60\nradius = 0.5\nmass = 1\ntemperature = 1\n";
    test::Studio studio(scene);
    const Pixels uploaded = studio.shoot();

    auto store = make_mapped_store(60);
    std::vector<float> values;
    CloudMaker maker;
    const Quantity quantity = studio.painter().quantity();
    for (int slot = 0; slot < FrameRing::kSlots; ++slot) {
        std::thread([&] {
            evaluate(quantity, studio.source().scene(), studio.source().balls(), studio.frame(), values);
            store->fill(slot, maker.make(studio.source().scene(), studio.source().balls(), studio.frame(), values));
        }).join();
        studio.painter().see(range_of(quantity, values));
        studio.painter().draw(store->buffers(slot), 0.0, 60, {});
        store->drawn(slot);
        Pixels mapped;
        studio.painter().read(mapped);
        EXPECT_EQ(mapped.rgb, uploaded.rgb) << slot;
        store->wait(slot);
    }
    EXPECT_NE(store->way(false).find("mapped"), std::string::npos);
}

}  // namespace
}  // namespace carom
