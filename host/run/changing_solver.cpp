#include "host/run/changing_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "host/scene/design.hpp"
#include "host/scene/load.hpp"
#include "host/scene/stages.hpp"
#include "host/state/errors.hpp"

namespace carom {

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

/// Balls that are nowhere are none that a solver begins with.
void clear_gone(Balls& balls) {
    for (int axis = 0; axis < balls.dimension; ++axis) {
        for (std::size_t id = 0; id < balls.size(); ++id) {
            if (balls.gone[id] != 0) balls.position[axis][id] = balls.velocity[axis][id] = 0.0;
        }
    }
}

/// Of balls that get another velocity.
/// \throws InputError  one is too fast for the solver
void require_speeds(const SolverPlan& plan, const Frame& frame, const ChangingSolver::Columns& velocity) {
    for (std::size_t id = 0; id < frame.size(); ++id) {
        double squared = 0.0;
        bool same = true;
        std::string words;
        for (int axis = 0; axis < frame.dimension; ++axis) {
            const double v = velocity[axis][id];
            same = same && v == frame.velocity[axis][id];
            squared += v * v;
        }
        if (same || frame.gone[id] != 0) continue;
        const std::string why = plan.too_fast(std::sqrt(squared));
        if (why.empty()) continue;
        for (int axis = 0; axis < frame.dimension; ++axis) {
            words += fmt::format("{}{:.6g}", axis > 0 ? ", " : "", velocity[axis][id]);
        }
        throw InputError(fmt::format("ball {}: with velocity [{}] it {}", id, words, why));
    }
}

}  // namespace

Scene changed_scene(Scene scene, std::vector<std::string> asked, std::size_t stage, double dt) {
    const auto of_face = [](const std::string& one) { return one.starts_with("box.wall_temperature["); };
    const auto faces =
        std::stable_partition(asked.begin(), asked.end(), [&](const std::string& one) { return !of_face(one); });
    std::vector<std::string> overrides;
    // A scene that leaves it to the program would get another one.
    const bool keeps = std::ranges::none_of(asked, [](const auto& one) { return one.starts_with("spring.dt="); });
    if (dt > 0.0 && keeps) overrides.push_back(fmt::format("spring.dt={}", dt));
    const auto take = [&](const std::string& one) {
        std::ranges::move(overrides_from(scene, one, stage), std::back_inserter(overrides));
    };
    // All at once, for one may need another; but of faces, where what is said of one says what all of them have.
    std::for_each(asked.begin(), faces, take);
    if (faces != asked.begin()) scene = parse_scene(scene.source, scene.path, overrides);
    std::for_each(faces, asked.end(), [&](const std::string& one) {
        take(one);
        scene = parse_scene(scene.source, scene.path, overrides);
    });
    return scene;
}

ChangingSolver::ChangingSolver(Scene scene, std::shared_ptr<const SolverPlan> plan, const SolverState& state,
                               int threads, const std::string& log)
    : threads_(threads),
      scene_(std::move(scene)),
      begun_(scene_),
      plan_(std::move(plan)),
      solver_(plan_->make_solver(state, log)) {
    begun_.balls.clear();  // they stood there once
}

Tallies ChangingSolver::tallies() {
    Tallies tallies = solver_->tallies();
    tallies.work += work_;
    return tallies;
}

void ChangingSolver::request_frame(Frame& frame) {
    solver_->request_frame(frame);
    frame.step += steps_before_;
    frame.time += time_before_;
}

void ChangingSolver::save(SolverState& state) {
    solver_->save(state);
    state.tallies.work += work_;
}

std::size_t ChangingSolver::stage() const {
    return stages_before_ +
           stage_at(begun_, solver_->time(), [this](double time) { return solver_->reachable_time(time); });
}

ChangingSolver::Moment ChangingSolver::moment() {
    Moment moment;
    if (auto* const impacts = dynamic_cast<ImpactSource*>(solver_.get())) {
        moment.state = impacts->starting_anew();
    } else {
        solver_->save(moment.state);
        clear_gone(moment.state.balls);
    }
    moment.state.tallies.work += work_;
    moment.step = step();
    moment.time = time();
    return moment;
}

void ChangingSolver::go_back(const Moment& moment) { rebuild(*plan_, moment.state, moment.step, moment.time); }

/// The spring solver's state holds velocities half a step behind positions, which only the same forces and the same
/// step bring to them. Whoever changes these needs both at one time, as at step 0.
void ChangingSolver::synchronise(SolverState& state) {
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
void ChangingSolver::rebuild(const SolverPlan& plan, const SolverState& state, std::uint64_t step, double time) {
    auto solver = plan.make_solver(state, "");  // where it cannot be made, the old one stays
    steps_before_ = step - solver->step();
    time_before_ = time - solver->time();
    work_ = 0.0;
    solver->count_after(steps_before_, time_before_);
    solver_ = std::move(solver);
}

void ChangingSolver::give_velocities(const Give& give) {
    Moment now = moment();
    Balls& balls = now.state.balls;
    // Where they lie half a step behind those of frames, they do so afterwards.
    Frame frame;
    request_frame(frame);
    finish_frame(frame);
    Columns velocity = frame.velocity;
    give(velocity, balls.gone);
    require_speeds(*plan_, frame, velocity);
    for (int axis = 0; axis < balls.dimension; ++axis) {
        for (std::size_t id = 0; id < balls.size(); ++id) {
            const double before = frame.velocity[axis][id];
            double& raw = balls.velocity[axis][id];
            if (balls.gone[id] == 0) raw = raw == before ? velocity[axis][id] : raw + (velocity[axis][id] - before);
        }
    }
    const double energy = totals().energy();
    rebuild(*plan_, now.state, now.step, now.time);
    work_ = totals().energy() - energy;
}

std::string ChangingSolver::kick(const Kick& kick) {
    std::string words;
    give_velocities([&](Columns& velocity, const std::vector<std::uint8_t>& gone) {
        if (kick.id >= velocity[0].size()) {
            throw InputError(fmt::format("there is no ball {}; there are {}", kick.id, velocity[0].size()));
        }
        if (gone[kick.id] != 0) throw InputError(fmt::format("ball {} has left the box", kick.id));
        for (int axis = 0; axis < scene_.dimension(); ++axis) {
            double& of_ball = velocity[axis][kick.id];
            of_ball = kick.velocity[axis] + (kick.add ? of_ball : 0.0);
            words += fmt::format("{}{}", axis > 0 ? ", " : "", kick.velocity[axis]);
        }
    });
    return fmt::format("ball {} kicked {} [{}]", kick.id, kick.add ? "by" : "to", words);
}

void ChangingSolver::set_velocities(const Columns& velocity) {
    give_velocities([&](Columns& given, const std::vector<std::uint8_t>& gone) {
        for (std::size_t axis = 0; axis < velocity.size(); ++axis) {
            const std::size_t wanted = axis < static_cast<std::size_t>(scene_.dimension()) ? gone.size() : 0;
            if (velocity[axis].size() != wanted) {
                throw InputError(fmt::format("velocities of {} balls along axis {}; allowed: of {}",
                                             velocity[axis].size(), axis, wanted));
            }
        }
        given = velocity;
    });
}

/// What is left of a scene for a solver that counts time and steps from now on.
/// \param stage  of the scene, which the run is in
Scene ChangingSolver::rest_of(const Scene& scene, std::size_t stage) const {
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
    rest.seed = scene.seed + kOdd * step();
    return rest;
}

std::string ChangingSolver::change(const std::vector<std::string>& asked) {
    const std::size_t stage = this->stage();
    Scene scene = changed_scene(scene_, asked, stage, describe().dt);
    Moment now = moment();
    SolverState& state = now.state;
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
    // Another thermostat has come by as often as it would have by now.
    const bool thermal = std::ranges::any_of(asked, [](const auto& one) { return one.starts_with("thermostat."); });
    if (thermal && state.records.events_progress) {
        state.records.events_progress->visits = std::numeric_limits<std::uint64_t>::max();
    }
    const bool automatic = !scene.spring.stiffness;
    const std::string beware =
        anew ? keep_springs(begun, state.balls, *plan_, std::ranges::any_of(asked, drives), kFewestSteps) : "";
    auto plan = make_plan(begun, state, threads_);
    if (const std::string why = coarse_step(*plan, *plan_, kFewestSteps); !why.empty()) throw InputError(why);
    const double energy = totals().energy();
    rebuild(*plan, state, now.step, now.time);
    work_ = totals().energy() - energy;
    std::string said = beware.empty() ? new_warning(*plan, *plan_, automatic) : beware;
    plan_ = std::move(plan);
    scene_ = std::move(scene);
    begun_ = std::move(begun);
    if (anew) stages_before_ = stage;
    keys_ += asked.size();
    return said;
}

}  // namespace carom
