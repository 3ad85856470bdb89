#include "host/compare/hard_course.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "host/events/events_solver.hpp"
#include "host/run/events_plan.hpp"
#include "host/state/errors.hpp"

namespace carom {

namespace {

constexpr double kSlower = 1.5;  // from slice to slice of the time until enough has been seen

/// Collects impacts; an event of many balls does not end in the middle, so it stops to keep them when there are enough.
std::unique_ptr<EventsSolver> listening(const EventsSetup& setup, const SolverState& state, std::uint64_t most,
                                        std::vector<HardImpact>& impacts) {
    auto solver = std::make_unique<EventsSolver>(setup, state);
    solver->set_log([&impacts, most](const LoggedImpact& impact) {
        if (impacts.size() < most) impacts.push_back({impact.time, impact.i, impact.j, impact.wall});
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

}  // namespace

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

}  // namespace carom
