#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "host/state/errors.hpp"
#include "host/viewer/cloud_feed.hpp"
#include "host/viewer/opengl.hpp"
#include "tests/support/shared_pictures.hpp"
#include "tests/support/spring_engines.hpp"
#include "tests/support/studio.hpp"

// Balls that a processor writes into OpenGL's buffers itself, beside those that come by frames.

namespace carom::test::shared_store_test {

std::string gas(const std::string& box) {
    return "[scene]\n" + box +
           "[run]\nbackend = \"cpu\"\n"
           "[[fill]]\ncount = 30\nradius = 0.8\nmass = 3\ntemperature = 1\n"
           "[[fill]]\ncount = 160\nradius = 0.5\nmass = 1\ntemperature = 1\n";
}

const std::string kPlain = gas("dimension = 2\n[box]\nsize = [30, 22]\n");
const std::string kRing = gas("dimension = 2\n[box]\nsize = [30, 22]\nboundary = [\"periodic\", \"periodic\"]\n");
const std::string kOpen = gas("dimension = 2\n[box]\nsize = [30, 22]\nboundary = [\"open\", \"wall\"]\n");
const std::string kLong =
    gas("dimension = 3\n[box]\nsize = [30, 9, 9]\nboundary = [\"periodic\", \"wall\", \"wall\"]\n");
const std::string kDeep =
    gas("dimension = 3\n[box]\nsize = [11, 11, 11]\nboundary = [\"periodic\", \"wall\", \"wall\"]\n");

/// How pictures of one moment differ that come by the two ways.
struct Difference {
    int largest = 0;  ///< grey levels
    int pixels = 0;   ///< that differ by more than one
};

Difference compare_ways(const std::string& text, Quantity quantity, const std::string& processor,
                        const std::function<std::unique_ptr<CloudStore>(Solver&, std::size_t)>& make_store) {
    Studio studio(text, {.quantity = quantity, .labels = false}, 240, 180);
    const PreparedScene scene = on_processor(text, processor);
    const auto solver = scene.plan->make_solver(scene.state, "");
    const auto store = make_store(*solver, scene.state.balls.size());
    Frame frame;
    CloudFeed feed;
    Difference difference;
    // Each of the three slots in turn, so that each is mapped again.
    for (int picture = 0; picture < 4; ++picture) {
        solver->advance_to(0.1 * (picture + 1), 60.0);
        solver->request_frame(frame);
        solver->finish_frame(frame);
        const int slot = picture % FrameRing::kSlots;
        store->wait(slot);
        EXPECT_TRUE(store->arrays(slot).has_value());
        const ValueRange range =
            feed.fill(*store, slot, *solver, studio.source().scene(), studio.source().balls(), quantity, nullptr);
        studio.painter().set_range(range);
        studio.painter().see(range);
        studio.painter().draw(store->buffers(slot), 0.0, frame.size(), {});
        store->drawn(slot);
        Pixels shared;
        studio.painter().read(shared);
        studio.painter().draw(frame, {});
        Pixels copied;
        studio.painter().read(copied);
        for (std::size_t k = 0; k < shared.rgb.size(); ++k) {
            const int off = std::abs(static_cast<int>(shared.rgb[k]) - static_cast<int>(copied.rgb[k]));
            difference.largest = std::max(difference.largest, off);
            difference.pixels += off > 1 ? 1 : 0;
        }
        // Nor is it the same picture of nothing.
        EXPECT_GT(std::ranges::max(copied.rgb), 150);
    }
    return difference;
}

std::unique_ptr<CloudStore> fake_store_of(Solver&, std::size_t balls) { return make_fake_store(balls); }

/// What a processor writes of a gas.
struct Written {
    std::vector<BallPlace> places;
    std::vector<float> values;
    std::vector<float> sample;
};

Written write(const Processor& processor, Gas& gas, PictureOrder::Value value, std::uint64_t steps) {
    const auto engine = make_engine(processor, gas);
    engine->advance(steps);
    std::vector<float> given(gas.size());
    for (std::size_t id = 0; id < given.size(); ++id) given[id] = 0.25f * static_cast<float>(id);
    engine->give_picture_values(given);
    Written written{std::vector<BallPlace>(gas.size()), std::vector<float>(gas.size()), std::vector<float>(7)};
    PictureOrder order;
    order.value = value;
    order.origin[0] = 1.5;
    order.axis = 1;
    order.face = 0.25;
    order.cells.dimension = gas.setup.dimension;
    for (int axis = 0; axis < gas.setup.dimension; ++axis) {
        order.cells.size[axis] = gas.setup.box_size[axis];
        order.cells.count[axis] = 3 + axis;
        order.cells.periodic[axis] = gas.setup.sides[axis][0] == SpringSetup::Side::kPeriodic;
    }
    EXPECT_TRUE(engine->write_picture(order, {written.places.data(), written.values.data()}, written.sample));
    return written;
}

/// What is around balls, summed by an engine in integers, and from a frame in doubles.
TEST(WritePicture, SumsWhatIsAroundABallAsFramesDo) {
    for (const std::string* text : {&kRing, &kOpen, &kLong}) {
        const PreparedScene scene = prepared(*text);
        const auto solver = scene.plan->make_solver(scene.state, "");
        solver->advance_to(0.5, 60.0);
        Frame frame;
        solver->request_frame(frame);
        solver->finish_frame(frame);
        const std::size_t count = frame.size();
        for (const Quantity quantity : {Quantity::kDensity, Quantity::kTemperature, Quantity::kFlow}) {
            std::vector<BallPlace> places(count);
            std::vector<float> values(count);
            std::vector<float> expected;
            const PictureOrder order = picture_order(quantity, scene.scene, scene.state.balls);
            EXPECT_GT(order.cells.cells(), 4);
            ASSERT_TRUE(pictures_of(*solver)->write_picture(order, {places.data(), values.data()}, {}));
            evaluate(quantity, scene.scene, scene.state.balls, frame, expected);
            std::vector<float> numbers;
            for (std::size_t id = 0; id < count; ++id) {
                // The radius of single precision is in the density; else what differs is the rounding of a few sums.
                constexpr double kRounding = 1e-6;
                const bool number = std::isfinite(expected[id]);
                EXPECT_EQ(std::isfinite(values[id]), number);
                if (!number) continue;
                EXPECT_NEAR(values[id], expected[id], kRounding * expected[id]) << *text << id;
                numbers.push_back(expected[id]);
            }
            ASSERT_GT(numbers.size(), count / 2);
            const auto [least, most] = std::ranges::minmax(numbers);
            EXPECT_LT(least, 0.9f * most);
        }
    }
}

TEST(WritePicture, GivesTheSameBitsOnEachProcessorThatThisMemoryIsFor) {
    using Value = PictureOrder::Value;
    for (const char* name : {"walls_2d", "damped_3d"}) {
        for (const Value value : {Value::kGiven, Value::kSpeed, Value::kKineticEnergy, Value::kId, Value::kHeight,
                                  Value::kDensity, Value::kTemperature, Value::kFlow}) {
            Gas gas = scenario(name).make();
            const Written first = write({"cpu1", 1}, gas, value, 60);
            const auto [least, most] = std::ranges::minmax(first.values);
            EXPECT_LT(least, most);
            for (std::size_t k = 0; k < 7; ++k) {
                EXPECT_EQ(first.sample[k], first.values[sampled_ball(k, 7, gas.size())]);
            }
            for (const Processor& processor : {Processor{"cpu3", 3}, Processor{"emulated"}}) {
                if (!missing(processor).empty()) continue;
                const Written other = write(processor, gas, value, 60);
                EXPECT_EQ(std::memcmp(first.places.data(), other.places.data(), gas.size() * sizeof(BallPlace)), 0);
                EXPECT_EQ(std::memcmp(first.values.data(), other.values.data(), gas.size() * sizeof(float)), 0)
                    << name << " " << processor.name << " " << static_cast<int>(value);
            }
        }
    }
}

#if defined(CAROM_HAVE_EMULATED)

TEST(SharedStore, ShowsTheSamePictureAsFrames) {
    for (const QuantityInfo& info : quantities()) {
        for (const std::string* scene : {&kOpen, &kDeep}) {
            const Difference difference = compare_ways(*scene, info.quantity, "emulated", fake_store_of);
            // A speed or an overlap that was rounded another way may be another of 256 colours.
            EXPECT_LE(difference.largest, 2) << info.name << *scene;
            EXPECT_LE(difference.pixels, 100) << info.name << *scene;
        }
    }
}

/// Second pictures are drawn after all others here and among them there: where a smooth rim lies over another ball's,
/// that shows.
TEST(SharedStore, ShowsBallsAtBothEndsOfAPeriodicAxis) {
    const Difference difference = compare_ways(kRing, Quantity::kId, "emulated", fake_store_of);
    EXPECT_LE(difference.pixels, 4 * 3 * 60);
    const Difference none = compare_ways(kPlain, Quantity::kId, "emulated", fake_store_of);
    EXPECT_EQ(none.pixels, 0);
}

TEST(SharedStore, IsNotTakenWhereNothingCanBeShared) {
    const EglContext context;
    const PreparedScene scene = on_processor(kPlain, "emulated");
    const auto solver = scene.plan->make_solver(scene.state, "");
    const auto store = make_cloud_store(190, pictures_of(*solver));
    EXPECT_FALSE(store->arrays(0).has_value());
    EXPECT_NE(store->way(true).find("mapped buffers, by frames"), std::string::npos) << store->way(true);
    EXPECT_NE(store->way(true).find("shares no buffers"), std::string::npos) << store->way(true);
    // It is fed all the same, by frames.
    CloudFeed feed;
    Frame frame;
    solver->request_frame(frame);
    solver->finish_frame(frame);
    EXPECT_TRUE(feed.needs_frame(*store, 0, *solver, Quantity::kSpeed));
    feed.fill(*store, 0, *solver, scene.scene, scene.state.balls, Quantity::kSpeed, &frame);
    EXPECT_EQ(store->buffers(0).extent.count, 190u);
}

#endif

/// The CPU writes what OpenGL reads; the pictures are those of frames.
TEST(CloudFeed, ShowsTheSamePictureAsFramesFromTheCpu) {
    for (const Quantity quantity : {Quantity::kSpecies, Quantity::kSpeed, Quantity::kHeight, Quantity::kOverlap,
                                    Quantity::kDensity, Quantity::kTemperature, Quantity::kFlow}) {
        for (const std::string* text : {&kPlain, &kOpen, &kDeep}) {
            Studio studio(*text, {.quantity = quantity, .labels = false});
            const PreparedScene scene = prepared(*text);
            const auto solver = scene.plan->make_solver(scene.state, "");
            const auto store = make_cloud_store(scene.state.balls.size(), pictures_of(*solver));
            Frame frame;
            CloudFeed feed;
            solver->advance_to(0.5, 60.0);
            solver->request_frame(frame);
            solver->finish_frame(frame);
            EXPECT_EQ(feed.needs_frame(*store, 0, *solver, quantity), quantity == Quantity::kOverlap);
            const ValueRange range = feed.fill(*store, 0, *solver, scene.scene, scene.state.balls, quantity, &frame);
            studio.painter().set_range(range);
            studio.painter().see(range);
            studio.painter().draw(store->buffers(0), 0.0, frame.size(), {});
            Pixels fed;
            studio.painter().read(fed);
            studio.painter().draw(frame, {});
            Pixels copied;
            studio.painter().read(copied);
            // What is around a ball is summed another way there, and may be another of 256 colours.
            const int most = picture_order(quantity, scene.scene, scene.state.balls).around() ? 2 : 0;
            int largest = 0;
            for (std::size_t k = 0; k < fed.rgb.size(); ++k) {
                largest = std::max(largest, std::abs(static_cast<int>(fed.rgb[k]) - static_cast<int>(copied.rgb[k])));
            }
            EXPECT_LE(largest, most) << *text;
        }
    }
}

/// On a machine with a GPU, whose OpenGL draws there: the same, through buffers that CUDA and OpenGL really share.
TEST(CudaSharedStore, ShowsTheSamePictureAsFrames) {
    CAROM_REQUIRE(Processor{"cuda"});
    try {
        const EglContext probe;
    } catch (const SystemError& error) {
        GTEST_SKIP() << error.what();
    }
    for (const Quantity quantity : {Quantity::kSpecies, Quantity::kSpeed, Quantity::kOverlap}) {
        for (const std::string* scene : {&kPlain, &kOpen, &kDeep}) {
            const Difference difference = compare_ways(*scene, quantity, "cuda", [](Solver& solver, std::size_t balls) {
                auto store = make_cloud_store(balls, pictures_of(solver));
                EXPECT_NE(store->way(false).find("shared"), std::string::npos) << store->way(false);
                return store;
            });
            EXPECT_LE(difference.largest, 2) << *scene;
            EXPECT_LE(difference.pixels, 100) << *scene;
        }
    }
}

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

}  // namespace carom::test::shared_store_test
