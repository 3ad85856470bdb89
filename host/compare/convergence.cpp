#include "host/compare/convergence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/compare/force_audit.hpp"
#include "host/events/events_solver.hpp"
#include "host/run/say.hpp"
#include "host/run/solver_plan.hpp"
#include "host/scene/design.hpp"
#include "host/state/balls.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

/// One contact that passed an impulse.
struct HardImpact {
    double time = 0.0;
    std::uint32_t i = 0;
    std::uint32_t j = 0;  ///< a ball, or the number of a wall
    bool wall = false;
    double speed = 0.0;     ///< of the two relative to each other, afterwards
    double duration = 0.0;  ///< of the contact of springs of the scene's stiffness [time]
};

/// The first collisions of the event-driven run of a scene, and a start shortly before them.
struct HardCourse {
    SolverState start;                ///< the balls at `offset`, as the start of a run of their own (time 0)
    double offset = 0.0;              ///< time of the scene that `start` is at: flight without a contact is left out
    std::vector<HardImpact> impacts;  ///< in order; times since `start`
    double until = 0.0;               ///< where the scene ends, since `start`
    std::optional<double> cluster;    ///< when balls first meet several others at one instant
    std::string stopped;              ///< why the run could not go on; empty if it could
};

/// What the length of a step does to single collisions.
struct StepError {
    /// That have collided once, with what had not collided before, and are in no contact.
    std::size_t balls = 0;
    /// Root mean square of the difference of their velocities, with steps of dt and of dt / 4, over the rms speed, at
    /// the time when it is least: what steps do to a collision is there at all times, and of what springs meet besides,
    /// as hard balls do not, there is ever more.
    double rms = 0.0;
    ForceAudit audit;     ///< of single steps, at dt
    std::string stopped;  ///< why the run could not go on; empty if it could
};

/// One of several runs beside each other, and what of it is looked at.
struct WatchedRun {
    std::unique_ptr<Solver> solver;
    Frame before;  ///< a little before the time of a row
    Frame frame;   ///< as much after it

    /// \throws SimulationError, Interrupted
    void look(double time_before, double time, const CompareContext& context);
};

/// What is fixed for all rows.
struct RowRules {
    double speed = 0.0;    ///< of the balls, rms: what differences of velocity are held against [length/time]
    double floor_x = 0.0;  ///< what the time step's part of velocities has made of positions since the start [length]
    double floor_v = 0.0;  ///< differences of velocity below this are the time step's [length/time]
};

/// The extrapolation of a quantity at three StiffnessSteps that goes as a + b k^(-softness) + c k^(-2 softness).
double richardson(double at_k, double at_4k, double at_16k) { return (at_k - 6.0 * at_4k + 8.0 * at_16k) / 3.0; }

double length(const Vector3& a) { return std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

double length(const Vector3& a, const Vector3& b, double times = 1.0) {
    return length({a[0] - times * b[0], a[1] - times * b[1], a[2] - times * b[2]});
}

constexpr double kSlower = 1.5;  // from slice to slice of the time until enough has been seen

/// Collects impacts; an event of many balls does not end in the middle, so it stops to keep them when there are enough.
std::unique_ptr<EventsSolver> listening(const EventsSetup& setup, const SolverState& state, std::uint64_t most,
                                        std::vector<HardImpact>& impacts) {
    auto solver = std::make_unique<EventsSolver>(setup, state);
    solver->set_log([&impacts, most](const LoggedImpact& impact) {
        if (impacts.size() >= most || !impact.is_contact()) return;
        const bool wall = impact.what == LoggedImpact::What::kWall;
        const double speed = length(impact.velocity_i, wall ? Vector3{} : impact.velocity_j);
        impacts.push_back({impact.time, impact.i, impact.j, wall, speed});
    });
    return solver;
}

/// The first instant at which one ball takes part in two impacts.
std::optional<double> first_cluster(const std::vector<HardImpact>& impacts) {
    std::map<std::uint32_t, int> met;
    for (std::size_t k = 0; k < impacts.size(); ++k) {
        if (k == 0 || impacts[k].time != impacts[k - 1].time) met.clear();
        if (++met[impacts[k].i] > 1) return impacts[k].time;
        if (!impacts[k].wall && ++met[impacts[k].j] > 1) return impacts[k].time;
    }
    return std::nullopt;
}

/// A frame as the start of a run.
SolverState state_of(const Frame& frame, const Balls& like) {
    SolverState state;
    Balls& balls = state.balls;
    balls = like;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(frame.dimension); ++axis) {
        balls.position[axis] = frame.position[axis];
        balls.velocity[axis] = frame.velocity[axis];
        balls.image[axis] = frame.image[axis];
    }
    balls.spin = frame.spin;
    balls.gone = frame.gone;
    return state;
}

/// Runs the scene's balls event by event until `most` contacts have passed an impulse, or to the scene's end.
/// \param lead  time that is kept of the free flight before the first contact
/// \throws InputError  balls overlap at the start
HardCourse follow_hard_course(const Scene& scene, const SolverState& state, std::uint64_t most, double lead,
                              const CompareContext& context) {
    const EventsSetup setup = events_setup(scene);
    HardCourse course;
    course.until = scene.run.until;
    {
        const auto solver = listening(setup, state, most, course.impacts);
        // Slices grow, so that neither a long wait nor a crowd costs more than twice what is looked at.
        double slice = lead > 0.0 ? std::min(lead, scene.run.until) : scene.run.until;
        try {
            for (double time = 0.0; course.impacts.size() < most && time < scene.run.until; slice *= kSlower) {
                time = std::min(time + slice, scene.run.until);
                context.advance(*solver, time);
            }
        } catch (const SimulationError& error) {
            course.stopped = error.what();
            course.until = solver->time();
        }
    }
    course.start = state;
    const double first = course.impacts.empty() ? 0.0 : course.impacts.front().time;
    if (first > 2.0 * lead) {
        EventsSolver solver(setup, state);
        context.advance(solver, first - lead);
        Frame frame;
        solver.request_frame(frame);
        if (std::ranges::none_of(frame.gone, [](std::uint8_t gone) { return gone != 0; })) {
            course.start = state_of(frame, state.balls);
            course.offset = first - lead;
            for (HardImpact& impact : course.impacts) impact.time -= course.offset;
            course.until -= course.offset;
        }
    }
    course.cluster = first_cluster(course.impacts);
    return course;
}

/// \param slowest  closing speed of those that are slower [length/time]
void add_durations(HardCourse& course, const SpringDesign& design, double slowest) {
    const auto inverse_mass = [&](std::uint32_t ball) { return 1.0 / course.start.balls.species_of(ball).mass; };
    const SoftContact pair = design.pair_contact();
    const SoftContact wall = design.wall_contact();
    for (HardImpact& impact : course.impacts) {
        const double m_e = reduced_mass(inverse_mass(impact.i), impact.wall ? 0.0 : inverse_mass(impact.j));
        impact.duration = (impact.wall ? wall : pair).duration(std::max(impact.speed, slowest), m_e);
    }
}

constexpr int kRows = 32;            // times at which the runs are held against each other
constexpr double kLinearPart = 0.2;  // a ball is linear if its second-order part is at most this much of the first
constexpr double kQuiet = 1e-7;      // of the rms speed: a ball whose velocity changes by less is in no contact
constexpr double kAgreement = 0.1;   // of its deviation at k, to which a ball's extrapolation must be the reference's

Vector3 velocity_in(const Frame& frame, std::size_t ball) {
    Vector3 v{};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(frame.dimension); ++axis) {
        v[axis] = frame.velocity[axis][ball];
    }
    return v;
}

/// Unwrapped.
Vector3 position_in(const Frame& frame, std::size_t ball, const Box& box) {
    Vector3 x{};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(frame.dimension); ++axis) {
        x[axis] = frame.position[axis][ball] + frame.image[axis][ball] * box.size[axis];
    }
    return x;
}

double rms_speed(const std::array<std::vector<double>, 3>& velocity, const std::vector<std::uint8_t>& gone) {
    double squared = 0.0;
    std::size_t count = 0;
    for (std::size_t ball = 0; ball < gone.size(); ++ball) {
        if (gone[ball] != 0) continue;
        ++count;
        for (const std::vector<double>& axis : velocity) squared += axis.empty() ? 0.0 : axis[ball] * axis[ball];
    }
    return count > 0 ? std::sqrt(squared / static_cast<double>(count)) : 0.0;
}

/// Whether the ball is in, and in no contact between the two frames. A contact changes a velocity by more than gravity;
/// what overlaps is not asked, since a run may be late for a contact that another has behind it.
/// \param speed  of the balls, rms
bool in_no_contact(const WatchedRun& run, std::size_t ball, const Vector3& gravity, double speed) {
    if (run.frame.gone[ball] != 0 || run.before.gone[ball] != 0) return false;
    const double elapsed = run.frame.time - run.before.time;
    Vector3 expected = velocity_in(run.before, ball);
    for (std::size_t axis = 0; axis < 3; ++axis) expected[axis] += elapsed * gravity[axis];
    return length(velocity_in(run.frame, ball), expected) <= kQuiet * speed;
}

/// Collects how far two states of each ball are apart.
struct DeviationSum {
    std::vector<double> x;
    std::vector<double> v;

    void add(double dx, double dv) {
        x.push_back(dx);
        v.push_back(dv);
    }
    [[nodiscard]] Deviation done() {
        Deviation result;
        summarize(x, result.median_x, result.rms_x, result.max_x);
        summarize(v, result.median_v, result.rms_v, result.max_v);
        return result;
    }

    static void summarize(std::vector<double>& values, double& median, double& rms, double& most) {
        if (values.empty()) return;
        double sum = 0.0;
        for (const double value : values) sum += value * value;
        rms = std::sqrt(sum / static_cast<double>(values.size()));
        std::ranges::sort(values);
        median = values[values.size() / 2];
        most = values.back();
    }
};

/// The four runs at one time.
class RowMaker {
public:
    RowMaker(const Scene& scene, const std::array<WatchedRun, 4>& runs, const RowRules& rules)
        : scene_(scene), runs_(runs), speed_(rules.speed), floor_x_(rules.floor_x), floor_v_(rules.floor_v) {}

    void fill(ConvergenceRow& row, const std::vector<std::uint8_t>& met) {
        for (std::size_t ball = 0; ball < met.size(); ++ball) {
            if (met[ball] == 0 || !comparable(ball)) continue;
            ++row.met;
            if (linear(ball)) add(ball);
        }
        row.linear = limit_.x.size();
        for (std::size_t k = 0; k < 3; ++k) row.from_hard[k] = from_hard_[k].done();
        for (std::size_t k = 0; k < 2; ++k) row.steps[k] = steps_[k].done();
        row.agreeing = agreeing_;
        row.limit = limit_.done();
        row.limit_change = limit_change_.done();
    }

private:
    [[nodiscard]] Vector3 position(std::size_t run, std::size_t ball) const {
        return position_in(runs_[run].frame, ball, scene_.box);
    }
    [[nodiscard]] Vector3 velocity(std::size_t run, std::size_t ball) const {
        return velocity_in(runs_[run].frame, ball);
    }

    [[nodiscard]] bool comparable(std::size_t ball) const {
        return std::ranges::all_of(
            runs_, [&](const WatchedRun& run) { return in_no_contact(run, ball, scene_.physics.gravity, speed_); });
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
               small(velocity(0, ball), velocity(1, ball), velocity(2, ball), floor_v_);
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
        const double off_x = length(limit(x), x[3]);
        const double off_v = length(limit(v), v[3]);
        limit_.add(off_x, off_v);
        if (off_x <= kAgreement * length(x[0], x[3]) + floor_x_ &&
            off_v <= kAgreement * length(v[0], v[3]) + floor_v_) {
            ++agreeing_;
        }
        limit_change_.add(length(limit(x), from_two(x)), length(limit(v), from_two(v)));
    }

    const Scene& scene_;
    const std::array<WatchedRun, 4>& runs_;
    double speed_;
    double floor_x_;
    double floor_v_;
    std::array<DeviationSum, 3> from_hard_;
    std::array<DeviationSum, 2> steps_;
    DeviationSum limit_;
    DeviationSum limit_change_;
    std::size_t agreeing_ = 0;
};

void WatchedRun::look(double time_before, double time, const CompareContext& context) {
    context.advance(*solver, time_before);
    solver->request_frame(before);
    solver->finish_frame(before);
    context.advance(*solver, time);
    solver->request_frame(frame);
    solver->finish_frame(frame);
}

/// How much of the time around a row is to be free of contacts.
struct QuietTime {
    double half = 0.0;     ///< of the stretch around a row: twice the shortest contact [time]
    double shorter = 1.0;  ///< contacts are, than at the scene's own stiffness

    QuietTime(const SpringDesign& design, double times_shorter)
        : half(kContacts * design.contact_duration * times_shorter), shorter(times_shorter) {}

    /// From an impact on: contacts of heavy balls last longer than the shortest.
    [[nodiscard]] double after(const HardImpact& impact) const {
        return std::max(half, kContacts * impact.duration * shorter);
    }

private:
    static constexpr double kContacts = 2.0;
};

/// Times at which to look: soon after impacts, the first ones and then ever fewer.
std::vector<double> row_times(const HardCourse& course, const QuietTime& quiet) {
    std::vector<double> times;
    const std::vector<HardImpact>& impacts = course.impacts;
    const std::size_t count = impacts.size();
    for (int row = 1; row <= kRows; ++row) {
        const double share = static_cast<double>(row) / kRows;
        const auto seen = static_cast<std::size_t>(std::ceil(share * share * static_cast<double>(count)));
        if (seen == 0) continue;
        const double time = impacts[seen - 1].time + 2.0 * quiet.after(impacts[seen - 1]);
        if (time + quiet.half > course.until) continue;
        if (times.empty() || time > times.back() + 2.0 * quiet.half) times.push_back(time);
    }
    return times;
}

/// Root mean square of the speeds of the balls that are in.
double rms_speed(const Frame& frame) { return rms_speed(frame.velocity, frame.gone); }
double rms_speed(const Balls& balls) { return rms_speed(balls.velocity, balls.gone); }

/// Fills a row from the runs at three stiffnesses and the reference, in this order.
/// \param met  1 for balls that have collided
void fill_row(const Scene& scene, const std::array<WatchedRun, 4>& runs, const std::vector<std::uint8_t>& met,
              const RowRules& rules, ConvergenceRow& row) {
    RowMaker(scene, runs, rules).fill(row, met);
}

/// Those of `met` for whom no impact of the reference is so near that a spring run, whose balls are elsewhere, may have
/// it on the other side of `time`. All spring runs may, and then agree with each other.
/// \param least  speed at which balls come together, where they part at none [length/time]
std::vector<std::uint8_t> without_late(std::vector<std::uint8_t> met, const HardCourse& course,
                                       const std::array<WatchedRun, 4>& runs, double time, const QuietTime& quiet,
                                       double least, const Box& box) {
    constexpr double kTimes = 4.0;  // of the way from k to 4k, which is half of that to the reference: two for safety
    const auto off = [&](std::uint32_t ball) {
        return kTimes * length(position_in(runs[0].frame, ball, box), position_in(runs[1].frame, ball, box));
    };
    for (const HardImpact& impact : course.impacts) {
        const double way = off(impact.i) + (impact.wall ? 0.0 : off(impact.j));
        if (std::abs(impact.time - time) > way / std::max(impact.speed, least) + quiet.after(impact)) continue;
        met[impact.i] = 0;
        if (!impact.wall) met[impact.j] = 0;
    }
    return met;
}

constexpr double kLinearShare = 0.9;      // of the balls, in the window
constexpr double kOrderTolerance = 0.05;  // of the exponent
constexpr double kHidden = 0.2;           // of the deviation between the first two that steps of a damped run may make
constexpr double kSlow = 0.1;             // of the rms speed: balls that come together more slowly are few
constexpr double kLeastWork = 20.0;       // a step of fewer balls takes as long

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

/// How steps go with stiffness: as overlaps squared, so that what they do to a collision falls as overlaps do, or as
/// their square, and is extrapolated away with all that collisions make of it. A dashpot's force begins with a jump, so
/// where in a step a contact begins changes the speed after it by up to zeta h: first order, and more steps.
struct StepRule {
    double finer = 2.0;    ///< than the scene's own, at k
    double shorter = 4.0;  ///< from run to run
};

double damping(const SpringDesign& design) { return std::max(design.damping_ratio, design.wall_damping_ratio); }

StepRule step_rule(const SpringDesign& design) { return damping(design) > 0.0 ? StepRule{.finer = 4.0} : StepRule{}; }

/// Of those that have collided, so many between contacts tell by their median: of two its deviation may be small by
/// chance, and what is left of it in third order as large.
std::size_t least_balls(const std::vector<std::uint8_t>& met) {
    constexpr std::size_t kMost = 8;
    const auto collided = static_cast<std::size_t>(std::ranges::count_if(met, [](auto times) { return times > 0; }));
    return std::min(kMost, (collided + 1) / 2);
}

/// Marks who has collided up to `time`, by how many collisions of its own and of those whom it met lie behind it one
/// after another; `seen` counts the impacts. What has infinite mass is changed by none.
void mark_met(const HardCourse& course, double time, std::size_t& seen, std::vector<std::uint8_t>& met) {
    constexpr int kMany = 255;
    const Balls& balls = course.start.balls;
    for (; seen < course.impacts.size() && course.impacts[seen].time < time; ++seen) {
        const HardImpact& impact = course.impacts[seen];
        std::uint8_t& i = met[impact.i];
        std::uint8_t& j = impact.wall ? i : met[impact.j];
        const auto behind = static_cast<std::uint8_t>(std::min(kMany, std::max(i, j) + 1));
        if (std::isfinite(balls.species_of(impact.i).mass)) i = behind;
        if (!impact.wall && std::isfinite(balls.species_of(impact.j).mass)) j = behind;
    }
}

/// How a deviation falls with k: the exponent p of k^(-p).
double order_of(double softer, double stiffer, const StiffnessSteps& steps) {
    return std::log(softer / stiffer) / std::log(steps.times(1));
}

/// Whether the runs close up as they should, but for what steps of the time do to positions. Where they do not yet, or
/// not any more, is outside the window: a second-order part as large as a ball may have makes it 0.37 to 0.66.
bool in_order(const ConvergenceRow& row, const StiffnessSteps& steps, double floor_x) {
    const double softer = row.steps[0].median_x;
    const double stiffer = row.steps[1].median_x;
    return std::abs(softer - 2.0 * stiffer) <= floor_x ||
           std::abs(order_of(softer, stiffer, steps) - steps.softness) <= kOrderTolerance;
}

/// One attempt, at `raised` times the scene's stiffness, for at most `work` ball-steps, which it takes off.
Convergence attempt(const Scene& scene, const HardCourse& course, const SpringDesign& design, double raised,
                    double& work, const CompareContext& context) {
    const StepRule rule = step_rule(design);
    const StiffnessSteps steps{design.pair_contact().softness()};
    Convergence result{.steps = steps,
                       .stiffness = design.stiffness * raised,
                       .raised = raised,
                       .dt = design.dt / rule.finer * steps.fall(raised),
                       .velocity_floor = 0.0,
                       .position_floor = 0.0,
                       .rows = {},
                       .impacts = 0,
                       .few = true,
                       .apart = false,
                       .stopped = {}};
    const QuietTime quiet(design, steps.fall(raised));
    std::array<WatchedRun, 4> runs;
    double dt = result.dt;
    double work_per_time = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
        const Scene stiff = stiffened(scene, design, raised * steps.times(k), dt);
        runs[k].solver = context.make_spring(stiff, course.start, context.threads);
        work_per_time += std::max(kLeastWork, static_cast<double>(course.start.balls.size())) / dt;
        dt /= rule.shorter;
    }
    runs[3].solver = std::make_unique<EventsSolver>(events_setup(scene), course.start);

    // What the steps do to a collision's speed at worst, and is not extrapolated away: of h^2 / 8, which falls fourfold
    // from run to run, 3/8 are left in the difference of the first two without twice that of the last two.
    const double phase = design.phase_step / rule.finer;
    const double step_part = 0.375 * phase * phase / 8.0 + damping(design) * phase;
    std::vector<std::uint8_t> met(course.start.balls.size(), 0);
    std::size_t seen = 0;
    double reached = 0.0;
    const double start_speed = rms_speed(course.start.balls);
    try {
        for (const double wanted : row_times(course, quiet)) {
            // Whole steps of the softest run are whole steps of all.
            const double before = std::floor((wanted - quiet.half) / result.dt) * result.dt;
            const double time = std::ceil((wanted + quiet.half) / result.dt) * result.dt;
            work -= (time - reached) * work_per_time;
            if (work < 0.0) break;
            reached = time;
            for (WatchedRun& run : runs) run.look(before, time, context);
            mark_met(course, time, seen, met);
            ConvergenceRow row{.time = time + course.offset, .collisions = seen};
            const double speed = std::max(start_speed, rms_speed(runs[3].frame));
            const auto had = std::span(course.impacts).first(seen);
            const double fastest = std::max(speed, std::ranges::max(had, {}, &HardImpact::speed).speed);
            const RowRules rules{.speed = speed,
                                 .floor_x = step_part * fastest * (time - course.impacts.front().time),
                                 .floor_v = step_part * fastest};
            // Where the reference's law is not the springs' limit, its impacts say nothing of theirs.
            const auto compared =
                course.cluster ? met : without_late(met, course, runs, time, quiet, kSlow * speed, scene.box);
            fill_row(scene, runs, compared, rules, row);
            if (row.met < least_balls(met)) continue;
            result.few = false;
            if (static_cast<double>(row.linear) < kLinearShare * static_cast<double>(row.met)) break;
            if (!in_order(row, steps, rules.floor_x)) continue;
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

/// Runs the scene's own stiffness and time step, in double precision, beside a quarter of that step, and audits steps.
/// \throws Interrupted
StepError step_error(const Scene& scene, const HardCourse& course, const SpringDesign& design,
                     const CompareContext& context) {
    constexpr double kFiner = 4.0;
    constexpr int kTries = 4;
    constexpr std::size_t kAudits = 8;  // rows at which single steps are audited
    constexpr std::size_t kEnough = 8;  // balls; of fewer the most count
    StepError result;
    const QuietTime quiet(design, 1.0);
    const Scene own = stiffened(scene, design, 1.0, design.dt);
    std::array<WatchedRun, 2> runs;
    runs[0].solver = context.make_spring(own, course.start, context.threads);
    runs[1].solver =
        context.make_spring(stiffened(scene, design, 1.0, design.dt / kFiner), course.start, context.threads);
    std::vector<std::uint8_t> met(course.start.balls.size(), 0);
    std::size_t seen = 0;
    std::size_t audits = 0;
    std::size_t most = 0;
    double work = context.work;
    double reached = 0.0;
    const double start_speed = rms_speed(course.start.balls);
    try {
        for (const double wanted : row_times(course, quiet)) {
            const double before = std::floor((wanted - quiet.half) / design.dt) * design.dt;
            const double time = std::ceil((wanted + quiet.half) / design.dt) * design.dt;
            work -= (time - reached) / design.dt * std::max(kLeastWork, static_cast<double>(met.size())) * kFiner;
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
                const double off = length(velocity_in(runs[0].frame, ball), velocity_in(runs[1].frame, ball));
                squared += off * off;
                ++count;
            }
            most = std::max(most, count);
            const double rms = std::sqrt(squared / std::max(1.0, static_cast<double>(count))) / speed;
            const bool more = count > result.balls && result.balls < kEnough;
            if (more || (count > 0 && count >= std::min(result.balls, kEnough) && rms < result.rms)) {
                result.balls = count;
                result.rms = rms;
            }
            // Balls that have collided once grow fewer again.
            if (audits >= kAudits && 4 * count < 3 * most) break;
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

constexpr double kLimitTolerance = 0.02;  // of the median deviation at k; a part 1/64 of it is left in third order
constexpr double kOffShare = 0.25;  // of the balls; glancing encounters that all springs miss or have alone take some

/// The extrapolation against the event-driven state: what is allowed of it, and whether it is there.
struct Limit {
    double x_allowed;
    double v_allowed;
    bool good;

    explicit Limit(const Convergence& result) {
        const ConvergenceRow& row = result.rows.back();
        x_allowed = kLimitTolerance * row.from_hard[0].median_x + result.position_floor;
        v_allowed = kLimitTolerance * row.from_hard[0].median_v + result.velocity_floor;
        good = row.limit.median_x <= x_allowed && row.limit.median_v <= v_allowed &&
               static_cast<double>(row.linear - row.agreeing) <= kOffShare * static_cast<double>(row.linear);
    }
};

/// Runs three stiffnesses and the reference side by side until fewer than nine tenths of the balls deviate linearly.
/// Raises k, from the scene's own, until the window holds `enough` impacts, as far as that can be paid for. Where they
/// do not go to the reference, stiffer ones may: few balls cannot tell a wrong spring from one that met another by a
/// glancing encounter, which a stiffer one misses as hard balls do. \throws Interrupted
Convergence converge(const Scene& scene, const HardCourse& course, const SpringDesign& design, std::size_t enough,
                     const CompareContext& context) {
    constexpr double kMostRaised = 1.0e9;
    constexpr int kStiffer = 6;  // overlaps are 64 times smaller then
    Convergence best;
    double work = context.work;
    int tried = 0;
    const double stiffer = StiffnessSteps{design.pair_contact().softness()}.times(1);
    for (double raised = 1.0; raised < kMostRaised && work > 0.0 && tried <= kStiffer; raised *= stiffer) {
        Convergence found = attempt(scene, course, design, raised, work, context);
        const bool told = found.impacts >= enough && found.stopped.empty();
        const bool there = course.cluster || (told && Limit(found).good);
        if (tried > 0) {
            if (!told || !there) {
                ++tried;
                continue;
            }
            found.apart = best.apart;
            return found;
        }
        found.few = found.few && (best.stiffness == 0.0 || best.few);
        found.apart = raised == 1.0;
        if (best.stiffness == 0.0 || found.impacts > best.impacts) {
            best = std::move(found);
        } else {
            best.few = found.few;
        }
        if (!best.stopped.empty() || (told && there)) break;
        if (told) ++tried;
    }
    return best;
}

constexpr double kLeastStepsPerContact = 10.0;
constexpr double kStepTolerance = 0.01;        // of the speed: 0.1 h^2 of one collision at 10 steps a contact
constexpr double kDampedStepTolerance = 0.05;  // a dashpot is of first order: 0.16 h

/// \param apart  contacts of a ball do not overlap in time at the scene's own k; where they do, a ball that has
/// collided
///     once by the event-driven run has met several at once here, and its velocity says nothing of single collisions
Check step_check(const StepError& error, const SpringDesign& design, bool damped, bool apart) {
    const double steps = design.contact_duration / design.dt;
    Check check{.name = "time step",
                .figures = {{"steps_per_contact", steps}, {"velocity_error", error.rms}, {"dt", design.dt}}};
    if (!error.stopped.empty()) {
        check.verdict = Verdict::kBad;
        check.words = "the spring run could not go on: " + error.stopped;
        return check;
    }
    const double tolerance = damped ? kDampedStepTolerance : kStepTolerance;
    const bool enough = steps >= kLeastStepsPerContact;
    check.verdict = verdict_of(enough && (error.rms <= tolerance || !apart));
    check.words = fmt::format("dt = {:.4g} is {:.3g} steps a contact", design.dt, steps);
    if (error.balls > 0) {
        check.words += fmt::format(
            "; a quarter of it changes a velocity after one collision by {:.2g} of the rms speed "
            "(allowed {:g})",
            error.rms, tolerance);
    }
    if (!enough)
        check.words += fmt::format("; a contact needs at least {:g}: spring.dt is too large", kLeastStepsPerContact);
    if (enough && error.rms > tolerance && !apart) check.words += "; contacts overlap in time, so that it says little";
    if (enough && error.rms > tolerance && apart) check.words += ": spring.dt is too large, or the contacts are wrong";
    return check;
}

Check force_check(const StepError& error) {
    const ForceAudit& audit = error.audit;
    const std::size_t contacts = audit.pair_contacts + audit.wall_contacts;
    Check check{.name = "forces",
                .figures = {{"pair_contacts", static_cast<double>(audit.pair_contacts)},
                            {"wall_contacts", static_cast<double>(audit.wall_contacts)},
                            {"worst", audit.worst}}};
    if (contacts == 0) {
        check.words = "no contact was met in the steps looked at";
        return check;
    }
    check.verdict = verdict_of(audit.worst <= audit.rounding);
    check.words = fmt::format(
        "in single steps with {} of balls and {} of walls, velocities change by what the law says to {:.2g} of the "
        "largest "
        "force (rounding: {:.2g})",
        plural(audit.pair_contacts, "contact"), count_text(audit.wall_contacts), audit.worst, audit.rounding);
    if (audit.worst > audit.rounding) {
        check.words = fmt::format(
            "in a single step, ball {} gains a velocity that is {:.3g} of the largest force off the "
            "law (rounding: {:.2g})",
            audit.worst_ball, audit.worst, audit.rounding);
    }
    return check;
}

Check window_check(const Convergence& result, const HardCourse& course, std::size_t balls) {
    Check check{.name = "window", .figures = {{"impacts", static_cast<double>(result.impacts)}}};
    if (!result.stopped.empty()) {
        check.verdict = Verdict::kBad;
        check.words = "a spring run could not go on: " + result.stopped;
        return check;
    }
    if (result.rows.empty() && result.few) {
        check.words = "too few balls at a time are between contacts to say how they deviate";
        return check;
    }
    if (result.rows.empty()) {
        check.verdict = Verdict::kBad;
        check.words = fmt::format("not even after the first collisions do the deviations of k, {} and {} go as {}",
                                  result.steps.name(1), result.steps.name(2), result.steps.fall_name());
        return check;
    }
    const ConvergenceRow& last = result.rows.back();
    check.verdict = Verdict::kGood;
    check.words = fmt::format(
        "to t = {:.6g}, {} ({:.2g} a ball): {} of {} balls that have collided, and are in no "
        "contact, deviate as {}",
        last.time, plural(result.impacts, "collision"),
        2.0 * static_cast<double>(result.impacts) / static_cast<double>(std::max<std::size_t>(1, balls)),
        count_text(last.linear), count_text(last.met), result.steps.fall_name());
    if (course.impacts.size() > result.impacts) check.words += "; later ones are beyond the window";
    check.figures.insert(check.figures.end(), {{"time", last.time},
                                               {"balls_compared", static_cast<double>(last.met)},
                                               {"balls_linear", static_cast<double>(last.linear)},
                                               {"stiffness", result.stiffness},
                                               {"dt", result.dt}});
    return check;
}

Check order_check(const Convergence& result) {
    const ConvergenceRow& row = result.rows.back();
    const StiffnessSteps& steps = result.steps;
    const double order = order_of(row.steps[0].median_x, row.steps[1].median_x, steps);
    return {.name = "order",
            .verdict = verdict_of(in_order(row, steps, result.position_floor)),
            .words = fmt::format("the runs close up as k^-{:.4f} (expected {:g} +- {:g}): median {:.3g} from k to {}, "
                                 "{:.3g} from {} to {}",
                                 order, steps.softness, kOrderTolerance, row.steps[0].median_x, steps.name(1),
                                 row.steps[1].median_x, steps.name(1), steps.name(2)),
            .figures = {{"order", order}}};
}

std::string deviations(const ConvergenceRow& row, const StiffnessSteps& steps) {
    return fmt::format(
        "positions are median {:.3g}, {:.3g}, {:.3g} away at {} (rms {:.3g}, {:.3g}, {:.3g}; most "
        "{:.3g}, {:.3g}, {:.3g})",
        row.from_hard[0].median_x, row.from_hard[1].median_x, row.from_hard[2].median_x, steps.all_names(),
        row.from_hard[0].rms_x, row.from_hard[1].rms_x, row.from_hard[2].rms_x, row.from_hard[0].max_x,
        row.from_hard[1].max_x, row.from_hard[2].max_x);
}

/// The extrapolation against the event-driven state.
Check limit_check(const Convergence& result) {
    const ConvergenceRow& row = result.rows.back();
    const auto [x_allowed, v_allowed, good] = Limit(result);
    Check check{
        .name = "limit",
        .verdict = verdict_of(good),
        .words = fmt::format("{}; extrapolated to k -> infinity {:.2g} (allowed {:.2g}); velocities {:.3g} at k, "
                             "{:.2g} extrapolated (allowed {:.2g}); {} of {} balls agree to a tenth of their "
                             "deviation",
                             deviations(row, result.steps), row.limit.median_x, x_allowed, row.from_hard[0].median_v,
                             row.limit.median_v, v_allowed, count_text(row.agreeing), count_text(row.linear)),
        .figures = {{"position_at_k", row.from_hard[0].median_x},
                    {"position_at_4k", row.from_hard[1].median_x},
                    {"position_at_16k", row.from_hard[2].median_x},
                    {"position_extrapolated", row.limit.median_x},
                    {"position_allowed", x_allowed},
                    {"velocity_at_k", row.from_hard[0].median_v},
                    {"velocity_extrapolated", row.limit.median_v},
                    {"velocity_allowed", v_allowed},
                    {"balls_agreeing", static_cast<double>(row.agreeing)}}};
    if (!good) check.words += ": the spring run does not go to the event-driven one";
    return check;
}

/// For simultaneous contacts: the springs' own limit exists, and is not the event-driven law's.
Check spring_limit_check(const ConvergenceRow& row, const StiffnessSteps& steps) {
    const double change = row.limit_change.median_x / std::max(row.steps[0].median_x, 1e-300);
    return {.name = "spring limit",
            .verdict = verdict_of(change <= kLimitTolerance),
            .words = fmt::format("the springs go to a limit of their own: extrapolations from two and from three runs "
                                 "differ by {:.2g} of the step from k to {} (allowed {:g}); it is {:.3g} from the "
                                 "event-driven answer in position and {:.3g} in velocity, which says nothing of either",
                                 change, steps.name(1), kLimitTolerance, row.limit.median_x, row.limit.median_v),
            .figures = {{"change", change},
                        {"position_from_events", row.limit.median_x},
                        {"velocity_from_events", row.limit.median_v}}};
}

}  // namespace

Findings convergence_section(const PreparedScene& run, const CompareContext& context, Convergence& result) {
    Findings section{.name = "convergence"};
    const Scene& scene = run.scene;
    const std::size_t balls = run.state.balls.size();
    const SpringDesign design = design_spring(scene, run.state.balls);
    const bool inelastic = scene.physics.restitution < 1.0 || scene.physics.wall_restitution < 1.0;
    if (scene.spring.damping && (*scene.spring.damping > 0.0 || inelastic)) {
        section.notes.emplace_back(
            "not compared: spring.damping is a number, which gives each pair a restitution of its own, and the "
            "event-driven run has one; --set spring.damping=\"auto\" compares");
        return section;
    }
    const std::uint64_t most = std::max<std::uint64_t>(12, balls);
    // Half a collision a ball; where there are few balls, a few collisions.
    constexpr std::size_t kFew = 8;
    const std::size_t enough = std::max({std::size_t{1}, std::min(kFew, balls / 2), balls / 4});
    HardCourse course = follow_hard_course(scene, run.state, most, 8.0 * design.contact_duration, context);
    if (course.impacts.empty()) {
        section.notes.push_back(fmt::format("not compared: nothing touches up to t = {:g}", scene.run.until));
        return section;
    }
    add_durations(course, design, kSlow * rms_speed(course.start.balls));
    if (!course.stopped.empty()) section.notes.push_back("the event-driven run ends early: " + course.stopped);
    if (scene.spring.distance_epsilon > 0.0) {
        section.notes.emplace_back(kWithoutEpsilon);
    }
    // What comes before the first cluster is compared as everywhere, where it is enough.
    const auto before =
        static_cast<std::size_t>(std::ranges::count_if(course.impacts, [&course](const HardImpact& impact) {
            return impact.time < course.cluster.value_or(course.until + 1.0);
        }));
    if (course.cluster && before >= enough) {
        course.impacts.resize(before);
        course.until = *course.cluster;
        course.cluster.reset();
    }
    context.say(fmt::format("convergence: up to {} in runs at {}", plural(course.impacts.size(), "collision"),
                            StiffnessSteps{design.pair_contact().softness()}.all_names()));
    const StepError steps = step_error(scene, course, design, context);
    result = converge(scene, course, design, std::min(course.impacts.size(), enough), context);
    section.checks.push_back(
        step_check(steps, design, design.damping_ratio > 0.0 || design.wall_damping_ratio > 0.0, result.apart));
    section.checks.push_back(force_check(steps));
    section.checks.push_back(window_check(result, course, balls));
    section.notes.push_back(fmt::format(
        "double precision; k = {:.6g}{}, dt = {:.4g} at k and a quarter at each {:.3g}-fold k", result.stiffness,
        result.raised > 1.0
            ? fmt::format(", {:g} times the scene's: softer springs are not yet in the linear regime", result.raised)
            : " as in the scene",
        result.dt, result.steps.times(1)));
    if (result.rows.empty()) return section;
    const ConvergenceRow& last = result.rows.back();
    section.checks.push_back(order_check(result));
    if (course.cluster) {
        section.notes.push_back(fmt::format(
            "at t = {:.6g} a ball meets several others at once: no rigid law is the limit of springs there, so the "
            "springs are held against their own limit, not against the event-driven run",
            *course.cluster + course.offset));
        section.checks.push_back(spring_limit_check(last, result.steps));
    } else {
        section.checks.push_back(limit_check(result));
    }
    return section;
}

}  // namespace carom
