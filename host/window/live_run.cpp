#include "host/window/live_run.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "host/scene/design.hpp"
#include "host/scene/load.hpp"
#include "host/scene/stages.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

TrajectoryHeader header_of(const Scene& scene, const Balls& balls, const SolverDescription& description) {
    TrajectoryHeader header = make_trajectory_header(scene, balls, description, {});
    header.changeable = true;
    return header;
}

}  // namespace

LiveRecord::LiveRecord(const std::string& path, bool force, const Scene& scene, const Balls& balls,
                       const SolverDescription& description)
    : every_(scene.output.every > 0.0 ? scene.output.every : std::max(scene.run.until, 1.0)),
      writer_(std::make_unique<TrajectoryWriter>(path, header_of(scene, balls, description), force)) {}

void LiveRecord::add(const Frame& frame) { writer_->append(frame); }

void LiveRecord::note(double time, std::uint64_t step, const std::string& what) {
    writer_->append_change({time, step, what});
    ++notes_;
}

void LiveRecord::finish() {
    writer_->close(fmt::format(R"({{"command": "view", "frames": {}, "changes": {}}})", writer_->frames(), notes_));
}

// How a live run goes on as another one: from the state that it has, with another solver.

namespace {

/// What a plan says of itself; 0 if nothing.
double fact(const SolverPlan& plan, std::string_view key) {
    for (const PlanFact& one : plan.facts()) {
        if (one.key == key) return one.value;
    }
    return 0.0;
}

/// Where a plan's time step is longer than its contacts allow, and not because it was so before: that, and what they
/// allow.
/// \param fewest  steps that a contact must take
std::string coarse_step(const SolverPlan& plan, const SolverPlan& before, double fewest) {
    const double dt = fact(plan, "dt");
    const double contact = fact(plan, "contact_duration");
    if (contact <= 0.0 || dt <= contact / fewest) return {};
    const double contact_before = fact(before, "contact_duration");
    if (contact_before > 0.0 && dt / contact <= fact(before, "dt") / contact_before) return {};
    return fmt::format("not changed: dt = {:.3g} s would be more than a tenth of the shortest contact ({:.3g} s)", dt,
                       contact);
}

/// A sentence without its numbers.
std::string kind_of(std::string_view warning) {
    std::string kind;
    bool number = false;
    for (const char c : warning) {
        number = std::isdigit(static_cast<unsigned char>(c)) != 0 ||
                 (number && std::string_view(".e+-").find(c) != std::string_view::npos);
        if (!number) kind += c;
    }
    return kind;
}

/// What a user should know of a plan, and did not have to know of the one before with other numbers; empty if nothing.
/// \param automatic  the stiffness is left to the program: advice to leave it so is none
std::string new_warning(const SolverPlan& plan, const SolverPlan& before, bool automatic) {
    std::vector<std::string> known;
    for (const std::string& one : before.warnings()) known.push_back(kind_of(one));
    for (const std::string& one : plan.warnings()) {
        if (automatic && one.starts_with("overlaps")) continue;
        if (std::ranges::count(known, kind_of(one)) == 0) return "changed, but " + one;
    }
    return {};
}

/// Whether balls may become faster by a change.
bool drives(std::string_view change) {
    return change.starts_with("physics.gravity=") || change.find("temperature") != std::string_view::npos;
}

/// A stiffness that the scene leaves to the program stays as it is: the balls are no longer those that it was made for,
/// and there may be faster or slower ones now. Where a change may make them faster still it grows, as far as the time
/// step resolves the contacts.
/// \param begun   what the solver is to be made for
/// \param before  what it was made for
/// \param faster  as drives() tells
/// \param fewest  steps that a contact must take
/// \returns  what to beware of; empty if nothing
std::string keep_springs(Scene& begun, const Balls& balls, const SolverPlan& before, bool faster, double fewest) {
    const double present = fact(before, "stiffness");
    if (begun.spring.stiffness || present <= 0.0) return {};
    const SpringDesign design = design_spring(begun, balls);
    begun.spring.stiffness = present;
    if (!faster || design.contact_duration <= 0.0) return {};
    // A little less than how durations and overlaps go with stiffness, for dt is compared with a duration.
    constexpr double kLess = 1.0 - 1e-6;
    const double times_shorter = kLess * design.contact_duration / (fewest * design.dt);
    const double most = design.stiffness * std::pow(times_shorter, 1.0 / design.pair_contact().softness());
    begun.spring.stiffness = std::max(present, std::min(design.stiffness, most));
    if (*begun.spring.stiffness >= design.stiffness) return {};
    return fmt::format(
        "changed, but overlaps may be {:.2g} times spring.max_overlap: against that the stiffness would be {:.3g}{}, "
        "with a time step of at most {:.3g}{}",
        std::pow(design.stiffness / *begun.spring.stiffness, design.pair_contact().softness()), design.stiffness,
        begun.units.behind(design.pair_contact().stiffness_unit()), design.contact_duration / fewest,
        begun.units.behind("s"));
}

/// A message about a key, without the option of the command line by which that would have been set.
std::string without_option(const std::string& message) {
    if (!message.starts_with("--set ")) return message;
    const auto colon = message.find(": ");
    return colon == std::string::npos ? message : message.substr(colon + 2);
}

}  // namespace

/// What was counted before and after.
Tallies LiveRun::sum(const Tallies& before, Tallies after) {
    after.wall_impulse.resize(std::max(before.wall_impulse.size(), after.wall_impulse.size()));
    for (std::size_t k = 0; k < before.wall_impulse.size(); ++k) after.wall_impulse[k] += before.wall_impulse[k];
    after.wall_heat.resize(std::max(before.wall_heat.size(), after.wall_heat.size()));
    for (std::size_t k = 0; k < before.wall_heat.size(); ++k) after.wall_heat[k] += before.wall_heat[k];
    after.thermostat_heat += before.thermostat_heat;
    after.work += before.work;
    if (after.lost) *after.lost += before.lost.value_or(0.0);
    for (std::size_t k = 0; k < before.collisional_stress.size(); ++k)
        after.collisional_stress[k] += before.collisional_stress[k];
    after.max_overlap = std::max(before.max_overlap, after.max_overlap);
    after.balls_left += before.balls_left;
    after.sorts += before.sorts;
    after.events += before.events;
    after.collisions += before.collisions;
    after.meetings += before.meetings;
    if (after.collisional_virial) *after.collisional_virial += before.collisional_virial.value_or(0.0);
    return after;
}

void LiveRun::kick(const Kick& kick) {
    post([this, kick] {
        BeforeKick before{present(), step_number(), time(), kick.id};
        SolverState state = before.state;
        if (kick.id >= state.balls.size() || state.balls.gone[kick.id] != 0) return;
        std::string words;
        for (int axis = 0; axis < state.balls.dimension; ++axis) {
            double& velocity = state.balls.velocity[axis][kick.id];
            velocity = kick.velocity[axis] + (kick.add ? velocity : 0.0);
            words += fmt::format("{}{}", axis > 0 ? ", " : "", kick.velocity[axis]);
        }
        try {
            rebuild(*prepared_.plan, state, step_number(), time());
            before_kick_ = std::move(before);
            note(fmt::format("ball {} kicked {} [{}]", kick.id, kick.add ? "by" : "to", words));
        } catch (const std::exception& error) {
            tell(error.what());
        }
    });
}

void LiveRun::undo_kick() {
    post([this] {
        if (!before_kick_) {
            tell("there is no kick to undo");
        } else if (record_ && step_number() != before_kick_->step) {
            tell(fmt::format("not undone: time cannot go back in {}", record_->path()));
        } else {
            try {
                rebuild(*prepared_.plan, before_kick_->state, before_kick_->step, before_kick_->time);
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

void LiveRun::change(const std::vector<std::string>& asked) {
    // Judged here, so that the user hears of it; the state, and the stage that the run is in by then, are the thread's.
    try {
        scene_ = changed(scene_, asked, stage_at(scene_, any_ ? frames_[ring_.read_slot()].time : 0.0));
    } catch (const InputError& error) {
        throw InputError(without_option(error.what()));
    }
    {
        const std::scoped_lock lock(mutex_);
        ++changes_;
    }
    post([this, asked] { remake(asked); });
}

/// \param stage  from which on it is so
Scene LiveRun::changed(Scene scene, const std::vector<std::string>& asked, std::size_t stage) const {
    const double dt = description().dt;
    for (const std::string& one : asked) {
        auto overrides = overrides_from(scene, one, stage);
        // A scene that leaves it to the program would get another one.
        if (dt > 0.0 && !one.starts_with("spring.dt=")) overrides.push_back(fmt::format("spring.dt={}", dt));
        scene = parse_scene(scene.source, scene.path, overrides);
    }
    return scene;
}

/// What is left of a scene for a solver that counts time and steps from now on.
/// \param stage  of the scene, which the run is in
Scene LiveRun::rest_of(const Scene& scene, std::size_t stage) const {
    Scene rest = scene;
    rest.balls.clear();  // they stood there once
    const auto walls = walls_at(begun_, solver_->time(), [this](double time) { return solver_->reachable_time(time); });
    for (std::size_t wall = 0; wall < walls.size(); ++wall) rest.walls[wall].values = walls[wall].values;
    if (!rest.stages.empty()) {
        rest.stages.erase(rest.stages.begin(), rest.stages.begin() + static_cast<std::ptrdiff_t>(stage));
        for (Stage& one : rest.stages) one.until -= time();
    }
    // Thermal walls and thermostats draw by the number of the step, and a number shall not be drawn twice.
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    rest.seed = scene.seed + kOdd * step_number();
    return rest;
}

void LiveRun::remake(const std::vector<std::string>& asked) {
    std::string said;
    try {
        const std::uint64_t step = step_number();
        const double now = time();
        const std::size_t stage = stages_before_ + stage_at(begun_, solver_->time(), [this](double time) {
                                      return solver_->reachable_time(time);
                                  });
        const Scene scene = changed(prepared_.scene, asked, stage);
        SolverState state = present();
        Scene begun = scene;
        // Velocities of the spring solver belong to the forces and the step that were: it begins anew, and counts steps
        // and time from here. The event-driven one goes on in the time that it has.
        const bool anew = scene.run.solver == SolverKind::kSpring;
        if (anew) {
            if (state.step > 0) synchronise(state);
            state.step = 0;
            state.records = {};  // numbers of stages that are over
            begun = rest_of(scene, stage);
        }
        const bool automatic = !scene.spring.stiffness;
        const std::string beware =
            anew ? keep_springs(begun, state.balls, *prepared_.plan, std::ranges::any_of(asked, drives), kFewestSteps)
                 : "";
        auto plan = make_plan(begun, state, threads_);
        said = coarse_step(*plan, *prepared_.plan, kFewestSteps);
        if (said.empty()) {
            rebuild(*plan, state, step, now);
            before_kick_.reset();
            describe(*plan);
            said = beware.empty() ? new_warning(*plan, *prepared_.plan, automatic) : beware;
            prepared_.plan = std::move(plan);
            prepared_.scene = scene;
            begun_ = std::move(begun);
            if (anew) stages_before_ = stage;
            for (const std::string& one : asked) note(one);
        }
    } catch (const std::exception& error) {
        said = without_option(error.what());
    }
    if (!said.empty()) tell(said);
    const std::scoped_lock lock(mutex_);
    --changes_;
    standing_ = prepared_.scene;
}

void LiveRun::go_back() {
    rebuild(*start_plan_, start_, 0, 0.0);  // where it cannot be made, plan and scene stay those of the solver there is
    describe(*start_plan_);
    before_kick_.reset();
    const bool changed = prepared_.plan != start_plan_;
    prepared_.plan = start_plan_;
    prepared_.scene = begun_ = start_scene_;
    stages_before_ = 0;
    std::string said = changed ? "at the start again, with the scene as it was" : "";
    if (record_) {
        record_->finish();  // time cannot go back in a file
        said = record_->path() + " ends here, before the run began anew";
        record_.reset();
    }
    if (!said.empty()) tell(said);
    const std::scoped_lock lock(mutex_);
    standing_ = prepared_.scene;
    error_.clear();
}

/// Into the file that is being recorded.
void LiveRun::note(const std::string& what) {
    if (record_) record_->note(time(), step_number(), what);
}

void LiveRun::tell(const std::string& what) {
    const std::scoped_lock lock(mutex_);
    message_ = what;
}

/// Where another solver can go on from.
SolverState LiveRun::present() {
    SolverState state;
    solver_->save(state);
    state.tallies = sum(tallies_before_, solver_->tallies());  // more than the engine saves
    // The event-driven engine's own account of the balls and what it has foreseen for them: true no longer once a ball
    // or the scene is another. Without it the engine starts from the balls.
    state.records.events.reset();
    // Nor does it start from balls that are nowhere.
    for (int axis = 0; axis < state.balls.dimension; ++axis) {
        for (std::size_t id = 0; id < state.balls.size(); ++id) {
            if (state.balls.gone[id] != 0) state.balls.position[axis][id] = state.balls.velocity[axis][id] = 0.0;
        }
    }
    return state;
}

/// The spring solver's state holds velocities half a step behind positions, which only the same forces and the same
/// step bring to them. Whoever changes these needs both at one time, as at step 0.
void LiveRun::synchronise(SolverState& state) {
    Frame frame;
    solver_->request_frame(frame);
    solver_->finish_frame(frame);
    for (int axis = 0; axis < state.balls.dimension; ++axis) {
        for (std::size_t id = 0; id < state.balls.size(); ++id) {
            if (state.balls.gone[id] == 0) state.balls.velocity[axis][id] = frame.velocity[axis][id];
        }
    }
}

/// \param step, time  that the run has come to
void LiveRun::rebuild(const SolverPlan& plan, const SolverState& state, std::uint64_t step, double time) {
    auto solver = plan.make_solver(state, "");  // where it cannot be made, the old one stays
    steps_before_ = step - solver->step();
    time_before_ = time - solver->time();
    tallies_before_ = plan.name() == "events" ? state.tallies : Tallies{};  // the others count on from them
    solver_ = std::move(solver);
    feed_.forget();
    goal_ = solver_->time();
}

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kFrameSeconds = 1.0 / 60.0;  // more frames than a display shows are for nothing
constexpr double kPanelSeconds = 0.25;        // panels need frames less often than pictures

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

}  // namespace

LiveRun::LiveRun(const SceneRequest& request, PreparedScene prepared)
    : threads_(request.threads),
      prepared_(std::move(prepared)),
      scene_(prepared_.scene),
      begun_(prepared_.scene),
      start_scene_(prepared_.scene),
      start_plan_(prepared_.plan) {
    start_ = std::move(prepared_.state);
    prepared_.state = {};
    balls_.dimension = start_.balls.dimension;
    balls_.species_table = start_.balls.species_table;
    balls_.species = start_.balls.species;
    quantity_ = default_quantity(balls_);
    solver_ = prepared_.plan->make_solver(start_, "");
    describe(*prepared_.plan);
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
void LiveRun::describe(const SolverPlan& plan) {
    SolverDescription description = solver_->describe();
    double contact = 0.0;
    for (const PlanFact& fact : plan.facts()) {
        if (fact.key == "contact_duration") contact = fact.value;
    }
    const std::scoped_lock lock(mutex_);
    description_ = std::move(description);
    longest_dt_ = contact / kFewestSteps;
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
        frame->step += steps_before_;
        frame->time += time_before_;
        newest_ = frame;
        newest_at_ = Clock::now();
    }
    to.frame = newest_;
    to.time = time();
    to.step = step_number();
    to.totals = solver_->totals();
    to.tallies = sum(tallies_before_, solver_->tallies());
    to.quantity = quantity_;
    to.steps_per_second = steps_per_second_;
    to.reached = reached_.rate();
    to.range = feed_.fill(*store_, slot, *solver_, prepared_.scene, balls_, quantity_, due ? newest_.get() : nullptr);
    ring_.publish();
}

/// What is due for the file.
void LiveRun::store_frame() {
    if (!record_) return;
    bool due = false;
    // A time belongs to the nearest step.
    while (solver_->time() >= solver_->reachable_time(record_->next() - time_before_)) {
        record_->pass();
        due = true;
    }
    if (!due) return;
    const std::shared_ptr<Frame> frame = spare_frame();
    solver_->request_frame(*frame);
    solver_->finish_frame(*frame);
    frame->step += steps_before_;
    frame->time += time_before_;
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
        if (record_) next = std::min(next, solver_->reachable_time(record_->next() - time_before_));
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
    double length = description_.dt;
    if (length <= 0.0) {
        const Scene& scene = prepared_.scene;
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
            const double from = time();
            if (going) advance();
            advanced = time() - from;
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
