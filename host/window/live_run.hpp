#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "host/run/prepare.hpp"
#include "host/state/solver.hpp"
#include "host/viewer/ball_cloud.hpp"
#include "host/viewer/cloud_store.hpp"
#include "host/viewer/frame_ring.hpp"
#include "host/viewer/quantity.hpp"

namespace carom {

/// One state of a live run, complete with all that panels show of it.
struct LiveFrame {
    Frame frame;
    Totals totals;
    Tallies tallies;
    Quantity quantity = Quantity::kSpeed;  ///< of the cloud's values
    ValueRange range;
    double steps_per_second = 0.0;  ///< of wall time, while computing
};

/// A simulation that goes on in a thread of its own while one looks. Frames are handed over through a ring, so neither
/// waits for the other. Commands are done between two steps, in order. All functions but the thread's own are for one
/// other thread.
class LiveRun {
public:
    /// \param store  holds clouds for three slots; outlives this
    /// \throws InputError, SystemError  the run cannot start
    LiveRun(const SceneRequest& request, PreparedScene prepared);
    ~LiveRun();
    LiveRun(const LiveRun&) = delete;
    LiveRun& operator=(const LiveRun&) = delete;

    /// Starts the thread; the first frame follows. \param store  outlives this
    void start(CloudStore& store, bool playing);
    /// Ends the thread; the store is not needed any more.
    void stop();

    [[nodiscard]] const Scene& scene() const { return scene_; }
    [[nodiscard]] const Balls& balls() const { return balls_; }
    [[nodiscard]] const SolverDescription& description() const { return description_; }

    void set_playing(bool playing);
    [[nodiscard]] bool playing() const;
    /// One step of the spring solver; of the event-driven one a hundredth of the time between stored frames.
    void step();
    /// Back to the start.
    void reset();
    /// Simulated time per second of wall time, at most.
    void set_speed(double speed);
    [[nodiscard]] double speed() const;
    void set_quantity(Quantity quantity);
    /// Adds to a ball's velocity [length/time].
    void kick(std::size_t id, const Vector3& change);
    /// Changes a key of the scene and goes on from the present state. \throws InputError  it may not be so
    void change(const std::vector<std::string>& overrides);

    /// Whether a frame is there that has not been taken.
    [[nodiscard]] bool fresh() const { return ring_.fresh(); }
    /// The newest frame; the same as before if there is none. Null before the first.
    const LiveFrame* take();
    /// The slot of the store that belongs to it.
    [[nodiscard]] int slot() const { return ring_.read_slot(); }
    /// What stopped the run; empty if nothing did.
    [[nodiscard]] std::string error() const;

private:
    using Task = std::function<void()>;

    void work();
    void advance();
    void publish();
    void rebuild(const SolverState& state);
    void post(Task task);

    SceneRequest request_;
    PreparedScene prepared_;
    Scene scene_;
    Balls balls_;
    SolverState start_;
    SolverDescription description_;
    std::unique_ptr<Solver> solver_;  // the thread's own once it runs
    CloudStore* store_ = nullptr;
    CloudMaker clouds_;
    std::vector<float> values_;
    Quantity quantity_ = Quantity::kSpeed;
    double goal_ = 0.0;  // simulated time that the wall clock has come to
    double steps_per_second_ = 0.0;

    FrameRing ring_;
    std::array<LiveFrame, FrameRing::kSlots> frames_;
    bool any_ = false;

    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Task> tasks_;
    bool playing_ = false;
    bool stopping_ = false;
    double speed_ = 1.0;
    std::string error_;
    std::thread thread_;
};

}  // namespace carom
