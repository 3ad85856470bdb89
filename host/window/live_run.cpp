#include "host/window/live_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string_view>
#include <utility>

#include "host/scene/load.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kFrameSeconds = 1.0 / 60.0;  // more frames than a display shows are for nothing

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// What was counted before and after.
Tallies sum(const Tallies& before, Tallies after) {
    after.wall_impulse.resize(std::max(before.wall_impulse.size(), after.wall_impulse.size()));
    for (std::size_t k = 0; k < before.wall_impulse.size(); ++k) after.wall_impulse[k] += before.wall_impulse[k];
    after.wall_heat.resize(std::max(before.wall_heat.size(), after.wall_heat.size()));
    for (std::size_t k = 0; k < before.wall_heat.size(); ++k) after.wall_heat[k] += before.wall_heat[k];
    after.thermostat_heat += before.thermostat_heat;
    after.work += before.work;
    if (after.lost) *after.lost += before.lost.value_or(0.0);
    after.max_overlap = std::max(before.max_overlap, after.max_overlap);
    after.balls_left += before.balls_left;
    after.sorts += before.sorts;
    after.events += before.events;
    after.collisions += before.collisions;
    if (after.collisional_virial) *after.collisional_virial += before.collisional_virial.value_or(0.0);
    return after;
}

}  // namespace

LiveRun::LiveRun(const SceneRequest& request, PreparedScene prepared)
    : threads_(request.threads), prepared_(std::move(prepared)), scene_(prepared_.scene) {
    start_ = std::move(prepared_.state);
    prepared_.state = {};
    balls_.dimension = start_.balls.dimension;
    balls_.species_table = start_.balls.species_table;
    balls_.species = start_.balls.species;
    quantity_ = default_quantity(balls_);
    solver_ = prepared_.plan->make_solver(start_, "");
    description_ = solver_->describe();
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

void LiveRun::start(CloudStore& store, bool playing) {
    store_ = &store;
    playing_ = playing;
    thread_ = std::thread([this] { work(); });
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
    post([this] {
        rebuild(*prepared_.plan, start_);
        const std::scoped_lock lock(mutex_);
        error_.clear();
    });
}

void LiveRun::set_quantity(Quantity quantity) {
    post([this, quantity] { quantity_ = quantity; });
}

void LiveRun::kick(std::size_t id, const Vector3& change) {
    post([this, id, change] {
        SolverState state = present();
        if (id >= state.balls.size() || state.balls.gone[id] != 0) return;
        for (int axis = 0; axis < state.balls.dimension; ++axis) state.balls.velocity[axis][id] += change[axis];
        try {
            rebuild(*prepared_.plan, state);
        } catch (const std::exception& error) {
            refuse(error.what());
        }
    });
}

void LiveRun::change(const std::vector<std::string>& overrides) {
    auto all = overrides;
    // Time is the number of the step times its length: another length would make it jump.
    if (description_.dt > 0.0) all.push_back(fmt::format("spring.dt={}", description_.dt));
    // Judged here, so that the user hears of it; the state is the thread's.
    scene_ = parse_scene(scene_.source, scene_.path, all);
    {
        const std::scoped_lock lock(mutex_);
        ++changes_;
    }
    post([this, changed = scene_] { remake(changed); });
}

void LiveRun::remake(const Scene& changed) {
    std::string why;
    try {
        SolverState state = present();
        const std::uint64_t step = std::exchange(state.step, 0);  // designed as for a run that starts from here
        auto plan = make_plan(changed, state, threads_);
        state.step = step;
        rebuild(*plan, state);
        prepared_.plan = std::move(plan);
        prepared_.scene = changed;
    } catch (const std::exception& error) {
        why = error.what();
    }
    if (!why.empty()) refuse(why);
    const std::scoped_lock lock(mutex_);
    --changes_;
    if (standing_ || !why.empty()) standing_ = prepared_.scene;
}

void LiveRun::refuse(const std::string& why) {
    const std::scoped_lock lock(mutex_);
    message_ = why;
}

/// Where another solver can go on from.
SolverState LiveRun::present() {
    SolverState state;
    solver_->save(state);
    state.step += steps_before_;
    state.tallies = sum(tallies_before_, solver_->tallies());  // more than the engine saves
    // The event-driven engine's own account of the balls and what it has foreseen for them: true no longer once a ball
    // or the scene is another. Without it the engine starts from the balls.
    std::erase_if(state.extra, [](const auto& extra) { return extra.first.starts_with("events"); });
    return state;
}

void LiveRun::rebuild(const SolverPlan& plan, const SolverState& state) {
    auto solver = plan.make_solver(state, "");  // where it cannot be made, the old one stays
    const bool counts_on = solver->step() == state.step;
    steps_before_ = counts_on ? 0 : state.step;
    tallies_before_ = counts_on ? Tallies{} : state.tallies;
    solver_ = std::move(solver);
    goal_ = solver_->time();
}

const LiveFrame* LiveRun::take() {
    if (ring_.fresh()) {
        if (any_) store_->wait(ring_.read_slot());
        any_ = ring_.take() || any_;
    }
    return any_ ? &frames_[static_cast<std::size_t>(ring_.read_slot())] : nullptr;
}

void LiveRun::publish() {
    const int slot = ring_.write_slot();
    LiveFrame& to = frames_[static_cast<std::size_t>(slot)];
    solver_->request_frame(to.frame);
    solver_->finish_frame(to.frame);
    to.frame.step += steps_before_;
    to.totals = solver_->totals();
    to.tallies = sum(tallies_before_, solver_->tallies());
    to.quantity = quantity_;
    to.steps_per_second = steps_per_second_;
    evaluate(quantity_, prepared_.scene, balls_, to.frame, values_);
    to.range = quantity_ == Quantity::kSpecies ? ValueRange{} : range_of(quantity_, values_);
    store_->fill(slot, clouds_.make(prepared_.scene, balls_, to.frame, values_));
    ring_.publish();
}

void LiveRun::advance() {
    const auto begin = Clock::now();
    const std::uint64_t first = solver_->step();
    // What was missed is not caught up; but a step that takes many frames must be waited for.
    goal_ = std::min(goal_, solver_->time() + std::max(4.0 * kFrameSeconds * speed(), description_.dt));
    goal_ += speed() * kFrameSeconds;
    const double target = solver_->reachable_time(goal_);
    if (target > solver_->time()) solver_->advance_to(target, kFrameSeconds);
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
        error_ = error.what();
        playing_ = false;
    }
}

void LiveRun::work() {
    attempt([this] {
        goal_ = solver_->time();
        publish();
    });
    while (true) {
        const auto begin = Clock::now();
        std::deque<Task> tasks;
        bool going = false;
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [this] { return stopping_ || playing_ || !tasks_.empty(); });
            if (stopping_) return;
            tasks.swap(tasks_);
            going = playing_;
        }
        for (const Task& task : tasks) {
            if (stopping()) return;
            attempt(task);
        }
        attempt([this, going] {
            if (going) advance();
            publish();
        });
        const double left = kFrameSeconds - seconds_since(begin);
        if (going && left > 0.0) {
            std::unique_lock lock(mutex_);
            wake_.wait_for(lock, std::chrono::duration<double>(left), [this] { return stopping_ || !tasks_.empty(); });
        }
    }
}

}  // namespace carom
