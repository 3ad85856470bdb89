#include "host/window/live_run.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "host/scene/stages.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

TrajectoryHeader header_of(const Scene& scene, const Balls& balls, const SolverDescription& description) {
    TrajectoryHeader header = make_trajectory_header(scene, balls.species_table, balls.species, description, {});
    header.changeable = true;
    return header;
}

}  // namespace

LiveRecord::LiveRecord(const std::string& path, bool force, const Scene& scene, const Balls& balls,
                       const SolverDescription& description)
    : writer_(std::make_unique<TrajectoryWriter>(path, header_of(scene, balls, description), force)) {}

void LiveRecord::add(const Frame& frame) { writer_->append(frame); }

void LiveRecord::note(double time, std::uint64_t step, const std::string& what) {
    writer_->append_change({time, step, what});
    ++notes_;
}

void LiveRecord::finish() {
    writer_->close(fmt::format(R"({{"command": "view", "frames": {}, "changes": {}}})", writer_->frames(), notes_));
}

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kFrameSeconds = 1.0 / 60.0;  // more frames than a display shows are for nothing
constexpr double kPanelSeconds = 0.25;        // panels need frames less often than pictures

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// A message about a key, without the option of the command line by which that would have been set.
std::string without_option(const std::string& message) {
    if (!message.starts_with("--set ")) return message;
    const auto colon = message.find(": ");
    return colon == std::string::npos ? message : message.substr(colon + 2);
}

}  // namespace

void LiveRun::kick(const Kick& kick) {
    post([this, kick] {
        try {
            remember(true);
            BeforeKick before{solver_->moment(), kick.id};
            const std::string said = solver_->kick(kick);
            forget();
            before_kick_ = std::move(before);
            note(said);
        } catch (const std::exception& error) {
            tell(error.what());
        }
    });
}

void LiveRun::undo_kick() {
    post([this] {
        if (!before_kick_) {
            tell("there is no kick to undo");
        } else if (record_ && solver_->step() != before_kick_->moment.step) {
            tell(fmt::format("not undone: time cannot go back in {}", record_->path()));
        } else {
            try {
                solver_->go_back(before_kick_->moment);
                forget();
                const std::string said = fmt::format("kick of ball {} undone", before_kick_->id);
                before_kick_.reset();
                note(said);
                tell(said);
            } catch (const std::exception& error) {
                tell(error.what());
            }
        }
    });
}

namespace {

constexpr std::uint64_t kMostMomentBytes = 256ULL << 20;

/// Of all that grows with the balls.
std::uint64_t bytes_of(const SolverState& state) {
    std::uint64_t numbers = 0;
    const auto add = [&](const auto& columns) {
        for (const auto& column : columns) numbers += column.size();
    };
    add(state.balls.position);
    add(state.balls.velocity);
    add(state.balls.spin);
    std::uint64_t bytes = state.balls.size() * (sizeof(std::uint32_t) + 1) +
                          state.balls.species_table.size() * sizeof(Species) + sizeof(ChangingSolver::Moment);
    if (const auto& events = state.records.events) {
        for (const auto* columns :
             {&events->position, &events->velocity, &events->cell, &events->image, &events->bubble}) {
            add(*columns);
        }
        for (const auto* column :
             {&events->own_time, &events->event_time, &events->contact_time, &events->event_partner,
              &events->contact_partner, &events->contact_stale, &events->last_hit}) {
            numbers += column->size();
        }
    }
    return bytes + numbers * sizeof(double);
}

}  // namespace

/// Keeps a state from time to time; so seldom that it costs no more than a part of the run's time.
/// \param now  whether or not it is due
void LiveRun::remember(bool now) {
    while (!moments_.empty() && moments_.back().time > solver_->time()) moments_.pop_back();
    const bool due = now || seconds_since(remembered_at_) >= moment_pause_;
    if (!due || record_ || (!moments_.empty() && moments_.back().step == solver_->step())) return;
    constexpr double kShortest = 0.25;  // [s]
    constexpr double kCost = 30.0;      // a thirtieth of the time
    const auto begin = Clock::now();
    if (moment_bytes_ * 2 > kMostMomentBytes) return;
    moments_.push_back(solver_->moment());
    moment_bytes_ = bytes_of(moments_.back().state);
    // Where they become too many, every other one, so that they reach back as far as before.
    if (moments_.size() * moment_bytes_ > kMostMomentBytes) {
        for (std::size_t k = 1; k < moments_.size(); ++k)
            moments_.erase(moments_.begin() + static_cast<std::ptrdiff_t>(k));
    }
    remembered_at_ = Clock::now();
    moment_pause_ = std::max(kShortest, kCost * seconds_since(begin));
}

void LiveRun::rewind(std::optional<double> time) {
    post([this, time] {
        if (record_) {
            tell(fmt::format("time cannot go back in {}", record_->path()));
            return;
        }
        if (moments_.empty()) {
            tell("no earlier state is kept");
            return;
        }
        if (moments_.back().time < solver_->time() && moments_.back().step != solver_->step()) {
            moments_.push_back(solver_->moment());  // to come back to
        }
        auto to = moments_.begin();
        for (auto moment = moments_.begin(); moment != moments_.end(); ++moment) {
            if (time ? moment->time <= *time : moment->time < solver_->time()) to = moment;
        }
        if (!time && to->time >= solver_->time()) {
            tell("no earlier state is kept");
            return;
        }
        try {
            solver_->go_back(*to);
            forget();
            if (before_kick_ && before_kick_->moment.step > to->step) before_kick_.reset();
        } catch (const std::exception& error) {
            tell(error.what());
        }
    });
}

void LiveRun::change(const std::vector<std::string>& asked) {
    // Judged here, so that the user hears of it; the state, and the stage that the run is in by then, are the thread's.
    try {
        scene_ = changed_scene(scene_, asked, stage_at(scene_, any_ ? frames_[ring_.read_slot()].time : 0.0),
                               description().dt);
    } catch (const InputError& error) {
        throw InputError(without_option(error.what()));
    }
    {
        const std::scoped_lock lock(mutex_);
        ++changes_;
    }
    post([this, asked] { remake(asked); });
}

void LiveRun::remake(const std::vector<std::string>& asked) {
    std::string said;
    try {
        said = solver_->change(asked);
        forget();
        before_kick_.reset();
        moments_.clear();  // with other keys they cannot be gone on from
        describe();
        for (const std::string& one : asked) note(one);
    } catch (const std::exception& error) {
        said = without_option(error.what());
    }
    if (!said.empty()) tell(said);
    const std::scoped_lock lock(mutex_);
    --changes_;
    standing_ = solver_->scene();
}

void LiveRun::go_back() {
    const bool changed = &solver_->plan() != start_plan_.get();
    solver_ = made();  // where it cannot be, the old one stays
    forget();
    describe();
    before_kick_.reset();
    moments_.clear();
    std::string said = changed ? "at the start again, with the scene as it was" : "";
    if (record_) {
        record_->finish();  // time cannot go back in a file
        said = record_->path() + " ends here, before the run began anew";
        record_.reset();
    }
    if (!said.empty()) tell(said);
    const std::scoped_lock lock(mutex_);
    standing_ = solver_->scene();
    error_.clear();
}

/// The solver at the start of the run.
std::unique_ptr<ChangingSolver> LiveRun::made() const {
    return std::make_unique<ChangingSolver>(start_scene_, start_plan_, start_, threads_);
}

/// The solver is another one: what was made for the old one is of no use.
void LiveRun::forget() {
    feed_.forget();
    goal_ = solver_->time();
}

/// Into the file that is being recorded.
void LiveRun::note(const std::string& what) {
    if (record_) record_->note(solver_->time(), solver_->step(), what);
}

void LiveRun::tell(const std::string& what) {
    const std::scoped_lock lock(mutex_);
    message_ = what;
}

LiveRun::LiveRun(const SceneRequest& request, PreparedScene prepared)
    : threads_(request.threads),
      scene_(prepared.scene),
      start_(std::move(prepared.state)),
      start_scene_(prepared.scene),
      start_plan_(prepared.plan),
      solver_(made()) {
    balls_.dimension = start_.balls.dimension;
    balls_.species_table = start_.balls.species_table;
    balls_.species = start_.balls.species;
    quantity_ = default_quantity(balls_);
    describe();
}

LiveRun::~LiveRun() { stop(); }

void LiveRun::stop() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void LiveRun::record(const std::string& path, bool force) {
    record_.emplace(path, force, scene_, start_.balls, description_);
    const double every = scene_.output.every > 0.0 ? scene_.output.every : std::max(scene_.run.until, 1.0);
    record_times_.emplace(every, 0.0, [this](double time) { return solver_->reachable_time(time); });
}

std::unique_ptr<CloudStore> LiveRun::make_store() { return make_cloud_store(balls_.size(), pictures_of(*solver_)); }

SolverDescription LiveRun::description() const {
    const std::scoped_lock lock(mutex_);
    return description_;
}

std::optional<SpringNumbers> LiveRun::spring() const {
    const std::scoped_lock lock(mutex_);
    if (description_.dt <= 0.0) return std::nullopt;
    SpringNumbers numbers{.dt = description_.dt, .longest_dt = longest_dt_};
    for (const auto& [name, value] : description_.parameters) {
        if (name == "stiffness") numbers.stiffness = value;
    }
    return numbers;
}

/// What others see of the solver.
void LiveRun::describe() {
    SolverDescription description = solver_->describe();
    double contact = 0.0;
    for (const PlanFact& fact : solver_->plan().facts()) {
        if (fact.key == "contact_duration") contact = fact.value;
    }
    const std::scoped_lock lock(mutex_);
    description_ = std::move(description);
    longest_dt_ = contact / ChangingSolver::kFewestSteps;
}

void LiveRun::start(CloudStore& store, bool playing, bool modest) {
    store_ = &store;
    playing_ = playing;
    thread_ = std::thread([this, modest] {
        if (modest) step_back();
        work();
    });
}

void LiveRun::post(Task task) {
    {
        const std::scoped_lock lock(mutex_);
        tasks_.push_back(std::move(task));
    }
    wake_.notify_all();
}

void LiveRun::set_playing(bool playing) {
    {
        const std::scoped_lock lock(mutex_);
        playing_ = playing && error_.empty();
        if (!playing_) tasks_.emplace_back([] {});  // one more picture, with a frame of its own
    }
    wake_.notify_all();
}

bool LiveRun::playing() const {
    const std::scoped_lock lock(mutex_);
    return playing_;
}

void LiveRun::set_speed(double speed) {
    const std::scoped_lock lock(mutex_);
    speed_ = speed;
}

double LiveRun::speed() const {
    const std::scoped_lock lock(mutex_);
    return speed_;
}

std::string LiveRun::error() const {
    const std::scoped_lock lock(mutex_);
    return error_;
}

std::string LiveRun::take_message() {
    const std::scoped_lock lock(mutex_);
    if (standing_ && changes_ == 0) {
        scene_ = std::move(*standing_);
        standing_.reset();
    }
    return std::exchange(message_, {});
}

void LiveRun::step() {
    post([this] { single_step(); });
}

void LiveRun::reset() {
    post([this] { go_back(); });
}

void LiveRun::set_quantity(Quantity quantity) {
    post([this, quantity] { quantity_ = quantity; });
}

const LiveFrame* LiveRun::take() {
    if (ring_.fresh()) {
        if (any_) store_->wait(ring_.read_slot());
        any_ = ring_.take() || any_;
    }
    return any_ ? &frames_[static_cast<std::size_t>(ring_.read_slot())] : nullptr;
}

/// A frame that nobody else has.
std::shared_ptr<Frame> LiveRun::spare_frame() {
    for (const auto& frame : frame_pool_) {
        if (frame.use_count() == 1) return frame;
    }
    return frame_pool_.emplace_back(std::make_shared<Frame>());
}

void LiveRun::publish(bool going) {
    const int slot = ring_.write_slot();
    LiveFrame& to = frames_[static_cast<std::size_t>(slot)];
    to.frame.reset();
    to.by_frames = feed_.needs_frame(*store_, slot, *solver_, quantity_);
    const bool due = !going || newest_ == nullptr || frames_wanted_.load(std::memory_order_relaxed) ||
                     seconds_since(newest_at_) > kPanelSeconds || to.by_frames;
    if (due) {
        newest_.reset();
        const std::shared_ptr<Frame> frame = spare_frame();
        solver_->request_frame(*frame);
        solver_->finish_frame(*frame);
        newest_ = frame;
        newest_at_ = Clock::now();
    }
    to.frame = newest_;
    to.time = solver_->time();
    to.step = solver_->step();
    to.totals = solver_->totals();
    to.tallies = solver_->tallies();
    to.quantity = quantity_;
    to.steps_per_second = steps_per_second_;
    to.reached = reached_.rate();
    if (!moments_.empty()) {
        to.rewind = {moments_.front().time, moments_.back().time, moments_.size(), moments_.size() * moment_bytes_};
    } else {
        to.rewind = {};
    }
    to.range = feed_.fill(*store_, slot, *solver_, solver_->scene(), balls_, quantity_, due ? newest_.get() : nullptr);
    ring_.publish();
}

/// What is due for the file.
void LiveRun::store_frame() {
    if (!record_) return;
    const bool due = record_times_->take(solver_->time());
    if (!due && record_->frames() > 0) return;
    const std::shared_ptr<Frame> frame = spare_frame();
    solver_->request_frame(*frame);
    solver_->finish_frame(*frame);
    record_->add(*frame);
}

void LiveRun::advance() {
    const auto begin = Clock::now();
    const std::uint64_t first = solver_->step();
    // What was missed is not caught up; but a step that takes many frames must be waited for.
    goal_ = std::min(goal_, solver_->time() + std::max(4.0 * kFrameSeconds * speed(), description_.dt));
    goal_ += speed() * kFrameSeconds;
    const double target = solver_->reachable_time(goal_);
    while (solver_->time() < target && seconds_since(begin) < kFrameSeconds) {
        double next = target;
        if (record_) next = std::min(next, record_times_->next());
        if (next > solver_->time()) solver_->advance_to(next, kFrameSeconds - seconds_since(begin));
        store_frame();
    }
    const double taken = seconds_since(begin);
    if (solver_->step() > first && taken > 0.0) {
        const double now = static_cast<double>(solver_->step() - first) / taken;
        steps_per_second_ = steps_per_second_ > 0.0 ? 0.9 * steps_per_second_ + 0.1 * now : now;
    }
}

void LiveRun::single_step() {
    remember(moments_.empty());
    double length = description_.dt;
    if (length <= 0.0) {
        const Scene& scene = solver_->scene();
        length = scene.output.every > 0.0 ? 0.01 * scene.output.every : 1e-4 * scene.run.until;
    }
    const double target = solver_->reachable_time(solver_->time() + length);
    while (solver_->time() < target && !stopping() && !solver_->advance_to(target, kFrameSeconds)) {
    }
    goal_ = solver_->time();
    store_frame();
}

bool LiveRun::stopping() const {
    const std::scoped_lock lock(mutex_);
    return stopping_;
}

/// What goes wrong stops the run, and is told.
void LiveRun::attempt(const Task& task) {
    try {
        task();
    } catch (const std::exception& error) {
        const std::scoped_lock lock(mutex_);
        if (error_.empty()) error_ = error.what();  // what goes wrong after that may follow from it
        playing_ = false;
    }
}

/// Linux has a priority for each thread, which those that it starts inherit. Where it may not be changed, it stays.
void LiveRun::step_back() {
#if defined(__linux__)
    constexpr int kSteps = 5;  // a third of the weight
    const auto thread = static_cast<id_t>(gettid());
    setpriority(PRIO_PROCESS, thread, getpriority(PRIO_PROCESS, thread) + kSteps);
#endif
}

void LiveRun::work() {
    attempt([this] {
        goal_ = solver_->time();
        store_frame();
        publish(false);
    });
    auto begin = Clock::now();
    double advanced = 0.0;
    bool going = false;
    while (true) {
        std::deque<Task> tasks;
        const bool went = going;
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [this] { return stopping_ || playing_ || !tasks_.empty(); });
            if (stopping_) break;
            tasks.swap(tasks_);
            going = playing_;
        }
        // From round to round, for there is more in a round than steps.
        if (went) {
            reached_.add(advanced, seconds_since(begin));
        } else {
            reached_.forget();
        }
        begin = Clock::now();
        advanced = 0.0;
        for (const Task& task : tasks) {
            if (stopping()) break;
            attempt(task);
        }
        attempt([this, going, &advanced] {
            const double from = solver_->time();
            if (going) {
                remember(false);
                advance();
            }
            advanced = solver_->time() - from;
            publish(going);
        });
        const double left = kFrameSeconds - seconds_since(begin);
        if (going && left > 0.0) {
            std::unique_lock lock(mutex_);
            wake_.wait_for(lock, std::chrono::duration<double>(left), [this] { return stopping_ || !tasks_.empty(); });
        }
    }
    if (record_) attempt([this] { record_->finish(); });
}

}  // namespace carom
