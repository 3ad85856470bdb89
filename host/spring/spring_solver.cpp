#include "host/spring/spring_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <new>
#include <utility>

#include "host/state/errors.hpp"
#include "host/state/multiples.hpp"

namespace carom {

namespace {

class SpringSolver final : public Solver, public BallsInPlace, public BallsInParts {
public:
    SpringSolver(const std::vector<SpringStage>& stages, const SolverState& state, std::string name,
                 SpringEngineMaker make)
        : stages_(stages),
          stage_(saved_stage(state, stages.size())),
          setup_(stages_[stage_].setup),
          name_(std::move(name)),
          make_(std::move(make)),
          species_table_(state.balls.species_table) {
        state.for_each_part([this](const Balls& part) { look_over(part); });
        work_before_ = state.tallies.work;
        const BallProperties properties(state.balls);
        const RawBalls::Parts parts = [&state](const auto& take) {
            state.parts->each([&](const Balls& part) {
                const BallProperties of_part(part);
                take(of_part.of(part));
            });
        };
        RawBalls raw = properties.of(state.balls);
        if (state.parts != nullptr) {
            raw.count = species_.size();
            raw.parts = &parts;
        }
        make_engine(raw, state.step, state.tallies);
        if (spinning() > 0) count_spin(state.parts != nullptr ? balls_in(0, spinning()) : state.balls);
    }

    double time() const override { return static_cast<double>(step()) * setup_.dt; }
    std::uint64_t step() const override { return engine_ ? engine_->step() : left_.step; }
    double reachable_time(double time) const override { return static_cast<double>(step_at(time)) * setup_.dt; }

    bool advance_to(double time, double seconds) override {
        const std::uint64_t target = step_at(time);
        const auto start = std::chrono::steady_clock::now();
        const auto elapsed = [&] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        };
        require_engine();
        while (engine_->step() < target) {
            change_if_due();
            // Slices of about a tenth of the caller's patience, from the pace of the slices before.
            const std::uint64_t slice =
                std::min({target - engine_->step(), std::max(slice_, engine_->steps_at_once()), steps_to_change()});
            const double before = elapsed();
            const AdvanceResult result = engine_->advance(slice);
            if (result.fault.kind != SpringFault::Kind::kNone) throw_fault(result.fault);
            const double after = elapsed();
            step_seconds_ += after - before;
            if (after - before < 0.05 * seconds) slice_ = std::min<std::uint64_t>(slice_ * 2, 1U << 20);
            if (after - before > 0.2 * seconds) slice_ = std::max<std::uint64_t>(slice_ / 2, 1);
            if (after > seconds) break;
        }
        return engine_->step() >= target;
    }

    Totals totals() override {
        require_engine();
        Totals totals = engine_->totals();
        if (rotational_ > 0.0 && engine_->tallies().balls_left != left_with_spin_) {
            count_spin(in_parts() ? balls_in(0, spinning()) : current_balls());
        }
        totals.rotational = rotational_;
        for (std::size_t axis = 0; axis < 3; ++axis) totals.angular_momentum[axis] += spin_momentum_[axis];
        return totals;
    }

    Tallies tallies() override {
        Tallies tallies = engine_ ? engine_->tallies() : left_.tallies;
        tallies.thermostat_heat += thermostat_heat_;
        tallies.work = work_before_ + work_since(tallies.wall_impulse);
        tallies.lost.reset();
        // Dashpots and balls that leave take energy with them that nothing counts; bodies of infinite mass give some.
        if (!setup_.damped() && tallies.balls_left == 0 && !moving_heavy_) tallies.lost = 0.0;
        return tallies;
    }

    void request_frame(Frame& frame) override {
        require_engine();
        prepare_frame(frame, 0, species_.size());
        engine_->request_frame(arrays_of(frame));
    }

    void finish_frame(Frame&) override {
        const std::scoped_lock lock(engine_mutex_);
        if (engine_) engine_->finish_frame();
    }
    PictureSource* pictures() override { return engine_.get(); }
    BallSampler* sample_balls(const BallKinds& kinds) override {
        require_engine();
        return engine_->sample_balls(kinds);
    }
    std::unique_ptr<DeviceFrame> device_frame() override {
        require_engine();
        return engine_->device_frame();
    }

    void save(SolverState& state) override {
        save_without_balls(state);
        state.balls = engine_ ? current_balls() : left_.balls;
    }

    bool in_parts() const override { return engine_ && engine_->in_parts(); }
    std::size_t ball_count() const override { return species_.size(); }
    void frame_part(std::size_t first, std::size_t count, Frame& part) override {
        prepare_frame(part, first, count);
        engine_->part(false, first, count, arrays_of(part));
    }
    void save_without_balls(SolverState& state) override {
        state.step = step();
        state.time = time();
        state.balls = {};
        state.balls.dimension = setup_.dimension;
        state.balls.species_table = species_table_;
        state.tallies = tallies();
        state.records = {};
        if (stages_.size() > 1) state.records.spring_stage = stage_;
    }
    void save_part(std::size_t first, std::size_t count, Balls& part) override {
        prepare_balls(part, first, count);
        engine_->part(true, first, count, arrays_of(part));
    }

    SolverDescription describe() const override {
        if (!engine_) return left_.description;
        SolverDescription description;
        description.solver = "spring";
        description.backend = name_;
        description.device = engine_->device();
        description.threads = engine_->threads();
        description.precision = setup_.double_precision ? "double" : "single";
        description.dt = setup_.dt;
        description.memory_bytes = engine_->memory_bytes();
        description.parameters = {{"stiffness", setup_.stiffness},
                                  {"wall_stiffness", setup_.wall_stiffness},
                                  {"damping", setup_.damping},
                                  {"damping_ratio", setup_.damping_ratio},
                                  {"wall_damping_ratio", setup_.wall_damping_ratio},
                                  {"margin", engine_->margin()},
                                  {"quantum", engine_->largest_quantum()}};
        return description;
    }

    void count_after(std::uint64_t steps, double time) override {
        steps_before_ = steps;
        time_before_ = time;
    }

    SolverReport report() override {
        if (!engine_) return {};
        EngineFigures figures = engine_->figures();
        figures.numbers.insert(figures.numbers.begin(), {"step_seconds", step_seconds_});
        return {.figures = std::move(figures.numbers), .lines = std::move(figures.lines), .warnings = {}};
    }

private:
    [[nodiscard]] std::uint64_t step_at(double time) const {
        return static_cast<std::uint64_t>(std::llround(std::max(0.0, time) / setup_.dt));
    }

    static std::size_t saved_stage(const SolverState& state, std::size_t stages) {
        return std::min(static_cast<std::size_t>(state.records.spring_stage.value_or(0)), stages - 1);
    }

    /// Takes from the balls that it starts with what never changes.
    void look_over(const Balls& part) {
        for (std::size_t at = 0; at < part.size(); ++at) species_.append(part.species[at]);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::vector<double>& spins = part.spin[axis];
            const auto last = std::find_if(spins.rbegin(), spins.rend(), [](double spin) { return spin != 0.0; });
            if (last == spins.rend()) continue;
            spin_[axis].resize(part.first);
            spin_[axis].insert(spin_[axis].end(), spins.begin(), last.base());
        }
        for (std::size_t at = 0; at < part.size() && !moving_heavy_; ++at) {
            if (!is_fixed(part.species[at]) || part.gone[at]) continue;
            for (int axis = 0; axis < setup_.dimension; ++axis)
                moving_heavy_ = moving_heavy_ || part.velocity[axis][at] != 0.0;
        }
    }

    void make_engine(const RawBalls& balls, std::uint64_t step, const Tallies& tallies) {
        impulse_before_ = tallies.wall_impulse;
        auto made = make_ ? make_(setup_, balls, step, tallies)
                          : std::move(make_spring_processor(name_, setup_, balls, step, tallies).engine);
        const std::scoped_lock lock(engine_mutex_);
        engine_ = std::move(made);
    }

    /// The engine goes on in the stage `next`, with other velocities.
    void change_engine(std::size_t next, const VelocityChange& change) {
        const Tallies tallies = engine_->tallies();
        if (!engine_->change(stages_[next].setup, next == stage_, change)) {
            replace_engine(next, change);
            return;
        }
        work_before_ += work_since(tallies.wall_impulse);
        impulse_before_ = tallies.wall_impulse;
        stage_ = next;
        setup_ = stages_[next].setup;
    }

    /// Puts an engine of the stage `next`, with other velocities, in the place of the present one. Where it cannot be
    /// made, the solver stays as it was, but has no engine: it can be saved, and go no further.
    void replace_engine(std::size_t next, const VelocityChange& change) {
        left_ = {.step = step(), .tallies = engine_->tallies(), .balls = current_balls(), .description = describe()};
        Balls balls = left_.balls;
        for (int axis = 0; axis < setup_.dimension; ++axis) {
            for (std::size_t id = 0; id < balls.size(); ++id) {
                double& v = balls.velocity[axis][id];
                if (!is_fixed(balls.species[id]) && balls.gone[id] == 0) v = change.of(axis, v);
            }
        }
        {
            // Another thread may be about to finish a frame of the engine that goes.
            const std::scoped_lock lock(engine_mutex_);
            engine_->finish_frame();
            engine_.reset();  // its memory is needed
        }
        const std::size_t stage = std::exchange(stage_, next);
        const double work = std::exchange(work_before_, work_before_ + work_since(left_.tallies.wall_impulse));
        const std::vector<double> impulse = impulse_before_;
        setup_ = stages_[next].setup;
        try {
            const BallProperties properties(balls);
            make_engine(properties.of(balls), left_.step, left_.tallies);
        } catch (const std::exception& error) {
            stage_ = stage;
            setup_ = stages_[stage].setup;
            work_before_ = work;
            impulse_before_ = impulse;
            throw SystemError(
                fmt::format("at t = {:.6g} the solver could not be set up anew: {}", time() + time_before_,
                            dynamic_cast<const std::bad_alloc*>(&error) ? "out of memory" : error.what()));
        }
        left_ = {};
    }

    /// \throws SystemError  there is no engine since one could not be made
    void require_engine() const {
        if (!engine_) throw SystemError("the solver could not be set up anew, and goes no further");
    }

    /// What is due at the present step, before it is done. A state that is saved is that of before, so it is done again
    /// after a restart.
    void change_if_due() {
        while (stage_ + 1 < stages_.size() && step() >= stages_[stage_].until) enter(stage_ + 1);
        if (next_rescale(step()) == step()) rescale(stages_[stage_].rescale_temperature);
    }

    /// Until something is due again.
    [[nodiscard]] std::uint64_t steps_to_change() const {
        std::uint64_t next = next_rescale(step() + 1);
        if (stage_ + 1 < stages_.size()) next = std::min(next, stages_[stage_].until);
        return next - step();
    }

    /// The first step from `from` on at which velocities are scaled. Multiples are of the run's time, which began
    /// before this solver where a run has been changed; each is rounded by itself, so that steps do not drift away from
    /// them.
    [[nodiscard]] std::uint64_t next_rescale(std::uint64_t from) const {
        constexpr auto kNever = ~std::uint64_t{0};
        constexpr double kMostCounted = 9e15;  // one by one, in doubles
        constexpr double kMostSteps = 9e18;    // in 64 bits
        const double every = stages_[stage_].rescale_every;
        if (!(every > 0.0)) return kNever;
        const Multiples multiple(every);
        const auto step_of = [&](double count) { return std::round((multiple(count) - time_before_) / setup_.dt); };
        const auto first =
            static_cast<double>(from + steps_before_ > 0 ? from : 1);  // none at the run's very beginning
        // A little below, since that is rounded.
        double count = std::max(1.0, std::floor(((first - 0.5) * setup_.dt + time_before_) / every) - 1.0);
        while (count < kMostCounted && step_of(count) < first) ++count;
        const double step = step_of(count);
        return step >= first && step < kMostSteps ? static_cast<std::uint64_t>(step) : kNever;
    }

    /// Another stage. Velocities are those of half a step before: they go on to the present under the gravity that
    /// was, and half a step back under the one that is to be.
    void enter(std::size_t next) {
        const Totals before = engine_->totals();
        const SpringSetup& setup = stages_[next].setup;
        const auto now = static_cast<double>(step());
        VelocityChange change;
        for (int axis = 0; axis < setup_.dimension; ++axis)
            change.added[axis] = gravity_kicks(setup_, axis).lag(now) - gravity_kicks(setup, axis).lag(now);
        change_engine(next, change);
        const Totals after = engine_->totals();
        // Walls that become thermal, or cease to, no longer push: their part of the half step is missing in velocities.
        work_before_ += (after.gravitational - before.gravitational) + (after.spring - before.spring) +
                        (after.kinetic - before.kinetic);
    }

    void rescale(double temperature) {
        const Totals before = engine_->totals();
        const double twice_kinetic = temperature * setup_.dimension * static_cast<double>(before.mobile);
        if (!(before.kinetic > 0.0)) return;  // nothing moves
        const double factor = std::sqrt(0.5 * twice_kinetic / before.kinetic);
        change_engine(stage_, {.factor = factor});
        thermostat_heat_ += engine_->totals().kinetic - before.kinetic;
    }

    /// Of moving walls: force times way is impulse times speed.
    [[nodiscard]] double work_since(const std::vector<double>& impulse) const {
        double work = 0.0;
        for (std::size_t wall = 0; wall < setup_.walls.size(); ++wall) {
            const std::size_t number = WallNumber::entry(wall).index();
            const double before = number < impulse_before_.size() ? impulse_before_[number] : 0.0;
            work += setup_.walls[wall].velocity * (impulse[number] - before);
        }
        return work;
    }

    /// Of balls or a frame.
    template <class Container>
    [[nodiscard]] BallArrays arrays_of(Container& balls) const {
        BallArrays arrays;
        for (int axis = 0; axis < setup_.dimension; ++axis) {
            arrays.position[axis] = balls.position[axis].data();
            arrays.velocity[axis] = balls.velocity[axis].data();
            arrays.image[axis] = balls.image[axis].data();
        }
        arrays.gone = balls.gone.data();
        return arrays;
    }

    /// Makes room for the balls from `first` on, and puts in what never changes.
    void prepare(BallColumns& balls, std::size_t first, std::size_t count) const {
        balls.first = first;
        balls.rest = species_.size() - first - count;
        balls.resize(setup_.dimension, count);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (balls.spin[axis].empty()) continue;
            const std::size_t some = std::min(count, spin_[axis].size() - std::min(first, spin_[axis].size()));
            const auto from = spin_[axis].begin() + static_cast<std::ptrdiff_t>(some > 0 ? first : 0);
            std::fill(std::copy_n(from, some, balls.spin[axis].begin()), balls.spin[axis].end(), 0.0);
        }
    }
    void prepare_frame(Frame& frame, std::size_t first, std::size_t count) const {
        prepare(frame, first, count);
        frame.time = time();
        frame.step = step();
    }
    void prepare_balls(Balls& balls, std::size_t first, std::size_t count) const {
        prepare(balls, first, count);
        balls.species.resize(count);
        species_.copy(first, balls.species);
    }

    [[nodiscard]] Balls current_balls() {
        Balls balls;
        balls.species_table = species_table_;
        prepare_balls(balls, 0, species_.size());
        engine_->store(arrays_of(balls));
        return balls;
    }

    /// So many from `first` on. \pre in_parts()
    [[nodiscard]] Balls balls_in(std::size_t first, std::size_t count) {
        Balls balls;
        balls.species_table = species_table_;
        save_part(first, count, balls);
        return balls;
    }

    [[nodiscard]] bool is_fixed(std::uint32_t species) const { return std::isinf(species_table_[species].mass); }

    [[noreturn]] void throw_fault(const SpringFault& fault) {
        const auto around = [this](std::uint32_t id) { return in_parts() ? balls_in(id, 1) : current_balls(); };
        throw SimulationError(explain_fault(fault, around, time() + time_before_, step() + steps_before_));
    }

    /// Moment of inertia times spin, per axis (2D: only axis 2).
    [[nodiscard]] double inertia(std::size_t id) const {
        const Species& species = species_table_[species_[id]];
        return std::isinf(species.mass) ? 0.0 : species.mass * species.radius_of_gyration * species.radius_of_gyration;
    }
    /// Balls up to the last that spins.
    [[nodiscard]] std::size_t spinning() const { return std::max({spin_[0].size(), spin_[1].size(), spin_[2].size()}); }
    [[nodiscard]] double spin_of(std::size_t axis, std::size_t id) const {
        return id < spin_[axis].size() ? spin_[axis][id] : 0.0;
    }
    [[nodiscard]] double spin_energy(std::size_t id) const {
        double squared = 0.0;
        for (std::size_t axis = 0; axis < 3; ++axis) squared += spin_of(axis, id) * spin_of(axis, id);
        return 0.5 * inertia(id) * squared;
    }
    /// Spins never change, but go with the balls that leave.
    void count_spin(const Balls& balls) {
        rotational_ = 0.0;
        spin_momentum_ = {};
        for (std::size_t id = 0; id < spinning(); ++id) {
            if (balls.gone[id]) continue;
            rotational_ += spin_energy(id);
            for (std::size_t axis = 0; axis < 3; ++axis) spin_momentum_[axis] += inertia(id) * spin_of(axis, id);
        }
        left_with_spin_ = engine_->tallies().balls_left;
    }

    std::vector<SpringStage> stages_;
    std::size_t stage_;
    SpringSetup setup_;  // of the stage
    std::string name_;
    SpringEngineMaker make_;
    std::vector<Species> species_table_;
    SpeciesById species_;
    std::array<std::vector<double>, 3> spin_;  // up to the last that is not 0; nothing changes it: contacts are smooth
    double rotational_ = 0.0;                  // of the balls that are in
    Vector3 spin_momentum_{};                  // likewise
    std::uint64_t left_with_spin_ = 0;         // balls that had left when these were counted
    bool moving_heavy_ = false;                // bodies of infinite mass that move
    double work_before_ = 0.0;                 // before this engine
    std::uint64_t steps_before_ = 0;           // of the run, that this solver does not count
    double time_before_ = 0.0;                 // likewise
    double thermostat_heat_ = 0.0;             // of scaling, since this began
    std::vector<double> impulse_before_;       // on walls, before this engine
    std::unique_ptr<SpringEngine> engine_;
    std::mutex engine_mutex_;  // held while engine_ becomes another one
    struct Left {
        std::uint64_t step = 0;
        Tallies tallies;
        Balls balls;
        SolverDescription description;
    };
    Left left_;  // by the engine that went before the next one was made
    std::uint64_t slice_ = 1;
    double step_seconds_ = 0.0;  // in which the engine advanced, by the clock [s]
};

}  // namespace

BallProperties::BallProperties(const Balls& balls) : radius(balls.size()), inverse_mass(balls.size()) {
    for (std::size_t id = 0; id < balls.size(); ++id) {
        const Species& species = balls.species_of(id);
        radius[id] = species.radius;
        inverse_mass[id] = std::isinf(species.mass) ? 0.0 : 1.0 / species.mass;
    }
}

RawBalls BallProperties::of(const Balls& balls) const {
    RawBalls raw;
    raw.count = balls.size();
    raw.first = balls.first;
    for (int axis = 0; axis < balls.dimension; ++axis) {
        raw.position[axis] = balls.position[axis].data();
        raw.velocity[axis] = balls.velocity[axis].data();
        raw.image[axis] = balls.image[axis].data();
    }
    raw.gone = balls.gone.data();
    raw.radius = radius.data();
    raw.inverse_mass = inverse_mass.data();
    return raw;
}

std::unique_ptr<Solver> make_spring_solver(const std::vector<SpringStage>& stages, const SolverState& state,
                                           const std::string& processor, SpringEngineMaker make) {
    return std::make_unique<SpringSolver>(stages, state, processor, std::move(make));
}

}  // namespace carom
