#include "host/run/solver_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "host/events/events_solver.hpp"
#include "host/observables/registry.hpp"
#include "host/ranks/launched.hpp"
#include "host/run/memory.hpp"
#include "host/run/say.hpp"
#include "host/scene/stages.hpp"
#include "host/scene/start.hpp"
#include "host/spring/spring_solver.hpp"
#include "host/state/errors.hpp"
#include "kernels/physics/stepped_restitution.hpp"
#include "kernels/physics/thermal_wall.hpp"

namespace carom {

namespace {

/// Memory of the solver with all its events, measured on gases of 10^5 balls and more [bytes].
constexpr std::uint64_t kBytesPerBall2D = 250;
constexpr std::uint64_t kBytesPerBall3D = 290;

SimultaneousLaw law_of(Simultaneous law) {
    switch (law) {
        case Simultaneous::kReflect:
            return SimultaneousLaw::kReflect;
        case Simultaneous::kSequential:
            return SimultaneousLaw::kSequential;
        case Simultaneous::kNewton:
            break;
    }
    return SimultaneousLaw::kNewton;
}

std::vector<EventsStage> events_stages(const Scene& scene) {
    // Between two visits few balls are drawn anew twice, so that a ball's times are those of chance.
    constexpr double kProbability = 0.02;
    std::vector<EventsStage> stages;
    for (const StageScene& one : scenes_of_stages(scene, [](double time) { return time; })) {
        EventsStage stage;
        if (std::isfinite(one.until)) stage.until = one.until;
        stage.setup = events_setup(one.scene);
        stage.setup.walls_time = one.from;
        const Thermostat& thermostat = one.scene.thermostat;
        stage.thermostat_temperature = thermostat.temperature;
        if (thermostat.kind == Thermostat::Kind::kRescale) stage.thermostat_every = thermostat.every;
        if (thermostat.kind == Thermostat::Kind::kAndersen) {
            stage.draw_probability = kProbability;
            stage.thermostat_every = -natural_log(1.0 - kProbability) / thermostat.rate;
        }
        stages.push_back(std::move(stage));
    }
    return stages;
}

class EventsPlan final : public SolverPlan {
public:
    EventsPlan(const Scene& scene, const SolverState& state, const MeasuredBalls& balls)
        : units_(scene.units),
          until_(scene.run.until),
          setup_(events_setup(scene)),
          stages_(events_stages(scene)),
          memory_(predict_events_memory(setup_, state.balls)) {
        if (scene.run.backend == BackendChoice::kCuda) {
            throw InputError(
                scene.path +
                ": run.backend: the events solver runs on the CPU, not \"cuda\"; allowed: \"auto\", \"cpu\"");
        }
        if (ranks_of_run() != nullptr) {
            throw InputError(scene.label("run.solver") +
                             ": the events solver runs in one process, not over several ranks; allowed: \"spring\"");
        }
        refuse_scales(scene, balls);
        refuse_countless(scene, balls);
    }

    std::unique_ptr<Solver> make_solver(const SolverState& state, const std::string& log) const override {
        return std::make_unique<EventsSolver>(stages_, state, log);
    }

    std::string name() const override { return "events"; }
    std::string processor() const override { return "cpu"; }
    std::string precision() const override { return "double"; }
    WorkUnit work() const override { return {"events", "events_per_second", "event", 1.0}; }

    double reachable_time(double time) const override { return time; }
    std::uint64_t steps_to(double) const override { return 0; }
    double time_of_step(std::uint64_t) const override {
        throw InputError("--steps: the events solver has no steps; allowed: --until T");
    }
    double least_interval() const override { return 0.0; }

    std::uint64_t memory_bytes() const override { return memory_; }

    std::vector<std::string> warnings() const override {
        std::vector<std::string> warnings;
        const bool gravity = setup_.gravity != Vector3{};
        const bool loses = setup_.restitution < 1.0 || setup_.wall_restitution < 1.0;
        if (gravity && loses && setup_.tc == 0.0 && setup_.cutoff_speed == 0.0) {
            warnings.emplace_back(
                "with gravity and a restitution below 1 balls come to rest through endless collisions, which ends the "
                "run (inelastic collapse); events.tc or events.cutoff_speed above 0 avoids that");
        }
        return warnings;
    }

    std::vector<PlanFact> facts() const override {
        return {
            {"tc", setup_.tc, setup_.tc > 0.0 ? "tc" : "", fmt::format("{:.4g}{}", setup_.tc, units_.behind("s"))},
            {"cutoff_speed", setup_.cutoff_speed, setup_.cutoff_speed > 0.0 ? "cut-off speed" : "",
             fmt::format("{:.4g}{}", setup_.cutoff_speed, units_.behind("m/s"))},
        };
    }

    std::string too_fast(double speed) const override {
        const double times = crossings(setup_.box, speed, until_);
        if (times < kMostCrossings) return "";
        return fmt::format("would cross the box {:.3g} times until {:.3g}; the events solver counts up to {:.3g}",
                           times, until_, kMostCrossings);
    }

    std::string headline() const override {
        std::string text = "hard contacts, restitution " + fmt::format("{:.4g}", setup_.restitution);
        if (setup_.friction > 0.0) text += fmt::format(", friction {:.4g}", setup_.friction);
        return text;
    }

private:
    /// Beyond this a crossing of the box is shorter than two times of the run can differ by, and more than a checkpoint
    /// can count.
    static constexpr double kMostCrossings = 9007199254740992.0;  // 2^53
    static double crossings(const Box& box, double speed, double until) {
        return speed / std::ranges::max(box.size) * until;
    }

    /// Squares of these, which the solver and averages reckon with, must be numbers.
    static void refuse_scales(const Scene& scene, const MeasuredBalls& balls) {
        SpringDesign design{balls};
        design.design_speed = expected_speed(scene, balls);
        const auto require = [&](const char* what, std::initializer_list<Factor> factors) {
            constexpr double kMost = 1e140;
            double product = 0.0;  // powers of ten
            for (const Factor& factor : factors) product += factor.power * std::log10(factor.value);
            if (std::abs(product) <= std::log10(kMost)) return;
            const std::string place = label_at_fault(scene, balls, design, at_fault(factors));
            throw InputError(
                fmt::format("{}: the events solver cannot run this: {} is 10^{:.0f}; allowed: from {} to {}",
                            place.empty() ? scene.path : place, what, product, 1.0 / kMost, kMost));
        };
        const Factor box{Cause::kBoxSize, std::ranges::max(scene.box.size)};
        const Factor speed{Cause::kDesignSpeed, design.design_speed};
        require("the size of the box", {box});
        if (speed.value > 0.0) require("the size of the box times a speed", {box, speed});
        for (const PresentSpecies& one : balls.species) {
            const Factor radius{Cause::kBallRadius, one.radius};
            require("a radius", {radius});
            if (speed.value > 0.0) require("a radius times a speed", {radius, speed});
            if (!one.mobile()) continue;
            const Factor mass{Cause::kBallMass, one.mass};
            require("a mass", {mass});
            if (speed.value > 0.0) require("an energy", {mass, {speed.cause, speed.value, 2.0}});
        }
    }

    static void refuse_countless(const Scene& scene, const MeasuredBalls& balls) {
        const double speed = expected_speed(scene, balls);
        const double times = crossings(scene.box, speed, scene.run.until);
        if (times < kMostCrossings) return;
        SpringDesign design{balls};
        design.design_speed = speed;
        const bool fast = std::log2(speed) > std::log2(scene.run.until);
        const std::string place =
            fast ? label_at_fault(scene, balls, design, {Cause::kDesignSpeed, speed}) : scene.label("run.until");
        throw InputError(
            fmt::format("{}: balls of speed {:.3g} would cross the box {:.3g} times until {:.3g}; the events "
                        "solver counts up to {:.3g}",
                        place.empty() ? scene.path : place, speed, times, scene.run.until, kMostCrossings));
    }

    UnitNames units_;
    double until_;
    EventsSetup setup_;
    std::vector<EventsStage> stages_;
    std::uint64_t memory_;
};

constexpr double kFewestSteps = 3.0;  // in a contact, of which a restitution is told

/// The design follows from the initial balls, which a checkpoint no longer has.
void load_design(const SolverState& state, SpringDesign& design) {
    if (state.records.spring) static_cast<SpringRecord&>(design) = *state.records.spring;
    if (state.records.spring || state.step == 0) return;
    throw DamagedState("it holds no spring_design; it is of another version of carom");
}

SpringSetup::Side side_of(Face face) {
    switch (face) {
        case Face::kWall:
            return SpringSetup::Side::kWall;
        case Face::kPeriodic:
            return SpringSetup::Side::kPeriodic;
        case Face::kOpen:
            break;
    }
    return SpringSetup::Side::kOpen;
}

std::string processor_for(const Scene& scene, std::size_t balls) {
    // Whether all ranks have a GPU, rank 0 does not know, so it is for the user to say.
    if (ranks_of_run() != nullptr && scene.run.backend != BackendChoice::kCuda) return "cpu";
    static_assert(static_cast<int>(BackendChoice::kAuto) == static_cast<int>(ProcessorChoice::kAuto));
    static_assert(static_cast<int>(BackendChoice::kCuda) == static_cast<int>(ProcessorChoice::kCuda));
    try {
        return choose_processor(static_cast<ProcessorChoice>(scene.run.backend), balls);
    } catch (const std::runtime_error& error) {
        throw SystemError(error.what());
    }
}

/// What averages take where the balls are, if that is not the host's memory.
std::uint64_t sampler_bytes(const std::string& processor, const Scene& scene, std::size_t balls) {
    bool averages = false;
    bool pairs = false;
    for (const ObserveEntry& entry : scene.observables) {
        averages = averages || is_average(entry.kind);
        pairs = pairs || find_observable_kind(entry.kind).pairs;
    }
    return averages ? sampler_memory_bytes(processor, balls, scene.dimension(), pairs) : 0;
}

class SpringPlan final : public SolverPlan {
public:
    SpringPlan(const Scene& scene, const SolverState& state, const MeasuredBalls& balls, int threads)
        : units_(scene.units),
          design_(design_spring(scene, balls)),
          double_(scene.run.precision == Precision::kDouble),
          first_step_(state.step),
          balls_(state.ball_count()),
          sizes_(ball_sizes(balls)),
          observables_bytes_(observables_memory(scene, state)),
          processor_(processor_for(scene, balls_)),
          sampler_bytes_(sampler_bytes(processor_, scene, balls_)) {
        load_design(state, design_);
        setup_ = spring_setup(scene, design_, threads);
        if (const SpringRefusal refusal = spring_refusal(setup_, sizes_)) {
            const std::string place = label_at_fault(scene, balls, design_, refusal.fault);
            throw InputError(fmt::format("{}: the spring solver cannot run this: {}",
                                         place.empty() ? scene.path : place, refusal.why));
        }
        if (!(scene.run.until / design_.dt < kMostSteps)) {
            refuse_time(scene, scene.sources->has("run.until") || scene.stages.empty()
                                   ? "run.until"
                                   : stage_label(scene.stages.size() - 1));
        }
        for (std::size_t stage = 0; stage < scene.stages.size(); ++stage) {
            if (!(scene.stages[stage].until / design_.dt < kMostSteps)) refuse_time(scene, stage_label(stage));
        }
        if (!(scene.output.every / design_.dt < kMostSteps)) refuse_time(scene, "output.every");
        if (!(scene.output.observables_every / design_.dt < kMostSteps)) refuse_time(scene, "output.observables_every");
        warnings_ = design_warnings(scene, balls, design_, spring_position_quantum(setup_, sizes_));
        if (first_step_ == 0) {
            std::ranges::move(start_warnings(scene), std::back_inserter(warnings_));
            const std::string unstable = instability(design_);
            if (!unstable.empty()) hopeless_ = fmt::format("{}: {}", scene.label("spring.dt"), unstable);
        }
        make_stages(scene, threads);  // counts steps, which can be counted now
    }

    std::unique_ptr<Solver> make_solver(const SolverState& state, const std::string& log) const override {
        if (!log.empty()) throw InputError("--events-log: the spring solver has no events; allowed: --solver events");
        if (Ranks* const ranks = ranks_of_run()) {
            ranks->compute_on(processor_);
            try {
                return make_spring_solver(
                    stages_, state, processor_,
                    [ranks](const SpringSetup& setup, const RawBalls& balls, std::uint64_t step,
                            const Tallies& tallies) { return ranks->make_engine(setup, balls, step, tallies); });
            } catch (const CannotShare& error) {
                throw InputError(error.what());
            }
        }
        return make_spring_solver(
            stages_, state, processor_,
            [this_processor = processor_, pack = pack_](const SpringSetup& setup, const RawBalls& balls,
                                                        std::uint64_t step, const Tallies& tallies) {
                return make_spring_processor(this_processor, setup, balls, step, tallies, pack).engine;
            });
    }
    std::shared_ptr<const SolverPlan> in_pack(const std::shared_ptr<EnginePack>& pack) const override {
        if (processor_ == "cpu") return nullptr;
        auto plan = std::make_shared<SpringPlan>(*this);
        plan->pack_ = pack;
        return plan;
    }

    std::string name() const override { return "spring"; }
    std::string processor() const override { return processor_; }
    std::string precision() const override { return double_ ? "double" : "single"; }
    WorkUnit work() const override {
        return {"ball-steps", "ball_steps_per_second", "step", static_cast<double>(balls_)};
    }

    double reachable_time(double time) const override { return static_cast<double>(step_at(time)) * design_.dt; }
    std::uint64_t steps_to(double until) const override {
        const std::uint64_t end = step_at(until);
        return end > first_step_ ? end - first_step_ : 0;
    }
    double time_of_step(std::uint64_t step) const override {
        if (!(static_cast<double>(step) < kMostSteps)) {
            throw InputError(
                fmt::format("--steps: {} is more than can be counted; allowed: below {:.3g}", step, kMostSteps));
        }
        return static_cast<double>(step) * design_.dt;
    }
    double least_interval() const override { return design_.dt; }

    std::uint64_t memory_bytes() const override {
        // A GPU's memory holds no frames for observables.
        return spring_memory_bytes(processor_, setup_, sizes_, design_.packing_fraction) + sampler_bytes_ +
               (processor_ == "cpu" ? observables_bytes_ : 0);
    }
    RankShare share(int ranks, const std::array<int, 3>& layers) const override {
        try {
            const BrickForecast brick = spring_brick_memory(setup_, sizes_, design_.packing_fraction, ranks, layers);
            return {brick.layers, brick.bytes, spring_memory_bytes("cpu", setup_, sizes_, design_.packing_fraction)};
        } catch (const std::runtime_error& error) {
            throw InputError(fmt::format("--ranks: {}", error.what()));
        }
    }
    std::vector<std::string> warnings() const override { return warnings_; }
    std::string hopeless() const override { return hopeless_; }
    std::string too_fast(double speed) const override {
        const double most = sizes_.largest_radius / design_.dt;  // as SpringFault::kTooFast
        if (speed <= most) return "";
        return fmt::format("would move farther than the largest radius in one step; allowed: speeds up to {:.6g}{}",
                           most, units_.behind("m/s"));
    }

    std::vector<PlanFact> facts() const override {
        const SpringDesign& d = design_;
        const bool alike = d.wall_stiffness == d.stiffness;
        const std::string unit = units_.behind(d.pair_contact().stiffness_unit());
        std::vector<PlanFact> facts{
            {"stiffness", d.stiffness, "stiffness",
             fmt::format("{:.6g}{}", d.stiffness, unit) +
                 (alike ? "" : fmt::format(", at walls {:.6g}{}", d.wall_stiffness, unit))},
            {"wall_stiffness", d.wall_stiffness},
            {"damping", d.damping, d.damping > 0.0 ? "damping" : "",
             fmt::format("{:.6g}{}", d.damping, units_.behind("kg/s"))},
            {"damping_ratio", d.damping_ratio,
             d.damping_ratio > 0.0 || d.wall_damping_ratio > 0.0 ? "damping ratio" : "",
             fmt::format("{:.4g}, at walls {:.4g}", d.damping_ratio, d.wall_damping_ratio)},
            {"wall_damping_ratio", d.wall_damping_ratio},
            {"design_speed", d.design_speed, "design speed",
             fmt::format("{:.4g}{}", d.design_speed, units_.behind("m/s"))},
            {"contact_duration", d.contact_duration, d.contact_duration > 0.0 ? "contact duration" : "",
             fmt::format("{:.4g}{}, {:.3g} steps", d.contact_duration, units_.behind("s"), d.contact_duration / d.dt)},
            {"dt", d.dt, "time step", fmt::format("{:.6g}{}", d.dt, units_.behind("s"))},
        };
        // Of linear springs; of the shortest contact, which has the fewest steps.
        const double zeta = std::max(d.damping_ratio, d.wall_damping_ratio);
        const double steps = d.contact_duration / d.dt;
        if (zeta > 0.0 && steps >= kFewestSteps && d.law.number == contact_law_called("linear").number) {
            const double scatter = restitution_scatter(zeta, steps);
            facts.push_back({"restitution_scatter", scatter, "restitution",
                             fmt::format("to {:.2g} %, with where in a step a contact begins", 100.0 * scatter)});
        }
        return facts;
    }

    std::string headline() const override {
        std::string text = fmt::format("k = {:.4g}, dt = {:.4g}", design_.stiffness, design_.dt);
        if (design_.contact_duration > 0.0) {
            text += fmt::format(" ({:.3g} steps a contact)", design_.contact_duration / design_.dt);
        }
        return text;
    }

    void store(SolverState& state) const override { state.records.spring = design_; }

private:
    static std::string stage_label(std::size_t stage) { return fmt::format("stage[{}].until", stage); }

    [[noreturn]] void refuse_time(const Scene& scene, const std::string& key) const {
        throw InputError(fmt::format("{}: takes more steps of {:.6g} than can be counted; allowed: up to {:.3g}",
                                     scene.label(key), design_.dt, kMostSteps * design_.dt));
    }

    void make_stages(const Scene& scene, int threads) {
        const auto all =
            scenes_of_stages(scene, [this](double time) { return static_cast<double>(step_at(time)) * design_.dt; });
        for (std::size_t k = 0; k < all.size(); ++k) {
            SpringStage stage;
            if (k + 1 < all.size()) stage.until = step_at(all[k].until);
            stage.setup = spring_setup(all[k].scene, design_, threads);
            stage.setup.walls_step = step_at(all[k].from);
            stage.setup.memory_beside = sampler_bytes_;
            const Thermostat& thermostat = all[k].scene.thermostat;
            if (thermostat.kind == Thermostat::Kind::kRescale) {
                stage.rescale_temperature = thermostat.temperature;
                stage.rescale_every = thermostat.every;
            }
            stages_.push_back(std::move(stage));
        }
    }

    std::uint64_t step_at(double time) const {
        const double steps = std::max(0.0, time) / design_.dt;
        if (!(steps < kMostSteps))
            throw InputError(fmt::format("a time of {:.6g} is more steps than can be counted", time));
        return static_cast<std::uint64_t>(std::llround(steps));
    }

    UnitNames units_;
    SpringDesign design_;
    bool double_;
    std::uint64_t first_step_;
    std::size_t balls_;
    BallSizes sizes_;
    std::uint64_t observables_bytes_;
    std::string processor_;
    std::uint64_t sampler_bytes_;
    std::shared_ptr<EnginePack> pack_ = nullptr;  // whose launches its runs share on a GPU
    SpringSetup setup_;
    std::vector<SpringStage> stages_;
    std::vector<std::string> warnings_;
    std::string hopeless_;
};

}  // namespace

SolverPlan::RankShare SolverPlan::share(int, const std::array<int, 3>&) const {
    throw InputError(fmt::format("--ranks: the {} solver runs in one process; allowed: --solver spring", name()));
}

EventsSetup events_setup(const Scene& scene) {
    EventsSetup setup;
    setup.box = scene.box;
    setup.walls = scene.walls;
    setup.seed = scene.seed;
    setup.gravity = scene.physics.gravity;
    setup.restitution = scene.physics.restitution;
    setup.friction = scene.physics.friction;
    setup.wall_restitution = scene.physics.wall_restitution;
    setup.wall_friction = scene.physics.wall_friction;
    setup.simultaneous = law_of(scene.physics.simultaneous);
    setup.tc = scene.events.tc;
    setup.cutoff_speed = scene.events.cutoff_speed;
    return setup;
}

SpringSetup spring_setup(const Scene& scene, const SpringDesign& design, int threads) {
    SpringSetup setup;
    setup.dimension = scene.dimension();
    setup.double_precision = scene.run.precision == Precision::kDouble;
    setup.threads = threads;
    setup.box_min = scene.box.min;
    setup.box_size = scene.box.size;
    for (int axis = 0; axis < setup.dimension; ++axis) {
        for (int end = 0; end < 2; ++end) setup.sides[axis][end] = side_of(scene.box.faces[axis][end]);
    }
    setup.walls = scene.walls;
    setup.face_temperature = scene.box.temperature;
    setup.seed = scene.seed;
    if (scene.thermostat.kind == Thermostat::Kind::kAndersen) {
        setup.thermostat_rate = scene.thermostat.rate;
        setup.thermostat_temperature = scene.thermostat.temperature;
    }
    setup.gravity = scene.physics.gravity;
    setup.law = design.law;
    setup.stiffness = design.stiffness;
    setup.wall_stiffness = design.wall_stiffness;
    setup.damping = design.damping;
    setup.damping_ratio = design.damping_ratio;
    setup.wall_damping_ratio = design.wall_damping_ratio;
    setup.distance_epsilon = scene.spring.distance_epsilon;
    setup.dt = design.dt;
    setup.symplectic_euler = scene.spring.integrator == Integrator::kSymplecticEuler;
    setup.design_speed = design.design_speed;
    return setup;
}

BallSizes ball_sizes(const MeasuredBalls& balls) {
    // A ball for each species: the fastest, along an axis.
    std::vector<double> radius, inverse_mass, speed;
    std::size_t count = 0;
    for (const PresentSpecies& one : balls.species) {
        radius.push_back(one.radius);
        inverse_mass.push_back(1.0 / one.mass);
        speed.push_back(one.fastest);
        count += one.count;
    }
    RawBalls one_each;
    one_each.count = radius.size();
    one_each.velocity[0] = speed.data();
    one_each.radius = radius.data();
    one_each.inverse_mass = inverse_mass.data();
    BallSizes sizes = measure_sizes(one_each, 1);
    sizes.count = count;
    return sizes;
}

std::shared_ptr<const SolverPlan> make_plan(const Scene& scene, const SolverState& state, const MeasuredBalls& balls,
                                            int threads) {
    if (scene.run.solver == SolverKind::kEvents) return std::make_shared<EventsPlan>(scene, state, balls);
    return std::make_shared<SpringPlan>(scene, state, balls, threads);
}

std::shared_ptr<const SolverPlan> make_plan(const Scene& scene, const SolverState& state, int threads) {
    return make_plan(scene, state, measure_balls(scene, state), threads);
}

std::shared_ptr<const SolverPlan> make_spring_plan(const Scene& scene, const SolverState& state, int threads) {
    return std::make_shared<SpringPlan>(scene, state, measure_balls(scene, state), threads);
}

}  // namespace carom
