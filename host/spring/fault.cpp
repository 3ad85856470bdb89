#include <fmt/format.h>

#include <cmath>

#include "host/spring/spring_solver.hpp"
#include "kernels/core/wall_number.hpp"

namespace carom {

namespace {

std::string vector_text(const std::array<std::vector<double>, 3>& values, std::size_t id, int dimension) {
    std::string text = "(";
    for (int axis = 0; axis < dimension; ++axis)
        text += fmt::format("{}{:.9g}", axis > 0 ? ", " : "", values[axis][id]);
    return text + ")";
}

std::string ball_text(const Balls& balls, std::size_t id) {
    const std::size_t at = id - balls.first;
    const Species& species = balls.species_of(at);
    return fmt::format("ball {}{} of radius {:.6g} at {} with velocity {}", id,
                       species.name.empty() ? "" : " (" + species.name + ")", species.radius,
                       vector_text(balls.position, at, balls.dimension),
                       vector_text(balls.velocity, at, balls.dimension));
}

std::string wall_text(std::uint32_t number) {
    const WallNumber wall(static_cast<int>(number));
    return wall.is_face() ? fmt::format("the {} face of the box", wall.name()) : wall.name();
}

}  // namespace

std::string explain_fault(const SpringFault& fault, const BallsFrom& balls_from, double time, std::uint64_t step) {
    const Balls balls = balls_from(fault.ball);
    const std::string who = ball_text(balls, fault.ball);
    const std::string when = fmt::format("at time {:.9g} (step {})", time, step);
    switch (fault.kind) {
        case SpringFault::Kind::kNone:
            break;
        case SpringFault::Kind::kNotANumber:
            return fmt::format(
                "{}: {} gets a velocity that is not a number; a smaller spring.dt or a softer spring.stiffness "
                "may help",
                when, who);
        case SpringFault::Kind::kTooFast:
            return fmt::format(
                "{}: {} would move farther than the largest radius in one step; lower spring.dt, or the speeds", when,
                who);
        case SpringFault::Kind::kLeftBox:
            if (std::isinf(balls.species_of(fault.ball - balls.first).mass)) {
                return fmt::format(
                    "{}: the centre of {} has passed {}; its mass is inf, so no wall turns it back: an open or "
                    "periodic "
                    "face lets it through, a smaller run.until ends the run before",
                    when, who, wall_text(fault.other));
            }
            return fmt::format("{}: the centre of {} has passed {}; lower spring.dt or raise spring.wall_stiffness",
                               when, who, wall_text(fault.other));
        case SpringFault::Kind::kDeepOverlap:
            return fmt::format(
                "{}: {} and {} overlap beyond half the smaller radius from centre to centre; raise spring.stiffness "
                "or lower spring.dt",
                when, who, ball_text(balls_from(fault.other), fault.other));
        case SpringFault::Kind::kForceLimit:
            return fmt::format(
                "{}: the contact force on {} exceeds the largest that can be summed; lower spring.dt, spring.damping "
                "or the speeds",
                when, who);
    }
    return {};
}

}  // namespace carom
