#include "host/run/events_plan.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "host/events/events_solver.hpp"
#include "host/scene/stages.hpp"
#include "host/state/errors.hpp"
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
    EventsPlan(const Scene& scene, const SolverState& state)
        : setup_(events_setup(scene)),
          stages_(events_stages(scene)),
          memory_(predict_events_memory(setup_, state.balls)) {
        if (scene.run.backend == BackendChoice::kCuda) {
            throw InputError(
                scene.path +
                ": run.backend: the events solver runs on the CPU, not \"cuda\"; allowed: \"auto\", \"cpu\"");
        }
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
            {"tc", setup_.tc, setup_.tc > 0.0 ? "tc" : "", fmt::format("{:.4g} s", setup_.tc)},
            {"cutoff_speed", setup_.cutoff_speed, setup_.cutoff_speed > 0.0 ? "cut-off speed" : "",
             fmt::format("{:.4g} m/s", setup_.cutoff_speed)},
        };
    }

    std::string headline() const override {
        std::string text = "hard contacts, restitution " + fmt::format("{:.4g}", setup_.restitution);
        if (setup_.friction > 0.0) text += fmt::format(", friction {:.4g}", setup_.friction);
        return text;
    }

private:
    EventsSetup setup_;
    std::vector<EventsStage> stages_;
    std::uint64_t memory_;
};

}  // namespace

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

std::shared_ptr<const SolverPlan> make_events_plan(const Scene& scene, const SolverState& state) {
    return std::make_shared<EventsPlan>(scene, state);
}

}  // namespace carom
