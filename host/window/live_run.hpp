#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "host/io/trajectory_writer.hpp"
#include "host/run/changing_solver.hpp"
#include "host/run/prepare.hpp"
#include "host/run/schedule.hpp"
#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"
#include "host/state/solver.hpp"
#include "host/viewer/cloud_feed.hpp"
#include "host/viewer/quantity.hpp"
#include "host/window/show.hpp"

namespace carom {

/// A trajectory of a live run: frames as `carom run` stores them, and a note of each change that was made meanwhile.
class LiveRecord {
public:
    /// \throws InputError, SystemError  as TrajectoryWriter
    LiveRecord(const std::string& path, bool force, const Scene& scene, const Balls& balls,
               const SolverDescription& description);

    [[nodiscard]] std::size_t frames() const { return writer_->frames(); }
    /// \throws SystemError  as TrajectoryWriter, as all that follows
    void add(const Frame& frame);
    /// \param what  "physics.gravity=[0, -2]"
    void note(double time, std::uint64_t step, const std::string& what);
    /// Nothing can be added afterwards.
    void finish();
    [[nodiscard]] const std::string& path() const { return writer_->path(); }

private:
    std::uint64_t notes_ = 0;
    std::unique_ptr<TrajectoryWriter> writer_;
};

/// One state of a live run, complete with all that panels show of it.
struct LiveFrame {
    double time = 0.0;
    std::uint64_t step = 0;
    /// Of this time, or a little older while it plays: see LiveRun::want_frames.
    std::shared_ptr<const Frame> frame;
    Totals totals;
    Tallies tallies;
    Quantity quantity = Quantity::kSpeed;  ///< of the cloud's values
    ValueRange range;
    bool by_frames = false;         ///< the cloud was made from `frame`
    double steps_per_second = 0.0;  ///< of wall time, while computing
    double reached = 0.0;           ///< simulated time per second of wall time; 0 if not known
    Rewind rewind;
};

/// A simulation that goes on in a thread of its own while one looks. Frames are handed over through a ring, so neither
/// waits for the other. Commands are done between two steps, in order. All functions but the thread's own are for one
/// other thread, the window's.
class LiveRun {
public:
    /// \throws InputError, SystemError  the run cannot start
    LiveRun(const SceneRequest& request, PreparedScene prepared);
    ~LiveRun();
    LiveRun(const LiveRun&) = delete;
    LiveRun& operator=(const LiveRun&) = delete;

    /// Stores frames, every output.every of simulated time, and what is changed of the run. Before start().
    /// \throws InputError, SystemError  as TrajectoryWriter
    void record(const std::string& path, bool force);
    /// The best store for this run in the current context of OpenGL. Before start().
    [[nodiscard]] std::unique_ptr<CloudStore> make_store();
    /// Starts the thread; the first frame follows.
    /// \param store   outlives this
    /// \param modest  leaves the processor to whoever draws with it: computes with what that does not need
    void start(CloudStore& store, bool playing, bool modest = false);
    /// Ends the thread; the store is not needed any more.
    void stop();

    /// With all changes that have been asked for.
    [[nodiscard]] const Scene& scene() const { return scene_; }
    [[nodiscard]] const Balls& balls() const { return balls_; }
    [[nodiscard]] SolverDescription description() const;
    /// None of the event-driven solver.
    [[nodiscard]] std::optional<SpringNumbers> spring() const;

    void set_playing(bool playing);
    [[nodiscard]] bool playing() const;
    /// One step of the spring solver; of the event-driven one a hundredth of the time between stored frames.
    void step();
    /// Back to the start, with the scene as it was then.
    void reset();
    /// Simulated time per second of wall time, at most.
    void set_speed(double speed);
    [[nodiscard]] double speed() const;
    void set_quantity(Quantity quantity);
    /// Whether each picture needs its own frame (something is picked); otherwise one comes four times a second while it
    /// plays, unless pictures are made from frames anyway.
    void want_frames(bool each) { frames_wanted_.store(each, std::memory_order_relaxed); }
    void kick(const Kick& kick);
    /// Back to the state and the time of the last kick, as if it had not been. Not where the run has gone on and is
    /// stored: time cannot go back in a file. Nor once the scene has been changed, or the run began anew.
    void undo_kick();
    /// Back, or on again, to the last state that is kept of that time or an earlier one, and else to the first; without
    /// a time to the last one before now. Not where the run is stored. The states are forgotten with a change of keys
    /// or a new beginning; those of later times once the run goes on from here.
    void rewind(std::optional<double> time);
    /// Changes keys of the scene and goes on from the present state, with the time step as it is unless that is what
    /// changes. What only the state speaks against is a message, and so is a time step that resolves no contact.
    /// \throws InputError  the scene may not be so
    /// In a scene with stages it is so from the present one on, until a later one that has the same key.
    /// \param asked  as overrides_from takes them
    void change(const std::vector<std::string>& asked);

    /// Whether a frame is there that has not been taken.
    [[nodiscard]] bool fresh() const { return ring_.fresh(); }
    /// The newest frame; the same as before if there is none. Null before the first.
    const LiveFrame* take();
    /// The slot of the store that belongs to it.
    [[nodiscard]] int slot() const { return ring_.read_slot(); }
    /// What stopped the run; empty if nothing did.
    [[nodiscard]] std::string error() const;
    /// Why a kick or a change was not made, or what to beware of after it, once; empty if there is nothing to say.
    /// scene() is from then on as the run has it.
    [[nodiscard]] std::string take_message();

private:
    using Task = std::function<void()>;

    void post(Task task);

    // The rest is the thread's.
    void work();
    static void step_back();
    void attempt(const Task& task);
    [[nodiscard]] bool stopping() const;
    void advance();
    void single_step();
    void publish(bool going);
    std::shared_ptr<Frame> spare_frame();
    [[nodiscard]] std::unique_ptr<ChangingSolver> made() const;
    void forget();
    void remember(bool now);
    void remake(const std::vector<std::string>& asked);
    void go_back();
    void describe();
    void store_frame();
    void note(const std::string& what);
    void tell(const std::string& what);

    int threads_;  // that the run may take
    Scene scene_;  // the window's
    Balls balls_;
    SolverState start_;
    Scene start_scene_;
    std::shared_ptr<const SolverPlan> start_plan_;
    std::unique_ptr<ChangingSolver> solver_;  // the thread's own once it runs
    CloudStore* store_ = nullptr;
    CloudFeed feed_;
    std::vector<std::shared_ptr<Frame>> frame_pool_;
    std::shared_ptr<const Frame> newest_;
    std::chrono::steady_clock::time_point newest_at_;
    std::atomic<bool> frames_wanted_{false};
    std::optional<LiveRecord> record_;
    std::optional<Schedule> record_times_;  // of the frames behind its first one
    struct BeforeKick {
        ChangingSolver::Moment moment;
        std::size_t id;  // of the ball
    };
    std::optional<BeforeKick> before_kick_;
    std::deque<ChangingSolver::Moment> moments_;  // in the order of their times
    std::uint64_t moment_bytes_ = 0;              // of one of them
    std::chrono::steady_clock::time_point remembered_at_;
    double moment_pause_ = 0.0;  // that the next one waits for [s]
    RateMeter reached_;
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
    std::string message_;
    SolverDescription description_;
    double longest_dt_ = 0.0;
    std::optional<Scene> standing_;  // the scene as the run has it
    int changes_ = 0;                // asked for and not dealt with
    std::thread thread_;
};

}  // namespace carom
