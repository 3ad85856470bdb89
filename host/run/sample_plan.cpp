#include "host/run/sample_plan.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/physics/equation_of_state.hpp"
#include "kernels/physics/kinetic_theory.hpp"

namespace carom {

namespace {

constexpr double kSamples = 1000.0;       // of a run, at most
constexpr double kSteps = 4200.0;         // of the spring solver between two samples
constexpr double kMeanFreeTimes = 18.0;   // of the event-driven one
constexpr double kPairs = 3.0;            // samples of g(r) cost three times as much as others, and are as much rarer
constexpr double kPerMeanFreeTime = 4.0;  // samples of a velocity autocorrelation
constexpr std::uint64_t kBurst = 33;      // lags of 0 to 32
constexpr double kBursts = 4.0;           // in a run, at least, however much they cost
constexpr double kLeastSamples = 20.0;    // so many even if that costs up to kDearer times as much
constexpr double kDearer = 4.0;

/// Between two collisions of a ball, about; 0 if nothing moves.
double mean_free_time(const PreparedScene& run) {
    const Balls& balls = run.state.balls;
    double kinetic = 0.0;
    double mass = 0.0;
    double radius = 0.0;
    double mobile = 0.0;
    for (std::size_t id = 0; id < balls.size(); ++id) {
        const Species& species = balls.species_of(id);
        if (!std::isfinite(species.mass) || balls.gone[id] != 0) continue;
        for (int axis = 0; axis < balls.dimension; ++axis) {
            kinetic += 0.5 * species.mass * balls.velocity[axis][id] * balls.velocity[axis][id];
        }
        mass += species.mass;
        radius += species.radius;
        mobile += 1.0;
    }
    if (mobile < 2.0 || !(kinetic > 0.0)) return 0.0;
    const double temperature = 2.0 * kinetic / (balls.dimension * mobile);
    const double phi = std::min(run.figures.packing_fraction, largest_fluid_fraction(balls.dimension));
    const double rate = collision_rate(balls.dimension, hard_compressibility(balls.dimension, phi), temperature,
                                       mass / mobile, 2.0 * radius / mobile);
    return rate > 0.0 ? 1.0 / rate : 0.0;
}

}  // namespace

SamplePlan sample_plan(const PreparedScene& run, const ObserveEntry& entry) {
    const double dt = run.plan->least_interval();  // 0: any time can be reached
    const auto whole_steps = [dt](double every) {
        return dt > 0.0 ? dt * std::max(1.0, std::round(every / dt)) : every;
    };
    SamplePlan plan{.every = 0.0, .from = entry.from};
    if (entry.every) {
        plan.every = whole_steps(*entry.every);
        return plan;
    }
    const double between_collisions = mean_free_time(run);
    const double affordable = dt > 0.0 ? kSteps * dt : kMeanFreeTimes * between_collisions;
    const double cost = entry.kind == "gr" ? kPairs : 1.0;
    plan.every = std::max(run.scene.run.until / kSamples, cost * affordable);
    const double length = run.scene.run.until - plan.from;  // of what is sampled
    if (length > 0.0) {
        plan.every = std::min(plan.every, std::max(length / kLeastSamples, cost * affordable / kDearer));
    }
    if (entry.kind == "vacf" && between_collisions > 0.0) {
        const double often = between_collisions / kPerMeanFreeTime;
        if (often < plan.every) {
            const double pauses = plan.every / often;
            plan.every = often;
            plan.burst = kBurst;
            const double affordable_period = std::ceil(static_cast<double>(kBurst) * std::max(1.0, pauses));
            const double several = std::max(static_cast<double>(kBurst), std::floor(length / (kBursts * often)));
            plan.period = static_cast<std::uint64_t>(std::min(affordable_period, several));
        }
    }
    if (!(plan.every > 0.0)) plan.every = 1.0;  // a run of no length
    plan.every = whole_steps(plan.every);
    return plan;
}

}  // namespace carom
