#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/compare/convergence.hpp"
#include "host/run/text.hpp"
#include "host/scene/design.hpp"

namespace carom {

namespace {

constexpr double kOrder = 0.5;            // in 1 / k, of states at a fixed time
constexpr double kOrderTolerance = 0.05;  // the second-order part may be a fifth of the first (kLinearPart): +-0.05
constexpr double kLimitTolerance = 0.02;  // of the median deviation at k; a part 1/64 of it is left in third order
constexpr double kAgreeingShare = 0.9;    // of the balls whose deviation is linear
constexpr double kLeastStepsPerContact = 10.0;
constexpr double kStepTolerance = 0.01;        // of the speed: 0.1 h^2 of one collision at 10 steps a contact
constexpr double kDampedStepTolerance = 0.05;  // a dashpot is of first order: 0.16 h

/// How a deviation falls with k: the exponent p of k^(-p).
double order_of(double softer, double stiffer) { return std::log(softer / stiffer) / std::log(4.0); }

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
    if (result.rows.empty()) {
        check.verdict = Verdict::kBad;
        check.words = "not even after the first collisions do the deviations of k, 4k and 16k go as 1 / sqrt(k)";
        return check;
    }
    const ConvergenceRow& last = result.rows.back();
    check.verdict = Verdict::kGood;
    check.words = fmt::format(
        "to t = {:.6g}, {} ({:.2g} a ball): {} of {} balls that have collided, and are in no "
        "contact, deviate as 1 / sqrt(k)",
        last.time, plural(result.impacts, "collision"),
        2.0 * static_cast<double>(result.impacts) / static_cast<double>(std::max<std::size_t>(1, balls)),
        count_text(last.linear), count_text(last.met));
    if (course.impacts.size() > result.impacts) check.words += "; later ones are beyond the window";
    check.figures.insert(check.figures.end(), {{"time", last.time},
                                               {"balls_compared", static_cast<double>(last.met)},
                                               {"balls_linear", static_cast<double>(last.linear)},
                                               {"stiffness", result.stiffness},
                                               {"dt", result.dt}});
    return check;
}

Check order_check(const ConvergenceRow& row) {
    const double order = order_of(row.steps[0].median_x, row.steps[1].median_x);
    return {.name = "order",
            .verdict = verdict_of(std::abs(order - kOrder) <= kOrderTolerance),
            .words = fmt::format("the runs close up as k^-{:.4f} (expected {:g} +- {:g}): median {:.3g} from k to 4k, "
                                 "{:.3g} from 4k to 16k",
                                 order, kOrder, kOrderTolerance, row.steps[0].median_x, row.steps[1].median_x),
            .figures = {{"order", order}}};
}

std::string deviations(const ConvergenceRow& row) {
    return fmt::format(
        "positions are median {:.3g}, {:.3g}, {:.3g} away at k, 4k, 16k (rms {:.3g}, {:.3g}, {:.3g}; most "
        "{:.3g}, {:.3g}, {:.3g})",
        row.from_hard[0].median_x, row.from_hard[1].median_x, row.from_hard[2].median_x, row.from_hard[0].rms_x,
        row.from_hard[1].rms_x, row.from_hard[2].rms_x, row.from_hard[0].max_x, row.from_hard[1].max_x,
        row.from_hard[2].max_x);
}

/// The extrapolation against the event-driven state.
Check limit_check(const Convergence& result) {
    const ConvergenceRow& row = result.rows.back();
    const double x_allowed = kLimitTolerance * row.from_hard[0].median_x + result.position_floor;
    const double v_allowed = kLimitTolerance * row.from_hard[0].median_v + result.velocity_floor;
    const bool good = row.limit.median_x <= x_allowed && row.limit.median_v <= v_allowed &&
                      static_cast<double>(row.agreeing) >= kAgreeingShare * static_cast<double>(row.linear);
    Check check{
        .name = "limit",
        .verdict = verdict_of(good),
        .words = fmt::format("{}; extrapolated to k -> infinity {:.2g} (allowed {:.2g}); velocities {:.3g} at k, "
                             "{:.2g} extrapolated (allowed {:.2g}); {} of {} balls agree to a tenth of their "
                             "deviation",
                             deviations(row), row.limit.median_x, x_allowed, row.from_hard[0].median_v,
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
Check spring_limit_check(const ConvergenceRow& row) {
    const double change = row.limit_change.median_x / std::max(row.steps[0].median_x, 1e-300);
    return {.name = "spring limit",
            .verdict = verdict_of(change <= kLimitTolerance),
            .words = fmt::format("the springs go to a limit of their own: extrapolations from two and from three runs "
                                 "differ by {:.2g} of the step from k to 4k (allowed {:g}); it is {:.3g} from the "
                                 "event-driven answer in position and {:.3g} in velocity, which says nothing of either",
                                 change, kLimitTolerance, row.limit.median_x, row.limit.median_v),
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
    if (!course.stopped.empty()) section.notes.push_back("the event-driven run ends early: " + course.stopped);
    if (scene.spring.distance_epsilon > 0.0) {
        section.notes.emplace_back("spring.distance_epsilon is left out here, as it moves contacts whatever k is");
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
    context.say(fmt::format("convergence: up to {} in runs at k, 4k, 16k", plural(course.impacts.size(), "collision")));
    const StepError steps = step_error(scene, course, context);
    result = converge(scene, course, std::min(course.impacts.size(), enough), context);
    section.checks.push_back(
        step_check(steps, design, design.damping_ratio > 0.0 || design.wall_damping_ratio > 0.0, result.raised <= 1.0));
    section.checks.push_back(force_check(steps));
    section.checks.push_back(window_check(result, course, balls));
    section.notes.push_back(fmt::format(
        "double precision; k = {:.6g}{}, dt = {:.4g} at k and {} at each fourfold k", result.stiffness,
        result.raised > 1.0
            ? fmt::format(", {:g} times the scene's: softer springs are not yet in the linear regime", result.raised)
            : " as in the scene",
        result.dt, design.damping_ratio > 0.0 || design.wall_damping_ratio > 0.0 ? "a quarter" : "half"));
    if (result.rows.empty()) return section;
    const ConvergenceRow& last = result.rows.back();
    section.checks.push_back(order_check(last));
    if (course.cluster) {
        section.notes.push_back(fmt::format(
            "at t = {:.6g} a ball meets several others at once: no rigid law is the limit of springs there, so the "
            "springs are held against their own limit, not against the event-driven run",
            *course.cluster + course.offset));
        section.checks.push_back(spring_limit_check(last));
    } else {
        section.checks.push_back(limit_check(result));
    }
    return section;
}

}  // namespace carom
