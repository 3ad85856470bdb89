#include "host/window/live_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "host/io/trajectory_reader.hpp"
#include "host/run/simulate.hpp"
#include "host/state/errors.hpp"
#include "host/viewer/frame_source.hpp"
#include "tests/support/live_lab.hpp"
#include "tests/support/shared_pictures.hpp"

// A live run and whoever looks at it: what is shown, and when.

namespace carom::live_run_test {

using test::kBouncing;
using test::kTwoHardBalls;
using test::LiveLab;

TEST(LiveRun, DoesNothingUntilItIsToldTo) {
    LiveLab lab;
    const LiveFrame* first = lab.wait([](const LiveFrame&) { return true; });
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->step, 0u);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_FALSE(lab.run.fresh());
}

TEST(LiveRun, ShowsTheNumbersOfItsFrames) {
    LiveLab lab;
    for (int k = 0; k < 5; ++k) lab.run.step();
    const LiveFrame* frame = lab.wait([](const LiveFrame& f) { return f.step == 5; });
    ASSERT_NE(frame, nullptr);
    EXPECT_DOUBLE_EQ(frame->totals.kinetic, 1.0);
    EXPECT_EQ(frame->totals.balls, 2u);
    EXPECT_DOUBLE_EQ(frame->time, 0.005);
    // A quantum of the position a step.
    EXPECT_NEAR(frame->frame->position[0][0], 5.005, 1e-6);
    EXPECT_EQ(lab.store->buffers(lab.run.slot()).extent.count, 2u);
}

TEST(LiveRun, PlaysAtTheSpeedAskedForAndPauses) {
    LiveLab lab;
    lab.run.set_speed(0.25);
    const auto begin = std::chrono::steady_clock::now();
    lab.run.set_playing(true);
    const LiveFrame* frame = lab.wait([](const LiveFrame& f) { return f.time > 0.2; });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    ASSERT_NE(frame, nullptr);
    EXPECT_LE(frame->time, 0.25 * seconds + 0.25 * 2.0 / 60.0);  // never faster, but for the frame begun
    lab.run.set_playing(false);
    bool still = false;  // a busy machine may be late with the last picture
    for (int looks = 0; looks < 50 && !still; ++looks) {
        lab.run.take();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        still = !lab.run.fresh();
    }
    EXPECT_TRUE(still);
}

TEST(LiveRun, SaysWhichSpeedItReaches) {
    LiveLab lab;
    lab.run.set_speed(0.25);
    lab.run.set_playing(true);
    // Less while the machine is busy, which passes.
    const LiveFrame* kept = lab.wait([](const LiveFrame& f) { return f.time > 0.2 && f.reached > 0.15; });
    ASSERT_NE(kept, nullptr);
    EXPECT_NEAR(kept->reached, 0.25, 0.1);
    lab.run.set_speed(1e9);  // nor does it fly that far: it meets the wall, again and again
    const LiveFrame* slow = lab.wait([](const LiveFrame& f) { return f.reached > 1.0; });
    ASSERT_NE(slow, nullptr);
    EXPECT_LT(slow->reached, 1e6);
}

TEST(LiveRun, PlaysSlowerThanAStepAFrame) {
    LiveLab lab;
    lab.run.set_speed(0.003);  // three steps a second
    lab.run.set_playing(true);
    const LiveFrame* frame = lab.wait([](const LiveFrame& f) { return f.step >= 3; });
    EXPECT_NE(frame, nullptr);
}

TEST(LiveRun, SingleStepsNeedNoStoredFrames) {
    const std::string scene = std::string(kTwoHardBalls);
    const std::string never = std::string(scene).replace(scene.find("every = 100.0"), 13, "every = 0.0  ");
    LiveLab lab(never.c_str());
    const double until = lab.run.scene().run.until;
    lab.steps(1);
    const LiveFrame* frame = lab.wait([](const LiveFrame& f) { return f.time > 0.0; });
    ASSERT_NE(frame, nullptr);
    EXPECT_DOUBLE_EQ(frame->time, 1e-4 * until);
}

TEST(LiveRun, SaysWhatStoppedIt) {
    LiveLab lab;
    lab.run.kick({.id = 0, .velocity = {1e9, 0.0, 0.0}, .add = true});  // it would leave the box within a step
    const std::string refused = lab.wait_for_message();
    EXPECT_NE(refused.find("farther than the largest radius"), std::string::npos) << refused;
    lab.run.kick({.id = 0, .velocity = {490.0, 0.0, 0.0}, .add = true});  // and so it runs deep into the other
    lab.run.set_playing(true);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (lab.run.error().empty() && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_NE(lab.run.error().find("ball"), std::string::npos) << lab.run.error();
    EXPECT_FALSE(lab.run.playing());
}

#if defined(CAROM_HAVE_EMULATED)

constexpr const char* kGas = R"(
[scene]
dimension = 2
[box]
size = [24.0, 18.0]
[[fill]]
count = 190
radius = 0.5
mass = 1.0
temperature = 1.0
)";

/// What is drawn from a slot is of the time that the slot says, whole, however the two threads meet.
TEST(LiveRun, HandsOverWholePicturesFromThreadToThread) {
    const EglContext context;
    LiveRun run({.scene = "", .text = SceneText{"test.toml", kGas}}, test::on_processor(kGas, "emulated"));
    const auto store = test::make_fake_store(run.balls().size());
    run.want_frames(true);
    run.start(*store, true);
    std::vector<BallPlace> places(run.balls().size());
    const Vector3 origin = cloud_origin(run.scene().box);
    int seen = 0;
    int wrong = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (seen < 40 && std::chrono::steady_clock::now() < end) {
        if (!run.fresh()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            continue;
        }
        const LiveFrame* now = run.take();
        const CloudBuffers buffers = store->buffers(run.slot());
        glGetNamedBufferSubData(buffers.places, 0, static_cast<GLsizeiptr>(places.size() * sizeof(BallPlace)),
                                places.data());
        store->drawn(run.slot());
        ++seen;
        ASSERT_EQ(now->time, now->frame->time);
        for (std::size_t id = 0; id < places.size(); ++id) {
            wrong += places[id].x != static_cast<float>(now->frame->position[0][id] - origin[0]) ? 1 : 0;
            wrong += places[id].y != static_cast<float>(now->frame->position[1][id] - origin[1]) ? 1 : 0;
        }
    }
    run.stop();
    EXPECT_EQ(run.error(), "");
    EXPECT_EQ(seen, 40);
    EXPECT_EQ(wrong, 0);
}

#endif

// The file of a live run.

TEST(LiveRecord, StoresFramesAndWhatWasChanged) {
    const std::string path = testing::TempDir() + "/live-record.h5";
    {
        LiveLab lab(kBouncing, path);
        lab.steps(100);
        lab.run.change({"physics.gravity=[0, -2]"});
        lab.steps(50);
        lab.run.change({"physics.restitution=0.5"});
        lab.run.change({"spring.dt=10"});  // refused, so it is not in the file
        lab.run.change({"spring.stiffness=5000"});
        lab.run.kick({.id = 0, .velocity = {0.0, 0.25, 0.0}, .add = true});
        lab.steps(60);
        ASSERT_NE(lab.wait([](const LiveFrame& f) { return f.step == 210; }), nullptr) << lab.run.error();
        EXPECT_NE(lab.run.take_message(), "");  // of what was refused
        lab.run.undo_kick();
        EXPECT_EQ(lab.wait_for_message(), "not undone: time cannot go back in " + path);
        EXPECT_EQ(lab.run.error(), "");
    }
    const TrajectoryReader file(path);
    ASSERT_EQ(file.frame_count(), 5u);  // 0, 0.05, ... 0.2
    for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(file.times()[k], 0.05 * static_cast<double>(k), 1e-9) << k;
    EXPECT_EQ(file.steps()[3], 150u);
    Frame frame;
    file.read(3, frame);
    EXPECT_NEAR(frame.velocity[1][0], -0.1 - 0.1, 1e-6);  // 0.1 s of either gravity
    const std::vector<RunChange> changes = file.changes();
    ASSERT_EQ(changes.size(), 4u);
    EXPECT_EQ(changes[0].what, "physics.gravity=[0, -2]");
    EXPECT_EQ(changes[0].step, 100u);
    EXPECT_NEAR(changes[0].time, 0.1, 1e-12);
    EXPECT_EQ(changes[1].what, "physics.restitution=0.5");
    EXPECT_EQ(changes[2].what, "spring.stiffness=5000");
    EXPECT_EQ(changes[3].what, "ball 0 kicked by [0, 0.25]");
    EXPECT_EQ(changes[3].step, 150u);
    EXPECT_NE(file.summary().find("\"changes\": 4"), std::string::npos) << file.summary();
    std::remove(path.c_str());
}

TEST(StoredShow, HasChartsOfRowsAndAveragesAndABallsHistory) {
    const std::string path = testing::TempDir() + "charts.h5";
    const auto scene = std::string(test::kBouncing) + "[[observe]]\nname = \"speed\"\nkind = \"speed\"\nevery = 0.1\n";
    static_cast<void>(
        simulate(prepare_scene({.scene = "", .overrides = {"run.until=1"}, .text = SceneText{"test.toml", scene}}),
                 {.files = {.trajectory = path}, .force = true, .quiet = true}));
    const auto show = make_stored_show(path);
    show->start(false);
    const auto names = show->chart_names();
    for (const char* name : {"energy", "total_energy", "momentum", "speed"}) {
        EXPECT_EQ(std::ranges::count(names, name), 1) << name;
    }
    const Figure energy = show->chart("total_energy", false);
    ASSERT_FALSE(energy.curves.empty());
    EXPECT_EQ(energy.x_label, "time");
    EXPECT_NEAR(energy.curves[0].y.front(), 2.0 * 1.0 * 0.7, 1e-6);
    const Figure drift = show->chart("total_energy", true);
    EXPECT_EQ(drift.curves[0].y.front(), 0.0);
    EXPECT_NEAR(drift.curves[0].y.back(), energy.curves[0].y.back() / energy.curves[0].y.front() - 1.0, 1e-12);
    EXPECT_THROW(static_cast<void>(show->chart("speed", true)), InputError);
    EXPECT_THROW(static_cast<void>(show->chart("mood", false)), InputError);
    EXPECT_TRUE(show->watched().speed(show->scene()).curves[0].x.empty());
    show->watch(0);
    for (int k = 0; k < 1000 && show->update(0.0); ++k) {
    }
    const Curve speed = show->watched().speed(show->scene()).curves[0];
    ASSERT_EQ(speed.x.size(), show->frame_count());
    EXPECT_NEAR(speed.y[4], 0.2, 1e-5);  // it falls from rest for 0.2 s
    std::remove(path.c_str());
}

TEST(Shows, TellNumbersInTheUnitsOfTheScene) {
    const std::string path = testing::TempDir() + "units.h5";
    const auto scene = std::string(test::kBouncing) + "[units]\nlength = \"d\"\ntime = \"tau\"\nenergy = \"%s kT\"\n";
    const SceneRequest request{.scene = "", .overrides = {"run.until=1"}, .text = SceneText{"test.toml", scene}};
    static_cast<void>(simulate(prepare_scene(request), {.files = {.trajectory = path}, .force = true, .quiet = true}));
    const EglContext context;
    const auto live = make_live_show(request, {});
    live->start(false);
    for (int k = 0; k < 1000 && live->readings().empty(); ++k) {
        live->update(0.0);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    const auto stored = make_stored_show(path);
    stored->start(false);
    for (const Show* show : {live.get(), stored.get()}) {
        std::map<std::string, std::string> told;
        for (const auto& [name, value] : show->readings()) told[name] = value;
        EXPECT_TRUE(told["time"].ends_with("0 tau")) << told["time"];
        EXPECT_TRUE(told["total energy"].ends_with(" %s kT")) << told["total energy"];
        EXPECT_TRUE(told["temperature"].ends_with(" %s kT")) << told["temperature"];
    }
    live->stop();
    std::remove(path.c_str());
}

TEST(StoredRuns, TellTheNumbersOfRowsAtTheTimeOfTheFrameAlone) {
    const std::string path = testing::TempDir() + "rows.h5";
    const SceneRequest request{.scene = "",
                               .overrides = {"run.until=1", "output.every=0.1", "output.observables_every=0.3"},
                               .text = SceneText{"test.toml", kBouncing}};
    static_cast<void>(simulate(prepare_scene(request), {.files = {.trajectory = path}, .force = true, .quiet = true}));
    const auto source = open_trajectory(path, {});
    const auto show = make_stored_show(path);
    show->start(false);
    for (std::size_t k = 0; k < 11; ++k) {
        ASSERT_NE(source->next(), nullptr);
        show->go_to(k);
        const bool row = k % 3 == 0 || k == 10;  // and one at the end
        EXPECT_EQ(std::ranges::count_if(source->notes(), [](auto& line) { return line.starts_with("kinetic energy"); }),
                  row ? 1 : 0)
            << k;
        EXPECT_EQ(std::ranges::count(show->readings(), "kinetic energy", [](auto& one) { return one.first; }),
                  row ? 1 : 0)
            << k;
    }
    std::remove(path.c_str());
}

TEST(StoredShow, FollowsAFileThatGrows) {
    const std::string path = testing::TempDir() + "/growing-show.h5";
    const std::unique_ptr<Show> show = [&] {
        LiveLab lab(kBouncing, path);
        const auto steps = [&](int count, std::uint64_t step) {
            lab.steps(count);
            ASSERT_NE(lab.wait([=](const LiveFrame& f) { return f.step == step; }), nullptr) << lab.run.error();
        };
        steps(110, 110);
        auto stored = make_stored_show(path);
        stored->start(false);
        EXPECT_GE(stored->frame_count(), 1u);
        stored->go_to(stored->frame_count() - 1);
        const std::size_t before = stored->frame_count();
        steps(300, 410);
        EXPECT_TRUE(stored->update(1.0));
        EXPECT_GE(stored->frame_count(), before + 5);
        EXPECT_EQ(stored->frame_index() + 1, stored->frame_count()) << "at the end one stays there";
        EXPECT_EQ(stored->frame()->time, stored->time());
        EXPECT_NE(stored->status().find("being written"), std::string::npos) << stored->status();
        stored->go_to(1);
        steps(100, 510);
        EXPECT_TRUE(stored->update(1.0));
        EXPECT_EQ(stored->frame_index(), 1u) << "elsewhere, too";
        stored->go_to(stored->frame_count() - 1);
        stored->set_playing(true);
        stored->update(0.4);
        stored->update(0.4);
        EXPECT_GT(stored->frame_index(), 1u) << "it waits for more instead of beginning anew";
        stored->set_playing(false);
        return stored;
    }();
    EXPECT_TRUE(show->update(1.0));
    EXPECT_EQ(show->frame_count(), 11u);
    EXPECT_EQ(show->status().find("being written"), std::string::npos) << show->status();
    EXPECT_FALSE(show->update(1.0));
    std::remove(path.c_str());
}

}  // namespace carom::live_run_test
