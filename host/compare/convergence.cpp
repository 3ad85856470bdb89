#include "host/compare/convergence.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "host/compare/convergence_rows.hpp"
#include "host/events/events_solver.hpp"
#include "host/run/events_plan.hpp"
#include "host/scene/design.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

constexpr double kLinearShare = 0.9;  // of the balls, in the window
constexpr double kHidden = 0.2;       // of the deviation from k to 4k that steps of a damped run may make
constexpr double kStiffer = 4.0;      // from run to run
constexpr double kLeastBalls = 20.0;  // a step of fewer balls takes as long

/// The scene with a stiffness `times` its own and a step of `dt`, in double precision.
Scene stiffened(const Scene& scene, const SpringDesign& design, double times, double dt) {
    Scene result = scene;
    result.run.solver = SolverKind::kSpring;
    result.run.precision = Precision::kDouble;
    result.spring.stiffness = design.stiffness * times;
    result.spring.wall_stiffness = design.wall_stiffness * times;
    result.spring.distance_epsilon = 0.0;
    result.spring.dt = dt;
    return result;
}

/// How steps go with stiffness. A dashpot's force begins with a jump, so where in a step a contact begins changes the
/// speed after it by up to zeta h: first order, and not to be extrapolated. It must fall with 1 / sqrt(k) itself, which
/// it does if dt falls as 1 / k.
struct StepRule {
    double finer = 4.0;    ///< than the scene's own, at k
    double shorter = 2.0;  ///< from run to run
};

double damping(const SpringDesign& design) { return std::max(design.damping_ratio, design.wall_damping_ratio); }

StepRule step_rule(const SpringDesign& design) {
    return damping(design) > 0.0 ? StepRule{.finer = 4.0, .shorter = kStiffer} : StepRule{};
}

/// Marks who has collided up to `time`; `seen` counts the impacts.
void mark_met(const HardCourse& course, double time, std::size_t& seen, std::vector<std::uint8_t>& met) {
    constexpr std::uint8_t kMany = 255;
    const auto mark = [&met](std::uint32_t ball) {
        if (met[ball] < kMany) ++met[ball];
    };
    for (; seen < course.impacts.size() && course.impacts[seen].time < time; ++seen) {
        mark(course.impacts[seen].i);
        if (!course.impacts[seen].wall) mark(course.impacts[seen].j);
    }
}

/// One attempt, at `raised` times the scene's stiffness, for at most `work` ball-steps, which it takes off.
Convergence attempt(const Scene& scene, const HardCourse& course, const SpringDesign& design, double raised,
                    double& work, const CompareContext& context) {
    const StepRule rule = step_rule(design);
    Convergence result{.stiffness = design.stiffness * raised,
                       .raised = raised,
                       .dt = design.dt / rule.finer / std::sqrt(raised),
                       .velocity_floor = 0.0,
                       .position_floor = 0.0,
                       .rows = {},
                       .impacts = 0,
                       .stopped = {}};
    // Around each row a stretch of twice this must be free of contacts.
    const double quiet = 2.0 * design.contact_duration / std::sqrt(raised);
    std::array<WatchedRun, 4> runs;
    double dt = result.dt;
    double work_per_time = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
        const Scene stiff = stiffened(scene, design, raised * std::pow(kStiffer, static_cast<double>(k)), dt);
        runs[k].solver = context.make_spring(stiff, course.start, context.threads);
        work_per_time += std::max(kLeastBalls, static_cast<double>(course.start.balls.size())) / dt;
        dt /= rule.shorter;
    }
    runs[3].solver = std::make_unique<EventsSolver>(events_setup(scene), course.start);

    // What the steps do to a collision's speed at worst.
    const double phase = design.phase_step / rule.finer;
    const double step_part = phase * phase / 8.0 + damping(design) * phase;
    std::vector<std::uint8_t> met(course.start.balls.size(), 0);
    std::size_t seen = 0;
    double reached = 0.0;
    const double start_speed = rms_speed(course.start.balls);
    try {
        for (const double wanted : row_times(course, quiet)) {
            // Whole steps of the softest run are whole steps of all.
            const double before = std::floor((wanted - quiet) / result.dt) * result.dt;
            const double time = std::ceil((wanted + quiet) / result.dt) * result.dt;
            work -= (time - reached) * work_per_time;
            if (work < 0.0) break;
            reached = time;
            for (WatchedRun& run : runs) run.look(before, time, context);
            mark_met(course, time, seen, met);
            ConvergenceRow row{.time = time + course.offset, .collisions = seen};
            const double speed = std::max(start_speed, rms_speed(runs[3].frame));
            const RowRules rules{.speed = speed,
                                 .floor_x = step_part * speed * (time - course.impacts.front().time),
                                 .floor_v = step_part * speed};
            fill_row(scene, runs, met, rules, row);
            if (static_cast<double>(row.linear) < kLinearShare * static_cast<double>(row.met)) break;
            if (row.met == 0) continue;
            // From there on the steps of a damped run hide what stiffness does.
            if (!result.rows.empty() && rules.floor_x > kHidden * row.steps[0].median_x) break;
            result.velocity_floor = rules.floor_v;
            result.position_floor = rules.floor_x;
            result.rows.push_back(row);
            result.impacts = seen;
        }
    } catch (const SimulationError& error) {
        result.stopped = error.what();
    }
    return result;
}

}  // namespace

StepError step_error(const Scene& scene, const HardCourse& course, const CompareContext& context) {
    const SpringDesign design = design_spring(scene, course.start.balls);
    constexpr double kFiner = 4.0;
    constexpr int kTries = 4;
    constexpr std::size_t kAudits = 8;  // rows at which single steps are audited
    StepError result;
    const double quiet = 2.0 * design.contact_duration;
    const Scene own = stiffened(scene, design, 1.0, design.dt);
    std::array<WatchedRun, 2> runs;
    runs[0].solver = context.make_spring(own, course.start, context.threads);
    runs[1].solver =
        context.make_spring(stiffened(scene, design, 1.0, design.dt / kFiner), course.start, context.threads);
    std::vector<std::uint8_t> met(course.start.balls.size(), 0);
    std::size_t seen = 0;
    std::size_t audits = 0;
    double work = context.work;
    double reached = 0.0;
    const double start_speed = rms_speed(course.start.balls);
    try {
        for (const double wanted : row_times(course, quiet)) {
            const double before = std::floor((wanted - quiet) / design.dt) * design.dt;
            const double time = std::ceil((wanted + quiet) / design.dt) * design.dt;
            work -= (time - reached) / design.dt * std::max(kLeastBalls, static_cast<double>(met.size())) * kFiner;
            if (work < 0.0) break;
            reached = time;
            for (WatchedRun& run : runs) run.look(before, time, context);
            mark_met(course, time, seen, met);
            const double speed = std::max(start_speed, rms_speed(runs[1].frame));
            double squared = 0.0;
            std::size_t count = 0;
            for (std::size_t ball = 0; ball < met.size(); ++ball) {
                if (met[ball] != 1) continue;
                if (!in_no_contact(runs[0], ball, scene.physics.gravity, speed)) continue;
                if (!in_no_contact(runs[1], ball, scene.physics.gravity, speed)) continue;
                for (std::size_t axis = 0; axis < static_cast<std::size_t>(runs[0].frame.dimension); ++axis) {
                    const double off = runs[0].frame.velocity[axis][ball] - runs[1].frame.velocity[axis][ball];
                    squared += off * off;
                }
                ++count;
            }
            if (count > result.balls) {
                result.balls = count;
                result.rms = std::sqrt(squared / static_cast<double>(count)) / speed;
            }
            // Balls that have collided once grow fewer again.
            if (audits >= kAudits && 4 * count < 3 * result.balls) break;
            if (audits < kAudits) {
                ++audits;
                audit_step(*runs[0].solver, own, design, context, result.audit);
            }
        }
        // Rows seldom fall into the contacts of few balls, or of walls: so step through the first ones.
        for (const bool wall : {false, true}) {
            int tries = 0;
            for (std::size_t k = 0; k < course.impacts.size() && tries < kTries; ++k) {
                if ((wall ? result.audit.wall_contacts : result.audit.pair_contacts) > 0) break;
                if (course.impacts[k].wall != wall) continue;
                ++tries;
                const auto solver = context.make_spring(own, course.start, context.threads);
                const double middle = course.impacts[k].time + 0.25 * design.contact_duration;
                context.advance(*solver, std::max(design.dt, middle));
                audit_step(*solver, own, design, context, result.audit);
            }
        }
    } catch (const SimulationError& error) {
        result.stopped = error.what();
    }
    return result;
}

Convergence converge(const Scene& scene, const HardCourse& course, std::size_t enough, const CompareContext& context) {
    const SpringDesign design = design_spring(scene, course.start.balls);
    constexpr double kMostRaised = 1.0e9;
    Convergence best;
    double work = context.work;
    for (double raised = 1.0; raised < kMostRaised && work > 0.0; raised *= kStiffer) {
        Convergence found = attempt(scene, course, design, raised, work, context);
        if (best.stiffness == 0.0 || found.impacts > best.impacts) best = std::move(found);
        if (best.impacts >= enough || !best.stopped.empty()) break;
    }
    return best;
}

}  // namespace carom
