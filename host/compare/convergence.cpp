#include "host/compare/convergence.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "host/events/events_solver.hpp"
#include "host/run/events_plan.hpp"
#include "host/scene/design.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

constexpr int kRows = 32;             // times at which the runs are held against each other
constexpr double kLinearShare = 0.9;  // of the balls, in the window
constexpr double kLinearPart = 0.5;   // a ball is linear if its second-order part is at most this much of the first
constexpr double kQuiet = 1e-7;       // of the rms speed: a ball whose velocity changes by less is in no contact
constexpr double kStiffer = 4.0;      // from run to run
constexpr double kWork = 3.0e9;       // ball-steps that raising k may cost
constexpr double kLeastBalls = 100.0; // a step of fewer balls takes as long

/// One of the runs, and what of it is looked at.
struct Run {
    std::unique_ptr<Solver> solver;
    Frame before;  // a little before the time of a row
    Frame frame;   // as much after it
};

void look(Run& run, double time, Frame& frame, const CompareContext& context) {
    context.advance(*run.solver, time);
    run.solver->request_frame(frame);
    run.solver->finish_frame(frame);
}

/// Times of the rows: dense at first, in the middle between two impacts where there is room.
std::vector<double> row_times(const HardCourse& course, double quiet) {
    std::vector<double> times;
    const std::vector<HardImpact>& impacts = course.impacts;
    const std::size_t count = impacts.size();
    for (int row = 1; row <= kRows; ++row) {
        const double share = static_cast<double>(row) / kRows;
        const auto seen = static_cast<std::size_t>(std::ceil(share * share * static_cast<double>(count)));
        if (seen == 0) continue;
        const double from = impacts[seen - 1].time;
        const double to = seen < count ? impacts[seen].time : std::min(course.until, from + 8.0 * quiet);
        const double time = std::max(0.5 * (from + to), from + quiet);
        if (time + quiet > course.until) break;
        if (times.empty() || time > times.back() + 2.0 * quiet) times.push_back(time);
    }
    return times;
}

/// Adds up how far two states of a ball are apart.
struct DeviationSum {
    Deviation result;
    double squared_x = 0.0;
    double squared_v = 0.0;
    std::size_t count = 0;

    void add(double x, double v) {
        squared_x += x * x;
        squared_v += v * v;
        result.max_x = std::max(result.max_x, x);
        result.max_v = std::max(result.max_v, v);
        ++count;
    }
    [[nodiscard]] Deviation done() const {
        Deviation mean = result;
        if (count > 0) mean.rms_x = std::sqrt(squared_x / static_cast<double>(count));
        if (count > 0) mean.rms_v = std::sqrt(squared_v / static_cast<double>(count));
        return mean;
    }
};

double length(const Vector3& a) { return std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

double length(const Vector3& a, const Vector3& b, double times = 1.0) {
    return length({a[0] - times * b[0], a[1] - times * b[1], a[2] - times * b[2]});
}

/// The four runs at one time.
class RowMaker {
public:
    RowMaker(const Scene& scene, const std::array<const Run*, 4>& runs, double floor_x, double floor_v)
        : scene_(scene), runs_(runs), floor_x_(floor_x), floor_v_(floor_v) {
        const Frame& hard = runs_[3]->frame;
        double squared = 0.0;
        std::size_t count = 0;
        for (std::size_t ball = 0; ball < hard.size(); ++ball) {
            if (hard.gone[ball] != 0) continue;
            const double speed = length(velocity(3, ball));
            squared += speed * speed;
            ++count;
        }
        speed_ = count > 0 ? std::sqrt(squared / static_cast<double>(count)) : 0.0;
    }

    void fill(ConvergenceRow& row, const std::vector<std::uint8_t>& met) {
        for (std::size_t ball = 0; ball < met.size(); ++ball) {
            if (met[ball] == 0 || !comparable(ball)) continue;
            ++row.met;
            if (linear(ball)) add(ball);
        }
        row.linear = limit_.count;
        for (std::size_t k = 0; k < 3; ++k) row.from_hard[k] = from_hard_[k].done();
        for (std::size_t k = 0; k < 2; ++k) row.steps[k] = steps_[k].done();
        row.limit = limit_.done();
        row.limit_change = limit_change_.done();
    }

private:
    [[nodiscard]] Vector3 position(std::size_t run, std::size_t ball) const {
        const Frame& frame = runs_[run]->frame;
        Vector3 x{};
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(frame.dimension); ++axis) {
            x[axis] = frame.position[axis][ball] + frame.image[axis][ball] * scene_.box.size[axis];
        }
        return x;
    }
    [[nodiscard]] Vector3 velocity(std::size_t run, std::size_t ball) const {
        return velocity(runs_[run]->frame, ball);
    }
    static Vector3 velocity(const Frame& frame, std::size_t ball) {
        Vector3 v{};
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(frame.dimension); ++axis) {
            v[axis] = frame.velocity[axis][ball];
        }
        return v;
    }

    /// Whether the ball is in, and in no contact around this time, in any run.
    [[nodiscard]] bool comparable(std::size_t ball) const {
        for (const Run* run : runs_) {
            if (run->frame.gone[ball] != 0 || run->before.gone[ball] != 0) return false;
            const double elapsed = run->frame.time - run->before.time;
            const Vector3 gained = velocity(run->frame, ball);
            Vector3 expected = velocity(run->before, ball);
            for (std::size_t axis = 0; axis < 3; ++axis) expected[axis] += elapsed * scene_.physics.gravity[axis];
            if (length(gained, expected) > kQuiet * speed_) return false;
        }
        return true;
    }

    /// Told from the spring runs alone, so that what the reference says cannot matter.
    [[nodiscard]] bool linear(std::size_t ball) const {
        const auto small = [](const Vector3& k, const Vector3& k4, const Vector3& k16, double floor) {
            Vector3 first{};
            Vector3 second{};
            for (std::size_t axis = 0; axis < 3; ++axis) {
                first[axis] = k[axis] - k4[axis];
                second[axis] = k4[axis] - k16[axis];
            }
            return length(first, second, 2.0) <= kLinearPart * length(first) + floor;
        };
        return small(position(0, ball), position(1, ball), position(2, ball), floor_x_) &&
               small(velocity(0, ball), velocity(1, ball), velocity(2, ball), floor_v_ * speed_);
    }

    void add(std::size_t ball) {
        const std::array<Vector3, 4> x{position(0, ball), position(1, ball), position(2, ball), position(3, ball)};
        const std::array<Vector3, 4> v{velocity(0, ball), velocity(1, ball), velocity(2, ball), velocity(3, ball)};
        for (std::size_t k = 0; k < 3; ++k) from_hard_[k].add(length(x[k], x[3]), length(v[k], v[3]));
        for (std::size_t k = 0; k < 2; ++k) steps_[k].add(length(x[k], x[k + 1]), length(v[k], v[k + 1]));
        const auto limit = [](const std::array<Vector3, 4>& q) {
            Vector3 result{};
            for (std::size_t axis = 0; axis < 3; ++axis) result[axis] = richardson(q[0][axis], q[1][axis], q[2][axis]);
            return result;
        };
        const auto from_two = [](const std::array<Vector3, 4>& q) {
            Vector3 result{};
            for (std::size_t axis = 0; axis < 3; ++axis) result[axis] = 2.0 * q[2][axis] - q[1][axis];
            return result;
        };
        limit_.add(length(limit(x), x[3]), length(limit(v), v[3]));
        limit_change_.add(length(limit(x), from_two(x)), length(limit(v), from_two(v)));
    }

    const Scene& scene_;
    std::array<const Run*, 4> runs_;
    double floor_x_;
    double floor_v_;
    double speed_ = 0.0;
    std::array<DeviationSum, 3> from_hard_;
    std::array<DeviationSum, 2> steps_;
    DeviationSum limit_;
    DeviationSum limit_change_;
};

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

/// How steps go with stiffness. A dashpot is of first order in dt: its error falls as 1 / sqrt(k) only if dt falls as
/// 1 / k, and is then extrapolated away with the rest.
struct StepRule {
    double finer = 4.0;    ///< than the scene's own, at k
    double shorter = 2.0;  ///< from run to run
};

StepRule step_rule(const SpringDesign& design) {
    const bool damped = design.damping_ratio > 0.0 || design.wall_damping_ratio > 0.0;
    return damped ? StepRule{.finer = 2.0, .shorter = kStiffer} : StepRule{};
}

/// One attempt, at `raised` times the scene's stiffness.
Convergence attempt(const Scene& scene, const HardCourse& course, const SpringDesign& design, double raised,
                    const CompareContext& context) {
    const StepRule rule = step_rule(design);
    Convergence result{.stiffness = design.stiffness * raised,
                       .raised = raised,
                       .dt = design.dt / rule.finer / std::sqrt(raised),
                       .rows = {},
                       .impacts = 0,
                       .stopped = {}};
    // Around each row a stretch of twice this must be free of contacts.
    const double quiet = 2.0 * design.contact_duration / std::sqrt(raised);
    std::array<Run, 4> runs;
    double dt = result.dt;
    for (std::size_t k = 0; k < 3; ++k) {
        const Scene stiff = stiffened(scene, design, raised * std::pow(kStiffer, static_cast<double>(k)), dt);
        runs[k].solver = context.make_spring(stiff, course.start, context.threads);
        dt /= rule.shorter;
    }
    runs[3].solver = std::make_unique<EventsSolver>(events_setup(scene), course.start);

    const double phase = design.phase_step / rule.finer;  // h, the same for all three
    const double floor_v = phase * phase;                 // 8 times the worst error of a collision's speed
    std::vector<std::uint8_t> met(course.start.balls.size(), 0);
    std::size_t seen = 0;
    try {
        for (const double wanted : row_times(course, quiet)) {
            // Whole steps of the softest run are whole steps of all.
            const double before = std::floor((wanted - quiet) / result.dt) * result.dt;
            const double time = std::ceil((wanted + quiet) / result.dt) * result.dt;
            for (Run& run : runs) {
                look(run, before, run.before, context);
                look(run, time, run.frame, context);
            }
            for (; seen < course.impacts.size() && course.impacts[seen].time < time; ++seen) {
                met[course.impacts[seen].i] = 1;
                if (!course.impacts[seen].wall) met[course.impacts[seen].j] = 1;
            }
            ConvergenceRow row{.time = time + course.offset, .collisions = seen};
            RowMaker maker(scene, {&runs[0], &runs[1], &runs[2], &runs[3]}, 0.0, floor_v);
            maker.fill(row, met);
            if (row.met > 0 && static_cast<double>(row.linear) < kLinearShare * static_cast<double>(row.met)) break;
            if (row.met == 0) continue;
            result.rows.push_back(row);
            result.impacts = seen;
        }
    } catch (const SimulationError& error) {
        result.stopped = error.what();
    }
    return result;
}

}  // namespace

Convergence converge(const Scene& scene, const HardCourse& course, std::size_t enough, const CompareContext& context) {
    const SpringDesign design = design_spring(scene, course.start.balls);
    Convergence best;
    const double span = course.impacts.empty() ? 0.0 : course.impacts.back().time;
    const StepRule rule = step_rule(design);
    const double balls = std::max(kLeastBalls, static_cast<double>(course.start.balls.size()));
    const double cost = balls * span / design.dt * rule.finer * (1.0 + rule.shorter + rule.shorter * rule.shorter);
    for (double raised = 1.0;; raised *= kStiffer) {
        Convergence found = attempt(scene, course, design, raised, context);
        if (best.stiffness == 0.0 || found.impacts > best.impacts) best = std::move(found);
        if (best.impacts >= enough || !best.stopped.empty()) break;
        if (raised > 1.0e9 || cost * std::sqrt(raised * kStiffer) > kWork) break;
    }
    return best;
}

}  // namespace carom
