#include "host/window/live_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "host/scene/load.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kFrameSeconds = 1.0 / 60.0;  // more frames than a display shows are for nothing

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

}  // namespace

LiveRun::LiveRun(const SceneRequest& request, PreparedScene prepared)
    : request_(request), prepared_(std::move(prepared)), scene_(prepared_.scene) {
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

void LiveRun::step() {
    post([this] {
        const double length = description_.dt > 0.0 ? description_.dt : 0.01 * prepared_.scene.output.every;
        const double target = solver_->reachable_time(solver_->time() + length);
        while (solver_->time() < target && !solver_->advance_to(target, 1.0)) {
        }
        goal_ = solver_->time();
    });
}

void LiveRun::reset() {
    post([this] {
        rebuild(start_);
        const std::scoped_lock lock(mutex_);
        error_.clear();
    });
}

void LiveRun::set_quantity(Quantity quantity) {
    post([this, quantity] { quantity_ = quantity; });
}

void LiveRun::kick(std::size_t id, const Vector3& change) {
    post([this, id, change] {
        SolverState state;
        solver_->save(state);
        if (id >= state.balls.size() || state.balls.gone[id] != 0) return;
        for (int axis = 0; axis < state.balls.dimension; ++axis) state.balls.velocity[axis][id] += change[axis];
        rebuild(state);
    });
}

void LiveRun::change(const std::vector<std::string>& overrides) {
    // Judged here, so that the user hears of it; the state is the thread's.
    auto all = request_.overrides;
    all.insert(all.end(), overrides.begin(), overrides.end());
    const Scene changed = parse_scene(prepared_.scene.source, prepared_.scene.path, overrides);
    request_.overrides = std::move(all);
    post([this, changed] {
        SolverState state;
        solver_->save(state);
        try {
            auto plan = make_plan(changed, state, request_.threads);
            prepared_.plan = std::move(plan);
        } catch (const InputError& error) {
            const std::scoped_lock lock(mutex_);
            error_ = error.what();
            return;
        }
        prepared_.scene = changed;
        rebuild(state);
    });
}

void LiveRun::rebuild(const SolverState& state) {
    solver_.reset();  // before there are two
    solver_ = prepared_.plan->make_solver(state, "");
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
    to.totals = solver_->totals();
    to.tallies = solver_->tallies();
    to.quantity = quantity_;
    to.steps_per_second = steps_per_second_;
    evaluate(quantity_, scene_, balls_, to.frame, values_);
    to.range = quantity_ == Quantity::kSpecies ? ValueRange{} : range_of(quantity_, values_);
    store_->fill(slot, clouds_.make(scene_, balls_, to.frame, values_));
    ring_.publish();
}

void LiveRun::advance() {
    const auto begin = Clock::now();
    const std::uint64_t first = solver_->step();
    goal_ = std::min(goal_, solver_->time() + 4.0 * kFrameSeconds * speed());  // what was missed is not caught up
    goal_ += speed() * kFrameSeconds;
    const double target = solver_->reachable_time(goal_);
    if (target > solver_->time()) solver_->advance_to(target, kFrameSeconds);
    const double taken = seconds_since(begin);
    if (solver_->step() > first && taken > 0.0) {
        const double now = static_cast<double>(solver_->step() - first) / taken;
        steps_per_second_ = steps_per_second_ > 0.0 ? 0.9 * steps_per_second_ + 0.1 * now : now;
    }
}

void LiveRun::work() {
    goal_ = solver_->time();
    publish();
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
        try {
            for (const Task& task : tasks) task();
            if (going) advance();
            publish();
        } catch (const std::exception& error) {
            const std::scoped_lock lock(mutex_);
            error_ = error.what();
            playing_ = false;
        }
        const double left = kFrameSeconds - seconds_since(begin);
        if (going && left > 0.0) {
            std::unique_lock lock(mutex_);
            wake_.wait_for(lock, std::chrono::duration<double>(left), [this] { return stopping_ || !tasks_.empty(); });
        }
    }
}

}  // namespace carom
